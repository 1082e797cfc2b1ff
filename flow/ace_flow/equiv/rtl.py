# SPDX-License-Identifier: Apache-2.0
"""The RTL as a machine: Yosys's word-level cells, as slang made them, before any pass."""

from ace_flow import elaborated
from ace_flow.equiv import rtl_memory
from ace_flow.equiv.machine import Machine, Register, number
from ace_flow.equiv.multiply import multiply
from ace_flow.equiv.words import BITWISE, bit_of, word_of
from ace_flow.prove.gates import FALSE, Literal, Signal, tables
from ace_flow.synth import lut_init
from ace_flow.tools import ToolError

# Cells of the ECP5 that RTL names itself (rtl/array/array_cells.sv): in the netlist the same ones say the same.
NAMED = ("LUT4", "PFUMX", "L6MUX21")


class Rtl(Machine):
    """The RTL, as slang read it: Yosys's word-level cells, before any pass."""

    def build(self, tiles: dict[str, tuple[int, int]]) -> None:
        """`tiles`: how many words a tile of synthesis holds and how many ports write it, of the memories that it made of
        tiles. The others are registers."""
        if wrong := next(elaborated.refused(self.module), None):
            raise ToolError(wrong)
        self.initial = elaborated.initial(self.module)
        memories: dict[str, list[dict]] = {name: [] for name in self.module.get("memories", {})}
        for name, cell in self.module["cells"].items():
            kind, pins = cell["type"], cell["connections"]
            if "MEMID" in cell["parameters"]:
                memories[cell["parameters"]["MEMID"].removeprefix("\\")].append(cell | {"name": name})
            elif kind in ("$dff", "$aldff", "$adff", "$dffe", "$aldffe", "$sdff"):
                self._registers(name, cell)
            elif kind == lut_init.CELL:
                self._kept(cell)
            elif kind in BITWISE:
                self._bitwise(cell)
            elif kind == "$mul":
                self._multiply(name, cell)
            elif kind in NAMED:
                for output, table, inputs in tables(name, cell):
                    self.drive(inputs, [output], lambda v, table=table: [self.graph.lut(table, v)])
            else:
                a, b = pins["A"], pins.get("S" if kind == "$demux" else "B", [])
                signs = [number(cell, f"{side}_SIGNED") for side in "AB"]
                if kind in ("$shl", "$shr", "$sshl", "$sshr"):
                    signed = bool(signs[0])
                elif kind in ("$shift", "$shiftx"):
                    signed = bool(signs[1])
                else:
                    signed = bool(signs[0]) and (bool(signs[1]) or "B" not in pins)
                self._word(kind, a, b, pins["Y"], signed)
        for name, cells in memories.items():
            rtl_memory.describe(self, name, cells, tiles.get(name, (0, 0)))

    def _kept(self, cell: dict) -> None:
        """A kept LUT, which is a box in the RTL as models and netlists have it (rtl/prim/init_lut.sv)."""
        table = int(cell["parameters"]["Init"], 2)
        pins = cell["connections"]
        self.drive(pins["in_i"], pins["out_o"], lambda v: [self.graph.lut(table, v)])

    def _word(self, kind: str, a: list[Signal], b: list[Signal], y: list[Signal], signed: bool) -> None:
        def compute(v: list[Literal]) -> list[Literal]:
            return word_of(self.words, kind, v[: len(a)], v[len(a) :], len(y), signed)

        self.drive([*a, *b], y, compute)

    def _bitwise(self, cell: dict) -> None:
        kind, pins = cell["type"], cell["connections"]
        outputs, a = pins["Y"], pins["A"]
        width = len(outputs)
        if kind in ("$mux", "$pmux", "$bmux"):
            cases = [*a, *pins.get("B", [])] if kind != "$bmux" else a
            for place, output in enumerate(outputs):
                inputs = [*cases[place::width], *pins["S"]]
                self.drive(inputs, [output], lambda v, kind=kind: [bit_of(self.words, kind, v)])
            return
        signed = bool(number(cell, "A_SIGNED")) and ("B" not in pins or bool(number(cell, "B_SIGNED")))
        operands = [extend_signals(pins[side], width, signed) for side in "ABS" if side in pins]
        for output, *inputs in zip(outputs, *operands, strict=True):
            self.drive(inputs, [output], lambda v, kind=kind: [bit_of(self.words, kind, v)])

    def _registers(self, name: str, cell: dict) -> None:
        pins = cell["connections"]
        falling = number(cell, "CLK_POLARITY", 1) == 0
        kind = cell["type"]
        if kind in ("$dffe", "$aldffe", "$sdff"):
            raise ToolError(f"{name}: a {kind}, which slang has not made so far")

        def pin(of: str, setting: str) -> Literal:
            return self.value(pins[of][0]) ^ (number(cell, setting, 1) == 0)

        for place, output in enumerate(pins["Q"]):
            value = 0
            if kind == "$aldff":
                loaded = pins["AD"][place]
                if loaded not in ("0", "1", "x"):
                    raise ToolError(f"{name}: a register that is set to something else than a constant")
                value = int(loaded == "1")
            elif kind == "$adff":
                value = int(cell["parameters"]["ARST_VALUE"][::-1][place] == "1")
            setting = {"$aldff": ("ALOAD", "ALOAD_POLARITY"), "$adff": ("ARST", "ARST_POLARITY")}.get(kind)
            self.register(
                Register(
                    f"{name}[{place}]",
                    output,
                    lambda data=pins["D"][place]: self.value(data),
                    lambda: self.value(pins["CLK"][0]) ^ falling,
                    (lambda setting=setting: pin(*setting)) if setting else (lambda: FALSE),
                    value,
                    self.initial.get(output, "x"),
                )
            )

    def _multiply(self, name: str, cell: dict) -> None:
        pins = cell["connections"]
        signed = bool(number(cell, "A_SIGNED")) and bool(number(cell, "B_SIGNED"))
        a, b, width = pins["A"], pins["B"], len(pins["Y"])
        self.drive(
            [*a, *b],
            pins["Y"],
            lambda v: multiply(self.words, self.outside, name, v[: len(a)], v[len(a) :], width, signed),
        )


def extend_signals(signals: list[Signal], width: int, signed: bool) -> list[Signal]:
    fill = signals[-1] if signed else "0"
    return [*signals, *[fill] * (width - len(signals))][:width]
