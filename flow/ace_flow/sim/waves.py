# SPDX-License-Identifier: Apache-2.0
"""A row's RTL as it stands, as a model that answers frames: no netlist, no bits. `ace kat --rtl` asks for it.

python -m ace_flow simulate NAME [--wave fst|vcd]

Prints where the model is, what the row says that it can do, and where the waveforms of a process go, as JSON.
"""

import argparse
import json
import sys
from pathlib import Path

from ace_flow import configurations, tools
from ace_flow.build.step import MODEL_FILES, step_runtime
from ace_flow.cache import cached
from ace_flow.layout import BUILD, RUNTIME
from ace_flow.sim import verilate
from ace_flow.tools import ROOT

PLACE = BUILD / "rtl"
WAVE = tools.FLOW / "wave" / "traced.h"
# The class that writes a kind of file, and what it has to be linked with.
WRITERS = {
    "fst": ("verilated_fst_c", "VerilatedFstC", ["-lz", "-llz4"]),
    "vcd": ("verilated_vcd_c", "VerilatedVcdC", []),
}
# What the compiler says where a header of the libraries above is missing, and who has them.
LIBRARIES = {"zlib.h": "zlib1g-dev", "lz4.h": "liblz4-dev"}


def simulate(row: configurations.Configuration, wave: str | None) -> dict:
    """Makes the model, if nothing has changed since it was made not again; what is printed of it."""
    name = f"{row.name}-{wave}" if wave else row.name
    library, log = PLACE / f"{name}.so", PLACE / f"{name}.log"
    waveforms = PLACE / f".{name}-"
    sources = [ROOT / source for source in row.sources]
    how = verilate.Traced(WAVE, *WRITERS[wave], waveforms) if wave else None
    settings = verilate.settings(row, "quick", read=True) | {"wave": repr(how)}

    def work(folder: Path) -> None:
        arguments = (row.top, sources, row.parameters, folder / "so", RUNTIME, log, "quick", how)
        try:
            verilate.build_rtl_model(*arguments, boxed=row.lut_places is not None)
        except tools.ToolError as error:
            missing = [
                package for header, package in LIBRARIES.items() if f"{header}: No such file" in str(error)
            ]
            if missing:
                raise tools.ToolError(
                    f"waveforms as FST need {' and '.join(LIBRARIES.values())} (apt-get install); those that end in "
                    f".vcd need nothing"
                ) from None
            raise

    inputs = [*sources, *verilate.checks(sources), *MODEL_FILES, *([WAVE] if wave else [])]
    cached("simulate", settings, inputs, {"so": library}, work)
    can = [capability.as_json() for capability in row.can]
    return {"model": str(library), "can": can, "waveforms": str(waveforms) if wave else None}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("--wave", choices=sorted(WRITERS))
    arguments = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    RUNTIME.parent.mkdir(parents=True, exist_ok=True)
    try:
        table = configurations.load()
        row = table.get(arguments.name)
        if row is None:
            raise configurations.ConfigurationError(
                f"no configuration {arguments.name!r}; there are {', '.join(table)}"
            )
        step_runtime()
        print(json.dumps(simulate(row, arguments.wave)))
    except (tools.ToolError, configurations.ConfigurationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
