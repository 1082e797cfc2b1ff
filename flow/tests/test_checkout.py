# SPDX-License-Identifier: Apache-2.0
"""The flow in a checkout below the temporary folder, which the WebAssembly tools do not see as it is: a slot that echoes
and counts goes all the way from RTL to proven bits."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ace_flow.cache import store
from ace_flow.tools import FLOW, ROOT

ACE = Path(os.environ.get("ACE_BIN", ROOT / "target" / "release" / "ace"))
TABLE = """
[[configuration]]
name = "echo"
summary = "gives back what it gets"
top = "echo_slot"
frequency_mhz = 100
[[configuration.can]]
algorithm = "none"
code = 0xee
kind = "cipher"
block_bytes = 8
key_bytes = [8]
"""
PORTS = """(
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
);"""
# A slot has a shell in its front, and a core; both are counted.
SLOT = f"""
module echo_shell {PORTS}
  logic        full_q;
  logic [64:0] beat_q;
  assign s_axis_tready = !full_q;
  assign m_axis_tvalid = full_q;
  assign {{m_axis_tlast, m_axis_tdata}} = beat_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= full_q ? !m_axis_tready : s_axis_tvalid;
  end
  always_ff @(posedge clk_i) begin
    if (!full_q) beat_q <= {{s_axis_tlast, s_axis_tdata}};
  end
endmodule
module echo_front {PORTS}
  echo_shell u_shell (.*);
endmodule
module echo_core (input logic clk_i, input logic rst_ni, output logic [7:0] count_o);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_o <= 8'd1;
    else count_o <= {{count_o[6:0], ^(count_o & 8'hb8)}};
  end
endmodule
module echo_slot {PORTS}
  logic [63:0] data;
  logic [ 7:0] count;
  echo_front u_front (.m_axis_tdata(data), .*);
  echo_core u_core (.clk_i, .rst_ni, .count_o(count));
  assign m_axis_tdata = data ^ {{56'b0, count}};
endmodule
"""
STEPS = ("runtime", "model echo", "synth echo", "netlist_model echo", "route echo 1", "pack echo 1")
STEPS += ("memory echo", "prove echo")


class Elsewhere(unittest.TestCase):
    def test_below_the_temporary_folder(self) -> None:
        if not ACE.exists():
            self.skipTest(f"{ACE} is not built")
        with tempfile.TemporaryDirectory(prefix="ace-flow-") as name:
            root = Path(name) / "checkout"
            unwanted = shutil.ignore_patterns("tests", "__pycache__", "configurations.toml")
            shutil.copytree(FLOW, root / "flow", ignore=unwanted)
            # The proof's key has the code that reads the bits in it.
            shutil.copytree(ROOT / "crates" / "ace-ecp5" / "src", root / "crates" / "ace-ecp5" / "src")
            (root / "flow" / "configurations.toml").write_text(TABLE)
            (root / "rtl").mkdir()
            (root / "rtl" / "echo_slot.sv").write_text(SLOT)
            (root / "build" / "runtime").mkdir(parents=True)
            (root / "build" / "configurations" / "echo").mkdir(parents=True)
            # What is the same everywhere and takes long.
            if (store() / "runtime").is_dir():
                shutil.copytree(store() / "runtime", root / "build" / "cache" / "runtime")
            environment = {k: v for k, v in os.environ.items() if k != "ACE_CONFIGURATIONS"} | {
                "PYTHONPATH": str(root / "flow"),
                "ACE_BIN": str(ACE.resolve()),
                "YOWASP_CACHE_DIR": os.environ.get("YOWASP_CACHE_DIR", str(ROOT / ".venv" / "yowasp")),
            }
            for step in STEPS:
                command = [sys.executable, "-m", "ace_flow.step", *step.split()]
                done = subprocess.run(
                    command, cwd=root, env=environment, capture_output=True, text=True, check=False
                )
                self.assertEqual(done.returncode, 0, f"{step}: {done.stderr}")
            proof = json.loads((root / "build" / "configurations" / "echo" / "proof.json").read_text())
            self.assertEqual(proof["result"], "proven")


if __name__ == "__main__":
    unittest.main()
