# SPDX-License-Identifier: Apache-2.0
"""The result file of `ace study pilchard-2002 --vpn`, of tests/bench/vpn.py --study: what was measured through two gateways with
the suite of the paper, and what `ace gateway replay` makes of recordings of both on the virtual clock.

Measured, wall time: TCP and UDP without IPsec and through the gateways, at both ends. Replayed, modelled time: the same
traffic with a processor alone and with the board beside it. Measured and modelled figures are never mixed: each
improvement is that of one replay over another. The processor is this machine as it was measured in this run (what 3DES and
HMAC-MD5 take beyond AES-GCM, which is nearly free), the same with portable software (studies/processors), or that of the
paper as its Section 5 states it.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from vpn_peers import ROOT, Ace, AceTriple, Nothing

# Of each recording; slots run RTL when it is played.
PACKETS = 3000
PACKET = 1300
# Bytes that are enciphered of such a packet: its headers, the trailer, whole blocks.
CIPHERED = (PACKET + 28 + 2 + 7) // 8 * 8
# As studies/processors/this-machine.toml has it: the share of HMAC-MD5 in what the suite takes.
MD5_MBPS = 5202.6
PILCHARD = ROOT / "studies/pilchard-2002"
# LibDES, and triple DES being half of all that the machine does (Section 5.3): the other half is what a packet takes besides.
LIBDES_MBPS = 42.9


def processor(folder, name, source, rates):
    lines = [f'name = "{name}"', f'source = "{source}"']
    for algorithm, mbps in rates.items():
        lines.append(f'[[rate]]\nalgorithm = "{algorithm}"\nmbps = {mbps:.1f}')
    path = folder / f"{name.split()[0]}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def replay(recording, profile, packet_us, *more):
    command = [Ace.ace, "gateway", "replay", recording, "--json", "--greedy", "--processor", profile]
    command += ["--packet-us", f"{packet_us:.3f}", "--packets", str(PACKETS), *more]
    environment = os.environ | {"ACE_BUILD": str(ROOT / "build")}
    done = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, env=environment)
    return json.loads(done.stdout)


def rates(report, protocol):
    """Mbit/s of the processor alone and with the board."""
    sides = {side["what"]: side for side in report["sides"]}
    of = (sides["processor"], sides["processor and board"])
    return [next(s["mbps"] for s in side["streams"] if s["protocol"] == protocol) for side in of]


def measured(iperf, peer, seconds, flood):
    """Mbit/s at both ends: of UDP what is sent is what iperf hands over, and with gateways what the first one sends."""
    tcp, _ = iperf.run(seconds, "-l", "128K")
    rows = {
        ("TCP", "sender"): tcp["sum_sent"]["bits_per_second"] / 1e6,
        ("TCP", "receiver"): tcp["sum_received"]["bits_per_second"] / 1e6,
    }
    before = peer.protected()
    udp, _ = iperf.run(seconds, "-u", "-l", PACKET, "-b", f"{flood:.0f}M")
    total = udp["sum"]
    offered = total["packets"] * PACKET * 8 / total["seconds"] / 1e6
    sent = peer.protected()
    taken = 1 if sent is None else min(1, (sent - before) / total["packets"])
    rows["UDP", "sender"] = offered * taken
    rows["UDP", "receiver"] = offered * (1 - total["lost_percent"] / 100)
    return rows


def record(world, iperf_of, seconds, flood, folder):
    """Recordings of both ends, by protocol; each of a run of its own."""
    for protocol in ("TCP", "UDP"):
        peer = AceTriple(world)
        peer.recorded = 2 * PACKETS
        peer.start()
        try:
            iperf = iperf_of(world, peer)
            words = ["-l", "128K"] if protocol == "TCP" else ["-u", "-l", PACKET, "-b", f"{flood:.0f}M"]
            iperf.run(seconds, *words)
            iperf.close()
        finally:
            peer.stop()
        for end in "ab":
            (world.folder / f"{end}.rec").rename(folder / f"{protocol}-{end}.rec")


def rounds(world, iperf_of, seconds, count, flood):
    """Medians of what is measured, in turns."""
    every = {}
    for _ in range(count):
        for what, kind in (("clear", Nothing), ("software", AceTriple)):
            peer = kind(world)
            peer.start()
            try:
                iperf = iperf_of(world, peer)
                for row, mbps in measured(iperf, peer, seconds, flood).items():
                    every.setdefault(row, {}).setdefault(what, []).append(mbps)
                iperf.close()
            finally:
                peer.stop()
    return {row: {what: sorted(all)[len(all) // 2] for what, all in of.items()} for row, of in every.items()}


def cost(world, iperf_of, kind, seconds, rate):
    """Microseconds of processor time of a gateway for a packet of UDP, the mean of both."""
    peer = kind(world)
    peer.start()
    try:
        iperf = iperf_of(world, peer)
        udp, used = iperf.run(seconds, "-u", "-l", PACKET, "-b", f"{rate}M")
        iperf.close()
    finally:
        peer.stop()
    return sum(used) / 2 * 1e6 / (udp["sum"]["packets"] * (1 - udp["sum"]["lost_percent"] / 100))


def write(path, world, iperf_of, seconds, count, rate):
    """Measures, records, plays and writes."""
    flood = 2 * rate
    table = rounds(world, iperf_of, seconds, count, flood)
    bare, suite = (cost(world, iperf_of, kind, seconds, rate) for kind in (Ace, AceTriple))
    md5_us = (CIPHERED + 16) * 8 / MD5_MBPS
    tdes = CIPHERED * 8 / max(suite - bare - md5_us, 0.1)
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        f"# tests/bench/vpn.sh --study, {os.cpu_count()} cores; {count} rounds of {seconds} s in turns, UDP offered at {flood} Mbit/s.",
        f"# A packet of UDP took {bare:.2f} µs of a gateway's processor with AES-128-GCM and {suite:.2f} µs with 3DES + HMAC-MD5.",
    ]
    for (protocol, side), of in table.items():
        lines.append(f'[[measured]]\nprotocol = "{protocol}"\nside = "{side}"')
        lines += [f"{what} = {mbps:.2f}" for what, mbps in of.items()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record(world, iperf_of, seconds, flood, folder)
        machine = processor(
            folder, "this machine", "tests/bench/vpn.sh --study", {"3des": tdes, "md5": MD5_MBPS}
        )
        half = CIPHERED * 8 / LIBDES_MBPS
        paper = processor(
            folder, "P-III 866", "the paper, Sections 2.2 and 5.3", {"3des": LIBDES_MBPS, "md5": 1e7}
        )
        portable = ROOT / "studies/processors/this-machine.toml"
        machines = [
            ("this machine, intel-ipsec-mb", machine, bare, []),
            ("this machine, portable software", portable, bare, []),
            ("P-III 866, Pilchard's host link", paper, half, ["--board", PILCHARD / "board.toml"]),
        ]
        for what, profile, packet_us, more in machines:
            for protocol in ("TCP", "UDP"):
                for side, end in (("sender", "a"), ("receiver", "b")):
                    report = replay(folder / f"{protocol}-{end}.rec", profile, packet_us, *more)
                    alone, both = rates(report, protocol)
                    lines.append(
                        f'[[replayed]]\nmachine = "{what}"\nprotocol = "{protocol}"\nside = "{side}"\n'
                        f"packet_us = {packet_us:.2f}\nsoftware = {alone:.2f}\naccelerated = {both:.2f}"
                    )
    path.write_text("\n".join(lines) + "\n")
