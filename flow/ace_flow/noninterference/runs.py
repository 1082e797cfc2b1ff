# SPDX-License-Identifier: Apache-2.0
"""Three runs of one slot with the same headers, lengths, tags and stalls, and what differs between them."""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from ace_flow.noninterference.frames import Beats, Frame
from ace_flow.noninterference.slot import HOLD, M_TLAST, M_TVALID, OFFER, PINS, TAKE, Item, Slot
from ace_flow.sim.model import ModelError

# Seeds of keys and of IVs and payloads, run by run, and what each of the others differs from the first in.
SECRETS = ((0, 0), (1, 0), (2, 2))
OTHER = ("other keys", "other keys and data")
SILENT = 50_000  # clocks without a beat
STEP = 64  # clocks between looks at what came out


@dataclass
class Finding:
    """A pin, a register or a memory that differs, where it was first seen to."""

    path: str
    bits: str
    event: str
    frame: str
    clock: int  # after the event
    runs: set[str] = field(default_factory=set)
    events: dict[str, int] = field(default_factory=dict)  # all, and how often

    def __str__(self) -> str:
        times = ", ".join(f"{event} ({n})" for event, n in self.events.items())
        what = f"{self.path} {self.bits}".strip()
        return f"{what} differs {self.clock} clocks after {self.event}, {self.frame}; with {min(self.runs)}; in {times}"


class Disagree(Exception):
    """The handshake differs between runs, so that what follows means nothing."""


