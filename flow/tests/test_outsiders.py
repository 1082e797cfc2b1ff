# SPDX-License-Identifier: Apache-2.0
"""A slot as others use it: under cocotb, and inside LiteX (examples/cocotb-slot, rtl/litex), in their own environment."""

import os
import subprocess
import unittest

from ace_flow.tools import ROOT

PYTHON = ROOT / ".venv-cocotb" / "bin" / "python"
RUN = ROOT / "examples" / "cocotb-slot" / "run.py"
SECONDS = 600


class Outsiders(unittest.TestCase):
    def setUp(self) -> None:
        if not PYTHON.exists():
            self.assertNotIn("ACE_REQUIRE_BUILD", os.environ, "`make cocotb` makes .venv-cocotb")
            self.skipTest("no cocotb here (make cocotb)")

    def run_slot(self, *args: str) -> str:
        command = [str(PYTHON), str(RUN), *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_slot_under_cocotb(self) -> None:
        self.assertIn("sm4_slot: 3 tests, 0 failed", self.run_slot())

    def test_a_slot_in_litex(self) -> None:
        self.assertIn("litex_sm4_slot: 3 tests, 0 failed", self.run_slot("--litex"))

    def test_a_wrong_answer_fails(self) -> None:
        command = [str(PYTHON), str(RUN), "--wrong"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("sm4_slot: 3 tests, 2 failed", done.stdout)


if __name__ == "__main__":
    unittest.main()
