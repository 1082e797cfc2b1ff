# SPDX-License-Identifier: Apache-2.0
"""What is behind a board's link: the module `board_slots`, which is written for the slots that an image has.

A slot is an array, a row of the table of configurations, which computes that one algorithm, or `echo`, which gives back
what it gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ace_flow import configurations, tools

MODULE = "board_slots"
ARRAY, ECHO = "array", "echo"
# As many as the link addresses (rtl/board/board_pkg.sv).
MOST = 8
# Where RTL of slots is that is no board's.
SOURCES = (*configurations.SOURCES, "rtl/board/echo/*.sv")


class SlotsError(tools.ToolError):
    """Slots that no board can have."""


@dataclass(frozen=True)
class Slot:
    """A slot: its top and that one's parameters."""

    name: str
    top: str
    parameters: dict[str, int | str]
    # Declarations of cells, which no name of a module leads to.
    cells: tuple[str, ...] = ()


def _row(name: str) -> Slot:
    table = configurations.load()
    rows = {row.name: row for row in table.values() if not row.of}
    if name in table and name not in rows:
        raise SlotsError(
            f"{name} is a variant: its bits are those of {table[name].of} with other tables in place, which an image has "
            f"not; take {table[name].of}"
        )
    if name not in rows:
        raise SlotsError(f"there are no slots {name!r}: {ARRAY}, {ECHO}, {', '.join(rows)}")
    row = rows[name]
    # Tables that are in place for variants are no part of an image.
    return Slot(name, row.top, row.parameters | ({"Gate": 0} if row.lut_places else {}))


def parse(text: str, tiles: int | None = None) -> tuple[Slot, ...]:
    """The slots by their names, with blanks between. `tiles`: of each array, 1 unless told."""
    names = text.split()
    if not 1 <= len(names) <= MOST:
        raise SlotsError(f"there are {len(names)} slots; 1 to {MOST} are possible")
    if tiles is not None and ARRAY not in names:
        raise SlotsError(f"slots {' '.join(names)} have no tiles: none of them is an array")
    found = []
    for name in names:
        if name == ARRAY:
            cells = ("rtl/array/array_cells.sv",)
            found.append(Slot(ARRAY, "array_slot", {"Tiles": tiles or 1}, cells))
        elif name == ECHO:
            found.append(Slot(ECHO, "echo_slot", {}))
        else:
            found.append(_row(name))
    return tuple(found)


def parameters(slots: tuple[Slot, ...]) -> dict[str, int]:
    """What a board's top is told of them: how many there are, and which ones take context sets."""
    arrays = sum(1 << number for number, slot in enumerate(slots) if slot.name == ARRAY)
    return {"Slots": len(slots), "Arrays": arrays}


def label(slots: tuple[Slot, ...]) -> str:
    """What tells an image of these slots from another one, as a part of a file's name."""
    words = []
    for slot in slots:
        tiles = slot.parameters.get("Tiles", 1)
        words.append(slot.name + (f"-tiles{tiles}" if tiles != 1 else ""))
    return "-".join(words)


def _instance(number: int, slot: Slot) -> list[str]:
    told = ", ".join(f".{name}({value})" for name, value in slot.parameters.items())
    ports = [".clk_i", ".rst_ni"]
    for side, ready in (("s_axis", "o"), ("m_axis", "i")):
        stream = f"{side}_{'i' if side == 's_axis' else 'o'}[{number}]"
        ports += [
            f".{side}_tdata ({stream}.data)",
            f".{side}_tvalid({stream}.valid)",
            f".{side}_tready({side}_ready_{ready}[{number}])",
            f".{side}_tlast ({stream}.last)",
        ]
    return [
        f"  // {slot.name}",
        f"  {slot.top} {f'#({told}) ' if told else ''}u_slot{number} (",
        *[f"    {port}," for port in ports[:-1]],
        f"    {ports[-1]}",
        "  );",
        "",
    ]


def text(slots: tuple[Slot, ...]) -> str:
    """The module."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "//",
        "// A board's slots. Written by ace_flow/image/slots.py.",
        f"module {MODULE}",
        "  import slot_pkg::stream_t;",
        "#(",
        f"  parameter int unsigned Slots = {len(slots)}",
        ") (",
        "  input logic clk_i,",
        "  input logic rst_ni,",
        "",
        "  input  stream_t [Slots-1:0] s_axis_i,",
        "  output logic    [Slots-1:0] s_axis_ready_o,",
        "  output stream_t [Slots-1:0] m_axis_o,",
        "  input  logic    [Slots-1:0] m_axis_ready_i",
        ");",
        "",
    ]
    for number, slot in enumerate(slots):
        lines += _instance(number, slot)
    return "\n".join([*lines, "endmodule", ""])


def write(slots: tuple[Slot, ...], folder: Path) -> str:
    """Writes the module into a folder, if it is not there; its place from the repository's root."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{MODULE}.sv"
    if not path.is_file() or path.read_text() != text(slots):
        path.write_text(text(slots))
    return str(path.relative_to(tools.ROOT))


def sources(
    top: str, where: str, patterns: tuple[str, ...], slots: tuple[Slot, ...], folder: Path
) -> tuple[str, ...]:
    """All RTL of a board's top with these slots, packages first, and declarations of cells last. `where` names in errors who
    asks; `folder` gets the module of the slots."""
    own = () if not slots else (write(slots, folder), *SOURCES)
    found = configurations.sources_of(top, where, (*patterns, *own))
    return (*found, *dict.fromkeys(cell for slot in slots for cell in slot.cells))
