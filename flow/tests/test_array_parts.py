# SPDX-License-Identifier: Apache-2.0
"""What a slot is made of, as tools ask for it, name it and tell the RTL."""

import argparse
import json
import re
import unittest

from ace_flow import tools
from ace_flow.array import model, route
from ace_flow.array.model import SLOT, Parts


def asked(*options: str) -> Parts:
    parser = argparse.ArgumentParser()
    Parts.ask(parser)
    return Parts.asked(parser.parse_args(options))


class Slot(unittest.TestCase):
    def test_by_default_it_is_the_rtl_s(self) -> None:
        text = (model.RTL / "array_slot.sv").read_text()
        found = {
            name: int(count) for name, count in re.findall(r"parameter int unsigned (\w+) += (\d+)", text)
        }
        self.assertEqual(found, SLOT.parameters)
        rates = json.loads((tools.ROOT / "array" / "rates.json").read_text())
        self.assertEqual((rates["tiles"], rates["ways"], rates["lanes"]), SLOT)

    def test_options_say_it(self) -> None:
        self.assertEqual(asked(), SLOT)
        other = Parts(1, 1, 16)
        self.assertEqual(asked(*other.options.split()), other)
        self.assertEqual(asked("--ways", "1"), SLOT._replace(ways=1))

    def test_each_has_a_name_and_a_folder_of_its_own(self) -> None:
        some = [Parts(tiles, ways, lanes) for tiles in (1, 2) for ways in (1, 2) for lanes in (2, 8)]
        self.assertEqual(len({parts.name for parts in some}), len(some))
        self.assertEqual(len({route.netlist_of("slot", parts) for parts in some}), len(some))
        self.assertEqual(len({route.parameters_of(parts) for parts in some}), len(some))

    def test_what_was_routed_before_there_were_ways_has_one(self) -> None:
        self.assertEqual(Parts.routed({"tiles": 2, "lanes": 8}), Parts(2, 1, 8))
        self.assertEqual(Parts.routed({"tiles": 2, "ways": 2, "lanes": 8}), SLOT)


if __name__ == "__main__":
    unittest.main()
