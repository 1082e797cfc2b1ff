# SPDX-License-Identifier: Apache-2.0
"""No key leaves a slot but as an answer: python -m ace_flow noninterference [NAMES], see --help.

Three runs of a configuration's model, clock by clock, with the same headers, lengths, tags and stalls: the first,
one with other keys, one with other keys, IVs and payloads. At all times no pin differs but m_axis_tdata while
m_axis_tvalid is 1, so that time depends on lengths alone. And WIPE_CYCLES after a frame with the wipe flag, a
reset, or a frame that ended in its key, no register and no bit of a memory differs. Without names: every
configuration of the library that is no variant; variants are their base with other contents of a few LUTs.

With --netlist the netlists' models as well; without names those that were built. With --faults, models with a fault
that leaks (fault_table.py, `python -m ace_flow faults`) have to be found out.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

from ace_flow import configurations
from ace_flow.build import library_cache
from ace_flow.configurations import Configuration
from ace_flow.faults import inject
from ace_flow.layout import Places
from ace_flow.noninterference.frames import ANOTHER, PARTIAL, Frame, frames
from ace_flow.noninterference.runs import Disagree, Finding, Runs
from ace_flow.sim import measure
from ace_flow.sim.model import ModelError

# Clocks after which a slot has forgotten, by shape and kind (docs/slot.md). Lanes have their buffers besides, a word
# in a clock.
WIPE_CYCLES = {
    ("iterative", "cipher"): 276,
    ("interleaved", "cipher"): 16,
    ("pipelined", "cipher"): 16,
    ("iterative", "hash"): 32,
    ("interleaved", "hash"): 528,
}


def wipe_cycles(row: Configuration) -> int:
    """WIPE_CYCLES of a row, with what its buffers take."""
    lanes = row.in_flight if row.can[0].kind == "cipher" and row.in_flight > 1 else 0
    return WIPE_CYCLES[row.shape, row.can[0].kind] + lanes * measure.BUFFER // row.can[0].block_bytes


# What a test of one model costs at most, about, in clocks of each run: what is more is drawn from.
BUDGET = {"RTL": 400_000, "netlist": 60_000}
LEAST = 4  # scenarios of each event
LINES = 12  # of what was found in one model

WIPE, RESET_IDLE, RESET_BUSY, CUT = (
    "a frame with wipe",
    "a reset at idle",
    "a reset in a frame",
    "a frame cut short in its key",
)
# Chances in 8 that no beat is offered, and that none is taken.
STALLS = ((0, 0), (3, 3), (5, 0), (0, 5), (0, 7), (7, 2))


@dataclass(frozen=True)
class Scenario:
    """Frames, one after the other, the last of which is the event or is what a reset comes behind or, with `part`
    of 7 of its time, into. What comes `behind` the event, and at once, is the same in all runs."""

    event: str
    frames: list[Frame]
    part: int = 0
    behind: list[Frame] = field(default_factory=list)


def scenarios(kinds: list[Frame]) -> Iterator[Scenario]:
    """All that are worth trying, event by event."""

    def late(kind: Frame) -> list[Frame]:
        # The first finds no key.
        return [kind.same_key(), kind]

    for kind in kinds:
        yield Scenario(WIPE, [kind.wiping()])
        yield Scenario(WIPE, [kind.wiping()], behind=late(kind))
        if kind.key:
            yield Scenario(WIPE, [kind, kind.same_key().wiping()])
            yield Scenario(WIPE, [replace(kind, payload=0), kind.same_key().wiping()])
    for kind in (kinds[0], kinds[-1]):
        # Refused, and ended behind its key.
        yield Scenario(WIPE, [kind, replace(kind, code=ANOTHER).wiping()])
        yield Scenario(WIPE, [kind, replace(kind, payload=1000, cut=3 + kind.key_beats).wiping()])
    for kind in kinds:
        for beats in range(1, kind.key_beats):
            yield Scenario(CUT, [replace(kind, cut=2 + beats)], behind=late(kind) if beats % 3 == 1 else [])
            yield Scenario(CUT, [kind, replace(kind, cut=2 + beats)])
    for kind in kinds:
        yield Scenario(RESET_IDLE, [kind])
        yield Scenario(RESET_IDLE, [kind, kind.same_key()], behind=late(kind))
    for kind in kinds:
        for part in range(1, 7):
            frames = [kind, kind.same_key()] if part % 2 else [kind]
            yield Scenario(RESET_BUSY, frames, part, late(kind) if part % 3 == 0 else [])


def traffic(kinds: list[Frame], longest: int, random: Random) -> list[Frame]:
    """Frames of all kinds back to back, most of them under kept keys, some of them wrong."""
    sequence = []
    for number in range(24):
        kind = random.choice(kinds)
        block = 16 if kind.operation in ("ecb", "cbc") else 1
        if not kind.flags & PARTIAL:
            most = longest if number == 12 else 260
            kind = replace(kind, payload=block * random.randrange(most // block))
        match random.randrange(12):
            case 0:
                kind = replace(kind, code=ANOTHER)
            case 1:
                kind = replace(kind, iv=kind.iv + 8)
            case 2:
                kind = kind.wiping()
            case 3 if kind.key_beats > 1:
                kind = replace(kind, cut=2 + random.randrange(1, kind.key_beats))
            case 4 if kind.payload > 16:
                kind = replace(kind, cut=4 + kind.key_beats)
            case dice if dice > 5:
                kind = kind.same_key()
        sequence.append(kind)
    return sequence


def crowd(kinds: list[Frame], in_flight: int, random: Random) -> list[Frame]:
    """Frames with a key each, long enough that as many as can be are under way together."""
    keyed = [k for k in kinds if k.key] or kinds
    some = (random.choice(keyed) for _ in range(3 * in_flight))
    return [kind if kind.flags & PARTIAL else replace(kind, payload=1024) for kind in some]


def act(runs: Runs, scenario: Scenario, stalls: tuple[int, int], random: Random, measuring: bool) -> None:
    """Plays a scenario and compares."""
    *before, last = scenario.frames
    if before and scenario.part % 4 != 1:
        runs.play(before, stalls)
        before = []
    resets = scenario.event in (RESET_IDLE, RESET_BUSY)
    clocks = runs.play([*before, last], stalls, behind=[] if resets else scenario.behind)
    if last.sound and any(runs.statuses[: 1 + len(before)]):
        raise ModelError(f"status {max(runs.statuses)} to {last}")
    if scenario.part:
        # Once more, to be interrupted.
        most = max(1, clocks * scenario.part // 7 - random.randrange(8))
        runs.play([*before, last], stalls, no_longer=most)
    if resets:
        runs.reset(random.randrange(2, 6))
        if scenario.behind:
            runs.play([], stalls, behind=scenario.behind)
    runs.settle(scenario.event, str(last), measuring and not scenario.behind)


def campaign(runs: Runs, row: Configuration, budget: int, random: Random, measuring: bool) -> Iterator[None]:
    """All of it, scenario by scenario."""
    kinds = frames(row.can)
    every = list(scenarios(kinds))
    effort = min(1, budget * 0.8 / (len(every) * (runs.wipe_cycles + 200)))
    for event in (WIPE, CUT, RESET_IDLE, RESET_BUSY):
        runs.restart()
        of = [s for s in every if s.event == event]
        for drawn in sorted(random.sample(range(len(of)), min(len(of), max(LEAST, round(effort * len(of)))))):
            try:
                act(runs, of[drawn], random.choice((STALLS[0], *STALLS)), random, measuring)
            except Disagree:
                runs.restart()
            yield
    for number in range(max(2, round(budget * 0.2 / 20_000))):
        runs.restart()
        stalls = STALLS[number % len(STALLS)]
        if row.in_flight > 1 and number % 2:
            sequence, stalls = crowd(kinds, row.in_flight, random), STALLS[0]
        else:
            sequence = traffic(kinds, 4000 if row.in_flight > 1 else 600, random)
        try:
            runs.play([*sequence, kinds[0].wiping()], stalls)
            runs.settle(WIPE, f"the last of {len(sequence) + 1}", measuring)
            runs.play(sequence, stalls, no_longer=random.randrange(50, 2000))
            runs.reset(random.randrange(2, 6))
            runs.settle(RESET_BUSY, f"one of {len(sequence)}", measuring)
        except Disagree:
            pass
        yield


def examine(
    library: Path, row: Configuration, budget: int, measuring: bool = False, first: bool = False
) -> Runs:
    """What differs in one model; with `first` no more than one scenario shows."""
    random = Random(row.name)
    runs = Runs(library, wipe_cycles(row), random.getrandbits(32))
    for _ in campaign(runs, row, budget, random, measuring):
        if first and runs.findings:
            break
    runs.close()
    return runs


@dataclass(frozen=True)
class Result:
    """What came of one model."""

    configuration: str
    model: str
    clocks: int
    seconds: float
    settled: int
    found: list[Finding]
    error: str
    fault: str

    @property
    def good(self) -> bool:
        """Nothing was found where nothing should be, or the fault was."""
        return not self.error and bool(self.found) == bool(self.fault)

    def text(self) -> str:
        """For people."""
        head = f"{self.configuration}, {self.model}: "
        if self.fault and self.good:
            return f"{head}found out: {self.fault} ({self.found[0].path})"
        lines = [f"error: {self.error}"] if self.error else []
        lines += [f"NOT FOUND OUT: {self.fault}"] if self.fault else [str(f) for f in self.found[:LINES]]
        if len(self.found) > LINES:
            lines.append(f"{len(self.found) - LINES} more")
        if self.good:
            lines.append(f"nothing differs, in {self.clocks} clocks ({self.seconds:.1f} s)")
        if self.settled:
            lines.append(f"forgotten after {self.settled} clocks at most")
        return "\n".join(head + line for line in lines)


@dataclass(frozen=True)
class Job:
    """A model to examine; with a fault it has to be found out."""

    row: Configuration
    model: str
    library: Path
    fault: str = ""
    measuring: bool = False

    def run(self) -> Result:
        """What comes of it."""
        started = time.process_time()
        try:
            runs = examine(self.library, self.row, BUDGET[self.model], self.measuring, bool(self.fault))
        except (ModelError, OSError) as error:
            return Result(self.row.name, self.model, 0, 0, 0, [], str(error), self.fault)
        seconds = round(time.process_time() - started, 2)
        found = list(runs.findings.values())
        return Result(self.row.name, self.model, runs.clocks, seconds, runs.settled, found, "", self.fault)


def has_netlist(places: Places) -> bool:
    """Whether the flow made a model of the netlist in its last run."""
    manifest = library_cache.read_json(places.manifest) or {}
    return "netlist_model" in manifest.get("files", {}) and places.netlist_model.exists()


def jobs_of(names: list[str], netlist: bool, faulty: bool, measuring: bool) -> list[Job]:
    """The models to examine. Of netlists, without names, those that were built."""
    table = configurations.load()
    for name in names:
        if name not in table:
            raise configurations.ConfigurationError(
                f"no configuration {name!r}; there are {', '.join(table)}"
            )
    rows = [table[name] for name in names] or [r for r in table.values() if not r.of and "library" in r.sets]
    jobs = []
    if netlist:
        for row in rows:
            library = Places(row.name).netlist_model
            if names or has_netlist(Places(row.name)):
                jobs.append(Job(row, "netlist", library, measuring=measuring))
    # The long ones first.
    for row in sorted(rows, key=lambda row: -row.in_flight):
        jobs.append(Job(row, "RTL", Places(row.name).model, measuring=measuring))
    if faulty:
        for fault in json.loads(inject.INDEX.read_text()):
            row = table[fault["configuration"]]
            if fault["caught_by"] == "independence" and row in rows:
                jobs.append(Job(row, "RTL", inject.FAULTS / fault["library"], fault["what"]))
    return jobs


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAMES")
    parser.add_argument("--netlist", action="store_true", help="the netlists' models, too")
    parser.add_argument("--faults", action="store_true", help="the models with a fault that leaks, too")
    parser.add_argument("--json", action="store_true", help="one line for each model")
    parser.add_argument("--measure", action="store_true", help="how long it takes to forget (slow)")
    given = parser.parse_args()
    try:
        jobs = jobs_of(given.names, given.netlist, given.faults, given.measure)
    except (configurations.ConfigurationError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(Job.run, jobs):
            print(json.dumps(asdict(result), default=sorted) if given.json else result.text(), flush=True)
            failed += [] if result.good else [result.configuration]
    kinds = Counter("fault" if job.fault else job.model for job in jobs)
    counts = ", ".join(f"{n} {'models' if kind == 'RTL' else kind + 's'}" for kind, n in kinds.items())
    verdict = f"FAILED: {', '.join(dict.fromkeys(failed))}" if failed else "all as they should be"
    print(f"key independence: {counts}; {verdict}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
