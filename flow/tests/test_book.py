# SPDX-License-Identifier: Apache-2.0
"""The book: it builds without a warning, its links lead somewhere, and nothing of it is fetched by who reads it."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ace_flow import prose, tools
from ace_flow.pages import commands, metrics

HAS_MKDOCS = importlib.util.find_spec("mkdocs") is not None
# What a browser fetches by itself, by tag: the attribute. A link is followed by who clicks it.
FETCHED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "object": "data", "video": "src"}
STYLES = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "manifest", "alternate"}


class Html(HTMLParser):
    """What a page links to, fetches and can be linked at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {key: value or "" for key, value in attrs}
        self.anchors |= {of[key] for key in ("id", "name") if key in of}
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        if tag in FETCHED and of.get(FETCHED[tag]):
            self.fetched.append(of[FETCHED[tag]])
        if tag == "link" and STYLES & set(of.get("rel", "").split()):
            self.fetched.append(of.get("href", ""))


def problems(site: Path) -> list[str]:
    """Links of a site to nothing, and what it fetches from elsewhere."""
    pages = {path: Html(path.read_text()) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        here = path.relative_to(site)
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto") or parts.netloc:
                if link in page.fetched:
                    found.append(f"{here}: {link} is fetched from the network")
                continue
            # The page of what is not found is shown from any folder.
            if parts.scheme or here.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{here}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{here}: {link} has no such place")
    for style in site.rglob("*.css"):
        # What a picture in a style names by http is a name space.
        for url in re.findall(r"url\(['\"]?(https?:[^)'\"]*)", style.read_text()):
            found.append(f"{style.relative_to(site)}: {url} is fetched from the network")
        found += [f"{style.relative_to(site)}: @import" for _ in re.findall(r"@import\s", style.read_text())]
    return found


class Book(unittest.TestCase):
    def test_it_builds_and_every_link_leads_somewhere(self) -> None:
        if not HAS_MKDOCS:
            self.assertNotIn("ACE_REQUIRE_BUILD", os.environ, "make tools installs mkdocs")
            self.skipTest("no mkdocs here (make tools)")
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
            environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(tools.ROOT / "flow")}
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=tools.ROOT, env=environment
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            site = Path(folder)
            self.assertEqual(problems(site), [])
            # The first page is README.md, search works without a server, and a source is there for a link to it.
            self.assertIn("ACE", (site / "index.html").read_text())
            self.assertTrue((site / "search" / "search_index.js").is_file())
            self.assertTrue((site / "source" / "board.toml.html").is_file())

    def test_a_link_to_nothing_and_a_fetch_are_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder)
            (site / "a.html").write_text(
                '<a href="b.html#there"></a><a href="b.html#not"></a><a href="c.html"></a><a href="https://x/"></a>'
                '<script src="https://x/y.js"></script><link rel="stylesheet" href="a.css">'
            )
            (site / "b.html").write_text('<h2 id="there"></h2>')
            (site / "a.css").write_text("@font-face{src:url(https://x/font.woff2)}")
            self.assertEqual(
                problems(site),
                [
                    "a.html: b.html#not has no such place",
                    "a.html: c.html leads nowhere",
                    "a.html: https://x/y.js is fetched from the network",
                    "a.css: https://x/font.woff2 is fetched from the network",
                ],
            )

    def test_links_of_code_stay(self) -> None:
        if not HAS_MKDOCS:
            self.skipTest("no mkdocs here (make tools)")
        from ace_flow.pages import site

        text = "[a](../board.toml#x) `[b](../board.toml)`\n```\n[c](../board.toml)\n```\n[d](slot.md)"
        self.assertEqual(site.targets(text, "docs/page.md"), ["board.toml", "docs/slot.md"])
        self.assertEqual(site.in_book("board.toml"), "source/board.toml.md")
        self.assertEqual(site.in_book("README.md"), "index.md")
        self.assertIsNone(site.place("../../elsewhere", "docs/page.md"))


class Reference(unittest.TestCase):
    def test_commands_are_those_that_a_help_lists(self) -> None:
        text = "About\n\nUsage: ace\n\nCommands:\n  run    Does\n  two-words  x\n  alone\n  help   Print\n\nOptions:\n  -h"
        self.assertEqual(commands.below(text), ["run", "two-words", "alone"])
        self.assertEqual(commands.below("Usage: ace run\n\nOptions:\n  -h"), [])

    def test_exit_codes_are_those_of_the_source(self) -> None:
        table = commands.exit_codes(commands.OUTCOMES.read_text())
        self.assertEqual(re.findall(r"^\| (\d+) \|", table, re.MULTILINE), ["0", "1", "2", "130"])
        with self.assertRaisesRegex(commands.ReferenceError, "2 codes, and 1 of them"):
            commands.exit_codes("/// It ended.\n    Well,\nSelf::Well => 0,\n")

    def test_every_metric_has_help(self) -> None:
        found = metrics.families(
            'text.one("ace_a", "A.", 1); let name = "ace_b_total"; text.family(name, "counter", "B.");'
        )
        self.assertEqual(found, {"ace_a": ("gauge", "A."), "ace_b_total": ("counter", "B.")})
        with self.assertRaisesRegex(metrics.MetricsError, "ace_c has no line of help"):
            metrics.families('one("ace_c", value);')


class Prose(unittest.TestCase):
    def test_words_a_sentence(self) -> None:
        text = (
            "# Not this one\n\nOne two three. Four `five six` [seven](there.md)!\n\n| no | table |\n"
            "\n```\nno code. Here.\n```\n\n* eight nine\n* ten 3.5 twelve\n"
        )
        self.assertEqual(
            [len(prose.WORD.findall(sentence)) for sentence in prose.sentences(text)],
            [3, 3, 2, 3],
            list(prose.sentences(text)),
        )
        self.assertEqual(prose.length(text), prose.Length(11, 4))
        self.assertEqual(prose.length(text).average, 11 / 4)
        self.assertEqual(prose.length("```\ncode\n```\n").average, 0.0)

    def test_long_sentences_and_long_pages_are_named(self) -> None:
        found = {"all-right.md": prose.Length(2500, 125), "empty.md": prose.Length(0, 0)}
        self.assertEqual(prose.wrong(found), [])
        found |= {"sentences.md": prose.Length(41, 2), "page.md": prose.Length(2501, 400)}
        self.assertEqual(
            [line.partition(",")[0] for line in prose.wrong(found)],
            ["page.md: 2501 words in sentences", "sentences.md: 20.5 words a sentence"],
        )


if __name__ == "__main__":
    unittest.main()
