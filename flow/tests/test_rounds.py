# SPDX-License-Identifier: Apache-2.0
"""p rounds of the finalists: which rows, and what is said of their clocks."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ace_flow import rounds, study
from ace_flow.place import route


def record(seeds: dict[int, float], cycles: float, p: int) -> dict:
    routes = [{"seed": seed, "fmax_mhz": mhz} for seed, mhz in seeds.items()]
    return {"routes": routes, "cycles_per_block": cycles, "rounds": p}


class Rounds(unittest.TestCase):
    def test_every_finalist_has_a_layout_to_compare_with(self) -> None:
        found: dict[str, list[int]] = {}
        for layout in rounds.load():
            found.setdefault(layout.finalist, []).append(layout.rounds)
        self.assertEqual(sorted(found), ["aes", "mars", "rc6", "serpent", "twofish"])
        for finalist, p in found.items():
            self.assertEqual(p, sorted(set(p)), finalist)
            self.assertGreater(len(p), 1, finalist)

    def test_gains_are_of_the_seeds_that_both_have(self) -> None:
        first = record({1: 100.0, 2: 110.0, 3: 120.0}, 10.0, 1)
        four = record({2: 99.0, 3: 108.0}, 2.5, 4)
        found = rounds.gains(four, first, 128)
        self.assertEqual(found["gain_seeds"], [2, 3])
        # Of two the slower one: 99 of 110 MHz, with a quarter of the clocks.
        self.assertEqual((found["gain"], found["gain_per_round"]), (3.6, 0.9))
        # A block of 128 bits takes two beats: 10 clocks become 2 at best.
        self.assertEqual(found["stream_gain"], 4.5)
        self.assertIsNone(rounds.gains(record({7: 99.0}, 2.5, 4), first, 128)["gain"])

    def test_what_was_not_placed_is_named(self) -> None:
        layouts = rounds.load()[:2]
        one, other = (layout.row.name for layout in layouts)
        placed = [{"name": one, "routes": [{"seed": seed} for seed in rounds.SEEDS[:-1]]}]
        left = rounds.missing(layouts, placed)
        self.assertEqual(left, {one: [rounds.SEEDS[-1]], other: list(rounds.SEEDS)})

    def test_another_source_or_part_is_another_input(self) -> None:
        layouts = rounds.load()[:1]
        now = rounds.inputs(layouts)
        with mock.patch.object(study, "digest", return_value="another"):
            self.assertNotEqual(rounds.inputs(layouts), now)
        self.assertNotEqual(
            rounds.settings(layouts[0].row, route.DEVICE), rounds.settings(layouts[0].row, "LFE5U-85F")
        )

    def test_a_wrong_table_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "rounds.toml"
            for text, wanted in (
                ('[[finalist]]\nname = "aes"\nlayouts = [{ row = "no-row", behind = 1 }]\n', "no-row"),
                ('[[finalist]]\nname = "aes"\n', "layouts"),
                (
                    '[[finalist]]\nname = "aes"\ndevice = "x"\nlayouts = [{ row = "aes", behind = 1 }]\n',
                    "device",
                ),
            ):
                table.write_text(text)
                with self.assertRaisesRegex(rounds.RoundsError, f"rounds.toml.*{wanted}"):
                    rounds.load(table)


if __name__ == "__main__":
    unittest.main()
