# SPDX-License-Identifier: Apache-2.0
"""Registers that synthesis has coded anew, put behind tables or given other names, in the proof to the RTL."""

import random
import unittest

from ace_flow.equiv.match import Matching
from ace_flow.equiv.names import bits_named
from ace_flow.equiv.simulate import WIDTH, Simulation, get
from ace_flow.equiv.states import codes
from ace_flow.equiv.transitions import Proof

CLK, A, Q = 2, 3, 9
PORTS = {
    "clk": {"direction": "input", "bits": [CLK]},
    "in": {"direction": "input", "bits": [A]},
    "out": {"direction": "output", "bits": [Q]},
}


def lut(inputs: list[int], output: int, init: int) -> dict:
    pins = {pin: [signal] for pin, signal in zip("ABCD", inputs, strict=False)}
    return {"type": "LUT4", "parameters": {"INIT": f"{init:016b}"}, "connections": pins | {"Z": [output]}}


def ff(data: int, output: int, value: str = "RESET") -> dict:
    parameters = {"SRMODE": "LSR_OVER_CE", "REGSET": value, "CEMUX": "1", "CLKMUX": "CLK"}
    return {
        "type": "TRELLIS_FF",
        "parameters": parameters,
        "connections": {"CLK": [CLK], "DI": [data], "Q": [output]},
    }


def cell(kind: str, **pins: list) -> dict:
    return {"type": kind, "parameters": {"CLK_POLARITY": "1"}, "connections": pins}


def module(cells: dict, names: dict[str, list[int]], **more: dict) -> dict:
    return {"ports": PORTS, "cells": cells, "netnames": {n: {"bits": b} for n, b in names.items()}} | more


def proof(matching: Matching) -> Proof:
    matching.run()
    found = Proof(matching)
    found.collect()
    return found


def wrong(found: Proof) -> list[str]:
    """The points at which a simulation of all that may be shows a difference."""
    simulation, source = Simulation(found.graph, set()), random.Random(1)
    v = simulation.run({node: source.getrandbits(WIDTH) for node in simulation.inputs}, lambda *_: None)
    return [name for name, pairs in found.left().items() if any(get(v, a) != get(v, b) for a, b in pairs)]


def counter() -> dict:
    """Counts 0 to 3 where `in` is 1; `out` says that it is at 3."""
    cells = {
        "low": cell("$xor", A=[10], B=[A], Y=[20]),
        "carry": cell("$and", A=[10], B=[A], Y=[21]),
        "high": cell("$xor", A=[11], B=[21], Y=[22]),
        "count": cell("$dff", CLK=[CLK], D=[20, 22], Q=[10, 11]),
        "full": cell("$and", A=[10], B=[11], Y=[Q]),
    }
    return module(cells, {"count": [10, 11]}, memories={})


def retimed(table: int = 0x8888) -> dict:
    """The same in cells of the ECP5, with a register behind the table instead of one in front of it."""
    cells = {
        "low": lut([10, A], 20, 0x6666),
        "high": lut([10, A, 11], 22, 0x7878),
        "c0": ff(20, 10),
        "c1": ff(22, 11),
        "full": lut([20, 22], 23, table),
        "is_full": ff(23, Q),
    }
    return module(cells, {"count": [10, 11]})


class Derived(unittest.TestCase):
    def test_a_register_behind_a_table_is_a_function_of_the_one_in_front(self) -> None:
        found = proof(Matching(counter(), retimed(), {}, derives=True))
        self.assertEqual(found.open, [])
        self.assertEqual(found.counts["derived"], 1)
        self.assertEqual((found.assumed, wrong(found)), (set(), []))

    def test_without_it_the_output_is_open(self) -> None:
        found = proof(Matching(counter(), retimed(), {}))
        self.assertTrue(found.open)

    def test_another_table_is_another_function(self) -> None:
        found = proof(Matching(counter(), retimed(0x2222), {}, derives=True))
        self.assertEqual(found.counts["derived"], 1)
        self.assertIn("output out[0]", wrong(found))

    def test_a_register_with_an_enable_is_no_function(self) -> None:
        other = retimed()
        other["cells"]["is_full"]["parameters"]["CEMUX"] = "CE"
        other["cells"]["is_full"]["connections"]["CE"] = [A]
        other["cells"]["full"] = lut([10, 11], 23, 0x8888)
        found = proof(Matching(counter(), other, {}, derives=True))
        self.assertEqual(found.counts["derived"], 0)
        self.assertTrue(found.open)

    def test_a_beginning_that_does_not_fit_is_assumed(self) -> None:
        other = retimed()
        other["cells"]["is_full"]["parameters"]["REGSET"] = "SET"
        found = proof(Matching(counter(), other, {}, derives=True))
        self.assertEqual(found.assumed, {"is_full is its function of count before it is first set"})


def walk() -> dict:
    """A state that goes from 0 over 2 to 1 where `in` is 1; `out` says that it is at 1."""
    cells = {
        "s": cell("$dff", CLK=[CLK], D=[20, 22], Q=[10, 11]),
        "not": cell("$logic_not", A=[10, 11], Y=[21]),
        # 0 → 2 → 1 → 0
        "low": cell("$mux", A=[10], B=[11], S=[A], Y=[20]),
        "high": cell("$mux", A=[11], B=[21], S=[A], Y=[22]),
        "out": cell("$buf", A=[10], Y=[Q]),
    }
    return module(cells, {"s": [10, 11]}, memories={})


