# SPDX-License-Identifier: Apache-2.0
"""Two views of a slot as machines in one graph: the RTL as slang read it, and the netlist of synthesis.

A machine has signals, registers, memories in columns of one bit, ports that read them, and multipliers. What a register,
a read or a product is in the graph, is said from outside (`Outside`): that is where proofs tie one machine to the other.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ace_flow.equiv.words import Words
from ace_flow.prove.gates import FALSE, TRUE, Graph, Literal, Signal
from ace_flow.tools import ToolError

ABSENT: list[Signal] = ["0"]


class Register(NamedTuple):
    """A bit of state. Its next value already has enable and synchronous reset in it."""

    name: str
    output: Signal
    following: Callable[[], Literal]
    clock: Callable[[], Literal]
    # When it is reset without a clock, and to what; what it is when power comes on, or "x" if nothing says so.
    reset: Callable[[], Literal]
    value: int
    initial: str


class Write(NamedTuple):
    """A port that writes a column: its clock, whether it does, where and what."""

    clock: Literal
    enable: Literal
    address: list[Literal]
    data: Literal


class Column(NamedTuple):
    """One bit of all words of a memory, or of as many of them as a tile holds."""

    name: str
    writes: Callable[[], list[Write]]
    # What it holds at first: a bit for each address.
    contents: str


class Operation(NamedTuple):
    """Signals that are computed together."""

    inputs: list[Signal]
    outputs: list[Signal]
    compute: Callable[[list[Literal]], list[Literal]]


class Outside(Protocol):
    """What is in no machine alone."""

    # Whether the netlist has multipliers.
    multiplies: bool

    def state(self, register: str) -> Literal:
        """What a register holds."""

    def read(self, port: str, columns: list[str], address: list[Literal]) -> list[Literal]:
        """What a port reads of columns."""

    def used(self, column: str) -> None:
        """Something depends on what is read of a column."""

    def product(self, name: str, one: list[Literal], other: list[Literal]) -> list[Literal]:
        """What a multiplier of two signed words of 19 bits gives: 36 bits. What an ECP5 multiplier takes as 18 bits without
        a sign has a 0 in front."""


@dataclass
class Machine:
    """What both kinds of machine have in common."""

    graph: Graph
    outside: Outside
    module: dict
    prefix: str
    values: dict[Signal, Literal] = field(default_factory=dict)
    drivers: dict[Signal, Operation] = field(default_factory=dict)
    registers: dict[str, Register] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    # What is never to be 1, for what was described to be true.
    exclusive: dict[str, Literal] = field(default_factory=dict)
    # Signals that nothing drives.
    loose: list[Signal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = Words(self.graph)
        # What is undefined is 0: one of the values that it may have.
        self.values |= {"0": FALSE, "1": TRUE, "x": FALSE}
        for name, port in self.module["ports"].items():
            if port["direction"] == "input":
                for number, bit in enumerate(port["bits"]):
                    self.values[bit] = self.graph.input(f"{name}[{number}]")

    def outputs(self) -> Iterator[tuple[str, Literal]]:
        for name, port in self.module["ports"].items():
            if port["direction"] == "output":
                for number, bit in enumerate(port["bits"]):
                    yield f"{name}[{number}]", self.value(bit)

    def drive(self, inputs: list[Signal], outputs: list[Signal], compute: Callable) -> None:
        operation = Operation(inputs, outputs, compute)
        for output in outputs:
            if output in self.drivers or output in self.values:
                raise ToolError(f"{self.prefix}: {output} is driven twice")
            self.drivers[output] = operation

    def register(self, register: Register) -> None:
        if register.name in self.registers:
            raise ToolError(f"{self.prefix}: two registers are called {register.name}")
        self.registers[register.name] = register
        self.drive([], [register.output], lambda _: [self.outside.state(register.name)])

    def column(self, column: Column) -> None:
        if column.name in self.columns:
            raise ToolError(f"{self.prefix}: two columns are called {column.name}")
        self.columns[column.name] = column

    def value(self, signal: Signal) -> Literal:
        """What a signal is in the graph."""
        values = self.values
        stack, entered = [signal], set()
        while stack:
            top = stack[-1]
            if top in values:
                stack.pop()
            elif top not in self.drivers:
                self.loose.append(top)
                values[top] = FALSE
            else:
                operation = self.drivers[top]
                if waiting := [one for one in operation.inputs if one not in values]:
                    if top in entered:
                        raise ToolError(f"{self.prefix}: logic in a circle through {top}")
                    entered.add(top)
                    stack += waiting
                else:
                    answer = operation.compute([values[one] for one in operation.inputs])
                    values.update(zip(operation.outputs, answer, strict=True))
        return values[signal]

    def all(self, signals: Iterable[Signal]) -> list[Literal]:
        return [self.value(signal) for signal in signals]


def number(cell: dict, name: str, missing: int = 0) -> int:
    """A parameter that is a number."""
    return int(cell["parameters"].get(name, f"{missing:b}").replace("x", "0"), 2)
