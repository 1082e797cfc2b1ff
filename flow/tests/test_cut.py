# SPDX-License-Identifier: Apache-2.0
"""Which pins of a cut cell count, and in what form: what differs must be seen, and what does not matter must not."""

import random
import unittest

from ace_flow.prove import cut
from ace_flow.prove.gates import Graph

A, B, C, Q = 2, 3, 4, 9
PORTS = {
    "in": {"direction": "input", "bits": [A, B, C]},
    "out": {"direction": "output", "bits": [Q]},
}


def circuit(kind: str, parameters: dict, **pins: list) -> dict:
    cell = {"type": kind, "parameters": parameters, "connections": pins}
    return {"ports": PORTS, "cells": {"c": cell}}


def compared(one: dict, other: dict) -> tuple[Graph, dict]:
    """The points at which two circuits are not one by structure, and the graph."""
    graph = Graph()
    circuits = cut.Circuit(graph, one, complete=False), cut.Circuit(graph, other, complete=True)
    return graph, cut.different(*circuits)


def agreeing(graph: Graph, points: dict, inputs: dict[int, int]) -> dict[str, int]:
    """Which points of a comparison agree for these values."""
    nodes = graph.needed(literal for pairs in points.values() for pair in pairs for literal in pair)
    values = graph.values(nodes, lambda node: inputs[node] == 1)

    def value(literal: int) -> int:
        return values[literal >> 1] ^ literal & 1

    return {name: all(value(a) == value(b) for a, b in pairs) for name, pairs in points.items()}


def differing(one: dict, other: dict) -> list[str]:
    """Points at which two circuits differ for some values."""
    graph, points = compared(one, other)
    chance = random.Random(1)
    found = set()
    for _ in range(64):
        values = {node: chance.getrandbits(1) for node in range(len(graph.nodes))}
        found |= {name for name, agrees in agreeing(graph, points, values).items() if not agrees}
    return sorted(found)


def register(parameters: dict, **pins: list) -> dict:
    return circuit("TRELLIS_FF", parameters, **({"CLK": [A], "DI": [B], "Q": [Q]} | pins))


def memory(parameters: dict, **pins: list) -> dict:
    return circuit("DP16KD", parameters, **({"CLKA": [A], "DOA0": [Q]} | pins))


def width(value: int, side: str = "A") -> dict:
    return {f"DATA_WIDTH_{side}": f"{value:032b}"}


class Registers(unittest.TestCase):
    def test_each_pin_counts(self) -> None:
        plain = register({"CEMUX": "CE"}, CE=[C], LSR=["0"])
        self.assertEqual(differing(plain, register({"CEMUX": "CE"}, CE=[C])), [])
        for pin, point in (("CLK", "clock"), ("CE", "enable"), ("DI", "data"), ("LSR", "reset")):
            pins = {"CE": [C]} | {pin: ["1"]}
            self.assertEqual(differing(plain, register({"CEMUX": "CE"}, **pins)), [f"c.{point}"])

    def test_settings_of_pins_count(self) -> None:
        plain = register({"CEMUX": "CE"}, CE=[C], LSR=[C])
        for change, point in (
            ({"CEMUX": "INV"}, "enable"),
            ({"CEMUX": "1 "}, "enable"),
            ({"CEMUX": "CE", "CLKMUX": "INV"}, "clock"),
            ({"CEMUX": "CE", "LSRMUX": "INV "}, "reset"),
        ):
            self.assertEqual(differing(plain, register(change, CE=[C], LSR=[C])), [f"c.{point}"])

    def test_outputs_of_the_circuit_count(self) -> None:
        other = register({}) | {"ports": PORTS | {"out": {"direction": "output", "bits": [A]}}}
        self.assertEqual(differing(register({}), other), ["out"])


