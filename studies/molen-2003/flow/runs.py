# SPDX-License-Identifier: Apache-2.0
"""What a run of the Molen machine is given, and what comes of it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Loads:
    """What the loader is given, as the bench reads it, and the loads: what `ace library loader` says of each."""

    path: Path
    machine_mhz: float
    loads: list[dict]

    def list(self, wanted: str) -> int:
        """The address of the list of NAME or NAME:OTHER."""
        name, _, over = wanted.partition(":")
        return next(load["list"] for load in self.loads if (load["name"], load["over"] or "") == (name, over))


@dataclass(frozen=True)
class Outcome:
    """Of one run: why it halted, clocks, instructions, sets, what they took and bytes that the port was given; clocks by
    function; what was looked at; when the paper's processor reads its cycle counter (test/outorder.h)."""

    cause: int
    clocks: int
    instructions: int
    sets: int
    set_clocks: int
    port_bytes: int
    profile: dict[str, int]
    memory: list[list[int]]
    marks: list[int]
