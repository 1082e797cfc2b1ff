# SPDX-License-Identifier: Apache-2.0
"""No key leaves a slot but as an answer: python -m ace_flow.independence [NAMES] [--netlist] [--json] [--measure].

Three runs of a configuration's model, clock by clock, with the same headers, lengths, tags and stalls: the first,
one with other keys, one with other keys, IVs and payloads. At all times no pin differs but m_axis_tdata while
m_axis_tvalid is 1, so that time depends on lengths alone. And WIPE_CYCLES after a frame with the wipe flag, a
reset, or a frame that ended in its key, no register and no bit of a memory differs. Without names: every
configuration of the library that is no variant; variants are their base with other contents of a few LUTs.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

from . import configurations
from .configurations import Configuration
from .independence_frames import PARTIAL, Frame, frames
from .independence_runs import Disagree, Finding, Runs
from .layout import Places
from .model import ModelError

# Clocks after which a slot has forgotten, by shape and kind (docs/slot.md).
WIPE_CYCLES = {
    ("iterative", "cipher"): 600,
    ("interleaved", "cipher"): 600,
    ("pipelined", "cipher"): 600,
    ("iterative", "hash"): 600,
    ("interleaved", "hash"): 600,
}
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
    of 7 of its time, into."""

    event: str
    frames: list[Frame]
    part: int = 0


def scenarios(kinds: list[Frame]) -> Iterator[Scenario]:
    """All that are worth trying, event by event."""
    for kind in kinds:
        yield Scenario(WIPE, [kind.wiping()])
        if kind.key:
            yield Scenario(WIPE, [kind, kind.kept().wiping()])
            yield Scenario(WIPE, [replace(kind, payload=0), kind.kept().wiping()])
    for kind in (kinds[0], kinds[-1]):
        # Refused, and ended behind its key.
        yield Scenario(WIPE, [kind, replace(kind, code=0xFE).wiping()])
        yield Scenario(WIPE, [kind, replace(kind, payload=1000, cut=3 + kind.key_beats).wiping()])
    for kind in kinds:
        for beats in range(1, kind.key_beats):
            yield Scenario(CUT, [replace(kind, cut=2 + beats)])
            yield Scenario(CUT, [kind, replace(kind, cut=2 + beats)])
    for kind in kinds:
        yield Scenario(RESET_IDLE, [kind])
        yield Scenario(RESET_IDLE, [kind, kind.kept()])
    for kind in kinds:
        for part in range(1, 7):
            yield Scenario(RESET_BUSY, [kind, kind.kept()] if part % 2 else [kind], part)


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
                kind = replace(kind, code=0xFE)
            case 1:
                kind = replace(kind, iv=kind.iv + 8)
            case 2:
                kind = kind.wiping()
            case 3 if kind.key_beats > 1:
                kind = replace(kind, cut=2 + random.randrange(1, kind.key_beats))
            case 4 if kind.payload > 16:
                kind = replace(kind, cut=4 + kind.key_beats)
            case dice if dice > 5:
                kind = kind.kept()
        sequence.append(kind)
    return sequence


