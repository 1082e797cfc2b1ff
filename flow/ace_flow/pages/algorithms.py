# SPDX-License-Identifier: Apache-2.0
"""A page for each algorithm, algorithms/*/README.md: of algorithm.toml and of the manifests in the library."""

import csv
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ace_flow import algorithms, configurations, cores
from ace_flow.algorithms import Algorithm
from ace_flow.build import library_cache
from ace_flow.configurations import Configuration
from ace_flow.place import route
from ace_flow.tools import ROOT

AREA = {"lut4": "LUT4", "ccu2c": "CCU2C", "ff": "FF", "ebr": "EBR", "mult18": "MULT18"}
COLUMNS = ["configuration", "", "in flight", *AREA.values(), "Fmax MHz", "cycles a block", "Mb/s"]
FIGURES = (
    f"Of {route.DEVICE}, speed {route.SPEED}, after place and route; cells are of the whole slot, cycles are measured in "
    "the simulated RTL. Not tried on silicon. [docs/configurations.md](../../docs/configurations.md) has every mode and "
    "key length."
)
ELSEWHERE = (
    "Every slot has the same pins: a clock, an asynchronous reset, and an AXI4-Stream of 64 bits in each direction. [The slot "
    "boundary](../../docs/slot.md) says what goes over them. Clocks depend on lengths alone, never on keys or data, and tests "
    "compare them. The cores are not masked. FuseSoC takes a slot as the target `lint_NAME` of `ace:crypto:slots` "
    "([ace.core](../../ace.core)). Bender takes it by `-t NAME`. [A slot under cocotb](../../examples/cocotb-slot/README.md) "
    "simulates one, alone and inside LiteX."
)
# The document of a known answer, in front of what names the answer.
DOCUMENT = re.compile(
    r"(?:RFC|FIPS) \d+(?:-\d+)?|(?:NBS )?SP \d+-\w+|GB/T \d+(?:-\d+)?|GOST R [\d.]+-\d+|draft(?:-[a-z]\w*)+|[a-z]+/[\w./]+|"
    r"(?:NIST CAVP|nist_cavp|pyca|the empty message|McGrew and Viega 2005|Lai 1992)|[A-Z][\w+]*(?: submission| paper)?"
)
SPELT = {"nist_cavp": "NIST CAVP"}
MARK = "<!-- Written by `make pages`. -->"


def span(values: Iterable[float], digits: int) -> str:
    """The least and the greatest, once if they look the same."""
    ordered = sorted(values)
    ends = [f"{value:.{digits}f}" for value in (ordered[0], ordered[-1])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def line(row: Configuration, manifest: dict, algorithm: str) -> str:
    """A configuration of the library, as far as it computes an algorithm; area and clock are the whole slot's."""
    cycles = [c["cycles"] for c in manifest["cycles"]["per_block"] if c["algorithm"] == algorithm]
    speeds = [t["mbps"] for t in manifest["throughput_mbps"] if t["algorithm"] == algorithm]
    cells = [str(manifest["area"][cell]) for cell in AREA]
    figures = [f"{manifest['fmax_mhz']:.1f}", span(cycles, 1), span(speeds, 0)]
    return f"| {' | '.join([row.name, row.summary, str(row.in_flight), *cells, *figures])} |"


def links(paths: Iterable[Path], folder: Path) -> str:
    """Links to files, from a folder, each by its name."""
    return ", ".join(f"[{path.name}]({os.path.relpath(path, folder)})" for path in paths)


def facts(algorithm: Algorithm, rows: list[Configuration]) -> list[str]:
    """What algorithm.toml and the folder say."""
    folder, table = algorithm.path.parent, algorithm.table
    entries = {"standard": table["source"]}
    if own := algorithm.capabilities.get(algorithm.name):
        entries |= {"code": f"0x{own.code:02x}", "block": f"{own.block_bytes} bytes"}
        lengths = ", ".join(map(str, own.key_bytes))
        entries |= {"key": f"{lengths} bytes"} if own.key_bytes else {"digest": f"{own.digest_bytes} bytes"}
    if table.get("aliases"):
        entries["other names"] = ", ".join(f"`{alias}`" for alias in table["aliases"])
    if rows:
        tops = {row.top: row.sources for row in rows}
        files = [
            ROOT / next(s for s in sources if Path(s).stem == top) for top, sources in sorted(tops.items())
        ]
        entries["slots"] = links(files, folder)
    if table.get("array"):
        entries["on the array"] = links(sorted((folder / "array").glob("*.ace")), folder)
    entries["on the CPU"] = ", ".join(f"`{of}`" for of in table.get("cpu", [])) or "in `ace-engine`"
    answers = [f"{links([path], folder)}: {documents(path)}" for path in sorted(folder.glob("*.csv"))]
    entries["known answers"] = "; ".join(answers)
    return ["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in entries.items())]


def documents(path: Path) -> str:
    """Where a file's answers are from, with how many of each."""
    found: dict[str, int] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            match = DOCUMENT.match(row["source"])
            if match is None:
                raise ValueError(f"{path}: no document in front of {row['source']!r}")
            name = SPELT.get(match[0], match[0])
            found[name] = found.get(name, 0) + 1
    return ", ".join(f"{name} ({count})" for name, count in found.items())


def elsewhere(rows: list[Configuration]) -> list[str]:
    """The slots as other builds have them: parameters and their defaults, files."""
    lines = ["| slot | parameters | files |", "|---|---|--:|"]
    for top in sorted({row.top: row for row in rows}.values(), key=lambda row: row.top):
        named = ", ".join(f"`{name}` = {value.strip()}" for name, value in cores.parameters(top).items())
        lines.append(f"| `{top.top}` | {named or 'none'} | {len(top.sources)} |")
    return lines


def page(algorithm: Algorithm, table: dict[str, Configuration]) -> str:
    """What stands in an algorithm's README.md."""
    rows = [row for row in table.values() if any(c.algorithm == algorithm.name for c in row.can)]
    parts = [f"# {algorithm.title}", MARK, algorithm.table["about"], "\n".join(facts(algorithm, rows))]
    manifests = {row.name: library_cache.Places(row.name).read() for row in rows if "library" in row.sets}
    lines = [
        line(row, manifest, algorithm.name)
        for row in rows
        if (manifest := manifests.get(row.name)) is not None
    ]
    if lines:
        head = [f"| {' | '.join(COLUMNS)} |", f"|---|---|{'--:|' * (len(COLUMNS) - 2)}"]
        parts += [
            "## In the library",
            FIGURES,
            "\n".join([*head, *lines]),
        ]
    others = [row for row in rows if manifests.get(row.name) is None]
    if others:
        parts += ["## Besides", "\n".join(f"* `{row.name}`: {row.summary}" for row in others)]
    if rows:
        parts += ["## In other designs", ELSEWHERE, "\n".join(elsewhere(rows))]
    return "\n\n".join(parts) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Every algorithm's page and what stands in it; the library has to be unpacked (library_cache.unpack)."""
    table = configurations.load()
    for algorithm in algorithms.load():
        yield algorithm.path.with_name("README.md"), page(algorithm, table)
