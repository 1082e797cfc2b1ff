# SPDX-License-Identifier: Apache-2.0
"""Two flat ECP5 netlists (Yosys JSON) as one comparison of logic, cut at whatever holds a state or is not looked into.

A cut cell's outputs are inputs that both circuits share, by the cell's name; its pins, inverted and unused ones brought
into one form, are points to compare. What a cell is told to be (reset value, contents, widths) is compared apart from
that, by ace_flow/prove.py.
"""

import re
from collections.abc import Callable, Iterator

from .gates import ABSENT, Gates, Signal
from .tools import ToolError

NOT, AND, OR = 0x5555, 0x8888, 0xEEEE
# C and (A equals B).
SAME = 0x9090
# The cells at which circuits are cut, and the pins that they may have.
CUT = {
    "TRELLIS_FF": r"CLK|CE|LSR|DI|Q",
    "TRELLIS_DPR16X4": r"WCK|WRE|WAD|DI|RAD|DO",
    "DP16KD": r"(DI|DO|AD|CS)[AB]\d+|(CLK|CE|OCE|WE|RST)[AB]",
    "MULT18X18D": r"[ABCP]\d+|(SIGNED|SOURCE)[AB]",
}


class CutError(ToolError):
    """A netlist that cannot be compared."""


def is_output(kind: str, pin: str) -> bool:
    """Whether a cut cell drives a pin."""
    match kind:
        case "TRELLIS_FF":
            return pin == "Q"
        case "MULT18X18D":
            return pin.startswith("P")
        case _:
            return pin.startswith("DO")


def outputs(cell: dict) -> list[str]:
    """The pins that a cell of any type drives."""
    kind, pins = cell["type"], cell["connections"]
    if kind in CUT:
        return [pin for pin in pins if is_output(kind, pin)]
    return [pin for pin in pins if pin in ("Z", "S0", "S1", "COUT")]


def renamed(module: dict, nets: dict[int, Signal], offset: int) -> dict:
    """A module with its nets moved out of the way of another one's, but for those of `nets`."""

    def move(bits: list) -> list:
        return [nets.get(bit, bit + offset) if isinstance(bit, int) else bit for bit in bits]

    ports = {name: port | {"bits": move(port["bits"])} for name, port in module["ports"].items()}
    cells = {
        name: cell | {"connections": {pin: move(bits) for pin, bits in cell["connections"].items()}}
        for name, cell in module["cells"].items()
    }
    return {"ports": ports, "cells": cells}


def sources(module: dict) -> dict[str, Signal]:
    """Where logic begins: bits of inputs, and of what cut cells drive, by name."""
    found = {}
    for name, port in module["ports"].items():
        if port["direction"] == "input":
            found |= {f"{name}[{number}]": bit for number, bit in enumerate(port["bits"])}
    for name, cell in module["cells"].items():
        if cell["type"] in CUT:
            for pin in outputs(cell):
                bits = cell["connections"][pin]
                found |= {f"{name}.{pin}[{number}]": bit for number, bit in enumerate(bits)}
    return {name: bit for name, bit in found.items() if isinstance(bit, int)}


def undriven(module: dict) -> set[int]:
    """Nets that are used and have no driver; no net has two."""
    driven = [
        bit
        for cell in module["cells"].values()
        for pin in outputs(cell)
        for bit in cell["connections"][pin]
        if isinstance(bit, int)
    ]
    ports = module["ports"].values()
    driven += [b for port in ports if port["direction"] == "input" for b in port["bits"]]
    once = set(driven)
    if len(once) != len(driven):
        raise CutError("a net is driven twice")
    used = [bits for cell in module["cells"].values() for bits in cell["connections"].values()]
    used += [port["bits"] for port in ports]
    return {bit for bits in used for bit in bits if isinstance(bit, int)} - once


