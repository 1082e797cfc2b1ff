# SPDX-License-Identifier: Apache-2.0
"""Registers of the RTL of which synthesis has made one bit for each of their values."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations


@dataclass
class States:
    """A register of the RTL of which synthesis has made one bit for each of the values that it can have."""

    name: str
    rtl: list[str]
    # The registers of the netlist, or nothing where nobody asks for that state.
    netlist: list[str]
    # The value for which each bit of the netlist stands.
    codes: list[int]

    def guesses(self) -> Iterator[list[int]]:
        """All that the bits may stand for."""
        for codes in permutations(range(1 << len(self.rtl)), len(self.netlist)):
            yield [*codes]

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
