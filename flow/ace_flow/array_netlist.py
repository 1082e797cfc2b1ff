# SPDX-License-Identifier: Apache-2.0
"""The tile's netlist against its RTL and the simulator of `ace array`, clock by clock: what synthesis made of it, with the
flow's own models of the cells, plays random contexts and real sets, and does on all its pins what the others do.

python -m ace_flow.array_netlist --ace target/release/ace [--random 4] [ALGORITHM:VARIANT …]
"""

import argparse
import sys
from pathlib import Path

from . import array, synth, tools
from .array_route import synthesise
from .step import CELLS


def verilog(netlist: Path) -> Path:
    """The netlist in Verilog, under a name of its own."""
    folder = netlist.parent
    script = synth.print_script(folder.relative_to(tools.ROOT))
    synth.yosys(script, folder / "print.ys", folder / "print.log")
    path = folder / "netlist.v"
    text, module = path.read_text(), f"module {array.TOP}("
    if module not in text:
        raise tools.ToolError(f"{path} has no `{module}`")
    path.write_text(text.replace(module, f"module {array.TOP}_netlist(", 1))
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    array.arguments(parser)
    args = parser.parse_args()
    try:
        netlist, _ = synthesise("tile", 0)
        return array.play(array.bench([*CELLS, verilog(netlist)]), args)
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