class Memories(unittest.TestCase):
    def test_what_leads_nowhere_does_not_count(self) -> None:
        for bits, unused in ((36, [4]), (18, [2, 3]), (9, [0, 1, 2]), (4, [0, 1]), (2, [0]), (1, [])):
            plain = memory(width(bits), WEA=[C])
            for bit in range(6):
                changed = differing(plain, memory(width(bits), WEA=[C], **{f"ADA{bit}": [B]}))
                self.assertEqual(changed, [] if bit in unused else ["c.address_A"], f"{bits} {bit}")

    def test_byte_enables_and_data_count_also_while_nothing_is_written(self) -> None:
        for pins, point in (({"ADA1": [B]}, "address_A"), ({"DIA3": [B]}, "data_A")):
            for more in ({}, {"WEA": ["1"]}):
                changed = differing(memory(width(18), **more), memory(width(18), **more, **pins))
                self.assertEqual(changed, [f"c.{point}"])

    def test_output_registers_and_selects(self) -> None:
        self.assertEqual(differing(memory({}), memory({}, OCEA=[B])), ["c.output_enable_A"])
        self.assertEqual(differing(memory({}), memory({"OCEAMUX": "INV"})), ["c.output_enable_A"])
        told = {"REGMODE_A": "OUTREG"}
        self.assertEqual(differing(memory(told), memory(told, OCEA=[B])), ["c.output_enable_A"])
        self.assertEqual(differing(memory({}), memory({"CSDECODE_A": "0b010"}, CSA1=["1"])), [])
        self.assertEqual(differing(memory({}), memory({"CSDECODE_A": "0b010"}, CSA0=["1"])), ["c.select_A"])
        for pin in ("CLKB", "CEB", "WEB", "RSTB"):
            self.assertEqual(len(differing(memory({}), memory({f"{pin}MUX": "INV"}))), 1, pin)

    def test_distributed_memory(self) -> None:
        pins = {"WCK": [A], "WRE": [B], "DO": [Q, 10, 11, 12]}
        pins |= {name: [A, B, C, A] for name in ("WAD", "DI", "RAD")}
        plain = circuit("TRELLIS_DPR16X4", {}, **pins)
        for name in ("WAD", "DI", "RAD"):
            other = circuit("TRELLIS_DPR16X4", {}, **(pins | {name: [A, B, A, A]}))
            self.assertEqual(differing(plain, other), [f"c.{name}"])
        for change, point in (({"WCKMUX": "INV"}, "clock"), ({"WREMUX": "INV"}, "write")):
            self.assertEqual(differing(plain, circuit("TRELLIS_DPR16X4", change, **pins)), [f"c.{point}"])


class Refusals(unittest.TestCase):
    def test_what_is_not_a_circuit(self) -> None:
        good = register({})
        for gate, why in (
            (register({}, DI=[77]), "no driver"),
            (register({}, Q=[A]), "driven twice"),
            (register({}, M=[A]), "pin M"),
            ({"ports": PORTS, "cells": {"d": good["cells"]["c"]}}, "only one"),
        ):
            with self.assertRaisesRegex(cut.CutError, why):
                compared(good, gate)
        loop = {"type": "LUT4", "parameters": {"INIT": "10"}, "connections": {"A": [12], "Z": [11]}}
        back = loop | {"connections": {"A": [11], "Z": [12]}}
        round_about = register({}, DI=[11])
        round_about["cells"] |= {"l": loop, "m": back}
        with self.assertRaisesRegex(cut.CutError, "circle"):
            compared(good, round_about)
        # A port may be called as the pin of a cell is, but then they are two.
        ports = PORTS | {"c.Q": {"direction": "input", "bits": [20]}}
        with self.assertRaisesRegex(cut.CutError, "two are called c.Q"):
            compared(good | {"ports": ports}, good)
        # What synthesis leaves open is 0.
        self.assertEqual(differing(register({}, DI=[77]), register({}, DI=["0"])), [])


def chance_circuit(chance: random.Random) -> dict:
    """LUTs, multiplexers and carries with four inputs; every net is an output."""
    nets: list = [2, 3, 4, 5]
    cells: dict = {}

    def given() -> list:
        return [chance.choice([*nets[-6:], *nets[-6:], *nets, "0", "1"])]

    def driven() -> list:
        nets.append(len(nets) + 2)
        return [nets[-1]]

    for number in range(12):
        kind = chance.choice(["LUT4", "LUT4", "LUT4", "PFUMX", "L6MUX21", "CCU2C"])
        parameters: dict = {}
        match kind:
            case "LUT4":
                parameters = {"INIT": f"{chance.getrandbits(16):016b}"}
                pins = {pin: given() for pin in "ABCD"} | {"Z": driven()}
            case "PFUMX":
                pins = {pin: given() for pin in ("ALUT", "BLUT", "C0")} | {"Z": driven()}
            case "L6MUX21":
                pins = {pin: given() for pin in ("D0", "D1", "SD")} | {"Z": driven()}
            case _:
                for half in "01":
                    parameters |= {f"INIT{half}": f"{chance.getrandbits(16):016b}"}
                    parameters |= {f"INJECT1_{half}": chance.choice(["YES", "NO"])}
                pins = {f"{pin}{half}": given() for pin in "ABCD" for half in "01"} | {"CIN": given()}
                pins |= {pin: driven() for pin in ("S0", "S1", "COUT")}
        cells[f"c{number}"] = {"type": kind, "parameters": parameters, "connections": pins}
    ports = {"in": {"direction": "input", "bits": [2, 3, 4, 5]}}
    ports |= {f"o{net}": {"direction": "output", "bits": [net]} for net in nets[4:]}
    return {"ports": ports, "cells": cells}


