# SPDX-License-Identifier: Apache-2.0
"""An image of a board: synthesised, placed, routed and proven (docs/image.md).

    python -m ace_flow image BOARD [--slots "array sha256"] [--tiles 1] [--mhz 100] [--seeds 7101,7102,7103] [--json]
    python -m ace_flow image BOARD --pins         the constraint file that follows from the board's own

The netlist is proven to be the RTL, and what goes from one clock to another is read out of it, before anything is placed. Of
the seeds the one with most to spare becomes the bitstream, if all of its clocks are met; its bits are proven to be the
netlist. What is made is in build/images/NAME: the bitstream, its manifest and its proof, which `ace library add --image` takes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from ace_flow import tools
from ace_flow.build.manifest import describe, versions
from ace_flow.capability import ConfigurationError
from ace_flow.image import board as boards
from ace_flow.image import crossings, prove, route, source
from ace_flow.image.source import Image
from ace_flow.layout import BUILD

SCHEMA = 1
KIND = "image"
# No choice was made with them.
SEEDS = "7101,7102,7103"


class ImageError(tools.ToolError):
    """An image that cannot be made."""


def rtl_proof(image: Image) -> dict:
    """Proves that the netlist is the RTL, and that nothing goes between clocks but as the board's file allows."""
    with tempfile.TemporaryDirectory(dir=BUILD, prefix=".image-") as folder:
        found = prove.netlist_is_rtl(image, Path(folder))
        record = found.record
        if record["result"] != "proven":
            what = ", ".join([*record["differ"][:3], *record["open"][:3]])
            raise ImageError(f"{image.name}: the netlist is not proven to be the RTL: {what}")
        controls = []
        for fault in image.board.faults:
            points = prove.refuted(image, found, fault, Path(folder))
            if not points:
                raise ImageError(f"{image.name}: not refuted: {fault.what} ({fault.file})")
            controls.append({"what": fault.what, "points_refuted": len(points), "first": points[0]})
    report = crossings.check(image.board, found.netlist, found.matching, route.instances(image))
    if report.faults:
        for fault in report.faults:
            print(f"error: {fault}", file=sys.stderr)
        raise ImageError(f"{image.name}: {len(report.faults)} paths between clocks that nothing takes across")
    return record | {
        "controls": controls,
        "crossings": report.between,
        "registers_by_clock": report.registers,
        "netlist_sha256": tools.sha256(image.at("netlist.json")),
    }


def manifest(image: Image, cells: dict[str, int], routes: list[dict], proof: dict, bits: Path) -> dict:
    """All that is known of an image besides the proof."""
    board, chosen = image.board, route.best(routes)
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "name": image.name,
        "summary": f"{board.summary}, {image.slots}",
        "board": board.name,
        "loader": board.loader,
        "warnings": list(board.warnings),
        "slots": image.slots,
        "top": board.top,
        "parameters": image.parameters,
        "device": board.device,
        "package": board.package,
        "speed": board.speed,
        "area": cells,
        "used": chosen["used"],
        "available": chosen["available"],
        "clocks": chosen["clocks"],
        "critical_paths": chosen["critical_paths"],
        "seed": chosen["seed"],
        "seeds": [
            {"seed": one["seed"], **{name: about["fmax_mhz"] for name, about in one["clocks"].items()}}
            for one in routes
        ],
        "memory_sha256": proof["bits"]["memory_sha256"],
        "netlist_sha256": proof["bits"]["netlist_sha256"],
        "inputs": source.digests(image),
        "tools": versions(),
        "files": {"bitstream": describe(bits, image.folder)},
    }


