# SPDX-License-Identifier: Apache-2.0
"""The book in a browser: pictures of it stay in build/screenshots, and what is cut or lies on each other is found."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ace_flow.pages import screenshots
from ace_flow.tools import ROOT

BOX = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 200" font-size="20"><rect x="10" y="10" width="200" height="60"/>'
    '<text x="20" y="40">inside</text>{}</svg>'
)
# What is drawn beside it, and what is said of it.
WRONG = {
    '<text x="400" y="40">twice</text><text x="404" y="42">there</text>': "'there' and 'twice': on each other",
    '<text x="1190" y="100">words over the edge</text>': "'words over the edge': cut",
    '<text x="40" y="60">a line longer than its box</text>': ": over the edge of a box",
    '<text x="400" y="40" font-size="5">small</text>': "letters of 5.0 pixels",
}


class Screenshots(unittest.TestCase):
    def setUp(self) -> None:
        if shutil.which("chromium") is None or importlib.util.find_spec("mkdocs") is None:
            self.assertNotIn("ACE_REQUIRE_BUILD", os.environ, "chromium or mkdocs is missing")
            self.skipTest("no chromium or no mkdocs here")

    def test_the_book_can_be_read(self) -> None:
        command = [sys.executable, "-m", "ace_flow", "screenshots"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "flow")}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=900
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_cannot_be_read_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = [folder / f"{number}.svg" for number in range(len(WRONG) + 1)]
            for file, drawn in zip(files, ["", *WRONG], strict=True):
                file.write_text(BOX.format(drawn))
            with mock.patch.object(screenshots, "pictures", lambda: files):
                wrong = screenshots.judged(folder)
        self.assertEqual(len(wrong), len(WRONG), wrong)
        for line, file, words in zip(wrong, files[1:], WRONG.values(), strict=True):
            self.assertTrue(line.startswith(f"{file.name}: ") and words in line, line)


if __name__ == "__main__":
    unittest.main()
