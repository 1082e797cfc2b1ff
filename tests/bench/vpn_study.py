# SPDX-License-Identifier: Apache-2.0
"""What the study of 2002 needs of a VPN with its suite, of tests/bench/vpn.py --study FOLDER: throughput without IPsec and
through the gateways, TCP and UDP, at both ends, and what a packet takes of a gateway's processor. Wall time, printed as JSON.

FOLDER gets recordings of what went through, without payload; `python -m ace_flow vpn-replay` plays them on the virtual
clock.
"""

import json
import statistics
from pathlib import Path

from vpn_peers import Ace, AceTriple, Nothing

# Of each recording; slots run RTL when it is played.
PACKETS = 1500
# Bytes of data of a write, of TCP and of UDP: a packet each; and ttcp's default, which makes fragments of UDP.
BUFFERS = {"packets": (128 << 10, 1300), "ttcp": (8192, 8192)}
# Mbit/s of UDP that is offered: through gateways more than they can carry; without them as much as iperf3 makes.
OFFERED = {"clear": 0, "software": 400}
# Mbit/s of UDP that both suites carry whole: what a packet takes is asked at that rate.
CARRIED = 40
KINDS = {"clear": Nothing, "software": AceTriple}


def measured(iperf, peer, seconds, buffers, offered):
    """Mbit/s at both ends. Of UDP what is sent is what iperf3 hands over, with gateways the part that the first one sends;
    of fragments nobody counts datagrams that were sent."""
    stream, datagram = BUFFERS[buffers]
    tcp, _ = iperf.run(seconds, "-l", stream)
    rows = {
        ("TCP", "sender"): tcp["sum_sent"]["bits_per_second"] / 1e6,
        ("TCP", "receiver"): tcp["sum_received"]["bits_per_second"] / 1e6,
    }
    before = peer.protected()
    udp, _ = iperf.run(seconds, "-u", "-l", datagram, "-b", f"{offered}M" if offered else "0")
    total = udp["sum"]
    handed = total["packets"] * datagram * 8 / total["seconds"] / 1e6
    sent = peer.protected()
    whole = datagram == BUFFERS["packets"][1]
    taken = 1 if sent is None else min(1, (sent - before) / total["packets"]) if whole else None
    rows["UDP", "sender"] = None if taken is None else handed * taken
    rows["UDP", "receiver"] = handed * (1 - total["lost_percent"] / 100)
    rows["UDP", "offered"] = handed
    return rows


def record(world, iperf_of, seconds, folder):
    """Recordings of both ends, by protocol; each of a run of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    stream, datagram = BUFFERS["packets"]
    for protocol in ("TCP", "UDP"):
        peer = AceTriple(world)
        peer.recorded = PACKETS
        peer.start()
        try:
            iperf = iperf_of(world, peer)
            words = (
                ["-l", stream]
                if protocol == "TCP"
                else ["-u", "-l", datagram, "-b", f"{OFFERED['software']}M"]
            )
            iperf.run(seconds, *words)
            iperf.close()
        finally:
            peer.stop()
        for end in "ab":
            (folder / f"{protocol}-{end}.rec").write_text((world.folder / f"{end}.rec").read_text())


def rounds(world, iperf_of, seconds, count):
    """Every row, medians of rounds in turns, and the least and greatest."""
    every = {}
    for _ in range(count):
        for what, kind in KINDS.items():
            peer = kind(world)
            peer.start()
            try:
                iperf = iperf_of(world, peer)
                for buffers in BUFFERS:
                    for row, mbps in measured(iperf, peer, seconds, buffers, OFFERED[what]).items():
                        every.setdefault((buffers, *row), {}).setdefault(what, []).append(mbps)
                iperf.close()
            finally:
                peer.stop()
    rows = []
    for (buffers, protocol, side), of in every.items():
        row = {"buffers": buffers, "protocol": protocol, "side": side}
        for what, values in of.items():
            known = [value for value in values if value is not None]
            row[what] = [min(known), statistics.median_high(known), max(known)] if known else None
        rows.append(row)
    return rows


def cost(world, iperf_of, kind, seconds):
    """Microseconds of processor time of a gateway for a packet of UDP, the mean of both."""
    peer = kind(world)
    peer.start()
    try:
        iperf = iperf_of(world, peer)
        udp, used = iperf.run(seconds, "-u", "-l", BUFFERS["packets"][1], "-b", f"{CARRIED}M")
        iperf.close()
    finally:
        peer.stop()
    return sum(used) / 2 * 1e6 / (udp["sum"]["packets"] * (1 - udp["sum"]["lost_percent"] / 100))


def run(folder, world, iperf_of, seconds, count):
    """Measures, records and prints."""
    rows = rounds(world, iperf_of, seconds, count)
    gcm_us, suite_us = (cost(world, iperf_of, kind, seconds) for kind in (Ace, AceTriple))
    record(world, iperf_of, seconds, Path(folder))
    values = {
        "seconds": seconds,
        "rounds": count,
        "buffers": {name: {"tcp": tcp, "udp": udp} for name, (tcp, udp) in BUFFERS.items()},
        "measured": rows,
        "packet_us": {"aes-128-gcm-16": gcm_us, "3des-cbc + hmac-md5-96": suite_us},
    }
    print(json.dumps(values, indent=1))
