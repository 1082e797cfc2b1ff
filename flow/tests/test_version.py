# SPDX-License-Identifier: Apache-2.0
"""One version: what repeats it is what would be written, and a file with another one is found."""

import shutil
import tempfile
import unittest
from pathlib import Path

from ace_flow import version
from ace_flow.tools import ROOT


class Version(unittest.TestCase):
    def test_all_files_say_the_same(self) -> None:
        self.assertEqual(version.other(), [])

    def test_another_one_is_found_and_written(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ace-version-") as name:
            root = Path(name)
            for file in (*version.WRITTEN, *version.READ):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / file, root / file)
            now = version.version()
            text = (root / "Cargo.toml").read_text()
            (root / "Cargo.toml").write_text(
                text.replace(f'version = "{now}"\nedition', 'version = "9.8.7"\nedition')
            )
            self.assertEqual(version.version(root), "9.8.7")
            self.assertEqual(set(version.write(root)), set(version.WRITTEN))
            left = version.other(root)
            self.assertEqual({line.split(":")[0] for line in left}, set(version.READ), left)
            # A file that does not say it any more is no file that says the right one.
            (root / "CITATION.cff").write_text("title: ACE\n")
            self.assertTrue(any(line.startswith("CITATION.cff: no version") for line in version.other(root)))


if __name__ == "__main__":
    unittest.main()
