# SPDX-License-Identifier: Apache-2.0
"""Recordings through boards, by `ace run`: python -m ace_flow scheduling-runs --ace target/release/ace.

Needs the models that `make models` and `ace array build [--tiles 2]` make. Writes studies/scheduling/runs.json, from
which `ace study scheduling` prints; times in it are those that `ace run` prints, modelled, so that the same inputs give
the same file but for date and machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ace_flow.pages import results
from ace_flow.tools import ROOT

RESULT = ROOT / "studies" / "scheduling" / "runs.json"
DEMO = "tests/demo/traffic.pcap"
POLICIES = ("on-demand", "double-buffer", "landlord", "rotation", "adaptive")
FIGURES = ("total", "executing", "exposed_load", "load", "hidden_load", "loads", "skipped_loads", "completed")


class Traffic(NamedTuple):
    """A recording and its associations; of what is taken back, those that protected it."""

    name: str
    capture: str
    sas: str
    protected_by: str | None = None


class Board(NamedTuple):
    """What of board.toml is another value."""

    name: str
    slots: int
    kind: str = "fabric"
    tiles: int = 1
    banks: int = 1

    def text(self, window: int) -> str:
        """As a file that `ace run --board` reads."""
        slot = f'[slot]\nkind = "{self.kind}"\ntiles = {self.tiles}\nbanks = {self.banks}\n'
        library = f'[controller]\nlibrary = "{ROOT / "library" / "ace.lib"}"\n'
        return f"slots = {self.slots}\npacket_buffer = {window}\n{library}{slot}"


PROTECTING = Traffic("the demo, protecting", DEMO, "tests/demo/protect.toml")
TAKING_BACK = Traffic("the demo, taking back", DEMO, "tests/demo/unprotect.toml", "tests/demo/protect.toml")
PAPER = Traffic("the demo, associations of 2006", DEMO, "studies/scheduling/paper-2006.toml")
TWENTY = Traffic(
    "20 SAs over 8 algorithms", "studies/scheduling/twenty.pcap", "studies/scheduling/twenty-out.toml"
)
SLOTS = Board("2 slots", 2)
ONE_SLOT = Board("1 slot", 1)
ONE_TILE = Board("array: 1 tile of 2 banks", 1, "array", banks=2)
ONE_BANK = Board("array: 1 tile of 1 bank", 1, "array")
TWO_TILES = Board("array: 2 tiles of 2 banks", 1, "array", tiles=2, banks=2)


def plan() -> list[tuple[Traffic, Board, int, str]]:
    """What is run: traffic, board, packets seen ahead, policy. One slot or bank and on-demand is a load at every change."""
    runs = []
    for traffic in (PROTECTING, TAKING_BACK):
        runs.append((traffic, ONE_SLOT, 64, "on-demand"))
        runs += [(traffic, SLOTS, window, policy) for window in (64, 256) for policy in POLICIES]
    for traffic, boards, window in (
        (PROTECTING, (TWO_TILES, ONE_TILE), 64),
        (PAPER, (ONE_TILE,), 16),
        (TWENTY, (TWO_TILES,), 64),
    ):
        runs.append((traffic, ONE_BANK, window, "on-demand"))
        runs += [(traffic, board, window, "adaptive") for board in boards]
    return runs


def run(ace: Path, traffic: Traffic, board: Board, window: int, policy: str, folder: Path) -> dict:
    """The figures of one run."""
    source = ROOT / traffic.capture
    if traffic.protected_by is not None:
        esp = folder / "esp.pcap"
        if not esp.exists():
            done(ace, source, traffic.protected_by, esp, "--engine", "cpu")
        source = esp
    file = folder / "board.toml"
    file.write_text(board.text(window))
    summary = done(ace, source, traffic.sas, "/dev/null", "--board", file, "--policy", policy, "--unsigned")
    totals = summary["board"]["totals"]
    if summary["written"] != summary["frames"] or totals["failed"]:
        raise RuntimeError(
            f"{traffic.name}, {board.name}: {summary['written']} of {summary['frames']} packets left"
        )
    used = [it["name"] for it in summary["board"]["configurations"] if it["loads"]]
    return {
        "traffic": traffic.name,
        "board": board.name,
        "window": window,
        "policy": policy,
        "configurations": used,
        "figures": {key: totals[key] for key in FIGURES},
    }


def done(ace: Path, source: Path, sas: str, output: Path | str, *more: object) -> dict:
    """What `ace run` says of a run that went well."""
    command = [ace, "run", source, "--sas", ROOT / sas, "-o", output, "--iv-seed", "1", "--json", *more]
    command += ["--allow-older"]
    ended = subprocess.run(
        [str(part) for part in command], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{ended.stderr}")
    return json.loads(ended.stdout)


def main() -> int:
    """Runs all, and writes what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--ace", type=Path, default=ROOT / "target/release/ace", help="the ace that runs them"
    )
    arguments = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for traffic, board, window, policy in plan():
                runs.append(run(arguments.ace.resolve(), traffic, board, window, policy, Path(folder)))
                total = runs[-1]["figures"]["total"] / 1e9
                print(f"{traffic.name}, {board.name}, {window}, {policy}: {total:.2f} ms", flush=True)
        except (OSError, RuntimeError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    value = {results.RECORDED: results.record(str(RESULT.relative_to(ROOT))), "runs": runs}
    RESULT.write_text(json.dumps(value, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
