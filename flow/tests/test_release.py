# SPDX-License-Identifier: Apache-2.0
"""What makes a release: what it refuses, which crates are in it, and that what is compiled names no folder."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ace_flow.tools import ROOT

SCRIPTS = ROOT / "scripts" / "release"


def run(*command: str | Path, **how: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, **how)


class Release(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="ace-release-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_checkout_with_changes_is_refused(self) -> None:
        shutil.copytree(SCRIPTS, self.folder / "scripts" / "release")
        pythons = os.environ | {"FLOW_PYTHON": sys.executable, "RELEASE_PYTHON": sys.executable}
        make = self.folder / "scripts" / "release" / "make.sh"
        self.assertEqual(run("git", "init", "--quiet", cwd=self.folder).returncode, 0)
        done = run(make, env=pythons)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("this checkout has changes", done.stderr)
        self.assertIn("DIRTY=1", done.stderr)
        self.assertFalse((self.folder / "dist").exists())
        done = run(make, "--secret", self.folder / "none", env=pythons)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("LIBRARY_SECRET", done.stderr)
        done = run(make, env=pythons | {"RELEASE_PYTHON": str(self.folder / "none")})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("is no Python", done.stderr)

    def test_the_crates_are_those_that_may_be_published(self) -> None:
        done = run("cargo", "metadata", "--no-deps", "--offline", "--format-version", "1", cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        known = {one["name"]: one for one in json.loads(done.stdout)["packages"]}
        public = {name for name, one in known.items() if one["publish"] is None}
        listed = run(SCRIPTS / "crates.sh").stdout.split()
        self.assertEqual(set(listed) - {"-p"}, public)
        for name in public:
            for field in ("description", "license", "readme", "documentation", "keywords", "categories"):
                self.assertTrue(known[name][field], f"{name}: {field}")
            # Whoever takes one from a registry gets these from there as well.
            needed = {
                one["name"] for one in known[name]["dependencies"] if one["kind"] != "dev" and "path" in one
            }
            self.assertLessEqual(needed, public, name)

    def test_a_crate_has_all_its_files_and_no_link(self) -> None:
        # Links of the repository are files in a package.
        target = self.folder / "target"
        crates = run(SCRIPTS / "crates.sh").stdout.split()
        command = ["cargo", "package", "--no-verify", "--offline", "--locked", "--quiet", "--allow-dirty"]
        done = run(*command, "--target-dir", target, *crates, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        shape = (ROOT / "array" / "shape.toml").read_text()
        (package,) = (target / "package").glob("ace-array-*.crate")
        listed = run("tar", "--list", "--verbose", "--gzip", "--file", package).stdout
        self.assertNotRegex(listed, r"(?m)^l")
        name = package.name.removesuffix(".crate")
        done = run("tar", "--extract", "--to-stdout", "--gzip", "--file", package, f"{name}/shape.toml")
        self.assertEqual(done.stdout, shape)

    def test_what_is_compiled_names_no_folder(self) -> None:
        (self.folder / "a.cc").write_text("const char *where() { return __FILE__; }\n")
        made = self.folder / "a.o"
        done = run(SCRIPTS / "cxx.sh", "-c", self.folder / "a.cc", "-o", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"/ace/cxx/a.cc", made.read_bytes())
        self.assertNotIn(str(self.folder).encode(), made.read_bytes())

        (self.folder / "a.rs").write_text("pub fn wherever() -> &'static str { file!() }\n")
        made = self.folder / "liba.rlib"
        environment = os.environ | {
            "ACE_CARGO": "/nowhere",
            "ACE_SYSROOT": "/nowhere",
            "ACE_SOURCE": str(self.folder),
            "CARGO_TARGET_DIR": str(self.folder / "target"),
        }
        compiled = [
            "--crate-type",
            "rlib",
            "--crate-name",
            "a",
            self.folder / "a.rs",
            "--out-dir",
            self.folder,
        ]
        done = run(SCRIPTS / "rustc.sh", "rustc", *compiled, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(str(self.folder).encode(), made.read_bytes())
        self.assertIn(b"/ace/a.rs", made.read_bytes())


if __name__ == "__main__":
    unittest.main()
