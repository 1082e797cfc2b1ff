# SPDX-License-Identifier: Apache-2.0
"""Runs pages of the book as they are printed, each step with its wall time: python -m ace_flow read PAGE…

It ends at the first command that fails (exit 1), or that is not done within --minutes. A page ends early where this machine
does not have what the rest of it needs, and it says so.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from ace_flow.pages import fences
from ace_flow.tools import ROOT

# Where a page is found that is not where one stands.
ACE = ROOT / "target" / "release" / "ace"


def put(told: str) -> tuple[str, Path]:
    """NAME=FILE."""
    name, between, file = told.partition("=")
    if not (between and name and Path(file).is_file()):
        raise argparse.ArgumentTypeError(f"{told}: NAME=FILE is needed, and FILE has to be there")
    return name, Path(file)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    parser.add_argument("--minutes", type=float, default=60, help="for all pages together (default: 60)")
    parser.add_argument("--put", action="append", type=put, default=[], metavar="NAME=FILE")
    told = parser.parse_args()
    ace = Path(os.environ.get("ACE_BIN", ACE)).absolute()
    if not ace.exists():
        print(
            f"error: {ace} is not there: `make ace` builds it, or ACE_BIN names another one", file=sys.stderr
        )
        return 2
    began = time.monotonic()
    for page in told.pages:
        if not page.is_file():
            print(f"error: {page}: no such page", file=sys.stderr)
            return 2
        print(page, flush=True)
        left = 60 * told.minutes - (time.monotonic() - began)

        def say(heading: str, seconds: float) -> None:
            print(f"{seconds:7.1f} s  {heading}", flush=True)

        outcome = fences.run(page, ace, max(left, 1), dict(told.put), say)
        if outcome.wrong:
            print(f"error: {page}: {outcome.wrong}", file=sys.stderr)
            return 1
        if outcome.missing:
            print(f"           not run from here on: this machine has no {outcome.missing}", flush=True)
    print(f"{time.monotonic() - began:7.1f} s  in all; {told.minutes:g} min were allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
