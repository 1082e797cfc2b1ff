# SPDX-License-Identifier: Apache-2.0
"""Configurations that the committed library holds: they are taken out of it instead of being placed and routed.

A row is held if its recipe, the digest of all that decides its bits, is the one in the manifest that the library
carries. Contents are part of it and paths are not, nor are comments and white space in the RTL (digest.py).
"""

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ace_flow import digest, tools
from ace_flow.configurations import NAME, Configuration
from ace_flow.layout import BUILD
from ace_flow.place import route
from ace_flow.prove import bitstream as prove
from ace_flow.sim import first_round, frames, measure
from ace_flow.synth import ecp5
from ace_flow.tools import ROOT

# Where the library is; an empty value says that there is none.
VARIABLE = "ACE_FLOW_LIBRARY"
DEFAULT = ROOT / "library" / "ace.lib"
FOLDER = BUILD / "library"


def recipe(configuration: Configuration) -> str:
    """The digest of all that decides the bits of a row, seeds aside."""
    parts = {
        "sources": digest.sources(ROOT / source for source in configuration.sources),
        "synth": ecp5.settings(configuration),
    }
    return digest.of(parts | _after(configuration))


def after(configuration: Configuration) -> str:
    """The digest of what decides the bits of a row besides its netlist and its seeds."""
    return digest.of(_after(configuration))


def _after(configuration: Configuration) -> dict:
    return {
        "route": route.settings(configuration, 0),
        "pins": tools.sha256(route.PINS),
        "pack": route.pack_command(Path("IN"), Path("OUT")),
    }


def measured(configuration: Configuration) -> str:
    """The digest of what decides the cycle counts, the RTL aside."""
    parts = {
        "can": [c.as_json() for c in configuration.can],
        "in_flight": configuration.in_flight,
        "code": [digest.code(module) for module in counted_by(configuration)],
    }
    return digest.of(parts)


def counted_by(configuration: Configuration) -> list[ModuleType]:
    """The modules of the flow that decide the cycle counts of a row."""
    modules = [measure, frames]
    return modules + [first_round] * first_round.applies(configuration.can, configuration.in_flight)


def read_json(path: Path) -> dict | None:
    """An object in a file, if there is one."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


# The format of what a record says of the way from the netlist to the RTL (`TIE_FORMAT` in crates/ace-board/src/record.rs).
TIE = 2


def proves(proof: Path, manifest: Path) -> bool:
    """Whether a record of this flow's format says that the bits of a manifest are proven to be its netlist, with a
    control that was refuted (crates/ace-board/src/record.rs asks the same)."""
    record, built = read_json(proof), read_json(manifest)
    if record is None or built is None:
        return False
    control = record.get("control")
    if not isinstance(control, dict) or control.get("result") != "refuted":
        return False
    refuted, way = control.get("points_refuted"), record.get("tied_to_rtl_by")
    if isinstance(way, dict) and way.get("format") != TIE:
        return False
    return (
        record.get("format") == prove.RECORD
        and record.get("result") == "proven"
        and record.get("memory_sha256") == built.get("memory_sha256", "")
        and record.get("netlist_sha256") == built.get("netlist_sha256", "")
        and isinstance(refuted, int)
        and refuted > 0
        and control.get("memory_sha256", "") not in ("", record.get("memory_sha256"))
    )


def tie(proof: Path) -> dict:
    """What a record says of the way from the netlist to the RTL; older ones say in words that it was simulated."""
    stated = (read_json(proof) or {}).get("tied_to_rtl_by")
    return stated if isinstance(stated, dict) else {}


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

    def proven(self, with_tie: bool = False) -> bool:
        """Whether the library holds a proof of these very bits; `tied`: and what came of the proof from there to the
        RTL."""
        return proves(self.proof, self.manifest) and (not with_tie or tie(self.proof) != {})


def library() -> Path | None:
    """The library, if there is one."""
    named = os.environ.get(VARIABLE)
    path = DEFAULT if named is None else Path(named)
    return path if named != "" and path.is_file() else None


def trusted() -> str:
    """What names whom `ace` trusts besides the keys that are compiled into it; a digest of it where it is a file."""
    key = os.environ.get("ACE_LIBRARY_KEY", "")
    return tools.sha256(Path(key)) if key and Path(key).is_file() else key


def unpack(path: Path, ace: str) -> None:
    """Takes everything out of the library into build/library, if that is not there already. `ace` checks on the way
    whose signature it has (the key is compiled in, or named by ACE_LIBRARY_KEY), that it is not older than one that was
    here before, and the digest of every memory."""
    stamp = json.dumps([str(path), tools.sha256(path), trusted(), tools.sha256(ROOT / ace)])
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with (FOLDER.parent / ".library.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark = FOLDER / "taken-from.json"
        if mark.is_file() and mark.read_text() == stamp:
            return
        shutil.rmtree(FOLDER, ignore_errors=True)
        command = [ace, "library", "extract", "--json", "--library", str(path), "--out", str(FOLDER)]
        stated = json.loads(tools.output(command))["configurations"]
        strange = [name for name in stated if not NAME.fullmatch(name)]
        if strange:
            shutil.rmtree(FOLDER, ignore_errors=True)
            raise tools.ToolError(f"{path}: {strange[0]!r} is no name for a configuration")
        FOLDER.mkdir(exist_ok=True)
        mark.write_text(stamp)


def _seeds(manifest: dict) -> list[int]:
    """The seeds with which a row of the library was placed."""
    return [route["seed"] for route in manifest.get("seeds", [])]


def find(
    rows: list[Configuration], seeds: int, unpinned: bool = False, renewed: frozenset[str] = frozenset()
) -> list[str]:
    """The rows that the unpacked library holds as they are now, placed with at least so many seeds; if it is asked
    for, with what the places of their kept LUTs cost. Of those to be renewed the sources may have changed: whether
    their netlist did is seen when it is made."""
    found = []
    for row in rows:
        manifest = Places(row.name).read()
        if (
            manifest is not None
            and (row.name in renewed or manifest.get("recipe") == recipe(row))
            and manifest.get("after_netlist", after(row)) == after(row)
            and _seeds(manifest) == list(row.seeds[: max(seeds, len(_seeds(manifest)))])
            and Places(row.name).bitstream.is_file()
            and ("kept" in manifest or row.lut_places is None)
            and ("unpinned_fmax_mhz" in manifest or not unpinned or row.lut_places is None or row.of != "")
        ):
            found.append(row.name)
    return found
