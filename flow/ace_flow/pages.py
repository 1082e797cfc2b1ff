# SPDX-License-Identifier: Apache-2.0
"""A page for each algorithm: python -m ace_flow pages [--check].

Writes algorithms/*/README.md from algorithm.toml and from the manifests in the library: no figure is typed. `--check`
writes nothing, and says which pages are not what would be written.
"""

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from ace_flow import algorithms, configurations, tools
from ace_flow.algorithms import Algorithm
from ace_flow.build import library_cache
from ace_flow.capability import ConfigurationError
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
MARK = "<!-- Written by `make algorithms`. -->"


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
    said = {"standard": table["source"]}
    if own := algorithm.capabilities.get(algorithm.name):
        said |= {"code": f"0x{own.code:02x}", "block": f"{own.block_bytes} bytes"}
        lengths = ", ".join(map(str, own.key_bytes))
        said |= {"key": f"{lengths} bytes"} if own.key_bytes else {"digest": f"{own.digest_bytes} bytes"}
    if table.get("aliases"):
        said["other names"] = ", ".join(f"`{alias}`" for alias in table["aliases"])
    if rows:
        tops = {row.top: row.sources for row in rows}
        files = [
            ROOT / next(s for s in sources if Path(s).stem == top) for top, sources in sorted(tops.items())
        ]
        said["slots"] = links(files, folder)
    if table.get("array"):
        said["on the array"] = links(sorted((folder / "array").glob("*.ace")), folder)
    said["on the CPU"] = ", ".join(f"`{of}`" for of in table.get("cpu", [])) or "in `ace-engine`"
    said["known answers"] = links(sorted(folder.glob("*.csv")), folder)
    return ["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in said.items())]


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
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say which pages are stale")
    check = parser.parse_args().check
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    try:
        table, rooms = configurations.load(), algorithms.load()
        if (library := library_cache.library()) is None:
            raise tools.ToolError(f"{library_cache.DEFAULT} is missing: the figures are its")
        library_cache.unpack(library, ace)
    except (tools.ToolError, ConfigurationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    stale = []
    for algorithm in rooms:
        place, text = algorithm.path.with_name("README.md"), page(algorithm, table)
        if not place.is_file() or place.read_text() != text:
            stale.append(place.relative_to(ROOT))
            if not check:
                place.write_text(text)
    for place in stale:
        print(f"{place}: {'stale; `make algorithms` writes it' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