class Cut:
    """The points of one circuit; its logic becomes gates on the way."""

    def __init__(self, gates: Gates, module: dict):
        self.gates = gates
        self.points: dict[str, list[Signal]] = {}
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                self.points[name] = port["bits"]
        for name, cell in module["cells"].items():
            if cell["type"] not in CUT:
                gates.add(name, cell)
                continue
            for pin, bits in self.pins(cell):
                self.points[f"{name}.{pin}"] = bits

    def turned(self, signal: Signal, inverted: bool) -> Signal:
        return self.gates.lut(NOT, [signal, "0", "0", "0"]) if inverted else signal

    def pins(self, cell: dict) -> Iterator[tuple[str, list[Signal]]]:
        """What a cut cell is given, pin by pin, in one form."""
        connections = cell["connections"]
        if strange := [name for name in connections if not re.fullmatch(CUT[cell["type"]], name)]:
            raise CutError(f"a {cell['type']} with a pin {strange[0]}")
        told = {name: value.strip() for name, value in cell["parameters"].items()}

        def pin(name: str) -> Signal:
            return connections.get(name, ABSENT)[0]

        def turned(name: str, setting: str) -> Signal:
            return self.turned(pin(name), told.get(setting) == "INV")

        match cell["type"]:
            case "TRELLIS_FF":
                enabled = told.get("CEMUX", "1") not in ("CE", "INV")
                yield "clock", [turned("CLK", "CLKMUX")]
                yield "enable", ["1" if enabled else turned("CE", "CEMUX")]
                yield "reset", [turned("LSR", "LSRMUX")]
                yield "data", [pin("DI")]
            case "TRELLIS_DPR16X4":
                yield "clock", [turned("WCK", "WCKMUX")]
                yield "write", [turned("WRE", "WREMUX")]
                for name in ("WAD", "DI", "RAD"):
                    yield name, [*connections.get(name, []), *"0000"][:4]
            case "MULT18X18D":
                for side in "AB":
                    yield f"operand_{side}", [pin(f"{side}{bit}") for bit in range(18)]
                    yield f"signed_{side}", [pin(f"SIGNED{side}")]
                    yield f"source_{side}", [pin(f"SOURCE{side}")]
            case _:
                yield from self.block_memory(told, pin, turned)

    def block_memory(self, told: dict, pin: Callable, turned: Callable) -> Iterator[tuple[str, list[Signal]]]:
        """Address bits below the width are unused; data and byte enables count only while writing; the enable of an
        output register that is not there does not count."""
        widths = {side: int(told.get(f"DATA_WIDTH_{side}", f"{18:b}"), 2) for side in "AB"}
        writes = {side: turned(f"WE{side}", f"WE{side}MUX") for side in "AB"}
        for side, other in ("AB", "BA"):
            yield f"clock_{side}", [turned(f"CLK{side}", f"CLK{side}MUX")]
            yield f"enable_{side}", [turned(f"CE{side}", f"CE{side}MUX")]
            registered = told.get(f"REGMODE_{side}", "NOREG") == "OUTREG"
            yield f"output_enable_{side}", [turned(f"OCE{side}", f"OCE{side}MUX") if registered else "0"]
            yield f"write_{side}", [writes[side]]
            yield f"reset_{side}", [turned(f"RST{side}", f"RST{side}MUX")]
            code = told.get(f"CSDECODE_{side}", "0b000").removeprefix("0b")
            wanted = 1 << int(code, 2)
            yield (
                f"select_{side}",
                [self.gates.lut(wanted, [pin(f"CS{side}{bit}") for bit in range(3)] + ["0"])],
            )
            # The lowest bits are byte enables in wide modes, and lead nowhere in narrower ones.
            enables = {36: 4, 18: 2}.get(widths[side], 0)
            unused = {36: 5, 18: 4, 9: 3, 4: 2, 2: 1}.get(widths[side], 0)
            address: list[Signal] = []
            for bit in range(14):
                if bit < enables:
                    address.append(self.both(pin(f"AD{side}{bit}"), writes[side]))
                else:
                    address.append("0" if bit < unused else pin(f"AD{side}{bit}"))
            yield f"address_{side}", address
            # The wide mode takes its upper half from the other port's pins.
            writing = writes[side]
            if widths[other] == 36:
                writing = self.gates.lut(OR, [writing, writes[other], "0", "0"])
            yield f"data_{side}", [self.both(pin(f"DI{side}{bit}"), writing) for bit in range(18)]

    def both(self, one: Signal, other: Signal) -> Signal:
        return self.gates.lut(AND, [one, other, "0", "0"])


def miter(gold: dict, gate: dict) -> dict:
    """A module that compares two circuits: an output for every point, cmp_NAME, which is 1 where they agree, and
    `trigger`, which is 0 if they agree everywhere."""
    # What synthesis left undefined is 0, as nextpnr takes it; in the bits there is nothing like that.
    gold = renamed(gold, dict.fromkeys(undriven(gold), "0"), 0)
    if left := undriven(gate):
        raise CutError(f"{len(left)} nets of the bits have no driver")
    gates = Gates(gold)
    ours, theirs = sources(gold), sources(gate)
    shared = {bit: ours[name] for name, bit in theirs.items() if name in ours}
    offset = gates.free
    gate = renamed(gate, shared, offset)
    gates.free += Gates(gate).free
    inputs = list(dict.fromkeys([*ours.values(), *sources(gate).values()]))
    points = [Cut(gates, module).points for module in (gold, gate)]
    if points[0].keys() != points[1].keys():
        some = sorted(points[0].keys() ^ points[1].keys())[:3]
        raise CutError(f"points of only one of the circuits: {', '.join(some)}")
    ports = {"in": {"direction": "input", "bits": inputs}}
    agree: list[Signal] = []
    for name, bits in points[0].items():
        others = points[1][name]
        if len(bits) != len(others):
            raise CutError(f"{name} has {len(bits)} bits in one circuit and {len(others)} in the other")
        same: Signal = "1"
        for one, other in zip(bits, others, strict=True):
            same = gates.lut(SAME, [one, other, same, "0"])
        ports[f"cmp_{name}"] = {"direction": "output", "bits": [same]}
        agree.append(same)
    # As a tree: ABC descends into logic by recursion.
    while len(agree) > 1:
        pairs = zip(agree[::2], [*agree[1::2], "1"], strict=False)
        agree = [gates.lut(AND, [one, other, "0", "0"]) for one, other in pairs]
    ports["trigger"] = {"direction": "output", "bits": [gates.lut(NOT, [*agree, "0", "0", "0"])]}
    return {"attributes": {}, "ports": ports, "cells": gates.cells, "netnames": {}}
