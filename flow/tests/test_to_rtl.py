# SPDX-License-Identifier: Apache-2.0
"""What the proof from the netlist to the RTL takes cells for, and what it must not take for the same."""

import copy
import operator
import random
import tempfile
import unittest
from pathlib import Path

from ace_flow.equiv.block_memory import BELOW, place
from ace_flow.equiv.certificate import certify
from ace_flow.equiv.match import Matching
from ace_flow.equiv.multiply import multiply
from ace_flow.equiv.names import tiles
from ace_flow.equiv.states import States
from ace_flow.equiv.transitions import Proof
from ace_flow.equiv.words import Words, bit_of, word_of
from ace_flow.prove.gates import Graph

CLK, RST, A, B, Q = 2, 3, 4, 5, 9
PORTS = {
    "clk": {"direction": "input", "bits": [CLK]},
    "rst": {"direction": "input", "bits": [RST]},
    "in": {"direction": "input", "bits": [A, B]},
    "out": {"direction": "output", "bits": [Q]},
}
BINARY = {
    "$add": operator.add,
    "$sub": operator.sub,
    "$eq": lambda a, b: int(a == b),
    "$ne": lambda a, b: int(a != b),
    "$lt": lambda a, b: int(a < b),
    "$le": lambda a, b: int(a <= b),
    "$gt": lambda a, b: int(a > b),
    "$ge": lambda a, b: int(a >= b),
    "$logic_and": lambda a, b: int(bool(a) and bool(b)),
    "$logic_or": lambda a, b: int(bool(a) or bool(b)),
}
UNSIGNED = {
    "$shl": operator.lshift,
    "$shr": operator.rshift,
    "$shiftx": operator.rshift,
    "$div": operator.floordiv,
    "$mod": operator.mod,
}
UNARY = {
    "$neg": operator.neg,
    "$reduce_or": lambda a: int(a != 0),
    "$reduce_xor": lambda a: a.bit_count() % 2,
    "$logic_not": lambda a: int(a == 0),
}


def word(value: int, width: int) -> list[int]:
    return [value >> place & 1 for place in range(width)]


def value_of(bits: list[int], signed: bool = False) -> int:
    value = sum(bit << place for place, bit in enumerate(bits))
    return value - (bits[-1] << len(bits)) if signed else value


class Multiplies:
    """Products of constants, as a multiplier of the netlist gives them."""

    multiplies = True

    def product(self, _: str, one: list[int], other: list[int]) -> list[int]:
        assert len(one) == len(other) == 19
        return word(value_of(one, True) * value_of(other, True), 36)


class Cells(unittest.TestCase):
    def setUp(self) -> None:
        self.words = Words(Graph())
        self.random = random.Random(1)

    def compute(self, kind: str, a: list[int], b: list[int], width: int, signed: bool = False) -> int:
        return value_of(word_of(self.words, kind, a, b, width, signed))

    def test_words_are_what_python_says(self) -> None:
        for _ in range(300):
            widths = [self.random.randint(1, 9) for _ in range(3)]
            a, b = (word(self.random.getrandbits(width), width) for width in widths[:2])
            for signed in (False, True):
                one, other = value_of(a, signed), value_of(b, signed)
                for kind, function in BINARY.items():
                    wanted = function(one, other) % (1 << widths[2])
                    self.assertEqual(
                        self.compute(kind, a, b, widths[2], signed), wanted, (kind, a, b, signed)
                    )
            for kind, function in UNSIGNED.items():
                if value_of(b) or kind not in ("$div", "$mod"):
                    wanted = function(value_of(a), value_of(b)) % (1 << widths[2])
                    self.assertEqual(self.compute(kind, a, b, widths[2]), wanted, (kind, a, b))
            for kind, function in UNARY.items():
                wanted = function(value_of(a)) % (1 << widths[2])
                self.assertEqual(self.compute(kind, a, [], widths[2]), wanted, (kind, a))

    def test_a_multiplexer_chooses(self) -> None:
        for number in range(8):
            for cases in range(256):
                chosen = bit_of(self.words, "$bmux", [*word(cases, 8), *word(number, 3)])
                self.assertEqual(chosen, cases >> number & 1)
        for default, first, second, select in ((1, 0, 0, 0), (0, 1, 0, 1), (0, 0, 1, 2), (1, 0, 1, 1)):
            chosen = bit_of(self.words, "$pmux", [default, first, second, *word(select, 2)])
            self.assertEqual(chosen, {0: default, 1: first, 2: second}[select])

    def test_products_in_parts_are_products(self) -> None:
        for _ in range(300):
            widths = [self.random.choice((4, 16, 17, 18, 19, 32, 36)) for _ in range(3)]
            a, b = (word(self.random.getrandbits(width), width) for width in widths[:2])
            for signed in (False, True):
                got = multiply(self.words, Multiplies(), "", a, b, widths[2], signed)
                wanted = value_of(a, signed) * value_of(b, signed) % (1 << widths[2])
                self.assertEqual(value_of(got), wanted, (a, b, widths[2], signed))

    def test_a_product_with_a_power_of_two_wants_no_multiplier(self) -> None:
        class Refuses(Multiplies):
            def product(self, name: str, one: list, other: list) -> list:
                raise AssertionError(name)

        for shift in range(16):
            for width in (16, 36):
                a, b = word(self.random.getrandbits(16), 16), word(1 << shift, 17)
                for one, other in ((a, b), (b, a)):
                    got = multiply(self.words, Refuses(), "", one, other, width, False)
                    self.assertEqual(value_of(got), (value_of(a) << shift) % (1 << width))
        # The bit of the sign is no power of two.
        with self.assertRaises(AssertionError):
            multiply(self.words, Refuses(), "", a, word(1 << 15, 16), 36, True)

    def test_every_bit_of_a_block_memory_is_in_one_place(self) -> None:
        for width, below in BELOW.items():
            places = {place(width, at, lane) for at in range(1 << (14 - below)) for lane in range(width)}
            self.assertEqual(len(places), width << (14 - below))
            self.assertLess(max(places), 1024 * 18)

    def test_states_are_one_of_their_codes(self) -> None:
        states = States("s", ["a", "b"], ["x", "y", "z"], [2, 0, 1])
        for value in range(4):
            bits, hot = states.split(word(value, 2), int.__and__, int.__or__, 1)
            self.assertEqual(sum(hot), 1)
            self.assertEqual(value_of(bits), states.codes[hot.index(1)])
            self.assertEqual(value_of(bits), value if value in states.codes else 2)


