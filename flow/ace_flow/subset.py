# SPDX-License-Identifier: Apache-2.0
"""The subset of SystemVerilog that the RTL is written in: what two readers may take for two circuits is refused, by file and
line.

Verilator reads the RTL for the models that answer, slang for synthesis and for the proof. A proof says nothing of a
model whose reader has seen something else. So the text keeps to what both read alike: allow-lists of attributes, system
functions and compiler directives, no undefined values, no time, no latches, no races.
"""

import re
from collections.abc import Iterator
from pathlib import Path

# Synthesis obeys them, and none of them changes what is computed.
ATTRIBUTES = {"keep", "blackbox", "fsm_encoding", "ram_style", "rom_style", "no_rw_check"}
# Settings of a PLL, which are no parameters of it.
ATTRIBUTES |= {"ICP_CURRENT", "LPF_RESISTOR", "MFG_ENABLE_FILTEROPAMP", "MFG_GMCREF_SEL"}
# Constants of elaboration, casts, and counts of bits.
FUNCTIONS = {"bits", "clog2", "signed", "unsigned", "onehot", "onehot0", "countones", "size"}
# They end an elaboration.
FUNCTIONS |= {"error", "fatal"}
# Checks are of simulation and of proofs alone; nothing of a slot depends on them.
CHECKS = FUNCTIONS | {"past", "stable", "rose", "fell", "changed", "isunknown", "display", "stop", "finish"}
CHECKS |= {
    "warning",
    "info",
    "initstate",
    "anyconst",
    "anyseq",
    "allconst",
    "allseq",
    "time",
    "sampled",
    "fell_gclk",
}

# Where files stand that are no part of a circuit: assertions, and cells that a model has in place of the RTL's.
FORMAL, FLOW, MODEL = ("rtl", "formal"), ("flow",), ("flow", "model")

STRING = r'"(?:\\.|[^"\\\n])*"'
BLANK = re.compile(STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
ATTRIBUTE = re.compile(r"\(\*(?!\s*\))(.*?)\*\)", re.DOTALL)
NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:=[^,]*)?(?:,|$)")
SYSTEM = re.compile(r"\$([A-Za-z_]\w*)")
MACRO = re.compile(r"`(\w+)")
INCLUDE = re.compile(r'^[ \t]*`include\s+"([A-Za-z_]\w*\.svh)"[ \t]*$')
DEFINE = re.compile(r"^[ \t]*`define\s+(\w+)")
# What directives but `include and `define there are: a macro of such a name would not be one.
OTHERS = {
    "undef",
    "undefineall",
    "ifdef",
    "elsif",
    "else",
    "if",
    "line",
    "pragma",
    "resetall",
    "timescale",
    "celldefine",
}
OTHERS |= {"default_nettype", "unconnected_drive", "nounconnected_drive", "begin_keywords", "end_keywords"}
OTHERS |= {"endcelldefine", "protect", "__FILE__", "__LINE__", "verilator_config", "systemc_header"}

# What is refused, and what to write instead.
REFUSED = [
    (r"'[sS]?[bBoOdDhH]\s*[0-9a-fA-F_?]*[xXzZ]|'[xXzZ]\b", "an undefined value is 0 to one reader and anything to another: name one"),
    (r"[=!]==|[=!]=\?", "no circuit compares with an undefined value: write == or !="),
    (r"\bcasex\b", "an undefined selection matches everything: write casez, or unique case"),
    (r"\b(?:force|release|deassign|defparam)\b", "it changes what another module does behind its text"),
    (r"\b(?:always_latch|latch)\b", "a latch has no clock: write a register"),
    (r"\balways\b(?!_)", "its list of signals is simulation's alone: write always_ff or always_comb"),
    (r"\biff\b", "one reader gates the clock by it: write an enable in the block"),
    (r"\bnegedge\b(?!\s+rst_ni\b)", "registers work at the rising edge, and are reset by rst_ni alone"),
    (r"\bfunction\s+(?!automatic\b)", "a static function keeps its variables: write function automatic"),
    (r"\b(?:import|export)\s+\"", "nothing outside of the circuit takes part in it"),
    (r"\b(?:wait|fork|join|join_any|join_none|disable|event|real|shortreal|realtime|time)\b", "no circuit has it"),
    (r"\b(?:unique0|priority)\b", "what is not listed is whatever a reader likes: write unique case with a default"),
    (r"(?<![\w)#'])#\s*\d", "simulation alone knows delays"),
    (r"\bassign\s+#", "simulation alone knows delays"),
    (r"\b(?:tri|tri0|tri1|triand|trior|trireg|wand|wor|supply0|supply1)\b", "a wire has one driver"),
    (r"\binout\b", "a wire has one driver: only a board's top has pins that go both ways"),
    (r"\bbind\b", "checks are bound in rtl/formal alone"),
]  # fmt: skip
REFUSED = [(re.compile(pattern), why) for pattern, why in REFUSED]
# Tops of boards, and cells at their pins.
PADS = ("rtl", "board"), re.compile(r"board_\w+\.sv")
# Of checks only that which reaches into the circuit.
INTRUDES = re.compile(r"\b(?:force|release|deassign|defparam)\b|\b(?:import|export)\s+\"")


