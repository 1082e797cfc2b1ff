# SPDX-License-Identifier: Apache-2.0
"""The commands of tutorials, how-tos and examples, run page by page as they are printed (ace_flow/pages/fences.py)."""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from ace_flow import tools
from ace_flow.pages import fences
from ace_flow.pages.fences import Block

PAGES = (
    "docs/tutorial*.md",
    "docs/tutorials/*.md",
    "docs/how-to/*.md",
    "docs/adding-a-policy.md",
    "examples/*/README.md",
)
# What a reader goes through in one sitting: `make readers`.
READERS = tools.ROOT / "tests" / "readers"
PAGE = re.compile(r"\b(?:docs|examples)/[\w/-]+\.md")


def pages() -> list[Path]:
    """All that are run here."""
    return sorted(page for pattern in PAGES for page in tools.ROOT.glob(pattern))


class Commands(unittest.TestCase):
    def setUp(self) -> None:
        self.ace = Path(os.environ.get("ACE_BIN", tools.ROOT / "target" / "release" / "ace"))

    def test_every_page_works_as_it_is_printed(self) -> None:
        if not self.ace.exists():
            self.assertNotIn("ACE_REQUIRE_BUILD", os.environ, f"{self.ace} is not built")
            self.skipTest(f"no {self.ace}")
        self.assertGreater(len(pages()), 12)
        for page in pages():
            with self.subTest(page.name):
                outcome = fences.run(page, self.ace)
                self.assertEqual(outcome.wrong, "", page)
                if outcome.missing:
                    print(f"{page}: not run from here on: no {outcome.missing}", file=sys.stderr)

    def test_what_readers_go_through_is_run_here(self) -> None:
        scripts = sorted(READERS.glob("*.sh"))
        self.assertEqual([script.stem for script in scripts], ["researcher", "security", "vpn"])
        for script in scripts:
            named = PAGE.findall(script.read_text())
            self.assertGreater(len(named), 1, script)
            self.assertLessEqual({tools.ROOT / name for name in named}, set(pages()), script)

    def test_the_gallery_lists_every_example(self) -> None:
        gallery = (tools.ROOT / "docs" / "how-to" / "examples.md").read_text()
        folders = {path.parent.name for path in (tools.ROOT / "examples").glob("*/*")}
        self.assertEqual(set(re.findall(r"\(\.\./\.\./examples/([\w-]+)/README\.md\)", gallery)), folders)

    def test_fences_are_told_apart(self) -> None:
        page = (
            '# One\n\n```sh\necho a\n```\n\n```\n# not run\n```\n\n## Two\n\n```toml title="x.toml"\na = 1\n```\n\n'
            "<!-- needs: root tshark -->\n```sh\necho b\n```\n"
        )
        self.assertEqual(
            list(fences.blocks(page)),
            [
                Block("echo a\n", heading="One"),
                Block("a = 1\n", "x.toml", heading="Two"),
                Block("echo b\n", needs=("root", "tshark"), heading="Two"),
            ],
        )

    def run_page(self, text: str, **options) -> fences.Outcome:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "of-a-test.md"
            page.write_text(text)
            return fences.run(page, Path("/bin/true"), **options)

    def test_a_command_that_fails_is_found(self) -> None:
        outcome = self.run_page(
            '## One\n```txt title="a/there"\nx\n```\n```sh\ntest -f a/there; ! false\n```\n'
            "## Two\n```sh\nfalse\necho no\n```\n"
        )
        self.assertEqual((outcome.ran, [heading for heading, _ in outcome.seconds]), (3, ["One", "One"]))
        self.assertRegex(outcome.wrong, r"^Two: exit 1;(?!.*no$)")

    def test_a_command_that_does_not_end_is_found(self) -> None:
        outcome = self.run_page("## One\n```sh\nsleep 600\n```\n", seconds=0.5)
        self.assertRegex(outcome.wrong, "^One: not done after 0 s")

    def test_what_a_page_edits_is_a_copy(self) -> None:
        file = tools.ROOT / "crates" / "ace-schedule" / "src" / "lib.rs"
        before = file.read_text()
        heard: list[str] = []
        outcome = self.run_page(
            "<!-- edits: crates -->\n## One\n```sh\necho >crates/ace-schedule/src/lib.rs\n```\n## Two\n```sh\ntrue\n```\n"
            "<!-- needs: no-such-program -->\n```sh\nfalse\n```\n",
            say=lambda heading, seconds: heard.append(heading),
        )
        self.assertEqual((outcome.wrong, outcome.missing, heard), ("", "no-such-program", ["One", "Two"]))
        self.assertEqual(file.read_text(), before)


if __name__ == "__main__":
    unittest.main()
