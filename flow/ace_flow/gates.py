# SPDX-License-Identifier: Apache-2.0
"""Logic cells of an ECP5 netlist (Yosys JSON) as Yosys's gates, for proofs.

A LUT becomes few gates, and the same ones however its inputs are exchanged: placing exchanges them, and what is the
same structure in both circuits needs no proof by search.
"""

from functools import cache
from itertools import permutations

from .tools import ToolError

# A signal: a net of the module, or a constant "0" or "1".
Signal = int | str
FULL = 0xFFFF
# Tables of the inputs A to D themselves, and of each one's halves: where input n is 1.
ONES = (0xAAAA, 0xCCCC, 0xF0F0, 0xFF00)
ABSENT = ["0"]


def cofactors(table: int, pin: int) -> tuple[int, int]:
    """A table with one input at 0 and at 1; it is still a table of four inputs."""
    low, high, shift = table & ~ONES[pin] & FULL, table & ONES[pin], 1 << pin
    return low | low << shift, high | high >> shift


@cache
def canonical(table: int) -> tuple[int, tuple[int, ...]]:
    """The least of the tables that come of exchanging inputs, and which input goes where."""

    def exchanged(order: tuple[int, ...]) -> int:
        result = 0
        for index in range(16):
            source = sum((index >> place & 1) << pin for place, pin in enumerate(order))
            result |= (table >> source & 1) << index
        return result

    return min((exchanged(order), order) for order in permutations(range(4)))


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


class Gates:
    """A module while its logic becomes gates."""

    def __init__(self, module: dict):
        self.cells: dict[str, dict] = {}
        used = [bits for port in module["ports"].values() for bits in port["bits"]]
        used += [b for c in module["cells"].values() for bits in c["connections"].values() for b in bits]
        self.free = 1 + max((bit for bit in used if isinstance(bit, int)), default=1)

    def net(self) -> int:
        self.free += 1
        return self.free - 1

    def gate(self, kind: str, output: Signal | None = None, **pins: Signal) -> Signal:
        """One gate; its output."""
        output = self.net() if output is None else output
        connections = {name: [signal] for name, signal in pins.items()} | {"Y": [output]}
        self.cells[f"$gate${len(self.cells)}"] = {
            "type": kind,
            "parameters": {},
            "attributes": {},
            "connections": connections,
        }
        return output

    def lut(self, table: int, inputs: list[Signal], output: Signal | None = None) -> Signal:
        """The gates of a table; its output."""
        for pin, signal in enumerate(inputs):
            # Undefined is 0, as everywhere.
            if signal in ("0", "1", "x"):
                table = cofactors(table, pin)[signal == "1"]
        table, order = canonical(table)
        done: dict[int, Signal] = {0: "0", FULL: "1"}
        signal = self._table(table, [inputs[pin] for pin in order], done)
        if output is None:
            return signal
        # A name for what has one already.
        return self.gate("$_BUF_", output, A=signal)

    def _table(self, table: int, inputs: list[Signal], done: dict[int, Signal]) -> Signal:
        if table not in done:
            kind, pin, *rest = split(table)
            parts = [self._table(part, inputs, done) for part in rest]
            match kind:
                case "":
                    done[table] = inputs[pin]
                case "$_NOT_":
                    done[table] = self.gate(kind, A=inputs[pin])
                case "$_MUX_":
                    done[table] = self.gate(kind, A=parts[0], B=parts[1], S=inputs[pin])
                case _:
                    # ANDNOT and ORNOT invert B.
                    done[table] = self.gate(kind, A=parts[0], B=inputs[pin])
        return done[table]

    def carry(self, cell: dict) -> None:
        """Two bits of a chain: each propagates or generates a carry, unless a 1 is injected in its place."""
        parameters, pins = cell["parameters"], cell["connections"]
        carry = pins.get("CIN", ABSENT)[0]
        for half in "01":
            table = number(parameters, f"INIT{half}")
            chained = parameters.get(f"INJECT1_{half}", "YES").strip() == "NO"
            inputs = [pins.get(f"{pin}{half}", ABSENT)[0] for pin in "ABCD"]
            propagate = self.lut(table, inputs)
            generate = self.lut(table & 0xF, [*inputs[:2], "0", "0"]) if chained else "0"
            if f"S{half}" in pins:
                self.gate("$_XOR_", pins[f"S{half}"][0], A=propagate, B=carry if chained else "0")
            carry = self.gate("$_MUX_", A=generate, B=carry, S=propagate)
        if "COUT" in pins:
            self.gate("$_BUF_", pins["COUT"][0], A=carry)

    def add(self, name: str, cell: dict) -> None:
        """A cell of the netlist: gates, if it is logic."""
        pins = cell["connections"]

        def pin(name: str) -> Signal:
            return pins.get(name, ABSENT)[0]

        match cell["type"]:
            case "LUT4":
                self.lut(number(cell["parameters"], "INIT"), [pin(p) for p in "ABCD"], pins["Z"][0])
            case "PFUMX":
                self.gate("$_MUX_", pins["Z"][0], A=pin("BLUT"), B=pin("ALUT"), S=pin("C0"))
            case "L6MUX21":
                self.gate("$_MUX_", pins["Z"][0], A=pin("D0"), B=pin("D1"), S=pin("SD"))
            case "CCU2C":
                self.carry(cell)
            case kind:
                raise ToolError(f"{name} is a {kind}, and proofs know no such cell")


def number(parameters: dict, name: str) -> int:
    """A table; undefined entries are 0."""
    return int(parameters.get(name, "0").replace("x", "0"), 2)
