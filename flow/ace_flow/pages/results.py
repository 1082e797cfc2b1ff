# SPDX-License-Identifier: Apache-2.0
"""Results files: what was measured by wall clock or took long, with date, machine, command and digests of its inputs.

python -m ace_flow measure [FILE …] [--list | --show]. Without names those are measured anew that are stale. A results
file is stale when an input has another digest than at the time: pages that are rendered from it say so in their first
line. --show prints what a command said that was recorded as text.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ace_flow import configurations, rtl, tools
from ace_flow.array import route as array_route
from ace_flow.build import library_cache
from ace_flow.pages.table import Results, TableError, load
from ace_flow.tools import ROOT

RECORDED = "recorded"
# In Rust: strings and characters, which stay, and comments, which say nothing.
RUST = re.compile(
    r"""(?P<text>\bb?r(?P<marks>\#*)".*?"(?P=marks)|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\\n])')"""
    r"|^[ \t]*//[^\n]*\n|[ \t]*//[^\n]*|/\*.*?\*/",
    re.DOTALL | re.MULTILINE,
)


def ace_binary() -> str:
    """The command line: $ACE_BIN, or what was built here."""
    return os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))


def machine() -> str:
    """The processor that this runs on, and how many."""
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{found[1].strip() if found else platform.machine()}, {os.cpu_count()} cores"


def without_comments(text: str) -> str:
    """A source in Rust without its comments."""
    return RUST.sub(lambda found: found["text"] or "", text)


def file_digest(path: Path) -> str:
    """Of what a file says; in RTL a comment or a line moved says nothing else, and in Rust no comment."""
    if path.suffix in (".sv", ".svh"):
        return hashlib.sha256(rtl.plain(path.read_text()).encode()).hexdigest()
    if path.suffix == ".rs":
        return hashlib.sha256(without_comments(path.read_text()).encode()).hexdigest()
    return tools.sha256(path)


def digest(spec: str) -> str:
    """The digest of an input: `crate:NAME` and `package:NAME` are versions; `sets:library` and `configurations:library` are what
    the signed library holds of these, whatever else is in it; everything else is files by glob."""
    kind, _, name = spec.partition(":")
    if kind == "crate":
        lock = (ROOT / "Cargo.lock").read_text()
        found = re.findall(rf'^name = "{re.escape(name)}"\nversion = "([^"]+)"', lock, re.MULTILINE)
        if not found:
            raise tools.ToolError(f"Cargo.lock has no crate {name}")
        return ", ".join(found)
    if kind == "package":
        return tools.package_version(name)
    if name == "library":
        listed = json.loads(tools.output([ace_binary(), "library", "list", "--json"]))[kind]
        present = [{key: value for key, value in one.items() if key != "library_version"} for one in listed]
        if kind == "sets":
            present = sorted([one["name"], one["sha256"]] for one in listed)
        return hashlib.sha256(json.dumps(present).encode()).hexdigest()
    paths = sorted(path for path in ROOT.glob(spec) if path.is_file() and "__pycache__" not in path.parts)
    if not paths:
        raise tools.ToolError(f"no file is called {spec}")
    listed = [[str(path.relative_to(ROOT)), file_digest(path)] for path in paths]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def recorded(command: list[str], inputs: tuple[str, ...]) -> dict[str, Any]:
    """What a results file says of its making."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "command": " ".join(command),
        "inputs": {spec: digest(spec) for spec in inputs},
    }


def record(path: str) -> dict[str, Any]:
    """The same for a file that docs/pages.toml names, for commands that write theirs themselves."""
    row = load().results.get(path)
    if row is None:
        raise TableError(
            f"docs/pages.toml has no [[results]] of {path}, and nothing would be rendered from it"
        )
    return recorded(row.command, row.inputs)


def _inputs(row: Results) -> list[str]:
    """Inputs with other digests than when the file was written."""
    known = _read(row).get(RECORDED, {}).get("inputs")
    if not isinstance(known, dict):
        return ["it does not say of what it was made"]
    changed = [spec for spec in row.inputs if known.get(spec) != digest(spec)]
    return changed + sorted(set(known) - set(row.inputs))


def _study(row: Results) -> list[str]:
    """Designs of a study that were changed."""
    from ace_flow import study

    return study.stale(Path(row.path).parent.name)


def _molen(row: Results) -> list[str]:
    """Programs and RTL of the Molen processor."""
    from ace_studies.molen_2003 import programs

    return [] if _read(row).get("inputs") == programs.inputs() else ["the programs or the processor's RTL"]


def _rounds(row: Results) -> list[str]:
    """Rows that lay out rounds, and their sources."""
    from ace_flow import rounds

    return rounds.stale()


def _sources(row: Results) -> list[str]:
    """Files that are listed with their digests."""
    known = _read(row).get("sources", {})
    return [
        source
        for source, value in known.items()
        if not (ROOT / source).is_file()
        or value not in (file_digest(ROOT / source), tools.sha256(ROOT / source))
    ] or ([] if known else ["it does not say of what it was made"])


def _routed(row: Results) -> list[str]:
    """Sources of the array's slot and tile."""
    files = {path.name: path for path in [*array_route.SLOT_SOURCES, *array_route.SOURCES]}
    changed = set()
    for what, entry in _read(row).items():
        for name, value in entry["inputs"].items():
            if name not in files or tools.sha256(files[name]) != value:
                changed.add(f"{name} (of {what})")
    return sorted(changed)


