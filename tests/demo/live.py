#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live traffic: two gateways in two network namespaces, a wire between them on which everything is looked at.

`make demo-live` builds ace and runs it, as root. It makes its namespaces, and takes them away again.
"""

import argparse
import hashlib
import itertools
import json
import os
import secrets
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

WORD = b"the word that nobody outside may read."
SUITES = {
    "aes-128-gcm-16": (20, None),
    "chacha20-poly1305": (36, None),
    "aes-256-cbc": (32, ("hmac-sha256-128", 32)),
    "3des-cbc": (24, ("hmac-sha1-96", 20)),
}
ENDS = {"a": 1, "b": 2}


def say(text=""):
    print(text, flush=True)


# What runs inside a namespace: this script, started again there.


def ping(host, count):
    """Round trips in microseconds; None for what was not answered."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    sock.settimeout(0.5)
    times = []
    for number in range(count):
        body = struct.pack("!HH", 0xACE, number) + WORD
        total = sum(struct.unpack(f"!{len(body) // 2}H", body)) + 0x0800
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        check = ~total & 0xFFFF
        start = time.perf_counter()
        took = None
        try:
            sock.sendto(struct.pack("!BBH", 8, 0, check) + body, (host, 0))
            while took is None:
                answer = sock.recv(2048)
                if answer[20] == 0 and answer[24:] == body:
                    took = (time.perf_counter() - start) * 1e6
        except OSError:
            pass
        times.append(took)
    return times


def receive(host, port):
    """Takes one connection: bytes, seconds, SHA-256."""
    with socket.create_server((host, port)) as server:
        print("listening", file=sys.stderr, flush=True)
        connection, _ = server.accept()
        digest, count, start = hashlib.sha256(), 0, time.perf_counter()
        while piece := connection.recv(1 << 20):
            digest.update(piece)
            count += len(piece)
        return [count, time.perf_counter() - start, digest.hexdigest()]


