# SPDX-License-Identifier: Apache-2.0
"""The bits of the array's slot: what `array_route --keep` has routed, as a bitstream with a manifest, proven to be its
netlist like every configuration's (docs/proof.md), in the form in which configurations go into a library.

python -m ace_flow array-bits --ace target/release/ace [--tiles 1] [--ways 1] [--lanes 16] [--seed 1101 | --held]
ace library add array --configurations build/array/configurations --secret KEY

Without a seed it is the one of the median. What the proof came to goes to array/routed.json. `--held`: where the sources
say the same in other words, the bits that the library holds are proven to be the netlist of the sources as they are now
(`array-route slot --seeds ""` makes it), and nothing is placed.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from ace_flow import digest, tools
from ace_flow.array import model as array
from ace_flow.array import route as array_route
from ace_flow.array.model import SLOT, Parts
from ace_flow.array.route import KEPT, inputs, netlist_of
from ace_flow.build import library_cache
from ace_flow.build.manifest import PINS_WARNING, SCHEMA, describe, versions
from ace_flow.cache import publish
from ace_flow.configurations import Configuration
from ace_flow.equiv import to_rtl
from ace_flow.layout import Places
from ace_flow.place import route
from ace_flow.prove import bitstream as prove

NAME = "array"
FOLDER = array.BUILD / "configurations" / NAME


def median(routed: dict) -> int:
    """The seed whose clock is the slot's."""
    routes = [{"seed": int(seed), "fmax_mhz": mhz} for seed, mhz in routed["seeds"].items()]
    return route.median(routes)["seed"]


def memory(ace: str, bitstream: Path) -> str:
    """The digest of the configuration memory that a bitstream leaves, by the board's own port."""
    return json.loads(tools.output([ace, "inspect", str(bitstream), "--json"]))["memory_sha256"]


def row(parts: Parts = SLOT) -> Configuration:
    """The slot as a row of the table would say it."""
    return replace(array.rows()[0], parameters=parts.parameters)


def places(parts: Parts = SLOT) -> Places:
    """Where the slot is."""
    found = Places(NAME, FOLDER.parent)
    found.netlist_json = netlist_of("slot", parts)
    found.makes = f'array-route slot {parts.options} --seeds ""'
    return found


def recipe(routed: dict) -> str:
    """The digest of all that decides the bits of what array/routed.json keeps, seeds aside."""
    settings = array_route.settings(Parts.routed(routed), routed["asked_mhz"])
    return digest.of([digest.sources(array.SLOT_SOURCES), settings])


def proven(ace: str, bitstream: Path, routed: dict) -> dict:
    """The record of the proof that bits are the netlist, and of the one from there to the RTL."""
    parts = Parts.routed(routed)
    netlist = netlist_of("slot", parts)
    with tempfile.TemporaryDirectory(dir=array.BUILD, prefix=".prove-") as folder:
        record = prove.prove(array.SLOT_TOP, bitstream, netlist, Path(folder))
    if record["memory_sha256"] != memory(ace, bitstream):
        raise tools.ToolError(f"{bitstream} changed while it was proven; run it again")
    return record | {"tied_to_rtl_by": to_rtl.tie(row(parts), places(parts), recipe(routed))}


