# SPDX-License-Identifier: Apache-2.0
"""docs/pages.toml: which pages there are, what renders them, and which results files they are rendered from."""

import tomllib
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from ace_flow.tools import ROOT

TABLE = ROOT / "docs" / "pages.toml"


class TableError(Exception):
    """docs/pages.toml is wrong; the message says where and what is wanted."""


@dataclass(frozen=True)
class Results:
    """A file of what was measured by wall clock, or took long."""

    path: str
    command: list[str]  # what writes it, or prints its values (`prints`)
    inputs: tuple[str, ...] = ()  # files by glob, crate:NAME, package:NAME; or:
    check: str = "inputs"  # how it is known to be of the inputs as they are (results.CHECKS)
    prints: str = ""  # `json` or `text`: the command prints it, and the file is made of it


@dataclass(frozen=True)
class Page:
    """A page that is written whole: its head, and what its commands print, with lines of text between."""

    path: str
    commands: list[list[str] | str]
    head: str = ""
    results: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """A part of a page that somebody writes: what stands between `<!-- rendered: NAME -->` and `<!-- end -->`."""

    name: str
    command: list[str]
    results: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figures:
    """What `N<!-- = NAME.key -->` in a page looks up: JSON that a command prints, or a results file."""

    name: str
    command: list[str] = None  # type: ignore[assignment]
    results: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pictures:
    """A folder of pictures that a command draws."""

    folder: str
    command: list[str]
    results: tuple[str, ...] = ()


KINDS = {"results": Results, "page": Page, "block": Block, "figures": Figures, "pictures": Pictures}


@dataclass(frozen=True)
class Table:
    """The whole file."""

    results: dict[str, Results]
    page: dict[str, Page]
    block: dict[str, Block]
    figures: dict[str, Figures]
    pictures: dict[str, Pictures]


def _entry(kind: str, row: dict[str, Any], where: str) -> Any:
    made = KINDS[kind]
    known = {field.name: field for field in fields(made)}
    if unknown := sorted(set(row) - known.keys()):
        raise TableError(f"{where}: unknown key `{unknown[0]}`; known: {', '.join(known)}")
    needed = [name for name, field in known.items() if field.default is MISSING and name not in row]
    if needed:
        raise TableError(f"{where}: `{needed[0]}` has to be given")
    return made(**{key: tuple(v) if key in ("results", "inputs") else v for key, v in row.items()})


def load(path: Path = TABLE) -> Table:
    """Reads it; raises TableError, with the entry."""
    try:
        text = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{path}: {error}") from None
    if unknown := sorted(set(text) - KINDS.keys()):
        raise TableError(f"{path}: unknown table `{unknown[0]}`; known: {', '.join(KINDS)}")
    found: dict[str, dict[str, Any]] = {}
    for kind, made in KINDS.items():
        key = fields(made)[0].name
        entries: dict[str, Any] = {}
        for number, row in enumerate(text.get(kind, []), 1):
            where = f"{path}: {kind} {number} ({row.get(key, 'no ' + key)})"
            entry = _entry(kind, row, where)
            if getattr(entry, key) in entries:
                raise TableError(f"{where}: it stands twice")
            entries[getattr(entry, key)] = entry
        found[kind] = entries
    for kind in ("page", "block", "figures", "pictures"):
        for name, entry in found[kind].items():
            for of in entry.results:
                if of not in found["results"]:
                    raise TableError(f"{path}: {kind} {name}: there is no [[results]] of {of}")
    return Table(**found)
