# SPDX-License-Identifier: Apache-2.0
"""The tutorial of the first cipher, as far as it goes without building `ace` anew: what `ace new` makes, with the page's
rounds in it, gives the page's answer in both directions."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ace_flow.cache import store
from ace_flow.sim import frames
from ace_flow.sim.model import Model
from ace_flow.tools import FLOW, ROOT

ACE = Path(os.environ.get("ACE_BIN", ROOT / "target" / "release" / "ace"))
PAGE = ROOT / "docs" / "tutorials" / "first-cipher.md"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the page replaces in the package: all behind the types.
FUNCTIONS = re.compile(r"^  // The schedule's state.*(?=^endpackage)", re.MULTILINE | re.DOTALL)


class FirstCipher(unittest.TestCase):
    def setUp(self) -> None:
        if not ACE.exists():
            self.assertNotIn("ACE_REQUIRE_BUILD", os.environ, f"{ACE} is not built")
            self.skipTest(f"{ACE} is not built")
        place = tempfile.TemporaryDirectory(prefix="ace-first-cipher-")
        self.addCleanup(place.cleanup)
        self.root = Path(place.name) / "checkout"
        for part in ("algorithms", "flow", "rtl"):
            unwanted = shutil.ignore_patterns("tests", "__pycache__")
            shutil.copytree(FLOW.parent / part, self.root / part, ignore=unwanted)
        # `ace new` touches them, for cargo to look at the folders again.
        for crate in ("ace-array", "ace-engine"):
            script = self.root / "crates" / crate / "build.rs"
            script.parent.mkdir(parents=True)
            script.touch()
        if (store() / "runtime").is_dir():
            shutil.copytree(store() / "runtime", self.root / "build" / "cache" / "runtime")
        self.fences = FENCE.findall(PAGE.read_text())

    def run_in_copy(self, *command: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.root / "flow"), "ACE_BIN": str(ACE.resolve())}
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fence(self, begins: str) -> str:
        """The fence whose first line begins so, or whose language it is."""
        found = [text for info, text in self.fences if info == begins or text.startswith(begins)]
        self.assertEqual(len(found), 1, begins)
        return found[0]

    def test_the_pages_rounds_give_the_pages_answer(self) -> None:
        new = self.fence("ace new algorithm").split()
        self.run_in_copy(str(ACE.resolve()), *new[1:])
        folder = self.root / "algorithms" / new[3]
        package = folder / "rtl" / f"{new[3]}_pkg.sv"
        rounds = self.fence("systemverilog")
        text, count = FUNCTIONS.subn(lambda _: rounds + "\n", package.read_text())
        self.assertEqual(count, 1)
        package.write_text(text)
        with (folder / "kat.csv").open("a") as file:
            file.write(self.fence("Speck paper"))
        told = json.loads(self.run_in_copy(sys.executable, "-m", "ace_flow", "simulate", new[3]))
        with (folder / "kat.csv").open() as file:
            (row,) = csv.DictReader(file)
        # As `ace kat` reads it: modes are in capitals.
        self.assertEqual(row["mode"], "ECB")
        key, plain, cipher = (
            bytes.fromhex(row[name]) for name in ("key_hex", "plaintext_hex", "ciphertext_hex")
        )
        code = int(
            re.search(r"^code = (0x\w+)$", (folder / "algorithm.toml").read_text(), re.MULTILINE)[1], 0
        )
        asked = [
            frames.request(code, "ecb", plain, key=key, iv=b"", decrypt=False, tag=1),
            frames.request(code, "ecb", cipher, key=key, iv=b"", decrypt=True, tag=2),
        ]
        with Model(Path(told["model"])) as model:
            answers = [answer.response for answer in model.run(asked)]
        self.assertEqual([answer[:8] for answer in answers], [cipher, plain])


if __name__ == "__main__":
    unittest.main()