def write(record: dict, manifest: dict) -> None:
    """Puts both beside the bits."""
    (FOLDER / "proof.json").write_text(json.dumps(record, indent=1) + "\n")
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def make(ace: str, routed: dict, seed: int) -> dict:
    """Packs and proves; writes the folder; the record of the proof."""
    parts = Parts.routed(routed)
    netlist = netlist_of("slot", parts)
    config, report = netlist.parent / f"route-{seed}.config", netlist.parent / f"report-{seed}.json"
    for path in (netlist, config, report):
        if not path.is_file():
            raise tools.ToolError(f"{path} is missing; `python -m ace_flow array-route slot` makes it")
    clock = route.summary(json.loads(report.read_text()), seed)
    if clock["fmax_mhz"] != routed["seeds"].get(str(seed)):
        raise tools.ToolError(
            f"{report} says {clock['fmax_mhz']} MHz, and {KEPT} another clock of seed {seed}"
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    bitstream = FOLDER / f"{NAME}.bit"
    route.pack(config, bitstream, FOLDER / "log" / "pack.log")
    publish(config, FOLDER / f"route-{seed}.config")
    place = FOLDER / f"route-{seed}.json"
    place.write_text(json.dumps(clock, indent=1) + "\n")
    record = proven(ace, bitstream, routed)
    model, about = array.made(parts)
    manifest = {
        "schema": SCHEMA,
        "name": NAME,
        "summary": f"the multi-context array: tiles: {parts.tiles}, of each ways: {parts.ways}, lanes: {parts.lanes}; "
        "what it computes context sets say",
        "top": array.SLOT_TOP,
        "parameters": parts.parameters,
        "in_flight": parts.tiles * parts.lanes,
        "can": [],
        "device": route.DEVICE,
        "package": route.PACKAGE,
        "speed": route.SPEED,
        "pins": PINS_WARNING,
        "area": routed["cells"],
        **{key: clock[key] for key in ("fmax_mhz", "critical_path")},
        "seeds": [{"seed": int(seed), "fmax_mhz": mhz} for seed, mhz in routed["seeds"].items()],
        "timing": {
            "seed": seed,
            "report_sha256": tools.sha256(place),
            "design_sha256": tools.sha256(FOLDER / f"route-{seed}.config"),
        },
        "tools": versions(),
        "recipe": recipe(routed),
        **about,
        "memory_sha256": record["memory_sha256"],
        "netlist_sha256": tools.sha256(netlist),
        "inputs": routed["inputs"] | {route.PINS.name: tools.sha256(route.PINS)},
        "files": {"bitstream": describe(bitstream, FOLDER), "model": describe(model, FOLDER)},
    }
    write(record, manifest)
    return record


def renew(ace: str, routed: dict) -> dict:
    """Proves that what the library holds is the netlist of the sources as they are; writes the folder, with the bits, the
    clock and the cells of what was placed; the record of the proof."""
    path = library_cache.library()
    if path is None:
        raise tools.ToolError(f"{library_cache.DEFAULT} is missing: its bits are to be proven")
    library_cache.unpack(path, ace)
    cached = library_cache.Places(NAME)
    known = cached.read()
    if known is None or not cached.bitstream.is_file():
        raise tools.ToolError(
            f"{path} holds no {NAME}; `python -m ace_flow array-bits` without --held makes it"
        )
    parts = Parts.routed(routed)
    if known["parameters"] != parts.parameters:
        raise tools.ToolError(f"{path} holds an {NAME} of {known['parameters']}, not of {parts.parameters}")
    netlist = netlist_of("slot", parts)
    if not netlist.is_file():
        raise tools.ToolError(
            f'{netlist} is missing; `python -m ace_flow array-route slot --seeds ""` makes it'
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    bitstream = FOLDER / f"{NAME}.bit"
    publish(cached.bitstream, bitstream)
    routed["inputs"] = inputs()
    record = proven(ace, bitstream, routed)
    model, about = array.made(parts)
    manifest = known | {
        "recipe": recipe(routed),
        **about,
        "memory_sha256": record["memory_sha256"],
        "netlist_sha256": record["netlist_sha256"],
        "inputs": routed["inputs"] | {route.PINS.name: tools.sha256(route.PINS)},
        "files": {"bitstream": describe(bitstream, FOLDER), "model": describe(model, FOLDER)},
    }
    write(record, manifest)
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    Parts.ask(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, help="of which seed (default: that of the median)")
    which.add_argument("--held", action="store_true", help="the library's bits, of sources that say the same")
    args = parser.parse_args()
    os.environ["ACE_BIN"] = args.ace
    routed = json.loads(KEPT.read_text())
    try:
        parts = Parts.asked(args)
        if (slot := routed.get(parts.name)) is None:
            raise tools.ToolError(
                f"{KEPT} has no {parts.name}; `python -m ace_flow array-route slot {parts.options} --keep` routes it"
            )
        record = renew(args.ace, slot) if args.held else make(args.ace, slot, args.seed or median(slot))
    except (tools.ToolError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    names = [
        "points",
        "by_structure",
        "registers",
        "blocks",
        "arbitrary_matches",
        "memory_sha256",
        "cpu_seconds",
    ]
    slot["proof"] = {name: record[name] for name in names} | {
        "result": record["result"],
        "control_points_refuted": record["control"]["points_refuted"],
    }
    KEPT.write_text(json.dumps(routed, indent=1, sort_keys=True) + "\n")
    print(json.dumps(record, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
