# SPDX-License-Identifier: Apache-2.0
"""Registers of the RTL of which synthesis has made one bit for each of their values."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class States:
    """A register of the RTL of which synthesis has made one bit for each of the values that it can have."""

    name: str
    rtl: list[str]
    # The registers of the netlist, or nothing where nobody asks for that state.
    netlist: list[str]
    # The value for which each bit of the netlist stands.
    codes: list[int]
    # Registers of the netlist that are still bits of the value, and which.
    kept: dict[str, int] = field(default_factory=dict)

    def split(self, free: list, both: Callable, either: Callable, true: object) -> tuple[list, list]:
        """Bits of the RTL and of the netlist, of as many free bits as the RTL has: what is no value that it can have
        stands for the first one. Words of a simulation or literals of a graph."""

        def inverted(bit):
            return bit ^ true

        at = []
        for code in self.codes:
            here = true
            for place, bit in enumerate(free):
                here = both(here, bit if code >> place & 1 else inverted(bit))
            at.append(here)
        valid = 0
        for here in at:
            valid = either(valid, here)
        at[0] = either(at[0], inverted(valid))
        bits = []
        for place in range(len(free)):
            bit = 0
            for code, here in zip(self.codes, at, strict=True):
                if code >> place & 1:
                    bit = either(bit, here)
            bits.append(bit)
        return bits, at


def codes(text: str) -> dict[str, list[int]]:
    """What Yosys's pass `fsm` writes of the registers that it coded anew: the value for which each bit stands. Those that
    it gave other codes than one bit for each value, are not among them."""
    found: dict[str, dict[int, int]] = {}
    name = ""
    for line in text.splitlines():
        match line.split():
            case [".fsm", _, register]:
                name = register
                found[name] = {}
            case [".map", value, pattern] if set(value) <= {"0", "1"}:
                found[name][int(value, 2) if pattern.count("1") == 1 else -1] = (
                    len(pattern) - 1 - pattern.find("1")
                )
    answer = {}
    for register, states in found.items():
        if states and -1 not in states and sorted(states.values()) == [*range(len(states))]:
            answer[register] = sorted(states, key=states.__getitem__)
    return answer
