#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/pictures, from what `ace` prints and from the library: `make pages` calls it.

Without names all of them; theme.py has how they look, commands.py what they are drawn from, and pictures_*.py each its own.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flow"))
from commands import ROOT, ace
from pictures_architecture import architecture, tile
from pictures_chains import proof_chain, way_of_a_key
from pictures_drp import drp_2006
from pictures_library import compression, frame_layout, library_layout, throughput
from pictures_runs import acceleration_flow, hidden_load, look_ahead
from pictures_scheduling import scheduling
from pictures_studies import crossover, idea_2004, molen_2003, pilchard_2002

# By the name that asks for them.
OF_ACE = {
    "throughput": throughput,
    "drp-2006": drp_2006,
    "pilchard-2002": pilchard_2002,
    "molen-2003": molen_2003,
    "idea-2004": idea_2004,
    "crossover": crossover,
    "tile": tile,
}
OF_RUNS = {"look-ahead": look_ahead, "hidden-load": hidden_load, "acceleration-flow": acceleration_flow}
OF_STATISTICS = {"compression": compression, "library-layout": library_layout}
OF_FILES = {
    "architecture": architecture,
    "frame-layout": frame_layout,
    "scheduling": scheduling,
    "proof-chain": proof_chain,
    "key-way": way_of_a_key,
}


def main() -> None:
    known = [*OF_ACE, *OF_RUNS, *OF_STATISTICS, *OF_FILES]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ace", default="target/release/ace", help="the binary (default target/release/ace)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs/pictures", help="folder (default docs/pictures)"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(known)}")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"no picture {unknown[0]!r}; there are {', '.join(known)}")
    wanted = set(arguments.names or known)
    binary = ROOT / arguments.ace
    folder = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        stats = {}
        if wanted & OF_STATISTICS.keys():
            stats = ace(binary, "library", "stats")
        groups = (
            (OF_STATISTICS, (stats, folder)),
            (OF_RUNS, (binary, Path(scratch), folder)),
            (OF_ACE, (binary, folder)),
            (OF_FILES, (folder,)),
        )
        for group, what in groups:
            for name, draw in group.items():
                if name in wanted:
                    draw(*what)


if __name__ == "__main__":
    main()
