# SPDX-License-Identifier: Apache-2.0
"""Proves that a bitstream of anybody's design does what its RTL says (docs/open-designs.md).

    python -m ace_flow prove-design DESIGN.bit --rtl FILES… --top NAME [--lpf PINS] [--package NAME] [--json]

The bits are read back into a circuit (`ace netlist --open`), slang reads the RTL, and both become one graph, in which every
register, memory and output has to be equal. Nothing is placed or routed. Yosys makes a netlist from which names are
taken; it is not believed. Exit codes: 0 proven, 1 refuted, 2 open or an input that cannot be used.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ace_flow import tools
from ace_flow.equiv.certificate import certify
from ace_flow.equiv.match import Matching
from ace_flow.equiv.to_rtl import Read, matchings
from ace_flow.equiv.transitions import Proof
from ace_flow.layout import BUILD
from ace_flow.open_designs import boxes, columns, form, names, trace
from ace_flow.open_designs.read import OpenDesignError, Question, hint, read_bits, read_rtl

PROVEN, REFUTED, OPEN = "proven", "refuted", "open"
CODES = {PROVEN: 0, REFUTED: 1, OPEN: 2}
# As many places are named in a record.
SHOWN = 20


class Sides(NamedTuple):
    """What is compared, in the one form, and what is wrong before anything is asked of a solver."""

    read: Read
    bits: dict
    pairs: list[tuple[str, form.Box, form.Box]]
    lost: list[str]
    differences: list[str]
    strange: dict
    uncovered: list[str]


def sides(read: Read, circuit: dict) -> Sides:
    """Brings the RTL and the bits into the one form, with blocks as ports of the same names."""
    rtl, recoded, bits = form.of_rtl(read.rtl, True), form.of_rtl(read.recoded, True), form.of_bits(circuit)
    for one in (rtl, recoded, bits):
        one.made()
    pairs, lost = boxes.pair(rtl, bits)
    by_name = {box.name: box for box in recoded.boxes}
    told = {name: boxes.asked(one, one.parameters) for name, one, _ in pairs}
    boxes.open_ports(rtl, [(name, one) for name, one, _ in pairs], told)
    boxes.open_ports(bits, [(name, other) for name, _, other in pairs], told)
    again = [(name, by_name[one.name]) for name, one, _ in pairs if one.name in by_name]
    boxes.open_ports(recoded, again, told)
    modules = [one.made() for one in (rtl, recoded, bits)]
    # What the bits read at a pad or a block that the RTL does not: nothing says what it is there.
    strange = {rtl.of(bit): name for bit, name in rtl.strange.items()}
    told_else = boxes.differences(pairs)
    return Sides(
        Read(modules[0], modules[1], read.codes), modules[2], pairs, lost, told_else, strange, rtl.uncovered
    )


class Hinted(NamedTuple):
    """The circuit of the bits with names of a netlist of Yosys, that netlist, and how well it fits."""

    bits: dict
    netlist: dict
    about: dict


def hinted(both: Sides, question: Question, folder: Path) -> Hinted:
    """The better of two hints: of the RTL as Yosys reads it, as most have it read, and as slang does."""
    best: Hinted | None = None
    cut = sum(cell["type"] in names.CUT for cell in both.bits["cells"].values())
    for by_slang in (False, True):
        try:
            module = hint(question, folder, by_slang)
        except tools.ToolError:
            if by_slang and best is None:
                raise
            continue
        guess = form.of_rtl(module, False)
        guess.made()
        by_name = {one.name: name for name, one, _ in both.pairs}
        told = {name: boxes.asked(one, one.parameters) for name, one, _ in both.pairs}
        found = [(by_name[box.name], box) for box in guess.boxes if box.name in by_name]
        boxes.open_ports(guess, found, told)
        theirs = guess.made()
        matched = names.matched(both.bits, theirs)
        about = {
            "registers_and_blocks": cut,
            "named": len(matched),
            "read_by": "slang" if by_slang else "yosys",
        }
        if best is None or len(matched) > best.about["named"]:
            best = Hinted(names.named(both.bits, theirs, matched), theirs, about)
        if len(matched) == cut:
            break
    assert best is not None
    return best


def proofs(both: Sides, guess: Hinted) -> Iterator[Proof]:
    """Ways to take what of the RTL for what of the bits. The last one is that of the hint: where the bits are another
    circuit in one place, they are like the hint in all others."""
    for matching in matchings(both.read, guess.bits):
        columns.split(matching)
        proof = Proof(matching)
        proof.collect()
        yield proof
    for good in matchings(both.read, guess.netlist):
        matching = Matching(both.read.rtl, guess.bits, good.tiles)
        columns.split(good)
        matching.adopt(good)
        proof = Proof(matching)
        proof.collect()
        yield proof


def prove(question: Question, folder: Path) -> dict:
    """The record of a design."""
    start = tools.cpu_seconds()
    reading, circuit = read_bits(question, folder)
    if question.device and question.device.upper() != reading["device"]:
        raise OpenDesignError(f"{question.bits} is for an {reading['device']}, not for an {question.device}")
    both = sides(read_rtl(question, folder), circuit)
    record = {
        "device": reading["device"],
        "memory_sha256": reading["memory_sha256"],
        "top": question.top,
        "cells": reading["cells"],
        "pads": len(reading["pads"]),
        "pads_as_told": sum(pad["as_told"] for pad in reading["pads"]),
        "settings": reading["settings"],
        "blocks": {name: bits.name for name, _, bits in both.pairs},
        "unexplained": reading["unexplained"][:SHOWN],
    }
    open_ = [f"nothing rests on this: {line}" for line in reading["unexplained"]]
    if both.lost or both.differences:
        record |= {"differ": [*both.lost, *both.differences][:SHOWN]}
        return record | _end(REFUTED, open_, start)
    outputs = [
        {name for name, port in module["ports"].items() if port["direction"] == "output"}
        for module in (both.read.rtl, both.bits)
    ]
    if outputs[0] != outputs[1]:
        wrong = [
            f"the RTL has an output {name}, and no pad of the bits is it" for name in outputs[0] - outputs[1]
        ]
        wrong += [f"a pad drives {name}, and the RTL has no such output" for name in outputs[1] - outputs[0]]
        return record | _end(OPEN, [*open_, *sorted(wrong)], start)
    loops = boxes.circles(both.read.rtl, both.pairs)
    open_ += loops
    open_ += both.uncovered
    guess = hinted(both, question, folder)
    record |= {"hint": guess.about}
    tried: list[Proof] = []
    try:
        for proof in proofs(both, guess):
            tried.append(proof)
            if not proof.open:
                break
    except tools.ToolError as error:
        if not tried:
            return record | _end(OPEN, [*open_, str(error)], start)
    proof = min(tried, key=lambda one: len(one.open))
    reached = {both.strange[bit] for bit in proof.rtl.loose if bit in both.strange}
    open_ += [f"the outputs depend on {name} which proofs do not know" for name in sorted(reached)]
    left = proof.left()
    verdict = certify(proof.graph, left, folder)
    open_ += proof.open
    record |= {
        "points": len(proof.points),
        "by_structure": len(proof.points) - len(left),
        "by_certificate": sum(one.points for one in verdict.certificates),
        **proof.counts,
        "assumed": sorted(proof.assumed),
    }
    unknown = sorted({*verdict.unproven} - {*verdict.differ})
    if verdict.differ and not proof.open:
        record |= {
            "differ": verdict.differ[:SHOWN],
            "trace": trace.of(proof, left, verdict.differ[0], folder),
        }
        return record | _end(REFUTED, [*open_, *unknown], start)
    open_ += [f"{point} differs, or what it takes for the same is not" for point in verdict.differ]
    return record | _end(OPEN if open_ or unknown else PROVEN, [*open_, *unknown], start)


def _end(result: str, open_: list[str], start: float) -> dict:
    return {
        "result": result,
        "open": open_[:SHOWN],
        "open_count": len(open_),
        "cpu_seconds": round(tools.cpu_seconds() - start, 1),
    }


def text(record: dict) -> str:
    """A record for people."""
    lines = [f"{record['device']} {record['top']}: {record['result']}"]
    if "points" in record:
        lines.append(
            f"  {record['points']} points: {record['by_structure']} by structure, {record['by_certificate']} by "
            f"certificate; {record['registers']} registers, {record['columns']} columns of memories, "
            f"{len(record['blocks'])} blocks, {record['pads']} pads"
        )
    lines += [f"  differs: {line}" for line in record.get("differ", [])]
    for name, values in record.get("trace", {}).items():
        lines += [f"  {name}:", *(f"    {key} = {value}" for key, value in values.items())]
    lines += [f"  assumed: {line}" for line in record.get("assumed", [])]
    lines += [f"  open: {line}" for line in record["open"]]
    if record["open_count"] > len(record["open"]):
        lines.append(f"  open: {record['open_count'] - len(record['open'])} more")
    return "\n".join([*lines, f"  {record['cpu_seconds']} CPU seconds"])


def question(arguments: argparse.Namespace) -> Question:
    parameters = {}
    for told in arguments.parameter:
        name, equals, value = told.partition("=")
        if not equals:
            raise OpenDesignError(f"--parameter {told}: expected NAME=VALUE")
        parameters[name] = value
    return Question(
        arguments.bits.resolve(),
        [path.resolve() for path in arguments.rtl],
        arguments.top,
        arguments.lpf.resolve() if arguments.lpf else None,
        arguments.package,
        parameters,
        arguments.define,
        [path.resolve() for path in arguments.include],
        arguments.image,
        arguments.synth,
        arguments.device,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bits", type=Path, metavar="DESIGN.bit")
    parser.add_argument("--rtl", type=Path, nargs="+", required=True, help="Verilog or SystemVerilog")
    parser.add_argument("--top", required=True, help="the top module")
    parser.add_argument(
        "--lpf", type=Path, help="file of pins; without it ports have to be called as their balls"
    )
    parser.add_argument("--package", default="CABGA381")
    parser.add_argument(
        "--device", help="the device that the bits have to be for; default: whichever they are for"
    )
    parser.add_argument("--image", type=int, help="of a file with several bitstreams, the one of this number")
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the top module"
    )
    parser.add_argument("--define", action="append", default=[], metavar="NAME[=VALUE]")
    parser.add_argument("--include", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument(
        "--synth", default="", help="options of synth_ecp5 that the design was made with, as a hint"
    )
    parser.add_argument("--json", action="store_true", help="the whole record")
    parser.add_argument("--keep", type=Path, help="leave what was made there, certificates among it")
    arguments = parser.parse_args()
    try:
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            record = prove(question(arguments), arguments.keep.resolve())
        else:
            BUILD.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=BUILD, prefix=".prove-design-") as folder:
                record = prove(question(arguments), Path(folder))
    except (tools.ToolError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return CODES[OPEN]
    print(json.dumps(record, indent=1) if arguments.json else text(record))
    return CODES[record["result"]]


if __name__ == "__main__":
    sys.exit(main())
