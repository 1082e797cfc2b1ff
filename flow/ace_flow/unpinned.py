# SPDX-License-Identifier: Apache-2.0
"""What it costs that variants differ in few frames: python -m ace_flow.unpinned NAME …

Places and routes built configurations that have kept LUTs once more, with the same netlist and the same seeds but with
these LUTs wherever nextpnr puts them, and compares the clocks. The median goes into the manifest, where
`ace library domains` finds it.
"""

import argparse
import json
import sys
from pathlib import Path

from . import configurations, kept, route, tools
from .cache import cached
from .configurations import Configuration
from .layout import Places
from .tools import ROOT


def unpinned(configuration: Configuration, places: Places, seed: int) -> dict:
    """Fmax and the critical path without the places of kept LUTs."""
    figures = places.folder / f"unpinned-{seed}.json"

    def work(out: Path) -> None:
        here = out.relative_to(ROOT)
        netlist = route.released(configuration, places.netlist_json, here)
        route.route(configuration, seed, netlist, here, places.log(f"unpinned-{seed}"))

    inputs = [places.netlist_json, route.PINS]
    settings = route.settings(configuration, seed) | {"kept": tools.sha256(Path(kept.__file__))}
    cached("unpinned", settings, inputs, {"route.json": figures}, work)
    return json.loads(figures.read_text())


def compare(configuration: Configuration) -> None:
    """Prints a line and adds the figure to the manifest."""
    places = Places(configuration.name)
    if configuration.kept is None or configuration.of:
        raise configurations.ConfigurationError(f"{configuration.name} is not the base of variants")
    if not places.manifest.exists():
        raise configurations.ConfigurationError(f"{configuration.name} is not built")
    manifest = json.loads(places.manifest.read_text())
    routes = [unpinned(configuration, places, entry["seed"]) for entry in manifest["seeds"]]
    free, pinned = route.median(routes)["fmax_mhz"], manifest["fmax_mhz"]
    manifest["unpinned_fmax_mhz"] = free
    part = places.folder / ".manifest.json"
    part.write_text(json.dumps(manifest, indent=1) + "\n")
    part.replace(places.manifest)
    seeds = ", ".join(f"{r['seed']}: {r['fmax_mhz']}" for r in routes)
    print(f"| {configuration.name} | {pinned:.2f} | {free:.2f} | {100 * (1 - pinned / free):.1f} | {seeds} |")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", help="configurations that have variants")
    names = parser.parse_args().names
    table = configurations.load()
    print("| configuration | MHz | MHz without places | clock lost % | seeds without places |")
    print("|---|--:|--:|--:|---|")
    try:
        for name in names:
            if name not in table:
                raise configurations.ConfigurationError(f"no configuration {name}")
            compare(table[name])
    except (tools.ToolError, configurations.ConfigurationError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
