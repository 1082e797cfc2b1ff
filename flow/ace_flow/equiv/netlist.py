# SPDX-License-Identifier: Apache-2.0
"""The netlist of synthesis as a machine: ECP5 cells."""

from collections.abc import Callable, Iterable

from ace_flow.equiv import block_memory
from ace_flow.equiv.machine import ABSENT, Column, Machine, Register, Write
from ace_flow.prove.gates import FALSE, Literal, Signal, tables
from ace_flow.tools import ToolError


class Netlist(Machine):
    """The netlist of synthesis: ECP5 cells."""

    def build(self, memories: Iterable[str]) -> None:
        """`memories`: those of the RTL. Tables of other names are logic."""
        self.memories = set(memories)
        for name, cell in self.module["cells"].items():
            pins = cell["connections"]
            told = {key: value.strip() for key, value in cell["parameters"].items()}

            def pin(of: str, setting: str = "", pins: dict = pins, told: dict = told) -> Literal:
                return self.value(pins.get(of, ABSENT)[0]) ^ (told.get(setting) == "INV")

            match cell["type"]:
                case "TRELLIS_FF":
                    self._flip_flop(name, pins, told, pin)
                case "TRELLIS_DPR16X4":
                    self._distributed(name, cell, pins, pin)
                case "DP16KD":
                    self._block(name, pins, told, pin)
                case "MULT18X18D":
                    self._multiplier(name, pins)
                case _:
                    for output, table, inputs in tables(name, cell):
                        self.drive(inputs, [output], lambda v, table=table: [self.graph.lut(table, v)])

    def _flip_flop(self, name: str, pins: dict, told: dict, pin: Callable) -> None:
        always = told.get("CEMUX", "1") not in ("CE", "INV")
        if told.get("SRMODE", "LSR_OVER_CE") not in ("LSR_OVER_CE", "ASYNC"):
            raise ToolError(f"{name}: SRMODE is {told['SRMODE']}, which proofs do not know")
        value = int(told.get("REGSET") == "SET")
        at_once = told.get("SRMODE") == "ASYNC"
        output = pins["Q"][0]
        words = self.words

        def following() -> Literal:
            data = pin("DI")
            if not always:
                data = words.mux(self.value(output), data, pin("CE", "CEMUX"))
            return data if at_once else words.mux(data, value, pin("LSR", "LSRMUX"))

        def reset() -> Literal:
            return pin("LSR", "LSRMUX") if at_once else FALSE

        self.register(
            Register(name, output, following, lambda: pin("CLK", "CLKMUX"), reset, value, str(value))
        )

    def _distributed(self, name: str, cell: dict, pins: dict, pin: Callable) -> None:
        """16 words of 4 bits."""
        contents = cell["parameters"].get("INITVAL", "").replace("x", "0").rjust(64, "0")[::-1]
        for bit in range(4):
            self.column(
                Column(
                    f"{name}[{bit}]",
                    lambda bit=bit: [
                        Write(
                            pin("WCK", "WCKMUX"),
                            pin("WRE", "WREMUX"),
                            self.all(pins["WAD"]),
                            self.value(pins["DI"][bit]),
                        )
                    ],
                    contents[bit::4],
                )
            )
        shown = [bit for bit in range(len(pins.get("DO", []))) if isinstance(pins["DO"][bit], int)]
        columns = [f"{name}[{bit}]" for bit in shown]
        self.drive(
            pins["RAD"],
            [f"{name}.{bit}.raw" for bit in shown],
            lambda address: self.outside.read(name, columns, address),
        )
        for bit in shown:
            self.shown(f"{name}.{bit}.raw", pins["DO"][bit], f"{name}[{bit}]")

    def shown(self, raw: Signal, output: Signal, column: str) -> None:
        """A bit that is read, where something depends on it."""

        def note(v: list[Literal]) -> list[Literal]:
            self.outside.used(column)
            return v

        self.drive([raw], [output], note)

    def _multiplier(self, name: str, pins: dict) -> None:
        for setting, value in self.module["cells"][name]["parameters"].items():
            if setting.startswith("REG_") and setting.endswith("_CLK") and value.strip() != "NONE":
                raise ToolError(f"{name}: a multiplier with registers of its own")
        sides = [[pins.get(f"{side}{bit}", ABSENT)[0] for bit in range(18)] for side in "AB"]
        signs = [pins.get(f"SIGNED{side}", ABSENT)[0] for side in "AB"]
        if not set(signs) <= {"0", "1"}:
            raise ToolError(f"{name}: a multiplier whose signs are no constants")
        outputs = [pins.get(f"P{bit}", [f"{name}.P{bit}"])[0] for bit in range(36)]
        self.drive(
            [*sides[0], *sides[1]],
            outputs,
            lambda v: self.outside.product(
                name,
                [*v[:18], v[17] if signs[0] == "1" else FALSE],
                [*v[18:], v[35] if signs[1] == "1" else FALSE],
            ),
        )

    def _block(self, name: str, pins: dict, told: dict, pin: Callable) -> None:
        block_memory.describe(self, name, pins, told, pin)
