# SPDX-License-Identifier: Apache-2.0
"""Sweeps: what is asked for, and what is made of the reports."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from ace_flow import configurations, layout
from ace_flow.build import sweep
from ace_flow.place import route

TABLE = configurations.load()
PARTS = ["LFE5U-25F", "LFE5U-45F"]


class Sweep(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(layout, "BUILD", Path(folder.name))
        patch.start()
        self.addCleanup(patch.stop)

    def report(self, device: str, seed: int, text: str) -> None:
        place = layout.Places("des").sweep(device, seed)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def test_the_median_is_of_the_routes_that_came_through(self) -> None:
        for seed, fmax in ((1, 90.0), (2, 120.0), (3, 100.0)):
            self.report(PARTS[0], seed, json.dumps({"fmax_mhz": fmax}))
        self.report(PARTS[1], 1, "{")
        found = sweep.summarise([TABLE["des"]], PARTS, 3)
        self.assertEqual([f["median_mhz"] for f in found], [100.0, None])
        self.assertEqual(found[0]["fmax_mhz"], {1: 90.0, 2: 120.0, 3: 100.0})
        out = io.StringIO()
        with redirect_stdout(out):
            sweep.show(found, 3)
        self.assertIn("| des | LFE5U-25F | 3 of 3 | 90.0 | 100.0 | 120.0 |", out.getvalue())
        self.assertIn("| des | LFE5U-45F | 0 of 3 | - | - | - |", out.getvalue())

    def test_arguments(self) -> None:
        parsed = sweep.parse(["des", "--seeds", "2", "--", "--executor", "slurm"])
        self.assertEqual((parsed.names, parsed.snakemake), (["des"], ["--executor", "slurm"]))
        for wrong in (["des", "--devices", "LFE5U-12F"], ["nothing"], ["des", "--seeds", "0"]):
            err = io.StringIO()
            with mock.patch("sys.argv", ["sweep", *wrong]), redirect_stderr(err):
                self.assertEqual(sweep.main(), 2)
            self.assertIn("error: ", err.getvalue())

    def test_other_parts_have_no_pins_and_the_boards_part_shares_the_cache(self) -> None:
        row = TABLE["des"]
        self.assertEqual(route.settings(row, 1), route.settings(row, 1, route.DEVICE))
        call = route.command(row, 1, Path("in"), Path("out"), "LFE5U-25F")
        self.assertIn("--25k", call)
        self.assertNotIn("--lpf", call)


if __name__ == "__main__":
    unittest.main()
