#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbered packets through two gateways while their SAs are replaced: which are lost, which come out of order.

Each packet is UDP in two network namespaces. So many are sent at a time as fit every queue on the way, and the next
only when those have arrived: what is missing was lost by a gateway. No clock decides: an old SA goes when all that was sent
before it was replaced has arrived, and only when nothing has moved for a minute is anything given up. So a machine that
stalls loses nothing; `--stall` stops gateways, sender and receiver in turns, for a second each. Meanwhile both ends get new keys again and again,
the new SAs beside the old ones and then instead of them, as a key exchange does it; 24 hours of an hour each are 24
replacements, of which this makes many more. Memory and handles of both gateways are looked at before and after.
Needs root.
"""

import argparse
import itertools
import json
import mmap
import os
import secrets
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from vpn_peers import ENDS, ROOT, Ace, World

# Packets on their way at once.
BURST = 64
# Seconds in which nothing moves: then it is given up.
PATIENCE = 60
TAKE = """
import mmap, os, socket, struct, sys
progress = mmap.mmap(os.open(sys.argv[4], os.O_RDWR), 16)
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)
sock.bind((sys.argv[1], 9000))
count, burst, expected, swapped = int(sys.argv[2]), int(sys.argv[3]), 0, 0
print("ready", flush=True)
sock.settimeout(float(sys.argv[5]))
got = 0
try:
    while got < count:
        packet, source = sock.recvfrom(2048)
        number = struct.unpack_from("!Q", packet)[0]
        if number == 2**64 - 1:
            break
        swapped += number < expected
        expected = max(expected, number + 1)
        got += 1
        struct.pack_into("!Q", progress, 8, got)
        if got % burst == 0:
            sock.sendto(struct.pack("!Q", got), source)
except TimeoutError:
    pass
