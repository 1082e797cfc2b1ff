# SPDX-License-Identifier: Apache-2.0
"""Inputs tied to zero are lifted, and cells compute what they did."""

import random
import unittest

from ace_flow.synth import tie_unused


def look_up(cell: dict, table: str, values: dict) -> str:
    """What a table of a cell says, its inputs being constants or of these values."""
    index = 0
    for place, pin in enumerate(tie_unused.TABLES[cell["type"]][table]):
        (net,) = cell["connections"][pin]
        index |= (int(net) if isinstance(net, str) else values[net]) << place
    return cell["parameters"][table][-1 - index]


def carry(cell: dict, values: dict, carried: int) -> tuple[int, int, int]:
    """Both sums and the carry of a CCU2C, as the cell is documented (INJECT1 is NO)."""
    sums = []
    for half in "01":
        whole = int(look_up(cell, f"INIT{half}", values))
        # The carry's table: the lowest four entries, by the lower two inputs.
        index = 0
        for place, pin in enumerate((f"A{half}", f"B{half}")):
            (net,) = cell["connections"][pin]
            index |= (int(net) if isinstance(net, str) else values[net]) << place
        low = int(cell["parameters"][f"INIT{half}"][-1 - index])
        sums.append(whole ^ carried)
        carried = carried if whole else low
    return (*sums, carried)


def cell_of(kind: str, rng: random.Random) -> dict:
    """A cell with random tables, some of whose inputs are constants."""
    tables = tie_unused.TABLES[kind]
    pins = [pin for table in tables.values() for pin in table]
    nets = {pin: [rng.choice(["0", "0", "1", number])] for number, pin in enumerate(pins)}
    return {
        "type": kind,
        "parameters": {table: "".join(rng.choice("01") for _ in range(16)) for table in tables},
        "connections": nets,
    }


class TestTied(unittest.TestCase):
    def test_cells_compute_what_they_did(self):
        rng = random.Random(1)
        for kind in ("LUT4", "CCU2C"):
            for _ in range(200):
                cell = cell_of(kind, rng)
                before = {
                    key: dict(value) if isinstance(value, dict) else value for key, value in cell.items()
                }
                zeros = sum(net == ["0"] for net in before["connections"].values())
                self.assertEqual(tie_unused.lift({"cells": {"it": cell}}), zeros)
                self.assertNotIn(["0"], cell["connections"].values())
                for _ in range(20):
                    values = {number: rng.randrange(2) for number in range(8)}
                    if kind == "LUT4":
                        self.assertEqual(look_up(cell, "INIT", values), look_up(before, "INIT", values))
                    else:
                        carried = rng.randrange(2)
                        self.assertEqual(carry(cell, values, carried), carry(before, values, carried))

    def test_others_are_left_alone(self):
        cells = {
            "ram": {"type": "DP16KD", "parameters": {}, "connections": {"ADA0": ["0"]}},
            "lut": {"type": "LUT4", "parameters": {"INIT": "1010"}, "connections": {p: [3] for p in "ABCD"}},
        }
        self.assertEqual(tie_unused.lift({"cells": cells}), 0)
        self.assertEqual(cells["ram"]["connections"], {"ADA0": ["0"]})


if __name__ == "__main__":
    unittest.main()
