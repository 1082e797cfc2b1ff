# SPDX-License-Identifier: Apache-2.0
"""The RTL's files as text: what of them counts, which of them need each other, and what must not be in their comments.

A comment is no part of a recipe, so it must not decide what is synthesised.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ace_flow import subset

# A string, which may look like a comment inside, or comments and white space.
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
TOKEN = re.compile(STRING.pattern + r"|(?://[^\n]*|/\*.*?\*/|\s)+", re.DOTALL)
COMMENT = re.compile(STRING.pattern + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'`include\s*"([^"/]+)\.svh"')
# What tools take for a directive: the first word of a comment, or a word anywhere in it. Verilator may be told what to
# be silent about, which changes nothing.
DIRECTIVE = re.compile(
    r"^[\s/*]*(?:pragma|synopsys|synthesis|cadence|ambit|exemplar|xilinx|altera|quartus|lattice|slang)\b"
    r"|^[\s/*]*verilator\b(?!\s+lint_(?:off|on|save|restore)\b)"
    r"|\b(?:translate_(?:on|off)|(?:full|parallel)_case|(?:synthesis|synth)_(?:on|off)|rtl_synthesis)\b",
    re.MULTILINE,
)


class RtlError(Exception):
    """A comment that a tool would obey, or text that readers may take for different circuits."""


def plain(source: str) -> str:
    """SystemVerilog with one blank for comments and white space."""
    return TOKEN.sub(lambda m: m[0] if m[0].startswith('"') else " ", source).strip()


def directives(source: str) -> Iterator[tuple[int, str]]:
    """The directives in comments: their lines, and what stands there."""
    for comment in COMMENT.finditer(source):
        text = comment[0]
        if not text.startswith('"') and (found := DIRECTIVE.search(text)):
            first = found.start() + len(found[0]) - len(found[0].lstrip(" \t\r\n/*"))
            line = source.count("\n", 0, comment.start() + first) + 1
            yield line, text[first:].splitlines()[0].removesuffix("*/").strip()


def check(path: Path, source: str) -> None:
    """Raises RtlError for a directive in a comment, or for text that is not of the subset (subset.py). `path`: the place
    in the repository."""
    for line, text in directives(source):
        raise RtlError(
            f"{path}:{line}: a tool would obey the comment {text!r}, and recipes do not see comments; write it as "
            "SystemVerilog, or begin the comment with another word"
        )
    for line, why in subset.refused(path, source):
        raise RtlError(f"{path}:{line}: {why}")


def folders(sources: Iterable[str | Path]) -> list[str]:
    """Where the headers among the sources are."""
    return sorted({str(Path(source).parent) for source in sources if Path(source).suffix == ".svh"})


class Files:
    """Files below a folder; each is read once."""

    def __init__(self, root: Path):
        self.root = root
        self.found: dict[str, list[str]] = {}
        self.words: dict[str, frozenset[str]] = {}

    def find(self, pattern: str) -> list[str]:
        """Those that match."""
        if pattern not in self.found:
            paths = (path for path in self.root.glob(pattern) if path.is_file())
            self.found[pattern] = sorted(str(path.relative_to(self.root)) for path in paths)
        return self.found[pattern]

    def names(self, file: str) -> frozenset[str]:
        """The names in a file, those of the headers that it includes among them."""
        if file not in self.words:
            path = self.root / file
            source = path.read_text()
            check(Path(file), source)
            text = plain(source)
            self.words[file] = frozenset([*WORD.findall(STRING.sub("", text)), *INCLUDE.findall(text)])
        return self.words[file]
