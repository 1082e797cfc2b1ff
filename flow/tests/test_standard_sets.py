# SPDX-License-Identifier: Apache-2.0
"""What the array's sources say is the standards' function: of some algorithms of every kind, or of all with ACE_TESTS=all."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from ace_flow.equiv import set_idea
from ace_flow.equiv.set_terms import ONE, Terms, TooLargeError
from ace_flow.equiv.sets import UNPROVEN, Case, cases, compared, controlled, published
from ace_flow.tools import ROOT

ACE = Path(os.environ.get("ACE_BIN", ROOT / "target" / "release" / "ace"))
# A cipher of tables, of bits, of numbers modulo 65537, and a hash.
SOME = ["aes128_encrypt", "des_encrypt", "idea_decrypt", "sha1"]


class Standards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not ACE.exists():
            raise unittest.SkipTest(f"{ACE} is not built")
        text = subprocess.run([ACE, "array", "graph"], check=True, capture_output=True, text=True).stdout
        cls.graphs = json.loads(text)

    def case(self, name: str) -> Case:
        return cases(self.graphs, [name])[0]

    def test_every_variant_has_a_standard(self):
        variants = {name for name, graph in self.graphs.items() if not graph["keys"]}
        self.assertEqual({case.name for case in cases(self.graphs, [])}, variants - set(UNPROVEN))
        # No library holds one of those.
        known = [path.read_text() for path in ROOT.glob("algorithms/*/array/sets.toml")]
        self.assertFalse([name for name in UNPROVEN for text in known if f"\n{name} = " in text])

    def test_graphs_are_their_standards(self):
        names = [] if os.environ.get("ACE_TESTS") == "all" else SOME
        for case in cases(self.graphs, names):
            with self.subTest(case.name):
                self.assertTrue(published(case))
                good = compared(case)
                self.assertTrue(good.same)
                self.assertTrue(controlled(case, good))

    def test_a_changed_graph_is_told_apart(self):
        for name, kind in [("des_encrypt", "table"), ("sha1", "rotate"), ("idea_decrypt", "sum")]:
            case = self.case(name)
            graph = json.loads(json.dumps(case.graph))
            if kind == "table":
                graph["tables"][3][17] ^= 1
            else:
                node = next(node for node in graph["nodes"][-200:] if node[0] == kind)
                node[2] ^= 2 if kind == "sum" else 1
            with self.subTest(name):
                self.assertFalse(compared(Case(case.standard, name, graph, case.keys)).same)


class Rules(unittest.TestCase):
    """The rules of the terms, where they are more than bits: each is computed of random inputs as well."""

    def setUp(self):
        self.terms = Terms()
        self.words = [self.terms.input(f"w{n}") for n in range(4)]

    def test_sums(self):
        t, (a, b, *_) = self.terms, self.words
        self.assertEqual(t.add(t.add(a, b), minus=[b]), a)
        self.assertEqual(t.add(t.invert(a), a, plus=1), t.constant(0))
        self.assertEqual(t.add(a, a), t.shl(a, 1))
        bit = (a[5], *t.constant(0)[1:])
        self.assertEqual(t.add(t.constant(0), minus=[bit]), (a[5],) * 32)
        for word in (t.add(a, b), t.add(a, plus=7, minus=[b, b])):
            self.assertNotEqual(word, t.add(b, b, a))
        numbers = [(x - 2 * y + 7) & 0xFFFFFFFF for x, y in zip(t.numbers(a), t.numbers(b), strict=True)]
        self.assertEqual(t.numbers(t.add(a, plus=7, minus=[b, b])), numbers)

    def test_products_and_tables(self):
        t, (a, b, *_) = self.terms, self.words
        self.assertEqual(t.multiply(a, b), t.multiply(b, a))
        byte = (*a[:8], *t.constant(0)[8:])
        self.assertEqual(
            t.multiply(byte, t.constant(0x0100_0100)), (*t.constant(0)[:8], *a[:8], *[0] * 8, *a[:8])
        )
        table = [(31 * n * n + n) & 0xFFFFFFFF for n in range(256)]
        both = [x ^ (x << 3 & 0xFFFFFFFF) for x in table]
        found = t.look(table, a[:8])
        self.assertEqual(t.look(both, a[:8]), t.xor(found, t.shl(found, 3)))
        self.assertEqual(t.numbers(found), [table[n & 255] for n in t.numbers(a)])
        self.assertEqual(t.look([n ^ 9 for n in range(256)], a[:8], 8), t.xor(a[:8], t.constant(9, 8)))
        self.assertNotEqual(t.look(table, a[:8]), t.look(table, b[:8]))

    def test_bits_beyond_the_limit_are_refused(self):
        t = self.terms
        words = [t.input(f"many {n}", 200) for n in range(2)]
        bits = [ONE, ONE]
        for place, word in enumerate(words):
            for bit in word:
                bits[place] = t.xor_bit(bits[place], bit)
        with self.assertRaises(TooLargeError):
            t.and_bit(*bits)

    def test_reduction_modulo_the_prime(self):
        self.assertTrue(set_idea.reduces() and set_idea.reduces_by_bytes())
        numbers = set_idea.Numbers(self.terms)
        a, b = self.words[0][:16], self.words[1][:16]
        product = numbers.multiply(a, b)
        self.assertEqual(numbers.multiply(product, numbers.inverse(b)), a)
        wanted = [
            (x or 65536) * (y or 65536) % 65537 & 0xFFFF
            for x, y in zip(*map(self.terms.numbers, (a, b)), strict=True)
        ]
        self.assertEqual(self.terms.numbers(product), wanted)

    def test_a_reduction_by_tables_is_known_by_its_tables(self):
        def product(more: tuple[int, ...], minus: int = 2) -> set_idea.Halves:
            """A * B + A + B, looked up twice by bytes, of the block's two words."""
            tables = [list(table) for table in set_idea.DIFFERENCE[:2]]
            # What is subtracted is there as it is.
            tables += [list(range(256)), list(set_idea.DIFFERENCE[3]), list(more), [0] * 256]
            nodes = [["input", [], 0], ["input", [], 1], ["multiply", [0, 1]]]
            nodes += [["sum", [2, 0], 0], ["sum", [3, 1], 0]]
            nodes += [["look", [4], *look, False] for look in ((3, 3), (2, 2), (1, 1), (0, 0))]
            nodes += [["sum", [5, 6], minus], ["sum", [9, 7], 0], ["sum", [10, 8], 0]]
            nodes += [["look", [11], *look, False] for look in ((5, 3), (4, 2), (1, 1), (0, 0))]
            nodes += [["sum", [12, 13], 0], ["sum", [16, 14], 0], ["sum", [17, 15], 0]]
            halves = set_idea.Halves(self.terms, {"nodes": nodes, "tables": tables})
            low = [word[:16] + (set_idea.ZERO,) * 16 for word in self.words[:2]]
            for number, (name, _, *rest) in enumerate(nodes):
                halves.values.append(low[rest[0]] if name == "input" else halves.value(number))
            return halves

        right = product(set_idea.ONE_MORE[2])
        self.assertEqual(right.reduced_by_bytes(18), 4)
        both = [right.values[0], right.values[1]]
        self.assertEqual(right.values[18], (*right.product(both), *[set_idea.ZERO] * 16))
        # Another entry, or a difference that is a sum.
        wrong = list(set_idea.ONE_MORE[2])
        wrong[254] = 1
        self.assertIsNone(product(tuple(wrong)).reduced_by_bytes(18))
        self.assertIsNone(product(set_idea.ONE_MORE[2], minus=0).reduced_by_bytes(18))


if __name__ == "__main__":
    unittest.main()
