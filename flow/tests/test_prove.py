# SPDX-License-Identifier: Apache-2.0
"""The proof that bits and netlist are the same: what it must accept, and what it must not."""

import tempfile
import unittest
from pathlib import Path

from ace_flow import prove
from ace_flow.layout import BUILD

CLK, RESET, D, Q, TURNED = 6, 7, 8, 9, 10
INPUTS = [2, 3, 4, 5]
PORTS = {
    "clk": {"direction": "input", "bits": [CLK]},
    "a": {"direction": "input", "bits": INPUTS},
    "rst": {"direction": "input", "bits": [RESET]},
    "q": {"direction": "output", "bits": [Q]},
}


def lut(table: int, inputs: list, output: int) -> dict:
    pins = {pin: [net] for pin, net in zip("ABCD", inputs, strict=True)}
    return {
        "type": "LUT4",
        "parameters": {"INIT": f"{table:016b}"},
        "connections": pins | {"Z": [output]},
    }


def flip_flop(parameters: dict, **connections: list) -> dict:
    kept = {"CEMUX": "1 ", "SRMODE": "ASYNC", "REGSET": "RESET"} | parameters
    return {"type": "TRELLIS_FF", "parameters": kept, "connections": connections | {"CLK": [CLK], "Q": [Q]}}


def netlist() -> dict:
    register = flip_flop({"LSRMUX": "INV"}, LSR=[RESET], DI=[D])
    return {"ports": PORTS, "cells": {"l": lut(0x8000, INPUTS, D), "r": register}}


def bits(table: int) -> dict:
    """The same with inputs exchanged and the inversion outside; the register has every pin."""
    register = flip_flop({"LSRMUX": "LSR"}, LSR=[TURNED], CE=["1"], DI=[D])
    cells = {
        "x": lut(table, INPUTS[::-1], D),
        "y": lut(0x5555, [RESET, "1", "1", "1"], TURNED),
        "r": register,
    }
    return {"ports": PORTS, "cells": cells}


def multiplier(swap: bool, signed: str) -> dict:
    """A product of two bits; what nothing is connected to is 0."""
    pins = {f"{side}{bit}": ["0"] for side in "AB" for bit in range(18)}
    pins |= {"SIGNEDA": ["0"], "SIGNEDB": [signed], "SOURCEA": ["0"], "SOURCEB": ["0"], "P0": [Q]}
    pins |= {"A0": [INPUTS[swap]], "B0": [INPUTS[not swap]]}
    return {"ports": PORTS, "cells": {"m": {"type": "MULT18X18D", "parameters": {}, "connections": pins}}}


def register(**parameters: str) -> dict:
    connections = {"LSR": [7], "DI": [8]}
    return {"cells": {"r": {"type": "TRELLIS_FF", "parameters": parameters, "connections": connections}}}


class Parameters(unittest.TestCase):
    def test_defaults_and_spaces(self) -> None:
        one = register(REGSET="SET", SRMODE="ASYNC", CEMUX="1 ")
        self.assertEqual(
            prove.compare_parameters(one, register(REGSET="SET ", SRMODE="ASYNC"))["TRELLIS_FF"], 1
        )
        self.assertEqual(prove.compare_parameters(register(), register(REGSET="RESET"))["TRELLIS_FF"], 1)

    def test_differences(self) -> None:
        for other in (register(REGSET="SET"), register(SRMODE="ASYNC"), {"cells": {}}):
            with self.assertRaises(prove.ProofError):
                prove.compare_parameters(register(), other)

    def test_contents(self) -> None:
        def memory(value: str) -> dict:
            return {
                "cells": {"m": {"type": "DP16KD", "parameters": {"INITVAL_3F": value}, "connections": {}}}
            }

        self.assertEqual(prove.compare_parameters(memory("1x0"), memory("0000110"))["DP16KD"], 1)
        with self.assertRaises(prove.ProofError):
            prove.compare_parameters(memory("110"), memory("111"))


class Yosys(unittest.TestCase):
    def run_proof(self, gold: dict, gate: dict, control: dict) -> tuple[int, list[str]]:
        BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            folder = Path(name)
            modules = {"gold": gold, "gate": gate, "control": control}
            return prove.compare(modules, folder, folder / "log")

    def test_equal(self) -> None:
        total, refuted = self.run_proof(netlist(), bits(0x8000), bits(0x8040))
        self.assertEqual((total, refuted), (5, ["r.data"]))

    def test_different_bits_are_not_proven(self) -> None:
        with self.assertRaisesRegex(prove.ProofError, "1 of 5 points differ.*r.data"):
            self.run_proof(netlist(), bits(0x8001), bits(0x8001))

    def test_a_control_that_changes_nothing_is_an_error(self) -> None:
        with self.assertRaisesRegex(prove.ProofError, "not refuted"):
            self.run_proof(netlist(), bits(0x8000), bits(0x8000))

    def test_multipliers_are_compared_pin_by_pin(self) -> None:
        plain = multiplier(False, "0")
        total, refuted = self.run_proof(plain, plain, multiplier(True, "0"))
        self.assertEqual((total, refuted), (7, ["m.operand_A", "m.operand_B"]))
        _, refuted = self.run_proof(plain, plain, multiplier(False, "1"))
        self.assertEqual(refuted, ["m.signed_B"])


if __name__ == "__main__":
    unittest.main()
