# SPDX-License-Identifier: Apache-2.0
"""Columns of memories that no simulation has told apart, because writes are rare, or because what is written changes seldom: a
block memory's output registers say which they are, for registers have names; else where synthesis has put them. A proposal
like all that matching finds."""

from collections import defaultdict

from ace_flow.equiv.match import Matching


def split(matching: Matching) -> None:
    """Gives columns of a class with several of the RTL classes of their own."""
    classes = defaultdict(list)
    for key, colour in matching.columns.items():
        if colour[0] != "constant":
            classes[colour].append(key)
    many = {c: keys for c, keys in classes.items() if sum(prefix == "rtl" for prefix, _ in keys) > 1}
    if not many:
        return
    registers = defaultdict(list)
    for (prefix, name), colour in matching.colours.items():
        if prefix == "rtl":
            registers[colour].append(name)
    # Which input of the graph is what is read of which column of the RTL.
    reads = {
        bit >> 1: column
        for inputs, columns, _ in matching.outsides[0].reads.values()
        for bit, column in zip(inputs, columns, strict=True)
    }
    for colour, keys in many.items():
        mine = {name for prefix, name in keys if prefix == "rtl"}
        theirs = [name for prefix, name in keys if prefix == "netlist"]
        cells = {name: tuple(name.removesuffix("]").rpartition("[")[::2]) for name in theirs}
        for partner in (
            lambda at, mine=mine: _partner(matching, registers, reads, mine, at),
            lambda at: _place(matching, *at),
        ):
            pairs = {name: partner(at) for name, at in cells.items()}
            if {*pairs.values()} <= mine and len({*pairs.values()}) == len(pairs):
                for name, other in pairs.items():
                    own = ("own", colour, other)
                    matching.columns["netlist", name] = matching.columns["rtl", other] = own
                break


def _place(matching: Matching, cell: str, bit: str) -> str:
    """The column of the RTL that is where this one is: tiles are called MEMORY.ROW.COLUMN, the lowest bits first."""
    rest, _, column = cell.rpartition(".")
    told = matching.netlist.module["cells"].get(cell, {"type": ""})
    width = {"TRELLIS_DPR16X4": 4}.get(told["type"]) or int(told["parameters"].get("DATA_WIDTH_A", "0"), 2)
    return f"{rest}[{int(column) * width + int(bit)}]" if column.isdigit() else ""


def _partner(
    matching: Matching, registers: dict, reads: dict, mine: set[str], column: tuple[str, str]
) -> str:
    """The column of the RTL that is read where this one is."""
    cell, bit = column
    found = set()
    for side in "AB":
        colour = matching.colours.get(("netlist", f"{cell}.{side}{bit}"))
        for register in registers.get(colour, []):
            stack, seen = [matching.next["rtl", register][0] >> 1], set()
            while stack:
                node = stack.pop()
                if node not in seen:
                    seen.add(node)
                    stack += matching.graph.nodes[node][1]
            found |= {reads[node] for node in seen & reads.keys()} & mine
    return found.pop() if len(found) == 1 else ""
