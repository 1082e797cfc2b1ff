# SPDX-License-Identifier: Apache-2.0
"""Images: what follows from a board's file, a small image from its bits to its RTL, and settings that are not as they have to be.

ACE_TESTS=all turns every setting of the PLL and of the pads' registers, each digit and each value; else a part of them."""

import json
import os
import random
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from ace_flow import tools
from ace_flow.image import board, crossings, make, prove, route, slots, source
from ace_flow.layout import BUILD
from ace_flow.open_designs import read
from ace_flow.place.route import pack

BOARDS = tools.FLOW / "tests" / "image"
SEED = 1
# So many of the settings that there are, but with ACE_TESTS=all.
PART = 24


class BoardFile(unittest.TestCase):
    """boards/colorlight-i9."""

    def setUp(self) -> None:
        self.board = board.load("colorlight-i9")

    def test_dividers_follow_from_the_clocks(self) -> None:
        for mhz, dividers in ((100, (5, 4, 5)), (104.17, (5, 5, 6)), (107.14, (5, 6, 7)), (93.75, (5, 6, 8))):
            at = self.board.at(mhz)
            self.assertEqual((*at.dividers().values(),), dividers)
            exact = at.exact_mhz()
            self.assertEqual(exact["tx"], 125)
            self.assertAlmostEqual(exact["slot"], mhz, delta=board.NEAR)
        with self.assertRaisesRegex(board.BoardError, r"slot cannot have 101 MHz .*100, 104.17"):
            self.board.at(101).dividers()

    def test_constraints_name_every_pin_once(self) -> None:
        text = self.board.constraints()
        balls = re.findall(r'LOCATE COMP "(.+)" SITE "(.+)";', text)
        self.assertEqual(dict(balls), self.board.balls())
        self.assertEqual(len({ball for _, ball in balls}), 18)
        self.assertIn('IOBUF PORT "tx_data_o[2]" IO_TYPE=LVCMOS33 SLEWRATE=FAST;', text)
        self.assertIn('IOBUF PORT "mdio_io" IO_TYPE=LVCMOS33 PULLMODE=UP;', text)
        self.assertIn('FREQUENCY PORT "rx_clk_i" 125 MHZ;', text)

    def test_what_is_wrong_is_named_with_its_line(self) -> None:
        good = (board.FOLDER / "colorlight-i9" / "board.toml").read_text()
        for find, replace, message in (
            (
                'balls = ["N5"]',
                'balls = ["P4"]',
                r"board.toml:\d+: pins.mdc_o.balls: P4 is phy_rst_no's already",
            ),
            ("speed = 6", 'speed = "6"', r"board.toml:\d+: speed: is '6'; a int is wanted"),
            ("speed = 6", "speed = 6\nfast = 1", r"board.toml:\d+: fast: is not known"),
            ('pll = "CLKOS"', 'pll = "CLKOS3"', r"clocks.slot: is of CLKOS3"),
            ("bank_volts = 3.3", "", r"io.bank_volts: is missing"),
        ):
            with self.subTest(replace), tempfile.TemporaryDirectory() as folder:
                self.assertIn(find, good)
                (Path(folder) / "other").mkdir()
                (Path(folder) / "other" / "board.toml").write_text(good.replace(find, replace, 1))
                with self.assertRaisesRegex(board.BoardError, message):
                    board.load("other", Path(folder))
        with self.assertRaisesRegex(board.BoardError, "no board 'none'.*colorlight-i9"):
            board.load("none")
        with self.assertRaisesRegex(board.BoardError, "no variant 'none': echo, bare, late"):
            small("none")

    def test_slots(self) -> None:
        text = slots.text(slots.parse("aes array sha1", 2))
        for part in (
            "aes_slot #(.SBox(0), .Gate(0)) u_slot0 (",
            "array_slot #(.Tiles(2)) u_slot1 (",
            "Slots = 3",
        ):
            self.assertIn(part, text)
        self.assertEqual(slots.label(slots.parse("aes array sha1", 2)), "aes-array-tiles2-sha1")
        for names, tiles, message in (
            ("", None, "there are 0 slots; 1 to 8"),
            ("echo " * 9, None, "there are 9 slots"),
            ("none", None, "no slots 'none': array, echo, aes,"),
            ("aes-128-cbc-encrypt", None, "a variant.*take aes"),
            ("echo", 2, "slots echo have no tiles"),
        ):
            with self.subTest(names), self.assertRaisesRegex(slots.SlotsError, message):
                slots.parse(names, tiles)

    def test_boards_that_are_like_another_one(self) -> None:
        one, like = board.load("colorlight-i9"), board.load("colorlight-i5")
        self.assertEqual((like.pins[1:-2], like.clocks), (one.pins[1:-2], one.clocks))
        self.assertNotEqual(like.balls()["led_no"], one.balls()["led_no"])
        self.assertEqual(like.parameters()["RxBits"], 10)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "other").mkdir()
            (Path(folder) / "other" / "board.toml").write_text('like = "other"\n')
            with self.assertRaisesRegex(board.BoardError, "like: 'other' is no board with a file of its own"):
                board.load("other", Path(folder))


