# SPDX-License-Identifier: Apache-2.0
"""One model for a base and its variants: contents of LUTs that are set when a slot is made."""

import shutil
import tempfile
import unittest
from pathlib import Path

from ace_flow import design, tools
from ace_flow.layout import BUILD, RUNTIME
from ace_flow.sim import verilate
from ace_flow.sim.model import Model, ModelError

TOP = "luts_slot"
PORTS = """
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
"""
# Answers one beat: its low four bits looked up in two LUTs.
BODY = """
  logic [1:0] found;
  %s
  assign s_axis_tready = 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) m_axis_tvalid <= 1'b0;
    else m_axis_tvalid <= s_axis_tvalid;
  end
  always_ff @(posedge clk_i) begin
    m_axis_tdata <= {62'b0, found};
    m_axis_tlast <= s_axis_tlast;
  end
"""
RTL = """for (genvar i = 0; i < 2; i++) begin : gen_lut
    (* keep *) init_lut #(.Init(16'h8000)) u_lut (.in_i(s_axis_tdata[3:0]), .out_o(found[i]));
  end"""
PINS = ".A(s_axis_tdata[0]), .B(s_axis_tdata[1]), .C(s_axis_tdata[2]), .D(s_axis_tdata[3])"
NETLIST = "".join(
    f"LUT4 #(\n    .INIT(16'h8000)\n  ) \\gen_lut[{i}].u_lut  ({PINS}, .Z(found[{i}]));\n" for i in range(2)
)
NAMES = [f"gen_lut[{i}].u_lut" for i in range(2)]


class Luts(unittest.TestCase):
    def setUp(self) -> None:
        BUILD.mkdir(exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=BUILD)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.runtime = RUNTIME
        if not RUNTIME.exists():
            self.runtime = self.folder / "runtime.o"
            verilate.build_runtime(self.runtime, self.folder / "runtime.log")

    def model(self, body: str, sources: list[Path], rtl: bool) -> Path:
        top, out = self.folder / f"{TOP}.sv", self.folder / "lib.so"
        top.write_text(f"module {TOP} ({PORTS});\n{BODY % body}\nendmodule\n")
        arguments = (TOP, [*sources, top], {}, out, self.runtime, self.folder / "log")
        if rtl:
            verilate.build_rtl_model(*arguments, boxed=True)
        else:
            verilate.build_model(*arguments)
        return Path(shutil.copy(out, self.folder / f"{len(body)}.so"))

    def check(self, library: Path) -> None:
        def answers(model: Model) -> list[int]:
            beats = [number.to_bytes(8, "little") for number in range(16)]
            return [int.from_bytes(answer.response, "little") for answer in model.run(beats)]

        with (
            Model(library) as built,
            Model(library, dict.fromkeys(NAMES, 0x0001)) as both,
            Model(library, dict(zip(NAMES, (0xFFFF, 0x0002), strict=True))) as other,
        ):
            self.assertEqual(answers(built), [0] * 15 + [3])
            self.assertEqual(answers(both), [3] + [0] * 15)
            self.assertEqual(answers(other), [1, 3] + [1] * 14)
            # A reset forgets keys, not what the slot is.
            both.reset()
            self.assertEqual(answers(both), [3] + [0] * 15)
        for wrong in ({NAMES[0]: 1}, dict.fromkeys([*NAMES, "u_lut"], 1), {"a": 1, "b": 2}):
            with self.assertRaisesRegex(ModelError, "not those of the slot"):
                Model(library, wrong)

    def test_rtl(self) -> None:
        self.check(self.model(RTL, [tools.ROOT / design.KEPT], rtl=True))

    def test_netlist(self) -> None:
        body = verilate.kept_cells(NETLIST, NAMES)
        self.check(self.model(body, verilate.KEPT_CELLS, rtl=False))
        for names in (["gen_lut[2].u_lut"], ["u_lut"]):
            with self.assertRaisesRegex(tools.ToolError, "0 LUTs of the name"):
                verilate.kept_cells(NETLIST, names)


if __name__ == "__main__":
    unittest.main()