def blanked(source: str, strings: bool = True) -> str:
    """The text without comments, and without what is in strings, in the same lines and columns."""

    def blank(match: re.Match) -> str:
        if match[0].startswith('"'):
            return match[0] if not strings else '"' + " " * (len(match[0]) - 2) + '"'
        return re.sub(r"[^\n]", " ", match[0])

    return BLANK.sub(blank, source)


def _attributes(text: str) -> Iterator[tuple[int, str]]:
    for found in ATTRIBUTE.finditer(text):
        # `@(*)` and a product in brackets, `(*)`, are none.
        if text[: found.start()].rstrip().endswith("@"):
            continue
        inside, at = found[1].strip(), 0
        while at < len(inside):
            one = NAME.match(inside, at)
            if one is None or one[1] not in ATTRIBUTES:
                shown = " ".join(inside.split())
                allowed = ", ".join(sorted(ATTRIBUTES))
                yield found.start(), f"the attribute `{shown}` is not one of {allowed}"
                break
            at = one.end()


def _directives(source: str, header: bool) -> Iterator[tuple[int, str]]:
    text = blanked(source)
    lines, whole = text.split("\n"), blanked(source, strings=False).split("\n")
    guard = re.match(r"\s*`ifndef\s+(\w+_SVH)\s*\n\s*`define\s+\1[ \t]*\n.*\n\s*`endif\s*\Z", text, re.DOTALL)
    at = 0
    for number, line in enumerate(lines):
        for found in MACRO.finditer(line):
            name, place = found[1], at + found.start()
            if name == "include":
                if not INCLUDE.match(whole[number]):
                    yield place, 'write `include "NAME.svh", alone in its line and without a folder'
            elif name == "define":
                if not header:
                    yield (
                        place,
                        "a macro stays defined for files behind it, for one reader: define it in a header",
                    )
            elif name in ("ifndef", "endif"):
                if not guard or text.count("`ifndef") != 1 or text.count("`endif") != 1:
                    yield place, "readers differ in what is defined: only a header's own guard may ask"
            elif name in OTHERS:
                yield place, f"`{name} is for some readers and not for others"
        at += len(line) + 1


def refused(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """What is refused of a file, by its place in the repository: in which line, and why."""
    if path.parts[:2] == MODEL:
        return
    text, checks = blanked(source), path.parts[:2] == FORMAL or path.parts[:1] == FLOW

    pads = path.parts[:-1] == PADS[0] and PADS[1].fullmatch(path.name) is not None

    def found() -> Iterator[tuple[int, str]]:
        yield from _attributes(text)
        yield from _directives(source, path.suffix == ".svh")
        if checks:
            for one in INTRUDES.finditer(text):
                yield one.start(), f"`{one[0]}`: a check does not reach into the circuit"
        else:
            for pattern, why in REFUSED:
                for one in pattern.finditer(text):
                    if not (pads and one[0] == "inout"):
                        yield one.start(), f"`{' '.join(one[0].split())}`: {why}"
        for one in SYSTEM.finditer(text):
            if one[1] not in (CHECKS if checks else FUNCTIONS):
                yield (
                    one.start(),
                    f"the system task ${one[1]} is simulation's, or reads what no recipe covers",
                )

    for place, why in sorted(found()):
        yield text.count("\n", 0, place) + 1, why


def defined(source: str) -> list[str]:
    """The macros that a header defines."""
    return [found[1] for line in blanked(source).split("\n") if (found := DEFINE.match(line))]
