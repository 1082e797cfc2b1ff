# SPDX-License-Identifier: Apache-2.0
"""Kept LUTs: what variants of a design differ in, and nothing else.

Synthesis sees an `init_lut` (rtl/prim/init_lut.sv) as a box. This pass makes a LUT4 of each and gives it a place of
its own, so that their contents are in few frames. A variant takes the base's netlist, and later the base's placed and
routed design, with other contents.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

CELL = "init_lut"
PINS = "ABCD"
# What the contents of a LUT are called in a netlist, and in what nextpnr has packed.
INITS = {"LUT4": "INIT", "TRELLIS_COMB": "INITVAL"}


class KeptError(RuntimeError):
    """The kept LUTs are not what they have to be."""


@dataclass(frozen=True)
class Places:
    """Where kept LUTs go: slices of the tiles of one column, downwards from a row."""

    x: int
    y: int
    slices: str

    def bel(self, number: int) -> str:
        """The place of one of them, as nextpnr names it."""
        row, rest = divmod(number, 2 * len(self.slices))
        return f"X{self.x}/Y{self.y + row}/SLICE{self.slices[rest // 2]}.K{rest % 2}"


def _natural(name: str) -> list:
    """Orders names with numbers in them as people do."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def contents(module: dict) -> dict[str, str]:
    """The contents of the boxes of a module, by name, as 16 binary digits."""
    cells = module["cells"].items()
    return {name: cell["parameters"]["Init"] for name, cell in cells if cell["type"] == CELL}


def place(module: dict, places: Places) -> dict[str, str]:
    """Makes LUT4s of the boxes of a flat netlist (Yosys JSON), in place; their contents, by name."""
    init = contents(module)
    if not init:
        raise KeptError(f"there is no {CELL} in the netlist")
    for number, name in enumerate(sorted(init, key=_natural)):
        cell = module["cells"][name]
        inputs = dict(zip(PINS, cell["connections"]["in_i"], strict=True))
        constant = {pin for pin, bit in inputs.items() if isinstance(bit, str)}
        if constant and len(set(init[name])) > 1:
            raise KeptError(f"{name}: an input is constant and the contents are not")
        pins = {pin: [bit] for pin, bit in inputs.items() if pin not in constant}
        module["cells"][name] = {
            "hide_name": 0,
            "type": "LUT4",
            "parameters": {"INIT": init[name]},
            "attributes": {"keep": "1", "BEL": places.bel(number)},
            "port_directions": dict.fromkeys(pins, "input") | {"Z": "output"},
            "connections": pins | {"Z": cell["connections"]["out_o"]},
        }
    return init


def fill(module: dict, init: dict[str, str]) -> None:
    """Gives the kept LUTs of a netlist, or of a placed and routed design, these contents, in place."""
    kept = {name for name, cell in module["cells"].items() if cell["attributes"].get("keep") and _init(cell)}
    if kept != set(init):
        some = sorted(kept ^ set(init), key=_natural)[:3]
        raise KeptError(f"the kept LUTs are not those of the base: {', '.join(some)}")
    for name, value in init.items():
        cell = module["cells"][name]
        cell["parameters"][_init(cell)] = value


def held(module: dict) -> dict[str, str]:
    """What the kept LUTs of a netlist hold, by name."""
    cells = module["cells"].items()
    return {
        name: cell["parameters"][_init(cell)]
        for name, cell in cells
        if cell["attributes"].get("keep") and _init(cell)
    }


def numbers(module: dict) -> dict[str, int]:
    """What the kept LUTs of a netlist hold, by name, as manifests and models have it."""
    return {name: int(value, 2) for name, value in sorted(held(module).items(), key=lambda i: _natural(i[0]))}


def _init(cell: dict) -> str | None:
    return INITS.get(cell["type"])


def differences(one: dict, other: dict) -> list[str]:
    """Names of what differs between two netlists (modules) besides the contents of kept LUTs."""
    blank = [json.loads(json.dumps(module)) for module in (one, other)]
    for module in blank:
        fill(module, dict.fromkeys(held(module), ""))
    return sorted(
        f"{part} {name}"
        for part in ("ports", "cells", "netnames")
        for name in blank[0][part].keys() | blank[1][part].keys()
        if blank[0][part].get(name) != blank[1][part].get(name)
    )


def release(module: dict) -> None:
    """Takes kept LUTs of a netlist from their places, in place."""
    for name in held(module):
        del module["cells"][name]["attributes"]["BEL"]


def fill_config(base: str, other: str, places: list[str]) -> str:
    """A design in Trellis' text, with the contents that `other` has at these places of nextpnr's. Everything else is
    the base's: a design that nextpnr has read again has lost the constants at its block memories."""
    wanted = {_word(place) for place in places}
    mine, theirs = dict(_words(base)), dict(_words(other))
    changed = {key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)}
    if not wanted <= mine.keys() or not changed <= wanted:
        some = sorted(changed - wanted | wanted - mine.keys())[:3]
        raise KeptError(f"other LUTs than the kept ones differ, or these are missing: {some}")
    lines, tile = [], ""
    for line in base.splitlines(keepends=True):
        tile = line.split()[1] if line.startswith(".tile ") else tile
        match line.split():
            case ["word:", name, _] if (tile, name) in changed:
                line = f"word: {name} {theirs[tile, name]}\n"
        lines.append(line)
    return "".join(lines)


def _word(place: str) -> tuple[str, str]:
    """The tile and the word of a place, as Trellis names them."""
    x, y, lut = re.fullmatch(r"X(\d+)/Y(\d+)/(SLICE[A-D]\.K[01])", place).groups()
    return f"R{y}C{x}:PLC2", f"{lut}.INIT"


def _words(config: str) -> Iterator[tuple[tuple[str, str], str]]:
    """The contents of all LUTs of a design in Trellis' text."""
    tile = ""
    for line in config.splitlines():
        match line.split():
            case [".tile", tile]:
                pass
            case ["word:", name, value] if name.endswith(".INIT"):
                yield (tile, name), value
