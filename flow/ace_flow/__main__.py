# SPDX-License-Identifier: Apache-2.0
"""One entry point: python -m ace_flow COMMAND, or ace-flow COMMAND after `pip install --editable flow`.

It works on the checkout that it stands in; installed from a wheel, on the one that it is called in.
"""

import importlib
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from ace_flow import tools

# Commands by name: the module whose main they are, and what they are for.
COMMANDS = {
    "build": (
        "ace_flow.build.run",
        "configurations: synthesised, placed, routed, proven; or taken out of the library",
    ),
    "sweep": ("ace_flow.build.sweep", "rows, seeds and parts side by side"),
    "density": ("ace_flow.build.density", "several configurations on one part"),
    "simulate": ("ace_flow.sim.waves", "a model of the RTL as it stands, with waveforms if wanted"),
    "prove": ("ace_flow.prove.bitstream", "a bitstream is the netlist that synthesis made"),
    "prove-design": ("ace_flow.open_designs.prove", "anybody's bitstream is its RTL"),
    "equiv": ("ace_flow.equiv.to_rtl", "netlists are their RTL"),
    "standard": ("ace_flow.equiv.standard", "functions of the RTL are those of the standards"),
    "standard-sets": ("ace_flow.equiv.sets", "what the array's sources say are the standards' functions"),
    "formal": ("ace_flow.formal.proofs", "cells, shell and fronts, for all inputs"),
    "noninterference": ("ace_flow.noninterference.pairs", "two runs with other keys show the same outside"),
    "faults": ("ace_flow.faults.inject", "models of changed RTL, for tests to catch"),
    "lint": ("ace_flow.lint", "the RTL under every linter"),
    "loader": ("ace_flow.loader", "the loader's RTL: its model, its area and clock"),
    "image": ("ace_flow.image.make", "an image of a board: placed, routed, proven"),
    "array": ("ace_flow.array.model", "models of tile and slot; the simulator against the RTL"),
    "array-slot": ("ace_flow.array.slot", "the slot's RTL under random frames"),
    "array-frames": (
        "ace_flow.array.random_frames",
        "random frames of every kind into the slot's RTL, against what the documents say",
    ),
    "array-aead": ("ace_flow.array.aead", "the slot's RTL under frames of AES-GCM"),
    "array-netlist": ("ace_flow.array.netlist", "the tile's netlist beside its RTL"),
    "array-route": ("ace_flow.array.route", "tile or slot placed and routed"),
    "array-bits": ("ace_flow.array.bits", "the slot's bits proven"),
    "array-rates": ("ace_flow.array.rates", "what the slot's RTL takes for a packet"),
    "board-model": ("ace_flow.board.model", "a board as a model, from its pins on"),
    "board-pins": ("ace_flow.board.pins", "a board at its pins: what it answers, and how fast"),
    "board-sets": (
        "ace_flow.board.sets",
        "every context set of the library through the pins of a board (root)",
    ),
    "cores": ("ace_flow.cores", "the RTL for other builds: ace.core (FuseSoC) and Bender.yml"),
    "version": ("ace_flow.version", "the version of Cargo.toml in the files that repeat it"),
    "pages": ("ace_flow.pages.render", "every generated page, table and picture; or what would differ"),
    "commands": ("ace_flow.pages.commands", "the reference of `ace`: every command's --help, and exit codes"),
    "metrics": ("ace_flow.pages.metrics", "the metrics of a gateway, as its source has them"),
    "read": ("ace_flow.pages.read", "pages of the book, run as they are printed"),
    "screenshots": ("ace_flow.pages.screenshots", "the book and its pictures as a browser shows them"),
    "prose": ("ace_flow.prose", "words a sentence of every page, and what each may have"),
    "measure": ("ace_flow.pages.results", "results files that pages are rendered from, measured anew"),
    "small-library": ("ace_flow.pages.small", "what the library would take in small streams"),
    "study": ("ace_flow.study", "the designs of a study, synthesised, placed and routed"),
    "rounds": ("ace_flow.rounds", "p rounds of each finalist, placed and routed"),
    "constant-key": ("ace_studies.idea_2004.constant_key", "IDEA with its key in LUTs: its netlist"),
    "constant-bits": (
        "ace_studies.idea_2004.constant_bits",
        "IDEA with its key in LUTs: its bits, with other keys",
    ),
    "families": ("ace_studies.molen_2003.families", "units of the Molen processor on other families"),
    "molen": ("ace_studies.molen_2003.programs", "programs on the Molen processor"),
    "idea-ways": (
        "ace_studies.idea_2004.ways",
        "IDEA's data paths of 2004 through memory, ports and array, simulated",
    ),
    "scheduling-runs": (
        "ace_studies.scheduling.runs",
        "recordings through boards, for `ace study scheduling`",
    ),
    "vpn-replay": ("ace_studies.pilchard_2002.replay", "recordings of the VPN of 2002, on the virtual clock"),
    # Called by the others.
    "engines": ("ace_flow.formal.engines", ""),
    "verilate": ("ace_flow.sim.verilate", ""),
    "step": ("ace_flow.build.step", ""),
    "snake": ("ace_flow.build.snake", ""),
}


def find(command: str) -> Callable[[], int | None]:
    """What a command runs."""
    return importlib.import_module(COMMANDS[command][0]).main


def usage() -> str:
    """What there is."""
    lines = ["usage: python -m ace_flow COMMAND …; each has --help", "", "commands:"]
    lines += [f"  {name:<17}{what}" for name, (_, what) in COMMANDS.items() if what]
    return "\n".join(lines)


def run() -> int:
    """Runs the command that is named."""
    match sys.argv[1:]:
        case [] | ["-h" | "--help"]:
            print(usage())
            return 0
        case [command, *_] if command in COMMANDS and not (tools.FLOW / "pyproject.toml").is_file():
            print(
                f"error: no folder from {Path.cwd()} up is a checkout of ACE, which the flow works on",
                file=sys.stderr,
            )
            return 2
        case [command, *rest] if command in COMMANDS:
            sys.argv = [f"{Path(sys.argv[0]).parent.name or 'ace_flow'} {command}", *rest]
            return find(command)() or 0
        case [command, *_]:
            print(f"error: there is no command {command!r}\n\n{usage()}", file=sys.stderr)
            return 2


def nobody_reads() -> bool:
    """Whether the reader of standard output has gone."""
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def main() -> int:
    """Runs the command that is named. If the reader of its output has gone (`… | head`), it ends quietly."""
    try:
        code = run()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Another pipe, a tool's that has ended, is an error.
        if not nobody_reads():
            raise
    # What is still buffered goes nowhere, so that nothing complains at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main())
