# SPDX-License-Identifier: Apache-2.0
"""What the builder does before it hands over to Snakemake."""

import hashlib
import json
import tempfile
import unittest
from pathlib import Path

from ace_flow import configurations
from ace_flow.build import run

TABLE = configurations.load()


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
            self.assertEqual(run.discard_spoiled(folder), [])
            (folder / "model").write_bytes(b"modem")
            (folder / "netlist_model").unlink()
            self.assertEqual(run.discard_spoiled(folder), [folder / "model"])
            self.assertFalse((folder / "model").exists())
            self.assertTrue((folder / "bitstream").exists())

    def test_a_manifest_that_cannot_be_read_spoils_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.assertEqual(run.discard_spoiled(folder), [])
            for text in ("", "[]", "{}", '{"files": 3}', '{"files": {"model": {"path": 1}}}'):
                (folder / "manifest.json").write_text(text)
                self.assertEqual(run.discard_spoiled(folder), [])


class Fifth(unittest.TestCase):
    def test_whole_domains_and_a_fifth_of_the_rows_at_least(self) -> None:
        rows = [row for row in TABLE.values() if "library" in row.sets]
        for commit in ("a", "b", "c"):
            chosen = run.a_fifth(rows, commit)
            self.assertGreaterEqual(5 * len(chosen), len(rows))
            self.assertLess(len(chosen), len(rows) / 5 + 6)
            domains = {TABLE[name].of or name for name in chosen}
            self.assertEqual([r.name for r in rows if (r.of or r.name) in domains], chosen)
            self.assertEqual(run.a_fifth(rows, commit), chosen)

    def test_commits_choose_others_and_leave_nothing_out(self) -> None:
        rows = [row for row in TABLE.values() if "library" in row.sets]
        seen = {name for commit in range(100) for name in run.a_fifth(rows, str(commit))}
        self.assertEqual(seen, {row.name for row in rows})
        self.assertEqual(run.a_fifth([], "a"), [])


if __name__ == "__main__":
    unittest.main()
