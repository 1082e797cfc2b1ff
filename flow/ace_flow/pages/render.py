# SPDX-License-Identifier: Apache-2.0
"""Renders every generated page, table and picture: python -m ace_flow pages [--check] [PAGE …].

docs/pages.toml says what there is. `--check` writes nothing, prints the difference to what would be written and exits
with 1 if there is one; a results file whose inputs have changed is named, and the pages that are rendered from it say
so in their first line. Commands see the configurations of the signed library, whatever else was built.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from ace_flow import tools
from ace_flow.build import library_cache
from ace_flow.capability import ConfigurationError
from ace_flow.pages import algorithms, results
from ace_flow.pages.table import Page, Pictures, Table, TableError, load
from ace_flow.tools import ROOT

# A figure in a sentence: what stands there, and which it is; how it is written, as Python's format() has it.
FIGURE = re.compile(r"(?P<now>[^\s|()*]+)(?P<mark><!-- = (?P<key>[\w.\-\[\]=]+)(?: (?P<format>[^ >]+))? -->)")
BLOCK = re.compile(
    r"(?P<begin><!-- rendered: (?P<name>[\w-]+) -->\n)(?P<now>.*?)(?P<end><!-- end -->)", re.DOTALL
)
STALE = re.compile(r"\A> \*\*Stale\*\*.*\n\n")
# Lines of a difference that are shown of a page.
MOST_DIFFERENCES = 40


class Renderer:
    """What is rendered of the tree as it is; every command runs once."""

    def __init__(self, table: Table, ace: str, scratch: Path) -> None:
        self.table, self.ace, self.scratch = table, ace, scratch
        self.output = cache(self._output)
        self.stale = cache(self._stale)
        build = scratch / "build"
        build.mkdir()
        (build / "configurations").symlink_to(library_cache.FOLDER)
        self.environment = {**os.environ, "ACE_BUILD": str(build)}

    def command(self, words: tuple[str, ...]) -> list[str]:
        """A command of the table as it is run."""
        return [{"ace": self.ace, "python": sys.executable}.get(words[0], words[0]), *words[1:]]

    def _output(self, words: tuple[str, ...]) -> str:
        command = self.command(words)
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=ROOT, env=self.environment
        )
        if done.returncode != 0:
            raise tools.ToolError(f"{' '.join(words)} (exit {done.returncode}): {done.stderr.strip()}")
        return done.stdout

    def _stale(self, path: str) -> tuple[str, ...]:
        return tuple(results.stale(self.table.results[path]))

    def warning(self, of: list[str] | tuple[str, ...]) -> str:
        """The first line of a page that is rendered from results of other inputs than there are now."""
        old = [path for path in dict.fromkeys(of) if self.stale(path)]
        if not old:
            return ""
        reasons = "; ".join(f"`{path}` is of other inputs ({', '.join(self.stale(path))})" for path in old)
        return f"> **Stale**: {reasons}. `python -m ace_flow measure` measures anew.\n\n"

    def page(self, page: Page) -> str:
        """A page that is written whole."""
        head, used = self.filled((ROOT / page.head).read_text()) if page.head else ("", [])
        parts = [c + "\n" if isinstance(c, str) else self.output(tuple(c)) for c in page.commands]
        return self.warning([*page.results, *used]) + head + "\n".join(parts)

    @cache  # noqa: B019
    def figures(self, name: str) -> Any:
        """The values that figures in sentences are looked up in."""
        if name not in self.table.figures:
            raise TableError(f"there is no [[figures]] {name!r} in docs/pages.toml")
        entry = self.table.figures[name]
        if entry.command:
            return json.loads(self.output(tuple(entry.command)))
        return json.loads((ROOT / entry.results[0]).read_text())

    def figure(self, key: str, how: str | None) -> str:
        """One figure: `name.key.key`, in a list `[key=value]` finds an entry."""
        name, _, path = key.partition(".")
        value = self.figures(name)
        for word, where, what in re.findall(r"([\w-]+)|\[([\w-]+)=([\w.-]+)\]", path):
            if word:
                value = value[int(word)] if isinstance(value, list) else value.get(word)
            else:
                value = next((v for v in value if str(v.get(where)) == what), None)
            if value is None:
                raise TableError(f"there is no figure {key!r}")
        return format(value, how or "")

    def filled(self, text: str) -> tuple[str, list[str]]:
        """A text that somebody writes, its figures and blocks as they are now; and the results files that they are of."""
        used: list[str] = []

        def block(match: re.Match[str]) -> str:
            if match["name"] not in self.table.block:
                raise TableError(f"there is no [[block]] {match['name']!r} in docs/pages.toml")
            entry = self.table.block[match["name"]]
            used.extend(entry.results)
            return match["begin"] + self.output(tuple(entry.command)) + match["end"]

        def figure(match: re.Match[str]) -> str:
            value = self.figure(match["key"], match["format"])
            used.extend(self.table.figures[match["key"].partition(".")[0]].results)
            return value + match["mark"]

        return FIGURE.sub(figure, BLOCK.sub(block, STALE.sub("", text))), list(dict.fromkeys(used))

    def pictures(self, entry: Pictures) -> dict[str, str]:
        """The pictures of a folder. What is run for them are models that were built."""
        out = self.scratch / Path(entry.folder).name
        out.mkdir()
        command = self.command(tuple(word.replace("{out}", str(out)) for word in entry.command))
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode != 0:
            raise tools.ToolError(f"{' '.join(command)} (exit {done.returncode}): {done.stderr.strip()}")
        return {f"{entry.folder}/{path.name}": path.read_text() for path in sorted(out.iterdir())}


def written() -> list[Path]:
    """The pages that somebody writes and that have figures or blocks."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.head")]
    found += [*ROOT.glob("studies/*/*.head"), *ROOT.glob("tests/**/*.md")]
    return sorted(
        path
        for path in found
        if (text := path.read_text()) and ("<!-- = " in text or "<!-- rendered: " in text)
    )


