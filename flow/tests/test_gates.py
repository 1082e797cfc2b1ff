# SPDX-License-Identifier: Apache-2.0
"""Logic cells as gates compute what the cells compute."""

import itertools
import random
import unittest

from ace_flow import gates, tools

OPERATIONS = {
    "$_BUF_": lambda a: a,
    "$_NOT_": lambda a: 1 - a,
    "$_AND_": lambda a, b: a & b,
    "$_OR_": lambda a, b: a | b,
    "$_XOR_": lambda a, b: a ^ b,
    "$_ANDNOT_": lambda a, b: a & (1 - b),
    "$_ORNOT_": lambda a, b: a | (1 - b),
    "$_MUX_": lambda a, b, s: b if s else a,
}


def of_gates(module: dict) -> dict:
    made = gates.Gates(module)
    for name, cell in module["cells"].items():
        made.add(name, cell)
    return made.cells


def evaluate(cells: dict, inputs: dict[int, int]) -> dict:
    """The value of every net; gates come after what they read."""
    values: dict = {"0": 0, "1": 1, "x": 0} | inputs
    for cell in cells.values():
        pins = {name: bits[0] for name, bits in cell["connections"].items()}
        output = pins.pop("Y")
        values[output] = OPERATIONS[cell["type"]](*(values[pins[name]] for name in sorted(pins)))
    return values


def run(module: dict, inputs: dict[int, int]) -> dict:
    return evaluate(of_gates(module), inputs)


def module(kind: str, parameters: dict, connections: dict) -> dict:
    pins = {name: [net] for name, net in connections.items()}
    return {"ports": {}, "cells": {"c": {"type": kind, "parameters": parameters, "connections": pins}}}


def lut(table: int, inputs: tuple) -> dict:
    pins = dict(zip("ABCD", inputs, strict=True))
    return module("LUT4", {"INIT": f"{table:016b}"}, pins | {"Z": 9})


def tables() -> list[int]:
    """Those with few inputs or of one gate, and some others."""
    chance = random.Random(5)
    simple = [0, gates.FULL, *gates.ONES, 0x8000, 0xFFFE, 0x6996, 0x9669, 0xCACA, 0xE8E8, 0x0001, 0x8888]
    return simple + [chance.getrandbits(16) for _ in range(150)]


class Luts(unittest.TestCase):
    def test_every_entry(self) -> None:
        for table in tables():
            for index in range(16):
                inputs = {2 + pin: index >> pin & 1 for pin in range(4)}
                value = run(lut(table, (2, 3, 4, 5)), inputs)[9]
                self.assertEqual(value, table >> index & 1, f"{table:04x} {index}")

    def test_constant_equal_and_absent_inputs(self) -> None:
        for table, values in itertools.product(tables()[:40], itertools.product((0, 1), repeat=2)):
            inputs = dict(zip((2, 3), values, strict=True))
            for pins in ((2, "1", 3, "0"), (2, 2, 3, "x"), ("1", "0", "0", "1"), (3, 2, 2, 3)):
                signals = {"0": 0, "1": 1, "x": 0} | inputs
                index = sum(signals[pin] << place for place, pin in enumerate(pins))
                self.assertEqual(run(lut(table, pins), inputs)[9], table >> index & 1, f"{table:04x} {pins}")
        bare = module("LUT4", {"INIT": "0000000000000010"}, {"A": 2, "Z": 9})
        self.assertEqual([run(bare, {2: value})[9] for value in (0, 1)], [0, 1])
        undefined = module("LUT4", {"INIT": "xxxxxxxxxxxxxx1x"}, {"A": 2, "Z": 9})
        self.assertEqual([run(undefined, {2: value})[9] for value in (0, 1)], [0, 1])

    def test_exchanged_inputs_make_the_same_gates(self) -> None:
        # A and (B or C and not D); then with A and D exchanged in table and pins.
        def table(function: object) -> int:
            return sum(function(*(i >> pin & 1 for pin in range(4))) << i for i in range(16))

        one = of_gates(lut(table(lambda a, b, c, d: a & (b | c & (1 - d))), (2, 3, 4, 5)))
        other = of_gates(lut(table(lambda a, b, c, d: d & (b | c & (1 - a))), (5, 3, 4, 2)))
        self.assertEqual(one, other)
        self.assertLessEqual(len(one), 5)


class Others(unittest.TestCase):
    def test_multiplexers(self) -> None:
        for one, zero, select in itertools.product((0, 1), repeat=3):
            inputs = {2: one, 3: zero, 4: select}
            small = module("PFUMX", {}, {"ALUT": 2, "BLUT": 3, "C0": 4, "Z": 9})
            wide = module("L6MUX21", {}, {"D1": 2, "D0": 3, "SD": 4, "Z": 9})
            for cell in (small, wide):
                self.assertEqual(run(cell, inputs)[9], one if select else zero)

    def test_an_adder(self) -> None:
        """As synthesis makes it: 0x96aa with C at 0 and D at 1 adds A and B."""
        parameters = {f"INIT{half}": f"{0x96AA:016b}" for half in "01"}
        parameters |= {"INJECT1_0": "NO", "INJECT1_1": "NO "}
        pins = {"CIN": 2, "A0": 3, "B0": 4, "A1": 5, "B1": 6, "S0": 9, "S1": 10, "COUT": 11}
        pins |= {"C0": "0", "D0": "1", "C1": "0", "D1": "1"}
        for bits in itertools.product((0, 1), repeat=5):
            values = run(module("CCU2C", parameters, pins), dict(zip(range(2, 7), bits, strict=True)))
            carry, a0, b0, a1, b1 = bits
            total = a0 + 2 * a1 + b0 + 2 * b1 + carry
            self.assertEqual(values[9] + 2 * values[10] + 4 * values[11], total, bits)

    def test_injection_cuts_the_carry(self) -> None:
        """The sum is the LUT alone, and what is generated is 0."""
        parameters = {"INIT0": f"{0xAAAA:016b}", "INIT1": f"{0:016b}", "INJECT1_0": "YES", "INJECT1_1": "YES"}
        pins = {"CIN": 2, "A0": 3, "S0": 9, "S1": 10, "COUT": 11}
        for carry, a in itertools.product((0, 1), repeat=2):
            values = run(module("CCU2C", parameters, pins), {2: carry, 3: a})
            self.assertEqual((values[9], values[10], values[11]), (a, 0, 0))

    def test_other_cells_are_refused(self) -> None:
        with self.assertRaisesRegex(tools.ToolError, "EHXPLLL"):
            of_gates(module("EHXPLLL", {}, {"CLKI": 2, "CLKOP": 3}))


if __name__ == "__main__":
    unittest.main()
