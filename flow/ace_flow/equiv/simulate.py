# SPDX-License-Identifier: Apache-2.0
"""Simulation of graphs (ace_flow/prove/gates.py) under random values, and questions about them to a solver."""

import random
from collections.abc import Callable
from functools import cache

import z3

from ace_flow.prove.gates import Graph, Literal, split

# Patterns that are simulated at the same time.
WIDTH = 3072
ALL = (1 << WIDTH) - 1


def slice_of(place: int, count: int) -> int:
    """The patterns that begin at one of so many things which a solver found: a third is for all of them."""
    size = WIDTH // 3 // count
    return (1 << size) - 1 << WIDTH // 3 + place * size


@cache
def expression(table: int, pins: tuple[str, ...]) -> str:
    """A table as a term of Python, for words of WIDTH bits."""
    kind, pin, *rest = split(table)
    x, parts = pins[pin], [expression(part, pins) if part not in (0, 0xFFFF) else "" for part in rest]
    match kind:
        case "":
            return x
        case "$_NOT_":
            return f"(M^{x})"
        case "$_XOR_":
            return f"({parts[0]}^{x})"
        case "$_AND_":
            return f"({parts[0]}&{x})"
        case "$_OR_":
            return f"({parts[0]}|{x})"
        case "$_ANDNOT_":
            return f"({parts[0]}&(M^{x}))"
        case "$_ORNOT_":
            return f"({parts[0]}|(M^{x}))"
        case _:
            return f"({parts[0]}^(({parts[0]}^{parts[1]})&{x}))"


class Simulation:
    """The logic of a graph as compiled Python, in pieces between the inputs that depend on what came before."""

    def __init__(self, graph: Graph, late: set[int], wanted: set[int] | None = None):
        """`late`: inputs that depend on what came before; `wanted`: the only nodes that count, if not all do."""
        self.size = len(graph.nodes)
        self.pieces: list[tuple] = []
        lines: list[str] = []

        def close(after: int | None) -> None:
            code = None
            if lines:
                space: dict = {}
                exec("def piece(v, M):\n" + "\n".join(lines), space)  # noqa: S102
                code = space["piece"]
                lines.clear()
            self.pieces.append((code, after))

        every = range(len(graph.nodes)) if wanted is None else sorted(wanted)
        for node in every:
            table, inputs = graph.nodes[node]
            if node in late:
                close(node)
            elif isinstance(table, int) and node:
                term = expression(table, tuple(f"v[{one}]" for one in inputs))
                lines.append(f" v[{node}]={term}")
                if len(lines) > 2000:
                    close(None)
        close(None)
        self.inputs = [n for n in every if isinstance(graph.nodes[n][0], str) and n not in late]

    def run(self, values: dict[int, int], late: Callable) -> list[int]:
        """All nodes' values. `late` gives values of further inputs, which it is asked for when it can know them."""
        v = [0] * self.size
        for node, value in values.items():
            v[node] = value
        for code, after in self.pieces:
            if code is not None:
                code(v, ALL)
            if after is not None:
                late(after, v)
        return v


def get(v: list[int], literal: Literal) -> int:
    return v[literal >> 1] ^ (ALL if literal & 1 else 0)


def formula(table: int, inputs: list) -> z3.BoolRef:
    """A table for the solver."""
    kind, pin, *rest = split(table)
    x, parts = inputs[pin], [formula(part, inputs) if part not in (0, 0xFFFF) else None for part in rest]
    match kind:
        case "":
            return x
        case "$_NOT_":
            return z3.Not(x)
        case "$_XOR_":
            return z3.Xor(parts[0], x)
        case "$_AND_":
            return z3.And(parts[0], x)
        case "$_OR_":
            return z3.Or(parts[0], x)
        case "$_ANDNOT_":
            return z3.And(parts[0], z3.Not(x))
        case "$_ORNOT_":
            return z3.Or(parts[0], z3.Not(x))
        case _:
            return z3.If(x, parts[1], parts[0])


def stem(name: str) -> str:
    """The word of which a register is a bit."""
    scope, dot, own = name.rpartition(".")
    return scope + dot + own.partition("[")[0]


class Noise:
    """Random words, in every simulation others. In two thirds of the patterns most words have all their bits alike, or
    counters would never be full and comparisons never equal."""

    def __init__(self) -> None:
        self.source = random.Random(1)
        self.begin()

    def begin(self) -> None:
        self.known: dict = {}
        self.words: dict = {}

    def bits(self) -> int:
        return self.source.getrandbits(WIDTH)

    def few(self) -> int:
        """A bit of 16 is 1."""
        return self.bits() & self.bits() & self.bits() & self.bits()

    def dense(self, key: object) -> int:
        """A bit of 16 is 0; the same for the same key."""
        if ("dense", key) not in self.known:
            self.known["dense", key] = ALL ^ self.few()
        return self.known["dense", key]

    def word(self, key: object, stem: object) -> int:
        """The same for the same key until another simulation begins; `stem`: the word of which it is a bit."""
        if key not in self.known:
            if stem not in self.words:
                third = (1 << WIDTH // 3) - 1
                alike = self.bits() & ~third
                alike |= self.bits() & (third << 2 * WIDTH // 3)
                self.words[stem] = (alike, self.bits())
            alike, value = self.words[stem]
            self.known[key] = self.bits() & ~alike | value & alike
        return self.known[key]


def substitute(graph: Graph, known: dict[int, Literal], literal: Literal) -> Literal:
    """A literal with other literals in the place of nodes: those that are known, to which it adds."""
    stack = [literal >> 1]
    while stack:
        node = stack[-1]
        table, inputs = graph.nodes[node]
        if node in known:
            stack.pop()
        elif isinstance(table, str):
            known[node] = 2 * node
        elif waiting := [one for one in inputs if one not in known]:
            stack += waiting
        else:
            new = [known[one] for one in inputs]
            known[node] = 2 * node if new == [2 * one for one in inputs] else graph.lut(table, new)
    return known[literal >> 1] ^ literal & 1
