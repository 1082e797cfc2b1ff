# SPDX-License-Identifier: Apache-2.0
"""The flow in a checkout below the temporary folder, which the WebAssembly tools do not see as it is: a slot goes
all the way from RTL to proven bits."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ace_flow.cache import store
from ace_flow.prove.bitstream import CRATES
from ace_flow.tools import FLOW, ROOT

ACE = Path(os.environ.get("ACE_BIN", ROOT / "target" / "release" / "ace"))
# The way of a small configuration.
STEPS = ("runtime", "synth magma", "route magma 1", "pack magma 1", "memory magma", "prove magma")


class Elsewhere(unittest.TestCase):
    def test_below_the_temporary_folder(self) -> None:
        if not ACE.exists():
            self.skipTest(f"{ACE} is not built")
        with tempfile.TemporaryDirectory(prefix="ace-flow-") as name:
            root = Path(name) / "checkout"
            unwanted = shutil.ignore_patterns("tests", "__pycache__")
            shutil.copytree(FLOW, root / "flow", ignore=unwanted)
            # The proofs' keys have the code in them that reads the bits, and that follows certificates.
            for crate in (*CRATES, "ace-lrat"):
                source = Path("crates") / crate / "src"
                shutil.copytree(ROOT / source, root / source)
            for part in ("rtl", "algorithms"):
                shutil.copytree(ROOT / part, root / part)
            (root / "build" / "runtime").mkdir(parents=True)
            (root / "build" / "configurations" / "magma").mkdir(parents=True)
            # What is the same everywhere and takes long.
            if (store() / "runtime").is_dir():
                shutil.copytree(store() / "runtime", root / "build" / "cache" / "runtime")
            environment = {k: v for k, v in os.environ.items() if k != "ACE_CONFIGURATIONS"} | {
                "PYTHONPATH": str(root / "flow"),
                "ACE_BIN": str(ACE.resolve()),
                "YOWASP_CACHE_DIR": os.environ.get("YOWASP_CACHE_DIR", str(ROOT / ".venv" / "yowasp")),
            }
            for step in STEPS:
                command = [sys.executable, "-m", "ace_flow", "step", *step.split()]
                done = subprocess.run(
                    command, cwd=root, env=environment, capture_output=True, text=True, check=False
                )
                self.assertEqual(done.returncode, 0, f"{step}: {done.stderr}")
            proof = json.loads((root / "build" / "configurations" / "magma" / "proof.json").read_text())
            self.assertEqual(proof["result"], "proven")


if __name__ == "__main__":
    unittest.main()
