# SPDX-License-Identifier: Apache-2.0
"""RC6 with 12 rounds has no published answers: those of algorithms/rc6-12/kat.csv are the definition's, which here gives
the published ones of RC6 with 20 rounds, too."""

import csv
import struct
import unittest
from pathlib import Path

from ace_flow import tools

MASK = 0xFFFFFFFF
P, Q = 0xB7E15163, 0x9E3779B9


def rotate(x: int, n: int) -> int:
    """To the left."""
    n %= 32
    return ((x << n) | (x >> (32 - n))) & MASK


def expand(key: bytes, rounds: int) -> list[int]:
    """S, of the user's key (section 2.2 of the submission)."""
    words = list(struct.unpack(f"<{len(key) // 4}I", key))
    s = [(P + i * Q) & MASK for i in range(2 * rounds + 4)]
    a = b = i = j = 0
    for _ in range(3 * max(len(words), len(s))):
        a = s[i] = rotate((s[i] + a + b) & MASK, 3)
        b = words[j] = rotate((words[j] + a + b) & MASK, a + b)
        i, j = (i + 1) % len(s), (j + 1) % len(words)
    return s


def encrypt(key: bytes, block: bytes, rounds: int) -> bytes:
    """A block (section 2.3)."""
    s = expand(key, rounds)
    a, b, c, d = struct.unpack("<4I", block)
    b, d = (b + s[0]) & MASK, (d + s[1]) & MASK
    for i in range(1, rounds + 1):
        t, u = rotate(b * (2 * b + 1) & MASK, 5), rotate(d * (2 * d + 1) & MASK, 5)
        a = (rotate(a ^ t, u) + s[2 * i]) & MASK
        c = (rotate(c ^ u, t) + s[2 * i + 1]) & MASK
        a, b, c, d = b, c, d, a
    return struct.pack("<4I", (a + s[2 * rounds + 2]) & MASK, b, (c + s[2 * rounds + 3]) & MASK, d)


class Rounds(unittest.TestCase):
    def answers(self, path: Path, rounds: int) -> int:
        rows = [row for row in csv.DictReader(path.read_text().splitlines()) if row["mode"] == "ECB"]
        for row in rows:
            key, block = (bytes.fromhex(row[name]) for name in ("key_hex", "plaintext_hex"))
            self.assertEqual(encrypt(key, block, rounds).hex().upper(), row["ciphertext_hex"].upper(), row)
        return len(rows)

    def test_known_answers_of_both_are_those_of_the_definition(self) -> None:
        self.assertGreater(self.answers(tools.ROOT / "algorithms/rc6/kat.csv", 20), 5)
        self.assertGreater(self.answers(tools.ROOT / "algorithms/rc6-12/kat.csv", 12), 5)


if __name__ == "__main__":
    unittest.main()
