# SPDX-License-Identifier: Apache-2.0
"""ESP and AH of every suite, against scapy and tshark: they read ours, and we read scapy's (docs/data-plane.md).

python tests/interop/check.py --ace target/release/ace [--part]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import scapy_suites
import tshark
import world
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.ipsec import AH, ESP, IPSecIntegrityError, SecurityAssociation

FULL, ICV = "read", "ICV alone"


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def scapys(sa):
    """The SA as scapy has it, and why it cannot decrypt or, `None`, that it can."""
    # What these compute is held against Crypto++ and published answers (crates/ace-engine/tests).
    unknown = sa.cipher["name"] not in scapy_suites.CIPHERS
    tunnel = {4: IP, 6: IPv6}[sa.version](src=sa.ends[0], dst=sa.ends[1]) if sa.mode == "tunnel" else None
    esp = (
        {}
        if sa.protocol == "ah" or unknown
        else {
            "crypt_algo": scapy_suites.CIPHERS[sa.cipher["name"]],
            "crypt_key": sa.key,
            "crypt_icv_size": sa.cipher["icv"] or None,
        }
    )
    association = SecurityAssociation(
        AH if sa.protocol == "ah" else ESP,
        spi=sa.spi,
        auth_algo=scapy_suites.AUTHS[sa.auth["name"]],
        auth_key=sa.auth_key,
        tunnel_header=tunnel,
        esn_en=sa.esn,
        **esp,
    )
    return association, "scapy and cryptography have no such cipher" if unknown else None


def parse(packet):
    return IP(packet) if packet[0] >> 4 == 4 else IPv6(packet)


def scapy_opens(sa, sealed):
    """What scapy makes of our packets: a verdict and, where it is not the best, why. A wrong answer ends all."""
    association, why = scapys(sa)
    authentic = sa.auth["name"] != "none" or sa.cipher["combined"]
    for number, packet, clear in zip(sa.numbers(), sealed, sa.clear, strict=True):
        association.esn, association.seq_num = number >> 32, number & 0xFFFF_FFFF
        layer = parse(packet)[AH if sa.protocol == "ah" else ESP]
        if (layer.spi, layer.seq) != (sa.spi, number & 0xFFFF_FFFF):
            sys.exit(f"{sa.name}: scapy sees SPI {layer.spi:#x} and number {layer.seq}, not {number}")
        broken = packet[:-1] + bytes([packet[-1] ^ 1])
        if why is None:
            found = bytes(association.decrypt(parse(packet)))
            if found != clear:
                sys.exit(f"{sa.name}, number {number}: scapy reads\n{found.hex()}, not\n{clear.hex()}")
            check = association.decrypt
        elif authentic:

            def check(packet):
                key, high = association.auth_key, association.esn
                association.auth_algo.verify(packet[ESP], key, esn_en=sa.esn, esn=high)

            check(parse(packet))
        if authentic:
            try:
                check(parse(broken))
                sys.exit(f"{sa.name}: scapy takes a packet with a wrong bit")
            except IPSecIntegrityError:
                pass
    if why is None:
        return FULL, ""
    return (ICV if authentic else "headers alone"), why


def scapy_seals(sa):
    association, why = scapys(sa)
    if why is not None:
        return None
    sealed = []
    for number, clear in zip(sa.numbers(), sa.clear, strict=True):
        association.esn, association.seq_num = number >> 32, number & 0xFFFF_FFFF
        sealed.append(bytes(association.encrypt(parse(clear))))
    return sealed


def ours_open_scapys(ace, folder, sas, mirror):
    """Scapy's packets through our other end: all of them; and with a wrong bit, none that is authenticated."""
    sealed = [(sa, packets) for sa in sas if (packets := scapy_seals(sa)) is not None]
    capture, back = folder / "scapy.pcap", folder / "scapy-back.pcap"
    world.write_capture(capture, [packet for _, packets in sealed for packet in packets])
    command = [ace, "run", capture, "--sas", mirror, "-o", back, "--engine", "cpu"]
    run(*command)
    found = iter(world.read_capture(back))
    for sa, _ in sealed:
        for number, clear in zip(sa.numbers(), sa.clear, strict=True):
            if (packet := next(found)) != clear:
                sys.exit(f"{sa.name}, number {number}: of scapy's packet\n{packet.hex()}, not\n{clear.hex()}")
    authentic = [(sa, p) for sa, p in sealed if sa.auth["name"] != "none" or sa.cipher["combined"]]
    broken = [packet[:-1] + bytes([packet[-1] ^ 1]) for _, packets in authentic for packet in packets]
    world.write_capture(capture, broken)
    run(*command, code=1)
    if left := world.read_capture(back):
        sys.exit(f"{len(left)} of scapy's packets with a wrong bit were taken")
    return len(sealed), sum(len(packets) for _, packets in sealed), len(broken)


