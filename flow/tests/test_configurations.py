# SPDX-License-Identifier: Apache-2.0
"""What is built: the rows of all algorithms, and every mistake with its place."""

import re
import tempfile
import textwrap
import unittest
from pathlib import Path

from ace_flow import configurations, tools

# A gate that is there and lets pass keys of all lengths.
ALL_KEYS = 1 << 28 | 63 << 22

GOOD = """
[sources]
common = ["rtl/prim/*.sv"]

[[configuration]]
name = "one"
summary = "a cipher"
top = "one_slot"
sources = ["@common", "rtl/one/*.sv"]
parameters = { Rounds = 2 }
frequency_mhz = 80

[[configuration.can]]
algorithm = "des"
code = 2
kind = "cipher"
block_bytes = 8
key_bytes = [8]

[[configuration]]
name = "two"
summary = "a hash"
top = "two_slot"
sources = ["@common"]
frequency_mhz = 80.5
sets = ["demo", "library"]

[[configuration.can]]
algorithm = "md5"
code = 0x41
kind = "hash"
block_bytes = 64
digest_bytes = 16
operations = ["hash"]
"""


class Table(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        files = {
            "rtl/prim/a_pkg.sv": "package a_pkg;",
            "rtl/prim/b.sv": "module b import a_pkg::*; // unused",
            "rtl/prim/unused.sv": "module unused;",
            "rtl/prim/two_slot.sv": 'module two_slot; initial $error("// b");',
            "rtl/one/one_pkg.sv": "package one_pkg;",
            "rtl/one/one_slot.sv": "module one_slot import one_pkg::*; b /* two_slot */ u_b ();",
        }
        for name, text in files.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def load(self, text: str) -> dict[str, configurations.Configuration]:
        file = self.root / "t.toml"
        file.write_text(textwrap.dedent(text))
        return configurations.load(file, self.root)

    def refuse(self, old: str, new: str, *parts: str) -> None:
        self.assertIn(old, GOOD)
        with self.assertRaises(configurations.ConfigurationError) as caught:
            self.load(GOOD.replace(old, new, 1))
        for part in ("t.toml", *parts):
            self.assertIn(part, str(caught.exception))

    def test_good(self) -> None:
        table = self.load(GOOD)
        self.assertEqual(list(table), ["one", "two"])
        one, two = table.values()
        packages_first = ("rtl/prim/a_pkg.sv", "rtl/one/one_pkg.sv", "rtl/prim/b.sv", "rtl/one/one_slot.sv")
        self.assertEqual(one.sources, packages_first)
        self.assertEqual(two.sources, ("rtl/prim/two_slot.sv",), "comments and strings name nothing")
        self.assertEqual((one.sets, two.sets), (("library",), ("demo", "library")))
        self.assertEqual(one.can[0].modes, ("ecb", "cbc", "ctr"))
        self.assertEqual(two.can[0].operations, ("hash",))
        self.assertEqual(two.can[0].as_json()["digest_bytes"], 16)

    def test_mistakes_name_line_and_row(self) -> None:
        one, two = ":5: configuration 'one'", ":20: configuration 'two'"
        self.refuse('top = "one_slot"\n', "", one, "`top` is missing")
        self.refuse('top = "one_slot"', 'top = "1"', one, "not an identifier")
        self.refuse(
            'name = "two"', 'name = "one"', ":20: configuration 'one'", "there is a row of this name already"
        )
        self.refuse('name = "two"', 'name = "Two/3"', "small letters, digits and hyphens")
        self.refuse("frequency_mhz = 80.5", 'frequency_mhz = "80"', two, "is str, int or float wanted")
        self.refuse("frequency_mhz = 80.5", "frequency_mhz = 0", two, "1 to 500 are allowed")
        self.refuse("frequency_mhz = 80.5", "frequency = 80", two, "`frequency_mhz` is missing")
        self.refuse(
            "frequency_mhz = 80.5", "frequency_mhz = 80\nseed = 1", two, "unknown key `seed`", "seeds"
        )
        self.refuse("frequency_mhz = 80.5", "frequency_mhz = 80\nseeds = [1, 1]", two, "twice")
        self.refuse('"demo", "library"', '"demos"', two, "allowed: demo, library")
        self.refuse('"@common", "rtl/one', '"@comon", "rtl/one', one, "unknown group @comon; known: common")
        self.refuse("rtl/one/*.sv", "rtl/ones/*.sv", one, "nothing matches rtl/ones/*.sv")
        self.refuse('top = "two_slot"', 'top = "three_slot"', two, "no file of `sources` is three_slot.sv")
        self.refuse("{ Rounds = 2 }", "{ Rounds = true }", one, "`parameters`: Rounds")
        self.refuse("key_bytes = [8]", "key_bytes = [80]", one, "can 1", "from 5 to 56")
        self.refuse(
            "key_bytes = [8]", 'key_bytes = [8]\nmodes = ["pcbc"]', "allowed: ecb, cbc, ctr, cfb, cfb8, ofb"
        )
        self.refuse("key_bytes = [8]", "key_bytes = [8]\ndirections = []", "allowed: encrypt, decrypt")
        self.refuse('kind = "hash"', 'kind = "mac"', two, "can 1", "allowed: cipher, hash")
        self.refuse("code = 0x41", "code = 300", two, "1 to 255 are allowed")
        self.refuse('operations = ["hash"]', 'operations = ["hash", "hmac"]', "hmac-states")
        self.refuse("[sources]", "[source]", "unknown table `source`")

    def test_syntax_names_the_line(self) -> None:
        self.refuse('top = "one_slot"', "top = one_slot", "line 8")

    def test_empty(self) -> None:
        with self.assertRaisesRegex(configurations.ConfigurationError, "no \\[\\[configuration\\]\\]"):
            self.load("")

    BASE = GOOD.replace(
        "frequency_mhz = 80\n", 'frequency_mhz = 80\nkept = { x = 20, y = 12, slices = "AB" }\n'
    )
    VARIANT = textwrap.dedent("""
        [[variant]]
        name = "one-b"
        of = "one"
        summary = "the cipher with other contents"
        parameters = { Set = 3 }
        can = ["b"]

        [capability.b]
        algorithm = "b"
        code = 3
        kind = "cipher"
        block_bytes = 8
        key_bytes = [8]
        """)

    def test_variants(self) -> None:
        table = self.load(self.BASE + self.VARIANT)
        one, b = table["one"], table["one-b"]
        self.assertEqual((one.of, b.of, b.lut_places), ("", "one", one.lut_places))
        self.assertEqual(b.parameters, {"Rounds": 2, "Set": 3})
        self.assertEqual((b.top, b.sources, b.seeds, b.sets), (one.top, one.sources, one.seeds, one.sets))
        self.assertEqual([c.algorithm for c in b.can], ["b"])

    def gated(self, opened: str) -> configurations.Configuration:
        base = self.BASE.replace("key_bytes = [8]", "key_bytes = [8, 16, 24]")
        variant = self.VARIANT.replace("parameters = { Set = 3 }", f"open = {{ {opened} }}")
        return self.load(base + variant.replace('can = ["b"]\n', ""))["one-b"]

    def test_what_a_gate_lets_pass(self) -> None:
        b = self.gated('directions = ["decrypt"], modes = ["cbc"], key_bytes = [16, 24]')
        self.assertEqual(b.parameters, {"Rounds": 2, "Gate": 1 << 28 | 24 << 22 | 16 << 16 | 0b01010})
        (can,) = b.can
        self.assertEqual((can.algorithm, can.key_bytes), ("des", (16, 24)))
        self.assertEqual((can.directions, can.modes), (("decrypt",), ("cbc",)))
        # CTR has no direction.
        ctr = self.gated('modes = ["ctr"]')
        self.assertEqual(ctr.parameters, {"Rounds": 2, "Gate": ALL_KEYS | 0b10000})
        self.assertEqual((ctr.can[0].directions, ctr.can[0].modes), (("encrypt", "decrypt"), ("ctr",)))

    def test_feedback_modes(self) -> None:
        modes = 'modes = ["cbc", "ctr", "cfb", "cfb8", "ofb"]'
        base = self.BASE.replace("key_bytes = [8]", f"key_bytes = [8]\n{modes}")
        self.assertEqual(self.load(base)["one"].can[0].modes, ("cbc", "ctr", "cfb", "cfb8", "ofb"))

        def gated(opened: str) -> configurations.Configuration:
            variant = self.VARIANT.replace("parameters = { Set = 3 }", f"open = {{ {opened} }}")
            return self.load(base + variant.replace('can = ["b"]\n', ""))["one-b"]

        cfb = gated('modes = ["cfb"], directions = ["decrypt"]')
        self.assertEqual(cfb.parameters["Gate"], ALL_KEYS | 1 << 8 | 0b10)
        self.assertEqual((cfb.can[0].directions, cfb.can[0].modes), (("decrypt",), ("cfb",)))
        self.assertEqual(
            gated('modes = ["cfb8", "ofb"]').parameters["Gate"], ALL_KEYS | 1 << 9 | 1 << 10 | 0b11
        )
        streams = gated('modes = ["ctr", "ofb"], directions = ["encrypt"]')
        self.assertEqual(streams.parameters["Gate"], ALL_KEYS | 1 << 10 | 1 << 4)
        self.assertEqual(streams.can[0].directions, ("encrypt", "decrypt"))
        for opened, message in (
            ('modes = ["cfb", "ofb"], directions = ["encrypt"]', "that of OFB is not asked for"),
            ('modes = ["ecb"]', "nothing of what one can do is open"),
        ):
            with self.subTest(opened), self.assertRaisesRegex(configurations.ConfigurationError, message):
                gated(opened)
        ring = base.replace(
            "frequency_mhz = 80\n", 'frequency_mhz = 80\nshape = "interleaved"\nin_flight = 8\n'
        )
        with self.assertRaisesRegex(configurations.ConfigurationError, "are for iterative slots"):
            self.load(ring)

    def test_mistakes_in_what_a_gate_lets_pass(self) -> None:
        for opened, message in (
            ('directions = ["encrypt"]', "that of CTR is not asked for"),
            ("key_bytes = [8, 24]", "neighbours among \\[8, 16, 24\\] are wanted"),
            ("key_bytes = [32]", "neighbours among"),
            ('modes = ["pcbc"]', "allowed: ecb, cbc, ctr, cfb, cfb8, ofb"),
            ('mode = ["cbc"]', "open: unknown key `mode`"),
        ):
            with self.subTest(opened), self.assertRaisesRegex(configurations.ConfigurationError, message):
                self.gated(opened)

    def test_mistakes_in_variants(self) -> None:
        def refuse(old: str, new: str, *parts: str) -> None:
            text = self.BASE + self.VARIANT
            self.assertIn(old, text)
            with self.assertRaises(configurations.ConfigurationError) as caught:
                self.load(text.replace(old, new, 1))
            for part in parts:
                self.assertIn(part, str(caught.exception))

        where = "t.toml:37: variant 'one-b'"
        refuse('of = "one"', 'of = "two"', where, "with `kept` are one")
        refuse('of = "one"', 'of = "one-b"', where)
        refuse("{ Set = 3 }", "{ Rounds = 2 }", where, "are those of one")
        refuse('can = ["b"]', "", where, "`can` is missing")
        refuse('can = ["b"]', 'can = ["b"]\ntop = "x"', where, "unknown key `top`")
        refuse('name = "one-b"', 'name = "one"', "there is a row of this name already")
        refuse('slices = "AB"', 'slices = "AE"', "configuration 'one', kept", "some of ABCD")
        refuse("x = 20", "x = 200", "1 to 127 are allowed")


class Rooms(unittest.TestCase):
    """A folder of algorithms."""

    ONE = """
        title = "One"
        code = 0x3e
        kind = "cipher"
        block_bytes = 8
        key_bytes = [8, 16]
        source = "nobody"
        about = "An example."

        [can.one-short]
        key_bytes = [8]
        modes = ["cbc"]

        [[configuration]]
        name = "one"
        summary = "all of it"
        top = "one_slot"
        sources = ["*.sv"]
        frequency_mhz = 80
        can = ["one", "two"]

        [[configuration]]
        name = "one-small"
        summary = "a part"
        top = "one_slot"
        sources = ["*.sv"]
        frequency_mhz = 80
        can = ["one-short"]
        """
    TWO = """
        title = "Two"
        code = 0x3e
        kind = "cipher"
        block_bytes = 8
        key_bytes = [24]
        source = "nobody"
        about = "An example."
        """

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "one_slot.sv").write_text("module one_slot; endmodule")

    def load(self, **rooms: str) -> dict[str, configurations.Configuration]:
        for name, text in rooms.items():
            room = self.root / "algorithms" / name
            room.mkdir(parents=True, exist_ok=True)
            (room / "algorithm.toml").write_text(textwrap.dedent(text))
        return configurations.load(self.root / "algorithms", self.root)

    def test_rows_can_what_algorithms_are(self) -> None:
        table = self.load(two=self.TWO, one=self.ONE)
        self.assertEqual(list(table), ["one", "one-small"])
        one, two = table["one"].can
        self.assertEqual(
            (one.algorithm, one.code, one.key_bytes, one.modes), ("one", 0x3E, (8, 16), ("ecb", "cbc", "ctr"))
        )
        self.assertEqual((two.algorithm, two.key_bytes), ("two", (24,)))
        (short,) = table["one-small"].can
        self.assertEqual((short.algorithm, short.key_bytes, short.modes), ("one", (8,), ("cbc",)))

    def test_mistakes_name_the_file(self) -> None:
        for old, new, complaint in (
            ('kind = "cipher"', 'kind = "mac"', "allowed: cipher, hash, aead"),
            ("code = 0x3e", "code = 300", "1 to 255 are allowed"),
            ("title", "titel", "`title` is missing"),
            ('about = "An example."', 'abut = "An example."', "unknown key `abut`"),
            (
                'modes = ["cbc"]',
                'mode = ["cbc"]',
                "algorithm.toml:10: algorithm 'one', can 'one-short': unknown key `mode`",
            ),
            (
                '"one", "two"',
                '"one", "three"',
                "configuration 'one': `can` names the unknown 'three'; known: one, ",
            ),
            ("[can.one-short]", "[can.two]", "`can` 'two' is that of "),
        ):
            with self.subTest(new), self.assertRaises(configurations.ConfigurationError) as caught:
                self.load(two=self.TWO, one=self.ONE.replace(old, new))
            self.assertIn("algorithm.toml", str(caught.exception))
            self.assertIn(complaint, str(caught.exception))


