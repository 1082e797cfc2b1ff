# SPDX-License-Identifier: Apache-2.0
"""What a recipe sees and what it does not."""

import tempfile
import unittest
from pathlib import Path
from types import ModuleType

from ace_flow import configurations, digest
from ace_flow.build import library_cache

CODE = '''
"""A pass."""
import json
from .tools import ROOT

LIMIT = 4


def widen(cell: dict, by: int) -> int:
    """Says how wide."""
    width = len(cell["pins"]) - by
    return min(width, LIMIT)
'''


class Code(unittest.TestCase):
    def code(self, text: str) -> str:
        module = ModuleType("example")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "example.py"
            path.write_text(text)
            module.__file__ = str(path)
            return digest.code(module)

    def test_moves_names_and_words_change_nothing(self) -> None:
        for what, old, new in (
            ("an import", "from .tools import ROOT", "from ..tools import ROOT, TAIL"),
            ("a docstring", "Says how wide.", "How wide it is."),
            ("a comment", "LIMIT = 4", "LIMIT = 4  # pins"),
            ("a variable", "width", "wide"),
            ("a function", "def widen", "def broaden"),
            ("an argument", "by", "less"),
        ):
            with self.subTest(what):
                self.assertEqual(self.code(CODE.replace(old, new)), self.code(CODE))

    def test_another_thing_done_is_another_digest(self) -> None:
        for old, new in (
            ("LIMIT = 4", "LIMIT = 5"),
            ("min(width", "max(width"),
            ('"pins"', '"pin"'),
            (" - by", " + by"),
            ("min(width, LIMIT)", "min(LIMIT, width)"),
            ('len(cell["pins"]) - by', 'by - len(cell["pins"])'),
        ):
            with self.subTest(new):
                self.assertNotEqual(self.code(CODE.replace(old, new)), self.code(CODE))


class Sources(unittest.TestCase):
    def test_contents_count_and_places_do_not(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.sv").write_text("module a; // one\nendmodule")
            (folder / "b.sv").write_text("module b; endmodule")
            (folder / "z").mkdir()
            (folder / "z" / "a.sv").write_text("module a;\nendmodule // other words")
            here = digest.sources([folder / "a.sv", folder / "b.sv"])
            self.assertEqual(digest.sources([folder / "b.sv", folder / "z" / "a.sv"]), here)
            (folder / "b.sv").write_text("module b; wire c; endmodule")
            self.assertNotEqual(digest.sources([folder / "a.sv", folder / "b.sv"]), here)

    def test_no_path_is_part_of_what_a_recipe_digests(self) -> None:
        for row in configurations.load().values():
            settings = str([library_cache._after(row), library_cache.ecp5.settings(row)])
            self.assertNotRegex(settings, r"rtl/|flow/|\.sv|\.lpf", row.name)


if __name__ == "__main__":
    unittest.main()
