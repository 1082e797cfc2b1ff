# SPDX-License-Identifier: Apache-2.0
"""Which registers move into the block memories."""

import copy
import unittest

from ace_flow.synth import bram_outreg


def design() -> dict:
    """A memory (clock 2) whose outputs 10 and 11 go to flip-flops with the outputs 20 and 21."""

    def register(d: int, q: int) -> dict:
        return {
            "type": "TRELLIS_FF",
            "parameters": {"CEMUX": "CE", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET"},
            "port_directions": {"CLK": "input", "CE": "input", "LSR": "input", "DI": "input", "Q": "output"},
            "connections": {"CLK": [2], "CE": [3], "LSR": ["0"], "DI": [d], "Q": [q]},
        }

    memory = {
        "type": "DP16KD",
        "parameters": {"DATA_WIDTH_A": "0" * 27 + "10010", "DATA_WIDTH_B": "0" * 27 + "10010"},
        "port_directions": {
            "CLKA": "input",
            "CLKB": "input",
            "OCEA": "input",
            "DOA0": "output",
            "DOA1": "output",
        },
        "connections": {"CLKA": [2], "CLKB": [2], "OCEA": ["1"], "DOA0": [10], "DOA1": [11], "DOA2": []},
    }
    memory["port_directions"]["DOA2"] = "output"
    return {
        "ports": {"clk": {"direction": "input", "bits": [2]}, "y": {"direction": "output", "bits": [20, 21]}},
        "cells": {"memory": memory, "low": register(10, 20), "high": register(11, 21)},
    }


class Outreg(unittest.TestCase):
    def test_registers_move_with_their_enable(self) -> None:
        module = design()
        self.assertEqual(bram_outreg.merge(module), 2)
        self.assertEqual(list(module["cells"]), ["memory"])
        memory = module["cells"]["memory"]
        self.assertEqual(memory["parameters"]["REGMODE_A"], "OUTREG")
        self.assertNotIn("REGMODE_B", memory["parameters"])
        self.assertEqual([memory["connections"][pin] for pin in ("OCEA", "DOA0", "DOA1")], [[3], [20], [21]])
        self.assertEqual(bram_outreg.merge(module), 0)

    def test_a_wide_port_takes_both_halves(self) -> None:
        module = design()
        memory = module["cells"]["memory"]
        memory["parameters"]["DATA_WIDTH_B"] = "0" * 26 + "100100"
        memory["connections"]["DOB0"] = memory["connections"].pop("DOA1")
        memory["port_directions"]["DOB0"] = "output"
        self.assertEqual(bram_outreg.merge(module), 2)
        self.assertEqual([memory["parameters"][f"REGMODE_{s}"] for s in "AB"], ["OUTREG"] * 2)
        self.assertEqual([memory["connections"][f"OCE{s}"] for s in "AB"], [[3]] * 2)

    def test_what_cannot_move_stays(self) -> None:
        def changed(**changes: dict) -> dict:
            module = copy.deepcopy(design())
            for name, (part, key, value) in changes.items():
                module["cells"][name][part][key] = value
            return module

        for module in (
            changed(low=("connections", "LSR", [4])),
            changed(low=("connections", "CE", [5])),
            changed(low=("connections", "CLK", [5])),
            changed(low=("parameters", "CEMUX", "INV")),
            changed(low=("parameters", "REGSET", "SET")),
            changed(low=("connections", "DI", [12]), high=("connections", "DI", [12])),
            changed(high=("connections", "CE", [11])),
            changed(memory=("connections", "RSTA", [4])),
            changed(memory=("parameters", "REGMODE_A", "OUTREG")),
            changed(memory=("connections", "CLKA", [7])),
        ):
            module["cells"]["memory"]["port_directions"]["RSTA"] = "input"
            before = copy.deepcopy(module)
            self.assertEqual(bram_outreg.merge(module), 0)
            self.assertEqual(module, before)

    def test_an_output_of_the_module_stays_unregistered(self) -> None:
        module = design()
        module["ports"]["y"]["bits"].append(10)
        self.assertEqual(bram_outreg.merge(module), 0)


if __name__ == "__main__":
    unittest.main()