def act(runs: Runs, scenario: Scenario, stalls: tuple[int, int], random: Random, measure: bool) -> None:
    """Plays a scenario and compares."""
    *before, last = scenario.frames
    if before and scenario.part % 4 != 1:
        runs.play(before, stalls)
        before = []
    clocks = runs.play([*before, last], stalls)
    if scenario.part:
        # Once more, to be interrupted.
        runs.play([*before, last], stalls, max(1, clocks * scenario.part // 7 - random.randrange(8)))
    if scenario.event in (RESET_IDLE, RESET_BUSY):
        runs.reset(random.randrange(2, 6))
    runs.settle(scenario.event, str(last), measure)


def examine(library: Path, row: Configuration, budget: int, measure: bool = False) -> Runs:
    """What differs in one model."""
    wipe_cycles = WIPE_CYCLES[row.shape, row.can[0].kind]
    random = Random(row.name)
    runs = Runs(library, wipe_cycles, random.getrandbits(32))
    kinds = frames(row.can)
    every = list(scenarios(kinds))
    effort = min(1, budget * 0.8 / (len(every) * (wipe_cycles + 200)))
    for event in (WIPE, CUT, RESET_IDLE, RESET_BUSY):
        of = [s for s in every if s.event == event]
        runs.restart()
        for scenario in sorted(
            random.sample(of, min(len(of), max(LEAST, round(effort * len(of))))), key=of.index
        ):
            try:
                act(runs, scenario, random.choice((STALLS[0], *STALLS)), random, measure)
            except Disagree:
                runs.restart()
    for number in range(max(2, round(budget * 0.2 / 20_000))):
        runs.restart()
        stalls = STALLS[number % len(STALLS)]
        sequence = traffic(kinds, 4000 if row.in_flight > 1 else 600, random)
        try:
            runs.play([*sequence, kinds[0].wiping()], stalls)
            runs.settle(WIPE, "the last of 25", measure)
            runs.play(sequence, stalls, random.randrange(50, 2000))
            runs.reset(random.randrange(2, 6))
            runs.settle(RESET_BUSY, "one of 24", measure)
        except Disagree:
            pass
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
    error: str = ""

    def lines(self) -> list[str]:
        """For people."""
        head = f"{self.configuration}, {self.model}: "
        lines = [f"{head}error: {self.error}"] if self.error else []
        lines += [f"{head}{finding}" for finding in self.found[:LINES]]
        if len(self.found) > LINES:
            lines.append(f"{head}{len(self.found) - LINES} more")
        if not lines:
            lines.append(f"{head}nothing differs, in {self.clocks} clocks ({self.seconds:.1f} s)")
        if self.settled:
            lines.append(f"{head}forgotten after {self.settled} clocks at most")
        return lines


def one(job: tuple[Configuration, str, bool]) -> Result:
    """Examines one model."""
    row, model, measure = job
    places = Places(row.name)
    started = time.monotonic()
    try:
        library = places.model if model == "RTL" else places.netlist_model
        runs = examine(library, row, BUDGET[model], measure)
    except (ModelError, OSError) as error:
        return Result(row.name, model, 0, 0, 0, [], str(error))
    seconds = round(time.monotonic() - started, 2)
    return Result(row.name, model, runs.clocks, seconds, runs.settled, list(runs.findings.values()))


def jobs_of(names: list[str], netlist: bool, measure: bool) -> list[tuple[Configuration, str, bool]]:
    """The models to examine. Of netlists, without names, those that were built."""
    table = configurations.load()
    for name in names:
        if name not in table:
            raise configurations.ConfigurationError(
                f"no configuration {name!r}; there are {', '.join(table)}"
            )
    rows = [table[name] for name in names] or [r for r in table.values() if not r.of and "library" in r.sets]
    jobs = [(row, "RTL", measure) for row in rows]
    if netlist:
        jobs += [(r, "netlist", measure) for r in rows if names or Places(r.name).netlist_model.exists()]
    # The long ones first.
    return sorted(jobs, key=lambda job: (job[1] == "RTL", -job[0].in_flight))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAMES")
    parser.add_argument("--netlist", action="store_true", help="the netlists' models, too")
    parser.add_argument("--json", action="store_true", help="one line for each model")
    parser.add_argument("--measure", action="store_true", help="how long it takes to forget (slow)")
    arguments = parser.parse_args()
    try:
        jobs = jobs_of(arguments.names, arguments.netlist, arguments.measure)
    except configurations.ConfigurationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(one, jobs):
            if arguments.json:
                print(json.dumps(asdict(result), default=sorted), flush=True)
            else:
                print("\n".join(result.lines()), flush=True)
            failed += [result.configuration] if result.found or result.error else []
    netlists = sum(model == "netlist" for _, model, _ in jobs)
    print(
        f"key independence: {len(jobs) - netlists} configurations, {netlists} netlists, "
        + (f"FAILED: {', '.join(dict.fromkeys(failed))}" if failed else "none differs"),
        file=sys.stderr,
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
