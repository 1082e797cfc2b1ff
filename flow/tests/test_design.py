# SPDX-License-Identifier: Apache-2.0
"""The digest of a design: it is of what the design computes, not of how it is written, and of all of that."""

import json
import tempfile
import unittest
from pathlib import Path

from ace_flow import configurations, design, tools
from ace_flow.equiv import to_rtl
from ace_flow.layout import BUILD
from ace_flow.sim import emit, verilate

SOURCE = """
module counted (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        enable_i,
  input  logic [7:0]  d_i,
  output logic [7:0]  q_o,
  output logic        even_o
);
  logic [7:0] kept_q, sum, read;
  logic [7:0] ram[16];
  function automatic logic [7:0] table_of(input logic [3:0] at);
    case (at)
      4'd0: return 8'h63;
      4'd1: return 8'h7c;
      4'd2: return 8'h77;
      4'd3: return 8'h7b;
      4'd4: return 8'hf2;
      4'd5: return 8'h6b;
      4'd6: return 8'h6f;
      4'd7: return 8'hc5;
      4'd8: return 8'h30;
      4'd9: return 8'h01;
      4'd10: return 8'h67;
      4'd11: return 8'h2b;
      4'd12: return 8'hfe;
      4'd13: return 8'hd7;
      4'd14: return 8'hab;
      default: return 8'h76;
    endcase
  endfunction
  assign sum = d_i + kept_q;
  assign read = ram[d_i[3:0]];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= 8'h00;
    else if (enable_i) kept_q <= sum ^ table_of(d_i[3:0]);
  end
  always_ff @(posedge clk_i) if (enable_i) ram[d_i[7:4]] <= sum;
  assign q_o = kept_q | read;
  assign even_o = ^kept_q;
endmodule
"""
# What is written otherwise and computes the same, as slang sees it.
SAME = {
    "comments": ("  assign q_o", "  // a line\n\n  /* and\n more */ assign q_o"),
    "a wire": ("sum", "total"),
    "nothing depends on it": ("  assign even_o", "  logic more;\n  assign more = &d_i;\n  assign even_o"),
    "a wire between": (
        "  assign q_o = kept_q",
        "  logic [7:0] between;\n  assign between = kept_q;\n  assign q_o = between",
    ),
}
OTHER = {
    "an operator": ("d_i + kept_q", "d_i - kept_q"),
    "an operand": ("kept_q | read", "d_i | read"),
    "a bit": ("ram[d_i[3:0]]", "ram[d_i[4:1]]"),
    "a constant in a table": ("8'hf2", "8'hf3"),
    "a value at reset": ("kept_q <= 8'h00", "kept_q <= 8'h10"),
    "an edge": ("negedge rst_ni) begin\n    if (!rst_ni)", "posedge rst_ni) begin\n    if (rst_ni)"),
    "an enable": ("else if (enable_i)", "else if (!enable_i)"),
    "what is written": ("ram[d_i[7:4]] <= sum", "ram[d_i[7:4]] <= d_i"),
    "where it is written": ("ram[d_i[7:4]] <=", "ram[d_i[6:3]] <="),
    "when it is written": ("posedge clk_i) if (enable_i)", "posedge clk_i) if (d_i[0])"),
    "a size": ("ram[16]", "ram[32]"),
    "a reduction": ("^kept_q", "&kept_q"),
    "a register's name": ("kept_q", "other_q"),
}


class Digests(unittest.TestCase):
    def setUp(self) -> None:
        BUILD.mkdir(exist_ok=True)
        place = tempfile.TemporaryDirectory(dir=BUILD, prefix=".design-")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def digest(self, text: str) -> str:
        file = self.folder / "counted.sv"
        file.write_text(text)
        source = emit.Source("counted", [file], {}, False)
        return emit.emit(source, self.folder, self.folder / "log").digest

    def changed(self, change: tuple[str, str]) -> str:
        self.assertIn(change[0], SOURCE)
        return self.digest(SOURCE.replace(*change))

    def test_it_is_not_of_how_a_design_is_written(self) -> None:
        before = self.digest(SOURCE)
        self.assertRegex(before, "^[0-9a-f]{64}$")
        for name, change in SAME.items():
            with self.subTest(name):
                self.assertEqual(self.changed(change), before)

    def test_it_is_of_all_that_a_design_computes(self) -> None:
        found = {name: self.changed(change) for name, change in OTHER.items()} | {"": self.digest(SOURCE)}
        same = [pair for pair in found.items() if list(found.values()).count(pair[1]) > 1]
        self.assertEqual(same, [])

    def test_logic_that_runs_in_a_circle_has_none(self) -> None:
        cell = {
            "type": "$not",
            "parameters": {},
            "port_directions": {"A": "input", "Y": "output"},
            "connections": {"A": [2], "Y": [2]},
        }
        module = {
            "ports": {"q_o": {"direction": "output", "bits": [2]}},
            "cells": {"ring": cell},
            "netnames": {},
        }
        with self.assertRaisesRegex(design.DesignError, "circle"):
            design.digest(module)

    def test_what_answers_is_what_is_proven(self) -> None:
        """Checks, scopes and kept LUTs' contents change nothing; of one configuration of each shape."""
        for name in ("des-cbc", "cast128-x4", "md5"):
            row = configurations.load()[name]
            proven = to_rtl.read(row, row.sources, self.folder).rtl
            files = [tools.ROOT / source for source in row.sources]
            source = emit.Source(
                row.top,
                [*files, *verilate.checks(files)],
                row.parameters,
                row.lut_places is not None,
            )
            emitted = emit.emit(source, self.folder, self.folder / "log")
            with self.subTest(name):
                self.assertEqual(emitted.digest, design.digest(proven))
                text = emitted.verilog.read_text()
                self.assertIn("rtl/formal/", text)
                self.assertNotIn("rtl/formal", json.dumps(proven["cells"]))


if __name__ == "__main__":
    unittest.main()
