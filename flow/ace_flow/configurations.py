# SPDX-License-Identifier: Apache-2.0
"""What is built: the rows of algorithms/*/algorithm.toml. Every error names the file, the line of the row and the row."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ace_flow import algorithms
from ace_flow.capability import (
    DIRECTIONS,
    MODES,
    OPERATIONS,
    USUAL_MODES,
    Capability,
    ConfigurationError,
    Row,
    capability,
)
from ace_flow.rtl import Files, RtlError
from ace_flow.synth.lut_init import Places as KeptPlaces
from ace_flow.tools import ROOT

# Seeds that clocks are reported with: no choice is ever made with them. Whoever tries something out (`ace_flow.sweep`)
# does so with the others.
MEASURING = range(1101, 1106)
TRYING = range(1, 21)
# Where a top and what it needs are looked for, unless a row says otherwise.
SOURCES = ["rtl/**/*.sv", "rtl/**/*.svh", f"{algorithms.FOLDER.name}/*/rtl/**/*.sv"]
# Tests and experiments may point to a table of their own: a folder of algorithms, or one file of rows.
TABLE = Path(os.environ.get("ACE_CONFIGURATIONS", algorithms.FOLDER))
# Modes in which the direction is not asked for.
KEY_STREAMS = ("ctr", "ofb")
# The bits of what a gate has open, from the lowest (gate_t of rtl/slot/slot_pkg.sv).
OPEN = (*DIRECTIONS, *MODES[:3], *OPERATIONS, *MODES[3:])
SETS = ("demo", "library", "study")
SHAPES = ("iterative", "interleaved", "pipelined")
PASSES = ("carry",)
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Configuration:
    """One row of the table."""

    name: str
    summary: str
    top: str
    sources: tuple[str, ...]  # from the repository's root, packages first
    parameters: dict[str, int | str]
    synth: tuple[str, ...]  # options of synth_ecp5
    passes: tuple[str, ...]  # of the flow's own, over the netlist
    frequency_mhz: float
    seeds: tuple[int, ...]
    sets: tuple[str, ...]
    shape: str
    in_flight: int  # frames that the slot works on at a time
    can: tuple[Capability, ...]
    lut_places: KeptPlaces | None = None  # where its kept LUTs go
    of: str = ""  # of a variant: the row whose kept LUTs it fills differently


def _sources(row: Row, groups: dict[str, list[str]], rtl: Files) -> tuple[str, ...]:
    patterns: list[str] = []
    for item in row.get("sources", list, SOURCES):
        if not isinstance(item, str):
            raise row.fail("`sources` must be a list of strings")
        if item.startswith("@"):
            if item[1:] not in groups:
                raise row.fail(
                    f"`sources` names the unknown group {item}; known: {', '.join(sorted(groups))}"
                )
            patterns += groups[item[1:]]
        else:
            patterns.append(item)
    files: dict[str, None] = {}
    for pattern in patterns:
        found = rtl.find(pattern)
        if not found:
            raise row.fail(f"`sources`: nothing matches {pattern}")
        files.update(dict.fromkeys(found))
    # A name stands for a module, a package or a header, so that the file that it needs is one.
    seen: dict[str, str] = {}
    for file in files:
        if (other := seen.setdefault(Path(file).stem, file)) != file:
            raise row.fail(f"`sources`: {other} and {file} have one name")
    # A package has to be read before its users, and those that build on no other before the rest; else names decide,
    # which a file keeps where it goes.
    packages = {Path(f).stem for f in files if f.endswith("_pkg.sv")}

    def rank(file: str) -> tuple[int, str]:
        path = Path(file)
        return len(packages & rtl.names(file)) if path.stem in packages else len(packages) + 1, path.name

    try:
        return tuple(sorted(files, key=rank))
    except RtlError as error:
        raise ConfigurationError(str(error)) from None


def _needed(row: Row, top: str, files: tuple[str, ...], rtl: Files) -> tuple[str, ...]:
    """Those of the files that a top needs, so that a change of others is not a change of the row."""
    of = {Path(file).stem: file for file in files}
    if top not in of:
        raise row.fail(f"`top` is {top!r}, but no file of `sources` is {top}.sv")
    needed, todo = set(), [of[top]]
    while todo:
        file = todo.pop()
        if file not in needed:
            needed.add(file)
            try:
                todo += [of[word] for word in rtl.names(file) & of.keys()]
            except RtlError as error:
                raise ConfigurationError(str(error)) from None
    return tuple(file for file in files if file in needed)


def sources_of(top: str, where: str, patterns: Iterable[str] = SOURCES) -> tuple[str, ...]:
    """The files that a top needs, packages first; `where` names in errors who asks."""
    row, rtl = Row(where, {"sources": list(patterns)}), Files(ROOT)
    return _needed(row, top, _sources(row, {}, rtl), rtl)


def _parameters(row: Row, default: dict[str, int | str] | None = None) -> dict[str, int | str]:
    parameters = row.get("parameters", dict, default)
    for key, value in parameters.items():
        if not IDENTIFIER.fullmatch(key) or isinstance(value, bool) or not isinstance(value, int | str):
            raise row.fail(f"`parameters`: {key} must be an identifier with a whole number or a string")
    return dict(parameters)


def _can(row: Row, where: str, shared: dict[str, Capability]) -> tuple[Capability, ...]:
    can = row.get("can", list)
    if not can or not all(isinstance(c, dict | str) for c in can):
        raise row.fail("`can` must be names of algorithms or of [can.NAME], or tables of its own")
    for c in can:
        if isinstance(c, str) and c not in shared:
            raise row.fail(f"`can` names the unknown {c!r}; known: {', '.join(sorted(shared))}")
    return tuple(
        shared[c] if isinstance(c, str) else capability(Row(f"{where}, can {i + 1}", c))
        for i, c in enumerate(can)
    )


def _kept(row: Row) -> KeptPlaces | None:
    values = row.get("kept", dict, required=False)
    if values is None:
        return None
    place = Row(f"{row.where}, kept", values)
    slices = place.get("slices", str)
    if not slices or any(s not in "ABCD" for s in slices) or len(set(slices)) != len(slices):
        raise place.fail(f"`slices` is {slices!r}; some of ABCD are wanted")
    lut_places = KeptPlaces(place.integer("x", 1, 127), place.integer("y", 1, 127), slices)
    place.finish()
    return lut_places


def gate_bits(names: Iterable[str], key_min: int = 0, key_max: int = 63) -> int:
    """The parameter Gate: gate_t of rtl/slot/slot_pkg.sv, for a gate that lets pass what is named."""
    return 1 << 28 | key_max << 22 | key_min << 16 | sum(1 << OPEN.index(name) for name in names)


def _opened(row: Row, base: Configuration) -> tuple[dict[str, int | str], tuple[Capability, ...]]:
    """What `open` says: the parameters of the gate, and what is left of what the base can do."""
    gate = Row(f"{row.where}, open", row.get("open", dict))
    all_keys = sorted({n for c in base.can for n in c.key_bytes})
    keys = gate.integers("key_bytes", 5, 56, all_keys) if all_keys else ()
    directions = gate.choices("directions", DIRECTIONS, DIRECTIONS)
    base_modes = tuple(m for m in MODES if any(m in c.modes for c in base.can))
    modes = gate.choices("modes", MODES, base_modes or MODES)
    operations = gate.choices("operations", OPERATIONS, OPERATIONS)
    gate.finish()
    streams = [m for m in modes if m in KEY_STREAMS]
    if streams and len(streams) < len(modes) and len(directions) == 1:
        raise gate.fail(
            f"`modes` has {streams[0]} beside others, and a direction is closed; "
            f"that of {streams[0].upper()} is not asked for"
        )
    if len(streams) == len(modes):
        directions = DIRECTIONS
    if all_keys and [n for n in all_keys if min(keys) <= n <= max(keys)] != sorted(keys):
        raise gate.fail(f"`key_bytes` is {sorted(keys)}; neighbours among {all_keys} are wanted")
    can = []
    for c in base.can:
        left = replace(
            c,
            key_bytes=tuple(n for n in c.key_bytes if n in keys),
            directions=tuple(d for d in c.directions if d in directions),
            modes=tuple(m for m in c.modes if m in modes),
            operations=tuple(o for o in c.operations if o in operations),
        )
        if (left.key_bytes and left.directions and left.modes) or left.operations:
            can.append(left)
    if not can:
        raise gate.fail(f"nothing of what {base.name} can do is open")
    names = {name for c in can for name in (*c.modes, *c.operations)}
    if names & set(MODES) - set(KEY_STREAMS):
        names |= {name for c in can for name in c.directions}
    few = len(keys) < len(all_keys)
    return {"Gate": gate_bits(names, *((min(keys), max(keys)) if few else ()))}, tuple(can)


def _variant(
    row: Row, where: str, bases: dict[str, Configuration], shared: dict[str, Capability]
) -> Configuration:
    name, of = _name(row), row.get("of", str)
    base = bases.get(of)
    if base is None or base.lut_places is None or base.of:
        known = ", ".join(b.name for b in bases.values() if b.lut_places and not b.of)
        raise row.fail(f"`of` is {of!r}; [[configuration]]s with `kept` are {known}")
    if "open" in row.values:
        parameters, can = _opened(row, base)
    else:
        parameters, can = _parameters(row), _can(row, where, shared)
    variant = replace(
        base,
        name=name,
        summary=row.get("summary", str),
        parameters=base.parameters | parameters,
        # What the demo shows is named by itself.
        sets=tuple(row.choices("sets", SETS, tuple(s for s in base.sets if s != "demo"))),
        can=can,
        of=of,
    )
    row.finish()
    if variant.parameters == base.parameters:
        raise row.fail(f"`parameters` are those of {of}")
    return variant


def _name(row: Row) -> str:
    name = row.get("name", str)
    if not NAME.fullmatch(name):
        raise row.fail(f"`name` is {name!r}; small letters, digits and hyphens are allowed")
    return name


def _configuration(
    row: Row, where: str, groups: dict[str, list[str]], shared: dict[str, Capability], rtl: Files
) -> Configuration:
    name = _name(row)
    top = row.get("top", str)
    if not IDENTIFIER.fullmatch(top):
        raise row.fail(f"`top` is {top!r}, not an identifier")
    parameters = _parameters(row, {})
    frequency = float(row.get("frequency_mhz", (int, float)))
    if not 1 <= frequency <= 500:
        raise row.fail(f"`frequency_mhz` is {frequency}; 1 to 500 are allowed")
    synth = row.get("synth", list, [])
    if not all(isinstance(option, str) and option.startswith("-") for option in synth):
        raise row.fail("`synth` must be a list of options of synth_ecp5, each starting with a hyphen")
    passes = row.get("passes", list, [])
    if not all(name in PASSES for name in passes):
        raise row.fail(f"`passes` is {passes!r}; allowed: {', '.join(PASSES)}")
    can = _can(row, where, shared)
    shape = row.get("shape", str, "iterative")
    if shape not in SHAPES:
        raise row.fail(f"`shape` is {shape!r}; allowed: {', '.join(SHAPES)}")
    in_flight = row.integer("in_flight", 1, 64, 1)
    if (in_flight > 1) != (shape != "iterative"):
        raise row.fail(
            f"`in_flight` is {in_flight} and `shape` {shape!r}; iterative slots take 1, others more"
        )
    if shape != "iterative" and any(m not in USUAL_MODES for c in can for m in c.modes):
        raise row.fail(
            f"`shape` is {shape!r}; modes other than {', '.join(USUAL_MODES)} are for iterative slots"
        )
    configuration = Configuration(
        name=name,
        summary=row.get("summary", str),
        top=top,
        sources=_needed(row, top, _sources(row, groups, rtl), rtl),
        parameters=parameters,
        synth=tuple(synth),
        passes=tuple(passes),
        frequency_mhz=frequency,
        seeds=row.integers("seeds", 1, 2**31 - 1, list(MEASURING)),
        sets=tuple(row.choices("sets", SETS, ("library",))),
        shape=shape,
        in_flight=in_flight,
        can=can,
        lut_places=_kept(row),
    )
    row.finish()
    return configuration


def _lines(text: str, kind: str) -> list[int]:
    """The lines at which rows of a kind begin."""
    head = re.compile(rf"\s*\[\[\s*{kind}\s*\]\]")
    return [n for n, line in enumerate(text.splitlines(), 1) if head.match(line)]


def _file(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file of rows that belong to no algorithm, and what it says."""
    text, table = algorithms.read(path)
    unknown = sorted(set(table) - {"sources", "capability", "configuration", "variant"})
    if unknown:
        raise ConfigurationError(
            f"{path}: unknown table `{unknown[0]}`; known: capability, configuration, sources, variant"
        )
    return text, table


