# SPDX-License-Identifier: Apache-2.0
"""What the text of the RTL needs and what of its comments a tool would obey."""

import tempfile
import unittest
from pathlib import Path

from ace_flow import configurations, rtl
from ace_flow.tools import FLOW, ROOT


class Headers(unittest.TestCase):
    def test_a_file_needs_the_headers_that_it_includes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            text = '`include "a.svh"\n  `include "b.svh"\n// `include "c.svh"\nstring s = "`include d";'
            (Path(folder) / "x.sv").write_text(text)
            names = rtl.Files(Path(folder)).names("x.sv")
        self.assertLessEqual({"a", "b"}, names)
        self.assertFalse({"c", "d"} & names)

    def test_every_top_has_its_header_among_its_sources(self) -> None:
        table = configurations.load()
        tops = [row for row in table.values() if "rtl/slot/slot_ports.svh" in row.sources]
        self.assertEqual(len(tops), len(table))
        self.assertEqual(rtl.folders(tops[0].sources), ["rtl/slot"])


class Directives(unittest.TestCase):
    def test_what_tools_obey_is_found_with_its_line(self) -> None:
        for text in (
            "// synthesis translate_off",
            "//synopsys translate_off",
            "/* pragma translate_off */",
            "case (x) // synopsys full_case parallel_case",
            "/* synthesis keep */",
            "/* words\n * synthesis off */",
            "// xilinx parallel_case",
            "/*verilator public_flat_rw*/",
            "// verilator no_inline_module",
            "// about it: translate_off",
        ):
            with self.subTest(text=text):
                found = list(rtl.directives(f"logic a;\n{text}\nlogic b;"))
                self.assertEqual([line for line, _ in found], [3 if "\n" in text else 2])
                with self.assertRaisesRegex(rtl.RtlError, r"^x\.sv:[23]: "):
                    rtl.check(Path("x.sv"), f"logic a;\n{text}\nlogic b;")

    def test_other_comments_are_free(self) -> None:
        for text in (
            "// Synthesis sees a box; Verilator does not.",
            "// verilator lint_off UNUSEDSIGNAL -- as it is",
            "/* verilator lint_on WIDTH */",
            'string s = "// synthesis translate_off";',
            "// what synthesis makes of it",
            "`pragma protect",
        ):
            with self.subTest(text=text):
                self.assertEqual(list(rtl.directives(text)), [])

    def test_there_are_none(self) -> None:
        for path in (*ROOT.glob("rtl/**/*.sv"), *ROOT.glob("algorithms/*/rtl/*.sv"), *FLOW.glob("**/*.sv")):
            rtl.check(path.relative_to(ROOT), path.read_text())


if __name__ == "__main__":
    unittest.main()
