# SPDX-License-Identifier: Apache-2.0
"""What the flow reads out of netlists and reports."""

import json
import tempfile
import unittest
from pathlib import Path

from ace_flow import configurations, tools
from ace_flow.place import route
from ace_flow.synth import ecp5


def cell(kind: str, inputs: dict[str, list], outputs: dict[str, list]) -> dict:
    """A cell as Yosys writes it."""
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "port_directions": directions, "connections": inputs | outputs}


def netlist(cells: list[dict]) -> dict:
    """A module with the input a (bit 2) and the output y (bit 9)."""
    return {
        "modules": {
            "top": {
                "ports": {
                    "a": {"direction": "input", "bits": [2]},
                    "y": {"direction": "output", "bits": [9, "0"]},
                },
                "cells": {f"c{i}": c for i, c in enumerate(cells)},
            }
        }
    }


class Netlists(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "n.json"

    def write(self, content: dict) -> Path:
        self.file.write_text(json.dumps(content))
        return self.file

    def test_registered_boundary_passes(self) -> None:
        ff = cell("TRELLIS_FF", {"DI": [5], "CLK": [3]}, {"Q": [6]})
        lut = cell("LUT4", {"A": [2], "B": [6]}, {"Z": [5]})
        out = cell("LUT4", {"A": [6]}, {"Z": [9]})
        ecp5.check_boundary(self.write(netlist([ff, lut, out])), "top")

    def test_path_from_input_to_output_is_refused(self) -> None:
        lut = cell("LUT4", {"A": [2]}, {"Z": [5]})
        mux = cell("PFUMX", {"ALUT": [7], "BLUT": [5], "C0": [6]}, {"Z": [9]})
        with self.assertRaisesRegex(tools.ToolError, "output y depends on input a within a clock"):
            ecp5.check_boundary(self.write(netlist([lut, mux])), "top")

    def test_memory_is_passed_by_its_read_address_only(self) -> None:
        write = cell("TRELLIS_DPR16X4", {"DI": [2], "RAD": [6]}, {"DO": [9]})
        ecp5.check_boundary(self.write(netlist([write])), "top")
        read = cell("TRELLIS_DPR16X4", {"DI": [6], "RAD": [2]}, {"DO": [9]})
        with self.assertRaises(tools.ToolError):
            ecp5.check_boundary(self.write(netlist([read])), "top")

    def test_counts(self) -> None:
        cells = [cell("LUT4", {}, {})] * 3 + [cell("DP16KD", {}, {}), cell("PFUMX", {}, {})]
        counts = ecp5.count_netlist(self.write(netlist(cells)), "top")
        self.assertEqual(counts, {"lut4": 3, "ccu2c": 0, "ff": 0, "dpr16x4": 0, "ebr": 1, "mult18": 0})

    def test_shell_and_core_are_counted_on_their_own(self) -> None:
        parts = ecp5.parts_of(
            "10 modules:\n  x_slot\n  slot_shell$x_slot.u_front.u_shell\n  x_core$x_slot.u_core\n  a$x_slot.u_core.u_a\n",
            "x_slot",
        )
        self.assertEqual(set(parts.values()), {"slot_shell$x_slot.u_front.u_shell", "x_core$x_slot.u_core"})
        script = ecp5.parts_script(configurations.load()["des"], Path("OUT"), parts)
        self.assertEqual(script.count("synth_ecp5"), 2)


class Routes(unittest.TestCase):
    def test_median(self) -> None:
        def at(*fmax: float) -> int:
            return route.median([{"seed": i + 1, "fmax_mhz": f} for i, f in enumerate(fmax)])["seed"]

        self.assertEqual(at(80.0), 1)
        self.assertEqual(at(80.0, 90.0, 85.0), 3)
        self.assertEqual(at(90.0, 80.0), 2)
        self.assertEqual(at(70.0, 70.0, 70.0), 2)

    def test_summary_takes_the_slot_clock(self) -> None:
        clock = "$glbnet$clk_i$TRELLIS_IO_IN"
        segment = {"from": {"cell": "a"}, "to": {"cell": "b"}}
        report = {
            "fmax": {clock: {"achieved": 100.126, "constraint": 85}},
            "critical_paths": [
                {"from": "<async>", "to": f"posedge {clock}", "path": []},
                {
                    "from": f"posedge {clock}",
                    "to": f"posedge {clock}",
                    "path": [
                        segment | {"delay": 0.5, "type": "clk-to-q"},
                        segment | {"delay": 1.25, "type": "routing"},
                        segment | {"delay": 0.2, "type": "logic", "to": {"cell": "c"}},
                    ],
                },
            ],
        }
        self.assertEqual(
            route.summary(report, 7),
            {
                "seed": 7,
                "fmax_mhz": 100.13,
                "critical_path": {"from": "a", "to": "c", "logic_ns": 0.7, "routing_ns": 1.25},
            },
        )

    def test_summary_wants_one_clock(self) -> None:
        with self.assertRaisesRegex(tools.ToolError, "one clk_i wanted"):
            route.summary({"fmax": {}, "critical_paths": []}, 1)


if __name__ == "__main__":
    unittest.main()
