# SPDX-License-Identifier: Apache-2.0
"""Pages are outputs: which of them a change of an input names, and how figures get into sentences."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ace_flow import tools
from ace_flow.pages import algorithms, render, results
from ace_flow.pages.table import Block, Figures, Page, Results, Table, TableError, load


def renderer(table: Table, scratch: Path) -> render.Renderer:
    return render.Renderer(table, "false", scratch)


class Pages(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for module in (results, render):
            patch = mock.patch.object(module, "ROOT", self.folder)
            patch.start()
            self.addCleanup(patch.stop)
        (self.folder / "input.sv").write_text("assign a = b; // one\n")
        self.row = Results("measured.json", ["echo", '{"speed": 3.14159}'], ("input.sv",), prints="json")
        self.table = Table(
            {self.row.path: self.row},
            {"page.md": Page("page.md", [["echo", "a table"], "## Between"], results=(self.row.path,))},
            {"block": Block("block", ["echo", "| a |"])},
            {"of": Figures("of", results=(self.row.path,))},
            {},
        )

    def render(self) -> render.Renderer:
        scratch = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(scratch.cleanup)
        return renderer(self.table, Path(scratch.name))

    def test_spans(self) -> None:
        self.assertEqual(algorithms.span([11.04, 13.0, 11.0], 1), "11.0 to 13.0")
        self.assertEqual(algorithms.span([11.04, 11.0], 1), "11.0")

    def test_a_results_file_is_stale_when_an_input_says_something_else(self) -> None:
        self.assertEqual(results.stale(self.row), ["it is missing"])
        results.measure(self.row, "false")
        self.assertEqual(results.stale(self.row), [])
        value = json.loads((self.folder / self.row.path).read_text())
        self.assertEqual(value["values"], {"speed": 3.14159})
        self.assertEqual(
            value["recorded"].keys() & {"date", "machine", "command", "inputs"}, value["recorded"].keys()
        )
        (self.folder / "input.sv").write_text("assign a = b; // a comment is nothing\n")
        self.assertEqual(results.stale(self.row), [])
        (self.folder / "input.sv").write_text("assign a = c;\n")
        self.assertEqual(results.stale(self.row), ["input.sv"])
        (self.folder / "input.sv").unlink()
        with self.assertRaisesRegex(tools.ToolError, "no file is called input.sv"):
            results.stale(self.row)

    def test_a_page_of_stale_results_says_so_in_its_first_line(self) -> None:
        results.measure(self.row, "false")
        page = self.table.page["page.md"]
        self.assertEqual(self.render().page(page), "a table\n\n## Between\n")
        (self.folder / "input.sv").write_text("assign a = c;\n")
        self.assertRegex(self.render().page(page), r"\A> \*\*Stale\*\*: `measured.json` .*input.sv")

    def test_figures_and_blocks_of_a_page_that_somebody_writes(self) -> None:
        results.measure(self.row, "false")
        text = (
            "It makes 2.7<!-- = of.values.speed .2f --> Mb/s.\n<!-- rendered: block -->\nold\n<!-- end -->\n"
        )
        now, used = self.render().filled(text)
        self.assertEqual(now, text.replace("2.7<", "3.14<").replace("\nold\n", "\n| a |\n"))
        self.assertEqual(used, [self.row.path])
        self.assertEqual(self.render().filled(now)[0], now)
        for wrong in (
            "1<!-- = of.values.size -->",
            "1<!-- = nobody.values -->",
            "<!-- rendered: x -->\n<!-- end -->",
        ):
            with self.assertRaises(TableError):
                self.render().filled(wrong)

    def test_the_makefile_has_each_target_once(self) -> None:
        made = subprocess.run(
            ["make", "-n", "help"], cwd=tools.ROOT, capture_output=True, text=True, check=True
        )
        self.assertNotIn("warning", made.stderr)

    def test_the_table_is_read_and_a_wrong_one_is_named(self) -> None:
        self.assertIn("docs/configurations.md", load().page)
        wrong = self.folder / "pages.toml"
        for text, why in (
            ("[[page]]\npath = 'x'\n", "page 1 .x.: `commands` has to be given"),
            ("[[page]]\npath = 'x'\ncommands = []\nsize = 1\n", "unknown key `size`"),
            ("[[page]]\npath = 'x'\ncommands = []\nresults = ['y']\n", "there is no .*results.* of y"),
            ("[[pages]]\n", "unknown table `pages`"),
            ("[[", "pages.toml"),
        ):
            wrong.write_text(text)
            with self.assertRaisesRegex(TableError, why):
                load(wrong)


if __name__ == "__main__":
    unittest.main()
