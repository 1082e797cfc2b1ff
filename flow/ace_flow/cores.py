# SPDX-License-Identifier: Apache-2.0
"""The RTL for other builds: ace.core (FuseSoC, CAPI2) and Bender.yml, of the tables of algorithms: python -m ace_flow cores.

Each top is a target with its files, packages first, and its parameters. `--check` writes nothing and fails with the
difference where a file is not what would be written.
"""

import argparse
import difflib
import re
import sys
from pathlib import Path

import yaml

from ace_flow import configurations
from ace_flow.configurations import Configuration
from ace_flow.tools import ROOT
from ace_flow.version import version

CORE, BENDER = ROOT / "ace.core", ROOT / "Bender.yml"
PARAMETER = re.compile(
    r"^\s*parameter\s+(?:int unsigned|int|bit|logic)\s+(\w+)\s*=\s*([^,\n)]+)", re.MULTILINE
)
# What is simulated as an example, and its bench.
SIMULATED, BENCH = "aes_slot", "tests/fusesoc/aes_slot_bench.cc"
HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Written by `python -m ace_flow cores` of algorithms/*/algorithm.toml.\n"


def tops(table: dict[str, Configuration]) -> dict[str, Configuration]:
    """The first row of each top."""
    found: dict[str, Configuration] = {}
    for row in table.values():
        found.setdefault(row.top, row)
    return found


def parameters(top: Configuration) -> dict[str, str]:
    """The parameters of a top and their defaults, as its file has them."""
    file = next(source for source in top.sources if Path(source).stem == top.top)
    head = (ROOT / file).read_text().partition(");")[0]
    return dict(PARAMETER.findall(head))


def entry(source: str) -> str | dict:
    """A file as CAPI2 has it."""
    return {source: {"is_include_file": True}} if source.endswith(".svh") else source


def fusesoc(rows: dict[str, Configuration], release: str) -> str:
    """ace.core."""
    named = sorted({name for row in rows.values() for name in parameters(row)})
    verilator = {"mode": "lint-only", "verilator_options": ["-Wall", "flow/lint.vlt"]}
    filesets = {
        "waivers": {"files": [{"flow/lint.vlt": {"file_type": "vlt"}}]},
        "bench": {"files": [BENCH], "file_type": "cppSource"},
    }
    targets: dict[str, dict] = {"default": {"filesets": [SIMULATED], "toplevel": SIMULATED}}
    for name, row in rows.items():
        filesets[name] = {
            "files": [entry(source) for source in row.sources],
            "file_type": "systemVerilogSource",
        }
        targets[f"lint_{name}"] = {
            "description": row.summary,
            "default_tool": "verilator",
            "filesets": ["waivers", name],
            "toplevel": name,
            "parameters": list(parameters(row)),
            "tools": {"verilator": {"mode": "lint-only", "verilator_options": ["-Wall"]}},
        }
    targets["sim"] = {
        "description": f"{SIMULATED} answers a block of FIPS 197",
        "default_tool": "verilator",
        "filesets": ["waivers", SIMULATED, "bench"],
        "toplevel": SIMULATED,
        "parameters": list(parameters(rows[SIMULATED])),
        "tools": {"verilator": verilator | {"mode": "cc", "verilator_options": ["--x-assign", "fast"]}},
    }
    core = {
        "name": f"ace:crypto:slots:{release}",
        "description": "Ciphers and hashes behind one stream boundary (docs/slot.md)",
        "filesets": filesets,
        "parameters": {name: {"datatype": "int", "paramtype": "vlogparam"} for name in named},
        "targets": targets,
    }
    return "CAPI=2:\n" + HEAD + yaml.safe_dump(core, sort_keys=False, width=110)


def bender(rows: dict[str, Configuration]) -> str:
    """Bender.yml: `bender sources -t TOP`."""
    sources = []
    for name, row in rows.items():
        folders = sorted({str(Path(source).parent) for source in row.sources if source.endswith(".svh")})
        files = [source for source in row.sources if source.endswith(".sv")]
        sources.append({"target": name, "include_dirs": folders, "files": files})
    package = {"name": "ace", "authors": ["The ACE project"]}
    return HEAD + yaml.safe_dump({"package": package, "sources": sources}, sort_keys=False, width=110)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail with the difference")
    check = parser.parse_args().check
    rows = tops(configurations.load())
    failed = False
    for path, text in ((CORE, fusesoc(rows, version())), (BENDER, bender(rows))):
        old = path.read_text() if path.exists() else ""
        if not check:
            path.write_text(text)
        elif old != text:
            lines = difflib.unified_diff(old.splitlines(), text.splitlines(), path.name, "now", lineterm="")
            print("\n".join(lines), file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