print(got, swapped, flush=True)
"""
GIVE = """
import mmap, os, socket, struct, sys, time
progress = mmap.mmap(os.open(sys.argv[6], os.O_RDWR), 16)
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((sys.argv[1], 9000))
count, burst, sizes = int(sys.argv[2]), int(sys.argv[3]), [int(size) for size in sys.argv[4].split(",")]
sock.settimeout(float(sys.argv[5]))
arrived = lost = 0
for number in range(count):
    struct.pack_into("!Q", progress, 0, number + 1)
    sock.send(struct.pack("!Q", number).ljust(sizes[number % len(sizes)], b"x"))
    try:
        while (number + 1) % burst == 0 and arrived + lost < number + 1:
            arrived = struct.unpack("!Q", sock.recv(100))[0]
    except TimeoutError:
        # It says so of whole bursts alone.
        lost = -(-(number + 1 - struct.unpack_from("!Q", progress, 8)[0]) // burst) * burst
        if lost > 20 * burst:
            break
# Something under way is no reason to end.
until = time.monotonic() + float(sys.argv[5])
while struct.unpack_from("!Q", progress, 8)[0] < count - lost and time.monotonic() < until:
    time.sleep(0.01)
sock.send(struct.pack("!Q", 2**64 - 1))
"""


class Gateways(Ace):
    """Two that take their SA file anew when they are told."""

    def files(self, generations):
        """SAs of these generations; of those that send the first is used."""
        for of, ours in ENDS.items():
            other, text = 3 - ours, "allow_legacy = true\n"
            for direction, source, target in (("out", ours, other), ("in", other, ours)):
                for spi, keys in generations[direction]:
                    text += (
                        f'[[sa]]\nname = "{source}-to-{target}-{spi}"\nspi = {source << 20 | spi}\n'
                        f'direction = "{direction}"\nmode = "tunnel"\nlocal = "192.0.2.{ours}"\n'
                        f'remote = "192.0.2.{other}"\nfresh_key = true\n'
                        f'selector = {{ src = "10.0.{source}.0/24", dst = "10.0.{target}.0/24" }}\n{keys[source]}'
                    )
            file = self.world.folder / f"{of}-sas.toml"
            file.write_text(text)
            file.chmod(0o600)  # else the gateway refuses it

    def replace(self, old, new, arrived):
        """Both take the new one, both send it; what is under way arrives, and the old one goes."""
        for outbound, inbound in (([old], [old, new]), ([new, old], [old, new]), ([new], [new])):
            self.files({"out": outbound, "in": inbound})
            for of in ENDS:
                os.kill(self.gateway(of), signal.SIGHUP)
                self.logs[of].wait_for("SAs taken")
            if len(outbound) > 1:
                arrived()

    def begin(self, of, ours, other):
        folder = self.world.folder
        (folder / f"{of}.toml").write_text(
            f'sas = "{of}-sas.toml"\ncontrol = "{of}.sock"\n[inside]\ntun = "ace0"\naddress = ["10.0.{ours}.1/32"]\n'
            f'routes = ["10.0.{other}.0/24"]\n[outside]\nencapsulation = "udp"\n[engine]\n{self.engine}\n'
        )
        command = [self.ace, "gateway", folder / f"{of}.toml"]
        self.processes[of] = self.world.inside(of, command, stderr=subprocess.PIPE, text=True)
        self.logs[of] = Said(self.processes[of].stderr)
        self.logs[of].wait_for("ready")

    def gateway(self, of):
        # `ip netns exec` becomes what it runs.
        return self.processes[of].pid

    def state(self, of):
        """Memory in KiB, and handles."""
        place = Path(f"/proc/{self.gateway(of)}")
        line = next(line for line in (place / "status").read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]), len(list((place / "fd").iterdir()))

    def ask(self, of, question):
        command = [self.ace, "gateway", question, "--json", "--control", self.world.folder / f"{of}.sock"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


class Said:
    """What a gateway says, line by line, waited for from another thread."""

    def __init__(self, stream):
        self.lines, self.seen, self.changed = [], 0, threading.Condition()
        threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            with self.changed:
                self.lines.append(line)
                self.changed.notify()

    def wait_for(self, word):
        with self.changed:
            while True:
                while self.seen < len(self.lines):
                    self.seen += 1
                    if word in self.lines[self.seen - 1]:
                        return
                if not self.changed.wait(PATIENCE):
                    raise RuntimeError(f"no {word!r} from a gateway; it said: {''.join(self.lines[-3:])}")


def keys(suite):
    """Fresh ones for both directions, as lines of an SA file."""
    cipher, length, auth, auth_length = suite
    text = {}
    for source in (1, 2):
        text[source] = f'cipher = "{cipher}"\nkey = "{secrets.token_hex(length)}"\n'
        if auth:
            text[source] += f'auth = "{auth}"\nauth_key = "{secrets.token_hex(auth_length)}"\n'
    return text


GCM = ("aes-128-gcm-16", 20, None, 0)
SUITES = [GCM, ("chacha20-poly1305", 36, None, 0), ("aes-256-cbc", 32, "hmac-sha256-128", 32)]
# A simulated slot is slow: so that most packets are its, others are short.
TRIPLE = [("3des-cbc", 24, "hmac-sha1-96", 20)] * 4 + [GCM]


class Progress:
    """How many packets were sent and how many have arrived, as sender and receiver write it down."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        self.path, self.words, self.lost = path, mmap.mmap(os.open(path, os.O_RDWR), 16), 0

    def arrived(self):
        """Waits until what was sent by now has arrived, as long as anything moves."""
        sent, before, since = *struct.unpack("!QQ", self.words[:]), time.monotonic()
        while (got := struct.unpack("!QQ", self.words[:])[1]) < sent - self.lost:
            if got != before:
                before, since = got, time.monotonic()
            if time.monotonic() - since > PATIENCE:
                self.lost = sent - got
                return
            time.sleep(0.001)


def stalls(pids, stopped):
    """Stops each for a second in turns, until told to end."""
    for pid in itertools.cycle(pids):
        if stopped.wait(1):
            return
        try:
            os.kill(pid, signal.SIGSTOP)
            stopped.wait(1)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return


def run(world, given):
    gateways = Gateways(world)
    gateways.logs = {}
    suites = TRIPLE if given.board else SUITES
    number, now = 1, (0x100, keys(suites[0]))
    gateways.files({"out": [now], "in": [now]})
    stopped, progress = threading.Event(), Progress(world.folder / "progress")
    try:
        gateways.start()
        size = "100" if given.board else "60,1300,300"
        taker = [sys.executable, "-c", TAKE, gateways.to, given.packets, BURST, progress.path, PATIENCE]
        taker = world.inside("b", taker, stdout=subprocess.PIPE, text=True)
        taker.stdout.readline()
        giver = [sys.executable, "-c", GIVE, gateways.to, given.packets, BURST, size, PATIENCE, progress.path]
        begin = time.monotonic()
        giver = world.inside("a", giver)
        if given.stall:
            pids = [gateways.gateway("a"), gateways.gateway("b"), taker.pid, giver.pid]
            threading.Thread(target=stalls, args=(pids, stopped), daemon=True).start()
        time.sleep(0.5)
        before, took, early = {of: gateways.state(of) for of in ENDS}, [], None
        while giver.poll() is None:
            new = (0x100 + number, keys(suites[number % len(suites)]))
            start = time.monotonic()
            gateways.replace(now, new, progress.arrived)
            took.append((time.monotonic() - start) * 1e3)
            now, number = new, number + 1
            if number == 50:
                early = {of: gateways.state(of) for of in ENDS}
            time.sleep(given.pause if not given.board or "3des" in new[1][1] else 0.02)
        seconds = time.monotonic() - begin
        got, swapped = map(int, taker.stdout.read().split())
        taker.wait()
        after = {of: gateways.state(of) for of in ENDS}
        engines = gateways.ask("a", "slots") if given.board else None
        losses = {of: gateways.ask(of, "status")["losses"] for of in ENDS}
    finally:
        stopped.set()
        gateways.stop()
    print(f"{given.packets} packets in {seconds:.0f} s: {given.packets - got} lost, {swapped} out of order")
    print(f"SAs replaced {number - 1} times meanwhile, {statistics.median(took):.0f} ms each")
    for of in ENDS:
        steps = [before[of], *([early[of]] if early else []), after[of]]
        print(f"gateway {of}: {' → '.join(f'{memory} KiB, {handles} handles' for memory, handles in steps)}")
    print(f"what kernels did not take: {json.dumps(losses)}")
    if engines:
        by_board = sum(cost["by_board"] for cost in engines["costs"])
        slots = [f"{slot['loads']} loads, {slot['resident']}" for slot in engines["board"]["slots"]]
        print(f"gateway a: {by_board} packets by the board; slots: {'; '.join(slots)}")
    return got == given.packets and not swapped


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--ace", type=Path, default=Path("target/release/ace"))
    arguments.add_argument("--packets", type=int, default=1_000_000)
    arguments.add_argument("--pause", type=float, default=0.02, help="seconds between replacements")
    arguments.add_argument(
        "--board", action="store_true", help="3DES on the simulated board, in turns with AES-GCM"
    )
    arguments.add_argument("--cores", type=int, default=1, help="of each gateway")
    arguments.add_argument(
        "--stall", action="store_true", help="stop whoever takes part for a second, in turns"
    )
    given = arguments.parse_args()
    if os.geteuid() != 0:
        sys.exit("lossless.py: namespaces and TUN devices are root's")
    Ace.ace = given.ace.resolve()
    if not os.access(Ace.ace, os.X_OK):
        sys.exit(f"lossless.py: {given.ace} is not there: make all")
    if given.cores > 1:
        Ace.engine = f'kind = "cpu"\ncores = {given.cores}'
    if given.board:
        Ace.engine = (
            f'kind = "auto"\nboard = "{ROOT / "board.toml"}"\nconfigurations = "{ROOT / "build/configurations"}"\n'
            'on_board = ["3des"]'
        )
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder)
        try:
            world.build()
            good = run(world, given)
        finally:
            world.close()
    sys.exit(not good)


if __name__ == "__main__":
    main()
