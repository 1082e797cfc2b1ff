# SPDX-License-Identifier: Apache-2.0
"""Configurations that the committed library holds: they are taken out of it instead of being placed and routed.

A row is held if its recipe, the digest of all that decides its bits, is the one in the manifest that the library
carries. Comments and white space in the RTL are not part of it.
"""

import fcntl
import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import measure, route, synth, tools
from .configurations import Configuration
from .layout import BUILD
from .rtl import plain
from .tools import ROOT

# Where the library is; an empty value says that there is none.
VARIABLE = "ACE_FLOW_LIBRARY"
DEFAULT = ROOT / "library" / "ace.lib"
FOLDER = BUILD / "library"


def recipe(configuration: Configuration) -> str:
    """The digest of all that decides the bits of a row, seeds aside."""
    parts = {
        "sources": [
            [source, hashlib.sha256(plain((ROOT / source).read_text()).encode()).hexdigest()]
            for source in configuration.sources
        ],
        "synth": synth.settings(configuration),
        "route": route.settings(configuration, 0),
        "pins": tools.sha256(route.PINS),
        "pack": route.pack_command(Path("IN"), Path("OUT")),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def measured(configuration: Configuration) -> str:
    """The digest of what decides the cycle counts, the RTL aside."""
    parts = {
        "can": [c.as_json() for c in configuration.can],
        "in_flight": configuration.in_flight,
        "code": [tools.sha256(Path(measure.__file__).with_name(f)) for f in ("measure.py", "frames.py")],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_json(path: Path) -> dict | None:
    """An object in a file, if there is one."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def proves(proof: Path, manifest: Path) -> bool:
    """Whether a record says that the bits of a manifest are proven."""
    record, built = read_json(proof), read_json(manifest)
    if record is None or built is None or record.get("result") != "proven":
        return False
    return record.get("memory_sha256") == built.get("memory_sha256", "")


@dataclass(frozen=True)
class Places:
    """What the library holds of one configuration, taken out of it."""

    name: str

    @property
    def bitstream(self) -> Path:
        return FOLDER / self.name / f"{self.name}.bit"

    @property
    def manifest(self) -> Path:
        return FOLDER / self.name / "manifest.json"

    @property
    def proof(self) -> Path:
        return FOLDER / self.name / "proof.json"

    def read(self) -> dict | None:
        """The manifest, if there is one."""
        return read_json(self.manifest)

    def proven(self) -> bool:
        """Whether the library holds a proof of these very bits."""
        return proves(self.proof, self.manifest)


def library() -> Path | None:
    """The library, if there is one."""
    named = os.environ.get(VARIABLE)
    path = DEFAULT if named is None else Path(named)
    return path if named != "" and path.is_file() else None


def unpack(path: Path, ace: str) -> None:
    """Takes everything out of the library into build/library, if that is not there already. Its signature and
    the digest of every memory are checked on the way; the key that is trusted lies beside it."""
    key = path.with_suffix(".lib.pub")
    stamp = json.dumps([str(path), tools.sha256(path), tools.sha256(key) if key.is_file() else ""])
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with (FOLDER.parent / ".library.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark = FOLDER / "taken-from.json"
        if mark.is_file() and mark.read_text() == stamp:
            return
        shutil.rmtree(FOLDER, ignore_errors=True)
        command = [ace, "library", "extract", "--library", str(path), "--key", str(key), "--out", str(FOLDER)]
        tools.output(command)
        mark.write_text(stamp)


def _seeds(manifest: dict) -> list[int]:
    """The seeds with which a row of the library was placed."""
    return [route["seed"] for route in manifest.get("seeds", [])]


def find(rows: list[Configuration], seeds: int, unpinned: bool = False) -> list[str]:
    """The rows that the unpacked library holds as they are now, placed with at least so many seeds; if it is asked
    for, with what the places of their kept LUTs cost."""
    found = []
    for row in rows:
        manifest = Places(row.name).read()
        if (
            manifest is not None
            and manifest.get("recipe") == recipe(row)
            and _seeds(manifest) == list(row.seeds[: max(seeds, len(_seeds(manifest)))])
            and Places(row.name).bitstream.is_file()
            and ("kept" in manifest or row.kept is None)
            and ("unpinned_fmax_mhz" in manifest or not unpinned or row.kept is None or row.of != "")
        ):
            found.append(row.name)
    return found
