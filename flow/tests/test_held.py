# SPDX-License-Identifier: Apache-2.0
"""Which rows are taken out of the library."""

import dataclasses
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ace_flow import configurations, rtl, tools
from ace_flow.build import library_cache
from ace_flow.prove import bitstream

TABLE = configurations.load()
DES = TABLE["des"]


class Recipe(unittest.TestCase):
    def test_comments_and_white_space_do_not_count(self) -> None:
        one = 'assign a = b; // why\n\t/* two\nlines */ initial $error("no // comment  here");\n'
        other = 'assign a = b;\ninitial $error("no // comment  here");'
        self.assertEqual(rtl.plain(one), rtl.plain(other))
        self.assertIn('"no // comment  here"', rtl.plain(one))
        for change in (
            'assign a = c;\ninitial $error("no // comment  here");',
            'assign a = b;\ninitial $error("no // comment here");',
        ):
            self.assertNotEqual(rtl.plain(one), rtl.plain(change))

    def test_what_decides_the_bits_counts(self) -> None:
        first = library_cache.recipe(DES)
        self.assertEqual(library_cache.recipe(dataclasses.replace(DES, summary="other", seeds=(7,))), first)
        for change in (
            {"parameters": {"Triple": 1, "RoundsPerClock": 1}},
            {"frequency_mhz": 1.0},
            {"synth": ("-nowidelut",)},
            {"passes": ("carry",)},
            {"sources": DES.sources[:-1]},
        ):
            with self.subTest(change):
                self.assertNotEqual(library_cache.recipe(dataclasses.replace(DES, **change)), first)

    def test_what_decides_the_cycles_counts(self) -> None:
        first = library_cache.measured(DES)
        self.assertNotEqual(library_cache.measured(dataclasses.replace(DES, in_flight=2)), first)
        self.assertNotEqual(library_cache.measured(dataclasses.replace(DES, can=())), first)


class Find(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(library_cache, "FOLDER", Path(folder.name))
        patch.start()
        self.addCleanup(patch.stop)

    def put(self, **change: object) -> None:
        places = library_cache.Places("des")
        places.manifest.parent.mkdir(exist_ok=True)
        places.bitstream.write_bytes(b"bits")
        seeds = [{"seed": seed, "fmax_mhz": 100.0} for seed in DES.seeds[:3]]
        places.manifest.write_text(json.dumps({"recipe": library_cache.recipe(DES), "seeds": seeds} | change))

    def test_a_row_as_it_was_built_is_held(self) -> None:
        self.assertEqual(library_cache.find([DES], 1), [])
        self.put()
        self.assertEqual(library_cache.find([DES, TABLE["3des"]], 1), ["des"])
        self.assertEqual(library_cache.find([DES], 3), ["des"])

    def test_another_recipe_or_fewer_or_other_seeds_are_not(self) -> None:
        self.put(recipe="0" * 64)
        self.assertEqual(library_cache.find([DES], 1), [])
        self.put()
        self.assertEqual(library_cache.find([DES], 4), [])
        self.put(seeds=[{"seed": 9, "fmax_mhz": 100.0}])
        self.assertEqual(library_cache.find([DES], 1), [])

    def test_other_sources_are_taken_for_renewal_but_nothing_else_that_decides_the_bits(self) -> None:
        self.put(recipe="0" * 64, after_netlist=library_cache.after(DES))
        self.assertEqual(library_cache.find([DES, TABLE["3des"]], 1, renewed=frozenset({"des"})), ["des"])
        self.assertEqual(library_cache.find([DES], 1, renewed=frozenset({"aes"})), [])
        self.put(recipe="0" * 64, after_netlist="0" * 64)
        self.assertEqual(library_cache.find([DES], 1, renewed=frozenset({"des"})), [])

    def test_contents_of_kept_luts_are_needed(self) -> None:
        row = TABLE["3des"]
        places = library_cache.Places(row.name)
        places.manifest.parent.mkdir()
        places.bitstream.write_bytes(b"bits")
        manifest = {"recipe": library_cache.recipe(row), "seeds": [{"seed": row.seeds[0], "fmax_mhz": 100.0}]}
        for more, found in (({}, []), ({"kept": {"u_lut": 0}}, [row.name])):
            places.manifest.write_text(json.dumps(manifest | more))
            self.assertEqual(library_cache.find([row], 1), found)

    def test_what_cannot_be_read_is_not_held(self) -> None:
        self.put()
        library_cache.Places("des").bitstream.unlink()
        self.assertEqual(library_cache.find([DES], 1), [])
        for text in ("", "[]", "{}", "{"):
            self.put()
            library_cache.Places("des").manifest.write_text(text)
            self.assertEqual(library_cache.find([DES], 1), [])

    def test_a_proof_counts_for_the_bits_that_it_names(self) -> None:
        self.put(memory_sha256="a" * 64, netlist_sha256="c" * 64)
        places = library_cache.Places("des")
        self.assertFalse(places.proven())
        control = {"result": "refuted", "points_refuted": 1, "memory_sha256": "b" * 64}
        good = {
            "format": bitstream.RECORD,
            "result": "proven",
            "control": control,
            "memory_sha256": "a" * 64,
            "netlist_sha256": "c" * 64,
        }
        for change, proven in (
            ({}, True),
            ({"memory_sha256": "b" * 64}, False),
            ({"netlist_sha256": "b" * 64}, False),
            ({"result": "refuted"}, False),
            ({"format": bitstream.RECORD - 1}, False),
            ({"format": None}, False),
            ({"control": None}, False),
            ({"control": control | {"result": "proven"}}, False),
            ({"control": control | {"points_refuted": 0}}, False),
            ({"control": control | {"points_refuted": "1"}}, False),
            ({"control": control | {"memory_sha256": "a" * 64}}, False),
            ({"control": control | {"memory_sha256": ""}}, False),
        ):
            places.proof.write_text(json.dumps(good | change))
            self.assertEqual(places.proven(), proven, change)
        # Nor does one that names no bits, beside a manifest that names none.
        places.proof.write_text(json.dumps({key: good[key] for key in ("format", "result", "control")}))
        self.put()
        self.assertFalse(places.proven())

    def test_what_a_library_holds_has_names(self) -> None:
        library = Path(library_cache.FOLDER) / "a.lib"
        library.write_bytes(b"bits")
        ace = Path(library_cache.FOLDER) / "ace"
        for names, good in (
            (["des", "3des-x8"], True),
            (["../../x"], False),
            (["/etc"], False),
            ([".x"], False),
        ):
            ace.write_text(f"#!/bin/sh\necho '{json.dumps({'configurations': names})}'\n")
            ace.chmod(0o755)
            out = Path(library_cache.FOLDER) / "out"
            with mock.patch.object(library_cache, "FOLDER", out):
                out.mkdir(exist_ok=True)
                if good:
                    library_cache.unpack(library, str(ace))
                    self.assertTrue((out / "taken-from.json").is_file())
                else:
                    with self.assertRaisesRegex(tools.ToolError, "is no name for a configuration"):
                        library_cache.unpack(library, str(ace))
                    self.assertFalse(out.exists())

    def test_no_library(self) -> None:
        with mock.patch.dict("os.environ", {library_cache.VARIABLE: ""}):
            self.assertIsNone(library_cache.library())
        with mock.patch.dict("os.environ", {library_cache.VARIABLE: "/nowhere/ace.lib"}):
            self.assertIsNone(library_cache.library())


if __name__ == "__main__":
    unittest.main()