def small(slots: str) -> source.Image:
    return source.of(board.load("small", BOARDS), slots)


class SmallImage(unittest.TestCase):
    """flow/tests/image/small: the cells of an image, and little between them."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.image = small("echo")
        cls.made = make.make(cls.image, [SEED], say=False)
        cls.config = cls.image.at(f"route-{SEED}.config").read_text()
        cls.folder = Path(
            cls.enterClassContext(tempfile.TemporaryDirectory(dir=BUILD, prefix=".test-image-"))
        )

    def bits(self, config: str) -> Path:
        """The bitstream of a routed design that is changed."""
        (self.folder / "changed.config").write_text(config)
        pack(self.folder / "changed.config", self.folder / "changed.bit", self.folder / "pack.log")
        return self.folder / "changed.bit"

    def refused(self, config: str) -> str:
        """Why bits are not proven; nothing if they are."""
        try:
            prove.bits_are_netlist(self.image, self.bits(config), self.folder)
        except tools.ToolError as error:
            return str(error)
        return ""

    def tile(self, setting: str) -> re.Match:
        """The first tile with this setting, as nextpnr wrote it."""
        for found in re.finditer(r"^\.tile .*\n(?:(?!\.tile ).*\n)*", self.config, re.MULTILINE):
            if re.search(setting, found[0], re.MULTILINE):
                return found
        raise AssertionError(f"no tile has {setting}")

    def changed(self, setting: str, find: str, replace: str) -> str:
        """The design with a line of the tile with this setting changed."""
        tile = self.tile(setting)
        text, count = re.subn(find, replace, tile[0], count=1, flags=re.MULTILINE)
        self.assertEqual(count, 1, (setting, find))
        return self.config[: tile.start()] + text + self.config[tile.end() :]

    def test_it_is_proven(self) -> None:
        proof = self.made["proof"]
        self.assertEqual(proof["result"], "proven")
        self.assertGreater(proof["bits"]["control"]["points_refuted"], 0)
        self.assertEqual(len(proof["rtl"]["controls"]), 2)
        kinds = sorted(name.partition(":")[0] for name in proof["bits"]["places"])
        self.assertEqual(kinds, ["DELAYF"] * 2 + ["EHXPLLL"] + ["IDDRX1F"] * 2 + ["ODDRX1F"] * 3)
        self.assertEqual(proof["bits"]["pads"]["mdio_io"], "BIDIR at P5")

    def test_a_wrong_setting_of_each_kind_is_refused(self) -> None:
        for what, setting, find, replace, why in (
            (
                "a divider",
                "CLKOS_DIV",
                r"word: CLKOS_DIV 0000100",
                "word: CLKOS_DIV 0000101",
                "CLKOS_DIV is 5",
            ),
            ("a phase", "CLKOP_CPHASE", r"CLKOP_CPHASE 0000011", "CLKOP_CPHASE 0000010", "CLKOP_CPHASE"),
            ("the feedback", "FEEDBK_PATH", r"FEEDBK_PATH CLKOP", "FEEDBK_PATH INT_OP", "FEEDBK_PATH"),
            (
                "an unused output",
                "CLKOS3_ENABLE",
                r"CLKOS3_ENABLE DISABLED",
                "CLKOS3_ENABLE ENABLED",
                "CLKOS3_ENABLE",
            ),
            ("the filter", "LPF_RESISTOR", r"LPF_RESISTOR 0001000", "LPF_RESISTOR 0001001", "LPF_RESISTOR"),
            ("a delay", "DEL_VALUE 0100101", r"DEL_VALUE 0100101", "DEL_VALUE 0100100", "DEL_VALUE is 37"),
            (
                "a delay that stands",
                "DEL_VALUE 0100101",
                r"LOADNMUX LOADN",
                "LOADNMUX 1",
                "explains|LOADNMUX|points",
            ),
            ("a delay that is not there", "JDIA INDDA", r"arc: JDIA INDDA_IOLOGIC\n", "", "DEL_VALUE"),
            (
                "a single rate",
                "MODE IDDRX1_ODDRX1",
                r"MODE IDDRX1_ODDRX1",
                "MODE IREG_OREG",
                "MODE|mode|explains|driven",
            ),
            ("the other edge", r"IOLOGIC.\.CLKOMUX CLK", r"CLKOMUX CLK$", "CLKOMUX INV", "CLKOMUX"),
            ("a slow edge", "SLEWRATE FAST", r"SLEWRATE FAST", "SLEWRATE SLOW", "SLEWRATE"),
            ("a pull", "PULLMODE UP", r"PULLMODE UP", "PULLMODE DOWN", "PULLMODE"),
            ("no pull", "PULLMODE UP", r"PULLMODE UP", "PULLMODE NONE", "PULLMODE"),
            ("a direction", "BIDIR_LVCMOS33", r"BIDIR_LVCMOS33", "OUTPUT_LVCMOS33", "no input|mdio_io"),
            ("another voltage", "BIDIR_LVCMOS33", r"BIDIR_LVCMOS33", "BIDIR_LVCMOS25", "mdio_io"),
            ("a bank", "VCCIO 3V3", r"VCCIO 3V3", "VCCIO 2V5", "VCCIO"),
        ):
            with self.subTest(what):
                config = self.config
                # What lies in several tiles is changed in all of them.
                if find in ("BIDIR_LVCMOS33", "PULLMODE UP", "SLEWRATE FAST"):
                    self.assertIn(find, config)
                    config = config.replace(find, replace)
                else:
                    config = self.changed(setting, find, replace)
                found = self.refused(config)
                self.assertNotEqual(found, "", f"{what}: proven")
                self.assertRegex(found, why)

    def settings(self) -> list[tuple[str, str, str]]:
        """Every digit of words and every other value of settings of the PLL and of registers in pads: tile and both lines."""
        database = tools.trellis_database() / "ECP5" / "tiledata"
        found = []
        for tile in re.finditer(r"^\.tile (\S+)\n((?:(?!\.tile ).*\n)*)", self.config, re.MULTILINE):
            known = (database / tile[1].partition(":")[2] / "bits.db").read_text()
            pll = "PLL0_" in tile[1] or "BANKREF8" in tile[1]
            for line in tile[2].splitlines():
                word = re.fullmatch(r"word: (\S+) ([01]+)", line)
                if word and ((pll and "." not in word[1]) or word[1].startswith("IOLOGIC")):
                    for at, digit in enumerate(word[2]):
                        other = word[2][:at] + "10"[int(digit)] + word[2][at + 1 :]
                        found.append((tile[1], line, f"word: {word[1]} {other}"))
                enum = re.fullmatch(r"enum: (\S+) (\S+)", line)
                if enum and ((pll and "." not in enum[1]) or enum[1].startswith("IOLOGIC")):
                    options = re.search(
                        rf"^\.config_enum {re.escape(enum[1])}\b.*\n((?:[^.\n#].*\n)+)", known, re.MULTILINE
                    )
                    names = [option.split()[0] for option in options[1].splitlines()] if options else []
                    found += [(tile[1], line, f"enum: {enum[1]} {name}") for name in names if name != enum[2]]
        return found

    def test_no_setting_of_pll_and_pads_is_passed_over(self) -> None:
        every = self.settings()
        self.assertGreater(len(every), 150)
        if os.environ.get("ACE_TESTS") != "all":
            every = random.Random(1).sample(every, PART)
        before = self.made["proof"]["memory_sha256"]
        for tile, line, other in every:
            with self.subTest(tile, line=line, other=other):
                head = f".tile {tile}\n"
                at = self.config.index(line, self.config.index(head))
                config = self.config[:at] + other + self.config[at + len(line) :]
                try:
                    record = prove.bits_are_netlist(self.image, self.bits(config), self.folder)
                except tools.ToolError:
                    continue
                # A value with the same bits is the same image.
                self.assertEqual(record["memory_sha256"], before)

    def ace(self, *words: str, wrong: str = "") -> str:
        """What the command line prints; or that it fails, with these words."""
        call = [read.ace(), *words]
        if words[:2] != ("library", "keygen"):
            call += ["--library", str(self.folder / "ace.lib")]
        done = subprocess.run(
            call,
            capture_output=True,
            text=True,
            check=False,
            # openFPGALoader is not there.
            env={**os.environ, "ACE_LIBRARY_ALLOW_OLDER": "1", "PATH": ""},
            cwd=tools.ROOT,
        )
        if wrong:
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertRegex(done.stderr, wrong)
        else:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_library_holds_it(self) -> None:
        secret, public = str(self.folder / "key"), str(self.folder / "key.pub")
        trusted = ("--key", public)
        self.ace("library", "keygen", secret)
        self.ace("library", "recode", "--from", str(tools.ROOT / "library" / "ace.lib"), "--secret", secret)
        self.ace("image", "show", "small", *trusted, wrong="no image small")
        others = [one["memory_sha256"] for one in json.loads(self.ace("image", "list", "--json", *trusted))]
        before = json.loads(self.ace("library", "list", "--json", *trusted))
        self.ace("library", "add", "--image", str(self.image.folder), "--secret", secret)
        name, memory = self.image.name, self.made["proof"]["memory_sha256"]
        self.assertEqual(
            sorted(one["memory_sha256"] for one in json.loads(self.ace("image", "list", "--json", *trusted))),
            sorted([*others, memory]),
        )
        shown = json.loads(self.ace("image", "show", "small", "--json", *trusted))
        self.assertEqual(shown["proof"], json.loads(self.image.at("proof.json").read_text()))
        # Configurations are what they were, and an image is none.
        after = json.loads(self.ace("library", "list", "--json", *trusted))
        self.assertEqual(len(after["configurations"]), len(before["configurations"]))
        self.assertRegex(self.ace("library", "verify", *trusted), rf"\b{len(others) + 1} images? of")
        self.ace("library", "extract", name, "--out", str(self.folder / "out"), *trusted, wrong=name)
        # Out of it comes the memory that went in, with the loader's call.
        printed = self.ace(
            "library", "extract", "--image", "small", "--out", str(self.folder / "out"), *trusted
        )
        bits = self.folder / "out" / name / f"{name}.bit"
        self.assertIn(f"openFPGALoader -b none {bits}", printed)
        about = json.loads(tools.output([read.ace(), "inspect", str(bits), "--json"]))
        self.assertEqual(about["memory_sha256"], memory)
        file = str(self.folder / "load.bit")
        printed = self.ace("image", "load", "small", "--print", "--out", file, *trusted)
        self.assertEqual(printed, f"openFPGALoader -b none {file}\n")
        self.assertEqual(Path(file).read_bytes(), bits.read_bytes())
        self.ace("image", "load", "small", "--out", file, *trusted, wrong="openFPGALoader is not installed")

    def test_what_is_not_proven_goes_into_no_library(self) -> None:
        secret = str(self.folder / "another")
        self.ace("library", "keygen", secret)
        self.ace("library", "recode", "--from", str(tools.ROOT / "library" / "ace.lib"), "--secret", secret)
        for what, file, find, replace, why in (
            (
                "open",
                "proof.json",
                '"result": "proven"',
                '"result": "open"',
                "does not say that it is proven",
            ),
            ("other bits", "proof.json", '"memory_sha256": "', '"memory_sha256": "0', "of other bits"),
            ("no control", "proof.json", '"points_refuted": 1', '"points_refuted": 0', "names no control"),
            ("slow", "manifest.json", '"asked_mhz": ', '"asked_mhz": 9', "slower than it has to be"),
            ("no image", "manifest.json", '"kind": "image"', '"kind": "imago"', "of no image"),
            (
                "a path",
                "manifest.json",
                f'"path": "{self.image.name}.bit"',
                '"path": "../x.bit"',
                "bitstream is not the one",
            ),
        ):
            with self.subTest(what):
                folder = self.folder / what.replace(" ", "-")
                folder.mkdir()
                for path in ("proof.json", "manifest.json", f"{self.image.name}.bit"):
                    (folder / path).write_bytes(self.image.at(path).read_bytes())
                text = (folder / file).read_text()
                self.assertIn(find, text)
                (folder / file).write_text(text.replace(find, replace))
                self.ace("library", "add", "--image", str(folder), "--secret", secret, wrong=why)

    def test_a_pin_in_another_place_is_refused(self) -> None:
        pins = self.image.at("pins.lpf")
        text = pins.read_text()
        self.addCleanup(pins.write_text, text)
        pins.write_text(text.replace('"K2"', '"X"').replace('"L1"', '"K2"').replace('"X"', '"L1"'))
        self.assertNotEqual(self.refused(self.config), "")


class Between(unittest.TestCase):
    """What goes between clocks."""

    def report(self, slots: str) -> crossings.Report:
        image = small(slots)
        route.synthesise(image)
        with tempfile.TemporaryDirectory(dir=BUILD, prefix=".test-image-") as folder:
            found = prove.netlist_is_rtl(image, Path(folder))
        self.assertEqual(found.record["result"], "proven")
        return crossings.check(image.board, found.netlist, found.matching, route.instances(image))

    def test_what_the_file_names_may_cross(self) -> None:
        report = self.report("echo")
        self.assertEqual(report.faults, [])
        self.assertEqual(report.between["u_queue: rx to slot, a memory"], 1)
        self.assertEqual(report.between["u_at: rx to slot"], 11)
        self.assertEqual(report.between["u_tx_reset: slot to tx, a reset"], 2)
        self.assertEqual(report.between["pad mdio_io to slot"], 1)

    def test_a_bare_word_is_refused_by_name(self) -> None:
        found = {str(fault) for fault in self.report("bare").faults}
        self.assertIn("sum_q[2] to out_q[0]: from slot to tx without a crossing", found)
        self.assertTrue(all(line.startswith("sum_q[2] to out_q[") for line in found), found)
        with self.assertRaisesRegex(make.ImageError, "paths between clocks that nothing takes across"):
            make.rtl_proof(small("bare"))

    def test_a_reset_of_another_clock_is_refused(self) -> None:
        found = {str(fault) for fault in self.report("late").faults}
        self.assertIn(
            "u_rx_reset.reset_q[1] to the reset of u_at.to_o[0]: a reset of rx in slot without a reset synchroniser",
            found,
        )


if __name__ == "__main__":
    unittest.main()
