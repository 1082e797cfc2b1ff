# SPDX-License-Identifier: Apache-2.0
"""What the builder does before it hands over to Snakemake."""

import hashlib
import json
import tempfile
import unittest
from pathlib import Path

from ace_flow import build


class Spoiled(unittest.TestCase):
    def test_only_what_differs_from_the_manifest_goes(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = {}
            for kind in ("bitstream", "model", "netlist_model"):
                (folder / kind).write_bytes(kind.encode())
                digest = hashlib.sha256(kind.encode()).hexdigest()
                files[kind] = {"path": kind, "bytes": len(kind), "sha256": digest}
            (folder / "manifest.json").write_text(json.dumps({"files": files}))
            self.assertEqual(build.discard_spoiled(folder), [])
            (folder / "model").write_bytes(b"modem")
            (folder / "netlist_model").unlink()
            self.assertEqual(build.discard_spoiled(folder), [folder / "model"])
            self.assertFalse((folder / "model").exists())
            self.assertTrue((folder / "bitstream").exists())

    def test_a_manifest_that_cannot_be_read_spoils_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.assertEqual(build.discard_spoiled(folder), [])
            for text in ("", "[]", "{}", '{"files": 3}', '{"files": {"model": {"path": 1}}}'):
                (folder / "manifest.json").write_text(text)
                self.assertEqual(build.discard_spoiled(folder), [])


if __name__ == "__main__":
    unittest.main()
