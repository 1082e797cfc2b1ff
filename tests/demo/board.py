#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gateway whose ESP is computed on the board of an image, simulated at its pins and reached over a cable.

`make demo-board` builds ace and the board's model and runs it, as root. It makes its namespaces, and takes them away
again.
"""

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time

from live import ENDS, SUITES, World, sas, say

CABLE = "cable"
SUITE = "aes-128-gcm-16"


def check(right, what):
    if not right:
        sys.exit(f"demo-board: {what} is not as it should be")


class Desk(World):
    """The namespaces of the live demo; in a's there is a board at the end of a cable."""

    board = None

    def plug(self):
        command = ["ip", "netns", "exec", self.name("a"), self.ace, "image", "sim", "--tap", CABLE, "--json"]
        self.board = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if CABLE not in self.board.stderr.readline():
            sys.exit(f"demo-board: the board is not simulated: {self.board.communicate()[1]}")

    def unplug(self):
        self.board.terminate()
        out, _ = self.board.communicate(timeout=60)
        self.board = None
        return json.loads(out)

    def close(self):
        if self.board:
            self.board.kill()
            self.board.wait()
        super().close()

    def in_a(self, *words):
        command = ["ip", "netns", "exec", self.name("a"), self.ace, *words]
        return subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)


def demo(desk, size):
    desk.build()
    say("1. A board at its pins: PHY, MAC, link and the array, behind a cable that is a TAP device.")
    desk.plug()
    probe = desk.in_a("image", "probe", CABLE, "--sets", "aes128_gcm_encrypt")
    for line in probe.stdout.splitlines():
        say(f"   {line}")
    check(probe.returncode == 0, "the board")

    say(f"\n2. Two gateways, {SUITE}: a's ESP is computed on the board, b's by its processor.")
    keys = {(n, SUITE): (secrets.token_hex(SUITES[SUITE][0]), "") for n in ENDS.values()}
    for of, n in ENDS.items():
        desk.start(
            of,
            sas(n, keys, [SUITE], [SUITE]),
            f'[engine]\nkind = "board"\nlink = "{CABLE}"\n' if of == "a" else "",
        )
    eye = desk.watch()
    times = desk.result(desk.part("a", "ping", "10.0.2.1", 20))
    answered = sorted(t for t in times if t is not None)
    check(answered, "the ping")
    say(
        f"   {len(answered)} of {len(times)} echo requests answered, median {statistics.median(answered) / 1e3:.1f} ms wall"
    )
    giver, taker = desk.file("a", "b", size)
    sent, (count, seconds, arrived) = desk.result(giver), desk.result(taker)
    check(sent == [count, arrived], "the file")
    say(f"   {count >> 10} KiB over TCP, unchanged, in {seconds:.1f} s wall")
    eye.stdin.close()
    frames, shown = json.loads(eye.stdout.read())
    say(f"   the wire: {frames} frames seen, {shown} show the word")
    check(frames > 0 and shown == 0, "the wire")

    say("\n3. What the board has done.")
    slots = desk.in_a("gateway", "slots", "--control", str(desk.folder / "a.sock"))
    for line in slots.stdout.splitlines():
        say(f"   {line}")
    desk.gateways.pop("a").terminate()
    pins = desk.unplug()
    say(
        f"   at the pins: {pins['in_frames']} frames in, {pins['out_frames']} out, "
        f"{pins['simulated_ms']:.1f} ms simulated in {pins['wall_s']:.0f} s wall"
    )
    check(pins["out_wrong"] == 0, "what the board sent")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ace", required=True)
    parser.add_argument("--size", type=int, default=64, help="KiB of the file")
    args = parser.parse_args()
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK):
        sys.exit("demo-board: this needs root and /dev/net/tun: namespaces and TAP devices are root's")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(args.ace, folder)
        try:
            demo(desk, args.size << 10)
        finally:
            desk.close()
    say(f"\nThe demo succeeded in {time.monotonic() - start:.1f} s; nothing of it is left.")


if __name__ == "__main__":
    main()
