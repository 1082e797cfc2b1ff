# SPDX-License-Identifier: Apache-2.0
"""How long sentences are: python -m ace_flow prose [--lower] [PAGE …].

A page has at most 20 words a sentence on average. docs/prose.toml has a ceiling for each page that was longer when the
rule came. `--lower` writes that file anew: it lowers ceilings and takes out pages that need none. Nothing raises one.
Pages that a command writes are not looked at; what somebody writes of them, their head, is.
"""

import argparse
import math
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ace_flow.pages import table
from ace_flow.tools import ROOT

MOST = 20
CEILINGS = ROOT / "docs" / "prose.toml"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Pages with more than 20 words a sentence, and the most that each may have. It shrinks: `python -m ace_flow prose --lower`
# writes it, and lowers only.
"""
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


def average(text: str) -> float:
    """Words a sentence; 0 of a page without any."""
    lengths = [len(WORD.findall(sentence)) for sentence in sentences(text)]
    return sum(lengths) / len(lengths) if lengths else 0.0


def pages() -> list[str]:
    """All that somebody writes, by its path."""
    written = {page.path for page in table.load().page.values()}
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.head")]
    found += [*ROOT.glob("studies/*/*.head"), *ROOT.glob("tests/*/*.md"), *ROOT.glob("examples/*/*.md")]
    names = {str(path.relative_to(ROOT)) for path in found}
    return sorted(names - written - {"CHANGELOG.md"})


def ceilings(path: Path = CEILINGS) -> dict[str, int]:
    """What each page may have."""
    return tomllib.loads(path.read_text())["pages"] if path.is_file() else {}


def lowered(found: dict[str, float], now: dict[str, int]) -> dict[str, int]:
    """Ceilings of pages that need one, none of them higher than it is."""
    return {
        page: min(math.ceil(found[page]), most)
        for page, most in sorted(now.items())
        if page in found and found[page] > MOST
    }


def wrong(found: dict[str, float], allowed: dict[str, int]) -> list[str]:
    """What is too long, and ceilings of pages that are not there."""
    lines = [
        f"{page}: {length:.1f} words a sentence, {most} are allowed: make sentences of one idea each"
        for page, length in sorted(found.items())
        if length > (most := allowed.get(page, MOST))
    ]
    return lines + [
        f"docs/prose.toml: {page} is no page that somebody writes" for page in allowed if page not in found
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="print the sentences of these that are longer than 30 words"
    )
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to what pages have now")
    arguments = parser.parse_args()
    names = pages()
    if unknown := sorted(set(arguments.pages) - set(names)):
        print(f"error: {unknown[0]} is no page that somebody writes", file=sys.stderr)
        return 2
    for page in arguments.pages:
        text = (ROOT / page).read_text()
        print(f"{page}: {average(text):.1f} words a sentence")
        for sentence in sentences(text):
            if (words := len(WORD.findall(sentence))) > MOST * 3 // 2:
                print(f"  {words}: {sentence}")
    if arguments.pages:
        return 0
    found = {page: average((ROOT / page).read_text()) for page in names}
    allowed = ceilings()
    if arguments.lower:
        allowed = lowered(found, allowed)
        lines = "".join(f'"{page}" = {most}\n' for page, most in allowed.items())
        CEILINGS.write_text(f"{HEAD}\n[pages]\n{lines}")
    for line in (failures := wrong(found, allowed)):
        print(f"error: {line}", file=sys.stderr)
    if not failures:
        print(f"{len(found)} pages have at most {MOST} words a sentence, {len(allowed)} of them more for now")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
