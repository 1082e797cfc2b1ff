# SPDX-License-Identifier: Apache-2.0
"""Puts the logic in front of an adder into the adder's own cells.

Half of a CCU2C adds two bits as it comes from Yosys, but has four inputs: with A one summand and B, C, D it may be
  A + ((B & C) ^ D)
as its sum wants A ^ (B & C) ^ D and its carry, which it takes from A and B alone, wants A where that is zero: so it
is as long as the function is A for C = D = 0. Any function of one bit x and of others is (x & p) ^ q with p and q of
the others. Where the second summand is a look-up table of a bit x that an adder, a multiplier or a block memory makes,
x is therefore led to the adder at once, and p and q are what tables are needed for: one level less behind x. A look-up
table of other bits goes the same way where p and q need no tables.
"""

from collections import defaultdict

ZERO, ONE = "0", "1"
PINS = "ABCD"
ADDER = "CCU2C"
TABLE = "LUT4"
# Cells whose outputs come late in a clock.
LATE = {"CCU2C", "DP16KD", "MULT18X18D"}
# A ^ B ^ C where D is one, A where it is zero: Yosys has the inversion of B at C.
PLAIN = "1001011010101010"
# A ^ (B & C) ^ D, and the same with the second summand inverted where C or D is one.
JOINED = f"{sum((a ^ (b & c) ^ d) << (a + 2 * b + 4 * c + 8 * d) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)):016b}"


def _plain(values: list[int]) -> bool:
    """Whether the function is a constant or one of its inputs, and needs no table."""
    size = len(values)
    return len(set(values)) == 1 or any(
        values == [(n >> i) & 1 for n in range(size)] for i in range(size.bit_length() - 1)
    )


def absorb(module: dict) -> int:
    """Does so in a flat netlist (Yosys JSON), in place; returns how many tables went in front of adders."""
    cells = module["cells"]
    drivers: dict[int, str] = {}
    fanout: dict[int, int] = defaultdict(int)
    for port in module["ports"].values():
        for bit in port["bits"]:
            fanout[bit] += 1
    top = 0
    for name, cell in cells.items():
        for pin, bits in cell["connections"].items():
            for bit in bits:
                if isinstance(bit, int):
                    top = max(top, bit)
                    if cell["port_directions"][pin] == "output":
                        drivers[bit] = name
                    else:
                        fanout[bit] += 1
    for port in module["ports"].values():
        top = max([top, *(bit for bit in port["bits"] if isinstance(bit, int))])
    for net in module["netnames"].values():
        top = max([top, *(bit for bit in net["bits"] if isinstance(bit, int))])

    made: dict[tuple, int] = {}
    absorbed = 0

    def table(values: list[int], inputs: list) -> int | str:
        """The bit that is this function of these inputs (the first is bit 0 of the index)."""
        nonlocal top
        if not any(values):
            return ZERO
        if all(values):
            return ONE
        for n, bit in enumerate(inputs):
            if all(v == (i >> n) & 1 for i, v in enumerate(values)):
                return bit
        key = (tuple(values), tuple(inputs))
        if key not in made:
            top += 1
            padded = [values[i % len(values)] for i in range(16)]
            cells[f"carry_{top}"] = {
                "hide_name": 1,
                "type": TABLE,
                "parameters": {"INIT": "".join(str(v) for v in reversed(padded))},
                "attributes": {},
                "port_directions": {**dict.fromkeys(PINS, "input"), "Z": "output"},
                "connections": {
                    **{pin: [inputs[n] if n < len(inputs) else ZERO] for n, pin in enumerate(PINS)},
                    "Z": [top],
                },
            }
            module["netnames"][f"carry_{top}_Z"] = {"hide_name": 1, "bits": [top], "attributes": {}}
            made[key] = top
        return made[key]

    for name in [n for n, cell in cells.items() if cell["type"] == ADDER]:
        cell = cells[name]
        for half in "01":
            pins = cell["connections"]
            if cell["parameters"][f"INIT{half}"] != PLAIN or pins[f"D{half}"] != [ONE]:
                continue
            if pins[f"C{half}"] not in ([ZERO], [ONE]):
                continue
            inverted = pins[f"C{half}"] == [ONE]
            # The summands may change places if neither is inverted.
            for second, first in [("B", "A"), ("A", "B")][: 1 if inverted else 2]:
                bit, other = pins[f"{second}{half}"][0], pins[f"{first}{half}"][0]
                source = cells.get(drivers.get(bit, ""))
                if source is None or source["type"] != TABLE or fanout[bit] != 1:
                    continue
                inputs = [source["connections"][p][0] for p in PINS]
                late = [
                    i for i, b in enumerate(inputs) if cells.get(drivers.get(b, ""), {}).get("type") in LATE
                ]
                late.sort(key=lambda i: cells[drivers[inputs[i]]]["type"] != ADDER)
                init = source["parameters"]["INIT"]
                function = [int(v) for v in reversed(init.zfill(16))]
                for x in late[:1] or range(4):
                    rest = [i for i in range(4) if i != x and inputs[i] not in (ZERO, ONE)]
                    fixed = sum(1 << i for i in range(4) if inputs[i] == ONE)
                    p, q = [], []
                    for n in range(2 ** len(rest)):
                        at = fixed + sum(1 << i for k, i in enumerate(rest) if (n >> k) & 1)
                        low, high = function[at], function[at | 1 << x]
                        p.append(low ^ high)
                        q.append(low ^ inverted)
                    if late or (inputs[x] not in (ZERO, ONE) and _plain(p) and _plain(q)):
                        break
                else:
                    continue
                if not any(p):
                    continue
                others = [inputs[i] for i in rest]
                pins[f"A{half}"], pins[f"B{half}"] = [other], [inputs[x]]
                pins[f"C{half}"], pins[f"D{half}"] = [table(p, others)], [table(q, others)]
                cell["parameters"][f"INIT{half}"] = JOINED
                del cells[drivers[bit]]
                absorbed += 1
                break
    return absorbed