def computes(module: dict, index: int) -> dict:
    """What every net is, by what the cells do; cells stand behind those that they read."""
    values: dict = {"0": 0, "1": 1} | {2 + bit: index >> bit & 1 for bit in range(4)}
    for cell in module["cells"].values():
        pins, told = cell["connections"], cell["parameters"]
        value = {pin: values[bits[0]] for pin, bits in pins.items() if bits[0] in values}
        match cell["type"]:
            case "LUT4":
                entry = sum(value[pin] << place for place, pin in enumerate("ABCD"))
                values[pins["Z"][0]] = int(told["INIT"][15 - entry])
            case "PFUMX":
                values[pins["Z"][0]] = value["ALUT"] if value["C0"] else value["BLUT"]
            case "L6MUX21":
                values[pins["Z"][0]] = value["D1"] if value["SD"] else value["D0"]
            case _:
                carry = value["CIN"]
                for half in "01":
                    two, four = (
                        sum(value[f"{pin}{half}"] << place for place, pin in enumerate(names))
                        for names in ("AB", "ABCD")
                    )
                    table, chained = told[f"INIT{half}"], told[f"INJECT1_{half}"] == "NO"
                    propagate = int(table[15 - four])
                    values[pins[f"S{half}"][0]] = propagate ^ (carry if chained else 0)
                    carry = carry if propagate else int(table[15 - two]) if chained else 0
                values[pins["COUT"][0]] = carry
    return values


def placed(module: dict, chance: random.Random) -> dict:
    """The same circuit as placing leaves it: inputs of LUTs exchanged, and cells in another order."""
    cells = {}
    for name, cell in module["cells"].items():
        if cell["type"] == "LUT4":
            pins, table = cell["connections"], cell["parameters"]["INIT"]
            order = chance.sample(range(4), 4)
            moved = {"ABCD"[place]: pins["ABCD"[pin]] for place, pin in enumerate(order)} | {"Z": pins["Z"]}
            entries = (
                table[15 - sum((index >> place & 1) << pin for place, pin in enumerate(order))]
                for index in range(15, -1, -1)
            )
            cell = cell | {"connections": moved, "parameters": {"INIT": "".join(entries)}}
        cells[name] = cell
    names = chance.sample(list(cells), len(cells))
    return module | {"cells": {name: cells[name] for name in names}}


def changed(module: dict, chance: random.Random) -> dict:
    """One bit of one table changed, or one input taken from elsewhere."""
    name = chance.choice([name for name, cell in module["cells"].items() if cell["parameters"]])
    cell = module["cells"][name]
    if chance.random() < 0.5:
        parameter = chance.choice([name for name in cell["parameters"] if name.startswith("INIT")])
        table, place = cell["parameters"][parameter], chance.randrange(16)
        table = table[:place] + "10"[int(table[place])] + table[place + 1 :]
        cell = cell | {"parameters": cell["parameters"] | {parameter: table}}
    else:
        pin = chance.choice([pin for pin in cell["connections"] if pin[0] in "ABCD" and pin != "COUT"])
        taken = chance.choice([2, 3, 4, 5, "0", "1"])
        cell = cell | {"connections": cell["connections"] | {pin: [taken]}}
    return module | {"cells": module["cells"] | {name: cell}}


class Chance(unittest.TestCase):
    def test_nothing_that_differs_is_taken_for_equal(self) -> None:
        """Against what the cells do, for every value of the inputs."""
        chance = random.Random(7)
        wrong, seen = 0, 0
        for _ in range(300):
            plain = chance_circuit(chance)
            self.assertEqual(compared(plain, placed(plain, chance))[1], {})
            other = changed(plain, chance)
            graph, points = compared(plain, placed(other, chance))
            inputs = [node for node, (table, _) in enumerate(graph.nodes) if isinstance(table, str)]
            bits = [2, 3, 4, 5]
            for index in range(16):
                ours, theirs = computes(plain, index), computes(other, index)
                differ = {f"o{net}" for net in ours if isinstance(net, int) and net not in bits}
                differ = {name for name in differ if ours[int(name[1:])] != theirs[int(name[1:])]}
                self.assertLessEqual(differ, points.keys())
                seen += 1
                wrong += bool(differ)
                agree = agreeing(graph, points, {node: index >> bit & 1 for bit, node in enumerate(inputs)})
                self.assertEqual({name for name, same in agree.items() if not same}, differ)
        # Enough of the changes change something.
        self.assertGreater(wrong, seen // 20)


if __name__ == "__main__":
    unittest.main()