def one_hot(name: str = "s") -> dict:
    """The same with a register for each state."""
    cells = {
        **{f"to{n}": lut([10 + n, 10 + (n - 1) % 3, A], 20 + n, 0xCACA) for n in range(3)},
        **{f"s{n}": ff(20 + n, 10 + n, "SET" if n == 0 else "RESET") for n in range(3)},
        "out": lut([12], Q, 0xAAAA),
    }
    return module(cells, {name: [10, 11, 12]})


STATES = {"s": [0, 2, 1]}


class Recoded(unittest.TestCase):
    def test_what_yosys_writes_of_states(self) -> None:
        text = ".fsm top u.s\n.map 00 --1\n.map 10 -1-\n.map 01 1--\n\n.fsm top t\n.map 0 01\n.map 1 11\n"
        self.assertEqual(codes(text), {"u.s": [0, 2, 1]})
        self.assertEqual(codes(""), {})

    def test_a_register_for_each_state_is_proven(self) -> None:
        found = proof(Matching(walk(), one_hot(), {}, STATES))
        self.assertEqual((found.open, found.counts["recoded"], found.assumed), ([], 3, set()))
        self.assertEqual(wrong(found), [])

    def test_another_way_from_state_to_state_is_left(self) -> None:
        other = one_hot()
        other["cells"]["to2"] = lut([12, 11, A], 22, 0xACAC)
        self.assertTrue(wrong(proof(Matching(walk(), other, {}, STATES))))

    def test_other_codes_are_left(self) -> None:
        self.assertTrue(wrong(proof(Matching(walk(), one_hot(), {}, {"s": [0, 1, 2]}))))

    def test_states_whose_name_is_lost_are_told(self) -> None:
        lost = Matching(walk(), one_hot("other"), {}, STATES)
        self.assertEqual(lost.nameless, ["s"])
        told = Matching(walk(), one_hot("other"), {}, STATES, {"s": ["s0", "s1", "s2"]})
        found = proof(told)
        self.assertEqual((told.nameless, found.open, wrong(found)), ([], [], []))
        turned = Matching(walk(), one_hot("other"), {}, STATES, {"s": ["s0", "s2", "s1"]})
        self.assertTrue(wrong(proof(turned)))

    def test_bits_of_the_value_that_are_kept_are_proven(self) -> None:
        other = one_hot()
        other["cells"] |= {
            "next": lut([20, 21, 22], 30, 0xF0F0),
            "low": ff(30, 31),
            "out": lut([31], Q, 0xAAAA),
        }
        other["netnames"]["low"] = {"bits": [31]}
        one = walk()
        one["netnames"]["low"] = {"bits": [10]}
        found = proof(Matching(one, other, {}, STATES))
        self.assertEqual((found.open, wrong(found)), ([], []))
        other["cells"]["next"] = lut([20, 21, 22], 30, 0xCCCC)
        self.assertTrue(wrong(proof(Matching(one, other, {}, STATES))))


def copies(used: int) -> tuple[dict, dict]:
    """`in` in three registers, and the third in another one; the output is that XOR (the first AND the second). The netlist
    has no third one, and another one in its place."""
    names = {"first": 10, "second": 11, "last": 13, "third": 12}
    both = dict(list(names.items())[:3])
    rtl = {name: cell("$dff", CLK=[CLK], D=[A], Q=[signal]) for name, signal in names.items()}
    rtl["last"]["connections"]["D"] = [12]
    rtl |= {"and": cell("$and", A=[10], B=[11], Y=[20]), "out": cell("$xor", A=[13], B=[20], Y=[Q])}
    netlist = {name: ff(A, signal) for name, signal in both.items()}
    netlist |= {"last": ff(used, 13), "out": lut([10, 11, 13], Q, 0x7878)}
    return (
        module(rtl, {name: [bit] for name, bit in names.items()}, memories={}),
        module(netlist, {name: [bit] for name, bit in both.items()}),
    )


class Copies(unittest.TestCase):
    def test_whichever_of_those_that_are_the_same_stands_for_one_that_is_gone(self) -> None:
        for used in (10, 11):
            one, other = copies(used)
            # They begin with different values: before the first clock they are not the same.
            other["cells"]["second"] = ff(A, 11, "SET")
            found = proof(Matching(one, other, {}))
            self.assertEqual((found.open, wrong(found)), ([], []), used)

    def test_one_that_is_not_the_same_is_none_of_them(self) -> None:
        one, other = copies(11)
        other["cells"] |= {"not": lut([A], 20, 0x5555), "second": ff(20, 11)}
        found = proof(Matching(one, other, {}))
        self.assertTrue(found.open or wrong(found))


class Rows(unittest.TestCase):
    def test_words_of_a_memory_in_rows_of_several(self) -> None:
        one = {"netnames": {}, "memories": {"m": {"width": 2}}}
        named = bits_named(one, {"netnames": {"m[1]": {"bits": [5, 6, 7, 8]}, "x": {"bits": [9]}}})
        self.assertEqual(named, {("m[2]", 0): 5, ("m[2]", 1): 6, ("m[3]", 0): 7, ("m[3]", 1): 8, ("x", 0): 9})
        self.assertEqual(
            bits_named(one, {"netnames": {"m[1]": {"bits": [5, 6]}}}), {("m[1]", 0): 5, ("m[1]", 1): 6}
        )
        self.assertEqual(
            bits_named({"netnames": {"x": {"bits": [1, 2]}}}, {"netnames": {"x": {"bits": [9]}}}), {}
        )


if __name__ == "__main__":
    unittest.main()
