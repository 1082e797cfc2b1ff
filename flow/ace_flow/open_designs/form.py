# SPDX-License-Identifier: Apache-2.0
"""Modules of Yosys in one form: every pad is ports of one bit, every block that is not looked into is ports, too, and
registers of the RTL are of the kinds that ace_flow/equiv/rtl.py knows.

A port `x` becomes `x[0]`; one that is not always driven becomes `x[0]` (what the pad reads), `x$out[0]` (what it drives
where it drives) and `x$off[0]` (where it does not). An output of a block is an input of the circuit, and its inputs are
outputs of the circuit: so the same blocks, given the same, give the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ace_flow.prove.gates import Signal
from ace_flow.tools import ToolError

# Cells of pads: what they are, the pin at the pad, and the pins of the circuit.
PADS = {
    **dict.fromkeys(("IB", "IBPU", "IBPD"), ("INPUT", "I", {"O": "O"})),
    "OB": ("OUTPUT", "O", {"I": "I"}),
    **dict.fromkeys(("OBZ", "OBZPU", "OBZPD"), ("OUTPUT", "O", {"I": "I", "T": "T"})),
    **dict.fromkeys(("BB", "BBPU", "BBPD"), ("BIDIR", "B", {"I": "I", "T": "T", "O": "O"})),
    "TRELLIS_IO": ("", "B", {"I": "I", "T": "T", "O": "O"}),
}
# Registers with enables and resets.
REGISTERS = ("$dffe", "$sdff", "$aldffe", "$adffe", "$sdffe", "$sdffce")
# Cells of the ECP5's logic, which an RTL may name.
GATES = ("LUT4", "PFUMX", "L6MUX21")
# Cells that are in no circuit: they print, check, or say where something was.
NO_CIRCUIT = ("$scopeinfo", "$print", "$check", "$assert", "$assume", "$cover", "$live", "$fair")
# A and not B, as a LUT.
UNLESS = f"{0x2222:016b}"


@dataclass
class Box:
    """A block that is not looked into."""

    kind: str
    name: str
    parameters: dict[str, str]
    attributes: dict[str, str]
    inputs: dict[str, Signal]
    outputs: dict[str, Signal]


@dataclass
class Form:
    """A module in the one form, while it is made: what is left of its cells, its ports by bit, and its blocks."""

    module: dict
    # Of the RTL: word-level cells; else ECP5 cells.
    words: bool
    cells: dict[str, dict] = field(default_factory=dict)
    inputs: dict[str, Signal] = field(default_factory=dict)
    outputs: dict[str, Signal] = field(default_factory=dict)
    boxes: list[Box] = field(default_factory=list)
    # Outputs of cells that proofs do not know, such as latches, which nothing may depend on; and blocks that are not covered.
    strange: dict[Signal, str] = field(default_factory=dict)
    uncovered: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.free = 1 + max((bit for net in self._nets() for bit in net if isinstance(bit, int)), default=1)
        # What is another signal.
        self.same: dict[Signal, Signal] = {}
        self.init = {
            bit: value
            for net in self.module.get("netnames", {}).values()
            for bit, value in zip(net["bits"], reversed(net["attributes"].get("init", "")), strict=False)
            if value in "01"
        }

    def _nets(self) -> list[list[Signal]]:
        found = [port["bits"] for port in self.module["ports"].values()]
        found += [net["bits"] for net in self.module.get("netnames", {}).values()]
        return found + [
            bits for cell in self.module["cells"].values() for bits in cell["connections"].values()
        ]

    def net(self) -> int:
        self.free += 1
        return self.free - 1

    def cell(self, name: str, kind: str, parameters: dict, connections: dict) -> None:
        while name in self.cells or name in self.module["cells"]:
            name += "_"
        self.cells[name] = {
            "type": kind,
            "parameters": {key: str(value) for key, value in parameters.items()},
            "attributes": {},
            "connections": connections,
        }

    def unless(self, name: str, one: Signal, other: Signal) -> Signal:
        """One, and not the other."""
        if other == "0":
            return one
        output = self.net()
        if self.words:
            self.cell(name, "$mux", {"WIDTH": "1"}, {"A": [one], "B": ["0"], "S": [other], "Y": [output]})
        else:
            self.cell(
                name,
                "LUT4",
                {"INIT": UNLESS},
                {"A": [one], "B": [other], "C": ["1"], "D": ["1"], "Z": [output]},
            )
        return output

    def turned(self, name: str, one: Signal) -> Signal:
        """The complement."""
        output = self.net()
        parameters = {"A_SIGNED": "0", "A_WIDTH": "1", "Y_WIDTH": "1"}
        self.cell(name, "$not", parameters, {"A": [one], "Y": [output]})
        return output

    def made(self) -> dict:
        """The module."""
        names = {
            name: {**net, "bits": [self.of(bit) for bit in net["bits"]]}
            for name, net in self.module.get("netnames", {}).items()
        }
        if self.words:
            # A value at first is compared, not refused: as a name of its own, which no reader shows.
            for net in names.values():
                if "init" in net["attributes"]:
                    net["hide_name"] = 1
        ports = {name: {"direction": "input", "bits": [bit]} for name, bit in self.inputs.items()}
        ports |= {name: {"direction": "output", "bits": [self.of(bit)]} for name, bit in self.outputs.items()}
        cells = {
            name: {
                **cell,
                "connections": {p: [self.of(b) for b in bits] for p, bits in cell["connections"].items()},
            }
            for name, cell in self.cells.items()
        }
        for box in self.boxes:
            box.inputs = {pin: self.of(bit) for pin, bit in box.inputs.items()}
        return {**self.module, "ports": ports, "cells": cells, "netnames": names}

    def of(self, signal: Signal) -> Signal:
        while signal in self.same:
            signal = self.same[signal]
        return signal


def bit_name(port: str, bit: int, width: int, suffix: str = "") -> str:
    """A bit of a port in the one form; the bits call a port of several bits by them already."""
    base, _, index = port.partition("[")
    if width == 1 and index:
        return f"{base}{suffix}[{index}"
    return f"{port}{suffix}[{bit}]"


def of_bits(module: dict) -> Form:
    """The circuit of the bits: its pads are ports already."""
    form = Form(module, words=False)
    for name, cell in module["cells"].items():
        if not _block(form, name, cell):
            form.cells[name] = plain(cell)
    for name, port in module["ports"].items():
        for bit, signal in enumerate(port["bits"]):
            into = form.inputs if port["direction"] == "input" else form.outputs
            into[bit_name(name, bit, len(port["bits"]))] = signal
    # Bits of a port that no pad has are in no circuit.
    driven = {bit for cell in form.cells.values() for bits in cell["connections"].values() for bit in bits}
    driven |= (
        {bit for box in form.boxes for bit in box.outputs.values()} | {"0", "1"} | {*form.inputs.values()}
    )
    form.outputs = {name: bit for name, bit in form.outputs.items() if bit in driven}
    for name in [name for name in form.outputs if "$out[" in name]:
        off = form.outputs[name.replace("$out[", "$off[")]
        form.outputs[name] = form.unless(f"{name}.on", form.outputs[name], off)
    return form


def of_rtl(module: dict, words: bool) -> Form:
    """The RTL, or a netlist of Yosys."""
    form = Form(module, words)
    pads: dict[Signal, tuple[str, str, dict]] = {}
    for name, cell in module["cells"].items():
        kind = cell["type"]
        if kind in NO_CIRCUIT:
            continue
        if kind in PADS:
            told, at, pins = PADS[kind]
            told = told or cell["parameters"].get("DIR", "INPUT").strip()
            pins = {pin: cell["connections"][p][0] for pin, p in pins.items() if cell["connections"].get(p)}
            pads[cell["connections"][at][0]] = (told, name, pins)
        elif kind in ("$tribuf", "$_TBUF_"):
            _tribuf(form, name, cell, pads)
        elif kind == "$buf":
            form.same |= dict(zip(cell["connections"]["Y"], cell["connections"]["A"], strict=True))
        elif not _block(form, name, cell):
            _word(form, name, cell) if words else form.cells.__setitem__(name, plain(cell))
    for name, port in module["ports"].items():
        for bit, signal in enumerate(port["bits"]):
            place = (bit + port.get("offset", 0), len(port["bits"]) + port.get("offset", 0))
            _port(form, name, place, port["direction"], signal, pads.pop(signal, None))
    if pads:
        _, name, _ = next(iter(pads.values()))
        raise ToolError(f"{name}: a pad that is at no port of the top module")
    return form


def _tribuf(form: Form, name: str, cell: dict, pads: dict) -> None:
    pins = cell["connections"]
    enables = pins.get("EN", pins.get("E"))
    for bit, (data, output) in enumerate(zip(pins["A"], pins["Y"], strict=True)):
        if output in pads:
            raise ToolError(f"{name}: two cells drive a pad")
        enable = enables[min(bit, len(enables) - 1)]
        if form.words:
            off = {"0": "1", "1": "0"}.get(enable) or form.turned(f"{name}.{bit}.off", enable)
        else:
            off = form.net()
            form.cell(
                f"{name}.{bit}.off",
                "LUT4",
                {"INIT": f"{0x5555:016b}"},
                {
                    "A": [enable],
                    "B": ["1"],
                    "C": ["1"],
                    "D": ["1"],
                    "Z": [off],
                },
            )
        pads[output] = ("TRIBUF", name, {"I": data, "T": off, "O": output})


def _port(
    form: Form, port: str, place: tuple[int, int], direction: str, signal: Signal, pad: tuple | None
) -> None:
    """A bit of a port, with the cell of its pad if there is one."""
    bit, width = place

    def name(suffix: str = "") -> str:
        return bit_name(port, bit, width, suffix)

    if pad is None:
        if direction == "inout":
            # Nothing drives it.
            direction = "input"
        (form.inputs if direction == "input" else form.outputs)[name()] = signal
        return
    told, _, pins = pad
    off = pins.get("T", "0")
    off = "0" if off == "x" else off
    if told in ("INPUT", "BIDIR") and "O" in pins:
        form.inputs[name()] = pins["O"]
        # Whoever reads the port's own wire reads the pad.
        if signal != pins["O"]:
            form.same[signal] = pins["O"]
    elif (told == "TRIBUF" and direction == "inout") or told in ("BIDIR",):
        form.inputs[name()] = signal
    if told == "INPUT":
        return
    out = pins.get("I", "0")
    if told == "OUTPUT" and off == "0":
        form.outputs[name()] = out
        return
    form.outputs[name("$out")] = form.unless(f"{port}.{bit}.on", out, off)
    form.outputs[name("$off")] = off


def _block(form: Form, name: str, cell: dict) -> bool:
    """Whether a cell is a block that is not looked into; then its pins are taken."""
    from ace_flow.open_designs.boxes import KINDS

    kind = KINDS.get(cell["type"])
    if kind is None:
        return False
    pins = {pin: bits[0] for pin, bits in cell["connections"].items() if bits}
    for pin, bits in cell["connections"].items():
        if len(bits) > 1:
            pins |= {f"{pin}{number}": bit for number, bit in enumerate(bits)}
    box = Box(
        kind.called or cell["type"],
        name,
        {key: value.strip() for key, value in cell["parameters"].items()},
        cell.get("attributes", {}),
        {pin: pins[pin] for pin in kind.inputs if pin in pins},
        {pin: pins[pin] for pin in kind.outputs if isinstance(pins.get(pin), int)},
    )
    # A clock buffer that is always on is a wire.
    if box.kind == "DCCA" and box.inputs.get("CE", "1") in ("1", "x"):
        if "CLKO" in box.outputs:
            form.same[box.outputs["CLKO"]] = box.inputs["CLKI"]
        return True
    form.boxes.append(box)
    return True


def plain(cell: dict) -> dict:
    """An ECP5 cell. A port of a block memory that is never enabled has no width: it is called that of the other port."""
    told = cell["parameters"]
    if cell["type"] != "DP16KD":
        return cell
    off = [
        s
        for s in "AB"
        if cell["connections"].get(f"CE{s}", ["0"]) == ["0"] and told.get(f"CE{s}MUX", "").strip() != "INV"
    ]
    if len(off) != 1:
        return cell
    side, other = off[0], "AB"[off[0] == "A"]
    width = told.get(f"DATA_WIDTH_{other}", f"{18:b}")
    return {**cell, "parameters": {**told, f"DATA_WIDTH_{side}": width}}


def _word(form: Form, name: str, cell: dict) -> None:
    """A cell of the RTL."""
    kind, pins = cell["type"], cell["connections"]
    if kind == "TRELLIS_FF" or kind in REGISTERS:
        _register(form, name, cell)
    elif kind == "$mux":
        # What is undefined may be anything: it is what is chosen else.
        sides = list(zip(pins["A"], pins["B"], strict=True))
        chosen = {
            "A": [b if a == "x" else a for a, b in sides],
            "B": [a if b == "x" else b for a, b in sides],
        }
        form.cells[name] = {**cell, "connections": pins | chosen}
    elif (
        kind in GATES
        or kind in ("$dff", "$aldff", "$adff")
        or "MEMID" in cell["parameters"]
        or {"A", "Y"} <= pins.keys()
    ):
        form.cells[name] = cell
    elif kind.startswith("$"):
        form.strange |= {bit: f"{name}, a {kind}," for pin in ("Q", "Y") for bit in pins.get(pin, [])}
    else:
        form.uncovered.append(f"{name} of the RTL: a {kind} is not covered")


def _register(form: Form, name: str, cell: dict) -> None:
    """Registers with enables and resets as registers without, and primitives as these."""
    kind, pins, told = cell["type"], cell["connections"], cell["parameters"]
    if kind == "TRELLIS_FF":
        _flip_flop(form, name, pins, {key: value.strip() for key, value in told.items()})
        return

    def active(pin: str) -> Signal:
        signal = pins[pin][0]
        low = int(told.get(f"{pin}_POLARITY", "1"), 2) == 0
        return form.turned(f"{name}.{pin}", signal) if low else signal

    def mux(what: str, one: list, other: list, select: Signal) -> list[int]:
        output = [form.net() for _ in one]
        parameters = {"WIDTH": f"{len(one):b}"}
        form.cell(f"{name}.{what}", "$mux", parameters, {"A": one, "B": other, "S": [select], "Y": output})
        return output

    data = pins["D"]
    steps = ["EN", "SRST"] if kind != "$sdffce" else ["SRST", "EN"]
    for step in steps:
        if step not in pins:
            continue
        if step == "EN":
            data = mux("held", pins["Q"], data, active("EN"))
        else:
            value = list(reversed(told["SRST_VALUE"].rjust(len(data), "0")))
            data = mux("reset", data, value, active("SRST"))
    plain = {"$aldffe": "$aldff", "$adffe": "$adff"}.get(kind, "$dff")
    left = {pin: bits for pin, bits in pins.items() if pin not in ("EN", "SRST")} | {"D": data}
    form.cells[name] = {**cell, "type": plain, "connections": left}


def _flip_flop(form: Form, name: str, pins: dict, told: dict) -> None:
    """A flip-flop of the ECP5 in the RTL."""

    def pin(of: str, setting: str, missing: str) -> Signal:
        signal = (pins.get(of) or [missing])[0]
        signal = missing if signal == "x" else signal
        return form.turned(f"{name}.{of}", signal) if told.get(setting) == "INV" else signal

    def mux(what: str, one: Signal, other: Signal, select: Signal) -> Signal:
        output = form.net()
        form.cell(
            f"{name}.{what}", "$mux", {"WIDTH": "1"}, {"A": [one], "B": [other], "S": [select], "Y": [output]}
        )
        return output

    data, output = (pins.get("DI") or ["0"])[0], pins["Q"][0]
    value = "1" if told.get("REGSET") == "SET" else "0"
    if told.get("CEMUX", "1") in ("CE", "INV"):
        data = mux("held", output, data, pin("CE", "CEMUX", "1"))
    reset = pin("LSR", "LSRMUX", "0")
    clock = pin("CLK", "CLKMUX", "0")
    ends = {"CLK": [clock], "D": [data], "Q": [output]}
    parameters = {"CLK_POLARITY": "1", "WIDTH": "1"}
    if told.get("SRMODE", "LSR_OVER_CE") == "ASYNC" and reset != "0":
        parameters |= {"ALOAD_POLARITY": "1"}
        form.cell(f"{name}.ff", "$aldff", parameters, ends | {"ALOAD": [reset], "AD": [value]})
    else:
        ends["D"] = [data if reset == "0" else mux("reset", data, value, reset)]
        form.cell(f"{name}.ff", "$dff", parameters, ends)
    # What it holds when power comes on.
    names = form.module.setdefault("netnames", {})
    names[f"{name}.init"] = {"bits": [output], "attributes": {"init": value}, "hide_name": 1}