def rtl() -> dict:
    """A register with an asynchronous reset to 1 that takes a AND b."""
    cells = {
        "and": {
            "type": "$and",
            "parameters": {},
            "connections": {"A": [A], "B": [B], "Y": [20]},
        },
        "q": {
            "type": "$aldff",
            "parameters": {"ALOAD_POLARITY": "0", "CLK_POLARITY": "1"},
            "connections": {"AD": ["1"], "ALOAD": [RST], "CLK": [CLK], "D": [20], "Q": [Q]},
        },
    }
    return {"ports": PORTS, "cells": cells, "netnames": {"q": {"bits": [Q]}}, "memories": {}}


def netlist() -> dict:
    """The same in cells of the ECP5."""
    cells = {
        "invert": {
            "type": "LUT4",
            "parameters": {"INIT": f"{0x5555:016b}"},
            "connections": {"A": [RST], "Z": [30]},
        },
        "and": {
            "type": "LUT4",
            "parameters": {"INIT": f"{0x8888:016b}"},
            "connections": {"A": [B], "B": [A], "Z": [20]},
        },
        "ff": {
            "type": "TRELLIS_FF",
            "parameters": {
                "SRMODE": "ASYNC",
                "REGSET": "SET",
                "CEMUX": "1",
                "CLKMUX": "CLK",
                "LSRMUX": "LSR",
            },
            "connections": {"CLK": [CLK], "LSR": [30], "DI": [20], "Q": [Q]},
        },
    }
    return {"ports": PORTS, "cells": cells, "netnames": {"q": {"bits": [Q]}}}


def proof(one: dict, other: dict) -> Proof:
    matching = Matching(one, other, tiles(one, other))
    # Names say it here, and what differs has to stay together to be seen.
    made = copy.copy(matching.colours)
    matching.run()
    matching.colours = made
    found = Proof(matching)
    found.collect()
    return found


class Machines(unittest.TestCase):
    def test_the_same_is_proven(self) -> None:
        found = proof(rtl(), netlist())
        self.assertEqual((found.open, found.left()), ([], {}))
        self.assertEqual(found.counts["registers"], 1)

    def test_what_differs_is_left(self) -> None:
        changes = {
            "data": lambda cells: cells["and"]["parameters"].update(INIT=f"{0xEEEE:016b}"),
            "reset value": lambda cells: cells["ff"]["parameters"].update(REGSET="RESET"),
            "reset is inverted": lambda cells: cells["ff"]["connections"].update(LSR=[RST]),
            "reset waits for the clock": lambda cells: cells["ff"]["parameters"].update(SRMODE="LSR_OVER_CE"),
            "clock edge": lambda cells: cells["ff"]["parameters"].update(CLKMUX="INV"),
            "enable": lambda cells: (
                cells["ff"]["parameters"].update(CEMUX="CE") or cells["ff"]["connections"].update(CE=[A])
            ),
        }
        for name, change in changes.items():
            other = netlist()
            change(other["cells"])
            found = proof(rtl(), other)
            self.assertEqual(list(found.left()), ["register ff (netlist)"], name)
            self.assertEqual(self.certified(found), (0, ["register ff (netlist)"]), name)

    def test_what_is_built_otherwise_is_certified(self) -> None:
        other = netlist()
        # A AND B, as A without (A XOR B).
        xor = {"A": [A], "B": [B], "Z": [40]}
        other["cells"]["xor"] = {"type": "LUT4", "parameters": {"INIT": f"{0x6666:016b}"}, "connections": xor}
        other["cells"]["and"]["parameters"]["INIT"] = f"{0x2222:016b}"
        other["cells"]["and"]["connections"] = {"A": [A], "B": [40], "Z": [20]}
        found = proof(rtl(), other)
        self.assertEqual(list(found.left()), ["register ff (netlist)"])
        self.assertEqual(self.certified(found), (1, []))

    def certified(self, found: Proof) -> tuple[int, list[str]]:
        """How many points have a certificate, and of which a difference was found."""
        with tempfile.TemporaryDirectory() as folder:
            verdict = certify(found.graph, found.left(), Path(folder))
        self.assertEqual(verdict.unproven, verdict.differ)
        return sum(one.points for one in verdict.certificates), verdict.differ

    def test_a_register_without_a_partner_is_open(self) -> None:
        one = rtl()
        one["netnames"] = {}
        matching = Matching(one, netlist(), {})
        matching.colours = {key: ("own", key) for key in matching.colours}
        made = dict(matching.colours)
        matching.run()
        matching.colours = made
        found = Proof(matching)
        found.collect()
        self.assertTrue(found.open)
        self.assertIn("output out[0]", found.left())


if __name__ == "__main__":
    unittest.main()
