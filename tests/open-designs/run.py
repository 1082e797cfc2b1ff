# SPDX-License-Identifier: Apache-2.0
"""Builds the open designs of designs.toml and proves them from the bits to their RTL, with one bit of one LUT changed as a
control, and prints a table (docs/open-designs.md).

    .venv/bin/python tests/open-designs/run.py [NAME…]
"""

import argparse
import json
import os
import re
import subprocess
import sys

from sources import BUILD, ROOT, build, designs, parameters, run, source, sources

ACE = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
# A table of a LUT in nextpnr's text; the entry that is changed; how many tables are tried.
TABLE = re.compile(r"^word: SLICE[A-D]\.K[01]\.INIT ([01]{16})$", re.MULTILINE)
ENTRY, TRIES = 6, 8
HEAD = [
    "design",
    "licence",
    "part",
    "result",
    "points",
    "by structure",
    "by certificate",
    "registers",
    "memories",
]
HEAD += ["blocks", "pads", "one bit of a LUT changed", "CPU s"]


def prove(design: dict, bits: str) -> tuple[int, dict]:
    """What `ace prove` says of a design's bits: its exit code, and the record."""
    command = [ACE, "prove", bits, "--top", design["top"], "--package", design["package"], "--json"]
    command += ["--device", design["device"], "--lpf", str(source(design["pins"]))]
    command += [f"--parameter={name}={value}" for name, value in parameters(design).items()]
    command += ["--rtl", *(str(path) for path in sources(design))]
    environment = {**os.environ, "ACE_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{design['name']}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def changed(design: dict, number: int) -> str:
    """The bitstream with one bit of one LUT's table changed: of so many tables that are not constant, the one of this
    number."""
    folder = BUILD / design["name"]
    text = (folder / "design.config").read_text()
    tables = [found for found in TABLE.finditer(text) if len({*found[1]}) == 2]
    at = tables[number * len(tables) // TRIES].start(1) + ENTRY
    turned = "10"[int(text[at])]
    (folder / "changed.config").write_text(text[:at] + turned + text[at + 1 :])
    here = os.path.relpath(folder, ROOT)
    run(["yowasp-ecppack", f"{here}/changed.config", f"{here}/changed.bit"], folder / "changed.log")
    return str(folder / "changed.bit")


def control(design: dict) -> tuple[int, dict, int]:
    """What is said of changed bits: an entry of a table that nothing reaches makes no difference, so others are tried."""
    for number in range(TRIES):
        code, record = prove(design, changed(design, number))
        if record["result"] != "proven":
            break
    return code, record, number


def row(design: dict) -> tuple[bool, list[str]]:
    """A line of the table, and whether all is as it has to be."""
    bits = str(build(design))
    code, record = prove(design, bits)
    refuted, shown, equal = control(design)
    well = (code, record["result"], refuted, shown["result"]) == (0, "proven", 1, "refuted")
    figures = [
        record.get(key, "") for key in ("points", "by_structure", "by_certificate", "registers", "columns")
    ]
    kinds = sorted({name.partition(":")[0] for name in record["blocks"]})
    line = [design["name"], design["licence"], record["device"], record["result"], *figures, ", ".join(kinds)]
    line += [
        record["pads"],
        shown["result"] + (f" ({equal} equal before)" if equal else ""),
        record["cpu_seconds"],
    ]
    for what in record["open"]:
        print(f"{design['name']}: open: {what}", file=sys.stderr)
    return well, [str(value) for value in line]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    rows = [row(design) for design in designs() if not arguments.names or design["name"] in arguments.names]
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * 4}{'--:|' * 5}---|--:|---|--:|")
    for _, line in rows:
        print(f"| {' | '.join(line)} |")
    return 0 if all(well for well, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
