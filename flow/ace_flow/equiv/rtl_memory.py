# SPDX-License-Identifier: Apache-2.0
"""A memory of the RTL as a machine: in columns of as many words as the tiles have of which synthesis made it, or in
registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ace_flow.prove.gates import FALSE, Literal, Signal
from ace_flow.tools import ToolError

if TYPE_CHECKING:
    from ace_flow.equiv.rtl import Rtl


class Port(NamedTuple):
    """A port that writes; later ones win."""

    clock: Signal
    address: list[Signal]
    data: list[Signal]
    enable: list[Signal]


def describe(machine: Rtl, name: str, cells: list[dict], tile: tuple[int, int]) -> None:
    about = machine.module["memories"][name]
    width, size, first = about["width"], about["size"], about.get("start_offset", 0)
    if first:
        raise ToolError(f"{name}: a memory that does not begin at 0")
    contents = [["x"] * width for _ in range(size)]
    writes: dict[int, Port] = {}
    for cell in cells:
        pins, told = cell["connections"], cell["parameters"]
        match cell["type"]:
            case "$meminit_v2" | "$meminit":
                enable = pins.get("EN", ["1"] * width)
                at = int("".join(reversed(pins["ADDR"])), 2)
                for word in range(int(told["WORDS"], 2)):
                    for bit in range(width):
                        if enable[bit] == "1" and at + word < size:
                            contents[at + word][bit] = pins["DATA"][word * width + bit]
            case "$memwr_v2":
                if told["CLK_ENABLE"][-1] != "1" or told["CLK_POLARITY"][-1] != "1":
                    raise ToolError(f"{name}: a memory that is not written at a rising edge")
                writes[int(told["PORTID"], 2)] = Port(pins["CLK"][0], pins["ADDR"], pins["DATA"], pins["EN"])
            case "$memrd_v2":
                if told["CLK_ENABLE"][-1] != "0":
                    raise ToolError(f"{name}: a memory that is read at a clock")
            case kind:
                raise ToolError(f"{name}: a {kind}")
    ports = [writes[number] for number in sorted(writes)]
    reads = [cell for cell in cells if cell["type"] == "$memrd_v2"]
    if not ports:
        _tiles(machine, name, contents, [], reads, tile) if tile[0] else _table(
            machine, contents, reads, width
        )
    elif tile[0]:
        _tiles(machine, name, contents, ports, reads, tile)
    else:
        _registers(machine, name, contents, ports, reads)


def _choose(machine: Rtl, rows: list[list[Literal]], address: list[Literal], width: int) -> list[Literal]:
    """The row of an address; behind the last one there are zeros."""
    bits = max((len(rows) - 1).bit_length(), 0)
    rows = rows + [[FALSE] * width] * ((1 << min(bits, len(address))) - len(rows))
    return machine.words.choose(rows, address[:bits])


def _table(machine: Rtl, contents: list[list[str]], reads: list[dict], width: int) -> None:
    """Nothing is written, and synthesis made logic of it."""
    rows = [[int(bit == "1") for bit in row] for row in contents]
    for cell in reads:
        pins = cell["connections"]
        machine.drive(pins["ADDR"], pins["DATA"], lambda v: _choose(machine, rows, v, width))


def _at(machine: Rtl, address: list[Signal], word: int) -> Literal:
    """Whether an address is that of a word."""
    bits = [machine.value(bit) ^ (word >> place & 1) ^ 1 for place, bit in enumerate(address)]
    return machine.words.all(bits)


def _registers(machine: Rtl, name: str, contents: list, ports: list[Port], reads: list[dict]) -> None:
    from ace_flow.equiv.machine import Register

    width = len(contents[0])
    signals = [[f"{name}[{word}][{bit}]" for bit in range(width)] for word in range(len(contents))]
    for word, row in enumerate(signals):
        for bit, signal in enumerate(row):

            def following(word: int = word, bit: int = bit, signal: str = signal) -> Literal:
                value = machine.value(signal)
                for port in ports:
                    here = machine.words.both(
                        _at(machine, port.address, word), machine.value(port.enable[bit])
                    )
                    value = machine.words.mux(value, machine.value(port.data[bit]), here)
                return value

            clock = ports[0].clock
            machine.register(
                Register(
                    signal,
                    signal,
                    following,
                    lambda clock=clock: machine.value(clock),
                    lambda: FALSE,
                    0,
                    contents[word][bit],
                )
            )
    for cell in reads:
        pins = cell["connections"]
        machine.drive(
            pins["ADDR"],
            pins["DATA"],
            lambda v: _choose(machine, [machine.all(row) for row in signals], v, width),
        )


def _tiles(
    machine: Rtl, name: str, contents: list, ports: list[Port], reads: list[dict], tile_of: tuple[int, int]
) -> None:
    """Columns of as many words as a tile holds. Several ports that write are one, if never two of them do."""
    from ace_flow.equiv.machine import Column, Write

    tile, writers = tile_of

    width, words = len(contents[0]), machine.words
    low = tile.bit_length() - 1
    parts = range((len(contents) + tile - 1) // tile)
    if len({port.clock for port in ports}) > 1:
        raise ToolError(f"{name}: a memory with several clocks")

    def split(address: list[Literal], part: int) -> tuple[Literal, list[Literal]]:
        """Whether an address is in a part of the words, and where."""
        above = [bit ^ (part >> place & 1) ^ 1 for place, bit in enumerate(address[low:])]
        return words.all(above), [*address[:low], *[FALSE] * (low - len(address))]

    def write(part: int, bit: int) -> list[Write]:
        every = []
        for port in ports:
            here, there = split(machine.all(port.address), part)
            enable = words.both(here, machine.value(port.enable[bit]))
            every.append(Write(machine.value(port.clock), enable, there, machine.value(port.data[bit])))
        if len(every) <= writers:
            return every
        one, *others = every
        for other in others:
            machine.exclusive[f"{name}.{part}[{bit}].{len(machine.exclusive)}"] = words.both(
                one.enable, other.enable
            )
            one = Write(
                one.clock,
                words.either(one.enable, other.enable),
                [words.mux(a, b, other.enable) for a, b in zip(one.address, other.address, strict=True)],
                words.mux(one.data, other.data, other.enable),
            )
        return [one]

    for part in parts:
        for bit in range(width):
            rows = contents[part * tile : (part + 1) * tile]
            held = "".join(row[bit] for row in rows)
            machine.column(Column(f"{name}.{part}[{bit}]", lambda part=part, bit=bit: write(part, bit), held))

    for cell in reads:
        pins = cell["connections"]

        def read(v: list[Literal], cell: dict = cell) -> list[Literal]:
            answer = [FALSE] * width
            for part in parts:
                here, there = split(v, part)
                names = [f"{name}.{part}[{bit}]" for bit in range(width)]
                found = machine.outside.read(f"{cell['name']}.{part}", names, there)
                if len(parts) == 1:
                    return found
                answer = [words.either(x, words.both(y, here)) for x, y in zip(answer, found, strict=True)]
            return answer

        machine.drive(pins["ADDR"], pins["DATA"], read)
