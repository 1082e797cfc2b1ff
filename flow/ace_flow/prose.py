# SPDX-License-Identifier: Apache-2.0
"""How long pages and their sentences are: python -m ace_flow prose [--list [--json]] [PAGE …].

A page has at most 20 words a sentence on average, and at most 2,500 words in sentences. Pages that a command writes are
not looked at; what somebody writes of them, their head, is.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from ace_flow.pages import table
from ace_flow.tools import ROOT

MOST_OF_A_SENTENCE = 20
MOST_OF_A_PAGE = 2500
# What is no sentence: front matter, fences, comments, headings, rows of tables, pictures.
NO_PROSE = (
    re.compile(r"\A---\n.*?\n---\n", re.DOTALL),
    re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE),
    # Code that is indented stands behind an empty line and is no part of a list.
    re.compile(r"(?<=\n\n)(?: {4}[^ *\n][^\n]*\n)+"),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^(#|\||!\[).*$", re.MULTILINE),
)
ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+", re.MULTILINE)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.!?])[)\"'*]*\s+(?=[\"'(*]*[A-Z0-9\[])")
WORD = re.compile(r"[\w'\u2019%.,/+\u00d7=<>-]*\w[\w'\u2019%]*")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page; an entry of a list ends one."""
    for what in NO_PROSE:
        text = what.sub("\n\n", text)
    for paragraph in re.split(r"\n\s*\n", ITEM.sub("\n\n", text)):
        plain = LINK.sub(r"\1", CODE.sub("CODE", " ".join(paragraph.split())))
        yield from (sentence for sentence in END.split(plain) if WORD.search(sentence))


class Length(NamedTuple):
    """How long a page is."""

    words: int
    sentences: int

    @property
    def average(self) -> float:
        """Words a sentence; 0 of a page without any."""
        return self.words / self.sentences if self.sentences else 0.0


def length(text: str) -> Length:
    """Words and sentences of a page."""
    lengths = [len(WORD.findall(sentence)) for sentence in sentences(text)]
    return Length(sum(lengths), len(lengths))


def pages() -> list[str]:
    """All that somebody writes, by its path."""
    written = {page.path for page in table.load().page.values()}
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.head")]
    found += [*ROOT.glob("studies/*/*.head"), *ROOT.glob("tests/*/*.md"), *ROOT.glob("examples/*/*.md")]
    names = {str(path.relative_to(ROOT)) for path in found}
    return sorted(names - written - {"CHANGELOG.md"})


def wrong(found: dict[str, Length]) -> list[str]:
    """What is too long."""
    lines = []
    for page, of in sorted(found.items()):
        if of.average > MOST_OF_A_SENTENCE:
            lines.append(
                f"{page}: {of.average:.1f} words a sentence, {MOST_OF_A_SENTENCE} are allowed: "
                "make sentences of one idea each"
            )
        if of.words > MOST_OF_A_PAGE:
            lines.append(
                f"{page}: {of.words} words in sentences, {MOST_OF_A_PAGE} are allowed: cut it, or make two pages of it"
            )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="print the sentences of these that are longer than 30 words"
    )
    parser.add_argument(
        "--list", action="store_true", help="print the length of every page, the longest first"
    )
    parser.add_argument("--json", action="store_true", help="the same list as JSON")
    arguments = parser.parse_args()
    names = pages()
    if unknown := sorted(set(arguments.pages) - set(names)):
        print(f"error: {unknown[0]} is no page that somebody writes", file=sys.stderr)
        return 2
    found = {page: length((ROOT / page).read_text()) for page in names}
    for page in arguments.pages:
        print(f"{page}: {found[page].words} words, {found[page].average:.1f} a sentence")
        for sentence in sentences((ROOT / page).read_text()):
            if (words := len(WORD.findall(sentence))) > MOST_OF_A_SENTENCE * 3 // 2:
                print(f"  {words}: {sentence}")
    longest = sorted(found.items(), key=lambda item: (-item[1].words, item[0]))
    if arguments.json:
        print(json.dumps([{"page": page, **of._asdict()} for page, of in longest], indent=1))
    elif arguments.list:
        for page, of in longest:
            print(f"{of.words:6} words {of.average:6.1f} a sentence  {page}")
    for line in (failures := wrong(found)):
        print(f"error: {line}", file=sys.stderr)
    if not (failures or arguments.json or arguments.pages):
        words = sum(of.words for of in found.values())
        print(
            f"{len(found)} pages, {words} words in sentences: at most {MOST_OF_A_SENTENCE} words a sentence, "
            f"{MOST_OF_A_PAGE} a page"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
