# SPDX-License-Identifier: Apache-2.0
"""The manifests that were built: complete, true to the files they name, and measured."""

import itertools
import json
import os
import unittest

from ace_flow import configurations, tools
from ace_flow.build import manifest
from ace_flow.layout import Places
from ace_flow.place import route
from ace_flow.sim.model import Model
from ace_flow.synth import lut_init

TABLE = configurations.load()
BUILT = {name: row for name, row in TABLE.items() if Places(name).manifest.exists()}
AREA = {"lut4", "ccu2c", "ff", "dpr16x4", "ebr", "mult18"}
KEYS = {
    *("schema", "name", "summary", "top", "parameters", "sets", "can", "device", "package", "speed", "area"),
    *(
        "area_shell",
        "area_modes",
        "area_core",
        "shape",
        "in_flight",
        "fmax_mhz",
        "seeds",
        "critical_path",
        "cycles",
        "throughput_mbps",
        "tools",
        "recipe",
        "after_netlist",
        "measured",
        "inputs",
    ),
    *("files", "memory_sha256", "netlist_sha256", "kept", "model_seconds", "timing", "pins"),
    *("elaborated_sha256", "generated_sha256"),
}


class Manifests(unittest.TestCase):
    def setUp(self) -> None:
        if not BUILT:
            self.skipTest("nothing is built")

    def built(self) -> list[tuple]:
        return [
            (row, Places(name), json.loads(Places(name).manifest.read_text())) for name, row in BUILT.items()
        ]

    def test_all_are_built(self) -> None:
        if "ACE_REQUIRE_BUILD" in os.environ:
            library = {name for name, row in TABLE.items() if "library" in row.sets}
            self.assertLessEqual(library, set(BUILT))

    def test_the_proof_is_of_the_design_that_answers(self) -> None:
        for row, places, m in self.built():
            with self.subTest(m["name"]):
                model = json.loads(Places(row.of or row.name).model_about.read_text())
                way = json.loads(places.proof.read_text())["tied_to_rtl_by"]
                found = {m["elaborated_sha256"], model["elaborated_sha256"], way["elaborated_sha256"]}
                self.assertEqual(len(found), 1, found)
                self.assertEqual(m["generated_sha256"], model["generated_sha256"])

    def test_complete(self) -> None:
        for row, _, m in self.built():
            with self.subTest(m["name"]):
                self.assertEqual(set(m) - {"variant_of", "unpinned_fmax_mhz"}, KEYS)
                self.assertEqual((m["schema"], m["name"], m["top"]), (manifest.SCHEMA, row.name, row.top))
                self.assertEqual(m["can"], [c.as_json() for c in row.can])
                for area in manifest.AREAS:
                    self.assertEqual(set(m[area]), AREA)
                self.assertGreater(m["area"]["lut4"], 100)
                self.assertGreater(m["area"]["ff"], m["area_core"]["ff"])
                self.assertGreater(min(m["area_core"]["lut4"], m["area_shell"]["lut4"]), 100)
                self.assertIn(m["fmax_mhz"], [s["fmax_mhz"] for s in m["seeds"]])
                path = m["critical_path"]
                self.assertAlmostEqual(path["logic_ns"] + path["routing_ns"], 1000 / m["fmax_mhz"], delta=0.2)
                self.assertRegex(m["memory_sha256"], r"\A[0-9a-f]{64}\Z")
                self.assertTrue(all(m["tools"].values()))

    def test_digests(self) -> None:
        for row, places, m in self.built():
            with self.subTest(m["name"]):
                wanted = {"bitstream", "model"}
                if len(m["files"]) > 2:  # its netlist is among those that were made
                    wanted |= {"netlist_model", "netlist_json"}
                    wanted |= set() if row.of else {"netlist_verilog"}
                    self.assertEqual(m["netlist_sha256"], m["files"]["netlist_json"]["sha256"])
                    module = json.loads(places.netlist_json.read_text())["modules"][row.top]
                    self.assertEqual(m["kept"], lut_init.numbers(module) if row.lut_places else {})
                elif os.environ.get("ACE_TESTS") == "all":
                    self.fail("its netlist was not made")
                self.assertEqual(set(m["files"]), wanted)
                self.assertEqual(bool(m["kept"]), row.lut_places is not None)
                for file in m["files"].values():
                    path = places.folder / file["path"]
                    self.assertEqual(
                        (path.stat().st_size, tools.sha256(path)), (file["bytes"], file["sha256"])
                    )
                files = [tools.ROOT / source for source in row.sources] + [route.PINS]
                self.assertEqual(m["inputs"], {file.name: tools.sha256(file) for file in files})

    def test_memories_differ(self) -> None:
        digests = [m["memory_sha256"] for _, _, m in self.built()]
        self.assertEqual(len(set(digests)), len(digests))

    def test_cycles_are_measured_for_everything(self) -> None:
        for row, _, m in self.built():
            with self.subTest(m["name"]):
                blocks, keys = set(), set()
                for can in row.can:
                    if can.kind == "cipher":
                        blocks |= set(
                            itertools.product([can.algorithm], can.key_bytes, can.modes, can.directions)
                        )
                        keys |= set(itertools.product([can.algorithm], can.key_bytes, can.directions))
                    else:
                        blocks |= {(can.algorithm, operation) for operation in can.operations}
                        keys |= {(can.algorithm, o) for o in can.operations if o != "hash"}
                fields = ("algorithm", "key_bytes", "mode", "direction", "operation")

                def named(rows: list[dict], fields=fields) -> set:
                    return {tuple(r[f] for f in fields if f in r) for r in rows}

                self.assertEqual(named(m["cycles"]["per_block"]), blocks)
                self.assertEqual(named(m["cycles"]["key_setup"]), keys)
                for r in m["cycles"]["key_setup"]:
                    if row.in_flight == 1 and "key_bytes" in r:
                        self.assertLess(0, r["first_round"])
                        self.assertLessEqual(r["first_round"], r["first_block"])
                        self.assertLessEqual(r["first_block"], r["cycles"])
                self.assertEqual(named(m["throughput_mbps"]), blocks)
                for r in m["cycles"]["per_block"] + m["throughput_mbps"]:
                    self.assertGreater(r.get("cycles", r.get("mbps")), 0)
                self.assertGreater(m["cycles"]["frame_overhead"], 0)

    def test_models_load_and_are_independent(self) -> None:
        for _, places, m in self.built():
            files = m["files"]
            one, other = (
                Model(places.folder / files[kind]["path"], m["kept"])
                for kind in ("model", "netlist_model" if "netlist_model" in files else "model")
            )
            with self.subTest(m["name"]), one, other:
                self.assertEqual((one.clocks, other.clocks), (0, 0))
                # Half a header, cut short: every slot answers, and only the slot that was asked moves on.
                (answer,) = one.run([bytes(8)])
                self.assertEqual(len(answer.response), 8)
                self.assertNotEqual(answer.response[6], 0)
                self.assertGreater(one.clocks, 0)
                self.assertEqual(other.clocks, 0)
                self.assertEqual(other.run([bytes(8)]), [answer])


if __name__ == "__main__":
    unittest.main()
