# SPDX-License-Identifier: Apache-2.0
"""What goes into the cells of an adder."""

import itertools
import unittest

from ace_flow.synth import carry


def cell(kind: str, outputs: str, parameters: dict, **pins: int | str) -> dict:
    """A cell of the netlist."""
    return {
        "type": kind,
        "parameters": parameters,
        "port_directions": {pin: "output" if pin in outputs.split() else "input" for pin in pins},
        "connections": {pin: [bit] for pin, bit in pins.items()},
    }


def adder(**pins: int | str) -> dict:
    """One whose upper half adds nothing to nothing."""
    unused = {"A1": "0", "B1": "0", "C1": "0", "D1": "1"}
    return cell(
        "CCU2C", "S0 S1 COUT", dict.fromkeys(("INIT0", "INIT1"), carry.PLAIN), **pins, **unused, D0="1"
    )


def design(init: int, late: int, inverted: str, swapped: bool) -> dict:
    """20 + a table of 10 to 13, one of which (`late`) is made by another adder; carry in 30."""
    first, second = (40, 20) if swapped else (20, 40)
    table = cell("LUT4", "Z", {"INIT": f"{init:016b}"}, A=10, B=11, C=12, D=13, Z=40)
    return {
        "ports": {"x": {"direction": "output", "bits": [32, 33]}},
        "netnames": {},
        "cells": {
            "sum": adder(A0=first, B0=second, C0=inverted, CIN=30, S0=31, S1=32, COUT=33),
            "table": table,
            "source": adder(A0=50, B0=51, C0="0", CIN=52, S0=10 + late, S1=53, COUT=54),
        },
    }


def look_up(parameter: str, inputs: list[int]) -> int:
    return int(parameter[::-1][sum(bit << n for n, bit in enumerate(inputs))])


def evaluate(module: dict, values: dict) -> tuple[int, int]:
    """Sum and carry of the lower half."""
    values = values | {"0": 0, "1": 1}
    tables = [c for c in module["cells"].values() if c["type"] == "LUT4"]
    for table in tables:
        pins = table["connections"]
        values[pins["Z"][0]] = look_up(table["parameters"]["INIT"], [values[pins[p][0]] for p in "ABCD"])
    pins, init = module["cells"]["sum"]["connections"], module["cells"]["sum"]["parameters"]["INIT0"]
    a, b, c, d = (values[pins[p + "0"][0]] for p in "ABCD")
    propagate = look_up(init, [a, b, c, d])
    return propagate ^ values[30], values[30] if propagate else look_up(init, [a, b, 0, 0])


class Carry(unittest.TestCase):
    def test_the_sum_stays_the_same(self) -> None:
        # Exclusive-or of two and of four, multiplexer, gate, majority, and something without a name.
        for init in (0x6666, 0x6996, 0xCACA, 0x8888, 0xE8E8, 0x1B7D):
            for late, (inverted, swapped) in itertools.product(
                range(4), (("0", False), ("0", True), ("1", False))
            ):
                before, after = design(init, late, inverted, swapped), design(init, late, inverted, swapped)
                matters = any((init >> i ^ init >> (i ^ 1 << late)) & 1 for i in range(16))
                self.assertEqual(carry.absorb(after), matters)
                self.assertEqual("table" in after["cells"], not matters)
                for bits in itertools.product((0, 1), repeat=6):
                    values = dict(zip((10, 11, 12, 13, 20, 30), bits, strict=True))
                    self.assertEqual(
                        evaluate(after, values), evaluate(before, values), (hex(init), late, bits)
                    )

    def test_exclusive_or_needs_no_table(self) -> None:
        module = design(0x6666, 1, "0", False)
        self.assertEqual(carry.absorb(module), 1)
        pins = module["cells"]["sum"]["connections"]
        self.assertEqual([pins[p + "0"] for p in "ABCD"], [[20], [11], ["1"], [10]])
        self.assertEqual(sorted(module["cells"]), ["source", "sum"])

    def test_what_has_other_readers_stays(self) -> None:
        module = design(0x6666, 0, "0", False)
        module["ports"]["x"]["bits"].append(40)
        self.assertEqual(carry.absorb(module), 0)

    def test_what_comes_early_stays_unless_it_costs_no_table(self) -> None:
        for init, absorbed in ((0x1B7D, 0), (0x6666, 1)):
            module = design(init, 0, "0", False)
            del module["cells"]["source"]
            self.assertEqual(carry.absorb(module), absorbed)


if __name__ == "__main__":
    unittest.main()
