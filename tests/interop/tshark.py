# SPDX-License-Identifier: Apache-2.0
"""What tshark makes of our packets, with the table that `ace sas wireshark` writes."""

import csv
import os
import re
import subprocess
import sys

import world

# tshark looks through its SAs one by one for each packet: it gets so many at a time.
AT_ONCE = 300
FIELDS = (
    *("esp.spi", "esp.sequence", "esp.icv_good", "esp.icv_bad", "esp.protocol", "esp.contained_data"),
    *("ah.spi", "ah.sequence", "ah.next_header", "ah.icv", "udp.payload", "tcp.payload", "data.data"),
)
READ = "decrypted, ICV good"
NO_CHECK = "decrypted, ICV not checked"
NO_ICV = "decrypted, without ICV"
HEADERS = "headers alone"


def version():
    """Major and minor number and the one behind them."""
    printed = subprocess.run(["tshark", "--version"], check=False, capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", printed)
    return found.groups() if found else sys.exit(f"tshark --version says {printed!r}")


def reads(ace, folder, out, sas, sealed):
    """A verdict for each SA and, where it is not the best, why. A wrong answer ends all."""
    table = folder / "esp_sa"
    release = ".".join(version()[:2])
    # One line for each SA; those that are left out as remarks.
    subprocess.run(
        [ace, "sas", "wireshark", out, "--for", release, "-o", table], check=True, capture_output=True
    )
    rows = table.read_text().splitlines()
    assert len(rows) == len(sas), f"{len(rows)} lines for {len(sas)} SAs"
    verdicts = []
    for at in range(0, len(sas), AT_ONCE):
        part = slice(at, at + AT_ONCE)
        verdicts += some(folder, release, rows[part], sas[part], sealed[part])
    return verdicts


def some(folder, release, rows, sas, sealed):
    profile, capture = folder / "profile", folder / "tshark.pcap"
    profile.mkdir(exist_ok=True)
    plans = [plan(sa, row, release) for sa, row in zip(sas, rows, strict=True)]
    (profile / "esp_sa").write_text("".join(f"{row}\n" for row, _, _ in plans))
    # The first of each SA once more, with a wrong bit.
    packets = [[*p, p[0][:-1] + bytes([p[0][-1] ^ 1])] for p in sealed]
    world.write_capture(capture, [packet for some in packets for packet in some])
    command = ["tshark", "-n", "-r", capture, "-T", "fields", "-E", "separator=|"]
    # What is above would guess at random payloads, and end where it guessed wrong.
    for port in ("udp.port==1", "udp.port==2", "udp.port==5", "udp.port==6", "tcp.port==3", "tcp.port==4"):
        command += ["-d", f"{port},data"]
    for preference in ("esp.enable_encryption_decode", "esp.enable_authentication_check"):
        command += ["-o", f"{preference}:TRUE"]
    for name in FIELDS:
        command += ["-e", name]
    environment = os.environ | {"WIRESHARK_CONFIG_DIR": str(profile)}
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment)
    if done.returncode or "Error loading" in done.stderr:
        sys.exit(f"tshark: {done.stderr}")
    lines = iter(dict(zip(FIELDS, line.split("|"), strict=True)) for line in done.stdout.splitlines())
    for sa, (_, verdict, _) in zip(sas, plans, strict=True):
        for number, clear in zip(sa.numbers(), sa.clear, strict=True):
            good(sa, verdict, number, clear, next(lines))
        broken = next(lines)
        if verdict == READ and verified(broken) != (False, True):
            sys.exit(f"{sa.name}: tshark takes a packet with a wrong bit: {broken}")
    if list(lines):
        sys.exit("tshark sees more packets than there are")
    return [(verdict, why) for _, verdict, why in plans]


def plan(sa, row, release):
    """A line of the table, what is expected of it, and why not more."""
    if sa.protocol == "ah":
        return row, HEADERS, "tshark checks no ICV of AH"
    blind = sa.esn and "64-bit" not in row
    if not row.startswith("#"):
        _, _, _, _, cipher, _, auth, *_ = next(csv.reader([row]))
        if blind:
            return row, NO_CHECK, f"tshark {release} knows no extended sequence numbers"
        if "no checking" in auth:
            return row, NO_CHECK, "tshark computes no CMAC and no XCBC"
        checks = auth != "NULL" or "ICV" in cipher or "Poly1305" in cipher
        return row, READ if checks else NO_ICV, ""
    # As NULL it would take ciphertext for padding and look no further.
    return row, HEADERS, f"tshark {release} has no such cipher"


def good(sa, verdict, number, clear, seen):
    """Compares what tshark says of a packet."""

    def expect(what, expected, found):
        if found != expected:
            sys.exit(f"{sa.name}, number {number}: tshark says {what} is {found!r}, not {expected!r}: {seen}")

    header = 40 if clear[0] >> 4 == 6 else (clear[0] & 15) * 4
    following = clear[6] if header == 40 and clear[0] >> 4 == 6 else clear[9]
    if clear[0] >> 4 == 6 and following == 0:
        # Behind the hop-by-hop header, which stays in front.
        following, header = clear[40], 40 + (clear[41] + 1) * 8
    if sa.mode == "tunnel":
        following, contained = 4 if clear[0] >> 4 == 4 else 41, clear
    else:
        contained = clear[header:]
    protocol = sa.protocol
    expect("the SPI", f"{sa.spi:#010x}", seen[f"{protocol}.spi"])
    expect("the sequence number", str(number & 0xFFFF_FFFF), seen[f"{protocol}.sequence"])
    if protocol == "ah":
        expect("the next header", following, int(seen["ah.next_header"] or "-1", 0))
        icv = seen["ah.icv"].replace(":", "")
        if len(icv) // 2 not in (sa.auth["icv"], sa.auth["icv"] + 4):
            expect("the ICV", f"{sa.auth['icv']} bytes", icv)
        payload = next((seen[name] for name in FIELDS[-3:] if seen[name]), "").replace(":", "")
        if not clear.hex().endswith(payload):
            expect("the payload", clear.hex(), payload)
    if verdict in (READ, NO_CHECK, NO_ICV):
        expect("the next header", following, int(seen["esp.protocol"] or "-1", 0))
        expect("what is inside", contained.hex(), seen["esp.contained_data"].replace(":", ""))
    if verdict == READ:
        expect("the ICV", (True, False), verified(seen))


def verified(seen):
    """Whether tshark calls the ICV good, and whether bad."""
    return tuple(seen[name] in ("1", "True") for name in ("esp.icv_good", "esp.icv_bad"))