def make(image: Image, seeds: list[int], say: bool) -> dict:
    """Everything; what it came to."""
    cells = route.synthesise(image)
    made: dict = {"name": image.name, "cells": cells, "rtl": rtl_proof(image), "routes": []}
    for seed in seeds:
        made["routes"].append(route.place_and_route(image, seed))
        if say:
            print(route.line(made["routes"][-1]), flush=True)
    if not seeds:
        return made
    chosen = route.best(made["routes"])
    if not chosen["met"]:
        slow = [name for name, clock in chosen["clocks"].items() if not clock["met"]]
        made["refused"] = (
            f"of no seed are all clocks met: {', '.join(slow)} of seed {chosen['seed']}; no bitstream is written"
        )
        return made
    bits = route.bitstream(image, chosen["seed"])
    with tempfile.TemporaryDirectory(dir=BUILD, prefix=".image-") as folder:
        proof = {"bits": prove.bits_are_netlist(image, bits, Path(folder)), "rtl": made["rtl"]}
    if proof["bits"]["netlist_sha256"] != proof["rtl"]["netlist_sha256"]:
        raise ImageError(f"{image.at('netlist.json')} changed while it was proven; run it again")
    proof = {
        "format": prove.RECORD,
        "kind": KIND,
        "result": "proven",
        "memory_sha256": proof["bits"]["memory_sha256"],
        "netlist_sha256": proof["bits"]["netlist_sha256"],
        **proof,
        "tools": {name: tools.package_version(name) for name in prove.TOOLS},
    }
    made |= {"proof": proof, "manifest": manifest(image, cells, made["routes"], proof, bits)}
    for name in ("proof", "manifest"):
        to = image.at(f"{name}.json.new")
        to.write_text(json.dumps(made[name], indent=1) + "\n")
        to.replace(image.at(f"{name}.json"))
    return made


def text(image: Image, made: dict) -> str:
    """What it came to, for people."""
    rtl = made["rtl"]
    lines = [
        route.table(image, made["cells"], made["routes"]),
        "",
        (
            f"netlist and RTL: {rtl['points']} points equal, {rtl['by_structure']} by structure, {rtl['by_certificate']} by "
            f"certificate ({rtl['cpu_seconds']:.0f} CPU s), {len(rtl['controls'])} faults refuted"
        ),
        f"between clocks: {len(rtl['crossings'])} ways, all as {image.board.path} allows",
    ]
    if "refused" in made:
        lines.append(made["refused"])
    if "proof" in made:
        bits = made["proof"]["bits"]
        lines += [
            (
                f"bits and netlist: {bits['points']} points equal, {bits['by_structure']} by structure, {bits['registers']} "
                f"registers, {sum(bits['blocks'].values())} memories, {len(bits['places'])} blocks, {len(bits['pads'])} pads "
                f"({bits['cpu_seconds']:.0f} CPU s); the control was refuted"
            ),
            f"memory {bits['memory_sha256']}",
            f"{image.here(made['manifest']['files']['bitstream']['path'])}: proven",
        ]
        lines += [f"warning: {warning}" for warning in image.board.warnings]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("board", metavar="BOARD", help="a folder of boards/")
    parser.add_argument("--boards", type=Path, default=boards.FOLDER, help="another folder of boards")
    parser.add_argument(
        "--slots",
        default="array",
        help="what is behind the link: array, echo, or rows of `ace library list` with blanks between (default array)",
    )
    parser.add_argument("--tiles", type=int, metavar="N", help="of an array (default 1)")
    parser.add_argument("--mhz", type=float, help="the slots' clock (default: the board's file)")
    parser.add_argument(
        "--seeds", default=SEEDS, help='of nextpnr, with commas between; "": the netlist and its proof alone'
    )
    parser.add_argument("--pins", action="store_true", help="print the constraint file, and make nothing")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    args = parser.parse_args()
    try:
        board = boards.load(args.board, args.boards.resolve())
        if args.mhz is not None:
            board = board.at(args.mhz)
        if args.pins:
            print(board.constraints(), end="")
            return 0
        image = source.of(board, args.slots, args.tiles)
        seeds = [int(seed) for seed in args.seeds.split(",") if seed]
        made = make(image, seeds, say=not args.json)
    except (tools.ToolError, ConfigurationError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(made, indent=1) if args.json else text(image, made))
    return 1 if "refused" in made else 0


if __name__ == "__main__":
    sys.exit(main())
