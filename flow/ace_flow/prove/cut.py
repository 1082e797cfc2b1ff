# SPDX-License-Identifier: Apache-2.0
"""Flat ECP5 netlists (Yosys JSON) in one graph of logic, cut at whatever holds a state or is not looked into.

A cut cell's outputs are inputs that the circuits share, by the cell's name; its pins, inverted and unused ones brought
into one form, are points to compare. What a cell is told to be (reset value, contents, widths) is compared apart from
that, by ace_flow/prove/bitstream.py.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

from ace_flow.prove.gates import ABSENT, FALSE, TRUE, Graph, Literal, Signal, tables
from ace_flow.tools import ToolError

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


@cache
def strange(kind: str, pin: str) -> bool:
    """Whether a cut cell cannot have such a pin."""
    return re.fullmatch(CUT[kind], pin) is None


class Circuit:
    """One circuit in a graph: its logic, and the points at which it is compared."""

    def __init__(self, graph: Graph, module: dict, complete: bool):
        """`complete`: a net without a driver is an error. Else it is 0: what synthesis left undefined is that, as
        nextpnr takes it; in the bits there is nothing like that."""
        self.graph = graph
        self.complete = complete
        self.values: dict[Signal, Literal] = {"0": FALSE, "1": TRUE, "x": FALSE}
        self.drivers: dict[Signal, tuple[int, list[Signal]]] = {}
        self.begun: set[str] = set()
        for name, port in module["ports"].items():
            if port["direction"] == "input":
                self._begin(name, port["bits"])
        for name, cell in module["cells"].items():
            self._drive(name, cell)
        self.points: dict[str, list[Literal]] = {}
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                self._point(name, [self.value(bit) for bit in port["bits"]])
        for name, cell in module["cells"].items():
            if cell["type"] in CUT:
                for pin, bits in self._pins(cell):
                    self._point(f"{name}.{pin}", bits)

    def _begin(self, name: str, bits: list[Signal]) -> None:
        """Where logic begins: bits of an input, or of what a cut cell drives."""
        if name in self.begun:
            raise CutError(f"two are called {name}")
        self.begun.add(name)
        for number, bit in enumerate(bits):
            if isinstance(bit, int):
                self._once(bit)
                self.values[bit] = self.graph.input(f"{name}[{number}]")

    def _once(self, net: Signal) -> None:
        if net in self.values or net in self.drivers:
            raise CutError(f"net {net} is driven twice")

    def _drive(self, name: str, cell: dict) -> None:
        kind, pins = cell["type"], cell["connections"]
        if kind not in CUT:
            for output, table, inputs in tables(name, cell):
                self._once(output)
                self.drivers[output] = (table, inputs)
            return
        if wrong := [pin for pin in pins if strange(kind, pin)]:
            raise CutError(f"a {kind} with a pin {wrong[0]}")
        for pin, bits in pins.items():
            if is_output(kind, pin):
                self._begin(f"{name}.{pin}", bits)

    def _point(self, name: str, bits: list[Literal]) -> None:
        if name in self.points:
            raise CutError(f"two points are called {name}")
        self.points[name] = bits

    def value(self, signal: Signal) -> Literal:
        """What a signal is in the graph."""
        values = self.values
        stack, entered = [signal], set()
        while stack:
            top = stack[-1]
            if top in values:
                stack.pop()
            elif top not in self.drivers:
                if self.complete:
                    raise CutError(f"net {top} of the bits has no driver")
                values[top] = FALSE
            else:
                table, inputs = self.drivers[top]
                if waiting := [one for one in inputs if one not in values]:
                    if top in entered:
                        raise CutError(f"logic in a circle through net {top}")
                    entered.add(top)
                    stack += waiting
                else:
                    values[top] = self.graph.lut(table, [values[one] for one in inputs])
        return values[signal]

    def _pins(self, cell: dict) -> Iterator[tuple[str, list[Literal]]]:
        """What a cut cell is given, pin by pin, in one form."""
        connections = cell["connections"]
        told = {name: value.strip() for name, value in cell["parameters"].items()}

        def pin(name: str) -> Literal:
            return self.value(connections.get(name, ABSENT)[0])

        def turned(name: str, setting: str) -> Literal:
            return pin(name) ^ (told.get(setting) == "INV")

        match cell["type"]:
            case "TRELLIS_FF":
                enabled = told.get("CEMUX", "1") not in ("CE", "INV")
                yield "clock", [turned("CLK", "CLKMUX")]
                yield "enable", [TRUE if enabled else turned("CE", "CEMUX")]
                yield "reset", [turned("LSR", "LSRMUX")]
                yield "data", [pin("DI")]
            case "TRELLIS_DPR16X4":
                yield "clock", [turned("WCK", "WCKMUX")]
                yield "write", [turned("WRE", "WREMUX")]
                for name in ("WAD", "DI", "RAD"):
                    yield name, [self.value(bit) for bit in [*connections.get(name, []), *"0000"][:4]]
            case "MULT18X18D":
                for side in "AB":
                    yield f"operand_{side}", [pin(f"{side}{bit}") for bit in range(18)]
                    yield f"signed_{side}", [pin(f"SIGNED{side}")]
                    yield f"source_{side}", [pin(f"SOURCE{side}")]
            case _:
                yield from self._block_memory(told, pin, turned)

    def _block_memory(
        self, told: dict, pin: Callable, turned: Callable
    ) -> Iterator[tuple[str, list[Literal]]]:
        """Address bits below the width lead nowhere. All else counts, also while nothing is written and where there is no
        output register: an inversion that no other pin shows is a difference."""
        for side in "AB":
            yield f"clock_{side}", [turned(f"CLK{side}", f"CLK{side}MUX")]
            yield f"enable_{side}", [turned(f"CE{side}", f"CE{side}MUX")]
            yield f"output_enable_{side}", [turned(f"OCE{side}", f"OCE{side}MUX")]
            yield f"write_{side}", [turned(f"WE{side}", f"WE{side}MUX")]
            yield f"reset_{side}", [turned(f"RST{side}", f"RST{side}MUX")]
            code = told.get(f"CSDECODE_{side}", "0b000").removeprefix("0b")
            wanted = 1 << int(code, 2)
            yield f"select_{side}", [self.graph.lut(wanted, [pin(f"CS{side}{bit}") for bit in range(3)])]
            # The lowest bits are byte enables in wide modes.
            width = int(told.get(f"DATA_WIDTH_{side}", f"{18:b}"), 2)
            enables = {36: 4, 18: 2}.get(width, 0)
            unused = range(enables, {36: 5, 18: 4, 9: 3, 4: 2, 2: 1}.get(width, 0))
            address = [FALSE if bit in unused else pin(f"AD{side}{bit}") for bit in range(14)]
            yield f"address_{side}", address
            yield f"data_{side}", [pin(f"DI{side}{bit}") for bit in range(18)]


def different(one: Circuit, other: Circuit) -> dict[str, list[tuple[Literal, Literal]]]:
    """The points at which two circuits of a graph are not the same by structure, and which bits of theirs."""
    if one.points.keys() != other.points.keys():
        some = sorted(one.points.keys() ^ other.points.keys())[:3]
        raise CutError(f"points of only one of the circuits: {', '.join(some)}")
    found = {}
    for name, bits in one.points.items():
        others = other.points[name]
        if len(bits) != len(others):
            raise CutError(f"{name} has {len(bits)} bits in one circuit and {len(others)} in the other")
        if bits != others:
            found[name] = [pair for pair in zip(bits, others, strict=True) if pair[0] != pair[1]]
    return found
