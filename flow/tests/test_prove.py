# SPDX-License-Identifier: Apache-2.0
"""The proof that bits and netlist are the same: what it must accept, and what it must not."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from ace_flow.layout import BUILD
from ace_flow.prove import bitstream

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
    given = {"CEMUX": "1 ", "SRMODE": "ASYNC", "REGSET": "RESET"} | parameters
    return {"type": "TRELLIS_FF", "parameters": given, "connections": connections | {"CLK": [CLK], "Q": [Q]}}


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


def other_way(table: int) -> dict:
    """The same in two steps; the table is of the last one."""
    return bits(0x8000) | {
        "cells": bits(0x8000)["cells"]
        | {
            "x": lut(0x8888, [INPUTS[3], INPUTS[1], "1", "1"], 11),
            "z": lut(0x8888, [INPUTS[2], 11, "0", "0"], 12),
            "w": lut(table, [12, INPUTS[0], "0", "0"], D),
        }
    }


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
            bitstream.compare_parameters(one, register(REGSET="SET ", SRMODE="ASYNC"))["TRELLIS_FF"], 1
        )
        self.assertEqual(bitstream.compare_parameters(register(), register(REGSET="RESET"))["TRELLIS_FF"], 1)

    def test_differences(self) -> None:
        for other in (register(REGSET="SET"), register(SRMODE="ASYNC"), {"cells": {}}):
            with self.assertRaises(bitstream.ProofError):
                bitstream.compare_parameters(register(), other)

    def test_contents(self) -> None:
        def memory(value: str) -> dict:
            return {
                "cells": {"m": {"type": "DP16KD", "parameters": {"INITVAL_3F": value}, "connections": {}}}
            }

        self.assertEqual(bitstream.compare_parameters(memory("1x0"), memory("0000100"))["DP16KD"], 1)
        # What synthesis leaves open is 0 in the bits, and bits leave nothing open.
        for ours, theirs in (("110", "111"), ("1x0", "110"), ("x", "1"), ("100", "1x0"), ("1x0", "1x0")):
            with self.assertRaises(bitstream.ProofError):
                bitstream.compare_parameters(memory(ours), memory(theirs))


class Points(unittest.TestCase):
    def run_proof(self, gold: dict, gate: dict, control: dict, apart: bool = False) -> bitstream.Compared:
        BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            folder = Path(name)
            modules = {"gold": gold, "gate": gate, "control": control}
            return bitstream.compare(modules, folder, apart)

    def test_equal(self) -> None:
        compared = self.run_proof(netlist(), bits(0x8000), bits(0x8040))
        self.assertEqual(compared, (5, 5, ["r.data"]))

    def test_equal_in_another_way(self) -> None:
        """What is built otherwise gets a certificate, or none."""
        compared = self.run_proof(netlist(), other_way(0x8888), other_way(0x8880))
        self.assertEqual(compared, (5, 4, ["r.data"]))
        with self.assertRaisesRegex(bitstream.ProofError, r"1 of 5 points differ.*r\.data"):
            self.run_proof(netlist(), other_way(0x888C), other_way(0x8880))

    def test_nothing_is_left_to_structure(self) -> None:
        """The same by the solver alone: all but data are wires or their inverse."""
        compared = self.run_proof(netlist(), bits(0x8000), bits(0x8040), apart=True)
        self.assertEqual((compared.points, compared.refuted), (5, ["r.data"]))
        self.assertLess(compared.by_structure, 5)
        with self.assertRaisesRegex(bitstream.ProofError, r"1 of 5 points differ.*r\.data"):
            self.run_proof(netlist(), bits(0x8001), bits(0x8040), apart=True)

    def test_different_bits_are_not_proven(self) -> None:
        with self.assertRaisesRegex(bitstream.ProofError, "1 of 5 points differ.*r.data"):
            self.run_proof(netlist(), bits(0x8001), bits(0x8001))

    def test_a_control_that_changes_nothing_is_an_error(self) -> None:
        with self.assertRaisesRegex(bitstream.ProofError, "not refuted"):
            self.run_proof(netlist(), bits(0x8000), bits(0x8000))

    def test_multipliers_are_compared_pin_by_pin(self) -> None:
        plain = multiplier(False, "0")
        compared = self.run_proof(plain, plain, multiplier(True, "0"))
        self.assertEqual(compared, (7, 7, ["m.operand_A", "m.operand_B"]))
        self.assertEqual(self.run_proof(plain, plain, multiplier(False, "1")).refuted, ["m.signed_B"])


class Limits(unittest.TestCase):
    """A proof that takes too long ends, and with it what it waits for."""

    def late(self, folder: Path, command: list[str], seconds: str) -> str:
        """Runs a command in which something writes its process into `folder`/pid and then sleeps; what it says."""
        environment = {**os.environ, bitstream.LIMIT_VARIABLE: seconds}
        environment["ACE_BIN"] = str(folder / "tool")
        start = time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertLess(time.monotonic() - start, 60)
        with self.assertRaises(ProcessLookupError):
            os.kill(int((folder / "pid").read_text()), 0)
        return done.stderr

    def sleeper(self, folder: Path) -> None:
        tool = folder / "tool"
        tool.write_text(f"#!/bin/sh\necho $$ > {folder}/pid\nexec sleep 600\n")
        tool.chmod(0o755)

    def test_a_tool_that_does_not_end(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.sleeper(folder)
            command = [
                sys.executable,
                "-m",
                "ace_flow",
                "prove",
                f"{name}/some.bit",
                "--netlist",
                "n",
                "--top",
                "t",
            ]
            stderr = self.late(folder, command, "1")
        self.assertRegex(stderr, r"some: no proof within 1 s: .*tool netlist .* ran for 1 s and was killed")
        self.assertIn(f"{bitstream.LIMIT_VARIABLE}=SECONDS", stderr)

    def test_a_number_is_wanted(self) -> None:
        for value in ("soon", "0", "-1", "nan", "inf"):
            with (
                mock.patch.dict(os.environ, {bitstream.LIMIT_VARIABLE: value}),
                self.assertRaisesRegex(bitstream.ProofError, bitstream.LIMIT_VARIABLE),
            ):
                bitstream.Limit()
        with mock.patch.dict(os.environ):
            os.environ.pop(bitstream.LIMIT_VARIABLE, None)
            self.assertGreaterEqual(bitstream.Limit().left(), 600)


if __name__ == "__main__":
    unittest.main()
