# SPDX-License-Identifier: Apache-2.0
"""The rooms of the algorithms: algorithms/<name>/algorithm.toml, which crates/ace-algorithms reads for Rust."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ace_flow.capability import Capability, ConfigurationError, Row, capability
from ace_flow.tools import ROOT

FOLDER = ROOT / "algorithms"
FILE = "algorithm.toml"
# What slots compute, and what is in software as a whole.
KINDS = ("cipher", "hash", "aead")
# What a [can.NAME] says otherwise than the algorithm.
NARROWED = ("key_bytes", "directions", "modes", "operations")
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class Algorithm:
    """A room."""

    name: str
    title: str
    kind: str
    path: Path  # of its file
    text: str
    table: dict[str, Any]
    # What rows may say that they can: all of it, by its own name, and parts of it by others.
    capabilities: dict[str, Capability]

    @property
    def order(self) -> tuple[int, int, str]:
        """In listings: by code, then by the shortest key."""
        own = self.capabilities.get(self.name)
        return (own.code, min(own.key_bytes, default=0), self.name) if own else (256, 0, self.name)


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """A file's text and what it says."""
    try:
        text = path.read_text()
        return text, tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _line(text: str, part: str) -> int:
    """Where a [can.NAME] begins."""
    head = re.compile(rf"\s*\[\s*can\s*\.\s*\"?{re.escape(part)}\"?\s*\]")
    return next((n for n, line in enumerate(text.splitlines(), 1) if head.match(line)), 0)


def _algorithm(path: Path) -> Algorithm:
    name = path.parent.name
    text, table = read(path)
    if not NAME.fullmatch(name):
        raise ConfigurationError(
            f"{path}: the folder is called {name!r}; small letters, digits and hyphens are allowed"
        )
    row = Row(f"{path}: algorithm {name!r}", table)
    title = row.get("title", str)
    kind = row.get("kind", str)
    if kind not in KINDS:
        raise row.fail(f"`kind` is {kind!r}; allowed: {', '.join(KINDS)}")
    for key, form in (
        ("aliases", list),
        ("cpu", list),
        ("identifier", str),
        ("source", str),
        ("about", str),
        ("array", dict),
    ):
        row.get(key, form, required=False)
    narrowed, rows = (
        row.get("can", dict, {}),
        [*row.get("configuration", list, []), *row.get("variant", list, [])],
    )
    capabilities: dict[str, Capability] = {}
    if kind == "aead":
        if narrowed or rows:
            raise row.fail("an AEAD is in software as a whole; it has neither [can.NAME] nor rows")
    else:
        keys = ("code", "block_bytes", "key_bytes" if kind == "cipher" else "digest_bytes")
        own = {"algorithm": name, "kind": kind} | {key: row.get(key, (int, list)) for key in keys}
        capabilities[name] = capability(Row(row.where, own))
        for part, values in narrowed.items():
            where = f"{path}:{_line(text, part)}: algorithm {name!r}, can {part!r}"
            strange = sorted(values.keys() - set(NARROWED)) if isinstance(values, dict) else [part]
            if strange:
                raise ConfigurationError(f"{where}: unknown key `{strange[0]}`; known: {', '.join(NARROWED)}")
            capabilities[part] = capability(Row(where, own | values))
    row.finish()
    return Algorithm(name, title, kind, path, text, table, capabilities)


def load(folder: Path = FOLDER) -> list[Algorithm]:
    """All of them, in the order of listings."""
    found = [_algorithm(path) for path in folder.glob(f"*/{FILE}")]
    known: dict[str, Path] = {}
    for algorithm in found:
        for name in algorithm.capabilities:
            if name in known:
                raise ConfigurationError(f"{algorithm.path}: `can` {name!r} is that of {known[name]}, too")
            known[name] = algorithm.path
    return sorted(found, key=lambda algorithm: algorithm.order)
