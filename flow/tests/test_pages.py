# SPDX-License-Identifier: Apache-2.0
"""The pages of the algorithms are of the library as it is."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from ace_flow import pages
from ace_flow.tools import ROOT

ACE = Path(os.environ.get("ACE_BIN", ROOT / "target" / "release" / "ace"))


class Pages(unittest.TestCase):
    def test_spans(self) -> None:
        self.assertEqual(pages.span([11.04, 13.0, 11.0], 1), "11.0 to 13.0")
        self.assertEqual(pages.span([11.04, 11.0], 1), "11.0")

    def test_pages_are_what_would_be_written(self) -> None:
        if not ACE.exists():
            self.skipTest(f"{ACE} is not built")
        done = subprocess.run(
            [sys.executable, "-m", "ace_flow", "pages", "--check"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
