# SPDX-License-Identifier: Apache-2.0
"""A small open design, from its bits to its RTL: proven, and refuted where the bits, the RTL or the pins say something else."""

import contextlib
import io
import json
import sys
import unittest
from pathlib import Path
from unittest import mock

from ace_flow import tools
from ace_flow.open_designs import boxes, form, prove

FOLDER = tools.ROOT / "tests" / "open-designs"


class OpenDesign(unittest.TestCase):
    """The UART of tests/open-designs."""

    @classmethod
    def setUpClass(cls) -> None:
        sys.path.insert(0, str(FOLDER))
        cls.addClassCleanup(sys.path.remove, str(FOLDER))
        import run
        import sources

        cls.run_, cls.sources = run, sources
        cls.design = next(one for one in sources.designs() if one["name"] == "amaranth-uart")
        cls.bits = sources.build(cls.design)
        cls.work = sources.BUILD / "test"
        cls.work.mkdir(exist_ok=True)

    def proven(self, bits: Path, rtl: Path | None = None, pins: Path | None = None) -> tuple[int, dict, str]:
        """Exit code, record and errors."""
        command = [
            "prove-design",
            str(bits),
            "--rtl",
            str(rtl or FOLDER / "amaranth" / "uart.v"),
            "--top",
            "uart",
        ]
        command += ["--lpf", str(pins or FOLDER / "pins" / "uart.lpf"), "--package", "CABGA256", "--json"]
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch("sys.argv", command),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = prove.main()
        return code, json.loads(out.getvalue() or "{}"), err.getvalue()

    def changed(self, name: str, path: Path, find: str, replace: str) -> Path:
        text = path.read_text()
        self.assertIn(find, text)
        (self.work / name).write_text(text.replace(find, replace, 1))
        return self.work / name

    def test_the_bits_are_the_rtl(self) -> None:
        code, record, _ = self.proven(self.bits)
        self.assertEqual((code, record["result"], record["open"]), (0, "proven", []))
        self.assertEqual(record["points"], record["by_structure"] + record["by_certificate"])
        self.assertEqual(record["device"], "LFE5U-25F")

    def test_another_bit_is_refuted(self) -> None:
        results = []
        for number in range(self.run_.TRIES):
            code, record, _ = self.proven(Path(self.run_.changed(self.design, number)))
            results.append(record["result"])
            if code == 1:
                self.assertTrue(record["trace"]["they differ"])
                break
        self.assertEqual(results[-1], "refuted")
        self.assertLessEqual({*results[:-1]}, {"proven"})

    def test_another_value_at_first_is_refuted(self) -> None:
        rtl = self.changed("first.v", FOLDER / "amaranth" / "uart.v", "9'h1ff;", "9'h1fe;")
        code, record, _ = self.proven(self.bits, rtl=rtl)
        self.assertIn(record["result"], ("refuted", "open"))
        self.assertNotEqual(code, 0)

    def test_other_pads_than_the_file_of_pins_says_are_refused(self) -> None:
        pins = self.changed(
            "pins.lpf",
            FOLDER / "pins" / "uart.lpf",
            'PORT "tx" IO_TYPE=LVCMOS33 DRIVE=4',
            'PORT "tx" IO_TYPE=LVCMOS33 DRIVE=8',
        )
        code, _, error = self.proven(self.bits, pins=pins)
        self.assertEqual(code, 2)
        self.assertIn("tx is to be", error)

    def test_a_pin_of_another_name_is_open(self) -> None:
        pins = self.changed("named.lpf", FOLDER / "pins" / "uart.lpf", 'COMP "tx"', 'COMP "ty"')
        code, record, _ = self.proven(self.bits, pins=pins)
        self.assertEqual((code, record["result"]), (2, "open"))
        self.assertTrue(any("tx[0]" in line for line in record["open"]), record["open"])


class Forms(unittest.TestCase):
    """Blocks and what they are told."""

    def test_what_a_pll_is_told_is_compared(self) -> None:
        told = {"CLKI_DIV": "1", "CLKOP_DIV": "12", "FEEDBK_PATH": "CLKOP"}
        rtl = form.Box("EHXPLLL", "pll", told, {"ICP_CURRENT": "12"}, {}, {"CLKOP": 2})
        bits = form.Box("EHXPLLL", "R1C1_PLL", told | {"ICP_CURRENT": "12", "MFG_GMC_TEST": "14"}, {}, {}, {})
        self.assertEqual(boxes.differences([("pll", rtl, bits)]), [])
        for name, value in (("CLKOP_DIV", "13"), ("FEEDBK_PATH", "INT_OP"), ("ICP_CURRENT", "9")):
            other = form.Box("EHXPLLL", "R1C1_PLL", bits.parameters | {name: value}, {}, {}, {})
            self.assertEqual(len(boxes.differences([("pll", rtl, other)])), 1, name)

    def test_an_unknown_block_is_not_passed_over(self) -> None:
        cell = {"type": "CLKDIVF", "parameters": {}, "connections": {"CLKI": [2], "CDIVX": [3]}}
        module = {"ports": {}, "netnames": {}, "cells": {"divider": cell}}
        self.assertEqual(len(form.of_rtl(module, True).uncovered), 1)

    def test_a_latch_is_remembered(self) -> None:
        cell = {"type": "$dlatch", "parameters": {}, "connections": {"D": [2], "EN": [3], "Q": [4]}}
        module = {"ports": {}, "netnames": {}, "cells": {"latch": cell}}
        self.assertEqual({*form.of_rtl(module, True).strange}, {4})


if __name__ == "__main__":
    unittest.main()
