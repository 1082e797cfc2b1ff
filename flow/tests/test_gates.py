# SPDX-License-Identifier: Apache-2.0
"""Logic cells in a graph compute what the cells compute."""

import itertools
import random
import unittest

from ace_flow import tools
from ace_flow.prove import gates


def run(module: dict, inputs: dict[int, int]) -> dict:
    """The values of a module's nets."""
    graph = gates.Graph()
    signals = {"0": gates.FALSE, "1": gates.TRUE, "x": gates.FALSE}
    signals |= {net: graph.input(str(net)) for net in inputs}
    for name, cell in module["cells"].items():
        for output, table, pins in gates.tables(name, cell):
            signals[output] = graph.lut(table, [signals[pin] for pin in pins])
    nodes = graph.needed(signals.values())
    values = graph.values(nodes, lambda node: inputs[int(graph.nodes[node][0])] == 1)
    return {net: values[literal >> 1] ^ literal & 1 for net, literal in signals.items()}


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

    def test_what_is_the_same_and_only_that_is_one_node(self) -> None:
        """Tables of inputs in any order, some inverted, constant or equal: one literal for one function."""
        graph = gates.Graph()
        inputs = [graph.input(name) for name in "abcd"]
        signals = [gates.FALSE, gates.TRUE, *inputs, *(literal ^ 1 for literal in inputs)]

        def value(literal: int, index: int) -> int:
            one = 0 if literal <= gates.TRUE else index >> inputs.index(literal & ~1) & 1
            return one ^ (literal & 1)

        chance = random.Random(11)
        known: dict[int, int] = {}
        functions: dict[int, int] = {}
        for number in range(20000):
            # Few of four inputs come twice by chance; of two many do.
            table = chance.getrandbits(16) if number % 2 else gates.ONES[number % 4] ^ gates.ONES[number % 3]
            pins = [chance.choice(signals) for _ in range(4)]
            if number % 4 == 1:
                pins[2:] = [gates.TRUE, gates.FALSE]
            function = 0
            for index in range(16):
                entry = sum(value(pin, index) << place for place, pin in enumerate(pins))
                function |= (table >> entry & 1) << index
            literal = graph.lut(table, pins)
            self.assertEqual(known.setdefault(function, literal), literal, f"{table:04x} {pins}")
            self.assertEqual(functions.setdefault(literal, function), function, f"{table:04x} {pins}")
        self.assertGreater(len(known), 500)

    def test_exchanged_inputs_are_one_node(self) -> None:
        # A and (B or C and not D); then with A and D exchanged in table and pins.
        def table(function: object) -> int:
            return sum(function(*(i >> pin & 1 for pin in range(4))) << i for i in range(16))

        graph = gates.Graph()
        a, b, c, d = (graph.input(name) for name in "abcd")
        one = graph.lut(table(lambda a, b, c, d: a & (b | c & (1 - d))), [a, b, c, d])
        other = graph.lut(table(lambda a, b, c, d: d & (b | c & (1 - a))), [d, b, c, a])
        self.assertEqual(one, other)
        inverted = graph.lut(table(lambda a, b, c, d: 1 - (d & (b | c & a))), [d ^ 1, b, c, a])
        self.assertEqual(inverted, one ^ 1)


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
            run(module("EHXPLLL", {}, {"CLKI": 2, "CLKOP": 3}), {2: 0})


if __name__ == "__main__":
    unittest.main()