class RealTable(unittest.TestCase):
    def test_demo_needs(self) -> None:
        table = configurations.load()
        demo = {name for name, row in table.items() if "demo" in row.sets}
        self.assertEqual(demo, {"aes", "3des", "md5", "sha1"})
        for row in table.values():
            self.assertTrue({"library", "study"} & set(row.sets), row.name)
            self.assertGreaterEqual(len(row.seeds), 3)

    def test_codes_are_those_of_the_frame_format(self) -> None:
        package = (tools.ROOT / "rtl" / "slot" / "slot_pkg.sv").read_text().lower()
        table = configurations.load()
        for row in table.values():
            for can in row.can:
                name = "des" if can.algorithm == "3des" else can.algorithm
                # Those of the papers have a name there; others are passed as numbers by their tops.
                if re.search(rf"alg{name} *=", package):
                    self.assertRegex(package, rf"alg{name} *= *8'h{can.code:02x}\b", row.name)
                else:
                    top = next(s for s in row.sources if s.endswith(f"/{row.top}.sv"))
                    source = (tools.ROOT / top).read_text().lower()
                    if row.of and f"algorithm(8'h{can.code:02x})" not in source:
                        continue  # its code is in kept LUTs; the slot itself is asked elsewhere
                    self.assertRegex(source, rf"algorithm *\(8'h{can.code:02x}\)", row.name)


if __name__ == "__main__":
    unittest.main()
