# SPDX-License-Identifier: Apache-2.0
"""A design as slang reads it: the one reading from which netlists, proofs and models are made."""

import hashlib
import json
from collections.abc import Iterable, Iterator

from ace_flow import rtl
from ace_flow.synth import lut_init

# The box of a kept LUT; Yosys reads it apart from what slang does.
KEPT = "rtl/prim/init_lut.sv"
# How Yosys has slang read files.
READ = "read_slang -j 1"
# What a value is when the clock comes: a cell of these kinds is where a path ends.
REGISTERS = ("$dff", "$aldff", "$adff", "$dffe", "$aldffe", "$adffe", "$sdff", "$sdffe", "$sdffce", "$dffsr")
# How slang calls what drives a variable, in the module that declares it, and what Yosys writes before it in a flat design.
DRIVER, FLAT = "$driver$", "$flatten"

Signal = int | str


class DesignError(Exception):
    """A design of which it cannot be told which register is which."""


def arguments(
    top: str, parameters: dict[str, int | str], sources: Iterable[str], headers: Iterable[str] | None = None
) -> str:
    """The top, its parameters and its files, as slang is told them. `headers`: files beside which headers are, if those
    are not the sources."""
    sources = list(sources)
    given = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    folders = "".join(f"-I {folder} " for folder in rtl.folders(sources if headers is None else headers))
    return f"--top {top} {given} {folders}{' '.join(sources)}"


def read(what: str, boxed: bool) -> list[str]:
    """The commands of Yosys that have slang read this. `boxed`: kept LUTs are boxes."""
    if not boxed:
        return [f"{READ} {what}"]
    return [
        f"{READ} --blackboxed-module {lut_init.CELL} {what}",
        f"read_verilog -sv -lib -overwrite {KEPT}",
    ]


