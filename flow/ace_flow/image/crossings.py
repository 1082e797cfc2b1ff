# SPDX-License-Identifier: Apache-2.0
"""Reads out of the netlist of an image that nothing goes from one clock to another but as the board's file allows:

* a path to a register of another clock begins in a register of a crossing, and ends in a register of the same one;
* what is read of a memory that another clock writes is read of a queue's;
* an asynchronous reset comes straight from a register of the same clock, but that of a reset synchroniser, which may come
  from the PLL's lock or a register of any clock;
* a pad without a clock is read by registers of the module that the file names;
* what moves a delay or a PLL comes straight from a register;
* every register has a clock of the file.

Which register of the netlist is which of the RTL, and so in which cell, the proof of the netlist says
(ace_flow/image/prove.py), which is by what registers do and asks no name of synthesis. A register of several of the RTL, which are
always the same, is in the cells of all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ace_flow.design import DRIVER
from ace_flow.equiv.match import FIXED, Matching
from ace_flow.image.board import Board
from ace_flow.open_designs.form import PADS
from ace_flow.prove.gates import Signal

LOGIC = {
    "LUT4": ("ABCD", "Z"),
    "PFUMX": (("ALUT", "BLUT", "C0"), "Z"),
    "L6MUX21": (("D0", "D1", "SD"), "Z"),
}
CARRY_IN = ("CIN", *(f"{pin}{half}" for half in "01" for pin in "ABCD"))
CARRY_OUT = ("S0", "S1", "COUT")
# Pins of blocks that no clock goes with: what changes there, changes at once.
AT_ONCE = {
    "DELAYF": ("LOADN", "MOVE", "DIRECTION"),
    "EHXPLLL": (
        "RST",
        "STDBY",
        "PHASESEL0",
        "PHASESEL1",
        "PHASEDIR",
        "PHASESTEP",
        "PHASELOADREG",
        "PLLWAKESYNC",
    )
    + ("ENCLKOP", "ENCLKOS", "ENCLKOS2", "ENCLKOS3"),
    "IDDRX1F": ("RST",),
    "ODDRX1F": ("RST",),
}
PIN_OF_BLOCK = re.compile(r"(?:DI|AD|CS|CE|OCE|WE|RST|CLK|DO)([AB])\d*")
LOCK = "the PLL's lock"
WIDE = 36


def port_of(pin: str, told: dict[str, str]) -> str:
    """The port of a block memory whose clock a pin goes with. Words of 36 bits are written at A and read at B, with the data
    pins of both."""
    found = PIN_OF_BLOCK.fullmatch(pin)
    wide = int(told.get("DATA_WIDTH_A", "10010"), 2) == WIDE
    if wide and pin.startswith("DI"):
        return "A"
    if wide and pin.startswith("DO"):
        return "B"
    return found[1] if found else ""


@dataclass(frozen=True)
class Fault:
    """Something that is not allowed: where it ends, where it begins, and why."""

    end: str
    begin: str
    why: str

    def __str__(self) -> str:
        return f"{self.begin} to {self.end}: {self.why}"


@dataclass(frozen=True)
class Source:
    """What a path begins with."""

    # A clock of the board, `pad` or `lock`.
    domain: str
    name: str
    # Registers of the RTL, or the memory.
    cells: frozenset[str]
    kind: str


@dataclass
class Report:
    """What there is between clocks."""

    registers: dict[str, int]
    # How many ends other clocks reach, by the cell's instance, and from which clock to which.
    between: dict[str, int]
    faults: list[Fault]


class Netlist:
    """A flat netlist, and whose its registers are."""

    def __init__(self, board: Board, module: dict, of: dict[str, frozenset[str]], instances: dict[str, str]):
        """`of`: registers of the RTL by those of the netlist. `instances`: modules by paths."""
        self.board, self.module, self.instances, self.of = board, module, instances, of
        self.cells = module["cells"]
        self.clocks = self._clocks()
        self.drivers: dict[Signal, tuple[str, list[Signal]]] = {}
        self.sources: dict[Signal, Source] = {}
        for port, about in module["ports"].items():
            if about["direction"] != "output":
                for bit in about["bits"]:
                    if bit not in self.clocks:
                        self.sources[bit] = Source("pad", port, frozenset(), "pad")
        for name, cell in self.cells.items():
            self._drive(name, cell)
        self.reach: dict[Signal, frozenset[str]] = {}

    def _clocks(self) -> dict[Signal, str]:
        found = {}
        for name, clock in self.board.clocks.items():
            if clock.port:
                found[self.module["ports"][clock.port]["bits"][0]] = name
            else:
                found[self.cells[self.board.pll.instance]["connections"][clock.pll][0]] = name
        return found

    def domain(self, bit: Signal) -> str:
        return self.clocks.get(bit, "")

    def _drive(self, name: str, cell: dict) -> None:
        kind, pins = cell["type"], cell["connections"]

        def logic(inputs: tuple[str, ...] | str, outputs: tuple[str, ...] | str) -> None:
            given = [pins[pin][0] for pin in inputs if pins.get(pin)]
            for pin in [outputs] if isinstance(outputs, str) else outputs:
                if pins.get(pin) and isinstance(pins[pin][0], int):
                    self.drivers[pins[pin][0]] = (name, given)

        if kind in LOGIC:
            logic(*LOGIC[kind])
        elif kind == "CCU2C":
            logic(CARRY_IN, CARRY_OUT)
        elif kind == "MULT18X18D":
            outputs = [pin for pin in pins if pin.startswith("P")]
            logic(tuple(pin for pin in pins if pin not in outputs), tuple(outputs))
        elif kind == "TRELLIS_FF":
            bit = pins["Q"][0]
            cells = self.of.get(name, frozenset())
            self.sources[bit] = Source(
                self.domain(pins["CLK"][0]), self.called(name, cells), cells, "register"
            )
        elif kind == "TRELLIS_DPR16X4":
            # What is read is there at once; what was written, another clock may have written.
            for bit in pins["DO"]:
                if isinstance(bit, int):
                    self.drivers[bit] = (name, [*pins["RAD"], f"memory {name}"])
            memory = Source(self.domain(pins["WCK"][0]), name, frozenset({self.memory(name)}), "memory")
            self.sources[f"memory {name}"] = memory
        elif kind == "DP16KD":
            for pin, bits in pins.items():
                if pin.startswith("DO") and bits and isinstance(bits[0], int):
                    clock = pins[f"CLK{port_of(pin, cell['parameters'])}"][0]
                    self.sources[bits[0]] = Source(self.domain(clock), name, frozenset(), "register")
        elif kind == "IDDRX1F":
            for pin in ("Q0", "Q1"):
                if pins.get(pin):
                    self.sources[pins[pin][0]] = Source(
                        self.domain(pins["SCLK"][0]), name, frozenset(), "register"
                    )
        elif kind == "DELAYF":
            self.drivers[pins["Z"][0]] = (name, [pins["A"][0]])
            for bit in pins.get("CFLAG", []):
                self.sources[bit] = Source("pad", f"{name}.CFLAG", frozenset(), "pad")
        elif kind in PADS:
            _, pad, inside = PADS[kind]
            for bit in pins.get(inside.get("O", ""), []):
                self.drivers[bit] = (name, [pins[pad][0]])
        elif kind == "EHXPLLL":
            for bit in pins.get("LOCK", []):
                self.sources[bit] = Source("lock", LOCK, frozenset(), "lock")

    def memory(self, cell: str) -> str:
        """The memory of the RTL that a tile is of: tiles are called MEMORY.x.y."""
        return cell.rpartition(".")[0].rpartition(".")[0]

    def called(self, cell: str, cells: frozenset[str]) -> str:
        return " and ".join(sorted(cells)) or cell

    def within(self, names: frozenset[str], modules: tuple[str, ...]) -> set[str]:
        """The instances of these modules that registers are in."""
        found = set()
        for name in names:
            parts = name.split(".")
            paths = (".".join(parts[:count]) for count in range(1, len(parts)))
            found |= {path for path in paths if self.instances.get(path) in modules}
        return found

    def domains(self, bit: Signal) -> frozenset[str]:
        """The clocks of what a bit depends on within a clock."""
        stack, entered = [bit], set()
        while stack:
            top = stack[-1]
            if top in self.reach:
                stack.pop()
            elif top in self.sources:
                self.reach[top] = frozenset({self.sources[top].domain})
            elif top in self.clocks:
                self.reach[top] = frozenset({"pad"})
            elif top not in self.drivers:
                self.reach[top] = frozenset({"unknown"} if isinstance(top, int) else ())
            else:
                given = self.drivers[top][1]
                waiting = [one for one in given if one not in self.reach and one not in entered]
                if waiting and top not in entered:
                    entered.add(top)
                    stack += waiting
                else:
                    self.reach[top] = frozenset().union(*(self.reach.get(one, frozenset()) for one in given))
        return self.reach[bit]

    def begins(self, bit: Signal, domain: str) -> Iterator[Source]:
        """What of other clocks a bit depends on."""
        seen, stack = set(), [bit]
        while stack:
            top = stack.pop()
            if top in seen:
                continue
            seen.add(top)
            if top in self.sources:
                if self.sources[top].domain != domain:
                    yield self.sources[top]
            elif top in self.clocks:
                yield Source("pad", f"the clock {self.clocks[top]}", frozenset(), "pad")
            elif top not in self.drivers:
                if isinstance(top, int):
                    yield Source("unknown", f"net {top}", frozenset(), "unknown")
            else:
                # What cannot hold another clock needs not be looked into.
                stack += [one for one in self.drivers[top][1] if self.domains(one) - {domain}]

    def straight(self, bit: Signal) -> Source | str | None:
        """What drives a bit without logic in front, inverters aside; a constant; or nothing of the kind."""
        while bit in self.drivers:
            name, given = self.drivers[bit]
            wires = [one for one in given if isinstance(one, int)]
            if self.cells[name]["type"] != "LUT4" or len(wires) > 1:
                return None
            if not wires:
                return "constant"
            bit = wires[0]
        return self.sources.get(bit, "constant" if isinstance(bit, str) else None)


def origins(matching: Matching) -> dict[str, frozenset[str]]:
    """The registers of the RTL that each of the netlist stands for."""
    classes: dict[object, set[str]] = defaultdict(set)
    for (prefix, name), colour in matching.colours.items():
        if prefix == "rtl" and colour[0] not in FIXED:
            classes[colour].add(name.replace(DRIVER, ""))
    for states in matching.states:
        classes["states", states.name] |= {name.replace(DRIVER, "") for name in states.rtl}
    return {
        name: frozenset(classes.get(colour, ()))
        for (prefix, name), colour in matching.colours.items()
        if prefix == "netlist"
    }


def check(board: Board, module: dict, matching: Matching, instances: dict[str, str]) -> Report:
    """What there is between the clocks of a netlist, and what of it is not allowed."""
    netlist = Netlist(board, module, origins(matching), instances)
    report = Report(dict.fromkeys(board.clocks, 0), defaultdict(int), [])
    for name, cell in netlist.cells.items():
        kind, pins = cell["type"], cell["connections"]
        told = {key: value.strip() for key, value in cell["parameters"].items()}
        if kind == "TRELLIS_FF":
            _register(netlist, report, name, pins, told)
        elif kind == "DP16KD":
            _memory(netlist, report, name, pins, told)
        elif kind == "TRELLIS_DPR16X4":
            domain = _clock(netlist, report, name, pins["WCK"][0])
            given = [bit for pin in ("WAD", "DI", "WRE") for bit in pins[pin]]
            _ends(netlist, report, (name, frozenset({netlist.memory(name)})), domain, given)
        elif kind in ("IDDRX1F", "ODDRX1F"):
            domain = _clock(netlist, report, name, pins["SCLK"][0])
            given = [pins[pin][0] for pin in ("D", "D0", "D1") if pin in pins]
            # A pad's own registers take the pad, and nothing else.
            if kind == "ODDRX1F" or any(netlist.domains(bit) - {"pad"} for bit in given):
                _ends(netlist, report, (name, frozenset()), domain, given)
        for pin in AT_ONCE.get(kind, ()):
            for bit in pins.get(pin, []):
                source = netlist.straight(bit)
                if source != "constant" and not (isinstance(source, Source) and source.kind == "register"):
                    report.faults.append(
                        Fault(f"{name}.{pin}", _what(source), "it has to come straight from a register")
                    )
    report.between = dict(sorted(report.between.items()))
    return report


def _what(source: Source | str | None) -> str:
    return source.name if isinstance(source, Source) else "logic"


def _clock(netlist: Netlist, report: Report, name: str, bit: Signal) -> str:
    domain = netlist.domain(bit)
    if not domain:
        report.faults.append(Fault(name, f"net {bit}", "its clock is none of the board's file"))
    return domain


def _register(netlist: Netlist, report: Report, name: str, pins: dict, told: dict) -> None:
    cells = netlist.of.get(name, frozenset())
    end = (netlist.called(name, cells), cells)
    domain = _clock(netlist, report, name, pins["CLK"][0])
    if not domain:
        return
    report.registers[domain] += 1
    given = [pins["DI"][0]]
    if told.get("CEMUX", "1") in ("CE", "INV"):
        given.append(pins["CE"][0])
    reset = pins.get("LSR", ["0"])[0]
    if told.get("SRMODE") != "ASYNC":
        given.append(reset)
    elif isinstance(reset, int):
        _reset(netlist, report, end, domain, reset)
    _ends(netlist, report, end, domain, given)


def _reset(
    netlist: Netlist, report: Report, end: tuple[str, frozenset[str]], domain: str, bit: Signal
) -> None:
    source = netlist.straight(bit)
    if source == "constant":
        return
    if not isinstance(source, Source) or source.kind not in ("register", "lock"):
        report.faults.append(
            Fault(f"the reset of {end[0]}", _what(source), "it has to come straight from a register")
        )
        return
    if source.domain == domain:
        return
    within = netlist.within(end[1], netlist.board.crossings.resets)
    if not within:
        why = f"a reset of {source.domain} in {domain} without a reset synchroniser"
        report.faults.append(Fault(f"the reset of {end[0]}", source.name, why))
        return
    report.between[f"{min(within)}: {source.domain} to {domain}, a reset"] += 1


def _memory(netlist: Netlist, report: Report, name: str, pins: dict, told: dict) -> None:
    clocks = {}
    for side in "AB":
        bit = pins.get(f"CLK{side}", ["0"])[0]
        if isinstance(bit, int):
            clocks[side] = _clock(netlist, report, name, bit)
    memory = frozenset({netlist.memory(name)})
    if len({*clocks.values()}) > 1:
        within = netlist.within(memory, netlist.board.crossings.memories)
        if within:
            report.between[f"{min(within)}: {clocks['A']} to {clocks['B']}, a memory"] += 1
        else:
            report.faults.append(
                Fault(
                    name, name, f"a memory of {' and '.join(sorted({*clocks.values()}))} that is no queue's"
                )
            )
    for pin, bits in pins.items():
        if not pin.startswith(("CLK", "DO")) and port_of(pin, told) in clocks:
            _ends(netlist, report, (name, memory), clocks[port_of(pin, told)], bits)


def _ends(
    netlist: Netlist,
    report: Report,
    end: tuple[str, frozenset[str]],
    domain: str,
    given: list[Signal],
) -> None:
    """What arrives at an end."""
    allowed = netlist.board.crossings
    for bit in given:
        if not netlist.domains(bit) - {domain}:
            continue
        for source in netlist.begins(bit, domain):
            if source.kind == "pad":
                module = allowed.pads.get(source.name.partition("[")[0], "")
                inside = netlist.within(end[1], (module,)) or (
                    module == netlist.board.top and not any("." in name for name in end[1])
                )
                if module and inside and end[1]:
                    report.between[f"pad {source.name} to {domain}"] += 1
                else:
                    report.faults.append(Fault(end[0], source.name, f"a pad without a clock, in {domain}"))
                continue
            if source.kind == "memory" and netlist.within(source.cells, allowed.memories):
                report.between[f"{source.name}: {source.domain} to {domain}, a memory"] += 1
                continue
            same = netlist.within(source.cells, allowed.words) & netlist.within(end[1], allowed.words)
            if same:
                report.between[f"{min(same)}: {source.domain} to {domain}"] += 1
            else:
                why = f"from {source.domain} to {domain} without a crossing"
                report.faults.append(Fault(end[0], source.name, why))