def send(host, port, size):
    """Sends so many bytes, or until standard input ends: bytes, SHA-256."""
    over = threading.Event()
    if not size:
        threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    piece = (WORD * (1 + (1 << 20) // len(WORD)))[: 1 << 20]
    digest = hashlib.sha256()
    with socket.create_connection((host, port), 10) as connection:
        count = 0
        while not over.is_set() and (count < size or not size):
            part = piece[: size - count] if size else piece
            connection.sendall(part)
            digest.update(part)
            count += len(part)
    return [count, digest.hexdigest()]


class World:
    """Namespaces a and b at a bridge in m."""

    def __init__(self, ace, folder):
        self.ace, self.folder, self.prefix = ace, Path(folder), f"acelive{os.getpid()}"
        self.gateways, self.seen, self.shown, self.stopped = {}, 0, 0, False

    def name(self, of):
        return self.prefix + of

    def ip(self, words, check=True):
        subprocess.run(["ip", *words.split()], check=check, stderr=None if check else subprocess.DEVNULL)

    def build(self):
        for of in "abm":
            self.ip(f"netns add {self.name(of)}")
            self.ip(f"-n {self.name(of)} link set lo up")
        self.ip(f"-n {self.name('m')} link add br0 type bridge")
        self.ip(f"-n {self.name('m')} link set br0 up")
        for of, n in ENDS.items():
            self.ip(f"-n {self.name('m')} link add to-{of} type veth peer name wire netns {self.name(of)}")
            self.ip(f"-n {self.name('m')} link set to-{of} master br0 up")
            self.ip(f"-n {self.name(of)} link set wire up")
            self.ip(f"-n {self.name(of)} address add 192.0.2.{n}/24 dev wire")
            self.ip(f"-n {self.name(of)} route add default via 192.0.2.{3 - n}")

    def close(self):
        for process in self.gateways.values():
            process.kill()
            process.wait()
        for of in "abm":
            self.ip(f"netns delete {self.name(of)}", check=False)

    def part(self, of, *args, **options):
        command = ["ip", "netns", "exec", self.name(of), sys.executable, __file__, "part", *map(str, args)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)

    def result(self, process):
        out, _ = process.communicate(timeout=60)
        return json.loads(out)

    def start(self, of, sas, engine=""):
        self.write(of, sas)
        n = ENDS[of]
        config = self.folder / f"{of}.toml"
        config.write_text(
            f'sas = "{of}-sas.toml"\ncontrol = "{of}.sock"\n[inside]\ntun = "ace0"\n'
            f'address = ["10.0.{n}.1/32"]\nroutes = ["10.0.{3 - n}.0/24"]\n[outside]\nencapsulation = "udp"\n{engine}'
        )
        command = ["ip", "netns", "exec", self.name(of), self.ace, "gateway", str(config)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.gateways[of] = process
        self.wait(of, "ready")

    def wait(self, of, word):
        for line in self.gateways[of].stderr:
            if word in line:
                return
            if "not reloaded" in line:
                sys.exit(f"demo-live: {line}")
        sys.exit(f"demo-live: gateway {of} ended without `{word}`")

    def write(self, of, sas):
        keys = self.folder / f"{of}-sas.toml"
        keys.write_text(sas)
        keys.chmod(0o600)  # else the gateway refuses it

    def reload(self, of, sas):
        self.write(of, sas)
        self.gateways[of].send_signal(signal.SIGHUP)
        self.wait(of, "SAs taken")

    def status(self, of):
        return self.ask(of, "status")

    def ask(self, of, question):
        command = [self.ace, "gateway", question, "--json", "--control", str(self.folder / f"{of}.sock")]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    def cpu(self, of):
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.gateways[of].pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def file(self, source, target, size):
        to = f"10.0.{ENDS[target]}.1"
        taker = self.part(target, "receive", to, 9000, stderr=subprocess.PIPE)
        taker.stderr.readline()
        giver = self.part(source, "send", to, 9000, size, stdin=subprocess.PIPE)
        return giver, taker

    def watch(self):
        """Looks at every frame on the wire until the end."""
        process = self.part("m", "watch", stdin=subprocess.PIPE)
        process.stdout.readline()
        return process


def watch():
    """Counts frames, and those that show the word, until standard input ends."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, 33, 128 << 20)  # SO_RCVBUFFORCE
    sock.settimeout(0.1)
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    print("watching", flush=True)
    frames = shown = 0
    while True:
        try:
            frame = sock.recv(1 << 17)
        except TimeoutError:
            if over.is_set():
                return [frames, shown]
            continue
        frames += 1
        shown += WORD in frame


def sas(who, keys, outbound, inbound):
    """An SA file: SAs that send (the first is used) and SAs that are taken."""
    text = []
    for direction, names in (("out", outbound), ("in", inbound)):
        for name in names:
            source, target = (who, 3 - who) if direction == "out" else (3 - who, who)
            number = list(SUITES).index(name)
            auth = SUITES[name][1]
            key, auth_key = keys[source, name]
            text.append(
                f'[[sa]]\nname = "{source}-to-{target}-{name}"\nspi = {source}{number}00\ndirection = "{direction}"\n'
                f'mode = "tunnel"\nlocal = "192.0.2.{who}"\nremote = "192.0.2.{3 - who}"\nfresh_key = true\n'
                f'selector = {{ src = "10.0.{source}.0/24", dst = "10.0.{target}.0/24" }}\n'
                f'cipher = "{name}"\nkey = "{key}"\n'
                + (f'auth = "{auth[0]}"\nauth_key = "{auth_key}"\n' if auth else "")
            )
    return "".join(text)


def switch(world, keys, old, new):
    """Another suite under traffic: both ends take it, then both send it, then the old one goes."""
    for outbound, inbound in (([old], [old, new]), ([new, old], [old, new]), ([new], [new])):
        for of, n in ENDS.items():
            world.reload(of, sas(n, keys, outbound, inbound))


def demo(world, size):
    names = list(SUITES)
    keys = {
        (n, name): (secrets.token_hex(of[0]), secrets.token_hex(of[1][1]) if of[1] else "")
        for n in ENDS.values()
        for name, of in SUITES.items()
    }
    world.build()
    say("1. A wire on which everything is looked at. What no gateway catches is seen there:")
    eye = world.watch()
    world.result(world.part("a", "ping", "10.0.9.9", 1))
    eye.stdin.close()
    frames, shown = json.loads(eye.stdout.read())
    say(f"   {frames} frames, {shown} show the word that is looked for")
    if not shown:
        sys.exit("demo-live: the wire is not seen")

    say("\n2. Two gateways, ESP in UDP, AES-128-GCM.")
    for of, n in ENDS.items():
        world.start(of, sas(n, keys, names[:1], names[:1]))
    eye = world.watch()
    times = world.result(world.part("a", "ping", "10.0.2.1", 200))
    answered = sorted(t for t in times if t is not None)
    say(
        f"   {len(answered)} of {len(times)} echo requests answered, median {statistics.median(answered):.0f} µs"
    )
    before = {of: (world.cpu(of), world.status(of)) for of in ENDS}
    giver, taker = world.file("a", "b", size)
    sent, (count, seconds, arrived) = world.result(giver), world.result(taker)
    check(sent == [count, arrived], "the file")
    say(f"   {count >> 20} MiB over TCP, unchanged: {count * 8 / seconds / 1e9:.2f} Gbit/s wall")
    for of, (cpu, status) in before.items():
        now = world.status(of)["packets"]
        packets = sum(
            now[k]["packets"] - status["packets"][k]["packets"] for k in ("protected", "decapsulated")
        )
        cpu = world.cpu(of) - cpu
        each = cpu / packets * 1e6
        say(
            f"   gateway {of}: {packets} packets, {cpu:.2f} CPU seconds, {each:.2f} µs and {count * 8 / cpu / 1e9:.2f} Gbit per CPU second"
            if cpu
            else f"   gateway {of}: {packets} packets"
        )

    say("\n3. The suite changes under traffic, and nothing stops.")
    lost = {of: world.status(of)["packets"]["dropped"] for of in ENDS}
    giver, taker = world.file("b", "a", 0)
    time.sleep(0.5)
    # A suite whose key was used is not taken again: its counters would come twice.
    for old, new in itertools.pairwise(names):
        switch(world, keys, old, new)
        time.sleep(0.5)
        carried = [sa["counters"]["forwarded"]["packets"] for sa in world.ask("a", "sas")]
        say(f"   {old} -> {new}: {carried[0]} and {carried[1]} packets in half a second")
        check(min(carried) > 0, "the traffic")
    sent, (count, seconds, arrived) = world.result(giver), world.result(taker)
    check(sent == [count, arrived], "the file")
    say(f"   {count >> 20} MiB meanwhile, unchanged, in {seconds:.1f} s")
    for of in ENDS:
        now = world.status(of)["packets"]["dropped"]
        # The kernel looks for IPv6 routers by itself: that no rule is for.
        more = {
            k: n - lost[of].get(k, 0)
            for k, n in now.items()
            if n != lost[of].get(k, 0) and k != "policy_discard"
        }
        say(f"   gateway {of} dropped meanwhile: {more or 'nothing'}")
        check(not more, "the traffic")
    eye.stdin.close()
    frames, shown = json.loads(eye.stdout.read())
    say(f"   the wire since 2.: {frames} frames seen, {shown} show the word")
    check(frames > 0 and shown == 0, "the wire")

    say("\n4. Gateway a is killed. What is routed into it goes nowhere.")
    world.gateways["a"].kill()
    world.gateways["a"].wait()
    eye = world.watch()
    times = world.result(world.part("a", "ping", "10.0.2.1", 4))
    eye.stdin.close()
    frames, shown = json.loads(eye.stdout.read())
    say(f"   {sum(t is not None for t in times)} of {len(times)} answered, {shown} frames show the word")
    check(shown == 0 and not any(times), "the wire")


def check(right, what):
    if not right:
        sys.exit(f"demo-live: {what} is not as it should be")


def main():
    if sys.argv[1:2] == ["part"]:
        what, *args = sys.argv[2:]
        args = [int(arg) if arg.isdigit() else arg for arg in args]
        print(json.dumps({"ping": ping, "receive": receive, "send": send, "watch": watch}[what](*args)))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ace", required=True)
    parser.add_argument("--size", type=int, default=64, help="MiB of each file")
    args = parser.parse_args()
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK):
        sys.exit("demo-live: this needs root and /dev/net/tun: namespaces and TUN devices are root's")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        world = World(args.ace, folder)
        try:
            demo(world, args.size << 20)
        finally:
            world.close()
    say(f"\nThe demo succeeded in {time.monotonic() - start:.1f} s; nothing of it is left.")


if __name__ == "__main__":
    main()
