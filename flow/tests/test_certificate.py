# SPDX-License-Identifier: Apache-2.0
"""What clauses say of a graph, what is certified, and what a checker has to refuse."""

import random
import re
import tempfile
import unittest
from itertools import product
from pathlib import Path

from ace_flow import tools
from ace_flow.equiv.certificate import Clauses, certify, check, cover, solve
from ace_flow.prove.gates import AND, FALSE, OR, TRUE, XOR, Graph, Literal


def sums(graph: Graph, width: int, fault: bool = False) -> tuple[list[Literal], list[Literal]]:
    """The same sum twice: carries as the majority, and as a choice; with a fault, the last choice is another."""
    a, b = ([graph.input(f"{name}{place}") for place in range(width)] for name in "ab")
    found = []
    for way in (0, 1):
        carry, bits = FALSE, []
        for place, (one, other) in enumerate(zip(a, b, strict=True)):
            half = graph.lut(XOR, [one, other])
            bits.append(graph.lut(XOR, [half, carry]))
            if way:
                wrong = fault and place == width - 2
                chosen = graph.lut(AND, [half, carry ^ wrong])
                carry = graph.lut(OR, [graph.lut(AND, [one, other]), chosen])
            else:
                some = graph.lut(OR, [one, other])
                carry = graph.lut(OR, [graph.lut(AND, [some, carry]), graph.lut(AND, [one, other])])
        found.append(bits)
    return found[0], found[1]


class Certificates(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.graph = Graph()

    def points(self, width: int, fault: bool = False) -> dict:
        both = sums(self.graph, width, fault)
        return {f"sum[{at}]": [pair] for at, pair in enumerate(zip(*both, strict=True)) if pair[0] != pair[1]}

    def test_clauses_of_a_table_say_just_that(self) -> None:
        chance = random.Random(1)
        for count in range(5):
            for _ in range(60):
                table = chance.getrandbits(1 << count)
                clauses = cover(table, count)
                for bits in product((0, 1), repeat=count + 1):
                    row = sum(bit << place for place, bit in enumerate(bits[1:]))
                    holds = all(any(bits[abs(at) - 1] == (at > 0) for at in clause) for clause in clauses)
                    self.assertEqual(holds, bits[0] == table >> row & 1, (table, count, bits))

    def test_what_is_equal_is_certified(self) -> None:
        points = self.points(24)
        verdict = certify(self.graph, points, self.folder)
        self.assertEqual((verdict.unproven, verdict.differ), ([], []))
        self.assertEqual([one.points for one in verdict.certificates], [len(points)])
        self.assertGreater(verdict.certificates[0].steps, 20)
        self.assertEqual(certify(self.graph, {}, self.folder).certificates, [])

    def test_what_differs_is_shown_and_the_rest_is_certified(self) -> None:
        points = self.points(12, fault=True)
        verdict = certify(self.graph, points, self.folder)
        self.assertEqual((verdict.unproven, verdict.differ), (["sum[11]"], ["sum[11]"]))
        self.assertEqual([one.points for one in verdict.certificates], [len(points) - 1])
        once = certify(self.graph, points, self.folder, rounds=1)
        self.assertEqual((once.differ, once.certificates), (["sum[11]"], []))

    def test_constants_and_inverses(self) -> None:
        a = self.graph.input("a")
        equal = {"equal": [(a, a), (TRUE, TRUE)]}
        self.assertEqual(certify(self.graph, equal, self.folder).unproven, [])
        for pair in [(TRUE, FALSE), (a, FALSE), (TRUE, a), (a, a ^ 1), (a, self.graph.input("b"))]:
            verdict = certify(self.graph, equal | {"other": [(a, a), pair]}, self.folder)
            self.assertEqual(
                (verdict.differ, sum(one.points for one in verdict.certificates)), (["other"], 1)
            )

    def test_random_logic_is_told_apart_as_its_tables_do(self) -> None:
        chance = random.Random(2)
        for _ in range(40):
            graph = Graph()
            nodes = [graph.input(name) for name in "abcde"]
            for _ in range(30):
                nodes.append(graph.lut(chance.getrandbits(16), chance.sample(nodes, 4)))
            points = {
                str(at): [(one, other)] for at, (one, other) in enumerate(zip(nodes, nodes[7:], strict=False))
            }
            values = [self.values(graph, bits) for bits in product((0, 1), repeat=5)]
            differ = {
                name
                for name, [(a, b)] in points.items()
                if any(one[a >> 1] ^ a & 1 != one[b >> 1] ^ b & 1 for one in values)
            }
            # A node that is the constant is equal to none of the others but such.
            self.assertEqual(set(certify(graph, points, self.folder, rounds=99).differ), differ)

    def values(self, graph: Graph, bits: tuple[int, ...]) -> list[int]:
        found: list[int] = []
        for table, inputs in graph.nodes:
            if isinstance(table, str):
                found.append(bits["abcde".index(table)])
            else:
                found.append(table >> sum(found[one] << at for at, one in enumerate(inputs)) & 1)
        return found

    def test_what_is_too_hard_together_is_certified_in_parts(self) -> None:
        points = self.points(48)
        verdict = certify(self.graph, points, self.folder, conflicts=500)
        self.assertEqual(verdict.unproven, [])
        self.assertGreater(len(verdict.certificates), 1)
        self.assertEqual(sum(one.points for one in verdict.certificates), len(points))

    def test_what_is_too_hard_is_not_proven(self) -> None:
        points = self.points(48)
        verdict = certify(self.graph, points, self.folder, conflicts=1)
        self.assertTrue(verdict.unproven)
        self.assertEqual(verdict.differ, [])
        proven = sum(one.points for one in verdict.certificates)
        self.assertEqual(proven + len(verdict.unproven), len(points))

    def test_a_certificate_that_was_changed_is_refused(self) -> None:
        clauses = Clauses(self.graph, self.points(12))
        cnf, proof = self.folder / "a.cnf", self.folder / "a.lrat"
        self.assertIs(solve(clauses, proof, 10**6)[0], False)
        clauses.write(cnf)
        good = proof.read_text()
        self.assertEqual(check(cnf, proof)["clauses"], len(clauses.clauses))
        lines = good.splitlines()
        added = [at for at, line in enumerate(lines) if " d " not in line]
        first = lines[added[0]]
        for what, text in {
            "nothing": "",
            "no empty clause": "\n".join(lines[: added[-1]]),
            "no first step": "\n".join(line for line in lines if line != first),
            "no hints": good.replace(first, re.sub(r" 0 .* 0$", " 0 0", first)),
            "fewer hints": good.replace(first, re.sub(r"\d+ 0$", "0", first)),
            "another literal": good.replace(first, re.sub(r"^(\d+) (-?)(\d+)", r"\1 \g<2>1", first)),
            "cut": good[: len(good) // 2],
        }.items():
            proof.write_text(text)
            with self.subTest(what), self.assertRaisesRegex(tools.ToolError, "proof"):
                check(cnf, proof)
        # The proof of other clauses: one of the circuit's is not there.
        proof.write_text(good)
        texts = cnf.read_text().splitlines()
        texts[-1] = "1 -1 0"
        cnf.write_text("\n".join(texts) + "\n")
        with self.assertRaises(tools.ToolError):
            check(cnf, proof)


if __name__ == "__main__":
    unittest.main()
