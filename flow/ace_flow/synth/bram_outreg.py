# SPDX-License-Identifier: Apache-2.0
"""Moves the register behind a block memory into the memory's own output register.

A DP16KD answers 5.6 ns after its clock, or 1.0 ns with its output register (Project Trellis, speed 6), but Yosys
maps a second register behind a read to flip-flops. This pass works on the mapped netlist and changes nothing that
can be seen from outside: a port takes its output register only if every bit that is used goes to one flip-flop and
nowhere else, and all of these share clock and clock enable and have neither reset nor an initial one.
"""

from collections import defaultdict

ZERO, ONE = "0", "1"
FF = "TRELLIS_FF"
MEMORY = "DP16KD"


def merge(module: dict) -> int:
    """Merges what can be merged in a flat netlist (Yosys JSON), in place; returns how many flip-flops went."""
    cells = module["cells"]
    readers: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for name, cell in cells.items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                for bit in bits:
                    readers[bit].append((name, pin))
    outside = {bit for port in module["ports"].values() for bit in port["bits"]}
    merged = 0
    for cell in list(cells.values()):
        if cell["type"] != MEMORY:
            continue
        # A port of 36 bits shows its upper half on the other port's pins.
        wide = any(_width(cell, side) == 36 for side in "AB")
        for sides in ["AB"] if wide else ["A", "B"]:
            registers = _registers(cells, cell, sides, readers, outside)
            if not registers:
                continue
            for pin, name in registers.items():
                cell["connections"][pin] = cells[name]["connections"]["Q"]
                enable = _enable(cells[name])
            for side in sides:
                cell["parameters"][f"REGMODE_{side}"] = "OUTREG"
                cell["connections"][f"OCE{side}"] = [enable]
                cell["port_directions"][f"OCE{side}"] = "input"
            for name in registers.values():
                del cells[name]
            merged += len(registers)
    return merged


def _width(cell: dict, side: str) -> int:
    value = cell["parameters"].get(f"DATA_WIDTH_{side}", "18")
    return int(value, 2) if len(value) == 32 else int(value)


def _enable(register: dict) -> int | str | None:
    """The net that enables a flip-flop, "1" for always, None for what an output register cannot do."""
    mux = register["parameters"].get("CEMUX", "CE").strip()
    if mux == "1":
        return ONE
    return register["connections"].get("CE", [ONE])[0] if mux == "CE" else None


def _registers(cells: dict, memory: dict, sides: str, readers: dict, outside: set) -> dict[str, str]:
    """For each used output of these ports the flip-flop behind it, or nothing where one of them stands in the way."""
    connections = memory["connections"]
    if any(memory["parameters"].get(f"REGMODE_{side}", "NOREG") != "NOREG" for side in sides):
        return {}
    if any(connections.get(f"RST{side}", [ZERO]) != [ZERO] for side in sides):
        return {}
    found: dict[str, str] = {}
    common = set()
    for pin, bits in connections.items():
        if not any(pin.startswith(f"DO{side}") for side in sides) or not bits:
            continue
        bit = bits[0]
        users = readers.get(bit, [])
        if not users and bit not in outside:
            continue
        if len(users) != 1 or bit in outside:
            return {}
        name, user = users[0]
        register = cells.get(name)
        if register is None or register["type"] != FF or user != "DI":
            return {}
        parameters = register["parameters"]
        plain = register["connections"].get("LSR", [ZERO]) == [ZERO] and parameters.get("REGSET") == "RESET"
        if not plain or parameters.get("CLKMUX", "CLK") != "CLK" or _enable(register) is None:
            return {}
        found[pin] = name
        common.add((register["connections"]["CLK"][0], _enable(register)))
    clocks = {connections[f"CLK{side}"][0] for side in sides}
    return found if len(common) == 1 and {clock for clock, _ in common} == clocks else {}
