# SPDX-License-Identifier: Apache-2.0
"""Places and routes rows with many seeds on several parts, and says what came of it:
python -m ace_flow sweep [--set library | NAME …] [--seeds N] [--devices LIST] [--json] [-- SNAKEMAKE OPTIONS].

Runs through the Snakefile: what is done already is not done again, a killed sweep goes on where it was, and
Snakemake's own executors take the steps to a cluster (docs/sweeps.md). Nothing else of build/ changes.
"""

import argparse
import json
import statistics
import sys

from ace_flow import configurations, tools
from ace_flow.build import run
from ace_flow.layout import Places
from ace_flow.place import route
from ace_flow.tools import ROOT


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="rows of the table; default: all of the set")
    parser.add_argument("--set", dest="group", choices=configurations.SETS)
    parser.add_argument(
        "--seeds", type=int, default=3, help="so many seeds, none of which clocks are reported with (3)"
    )
    parser.add_argument("--devices", default=route.DEVICE, help=f"of {','.join(route.DEVICES)}")
    parser.add_argument("--jobs", type=int, default=2, help="local workers (2)")
    parser.add_argument("--json", action="store_true", help="print JSON, one object for a row on a part")
    ours, theirs = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        ours, theirs = arguments[:at], arguments[at + 1 :]
    parsed = parser.parse_args(ours)
    parsed.snakemake = theirs
    return parsed


def summarise(rows: list[configurations.Configuration], devices: list[str], seeds: int) -> list[dict]:
    """Of every row on every part: Fmax by seed, and the median. A route that failed is missing."""
    found = []
    for row in rows:
        for device in devices:
            fmax = {}
            for seed in configurations.TRYING[:seeds]:
                try:
                    report = json.loads(Places(row.name).sweep(device, seed).read_text())
                    fmax[seed] = report["fmax_mhz"]
                except (OSError, ValueError, KeyError):
                    continue
            median = round(statistics.median_low(fmax.values()), 2) if fmax else None
            found.append({"name": row.name, "device": device, "fmax_mhz": fmax, "median_mhz": median})
    return found


def show(found: list[dict], seeds: int) -> None:
    """A table of it."""
    print("| row | part | seeds | slowest | median | fastest MHz |\n|---|---|--:|--:|--:|--:|")
    for entry in found:
        reached = list(entry["fmax_mhz"].values())
        figures = [min(reached), entry["median_mhz"], max(reached)] if reached else []
        cells = " | ".join(f"{f:.1f}" for f in figures) if figures else "- | - | -"
        print(f"| {entry['name']} | {entry['device']} | {len(reached)} of {seeds} | {cells} |")


def main() -> int:
    """Runs a sweep; 0 if every route came through."""
    arguments = parse(sys.argv[1:])
    devices = arguments.devices.split(",")
    try:
        for device in devices:
            if device not in route.DEVICES:
                raise configurations.ConfigurationError(
                    f"--devices: {device!r} is none of {', '.join(route.DEVICES)}"
                )
        table = configurations.load()
        rows = [table[name] for name in run.choose(table, arguments.names, arguments.group)]
        most = len(configurations.TRYING)
        if not 1 <= arguments.seeds <= most:
            raise configurations.ConfigurationError(f"--seeds {arguments.seeds}: 1 to {most} are possible")
    except configurations.ConfigurationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    targets = [
        str(Places(row.name).sweep(device, seed).relative_to(ROOT))
        for row in rows
        for device in devices
        for seed in configurations.TRYING[: arguments.seeds]
    ]
    settings: dict[str, str | int] = {"seeds": arguments.seeds, "netlists": 0, "unpinned": 0}
    try:
        with run.alone():
            code = run.snakemake(
                [row.name for row in rows], settings, arguments.jobs, targets, tuple(arguments.snakemake)
            )
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    found = summarise(rows, devices, arguments.seeds)
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        show(found, arguments.seeds)
    return code


if __name__ == "__main__":
    sys.exit(main())
