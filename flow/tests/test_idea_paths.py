# SPDX-License-Identifier: Apache-2.0
"""The data paths of the study of 2004 against IDEA as its definition has it."""

import random
import subprocess
import unittest

from ace_flow import harness

FOLDER = "studies/idea-2004"
PARTS = ("idea_paths_pkg", "idea_multiply", "idea_phase", "idea_paths", "idea_stages", "idea_substages")
SOURCES = [*(f"{FOLDER}/rtl/{name}.sv" for name in (*PARTS, "idea_unit")), f"{FOLDER}/test/idea_bench.sv"]
# Clocks from block to result, and from result to result, as the headers say.
CLOCKS = [("117", "117"), ("58", "58"), ("73", "8"), ("108", "1")]


def multiply(x: int, k: int) -> int:
    """Modulo 2^16 + 1, zero standing for 2^16."""
    return (x or 65536) * (k or 65536) % 65537 % 65536


def subkeys(key: int) -> list[int]:
    """Eight words of the key, which turns left by 25 bits for each eight more."""
    words = []
    while len(words) < 52:
        words += [key >> 112 - 16 * i & 0xFFFF for i in range(8)]
        key = (key << 25 | key >> 103) & (1 << 128) - 1
    return words[:52]


def phase(x: list[int], z: list[int]) -> list[int]:
    a, d = multiply(x[0], z[0]), multiply(x[3], z[3])
    b, c = (x[1] + z[1]) % 65536, (x[2] + z[2]) % 65536
    s = multiply(a ^ c, z[4])
    t = multiply((s + (b ^ d)) % 65536, z[5])
    u = (s + t) % 65536
    return [a ^ t, c ^ t, b ^ u, d ^ u]


def idea(block: int, z: list[int]) -> int:
    x = words(block)
    for r in range(8):
        x = phase(x, z[6 * r : 6 * r + 6])
    a, d = multiply(x[0], z[48]), multiply(x[3], z[51])
    return number([a, (x[2] + z[49]) % 65536, (x[1] + z[50]) % 65536, d])


def words(block: int) -> list[int]:
    return [block >> 48 - 16 * i & 0xFFFF for i in range(4)]


def number(x: list[int]) -> int:
    return x[0] << 48 | x[1] << 32 | x[2] << 16 | x[3]


class IdeaPaths(unittest.TestCase):
    def test_every_path_is_idea_in_the_clocks_that_it_says(self) -> None:
        bench = harness.simulator("idea-paths", "idea_bench", SOURCES, f"{FOLDER}/test/bench.cc")
        rng = random.Random(4)
        # Lai's own example; words of zero; all ones; random keys and blocks.
        lai = 0x0001_0002_0003_0004_0005_0006_0007_0008
        self.assertEqual(idea(0x0000_0001_0002_0003, subkeys(lai)), 0x11FB_ED2B_0198_6DE5)
        for key in (lai, 0, (1 << 128) - 1, rng.getrandbits(128), rng.getrandbits(128)):
            z = subkeys(key)
            blocks = [0x0000_0001_0002_0003, 0, (1 << 64) - 1, 0x0000_FFFF_0000_0001]
            blocks += [rng.getrandbits(64) & ~(0xFFFF << 16 * rng.randrange(8)) for _ in range(40)]
            text = " ".join([*(f"{k:x}" for k in z), str(len(blocks)), *(f"{b:x}" for b in blocks)])
            said = subprocess.run([str(bench)], input=text, capture_output=True, text=True, check=True)
            *paths, phases = [line.split() for line in said.stdout.splitlines()]
            wanted = [f"{idea(block, z):016x}" for block in blocks]
            self.assertEqual([tuple(path[:2]) for path in paths], CLOCKS)
            for path in paths:
                self.assertEqual(path[2:], wanted)
            self.assertEqual(phases, [f"{number(phase(words(b), z[:6])):016x}" for b in blocks])


if __name__ == "__main__":
    unittest.main()