def _rows(path: Path, text: str, table: dict[str, Any], kind: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The rows of a kind, each with its kind and where it stands."""
    lines, rows = _lines(text, kind), table.get(kind, [])
    lines += [0] * (len(rows) - len(lines))
    name = "(no name)"
    return [
        (kind, f"{path}:{line}: {kind} {values.get('name', name)!r}", values)
        for line, values in zip(lines, rows, strict=False)
    ]


def load(path: Path = TABLE, root: Path = ROOT) -> dict[str, Configuration]:
    """The rows by name: configurations in the order of the algorithms' codes, and then variants."""
    groups: dict[str, list[str]] = {}
    shared: dict[str, Capability] = {}
    if path.is_dir():
        found = algorithms.load(path)
        for algorithm in found:
            shared |= algorithm.capabilities
        files = [(algorithm.path, algorithm.text, algorithm.table) for algorithm in found]
    else:
        text, table = _file(path)
        groups = table.get("sources", {})
        for name, values in table.get("capability", {}).items():
            shared[name] = capability(Row(f"{path}: capability {name!r}", values))
        files = [(path, text, table)]
    rows = [row for kind in ("configuration", "variant") for file in files for row in _rows(*file, kind)]
    if not any(kind == "configuration" for kind, *_ in rows):
        raise ConfigurationError(f"{path}: no [[configuration]]")
    configurations: dict[str, Configuration] = {}
    rtl = Files(root)
    for kind, where, values in rows:
        row = Row(where, values)
        if kind == "variant":
            configuration = _variant(row, where, configurations, shared)
        else:
            configuration = _configuration(row, where, groups, shared, rtl)
        if configuration.name in configurations:
            raise ConfigurationError(f"{where}: there is a row of this name already")
        configurations[configuration.name] = configuration
    return configurations
