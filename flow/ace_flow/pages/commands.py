# SPDX-License-Identifier: Apache-2.0
"""The reference of the command line, as Markdown: python -m ace_flow commands [--exit-codes].

Every command of `ace` with what its --help prints; or the exit codes, as crates/ace-report/src/outcome.rs has them.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from ace_flow import tools
from ace_flow.tools import ROOT

OUTCOMES = ROOT / "crates" / "ace-report" / "src" / "outcome.rs"
# Which numbers the outcomes are, and what stands above each.
CODE = re.compile(r"Self::(?P<name>\w+) => (?P<code>\d+),")
MEANING = re.compile(r"/// (?P<meaning>[^\n]*)\n(?:    (?P<name>\w+),|pub const FAILED: u8 = (?P<code>\d+);)")
# A command in the list of another one's.
LISTED = re.compile(r"^  (?P<name>[a-z][a-z-]*)(?:  |$)", re.MULTILINE)


class ReferenceError(Exception):
    """Nothing can be made of what was found; the message says where."""


def help_of(ace: str, words: tuple[str, ...]) -> str:
    """What --help prints."""
    environment = {**os.environ, "NO_COLOR": "1"}
    command = [ace, *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise tools.ToolError(f"{' '.join(command)} (exit {done.returncode}): {done.stderr.strip()}")
    return done.stdout.rstrip()


def below(text: str) -> list[str]:
    """The commands that a --help lists."""
    _, found, rest = text.partition("\nCommands:\n")
    listed = rest.split("\n\n", 1)[0] if found else ""
    return [name for name in LISTED.findall(listed) if name != "help"]


def commands(ace: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every command with its --help, in the order in which they are listed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def walk(words: tuple[str, ...], text: str) -> Iterator[tuple[tuple[str, ...], str]]:
            yield words, text
            names = [(*words, name) for name in below(text)]
            for name, found in zip(names, pool.map(lambda name: help_of(ace, name), names), strict=True):
                yield from walk(name, found)

        yield from walk((), help_of(ace, ()))


def reference(ace: str) -> str:
    """All of it."""
    parts = []
    for words, text in commands(ace):
        name = " ".join(["ace", *words])
        parts.append(f"{'##' if len(words) < 2 else '###'} {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def exit_codes(text: str) -> str:
    """A table of what stands in the source."""
    numbers = {name: int(code) for name, code in CODE.findall(text)}
    rows = {}
    for found in MEANING.finditer(text):
        code = int(found["code"]) if found["code"] else numbers.get(found["name"])
        if code is not None:
            meaning = re.sub(r": exit code \d+", "", found["meaning"]).removeprefix("Exit code of ")
            rows[code] = meaning[0].upper() + meaning[1:]
    if len(rows) != len(numbers) + 1:
        raise ReferenceError(
            f"{OUTCOMES}: {len(numbers) + 1} codes, and {len(rows)} of them have words above"
        )
    return (
        "\n".join(
            ["| code | meaning |", "|--:|---|", *(f"| {code} | {rows[code]} |" for code in sorted(rows))]
        )
        + "\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exit-codes", action="store_true", help="the exit codes alone")
    arguments = parser.parse_args()
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    try:
        print(exit_codes(OUTCOMES.read_text()) if arguments.exit_codes else reference(ace), end="")
    except (tools.ToolError, ReferenceError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