def digest(module: dict) -> str:
    """The SHA-256 of what a flat module (Yosys JSON, before any pass) computes at its outputs, cell by cell.

    Nothing else is in it: no line and no comment of the sources, no name but those of ports, registers, memories and kept
    LUTs, no contents of those, and nothing that no output depends on, as checks do not. So the digest is that of a design, whoever wrote it down."""
    return hashlib.sha256("\n".join(_Description(module).lines()).encode()).hexdigest()


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class _Description:
    """The lines of a design: one for each bit of an output, each bit of a register and each write of a memory."""

    def __init__(self, module: dict):
        self.module, self.cells = module, module["cells"]
        self.drivers: dict[Signal, tuple[str, str, int]] = {}
        for name, cell in self.cells.items():
            for pin in self._pins(cell, "output"):
                self.drivers.update({bit: (name, pin, i) for i, bit in enumerate(cell["connections"][pin])})
        self.inputs = {
            bit: f"input {name} {i}"
            for name, port in module["ports"].items()
            if port["direction"] == "input"
            for i, bit in enumerate(port["bits"])
        }
        self.registers: dict[Signal, str] = {}
        seen: set[str] = set()
        for name, cell in self.cells.items():
            if cell["type"] in REGISTERS:
                called = _register_name(name)
                if called in seen:
                    raise DesignError(f"two registers are called {called}")
                seen.add(called)
                self.registers |= {bit: f"{called} {i}" for i, bit in enumerate(cell["connections"]["Q"])}
        # What a line rests on, and has no line so far.
        self.found_registers: set[str] = set()
        self.found_memories: set[str] = set()
        self.hashes: dict[str, str] = {}

    @staticmethod
    def _pins(cell: dict, direction: str) -> list[str]:
        return [pin for pin, way in sorted(cell["port_directions"].items()) if way == direction]

    def _source(self, bit: Signal) -> Signal:
        """What a bit is, behind cells that only hand it on."""
        while bit in self.drivers and self.cells[self.drivers[bit][0]]["type"] == "$buf":
            name, _, place = self.drivers[bit]
            bit = self.cells[name]["connections"]["A"][place]
        return bit

    def _leaf(self, bit: Signal) -> str | None:
        """What a path ends with: a constant, an input, a register, or nothing."""
        bit = self._source(bit)
        if isinstance(bit, str):
            return bit
        if bit in self.inputs:
            return self.inputs[bit]
        if bit in self.registers:
            self.found_registers.add(self.drivers[bit][0])
            return f"register {self.registers[bit]}"
        return None if bit in self.drivers else "open"

    def _value(self, bit: Signal) -> str:
        """The description of a bit; of logic, a hash."""
        pending, opened = [bit], set()
        while pending:
            if self._leaf(pending[-1]) is not None or self._cell(pending[-1]) in self.hashes:
                pending.pop()
                continue
            name = self._cell(pending[-1])
            cell = self.cells[name]
            before = [b for pin in self._pins(cell, "input") for b in cell["connections"][pin]]
            before = [b for b in before if self._leaf(b) is None and self._cell(b) not in self.hashes]
            if before and name in opened:
                raise DesignError(f"{name}: logic that runs in a circle")
            opened.add(name)
            if before:
                pending += before
            else:
                self.hashes[name] = self._logic(name, cell)
                pending.pop()
        return self._described(bit)

    def _cell(self, bit: Signal) -> str:
        return self.drivers[self._source(bit)][0]

    def _described(self, bit: Signal) -> str:
        leaf = self._leaf(bit)
        if leaf is not None:
            return leaf
        name, pin, place = self.drivers[self._source(bit)]
        return f"{self.hashes[name]} {pin} {place}"

    def _logic(self, name: str, cell: dict) -> str:
        parameters = dict(cell["parameters"])
        if cell["type"] == lut_init.CELL:
            # Its contents are told to a model by its name.
            parameters = {"name": name}
        if "MEMID" in parameters:
            parameters["MEMID"] = self._memory_name(parameters["MEMID"])
        pins = {
            pin: [self._described(b) for b in cell["connections"][pin]] for pin in self._pins(cell, "input")
        }
        return _hash(cell["type"], parameters, pins)

    def _memory_name(self, memory: str) -> str:
        """Its own; what slang made a memory of by itself is called by its contents."""
        self.found_memories.add(memory)
        return f"contents {_hash(self._contents(memory))}" if "$" in memory else memory.removeprefix("\\")

    def _accesses(self, memory: str, kinds: tuple[str, ...]) -> list[dict]:
        return [
            cell
            for cell in self.cells.values()
            if cell["type"] in kinds and cell["parameters"]["MEMID"] == memory
        ]

    def _contents(self, memory: str) -> list:
        """The shape of a memory, and its words at first."""
        shape = self.module["memories"][memory.removeprefix("\\")]
        words: dict[int, str] = {}
        cells = self._accesses(memory, ("$meminit", "$meminit_v2"))
        for cell in sorted(cells, key=lambda c: int(c["parameters"]["PRIORITY"], 2)):
            width = int(cell["parameters"]["WIDTH"], 2)
            first = int("".join(reversed(cell["connections"]["ADDR"])), 2)
            data, enable = cell["connections"]["DATA"], cell["connections"].get("EN", ["1"] * width)
            for n in range(int(cell["parameters"]["WORDS"], 2)):
                before = words.get(first + n, "x" * width)
                fresh = data[n * width : (n + 1) * width]
                words[first + n] = "".join(
                    d if e == "1" else b for d, e, b in zip(fresh, enable, before, strict=True)
                )
        return [shape["width"], shape["size"], shape["start_offset"], sorted(words.items())]

    def _state(self, name: str) -> Iterator[str]:
        """A register, bit by bit."""
        cell = self.cells[name]
        pins = cell["connections"]
        width = len(pins["Q"])
        wide = [pin for pin in self._pins(cell, "input") if pin in ("D", "AD", "SET", "CLR")]
        parameters = {
            key: value
            for key, value in cell["parameters"].items()
            if key != "WIDTH" and not key.endswith("_VALUE")
        }
        common = {
            pin: [self._value(b) for b in pins[pin]] for pin in self._pins(cell, "input") if pin not in wide
        }
        values = {key: value[::-1] for key, value in cell["parameters"].items() if key.endswith("_VALUE")}
        for place in range(width):
            own = {pin: self._value(pins[pin][place]) for pin in wide}
            own |= {key: value[place] for key, value in values.items()}
            about = _hash(cell["type"], parameters, common, own)
            yield f"register {self.registers[pins['Q'][place]]} {about}"

    def _writes(self, memory: str) -> Iterator[str]:
        name = self._memory_name(memory)
        yield f"memory {name} {_hash(self._contents(memory))}"
        for cell in self._accesses(memory, ("$memwr", "$memwr_v2")):
            pins = {pin: [self._value(b) for b in bits] for pin, bits in cell["connections"].items()}
            parameters = cell["parameters"] | {"MEMID": name}
            yield f"write {name} {_hash(cell['type'], parameters, pins)}"

    def lines(self) -> list[str]:
        """All of them, in order."""
        found = {
            f"output {name} {place} {self._value(bit)}"
            for name, port in self.module["ports"].items()
            if port["direction"] != "input"
            for place, bit in enumerate(port["bits"])
        }
        registers: set[str] = set()
        memories: set[str] = set()
        while (more := self.found_registers - registers) or self.found_memories - memories:
            for name in more:
                registers.add(name)
                found.update(self._state(name))
            for memory in self.found_memories - memories:
                memories.add(memory)
                found.update(self._writes(memory))
        return sorted(found)


def _register_name(cell: str) -> str:
    """What a register is called by whoever wrote it: u_core.step_q."""
    scope, _, name = cell.removeprefix(FLAT).partition(DRIVER)
    if not name:
        raise DesignError(f"{cell}: a register that slang has not called after a variable")
    return scope.replace("\\", "") + name
