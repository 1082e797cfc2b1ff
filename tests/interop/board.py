#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strongSwan's charon at both ends, and one end's ESP computed on the board of an image, simulated at its pins behind a cable:
SAs are replaced every few seconds under pings and files of TCP, of which nothing is lost; the board is switched off and on,
and meanwhile nothing leaves. Every frame between the ends is looked at.
Needs root, what tests/interop/charon.sh has fetched, and the board's model, which `ace image sim` makes (the flow's tools).
The simulation is slow: traffic is light, and everything ends by itself."""

import argparse
import collections
import hashlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from clear import ETH_P_ALL, judge
from orders_charon import Charon
from orders_world import MODES, Fault, World, until

BUILD = HERE.parents[1] / "build"
CABLE = "cable"
WORD = b"the word that nobody outside may read."
HOST, SOURCE = "10.0.2.1", "10.0.1.1"
# What charon proposes, and context sets for it: both directions of AES-GCM have a bank each; CBC with HMAC takes turns.
SUITES = {"aes128gcm16": "aes128_gcm", "aes128-sha1": "aes128"}
REKEY = 3
CHILD = """{name} {{
    local_ts = 10.0.{ours}.0/24
    remote_ts = 10.0.{other}.0/24
    esp_proposals = {esp}
    rekey_time = {rekey}
    rand_time = 0
    life_time = 60
    start_action = none
  }}
  """
CONNECTION = """connections {{ t {{
  version = 2
  local_addrs = 192.0.2.{ours}
  remote_addrs = 192.0.2.{other}
  encap = yes
  proposals = aes128-sha256-x25519
  local {{ auth = psk
    id = {name}
  }}
  remote {{ auth = psk
  }}
  children {{ {children}
  }}
}} }}
secrets {{ ike-1 {{ secret = "of both ends"
}} }}
"""

# What runs inside a namespace: this script, started again there.


def ping(seconds, pause, patience):
    """Echo requests, one behind the other whether the last one was answered or not: how many there were, how many were
    answered, and how many were answered more than once."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    sock.bind((SOURCE, 0))
    answers, sent, begin = collections.Counter(), 0, time.monotonic()
    last = begin + seconds
    while time.monotonic() < last + patience:
        if time.monotonic() >= min(begin + sent * pause, last):
            if time.monotonic() < last:
                body = struct.pack("!HH", 0xACE, sent) + WORD
                total = 0x0800 + sum(struct.unpack(f"!{len(body) // 2}H", body))
                while total > 0xFFFF:
                    total = (total & 0xFFFF) + (total >> 16)
                sock.sendto(struct.pack("!BBH", 8, 0, ~total & 0xFFFF) + body, (HOST, 0))
                sent += 1
            elif len(answers) == sent:
                break
        if select.select([sock], [], [], pause / 4)[0]:
            answer = sock.recv(2048)
            if answer[20] == 0 and answer[28:] == WORD:
                answers[struct.unpack("!H", answer[26:28])[0]] += 1
    return [sent, len(answers), sum(count > 1 for count in answers.values())]


def take(size):
    """Takes a connection and gives back what comes: the digest of it."""
    with socket.create_server((HOST, 9000)) as server:
        server.settimeout(60)
        print("listening", flush=True)
        connection, _ = server.accept()
        digest, count = hashlib.sha256(), 0
        while count < size and (piece := connection.recv(1 << 16)):
            connection.sendall(piece)
            digest.update(piece)
            count += len(piece)
        connection.shutdown(socket.SHUT_WR)
        return digest.hexdigest()


