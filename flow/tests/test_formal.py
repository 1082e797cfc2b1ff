# SPDX-License-Identifier: Apache-2.0
"""Tests of ace_flow.formal and of the checks inside of models."""

import tempfile
import threading
import unittest
from dataclasses import replace
from pathlib import Path

from ace_flow import tools
from ace_flow.build.step import step_runtime
from ace_flow.formal import engines, proofs
from ace_flow.layout import RUNTIME
from ace_flow.sim import verilate
from ace_flow.sim.model import Model, ModelError

TABLE = proofs.load()
CELL = TABLE["spill_register"]

# A slot that answers every beat, and a check of it that a beat of ones offends.
SLOT = """
module told_slot (
  input logic clk_i, input logic rst_ni,
  input logic [63:0] s_axis_tdata, input logic s_axis_tvalid, output logic s_axis_tready, input logic s_axis_tlast,
  output logic [63:0] m_axis_tdata, output logic m_axis_tvalid, input logic m_axis_tready, output logic m_axis_tlast
);
  assign s_axis_tready = 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) m_axis_tvalid <= 1'b0;
    else m_axis_tvalid <= s_axis_tvalid;
  end
  logic [63:0] data_q;
  logic last_q;
  assign {m_axis_tlast, m_axis_tdata} = {last_q, data_q};
  always_ff @(posedge clk_i) {last_q, data_q} <= {s_axis_tlast, s_axis_tdata};
  always_ff @(posedge clk_i) begin
    if (m_axis_tvalid) begin
      assert (m_axis_tdata != '1)
      else $error("a beat of ones");
    end
  end
endmodule
"""


def text(row: str) -> Path:
    """A table with one row."""
    path = Path(tempfile.mkdtemp()) / "formal.toml"
    path.write_text(row)
    return path


class Table(unittest.TestCase):
    def test_rows_that_say_nothing_or_too_much_are_refused(self):
        source = 'sources = ["rtl/prim/skid_buffer.sv"]'
        start = f'[[proof]]\nname = "a"\nwhat = "b"\ntop = "c"\n{source}\n'
        change = (
            '[[proof.mutation]]\nwhat = "d"\nfile = "rtl/prim/skid_buffer.sv"\nfind = "module skid_buffer"\n'
        )
        good = start + change + 'replace = "module other"\n'
        self.assertEqual(list(proofs.load(text(good))), ["a"])
        for row, message in {
            start: "no mutation",
            start.replace("skid_buffer.sv", "none.sv"): "no mutation",
            good + good: "two proofs",
            good.replace('what = "b"', 'what = "b"\nengine = "abc bmc3"'): "depth",
            good.replace('what = "b"', 'what = "b"\nspeed = 3'): "speed",
            start + change + 'replace = "module skid_buffer"\n': "differ",
            good.replace("module skid_buffer", "module kid_buffer"): "occurs 0 times",
            good.replace("prim/skid_buffer.sv", "prim/none.sv"): "none.sv",
        }.items():
            with self.subTest(message), self.assertRaisesRegex(proofs.FormalError, message):
                proofs.load(text(row))

    def test_every_check_is_part_of_a_proof(self):
        proven = {source for proof in TABLE.values() for source in proof.sources}
        # That no beat of a text leaves whose tag is wrong is a matter of all lanes: simulations alone watch it, and
        # `array-aead --controls` has it refuse a fault.
        proven.add("rtl/formal/array_outlet_check.sv")
        for path in proofs.HARNESSES.glob("*_check.sv"):
            self.assertIn(str(path.relative_to(tools.ROOT)), proven)


class Proofs(unittest.TestCase):
    def test_a_counterexample_is_named_and_has_a_trace(self):
        engines.wrappers(proofs.FORMAL / "engines")
        # A proof of the mutated cell: it must fail, and say where.
        mutation = CELL.mutation[0]
        with tempfile.TemporaryDirectory(dir=proofs.BUILD) as folder:
            changed = Path(folder) / Path(mutation.file).name
            changed.write_text(proofs.mutated(CELL, mutation))
            name = str(changed.relative_to(tools.ROOT))
            sources = tuple(name if s == mutation.file else s for s in CELL.sources)
            wrong = replace(CELL, name="wrong", sources=sources, mutation=())
            outcome = proofs.prove(wrong, None, threading.Event(), again=True)
        self.assertEqual(outcome.result, "refuted")
        self.assertFalse(outcome.good)
        self.assertIn("_rules.sv", outcome.detail)
        self.assertGreater((tools.ROOT / outcome.trace).stat().st_size, 0)
        self.assertIn(outcome.trace, proofs.line(outcome, wrong))

    def test_a_proof_that_takes_too_long_ends(self):
        engines.wrappers(proofs.FORMAL / "engines")
        short = replace(TABLE["slot_shell"], name="short", seconds=1, mutation=())
        outcome = proofs.prove(short, None, threading.Event(), again=True)
        self.assertEqual(outcome.result, "out of time")


class Models(unittest.TestCase):
    def test_an_assertion_that_fails_ends_the_call_and_no_more(self):
        RUNTIME.parent.mkdir(parents=True, exist_ok=True)
        step_runtime()
        with tempfile.TemporaryDirectory(dir=proofs.BUILD) as name:
            folder = Path(name)
            source, library = folder / "told_slot.sv", folder / "told.so"
            source.write_text(SLOT)
            verilate.build_rtl_model("told_slot", [source], {}, library, RUNTIME, folder / "log")
            with Model(library) as model:
                good = bytes(4) + b"\x01\x00" + bytes(2)
                for _ in range(2):
                    self.assertEqual(model.run([good])[0].response, good)
                    with self.assertRaisesRegex(ModelError, "assertion"):
                        model.run([b"\xff" * 8])

    def test_the_rtl_of_a_slot_has_its_checks(self):
        found = {p.name for p in verilate.checks([tools.ROOT / "rtl/slot/slot_shell.sv"])}
        self.assertLessEqual({"slot_shell_check.sv", "stream_rules.sv"}, found)
        self.assertEqual(verilate.checks([Path("netlist.v")]), [])


if __name__ == "__main__":
    unittest.main()