def _library(_: Results) -> list[str]:
    """Rows of the library whose sources are others now than those that they were placed of."""
    library = library_cache.library()
    if library is None:
        return ["it is missing"]
    library_cache.unpack(library, ace_binary())
    rows = [row for row in configurations.load().values() if "library" in row.sets]
    present = set(library_cache.find(rows, 1))
    return [f"row {row.name}" for row in rows if row.name not in present]


CHECKS: dict[str, Callable[[Results], list[str]]] = {
    "inputs": _inputs,
    "study": _study,
    "molen": _molen,
    "rounds": _rounds,
    "sources": _sources,
    "routed": _routed,
    "library": _library,
}


def _read(row: Results) -> dict[str, Any]:
    try:
        return json.loads((ROOT / row.path).read_text())
    except (OSError, ValueError) as error:
        raise tools.ToolError(
            f"{row.path}: {error}; `python -m ace_flow measure {row.path}` writes it"
        ) from None


def stale(row: Results) -> list[str]:
    """What has changed since a file was written, nothing if it is of the inputs as they are."""
    if row.check not in CHECKS:
        raise TableError(
            f"docs/pages.toml: {row.path}: no check {row.check!r}; there are {', '.join(CHECKS)}"
        )
    if not (ROOT / row.path).is_file():
        return ["it is missing"]
    return CHECKS[row.check](row)


def measure(row: Results, ace: str) -> None:
    """Runs what writes a file, and puts beside its values when, where and of what they were measured."""
    if not row.command:
        raise tools.ToolError(f"{row.path} is signed: `make library` makes it (RELEASING.md)")
    command = [{"ace": ace, "python": sys.executable}.get(row.command[0], row.command[0]), *row.command[1:]]
    (ROOT / "build" / "measure").mkdir(parents=True, exist_ok=True)
    if not row.prints:
        tools.run(command, ROOT / "build" / "measure" / f"{Path(row.path).stem}.log", cwd=ROOT)
        return
    about = recorded(row.command, row.inputs)
    listed = tools.output(command)
    value = {RECORDED: about, "values": json.loads(listed) if row.prints == "json" else listed}
    part = (ROOT / row.path).with_suffix(".part")
    part.write_text(json.dumps(value, indent=1) + "\n")
    part.replace(ROOT / row.path)


def shown(row: Results) -> str:
    """The text of a file, and where it is from."""
    value = _read(row)
    about, text = value[RECORDED], value["values"]
    if not isinstance(text, str):
        raise TableError(f"{row.path} holds values and no text")
    return f"{text}\nRecorded on {about['date']} ({about['machine']}) by `{about['command']}`.\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="results files; default: those that are stale"
    )
    parser.add_argument("--list", action="store_true", help="only say which there are, and what changed")
    parser.add_argument("--show", action="store_true", help="only print the recorded text of FILE")
    arguments = parser.parse_args()
    ace = ace_binary()
    try:
        table = load().results
        if unknown := sorted(set(arguments.files) - table.keys()):
            raise TableError(f"{unknown[0]} is none of the results files: {', '.join(table)}")
        if arguments.show:
            for name in arguments.files:
                sys.stdout.write(shown(table[name]))
            return 0
        for row in table.values():
            changed = stale(row)
            if arguments.list:
                # `… | head` ends quietly.
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                print(f"{row.path}: {'stale: ' + ', '.join(changed) if changed else 'current'}")
            elif row.path in arguments.files or (changed and not arguments.files):
                print(f"{row.path}: {' '.join(row.command)}", flush=True)
                measure(row, ace)
    except (tools.ToolError, TableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
