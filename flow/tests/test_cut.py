# SPDX-License-Identifier: Apache-2.0
"""Which pins of a cut cell count, and in what form: what differs must be seen, and what does not matter must not."""

import random
import unittest

from ace_flow import cut

from .test_gates import evaluate

A, B, C, Q = 2, 3, 4, 9
PORTS = {
    "in": {"direction": "input", "bits": [A, B, C]},
    "out": {"direction": "output", "bits": [Q]},
}


def circuit(kind: str, parameters: dict, **pins: list) -> dict:
    cell = {"type": kind, "parameters": parameters, "connections": pins}
    return {"ports": PORTS, "cells": {"c": cell}}


def differing(one: dict, other: dict) -> list[str]:
    """Points at which two circuits differ for some values."""
    module = cut.miter(one, other)
    found = set()
    chance = random.Random(1)
    for _ in range(64):
        values = evaluate(
            module["cells"], {net: chance.getrandbits(1) for net in module["ports"]["in"]["bits"]}
        )
        points = {name: values[port["bits"][0]] for name, port in module["ports"].items() if name != "in"}
        wrong = {name.removeprefix("cmp_") for name, value in points.items() if not value} - {"trigger"}
        assert points["trigger"] == bool(wrong), points
        found |= wrong
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

    def test_byte_enables_and_data_count_while_writing(self) -> None:
        for pins, point in (({"ADA1": [B]}, "address_A"), ({"DIA3": [B]}, "data_A")):
            self.assertEqual(differing(memory(width(18)), memory(width(18), **pins)), [])
            self.assertEqual(
                differing(memory(width(18), WEA=["1"]), memory(width(18), WEA=["1"], **pins)), [f"c.{point}"]
            )
        # In the wide mode of port A, port B's data are written with it.
        wide = width(36)
        self.assertEqual(differing(memory(wide, WEA=["1"]), memory(wide, WEA=["1"], DIB0=[B])), ["c.data_B"])

    def test_output_registers_and_selects(self) -> None:
        self.assertEqual(differing(memory({}), memory({}, OCEA=[B])), [])
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
                cut.miter(good, gate)
        # What synthesis leaves open is 0.
        self.assertEqual(differing(register({}, DI=[77]), register({}, DI=["0"])), [])


if __name__ == "__main__":
    unittest.main()
