# SPDX-License-Identifier: Apache-2.0
"""What names say of an RTL and its netlist."""

from collections import defaultdict

from ace_flow.equiv.block_memory import BELOW, writing
from ace_flow.equiv.machine import Register
from ace_flow.prove.gates import Signal


def aliases(module: dict) -> dict[Signal, list[tuple[str, int]]]:
    """All names of every bit of a module, those of bits that are the same through buffers together."""
    parent: dict[Signal, Signal] = {}

    def find(bit: Signal) -> Signal:
        while bit in parent:
            bit = parent[bit]
        return bit

    for cell in module["cells"].values():
        if cell["type"] == "$buf":
            for a, y in zip(cell["connections"]["A"], cell["connections"]["Y"], strict=True):
                parent[y] = a
    names: dict[Signal, list[tuple[str, int]]] = defaultdict(list)
    for name, net in module["netnames"].items():
        for place, bit in enumerate(net["bits"]):
            names[find(bit)].append((name, place + net.get("offset", 0)))
    return {bit: names.get(find(bit), []) for bit in {*parent, *names}} | dict(names)


def bits_named(rtl: dict, netlist: dict) -> dict[tuple[str, int], Signal]:
    """The signals of a netlist by the names that they have in the RTL. A name of another width than there says nothing, but
    for words of a memory: synthesis makes rows of several of it."""
    widths = {name: len(net["bits"]) for name, net in rtl["netnames"].items()}
    named: dict[tuple[str, int], Signal] = {}
    for name, net in netlist["netnames"].items():
        bits, offset = net["bits"], net.get("offset", 0)
        memory, _, row = name.removesuffix("]").rpartition("[")
        width = rtl.get("memories", {}).get(memory, {"width": 0})["width"]
        if width and row.isdigit() and len(bits) % width == 0:
            words = len(bits) // width
            for place, bit in enumerate(bits):
                named[f"{memory}[{int(row) * words + place // width}]", place % width] = bit
        elif widths.get(name, len(bits)) == len(bits):
            for place, bit in enumerate(bits):
                named[name, place + offset] = bit
    return named


def names_of(register: Register, known: dict[Signal, list[tuple[str, int]]]) -> list[tuple[str, int]]:
    """All names of a register of the RTL, with the bit that it is of them; `known`: those of its signals."""
    own = known.get(register.output, [])
    if isinstance(register.output, str):
        name, _, bit = register.output.rpartition("[")
        own = [*own, (name, int(bit[:-1]))]
    return own


def group(name: str, prefix: str) -> str:
    """The memory of a column: MEMORY.PART[BIT] in the RTL, MEMORY.ROW.COLUMN[BIT] in the netlist."""
    stem = name.rpartition("[")[0].rpartition(".")[0]
    return stem if prefix == "rtl" else stem.rpartition(".")[0]


def tiles(rtl: dict, netlist: dict) -> dict[str, tuple[int, int]]:
    """The memories of the RTL of which synthesis made tiles, and how many words one holds."""
    found: dict[str, tuple[int, int]] = {}
    for name, cell in netlist["cells"].items():
        memory = name.rpartition(".")[0].rpartition(".")[0]
        if memory not in rtl.get("memories", {}):
            continue
        if cell["type"] == "TRELLIS_DPR16X4":
            found[memory] = (16, 1)
        elif cell["type"] == "DP16KD":
            width = int(cell["parameters"].get("DATA_WIDTH_A", f"{18:b}"), 2)
            writers = len(writing(cell["connections"], cell["parameters"]))
            found[memory] = (1 << (14 - BELOW[width]), writers)
    return found
