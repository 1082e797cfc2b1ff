# SPDX-License-Identifier: Apache-2.0
"""What names say of an RTL and its netlist."""

from collections import defaultdict

from ..gates import Signal
from .block_memory import BELOW, writing


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
