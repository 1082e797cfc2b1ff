# SPDX-License-Identifier: Apache-2.0
"""Kept LUTs: what variants of a netlist differ in."""

import copy
import json
import unittest

from ace_flow import configurations
from ace_flow.layout import Places
from ace_flow.synth import lut_init
from ace_flow.synth.lut_init import KeptError
from ace_flow.synth.lut_init import Places as KeptPlaces


def box(init: str, inputs: list, output: int) -> dict:
    return {
        "type": "init_lut",
        "parameters": {"Init": init},
        "attributes": {"keep": "1", "src": "somewhere"},
        "port_directions": {"in_i": "input", "out_o": "output"},
        "connections": {"in_i": inputs, "out_o": [output]},
    }


def module() -> dict:
    cells = {f"bit[{n}]": box("0" * 16, ["0"] * 4, 100 + n) for n in range(10)}
    cells["sbox"] = box("0110100110010110", [2, 3, 4, 5], 200)
    cells["other"] = {
        "type": "LUT4",
        "parameters": {"INIT": "1" * 16},
        "attributes": {},
        "port_directions": {},
        "connections": {},
    }
    return {"cells": cells, "ports": {}, "netnames": {}}


class KeptTest(unittest.TestCase):
    def test_places(self):
        design = module()
        init = lut_init.place(design, KeptPlaces(20, 12, "AC"))
        self.assertEqual(len(init), 11)
        bels = {n: c["attributes"].get("BEL") for n, c in design["cells"].items()}
        # Two a slice, two slices a tile, then the next row; numbers in names count as numbers.
        self.assertEqual(bels["bit[0]"], "X20/Y12/SLICEA.K0")
        self.assertEqual(bels["bit[3]"], "X20/Y12/SLICEC.K1")
        self.assertEqual(bels["bit[4]"], "X20/Y13/SLICEA.K0")
        self.assertEqual(bels["sbox"], "X20/Y14/SLICEC.K0")
        self.assertIsNone(bels["other"])
        self.assertEqual(design["cells"]["bit[0]"]["connections"], {"Z": [100]})
        self.assertEqual(design["cells"]["sbox"]["connections"]["D"], [5])
        lut_init.release(design)
        self.assertNotIn("BEL", design["cells"]["sbox"]["attributes"])

    def test_constant_inputs_have_constant_contents(self):
        design = module()
        design["cells"]["sbox"]["connections"]["in_i"][2] = "1"
        with self.assertRaisesRegex(KeptError, "sbox: an input is constant"):
            lut_init.place(design, KeptPlaces(20, 12, "A"))
        with self.assertRaisesRegex(KeptError, "no init_lut"):
            lut_init.place({"cells": {}}, KeptPlaces(20, 12, "A"))

    def test_variants_differ_in_contents_alone(self):
        base = module()
        init = lut_init.place(base, KeptPlaces(20, 12, "A"))
        variant = copy.deepcopy(base)
        lut_init.fill(variant, init | {"bit[7]": "1" * 16})
        self.assertEqual(lut_init.held(variant)["bit[7]"], "1" * 16)
        self.assertEqual(lut_init.differences(base, variant), [])
        variant["cells"]["other"]["parameters"]["INIT"] = "0" * 16
        self.assertEqual(lut_init.differences(base, variant), ["cells other"])
        for wrong in ({"sbox": "0" * 16}, init | {"nobody": "0" * 16}):
            with self.assertRaisesRegex(KeptError, "not those of the base"):
                lut_init.fill(copy.deepcopy(base), wrong)

    def test_bits(self):
        base = (
            ".tile R12C20:PLC2\narc: A0 B0\nword: SLICEA.K0.INIT 0000\nword: SLICEA.K1.INIT 1111\n\n"
            ".tile R13C20:PLC2\nword: SLICEA.K0.INIT 0011\n\n.bram_init 1\n000 001\n"
        )
        # What was read again lacks an arc, and has its words in another order.
        other = (
            ".tile R13C20:PLC2\nword: SLICEA.K0.INIT 0011\n\n"
            ".tile R12C20:PLC2\nword: SLICEA.K1.INIT 1111\nword: SLICEA.K0.INIT 0110\n"
        )
        places = ["X20/Y12/SLICEA.K0", "X20/Y12/SLICEA.K1"]
        filled = lut_init.fill_config(base, other, places)
        self.assertEqual(filled, base.replace("K0.INIT 0000", "K0.INIT 0110"))
        with self.assertRaisesRegex(KeptError, "other LUTs"):
            lut_init.fill_config(base, other.replace("0011", "1011"), places)
        with self.assertRaisesRegex(KeptError, "R14C20"):
            lut_init.fill_config(base, other, [*places, "X20/Y14/SLICEA.K0"])

    def test_what_is_built(self):
        """Netlists and placed designs of built variants are those of their bases but for the contents."""
        table = configurations.load()
        for row in table.values():
            mine, base = Places(row.name), Places(row.of)
            if not row.of or not mine.manifest.exists() or not base.manifest.exists():
                continue
            with self.subTest(row.name):
                manifests = [json.loads(p.manifest.read_text()) for p in (mine, base)]
                if all("netlist_json" in manifest["files"] for manifest in manifests):
                    netlists = [
                        json.loads(p.netlist_json.read_text())["modules"][row.top] for p in (mine, base)
                    ]
                    self.assertEqual(lut_init.differences(*netlists), [])
                self.assertNotEqual(*(manifest["kept"] for manifest in manifests))
                self.assertEqual(*(manifest["kept"].keys() for manifest in manifests))
                # One model serves both.
                self.assertEqual(*(manifest["files"]["model"]["sha256"] for manifest in manifests))
                # The bits: what `ace inspect` says of the memory differs, what nextpnr says of the clock does not.
                memories = [json.loads(p.memory.read_text()) for p in (mine, base)]
                self.assertNotEqual(*memories)
                self.assertEqual(manifests[0]["fmax_mhz"], manifests[1]["fmax_mhz"])
                self.assertEqual(manifests[0]["variant_of"], row.of)


if __name__ == "__main__":
    unittest.main()