def render(renderer: Renderer, only: set[str]) -> dict[str, str]:
    """Every output by its path, as it is to be."""
    table, outputs = renderer.table, {}

    def wanted(path: str) -> bool:
        return not only or path in only

    # Heads are pages that somebody writes, and stand before others.
    whole = {page.path for page in table.page.values()}
    for path in written():
        name = str(path.relative_to(ROOT))
        if name not in whole and wanted(name):
            text, used = renderer.filled(path.read_text())
            outputs[name] = ("" if path.suffix == ".head" else renderer.warning(used)) + text
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pages = {p.path: pool.submit(renderer.page, p) for p in table.page.values() if wanted(p.path)}
        pictures = [pool.submit(renderer.pictures, p) for p in table.pictures.values() if wanted(p.folder)]
        outputs |= {path: page.result() for path, page in pages.items()}
        for found in pictures:
            outputs |= found.result()
    outputs |= {
        str(k.relative_to(ROOT)): v for k, v in algorithms.pages() if wanted(str(k.relative_to(ROOT)))
    }
    return outputs


def difference(path: str, new: str) -> list[str]:
    """What differs in a file."""
    place = ROOT / path
    old = place.read_text() if place.is_file() else ""
    return list(
        difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), path, f"{path}, rendered now", n=0
        )
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="only these, by path; pictures by their folder"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; print differences, exit with 1")
    arguments = parser.parse_args()
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    try:
        table = load()
        if (library := library_cache.library()) is None:
            raise tools.ToolError(f"{library_cache.DEFAULT} is missing: the figures are its")
        library_cache.unpack(library, ace)
        with tempfile.TemporaryDirectory() as scratch:
            renderer = Renderer(table, ace, Path(scratch))
            outputs = render(renderer, set(arguments.pages))
            old = {path: renderer.stale(path) for path in table.results if renderer.stale(path)}
    except (tools.ToolError, TableError, ConfigurationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if unknown := sorted(set(arguments.pages) - outputs.keys() - table.pictures.keys()):
        print(f"error: {unknown[0]} is no generated page", file=sys.stderr)
        return 2
    for path, changed in old.items():
        print(f"stale: {path}: {', '.join(changed)}")
    differ = 0
    for path, text in outputs.items():
        if not (lines := difference(path, text)):
            continue
        differ += 1
        if arguments.check:
            print(f"{path} is not what `make pages` writes:")
            sys.stdout.writelines(lines[:MOST_DIFFERENCES])
            if len(lines) > MOST_DIFFERENCES:
                print(f"… {len(lines) - MOST_DIFFERENCES} more lines")
        else:
            (ROOT / path).write_text(text)
            print(f"{path}: written")
    return 1 if arguments.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
