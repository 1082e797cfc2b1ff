# SPDX-License-Identifier: Apache-2.0
"""The paper's decompression as RTL: bytes and clocks of random dictionaries, and what it does with a false one."""

import random
import subprocess
import unittest

from ace_flow.sim import harness

FOLDER = "studies/ace-2000"
TERMINALS = 16


def dictionary(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Symbols and pointers; every pointer is below its node, the first nodes end a phrase."""
    ends = [(rng.getrandbits(8), 0) for _ in range(TERMINALS)]
    return ends + [(rng.getrandbits(8), rng.randrange(at)) for at in range(TERMINALS, count)]


def phrase(nodes: list[tuple[int, int]], at: int) -> list[int]:
    found = [nodes[at][0]]
    while at >= TERMINALS:
        at = nodes[at][1]
        found.append(nodes[at][0])
    return found


class Phrases(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.bench = harness.simulator(
            "phrase-reader",
            "phrase_reader",
            [f"{FOLDER}/rtl/phrase_reader.sv"],
            f"{FOLDER}/test/phrase_bench.cc",
        )

    def read(
        self, nodes: list[tuple[int, int]], index: list[int], each: int = 1
    ) -> tuple[int, bool, list[int]]:
        words = [each, TERMINALS, len(index), *(at << 8 for at in index)]
        words += [len(nodes), *(symbol | pointer << 8 for symbol, pointer in nodes)]
        done = subprocess.run(
            [str(self.bench)], input=" ".join(map(str, words)), capture_output=True, text=True, check=True
        )
        clocks, fault, *found = map(int, done.stdout.split())
        return clocks, bool(fault), found

    def test_phrases_come_out_a_clock_a_read(self) -> None:
        rng = random.Random(20)
        for count, codewords in ((16, 1), (17, 40), (300, 500), (5000, 2000)):
            nodes = dictionary(rng, count)
            index = [rng.randrange(count) for _ in range(codewords)]
            wanted = [symbol for at in index for symbol in phrase(nodes, at)]
            clocks, fault, found = self.read(nodes, index)
            self.assertEqual((found, fault), (wanted, False))
            self.assertEqual(clocks, 1 + len(index) + len(wanted))
            # Somebody who takes a byte now and then gets the same.
            for each in (2, 3, 7):
                slower, fault, found = self.read(nodes, index, each)
                self.assertEqual((found, fault), (wanted, False))
                self.assertGreaterEqual(slower, each * (len(found) - 1))

    def test_nothing_is_an_empty_index(self) -> None:
        self.assertEqual(self.read(dictionary(random.Random(1), 20), []), (1, False, []))

    def test_a_pointer_that_leads_nowhere_else_ends_with_a_fault(self) -> None:
        nodes = dictionary(random.Random(2), 40)
        for at, pointer in ((30, 30), (30, 39), (20, 25)):
            false = [*nodes[:at], (nodes[at][0], pointer), *nodes[at + 1 :]]
            self.assertTrue(self.read(false, [3, at, 4])[1])
        # A codeword outside reads as zeros, whose phrase goes on at the first node.
        self.assertEqual(self.read(nodes, [100])[2], [0, nodes[0][0]])


if __name__ == "__main__":
    unittest.main()
