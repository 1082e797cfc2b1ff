# SPDX-License-Identifier: Apache-2.0
"""Ties the inputs of look-up tables that are not used to one instead of to zero.

An input that nothing drives is one in the device, and takes no wire. Yosys ties those that it does not need to zero,
and nextpnr brings a zero to each of them from one look-up table: of the array's slot a fifth of all connections, all
of one net. This pass works on the mapped netlist: the table holds for a one what it held for a zero, so that nothing
changes that can be seen from outside.
"""

ZERO, ONE = "0", "1"
# Of each kind of cell: a table, and its inputs from the lowest bit of the table's index on. The lower two inputs of a
# carry cell's table are also those of its lowest four entries, which follow in the same way.
TABLES = {
    "LUT4": {"INIT": ("A", "B", "C", "D")},
    "CCU2C": {f"INIT{half}": tuple(f"{pin}{half}" for pin in "ABCD") for half in "01"},
}
ENTRIES = 16


def lift(module: dict) -> int:
    """Lifts what is tied to zero in a flat netlist (Yosys JSON), in place; returns how many inputs were."""
    lifted = 0
    for cell in module["cells"].values():
        for table, pins in TABLES.get(cell["type"], {}).items():
            for place, pin in enumerate(pins):
                if cell["connections"].get(pin) == [ZERO]:
                    cell["parameters"][table] = without(cell["parameters"][table], 1 << place)
                    cell["connections"][pin] = [ONE]
                    lifted += 1
    return lifted


def without(table: str, bit: int) -> str:
    """A table (binary digits, the highest entry first) that says for every index what it said with this bit zero."""
    entries = table.rjust(ENTRIES, ZERO)[::-1]
    return "".join(entries[index & ~bit] for index in range(ENTRIES))[::-1]