def give(size):
    """Sends so many bytes, as they come back: the digest of what has come."""
    data = (WORD * (1 + size // len(WORD)))[:size]
    digest, at = hashlib.sha256(), 0
    with socket.create_connection((HOST, 9000), 30, (SOURCE, 0)) as connection:
        while at < size:
            connection.sendall(data[at : at + 4096])
            at += 4096
            back = 0
            while back < min(4096, size - at + 4096):
                piece = connection.recv(1 << 16)
                if not piece:
                    return "the connection ended"
                digest.update(piece)
                back += len(piece)
    return digest.hexdigest()


def watch(device):
    """Looks at every frame until SIGTERM: packets of each SA, what was in clear, what showed the word, and (SPI, number) that
    passed twice."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)  # SO_RCVBUFFORCE
    sock.bind((device, 0))
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    print("watching", flush=True)
    sas, clear, seen = collections.Counter(), collections.Counter(), set()
    shown = twice = 0
    while True:
        if not select.select([sock], [], [], 0.2)[0]:
            if over:
                break
            continue
        frame = sock.recv(1 << 16)
        shown += WORD in frame
        what = judge(frame)
        if what == "protected":
            at = 14 + (frame[14] & 15) * 4 + 8
            spi, number = struct.unpack("!II", frame[at : at + 8])
            twice += (spi, number) in seen
            seen.add((spi, number))
            sas[f"{frame[29]} {spi:08x}"] += 1
        elif what != "allowed":
            clear[what] += 1
    return {"sas": sas, "clear": clear, "shown": shown, "twice": twice}


PARTS = {"ping": ping, "take": take, "give": give, "watch": watch}


class Desk:
    """Both machines, their daemons, and the board behind the cable of `a`."""

    def __init__(self, world, packages, library, log):
        self.world, self.log = world, log
        self.a, self.b = world.machines["a"], world.machines["b"]
        self.packages, self.library = packages, library
        self.charons, self.board, self.watching = [], None, None

    def part(self, namespace, *words):
        command = ["ip", "netns", "exec", namespace, sys.executable, __file__, "--part", *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def result(self, process, patience):
        try:
            out, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Fault(f"no end within {patience} s: {process.args[-5:]}") from None
        if process.returncode:
            raise Fault(f"{process.args[-5:]} ended with {process.returncode}")
        return json.loads(out.splitlines()[-1])

    def plug(self):
        """A board out of reset. What is at the pins is counted."""
        words = ["image", "sim", "--tap", CABLE, "--json"]
        command = ["ip", "netns", "exec", self.a.namespace, self.world.ace, *words]
        self.board = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        # A board that never says so is ended.
        late = threading.Timer(300, self.board.kill)
        late.start()
        lines = []
        for line in self.board.stderr:
            lines.append(line)
            if f"probe {CABLE}" in line:
                break
        late.cancel()
        if not lines or CABLE not in lines[-1]:
            raise Fault(f"the board is not simulated: {''.join(lines[-5:])}")

    def unplug(self):
        self.board.terminate()
        out, _ = self.board.communicate(timeout=60)
        self.board = None
        return json.loads(out)

    def begin(self):
        self.world.build()
        text = self.a.path(".toml").read_text()
        self.a.path(".toml").write_text(f'{text}[engine]\nkind = "board"\nlink = "{CABLE}"\n')
        self.plug()
        for machine in (self.a, self.b):
            machine.start()
        for machine in (self.a, self.b):
            charon = Charon(machine, self.packages, self.library)
            # One end asks for a suite after the other, and it alone replaces SAs: when both begin at once, charon makes
            # two and deletes one.
            asks = machine is self.a
            names = {"ours": machine.ours, "other": machine.other, "name": machine.name}
            wanted = {esp: esp for esp in SUITES} if asks else {"all": ",".join(SUITES)}
            rekey = REKEY if asks else 0
            children = [
                CHILD.format(**{**names, "name": name}, esp=esp, rekey=rekey) for name, esp in wanted.items()
            ]
            text = CONNECTION.format(children="".join(children), **names)
            machine.path(".swanctl").write_text(text)
            self.charons.append(charon)
            charon.start()
        self.watching = self.part(self.world.bridge, "watch", "to-a")
        self.watching.stdout.readline()

    def end(self):
        for charon in self.charons:
            charon.end()
        for process in (self.watching, self.board):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        if self.log:
            for path in self.world.folder.glob("*.log"):
                (self.log / path.name).write_text(path.read_text(errors="replace"))
        self.world.end()

    def ask(self, question):
        command = [self.world.ace, "gateway", question, "--json", "--control", self.a.path(".sock")]
        return json.loads(subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE).stdout)

    def charon(self, *words):
        done = self.charons[0].ask(*words)
        if done.returncode:
            raise Fault(f"{' '.join(words)}: {(done.stdout + done.stderr)[-600:]}")

    # What is tried.

    def pings(self, seconds, lost=0):
        """Pings under SAs that are replaced, and a file there and back beside them."""
        pinging = self.part(self.a.namespace, "ping", seconds, 0.15, 10)
        return self.counted(self.result(pinging, seconds + 60), lost)

    def counted(self, counts, lost):
        sent, answered, again = counts
        print(f"  {sent} pings, {sent - answered} lost, {again} answered twice", flush=True)
        if again or (lost is not None and sent - answered > lost) or not sent:
            raise Fault(f"{sent - answered} of {sent} pings have no answer, {again} have two")
        return sent, answered

    def traffic(self, seconds, size):
        pinging = self.part(self.a.namespace, "ping", seconds, 0.15, 10)
        taker = self.part(self.b.namespace, "take", size)
        taker.stdout.readline()
        giver = self.part(self.a.namespace, "give", size)
        digests = self.result(giver, 120), self.result(taker, 120)
        if digests[0] != digests[1]:
            raise Fault(f"a file of {size} bytes came back as another one: {digests}")
        print(f"  {size >> 10} KiB by TCP, there and back, unchanged", flush=True)
        self.counted(self.result(pinging, seconds + 60), 0)

    def computed(self, packets):
        """All that gateway a has protected and taken back was computed on the board, since there were so many."""
        figures, slots = self.ask("status")["packets"], self.ask("slots")
        board = slots["board"]
        passed = figures["protected"]["packets"] + figures["decapsulated"]["packets"]
        banks = ", ".join(f"{one['name']}: {one['operations']}" for one in board["configurations"])
        link = board["link"]
        print(f"  {passed} packets, {board['completed']} computed on the board ({banks})")
        print(
            f"  {board['loads']} loads, {link['keys']} keys, {link['frames']} frames, {link['resent']} again, "
            f"{link['sessions_lost']} sessions lost, round trip {link['round_trip_seconds'] * 1e3:.1f} ms",
            flush=True,
        )
        by_cpu = sum(cost["by_cpu"] for cost in slots["costs"])
        if by_cpu or slots["taken_over"] or board["completed"] < passed or passed - packets < 1:
            raise Fault(
                f"the board has not computed all of {passed - packets} packets: {by_cpu} by the processor"
            )
        return passed

    def go(self, seconds, size):
        passed = 0
        for esp, sets in SUITES.items():
            print(
                f"{esp}: SAs are replaced every {REKEY} s for {seconds} s, under pings and a file", flush=True
            )
            self.charon("--initiate", "--child", esp)
            self.traffic(seconds, size)
            passed = self.computed(passed)
            used = [one["name"] for one in self.ask("slots")["board"]["configurations"]]
            if not {f"{sets}_encrypt", f"{sets}_decrypt"} <= set(used):
                raise Fault(f"{esp} was not computed by its context sets: {used}")
            self.charon("--terminate", "--child", esp)
        print("the board is switched off: nothing leaves, and nothing in clear", flush=True)
        self.charon("--initiate", "--child", "aes128gcm16")
        self.pings(2)
        pins = self.unplug()
        self.counted(self.result(self.part(self.a.namespace, "ping", 2, 0.15, 1), 60), None)
        slots = self.ask("slots")["board"]
        if slots["failed"] == 0 or not slots["link"]["loss"]:
            raise Fault(f"a board that is off fails nothing by name: {slots['link']}")
        print(f"  {slots['failed']} operations failed: {slots['link']['loss']}")
        print("and on again", flush=True)
        self.plug()
        until("there is a session", lambda: not self.ask("slots")["board"]["link"]["loss"])
        self.pings(2)
        self.computed(passed)
        return pins

    def wire(self):
        """What has passed between the ends."""
        self.watching.send_signal(signal.SIGTERM)
        seen = self.result(self.watching, 30)
        by_end = collections.Counter(sa.split()[0] for sa in seen["sas"])
        print(
            f"the wire: {sum(seen['sas'].values())} packets of {len(seen['sas'])} SAs, {sum(seen['clear'].values())} in "
            f"clear, {seen['shown']} show the word, {seen['twice']} have a number that was used before"
        )
        if seen["clear"] or seen["shown"] or seen["twice"]:
            raise Fault(f"on the wire: {seen}")
        return by_end


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ace", type=Path, required=True, help="the program; libace_xfrm.so is beside it")
    parser.add_argument("--seconds", type=int, default=12, help="of each suite")
    parser.add_argument("--size", type=int, default=16, help="KiB of the file there and back")
    parser.add_argument("--logs", type=Path, help="a folder where logs of all programs are put in the end")
    args = parser.parse_args()
    ace = args.ace.resolve()
    if os.geteuid() or not os.access("/dev/net/tun", os.W_OK):
        sys.exit("board.py: namespaces, TUN and TAP devices are root's")
    packages = BUILD / "charon"
    if not (packages / "root/usr/lib/ipsec/charon").exists():
        sys.exit("board.py: run tests/interop/charon.sh first, which fetches charon")
    if os.environ.get("ACE_CHARON_INSIDE") != "1":
        # Mounts are seen by nobody else and go with the script.
        os.environ["ACE_CHARON_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    overlay = f"lowerdir={packages}/root/usr/lib:/usr/lib"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", overlay, "/usr/lib"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(World(MODES["charon"], ace, folder), packages, ace.parent / "libace_xfrm.so", args.logs)
        try:
            desk.begin()
            pins = desk.go(args.seconds, args.size << 10)
            by_end = desk.wire()
            # What replaced SAs leave: at least this many of each end carried packets.
            least = len(SUITES) * (args.seconds // REKEY)
            if min(by_end.values()) < least or len(by_end) != 2:
                raise Fault(
                    f"SAs were not replaced: {dict(by_end)}, and {least} of each end at least are expected"
                )
            print(
                f"at the pins, until the board was switched off: {pins['in_frames']} frames in, {pins['out_frames']} out, "
                f"{pins['simulated_ms']:.1f} ms simulated in {pins['wall_s']:.0f} s"
            )
            if pins["out_wrong"]:
                raise Fault(f"the board has sent {pins['out_wrong']} frames that are none")
            return 0
        except Fault as fault:
            print(f"board.py: {fault}", file=sys.stderr)
            for machine in (desk.a, desk.b):
                lines = re.sub(r"\n+", "\n", machine.log()).splitlines()[-30:]
                print(*(f"{machine.name}: {line}" for line in lines), sep="\n", file=sys.stderr)
            return 1
        finally:
            desk.end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        name, *values = sys.argv[2:]
        print(
            json.dumps(
                PARTS[name](
                    *(
                        value if name == "watch" else float(value) if "." in value else int(value)
                        for value in values
                    )
                )
            )
        )
    else:
        sys.exit(main())