def differing(item: Item, one: bytes, two: bytes) -> str:
    """The bits that differ; of a memory those of the first word that does."""
    size = item.element

    def word(of: bytes, i: int) -> int:
        return int.from_bytes(of[i * size : (i + 1) * size], "little")

    words = [i for i in range(item.bytes // size) if word(one, i) != word(two, i)]
    bits = f"bits {word(one, words[0]) ^ word(two, words[0]):#x}"
    if item.bytes == size:
        return bits
    return f"word {words[0]} {bits}" + (f" and {len(words) - 1} more words" if words[1:] else "")


class Runs:
    """The runs. A scenario begins with `restart` or where the one before ended."""

    def __init__(self, library: Path, wipe_cycles: int, seed: int):
        self.library, self.wipe_cycles = library, wipe_cycles
        self.findings: dict[str, Finding] = {}
        self.clocks = 0  # of each run, over all scenarios
        self.settled = 0  # clocks after which nothing differed any more, at most; if asked for
        self.random = Random(seed)
        self.slots: list[Slot] = []
        self.since = 0  # the event: a value of `clocks`
        self.statuses: list[int] = []  # of the answers that came last
        self.answers: list[list[list[int]]] = []  # themselves, run by run
        self.restart()

    def restart(self) -> None:
        """New slots, which hold nothing."""
        self.close()
        self.slots = [Slot(self.library) for _ in SECRETS]
        salt = self.random.getrandbits(32)
        self.secrets = [(Random(f"key {k} {salt}"), Random(f"data {d} {salt}")) for k, d in SECRETS]
        self.answers = [[[]] for _ in self.slots]
        self.since = self.clocks

    def close(self) -> None:
        """Ends them."""
        while self.slots:
            self.slots.pop().close()

    def _found(self, path: str, bits: str, event: str, frame: str, clock: int, run: int) -> None:
        finding = self.findings.setdefault(path, Finding(path, bits, event, frame, clock))
        finding.runs.add(OTHER[run])
        finding.events[event] = finding.events.get(event, 0) + 1

    def _drive(
        self, todo: bytes, beats: list[Beats], event: str, frame: str
    ) -> tuple[int, list[tuple[int, int]]]:
        """So many clocks of every run: how many beats were taken, the clocks in which answers ended, their statuses."""
        noise = self.random.getrandbits(32)
        seen = [slot.drive(todo, b, noise) for slot, b in zip(self.slots, beats, strict=True)]
        first, start = seen[0], self.clocks - self.since
        self.clocks += len(todo)
        for run, other in enumerate(seen[1:]):
            if first.handshake != other.handshake:
                clock = next(i for i in range(len(todo)) if first.handshake[i] != other.handshake[i])
                for pin, name in PINS.items():
                    if (first.handshake[clock] ^ other.handshake[clock]) & pin:
                        self._found(f"pin {name}", "", event, frame, start + clock, run)
                raise Disagree
            if first.data == other.data:
                continue
            for clock, pins in enumerate(first.handshake):
                if first.data[clock] != other.data[clock] and not pins & M_TVALID:
                    bits = f"bits {first.data[clock] ^ other.data[clock]:#x} while tvalid is 0"
                    self._found("pin m_axis_tdata", bits, event, frame, start + clock, run)
                    break
        ends = []
        for clock, pins in enumerate(first.handshake):
            if pins & M_TVALID and todo[clock] & (TAKE | HOLD) == TAKE:
                for answers, run in zip(self.answers, seen, strict=True):
                    answers[-1].append(run.data[clock])
                    if pins & M_TLAST:
                        answers.append([])
                if pins & M_TLAST:
                    ends.append((clock, first.data[clock] >> 48 & 0xFF))
        return first.taken, ends

    def _todo(self, clocks: int, stalls: tuple[int, int]) -> bytes:
        """Clocks in which beats are offered and taken, but for stalls (chances in 8)."""
        if not any(stalls):
            return bytes([OFFER | TAKE]) * clocks
        offer, take = stalls
        return bytes(
            (OFFER if (dice & 7) >= offer else 0) | (TAKE if (dice >> 3 & 7) >= take else 0)
            for dice in self.random.randbytes(clocks)
        )

    def play(
        self, sequence: list[Frame], stalls: tuple[int, int], *, behind: list[Frame] = (), no_longer: int = 0
    ) -> int:
        """Sends frames back to back until the last answer has ended, or for so many clocks. Returns the clocks.
        Frames `behind` the others are the same in all runs, and so have to be their answers."""
        what = f"{len(sequence)} frames" if len(sequence) > 2 else str([*sequence, *behind][-1])
        count = len(sequence) + len(behind)
        tags = self.random.sample(range(1 << 16), count)
        same = self.random.getrandbits(32)
        beats = []
        for run in self.secrets:
            secrets = [run] * len(sequence) + [(Random(same), Random(same + 1))] * len(behind)
            drawn = zip([*sequence, *behind], tags, secrets, strict=True)
            beats.append([beat for frame, tag, one in drawn for beat in frame.beats(tag, *one)])
        self.since = start = self.clocks
        self.answers = [[[]] for _ in self.slots]
        quiet, ends, self.statuses = 0, [], []
        while len(self.statuses) < count:
            step = min(STEP, no_longer - (self.clocks - start)) if no_longer else min(STEP, self.wipe_cycles)
            if step <= 0:
                return no_longer
            at = self.clocks
            taken, ends = self._drive(self._todo(step, stalls), beats, "the first beat", what)
            beats = [b[taken:] for b in beats]
            self.statuses += [status for _, status in ends]
            quiet = 0 if taken or ends else quiet + step
            if quiet > SILENT:
                raise ModelError(f"no answer to {what}")
        for run, answers in enumerate(self.answers[1:]):
            if answers[len(sequence) : count] != self.answers[0][len(sequence) : count]:
                self._found(
                    "the answer", "to a frame that is the same in all runs", "it", f"{behind[-1]}", 0, run
                )
        self.since = at + ends[-1][0] + 1
        return self.since - start

    def reset(self, clocks: int) -> None:
        """Reset for so many clocks, whatever is under way."""
        self._drive(bytes([HOLD | TAKE]) * clocks, [[]] * len(self.slots), "the event", "reset")
        self.since = self.clocks

    def settle(self, event: str, frame: str, measure: bool = False) -> None:
        """Waits until `wipe_cycles` have passed since the event, and compares all registers and memories."""
        left = self.wipe_cycles - (self.clocks - self.since)
        nothing: list[Beats] = [[]] * len(self.slots)
        if measure:
            for _ in range(left):
                states = [slot.state() for slot in self.slots]
                if any(state != states[0] for state in states):
                    self.settled = max(self.settled, self.clocks - self.since + 1)
                self._drive(self._todo(1, (8, 3)), nothing, event, frame)
        else:
            self._drive(self._todo(left, (8, 3)), nothing, event, frame)
        first, *others = [slot.state() for slot in self.slots]
        for run, other in enumerate(others):
            if first == other:
                continue
            for item in self.slots[0].items:
                part = slice(item.start, item.start + item.bytes)
                if first[part] != other[part]:
                    bits = differing(item, first[part], other[part])
                    self._found(item.name, bits, event, frame, self.wipe_cycles, run)
