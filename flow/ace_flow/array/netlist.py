# SPDX-License-Identifier: Apache-2.0
"""The tile's netlist against its RTL and the simulator of `ace array`, clock by clock: what synthesis made of it, with the
flow's own models of the cells, plays random contexts and real sets, and does on all its pins what the others do.

python -m ace_flow array-netlist --ace target/release/ace [--random 4] [--mutants 50] [ALGORITHM:VARIANT …]

--mutants says what that is worth: so many netlists with one bit of one look-up table changed play the random contexts until
one of them tells it apart. It ends with 1 if of those whose bit is read at all fewer than nine in ten are told apart.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

from ace_flow import tools
from ace_flow.array import model
from ace_flow.array.route import synthesise
from ace_flow.build.step import CELLS
from ace_flow.synth import ecp5

LUT = re.compile(
    r"^  LUT4 #\(\n    \.INIT\((?P<init>16'h[0-9a-f]{4})\)\n  \) (?P<name>\S+) +\(\n(?P<pins>.*?)^  \);",
    re.MULTILINE | re.DOTALL,
)
# All are in one netlist, because to build it takes minutes; a file in the folder says which of them it is.
CHOICE = "ace-mutant"
READ = "the bit is read"
MUTANT = f"""
package ace_mutants;
  int which = -1;
endpackage

module ace_mutant_choice;
  int file;
  initial begin
    file = $fopen("{CHOICE}", "r");
    if (file != 0) begin
      if ($fscanf(file, "%d", ace_mutants::which) != 1) $fatal(1, "{CHOICE} has no number");
      $fclose(file);
    end
  end
endmodule

module ace_mutant #(
  parameter logic [15:0] INIT = '0,
  parameter int WHICH = 0,
  parameter logic [3:0] BIT = '0
) (
  input logic A, B, C, D,
  output logic Z
);
  logic here;
  int reads = 0;
  assign here = ace_mutants::which == WHICH && {{D, C, B, A}} == BIT;
  assign Z = INIT[{{D, C, B, A}}] ^ here;
  // The first ones may be of the reset.
  always @(posedge here) begin
    reads <= reads + 1;
    if (reads == 10) $display("{READ}");
  end
endmodule
"""


def verilog(netlist: Path) -> Path:
    """The netlist in Verilog, under a name of its own."""
    folder = netlist.parent
    script = ecp5.print_script(folder.relative_to(tools.ROOT))
    ecp5.yosys(script, folder / "print.ys", folder / "print.log")
    path = folder / "netlist.v"
    text, module = path.read_text(), f"module {model.TOP}("
    if module not in text:
        raise tools.ToolError(f"{path} has no `{module}`")
    path.write_text(text.replace(module, f"module {model.TOP}_netlist(", 1))
    return path


def bits(pins: str) -> list[int]:
    """Bits of a table that its inputs can choose: where one of them is constant, half of the table is never read."""
    constant = {"ABCD".index(pin): int(value) for pin, value in re.findall(r"\.([ABCD])\(1'h([01])\)", pins)}
    return [bit for bit in range(16) if all(bit >> pin & 1 == value for pin, value in constant.items())]


def mutate(path: Path, count: int) -> tuple[Path, list[str]]:
    """The netlist with so many tables of which one bit can be turned, and which they are."""
    text = path.read_text()
    tables = sorted(LUT.finditer(text), key=lambda table: table["name"])
    if not 0 <= count <= len(tables):
        raise tools.ToolError(f"--mutants {count}, and {path} has {len(tables)} look-up tables")
    chosen = random.Random(1)
    names, changes = [], []
    for which, table in enumerate(chosen.sample(tables, count)):
        bit = chosen.choice(bits(table["pins"]))
        names.append(f"bit {bit} of {table['init']} in {table['name']}")
        parameters = f".INIT({table['init']}), .WHICH({which}), .BIT({bit})"
        changed = f"  ace_mutant #({parameters}) {table['name']} (\n{table['pins']}  );"
        changes.append((*table.span(), changed))
    end = text.rindex("endmodule")
    changes.append((end, end, "  ace_mutant_choice u_choice ();\n"))
    parts, done = [MUTANT], 0
    for first, last, changed in sorted(changes):
        parts += [text[done:first], changed]
        done = last
    mutated = path.parent / "mutants.v"
    mutated.write_text("".join([*parts, text[done:]]))
    return mutated, names


def told_apart(tile: Path, names: list[str], args: argparse.Namespace) -> bool:
    """Plays the random contexts to every mutant, and prints which of them do what the tile does."""
    traces = [model.BUILD / f"trace-{seed}.txt" for seed in range(1, args.random + 1)]
    for seed, trace in enumerate(traces, 1):
        what = ["--seed", str(seed), "--count", str(args.clocks), "--output", str(trace)]
        tools.run([args.ace, "array", "trace", *what], model.BUILD / "trace.log")
    caught, read = 0, 0
    for which, name in enumerate(names):
        (model.BUILD / CHOICE).write_text(str(which))
        output = ""
        for trace in traces:
            call = [str(tile), str(trace)]
            ran = subprocess.run(call, cwd=model.BUILD, capture_output=True, text=True, check=False)
            if ran.returncode not in (0, 1):
                raise tools.ToolError(f"{tile} ends with {ran.returncode}: {ran.stderr.strip()}")
            output += ran.stdout
            if ran.returncode == 1:
                break
        else:
            print(
                f"not told apart: {name}; {READ if READ in output else 'the bit is never read'}", flush=True
            )
            read += READ in output
            continue
        caught += 1
    for file in [*traces, model.BUILD / CHOICE]:
        file.unlink()
    print(f"mutants: {caught} of {len(names)} told apart, and of {caught + read} whose bit is read")
    return 10 * caught >= 9 * (caught + read)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    model.arguments(parser)
    parser.add_argument("--mutants", type=int, default=0, help="netlists with a wrong bit")
    args = parser.parse_args()
    try:
        netlist, _ = synthesise("tile", 1, 0)
        path, names = mutate(verilog(netlist), args.mutants)
        tile = model.bench([*CELLS, path])
        played = model.play(tile, args)
        return played if not names or told_apart(tile, names, args) else 1
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