def report(title, verdicts, sas):
    """How many SAs of how many suites have which verdict, and every reason with its suites."""
    print(f"\n{title}")
    for verdict, count in Counter(verdict for verdict, _ in verdicts).most_common():
        of = {sa.suite for sa, (v, _) in zip(sas, verdicts, strict=True) if v == verdict}
        print(f"  {verdict}: {count} SAs of {len(of)} suites")
    reasons = {}
    for sa, (verdict, why) in zip(sas, verdicts, strict=True):
        if why:
            what = "AH" if sa.protocol == "ah" else sa.cipher["name"]
            reasons.setdefault((verdict, why), {}).setdefault(what, set()).add(sa.auth["name"])
    for (verdict, why), found in sorted(reasons.items()):
        print(f"  {verdict}, because {why}:")
        alike = {}
        for what, auths in found.items():
            alike.setdefault(", ".join(sorted(auths - {"none"})), []).append(what)
        for auths, names in alike.items():
            print(f"    {', '.join(names)}{', each with ' + auths if auths else ''}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--ace", required=True, type=Path)
    arguments.add_argument("--part", action="store_true", help="two shapes of each suite instead of eight")
    options = arguments.parse_args()
    missing = shutil.which("tshark") is None
    if missing and (not options.part or "CI" in os.environ):
        sys.exit("interop: tshark is not installed (Debian: apt-get install tshark)")
    started = time.monotonic()
    ace = options.ace.resolve()
    scapy_suites.register()
    sas = world.make(ace, options.part)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out, mirror = folder / "out.toml", folder / "in.toml"
        capture, esp = folder / "clear.pcap", folder / "esp.pcap"
        world.write_file(out, sas)
        world.write_capture(capture, [packet for sa in sas for packet in sa.clear])
        run(ace, "sas", "mirror", out, "-o", mirror)
        run(ace, "run", capture, "--sas", out, "-o", esp, "--engine", "cpu")
        packets = iter(world.read_capture(esp))
        sealed = [[next(packets) for _ in sa.clear] for sa in sas]
        suites = len({sa.suite for sa in sas})
        print(f"{suites} suites, {len(sas)} SAs, {sum(map(len, sealed))} packets that we sealed")
        verdicts = [scapy_opens(sa, packets) for sa, packets in zip(sas, sealed, strict=True)]
        report(f"scapy {scapy_suites.VERSION} of ours", verdicts, sas)
        made = ", ".join(sorted(scapy_suites.OURS))
        print(
            f"  rows that scapy has not and that were added to its tables, of cryptography's ciphers: {made}"
        )
        count, total, broken = ours_open_scapys(ace, folder, sas, mirror)
        print(
            f"\nwe of scapy's\n  read: {total} packets of {count} SAs\n  refused: {broken} with a wrong bit"
        )
        if missing:
            print("\ntshark is not installed (Debian: apt-get install tshark): it reads nothing")
        else:
            verdicts = tshark.reads(ace, folder, out, sas, sealed)
            report(f"tshark {'.'.join(tshark.version())} of ours", verdicts, sas)
    print(f"\nno difference, in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
