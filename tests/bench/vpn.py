# SPDX-License-Identifier: Apache-2.0
"""TCP and UDP through a VPN between two network namespaces, by iperf3; called by tests/bench/vpn.sh.

Of each VPN in turns, for some rounds: TCP from end a to b, with the processor time of both ends' processes; UDP of
1300 bytes at a moderate rate, with processor time for a packet; UDP faster and faster, for the most that arrives; three
times as much as that, or what iperf3 can, and how soon after it a ping is answered again; pings while a tenth of the
peak flows. Medians over the rounds. Everything shares this machine's cores, iperf3
included: wall-clock figures compare VPNs of one run and say nothing of other machines.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import vpn_study
from vpn_peers import PEERS, Ace, World

PACKET = 1300
# Mbit/s; iperf3 sends no more datagrams than that.
FASTEST = 4000


class Iperf:
    """A server at b, and clients at a."""

    def __init__(self, world, peer):
        self.world, self.peer = world, peer
        self.server = world.inside(
            "b", ["iperf3", "-s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(0.3)

    def close(self):
        self.server.terminate()
        self.server.wait()

    def run(self, seconds, *words):
        """The report's end, and seconds of processor time at both ends meanwhile."""
        before = [self.peer.cpu(of) for of in "ab"]
        command = ["iperf3", "-c", self.peer.to, "-t", seconds, "--json", *words]
        with self.world.inside("a", command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            output = json.load(client.stdout)
        used = [self.peer.cpu(of) - at for of, at in zip("ab", before, strict=True)]
        if "error" in output:
            raise RuntimeError(f"{self.peer.name}: iperf3: {output['error']}")
        return output["end"], used


# An echo is asked for again and again: once it is answered, what waited before it was sent or dropped.
ECHO = """
import socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
sock.settimeout(0.02)
begin = time.monotonic()
while time.monotonic() - begin < 1:
    sock.sendto(bytes.fromhex("0800f7ff00000000"), (sys.argv[1], 0))
    try:
        while sock.recv(2048)[20] != 0:
            pass
    except OSError:
        continue
    print((time.monotonic() - begin) * 1000)
    break
"""


def drained(world, peer):
    """Milliseconds until a ping is answered; None within a second."""
    with world.inside("a", [sys.executable, "-c", ECHO, peer.to], stdout=subprocess.PIPE, text=True) as ping:
        output = ping.stdout.read().strip()
    return float(output) if output else None


# Round-trip times in microseconds of echoes that are asked for one after the other, every two milliseconds.
ROUND_TRIPS = """
import socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
sock.settimeout(0.2)
for number in range(int(sys.argv[2])):
    words = [0x0800, 0, 0x4ce, number]
    total = sum(words)
    words[1] = 0xffff ^ ((total & 0xffff) + (total >> 16))
    message = b"".join(word.to_bytes(2, "big") for word in words)
    begin = time.monotonic()
    sock.sendto(message, (sys.argv[1], 0))
    try:
        while (answer := sock.recv(2048))[20] != 0 or answer[24:28] != message[4:]:
            pass
        print((time.monotonic() - begin) * 1e6)
    except OSError:
        pass
    time.sleep(0.002)
"""


def round_trip(world, peer, count):
    """The median of what is answered, in microseconds."""
    command = [sys.executable, "-c", ROUND_TRIPS, peer.to, count]
    with world.inside("a", command, stdout=subprocess.PIPE, text=True) as ping:
        return median([float(line) for line in ping.stdout])


def goodput(total):
    """Mbit/s of UDP that is offered, and that arrives."""
    offered = total["packets"] * PACKET * 8 / total["seconds"] / 1e6
    return offered, offered * (1 - total["lost_percent"] / 100)


def measure(world, peer, seconds, rate):
    """One round."""
    iperf = Iperf(world, peer)
    try:
        tcp, used = iperf.run(seconds, "-l", "128K")
        received = tcp["sum_received"]
        result = {
            "tcp_mbit": received["bits_per_second"] / 1e6,
            "retransmits": tcp["sum_sent"]["retransmits"],
        }
        result["gbit_per_cpu_s"] = [received["bytes"] * 8 / 1e9 / cpu if cpu > 0.02 else None for cpu in used]
        udp, used = iperf.run(seconds, "-u", "-l", PACKET, "-b", f"{rate}M")
        total = udp["sum"]
        result["udp_us"] = [cpu * 1e6 / total["packets"] if cpu > 0.02 else None for cpu in used]
        result["udp_lost_percent"] = total["lost_percent"]
        # The most that arrives, by steps; then three times as much as that is offered.
        step, peak = rate, 0
        while step <= FASTEST:
            arrived = goodput(iperf.run(seconds, "-u", "-l", PACKET, "-b", f"{step}M")[0]["sum"])[1]
            peak, last = max(peak, arrived), arrived
            if last < 0.7 * step:
                break
            step *= 1.6
        result["peak_mbit"] = peak
        flood, _ = iperf.run(seconds, "-u", "-l", PACKET, "-b", f"{3 * peak:.0f}M")
        result["offered_mbit"], result["goodput_mbit"] = goodput(flood["sum"])
        result["drained_ms"] = drained(world, peer)
        command = ["iperf3", "-c", peer.to, "-t", seconds + 1, "-u", "-l", PACKET, "-b", f"{peak / 10:.0f}M"]
        with world.inside("a", command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            time.sleep(0.5)
            result["round_trip_us"] = round_trip(world, peer, int(seconds * 200))
    finally:
        iperf.close()
    return result


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def show(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


def table(results):
    columns = [
        "",
        "TCP Mbit/s",
        "Gbit per CPU-second, sender / receiver",
        "µs CPU per UDP packet, sender / receiver",
    ]
    columns += [
        "of it lost %",
        "peak Mbit/s",
        "at 3 times that: offered Mbit/s",
        "arrives Mbit/s",
        "answers again after ms",
        "a ping at a tenth of the peak µs",
    ]
    lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    for name, rounds in results.items():
        one = {
            key: median([r[key] for r in rounds]) for key in rounds[0] if not isinstance(rounds[0][key], list)
        }
        ends = {
            key: [median([r[key][at] for r in rounds]) for at in (0, 1)]
            for key in ("gbit_per_cpu_s", "udp_us")
        }
        lines.append(
            f"| {name} | {show(one['tcp_mbit'])} | {' / '.join(show(v, 1) for v in ends['gbit_per_cpu_s'])} "
            f"| {' / '.join(show(v, 2) for v in ends['udp_us'])} | {show(one['udp_lost_percent'], 2)} "
            f"| {show(one['peak_mbit'])} | {show(one['offered_mbit'])} | {show(one['goodput_mbit'])} | {show(one['drained_ms'])} "
            f"| {show(one['round_trip_us'])} |"
        )
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(
        prog="tests/bench/vpn.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--ace", type=Path, default=Path("target/release/ace"))
    arguments.add_argument("--seconds", type=int, default=5, help="of each measurement")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--rate", type=int, default=200, help="Mbit/s of the UDP that is to arrive")
    arguments.add_argument("--only", nargs="*", help="names of VPNs, or parts of them")
    arguments.add_argument("-o", "--output", type=Path, help="every round as JSON")
    arguments.add_argument(
        "--study",
        type=Path,
        metavar="FOLDER",
        help="only the suite of the 2002 paper, as JSON; recordings to FOLDER",
    )
    given = arguments.parse_args()
    Ace.ace = given.ace.resolve()
    if not os.access(Ace.ace, os.X_OK):
        sys.exit(f"vpn.py: {given.ace} is not there: make all")
    if given.study:
        with tempfile.TemporaryDirectory() as folder:
            world = World(folder)
            try:
                world.build()
                vpn_study.run(given.study, world, Iperf, given.seconds, given.rounds)
            finally:
                world.close()
        return
    peers = []
    for kind in PEERS:
        if given.only and not any(word in kind.name for word in given.only):
            continue
        if why := kind.missing():
            print(f"without {kind.name}: {why}", file=sys.stderr)
        else:
            peers.append(kind)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder)
        try:
            world.build()
            for number in range(given.rounds):
                for kind in peers:
                    peer = kind(world)
                    try:
                        peer.start()
                        result = measure(world, peer, given.seconds, given.rate)
                    except RuntimeError as error:
                        print(f"round {number + 1}, {kind.name}: {error}", file=sys.stderr)
                        continue
                    finally:
                        peer.stop()
                    results.setdefault(kind.name, []).append(result)
                    print(
                        f"round {number + 1}, {kind.name}: TCP {result['tcp_mbit']:.0f} Mbit/s",
                        file=sys.stderr,
                    )
        finally:
            world.close()
    cpu = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    print(
        f"{os.cpu_count()} cores, {cpu.split(':')[1].strip()}; {given.rounds} rounds in turns, {given.seconds} s each, "
        f"medians; UDP: {PACKET} bytes at {given.rate} Mbit/s, then more\n"
    )
    print(table(results))
    if given.output:
        given.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
