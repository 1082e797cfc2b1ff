# SPDX-License-Identifier: Apache-2.0
"""Every context set of the signed library through a board's pins: a program's socket, a cable, PHY, MAC, link, slot and back.

python -m ace_flow board-sets [--ace target/release/ace] [--sets aes128_encrypt sha1] [--packets 4] [--json]

`ace image sim` has the board at a TAP device, and `ace image probe` asks it with one set at a time (of a cipher with that
for the other direction beside it, and a key for each), so that nothing else can have computed an answer: the known
answers of algorithms/ that this set can give, and packets whose answers are compared with the processor's. Sets that
expand keys in the slot are counted apart, as the link's host expands keys itself. It needs root. Ends with 1 at the first
set of which an answer is wrong or none is compared.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ace_flow import tools
from ace_flow.board import model
from ace_flow.board.host import LinkError
from ace_flow.board.model import Content

# Wall time for a board to have come to where it hears, and for one set.
READY, SET = 120, 300


class Seen(NamedTuple):
    """A set, rows of known answers by what they are of, packets like the processor's, and what was sent again."""

    name: str
    rows: dict[str, int]
    packets: int
    resent: int
    seconds: float


def of_library(ace: str) -> tuple[list[str], list[str]]:
    """Names of the signed sets that compute, and of those that expand keys."""
    listed = json.loads(_said([ace, "library", "list", "--json"]))["sets"]
    computing = [one["name"] for one in listed if one["can"]]
    return computing, [one["name"] for one in listed if not one["can"]]


def _said(command: list[str], seconds: float = 60) -> str:
    try:
        return subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=seconds, cwd=tools.ROOT
        ).stdout
    except subprocess.CalledProcessError as error:
        raise LinkError(f"{' '.join(command)}: {error.stderr.strip() or error.stdout[-400:]}") from None
    except subprocess.TimeoutExpired:
        raise LinkError(f"{' '.join(command)}: no end in {seconds} s") from None


@contextmanager
def cable(ace: str, library: Path, seed: int = 1) -> Iterator[str]:
    """An interface with a simulated board behind it."""
    name = f"pins{os.getpid() % 10_000_000}"
    command = [ace, "image", "sim", "--tap", name, "--model", str(library), "--seed", str(seed), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tools.ROOT
    ) as board:
        try:
            line = board.stderr.readline() if board.stderr else ""
            if name not in line:
                raise LinkError(f"{' '.join(command)}: {line.strip()}")
            yield name
        finally:
            board.terminate()
            out, _ = board.communicate(timeout=READY)
    counts = json.loads(out)
    if counts["out_wrong"] or counts["out_close"]:
        raise LinkError(f"frames left the pins broken or too close: {counts}")


def judged(name: str, report: dict, packets: int, seconds: float) -> Seen:
    """What a report says of one set. Raises where an answer is wrong, or none of the set's own was compared."""
    failed = [f"{one['subject']}: {failure}" for one in report["answers"] for failure in one["failed"]]
    failed += [f"{one['operation']}: {one['error']}" for one in report["rates"] if one["error"]]
    if failed:
        raise LinkError(f"{name}: {failed[0]}")
    rows = {one["subject"]: one["passed"] for one in report["answers"] if one["passed"]}
    rates = [one["name"] for one in report["rates"]]
    if name not in rates or not rows:
        raise LinkError(f"{name}: packets of {rates or 'no set'}, known answers of {rows or 'nothing'}")
    return Seen(name, rows, packets, report["resent"], seconds)


def beside(name: str, names: list[str]) -> list[str]:
    """A row of known answers of a cipher goes both ways: the set for the other one."""
    here, there = ("_decrypt", "_encrypt") if "_decrypt" in name else ("_encrypt", "_decrypt")
    other = name.replace(here, there).removesuffix("_latency")
    return [other] if here in name and other in names else []


def asked(ace: str, interface: str, name: str, others: list[str], packets: int) -> Seen:
    """Known answers and packets of one set."""
    begin = time.monotonic()
    command = [ace, "image", "probe", interface, "--json", "--sets", name, *others]
    command += ["--packets", str(packets), "--bytes", "256", "--hellos", "2"]
    report = json.loads(_said(command, SET))
    return judged(name, report, packets, time.monotonic() - begin)


def all_of(
    ace: str,
    library: Path,
    names: list[str],
    packets: int,
    computing: list[str],
    tell: Callable[[Seen], None] = lambda _: None,
) -> list[Seen]:
    """All of these sets of those that compute, one after the other, at one board."""
    if not names:
        raise LinkError("the library has no context set to compute with")
    seen = []
    with cable(ace, library) as interface:
        for name in names:
            seen.append(asked(ace, interface, name, beside(name, computing), packets))
            tell(seen[-1])
    return seen


def line(seen: Seen) -> str:
    rows = ", ".join(f"{subject} {count}" for subject, count in seen.rows.items())
    return f"{seen.name}: known answers: {rows}; {seen.packets} packets ({seen.seconds:.1f} s)"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("board", nargs="?", default="colorlight-i9", choices=sorted(model.BOARDS))
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    parser.add_argument("--sets", nargs="+", help="only these")
    parser.add_argument("--packets", type=int, default=4, help="of each set, compared with the processor's")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    ace = str(Path(args.ace).resolve()) if os.sep in args.ace else args.ace
    try:
        computing, expanding = of_library(ace)
        if unknown := set(args.sets or []) - set(computing):
            raise LinkError(
                f"no set that computes: {', '.join(sorted(unknown))}; `ace library list` has them"
            )
        names = [name for name in computing if not args.sets or name in args.sets]
        library = model.model(args.board, Content("array"), image_times=True)
        tell = (lambda _: None) if args.json else (lambda seen: print(line(seen), flush=True))
        seen = all_of(ace, library, names, args.packets, computing, tell)
    except (LinkError, tools.ToolError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({"sets": [one._asdict() for one in seen], "expanding": expanding}, indent=1))
    else:
        rows = sum(sum(one.rows.values()) for one in seen)
        print(
            f"{len(seen)} of {len(computing)} sets: {rows} known answers right; not asked, as they expand keys: "
            f"{len(expanding)}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
