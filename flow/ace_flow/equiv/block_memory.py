# SPDX-License-Identifier: Apache-2.0
"""The block memory DP16KD as a machine: columns, ports that read them, and the registers that it has inside.

The same as its simulation model, flow/cells/dp16kd.sv, says. A read that meets a write of the same word in the same
clock gives the old word here and there; the RTL has to be such that nothing depends on it (`no_rw_check`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ace_flow.prove.gates import FALSE, TRUE, Literal
from ace_flow.tools import ToolError

if TYPE_CHECKING:
    from ace_flow.equiv.netlist import Netlist

# Address bits below those of a word, by the width of a word.
BELOW = {36: 5, 18: 4, 9: 3, 4: 2, 2: 1, 1: 0}
SETTINGS = {"CLKAMUX": "CLKA", "CLKBMUX": "CLKB", "CSDECODE_A": "0b000", "CSDECODE_B": "0b000"}


def place(width: int, word: int, lane: int) -> int:
    """Where a bit of a word is in the contents: 1024 rows of 18 bits."""
    address = word << BELOW[width]
    if width == 36:
        return 18 * (2 * (address >> 5) + lane // 18) + lane % 18
    inside = {4: address & 4, 2: address & 6, 1: address & 7}.get(width, 0)
    return 18 * (address >> 4) + (9 * (address >> 3 & 1) if width < 18 else 0) + inside + lane


def initial(told: dict) -> str:
    """The contents, row by row; what is undefined is 0."""
    rows = []
    for number in range(64):
        text = told.get(f"INITVAL_{number:02X}", "").replace("x", "0").rjust(320, "0")[::-1]
        rows += [text[20 * row : 20 * row + 18] for row in range(16)]
    return "".join(rows)


def writing(pins: dict, told: dict) -> list[str]:
    """The ports that may write."""
    return [
        side
        for side in "AB"
        if all(
            pins.get(f"{pin}{side}", ["0"]) not in (["0"], ["x"]) or told.get(f"{pin}{side}MUX") == "INV"
            for pin in ("WE", "CE")
        )
    ]


def describe(machine: Netlist, name: str, pins: dict, told: dict, pin: Callable) -> None:
    from ace_flow.equiv.machine import ABSENT, Column, Register, Write

    words = machine.words
    if strange := [key for key, value in SETTINGS.items() if told.get(key, value) != value]:
        raise ToolError(f"{name}: {strange[0]} is {told[strange[0]]}, which proofs do not know")
    widths = [int(told.get(f"DATA_WIDTH_{side}", f"{18:b}"), 2) for side in "AB"]
    if any(pins.get(f"RST{side}", ABSENT) != ["0"] for side in "AB"):
        raise ToolError(f"{name}: a block memory that is reset")
    width = widths[0]
    if widths[0] != widths[1]:
        raise ToolError(f"{name}: a block memory with words of {widths[0]} and of {widths[1]} bits")
    wide = width == 36

    def enabled(side: str) -> Literal:
        chosen = words.any([pin(f"CS{side}{bit}") for bit in range(3)]) ^ 1
        return words.both(pin(f"CE{side}", f"CE{side}MUX"), chosen)

    def writes(side: str) -> Literal:
        return words.both(enabled(side), pin(f"WE{side}", f"WE{side}MUX"))

    def address(side: str) -> list:
        return [pins.get(f"AD{side}{bit}", ABSENT)[0] for bit in range(BELOW[width], 14)]

    writers = writing(pins, told)
    if wide and "B" in writers:
        raise ToolError(f"{name}: a block memory of wide words that is written at B")
    contents = initial(told)
    depth = 1 << (14 - BELOW[width])
    lanes = range(width)
    held = ["".join(contents[place(width, word, lane)] for word in range(depth)) for lane in lanes]

    def write(lane: int) -> list[Write]:
        ports = []
        for port in writers:
            # The lowest bits of the address of wide words are enables, one for every nine bits.
            byte = pin(f"AD{port}{lane // 9}") if width >= 18 else TRUE
            data = pin(f"DI{'AB'[lane // 18]}{lane % 18}" if wide else f"DI{port}{lane}")
            enable = words.both(writes(port), byte)
            ports.append(Write(pin(f"CLK{port}"), enable, machine.all(address(port)), data))
        if len(ports) == 2:
            same = words.equal(ports[0].address, ports[1].address)
            both = words.both(ports[0].enable, ports[1].enable)
            machine.exclusive[f"{name}[{lane}]"] = words.both(both, same)
        return ports

    table = not writers and name.rpartition(".")[0].rpartition(".")[0] not in machine.memories
    for lane in lanes:
        machine.column(Column(f"{name}[{lane}]", lambda lane=lane: write(lane), held[lane]))

    def look(address: list[Literal], shown: dict) -> list[Literal]:
        """What a table of constants holds there."""
        rows = [[int(held[lane][word]) for lane in shown] for word in range(depth)]
        return words.choose(rows, address)

    for side in "B" if wide else "AB":
        shown = {
            lane: pins[key][0]
            for lane in lanes
            if (key := f"DO{'AB'[lane // 18]}{lane % 18}" if wide else f"DO{side}{lane}") in pins
            and pins[key]
            and isinstance(pins[key][0], int)
        }
        if not shown:
            continue
        mode = told.get(f"WRITEMODE_{side}", "NORMAL")
        if side in writers and mode == "WRITETHROUGH":
            raise ToolError(f"{name}: a port that shows what it writes")
        raw = {lane: f"{name}.{side}{lane}.raw" for lane in shown}
        if table:
            machine.drive(address(side), list(raw.values()), lambda v, shown=shown: look(v, shown))
        else:
            for lane in shown:
                machine.shown(f"{name}.{side}{lane}.read", raw[lane], f"{name}[{lane}]")
            machine.drive(
                address(side),
                [f"{name}.{side}{lane}.read" for lane in shown],
                lambda v, side=side, shown=shown: machine.outside.read(
                    f"{name}.{side}", [f"{name}[{lane}]" for lane in shown], v
                ),
            )
        late = told.get(f"REGMODE_{side}", "NOREG") == "OUTREG"
        for lane, output in shown.items():
            latch = f"{name}.{side}{lane}.latch" if late else output

            def follow(
                lane: int = lane, latch: str | int = latch, raw: dict = raw, side: str = side
            ) -> Literal:
                take = enabled(side)
                if side in writers and told.get(f"WRITEMODE_{side}", "NORMAL") == "NORMAL":
                    take = words.both(take, pin(f"WE{side}", f"WE{side}MUX") ^ 1)
                return words.mux(machine.value(latch), machine.value(raw[lane]), take)

            def clock(side: str = side) -> Literal:
                return pin(f"CLK{side}")

            def never() -> Literal:
                return FALSE

            machine.register(Register(f"{name}.{side}{lane}", latch, follow, clock, never, 0, "0"))
            if late:

                def after(latch: str | int = latch, output: int = output, side: str = side) -> Literal:
                    enable = pin(f"OCE{side}", f"OCE{side}MUX")
                    return words.mux(machine.value(output), machine.value(latch), enable)

                machine.register(Register(f"{name}.{side}{lane}.late", output, after, clock, never, 0, "0"))
