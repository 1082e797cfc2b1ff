# SPDX-License-Identifier: Apache-2.0
"""Faults put into the RTL on purpose, to see that the tests catch them: python -m ace_flow faults.

algorithms/*/faults.toml and flow/faults.toml say what is changed where (fault_table.py). Each fault becomes a model of its configuration under build/faults/, and
index.json lists them. Those that known answers catch are for crates/ace-board/tests/faults.rs, which runs these and
expects them to fail; `python -m ace_flow noninterference --faults` does the same with the others.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ace_flow import configurations, tools
from ace_flow.build.step import MODEL_FILES, step_runtime
from ace_flow.cache import cached
from ace_flow.faults.table import Fault, load
from ace_flow.layout import BUILD, RUNTIME
from ace_flow.sim import verilate
from ace_flow.tools import ROOT

FAULTS = BUILD / "faults"
INDEX = FAULTS / "index.json"


def build(fault: Fault, table: dict[str, configurations.Configuration]) -> dict:
    """Makes the model with the fault; its entry in the index."""
    if fault.configuration not in table:
        raise configurations.ConfigurationError(
            f"fault {fault.number} ({fault.what}): no configuration {fault.configuration!r}"
        )
    row = table[fault.configuration]
    if fault.file not in row.sources:
        raise configurations.ConfigurationError(
            f"fault {fault.number} ({fault.what}): {fault.file} is no source of {row.name}"
        )
    library = FAULTS / f"{fault.number}-{fault.configuration}.so"
    changed = FAULTS / f"{fault.number}-{Path(fault.file).name}"
    changed.write_text((ROOT / fault.file).read_text().replace(fault.find, fault.replace))
    sources = [changed if s == fault.file else ROOT / s for s in row.sources]
    # The models run a few hundred frames each: compiled quickly rather than well.
    step = "leak" if fault.caught_by == "independence" else "netlist_model"
    settings = verilate.settings(row, step, read=True)

    def work(folder: Path) -> None:
        log = FAULTS / f"{fault.number}.log"
        headers = [ROOT / s for s in row.sources]
        arguments = (row.top, sources, row.parameters, folder / "so", RUNTIME, log, step)
        boxed = row.lut_places is not None
        verilate.build_rtl_model(*arguments, boxed=boxed, headers=headers)

    cached("fault", settings, [*sources, *MODEL_FILES], {"so": library}, work)
    return {
        "algorithm": fault.algorithm,
        "configuration": fault.configuration,
        "what": fault.what,
        "file": fault.file,
        "caught_by": fault.caught_by,
        "library": library.name,
        "bytes": library.stat().st_size,
        "sha256": tools.sha256(library),
    }


def main() -> int:
    FAULTS.mkdir(parents=True, exist_ok=True)
    RUNTIME.parent.mkdir(parents=True, exist_ok=True)
    try:
        step_runtime()
        # A model is for tests that run it.
        faults = [fault for fault in load() if fault.caught_by != "proof"]
        table = configurations.load()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            index = list(pool.map(lambda f: build(f, table), faults))
    except (tools.ToolError, configurations.ConfigurationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    part = FAULTS / ".index.json"
    part.write_text(json.dumps(index, indent=1) + "\n")
    part.replace(INDEX)
    print(f"{len(index)} models with a fault each are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
