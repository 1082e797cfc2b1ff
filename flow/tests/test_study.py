# SPDX-License-Identifier: Apache-2.0
"""What was placed and routed for studies is of the designs and sources as they are."""

import json
import unittest
from unittest import mock

from ace_flow import study

NAMES = sorted(path.parent.name for path in study.STUDIES.glob("*/designs.toml"))


class Study(unittest.TestCase):
    def test_no_result_is_stale(self) -> None:
        self.assertIn("pilchard-2002", NAMES)
        for name in NAMES:
            again = f"run `python -m ace_flow study {name} DESIGN …` for these"
            self.assertEqual(study.stale(name), [], again)

    def test_the_median_is_the_one_in_the_middle(self) -> None:
        for name in NAMES:
            for design in json.loads((study.STUDIES / name / "results.json").read_text())["designs"]:
                clocks = sorted(route["fmax_mhz"] for route in design["routes"])
                self.assertEqual(design["median"]["fmax_mhz"], clocks[(len(clocks) - 1) // 2], design["name"])

    def test_another_source_makes_a_result_stale(self) -> None:
        everything = [design.name for design in study.load("pilchard-2002")]
        with mock.patch.object(study, "digest", return_value="another"):
            self.assertEqual(study.stale("pilchard-2002"), everything)

    def test_a_wrong_table_is_named(self) -> None:
        with self.assertRaisesRegex(study.StudyError, "nothing/designs.toml"):
            study.load("nothing")


if __name__ == "__main__":
    unittest.main()
