# SPDX-License-Identifier: Apache-2.0
"""Logic of ECP5 netlists (Yosys JSON) as a graph in which the same logic is the same node, for proofs.

A node is a table of up to four inputs. Before it is looked up, its inputs are sorted, and constant, equal, inverted and
unused ones are taken into the table. So two circuits in one graph share all that is built alike, however placing
exchanged the inputs of LUTs, and their signals there are equal because they are one; the rest becomes clauses.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from ace_flow.tools import ToolError

# A signal of a netlist: a net, or a constant "0", "1" or "x". Between the halves of a carry cell it has a name.
Signal = int | str
# A signal of the graph: twice the number of a node, and 1 more if it is inverted. Node 0 is the constant 0.
Literal = int
FALSE, TRUE = 0, 1
FULL = 0xFFFF
# Tables of the inputs A to D themselves: where input n is 1.
ONES = (0xAAAA, 0xCCCC, 0xF0F0, 0xFF00)
NOT, AND, OR, XOR = 0x5555, 0x8888, 0xEEEE, 0x6666
# C ? B : A
MUX = 0xCACA
ABSENT = ["0"]


def cofactors(table: int, pin: int) -> tuple[int, int]:
    """A table with one input at 0 and at 1; it is still a table of four inputs."""
    low, high, shift = table & ~ONES[pin] & FULL, table & ONES[pin], 1 << pin
    return low | low << shift, high | high >> shift


@cache
def least(table: int, shape: tuple[tuple[int | None, int], ...]) -> tuple[int, tuple[int, ...], int]:
    """A table in its one form. `shape` says of every pin to which input it goes and whether inverted, or that it is a
    constant. The result is a table of the inputs that count, which is 0 where these are; which they are, in their
    order; and whether the table is inverted."""
    result = 0
    for index in range(16):
        source = 0
        for pin, (place, inverted) in enumerate(shape):
            value = inverted if place is None else (index >> place & 1) ^ inverted
            source |= value << pin
        result |= (table >> source & 1) << index
    kept = tuple(place for place in range(4) if cofactors(result, place)[0] != cofactors(result, place)[1])
    inverted = result & 1
    if inverted:
        result ^= FULL
    packed = 0
    for index in range(16):
        source = sum((index >> position & 1) << place for position, place in enumerate(kept))
        packed |= (result >> source & 1) << index
    return packed, kept, inverted


@cache
def split(table: int) -> tuple:
    """The last gate of a table: its type, the input that it takes, and the tables of what else it takes."""
    mux = None
    for pin in range(4):
        low, high = cofactors(table, pin)
        if low == high:
            continue
        if (low, high) == (0, FULL):
            return ("", pin)
        if (low, high) == (FULL, 0):
            return ("$_NOT_", pin)
        if low == high ^ FULL:
            return ("$_XOR_", pin, low)
        if low == 0:
            return ("$_AND_", pin, high)
        if high == FULL:
            return ("$_OR_", pin, low)
        if high == 0:
            return ("$_ANDNOT_", pin, low)
        if low == FULL:
            return ("$_ORNOT_", pin, high)
        mux = mux or ("$_MUX_", pin, low, high)
    return mux


class Graph:
    """Logic of any number of circuits. An input is a node as well, with its name for a table."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int | str, tuple[int, ...]]] = [(0, ())]
        self.known: dict[tuple[int | str, tuple[int, ...]], int] = {}

    def node(self, table: int | str, inputs: tuple[int, ...]) -> Literal:
        key = (table, inputs)
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = len(self.nodes)
            self.nodes.append(key)
        return 2 * number

    def forget(self) -> None:
        """What comes from here on shares nothing but inputs with what is there."""
        self.known = {key: number for key, number in self.known.items() if isinstance(key[0], str)}

    def input(self, name: str) -> Literal:
        """What both circuits are given by this name."""
        return self.node(name, ())

    def lut(self, table: int, inputs: Iterable[Literal]) -> Literal:
        """A table of up to four inputs."""
        inputs = [*inputs]
        nodes = sorted({literal >> 1 for literal in inputs if literal > TRUE})
        shape = tuple((nodes.index(lit >> 1) if lit > TRUE else None, lit & 1) for lit in inputs)
        packed, kept, inverted = least(table, shape)
        if not kept:
            return inverted
        if len(kept) == 1:
            # It is 0 where its input is, so it is that input.
            return 2 * nodes[kept[0]] + inverted
        return self.node(packed, tuple(nodes[place] for place in kept)) + inverted

    def needed(self, literals: Iterable[Literal]) -> list[int]:
        """The nodes on which literals depend, each behind those that it takes; node 0 is always there."""
        wanted, waiting = {0}, [literal >> 1 for literal in literals]
        while waiting:
            node = waiting.pop()
            if node not in wanted:
                wanted.add(node)
                waiting += self.nodes[node][1]
        return sorted(wanted)

    def values(self, nodes: Iterable[int], true: Callable[[int], bool]) -> dict[int, int]:
        """What nodes are, in the order of `needed`, if these inputs are 1."""
        values: dict[int, int] = {}
        for node in nodes:
            table, inputs = self.nodes[node]
            if isinstance(table, str):
                values[node] = int(true(node))
            else:
                row = sum(values[one] << place for place, one in enumerate(inputs))
                values[node] = table >> row & 1
        return values


def carry(name: str, cell: dict) -> Iterator[tuple[Signal, int, list[Signal]]]:
    """Two bits of a chain: each propagates or generates a carry, unless a 1 is injected in its place."""
    parameters, pins = cell["parameters"], cell["connections"]
    before = pins.get("CIN", ABSENT)[0]
    for half in "01":
        table = number(parameters, f"INIT{half}")
        chained = parameters.get(f"INJECT1_{half}", "YES").strip() == "NO"
        inputs = [pins.get(f"{pin}{half}", ABSENT)[0] for pin in "ABCD"]
        propagate, generate, after = (
            f"{name}.{signal}{half}" for signal in ("propagate", "generate", "carry")
        )
        yield propagate, table, inputs
        yield generate, table & 0xF if chained else 0, [*inputs[:2], "0", "0"]
        if f"S{half}" in pins:
            yield pins[f"S{half}"][0], XOR, [propagate, before if chained else "0"]
        yield after, MUX, [generate, before, propagate]
        before = after
    if "COUT" in pins:
        yield pins["COUT"][0], ONES[0], [before]


def tables(name: str, cell: dict) -> Iterator[tuple[Signal, int, list[Signal]]]:
    """A cell of logic as tables: what each drives, the table, and its inputs."""
    pins = cell["connections"]

    def given(names: Iterable[str]) -> list[Signal]:
        return [pins.get(pin, ABSENT)[0] for pin in names]

    match cell["type"]:
        case "LUT4":
            yield pins["Z"][0], number(cell["parameters"], "INIT"), given("ABCD")
        case "PFUMX":
            yield pins["Z"][0], MUX, given(("BLUT", "ALUT", "C0"))
        case "L6MUX21":
            yield pins["Z"][0], MUX, given(("D0", "D1", "SD"))
        case "CCU2C":
            yield from carry(name, cell)
        case kind:
            raise ToolError(f"{name} is a {kind}, and proofs know no such cell")


def number(parameters: dict, name: str) -> int:
    """A table; undefined entries are 0."""
    return int(parameters.get(name, "0").replace("x", "0"), 2)
