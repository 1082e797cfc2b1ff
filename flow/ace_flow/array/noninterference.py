# SPDX-License-Identifier: Apache-2.0
"""Two runs of the array's slot with other keys and data, clock by clock."""

from pathlib import Path

from ace_flow.array.frames import Wrong, beats
from ace_flow.noninterference.runs import differing
from ace_flow.noninterference.slot import HOLD, M_TLAST, M_TVALID, OFFER, PINS, TAKE, Slot

# Clocks after which a slot has forgotten, from the answer or the reset on.
WIPE_CYCLES = 4240


def compare(library: Path, runs: list[list[bytes]], event: str, number: int, answers: int = 0) -> None:
    """`answers`: how many there are, if it is not one a frame."""
    with Slot(library) as one, Slot(library) as two:
        left = [beats(requests) for requests in runs]
        count, ended, clocks, enough = answers or len(runs[0]), 0, 0, 0
        if event == "reset in a frame":
            enough = 4000 + 977 * number % 9000
        todo = bytes([OFFER | TAKE]) * 64
        while ended < count and not (enough and clocks >= enough):
            # Answers end within these clocks: the event is looked for one clock at a time near the end.
            step = todo if ended < count - 1 else todo[:1]
            seen = [slot.drive(step, beats, 7) for slot, beats in zip((one, two), left, strict=True)]
            left = [beats[taken.taken :] for beats, taken in zip(left, seen, strict=True)]
            if seen[0].handshake != seen[1].handshake:
                raise Wrong(
                    f"{event}: the handshake differs after {clocks} clocks ({', '.join(PINS.values())})"
                )
            for pins, a, b in zip(seen[0].handshake, seen[0].data, seen[1].data, strict=True):
                if a != b and not pins & M_TVALID:
                    raise Wrong(f"{event}: m_axis_tdata differs while m_axis_tvalid is 0")
                ended += bool(pins & M_TVALID and pins & M_TLAST)
            clocks += len(step)
            if clocks > 2_000_000:
                raise Wrong(f"{event}: no answer")
        if event.startswith("reset"):
            for slot in (one, two):
                slot.drive(bytes([HOLD | TAKE]) * 4, [], 7)
        for slot in (one, two):
            slot.drive(bytes([TAKE]) * WIPE_CYCLES, [], 7)
        states = one.state(), two.state()
        for item in one.items:
            part = slice(item.start, item.start + item.bytes)
            if states[0][part] != states[1][part]:
                raise Wrong(f"{event}: {item.name} {differing(item, states[0][part], states[1][part])}")
