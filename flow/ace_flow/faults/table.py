# SPDX-License-Identifier: Apache-2.0
"""The faults that are put into the RTL on purpose: algorithms/*/faults.toml, rtl/array/faults.toml of the array's slot, and
flow/faults.toml of what algorithms share."""

import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ace_flow import algorithms, configurations, tools
from ace_flow.rtl import Files
from ace_flow.tools import ROOT

TABLE = tools.FLOW / "faults.toml"
ARRAY = ROOT / "rtl" / "array" / TABLE.name
# What finds a fault. The proof finds all of them; it is the last one's only finder.
TESTS = ("known answers", "independence", "proof")


@dataclass(frozen=True)
class Fault:
    """One change of one line of text."""

    number: int
    algorithm: str
    configuration: str
    what: str
    file: str  # from the repository's root; in the table its name alone
    find: str
    replace: str
    caught_by: str = TESTS[0]


def tables() -> list[Path]:
    """The files of faults, those of algorithms in their order."""
    own = [algorithm.path.with_name(TABLE.name) for algorithm in algorithms.load()]
    return [*(path for path in [*own, ARRAY] if path.is_file()), TABLE]


def _rows(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The rows of a file; those of an algorithm are of it."""
    of = {} if path == TABLE else {"algorithm": path.parent.name}
    try:
        rows = tomllib.loads(path.read_text()).get("fault", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise configurations.ConfigurationError(f"{path}: {error}") from None
    for row in rows:
        yield path, of | row


def load() -> list[Fault]:
    """The rows of all tables; every text to be changed has to occur exactly once."""
    rtl, files = Files(ROOT), {}
    for pattern in configurations.SOURCES:
        files |= {Path(file).name: file for file in rtl.find(pattern)}
    faults = []
    for number, (path, row) in enumerate([row for table in tables() for row in _rows(table)], 1):
        try:
            fault = Fault(number, **row | {"file": files.get(row.get("file"), "")})
        except TypeError as error:
            raise configurations.ConfigurationError(f"{path}: fault {number}: {error}") from None
        if not fault.file:
            raise configurations.ConfigurationError(
                f"{path}: fault {number} ({fault.what}): no source is called {row.get('file')!r}; the name is wanted, "
                "without a folder"
            )
        if fault.caught_by not in TESTS:
            raise configurations.ConfigurationError(
                f"{path}: fault {number}: `caught_by` is {fault.caught_by!r}; allowed: {', '.join(TESTS)}"
            )
        text = (ROOT / fault.file).read_text()
        if text.count(fault.find) != 1 or fault.find == fault.replace:
            raise configurations.ConfigurationError(
                f"{path}: fault {number} ({fault.what}): {fault.find!r} occurs {text.count(fault.find)} times in "
                f"{fault.file}, once is wanted, and the replacement has to differ"
            )
        faults.append(fault)
    return faults


def of(configuration: configurations.Configuration) -> list[Fault]:
    """Those that are put into a configuration: the proof has to refute each."""
    return [fault for fault in _inside(configuration) if fault.configuration == configuration.name]


def shared(configuration: configurations.Configuration) -> list[Fault]:
    """Those of other configurations in the files of this one, those of the algorithm's own files first. What a variant
    leaves out makes no difference to it, so that it is enough that the proof refutes one."""
    found = [fault for fault in _inside(configuration) if fault.configuration != configuration.name]
    return sorted(found, key=lambda fault: (not fault.file.startswith(algorithms.FOLDER.name), fault.number))


def _inside(configuration: configurations.Configuration) -> list[Fault]:
    return [fault for fault in load() if fault.file in configuration.sources]


def said(faults: list[Fault]) -> list[dict[str, Any]]:
    """What decides a result with these faults: neither their numbers nor where their files are."""
    return [asdict(fault) | {"number": 0, "file": Path(fault.file).name} for fault in faults]
