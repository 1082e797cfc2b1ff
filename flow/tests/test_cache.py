# SPDX-License-Identifier: Apache-2.0
"""Results by content: what is done again and what is not, and what a failure leaves."""

import os
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from ace_flow import cache


class Cache(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        patch = mock.patch.object(cache, "store", lambda: self.root / "cache")
        patch.start()
        self.addCleanup(patch.stop)
        self.source = self.root / "in.sv"
        self.source.write_text("module a;")
        self.place = self.root / "out" / "result"
        self.calls = 0

    def step(self, settings: dict | None = None) -> bool:
        def work(folder: Path) -> None:
            self.calls += 1
            (folder / "r").write_text(self.source.read_text().upper())

        return cache.cached("step", settings or {}, [self.source], {"r": self.place}, work)

    def test_same_content_is_not_done_again(self) -> None:
        self.assertTrue(self.step())
        os.utime(self.source, (1, 1))
        self.place.unlink()
        self.assertFalse(self.step())
        self.assertEqual((self.calls, self.place.read_text()), (1, "MODULE A;"))

    def test_content_and_settings_count(self) -> None:
        self.step()
        self.source.write_text("module b;")
        self.assertTrue(self.step())
        self.assertEqual(self.place.read_text(), "MODULE B;")
        self.assertTrue(self.step({"option": 1}))
        self.source.write_text("module a;")
        self.assertFalse(self.step())
        self.assertEqual(self.place.read_text(), "MODULE A;")

    def test_failure_leaves_no_result(self) -> None:
        def work(folder: Path) -> None:
            (folder / "r").write_text("half")
            raise OSError("killed")

        with self.assertRaises(OSError):
            cache.cached("step", {}, [self.source], {"r": self.place}, work)
        self.assertFalse(self.place.exists())
        self.assertEqual(list((self.root / "cache").glob("*/*")), [])
        self.assertTrue(self.step())

    def test_missing_output_is_an_error(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "wrote no r"):
            cache.cached("step", {}, [self.source], {"r": self.place}, lambda _: None)

    def test_input_that_changes_meanwhile_is_an_error(self) -> None:
        def work(folder: Path) -> None:
            (folder / "r").write_text("of which source?")
            self.source.write_text("module c;")

        with self.assertRaisesRegex(RuntimeError, "changed while it ran"):
            cache.cached("step", {}, [self.source], {"r": self.place}, work)
        self.assertFalse(self.place.exists())

    def test_prune_removes_the_unused_and_the_half_done(self) -> None:
        self.step()
        (entry,) = (self.root / "cache" / "step").iterdir()
        half = entry.parent / ".work-x"
        half.mkdir()
        old = time.time() - 2 * 3600
        os.utime(half, (old, old))
        os.utime(entry, (old, old))
        cache.prune()
        self.assertTrue(entry.exists())
        self.assertFalse(half.exists())
        ancient = time.time() - 86400 * (cache.UNUSED_DAYS + 1)
        os.utime(entry, (ancient, ancient))
        cache.prune()
        self.assertFalse(entry.exists())


if __name__ == "__main__":
    unittest.main()
