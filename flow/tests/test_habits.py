# SPDX-License-Identifier: Apache-2.0
"""Habits of the sources that no compiler or formatter looks at."""

import ast
import re
import unittest
from collections.abc import Iterator
from pathlib import Path

from ace_flow import tools

# As many lines a file may have; what is longer is two files.
MOST_LINES = 450
WORDS = (["String"], ["&str"], ["&'static str"])
FOLDERS = ("crates", "studies", "flow", "scripts", "tests", "examples", "rtl")


# Words of prose that name nothing: a value is an output, a message, resident, retained, buffered, …
NO_NAMES = {"said", "kept", "held", "tied"}
# Programs that tests start and that every machine with Rust, Python and make has (scripts/check-system.sh), and two that
# tests do without where they are not there.
BASE = {
    "bash",
    "cc",
    "cp",
    "dpkg-deb",
    "env",
    "g++",
    "git",
    "ip",
    "kill",
    "mkfifo",
    "python3",
    "sh",
    "sleep",
    "unshare",
    "go",
    "systemd-analyze",
}
# What the digest of a proof or of a measurement holds keeps its names until that is made anew for another reason; and
# fields that are called as the keys of files are.
DIGESTED = (
    "crates/ace-ecp5/",
    "crates/ace-ecp5-netlist/",
    "crates/ace-library/src/",
    "crates/ace-ipsec/src/shard/",
    "crates/ace-gateway/src/core/",
    "crates/ace-gateway/src/daemon/",
    "flow/ace_flow/equiv/",
    "flow/ace_flow/prove/",
    "flow/ace_flow/formal/",
    "flow/ace_flow/faults/table.py",
    "flow/ace_flow/synth/lut_init.py",
    "flow/ace_flow/place/route.py",
    "flow/tests/test_kept.py",
    "flow/ace_flow/sim/measure.py",
    "flow/ace_flow/sim/first_round.py",
    "flow/ace_flow/array/rates.py",
    "flow/ace_flow/array/bits.py",
    "studies/array.rs",
    "studies/drp-2006/",
    "studies/idea-2004/constant.rs",
    "studies/idea-2004/flow/constant_bits.py",
)
# Comments, strings and characters of Rust.
PROSE = re.compile(r"""//[^\n]*|/\*.*?\*/|r#".*?"#|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'(?=\W)""", re.DOTALL)


def sources(ending: str) -> Iterator[Path]:
    """The project's own files, relative to its root."""
    for folder in FOLDERS:
        for path in sorted((tools.ROOT / folder).rglob(f"*.{ending}")):
            if "target" not in path.parts:
                yield path.relative_to(tools.ROOT)


def is_test(path: Path) -> bool:
    """Whether a file is only there for tests."""
    return "tests" in path.parts or path.stem == "tests"


def arguments(text: str, at: int) -> list[str]:
    """The generic arguments whose `<` stands just before this place."""
    found, depth, begin = [], 0, at
    for place in range(at, len(text)):
        match text[place]:
            case "<" | "(" | "[":
                depth += 1
            case ">" if text[place - 1] in "-=":
                pass
            case ">" | ")" | "]" if depth == 0:
                return [*found, text[begin:place].strip()]
            case ">" | ")" | "]":
                depth -= 1
            case "," if depth == 0:
                found.append(text[begin:place].strip())
                begin = place + 1
            case ";" if depth == 0:
                return []
    return []


def stringly(text: str) -> Iterator[int]:
    """The lines in which Rust code has words for an error, and not a type."""
    for found in re.finditer(r"\bResult<", text):
        if arguments(text, found.end())[1:2] in WORDS:
            yield text.count("\n", 0, found.start()) + 1
    for found in re.finditer(r"\btype Err(or)? = (String|&'static str);", text):
        yield text.count("\n", 0, found.start()) + 1


def names(path: Path, text: str) -> set[str]:
    """All that is a name in a source."""
    if path.suffix == ".rs":
        return set(re.findall(r"\w+", PROSE.sub(" ", text)))
    nodes = list(ast.walk(ast.parse(text)))
    return {str(getattr(node, of, "")) for node in nodes for of in ("id", "arg", "attr", "name")}


class Habits(unittest.TestCase):
    def test_errors_are_types(self) -> None:
        for path in sources("rs"):
            if not is_test(path):
                found = [f"{path}:{line}" for line in stringly((tools.ROOT / path).read_text())]
                with self.subTest(path):
                    self.assertEqual(found, [], "an error is an enum of its crate (thiserror), not words")

    def test_words_for_an_error_are_found(self) -> None:
        for text, found in (
            ("fn a() -> Result<(), String> {", [1]),
            ("\nfn a() -> Result<\n    Vec<(u8, String)>,\n    String,\n> {", [2]),
            ("Option<Result<Box<dyn Fn(u8) -> u8>, String>>", [1]),
            ("    type Err = String;", [1]),
            ("Result<u8, &'static str>", [1]),
            ("fn a() -> Result<String> {", []),
            ("fn a() -> Result<Map<u8, String>> {", []),
            ("fn a() -> Result<String, Error> {", []),
            ("fn a() -> Result<[u8; 4], Vec<String>> {", []),
        ):
            self.assertEqual(list(stringly(text)), found, text)

    def test_names_say_what_a_thing_is(self) -> None:
        for path in [*sources("rs"), *sources("py")]:
            if not str(path).startswith(DIGESTED):
                found = names(path, (tools.ROOT / path).read_text()) & NO_NAMES
                with self.subTest(path):
                    self.assertEqual(found, set())
        for path, text in (("a.rs", 'let held = "kept"; // said'), ("a.py", 'held = "kept"  # said')):
            self.assertEqual(names(Path(path), text) & NO_NAMES, {"held"}, path)

    def test_ci_installs_what_tests_start(self) -> None:
        listed = (tools.ROOT / ".ci/programs").read_text().splitlines()
        there = BASE | {line.split()[0] for line in listed if line and not line.startswith("#")}
        for path in filter(is_test, sources("rs")):
            started = set(re.findall(r'Command::new\("([^"/]+)"\)', (tools.ROOT / path).read_text()))
            with self.subTest(file=str(path)):
                self.assertEqual(started - there, set(), "no package of it in .ci/programs")

    def test_no_file_is_too_long(self) -> None:
        for path in [*sources("rs"), *sources("py"), *sources("sh")]:
            lines = (tools.ROOT / path).read_text().count("\n")
            self.assertLessEqual(lines, MOST_LINES, path)


if __name__ == "__main__":
    unittest.main()
