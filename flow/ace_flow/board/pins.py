# SPDX-License-Identifier: Apache-2.0
"""A board at its pins, in simulation: what it answers, whatever comes, and what it makes of its cable.

python -m ace_flow board-pins [colorlight-i9] [--ace target/release/ace] [--frames 10000] [--nonsense 20000] [--json]

Trials of the link go through a board whose slots give back what they get, those of AES-128 through one with an array.
Times are simulated ones. Ends with 1 at the first thing that is wrong.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ace_flow import tools
from ace_flow.board import alike, model, rates, stores, trials, work
from ace_flow.board.host import LinkError
from ace_flow.board.model import Content

# Of what an array computes so many in a thousand are tried: its simulation is slower.
PART = 200


def all_trials(
    echo: Path, two: Path, array: Path, ace: str, frames: int, nonsense: int, seed: int
) -> dict[str, Callable[[], str]]:
    """By what they are about."""
    plain, aes, part = work.EchoWork(), work.AesWork(ace), lambda n: max(n * PART // 1000, 1)
    return {
        "hello, registers, MDIO": lambda: trials.registers(echo),
        "sessions": lambda: trials.sessions(echo),
        "epochs, segments": lambda: trials.epochs(echo),
        "two slots": lambda: trials.slots(two),
        "eye": lambda: trials.eye(echo),
        "AES-128, known answers": lambda: trials.known(array, ace),
        "store": lambda: stores.words(two, seed),
        "store, AES-128": lambda: stores.loads(array, ace),
        "two keys": lambda: alike.alike(array, ace),
        "lossy wire, echo": lambda: trials.lossy(echo, plain, frames, seed),
        "lossy wire, AES-128": lambda: trials.lossy(array, aes, part(frames), seed),
        "lossy wire, AES-128-GCM": lambda: trials.lossy(array, work.GcmWork(ace), part(frames), seed),
        "lossy wire, loads by name": lambda: trials.lossy(array, by_name(array, ace), part(frames), seed),
        "resets, echo": lambda: trials.resets(echo, plain, max(frames // 100, 2), seed),
        "resets, AES-128": lambda: trials.resets(
            array, by_name(array, ace), max(part(frames) // 100, 2), seed
        ),
        "nonsense, echo": lambda: trials.fuzzed(echo, plain, nonsense, 1, seed),
        "nonsense, two slots": lambda: trials.fuzzed(two, plain, part(nonsense), 2, seed),
        "nonsense, AES-128": lambda: trials.fuzzed(array, by_name(array, ace), part(nonsense), 1, seed),
    }


def by_name(array: Path, ace: str) -> work.AesWork:
    """AES-128 whose set is in the store, if the board has one."""
    return work.AesWork(ace, by_name=stores.size(array) > 0)


def measured(
    echo: Path, array: Path, ace: str, khz: int, frames: int
) -> tuple[list[rates.Rate], list[rates.Latency], list[rates.Load]]:
    return (
        [rates.rate(echo, payload, frames) for payload in rates.PAYLOADS],
        [rates.latency(echo, payload, khz) for payload in (None, *rates.PAYLOADS)],
        rates.loads(array, ace),
    )


def table(of: list[rates.Rate], latencies: list[rates.Latency], loads: list[rates.Load]) -> str:
    lines = [
        "| payload, bytes | to the board, Mb/s | from it, Mb/s | the wire's limit |",
        "|--:|--:|--:|--:|",
    ]
    lines += [f"| {r.payload:,} | {r.to_board:.0f} | {r.from_board:.0f} | {r.limit:.0f} |" for r in of]
    lines += ["", "| alone | FCS in to preamble out, ns | slot, ns | the rest, ns |", "|---|--:|--:|--:|"]
    for one in latencies:
        name = f"{one.payload:,} bytes" if one.slot else "hello"
        lines.append(f"| {name} | {one.whole:.0f} | {one.slot:.0f} | {one.link:.0f} |")
    lines += ["", "| a load of AES-128, alone | bytes | preamble in to preamble out, ns |", "|---|--:|--:|"]
    lines += [f"| {one.way} | {one.bytes:,} | {one.whole:.0f} |" for one in loads]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("board", nargs="?", default=model.DEFAULT, choices=model.boards())
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    parser.add_argument("--frames", type=int, default=10_000, help="over a wire that loses and breaks them")
    parser.add_argument("--nonsense", type=int, default=20_000, help="frames that no host sends")
    parser.add_argument("--rate-frames", type=int, default=400, help="of each length, for rates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="trials whose name has this, or `rates`")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results: list[dict] = []
    try:
        echo, two, array = (
            model.model(args.board, content)
            for content in (Content("echo"), Content("echo", number=2), Content("array"))
        )
        chosen = all_trials(echo, two, array, args.ace, args.frames, args.nonsense, args.seed)
        for name, trial in chosen.items():
            if args.only in name:
                begin = time.monotonic()
                results.append({"trial": name, "seen": trial()})
                if not args.json:
                    print(f"{name}: {results[-1]['seen']} ({time.monotonic() - begin:.1f} s)", flush=True)
        of: tuple[list, list, list] = ([], [], [])
        if args.only in "rates":
            of = measured(echo, array, args.ace, model.slot_khz(args.board), args.rate_frames)
            if not args.json:
                print(f"\n{table(*of)}")
        if args.json:
            rows = [[one._asdict() for one in part] for part in of]
            of_all = {"rates": rows[0], "latencies": rows[1], "loads": rows[2]}
            print(json.dumps({"trials": results} | of_all, indent=1))
    except (LinkError, tools.ToolError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
