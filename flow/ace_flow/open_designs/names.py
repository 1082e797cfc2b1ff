# SPDX-License-Identifier: Apache-2.0
"""Which register of the bits is which of a netlist of Yosys: a proposal, as all names are.

What is cut (registers, memories, multipliers) is coloured by what it computes: the same colours have the same random
values, logic is simulated, and what arrives is the next colour. What alone has a colour in both is anchored: from then on it
has a value of its own. Colours begin anew with the anchors that there are; so where the circuits differ in one place, all
that is elsewhere is still found, and what is left at last is paired by what it drives.
"""

import hashlib
from collections import Counter, defaultdict
from functools import cache

from ace_flow.equiv.simulate import ALL, WIDTH, Simulation, get
from ace_flow.prove.cut import CUT, Circuit
from ace_flow.prove.gates import Graph

# Steps from what is anchored; cells whose values are turned, one by one, to see what they drive.
STEPS = 5
MOST_TURNED = 600
# With so many is one compared that cannot be told from them.
MOST_TRIED = 8
# So many of a kind are paired at last by how alike they are.
MOST_LEFT = 64
_WORD = (1 << 64) - 1
_WORDS = WIDTH // 64
# In the last third of the words nearly all are 0, or 1; before it, in some.
_MIDDLE, _LAST = range(_WORDS // 2, 2 * _WORDS // 3), range(2 * _WORDS // 3, _WORDS)


def _mask(words: list[int] | range) -> int:
    return sum(_WORD << 64 * word for word in words)


def digest(*parts: object) -> str:
    """A short name for what was seen."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


@cache
def values(colour: str) -> int:
    """Random values of a colour."""
    stream = hashlib.shake_128(colour.encode()).digest(WIDTH // 8 * 7 + _WORDS)
    rows = [int.from_bytes(stream[i * WIDTH // 8 : (i + 1) * WIDTH // 8], "big") for i in range(6)]
    picks = stream[-_WORDS:]
    few = rows[1] & rows[2] & rows[3]
    fewer = few & rows[4] & rows[5]
    value = rows[0] & _mask(range(_WORDS // 2))
    for word in _MIDDLE:
        row = (rows[0], rows[0], few, ALL ^ few)[picks[word] & 3]
        value |= row & _WORD << 64 * word
    for word in _LAST:
        row = (few, fewer, ALL ^ few, ALL ^ fewer)[word & 3]
        value |= row & _WORD << 64 * word
    return value


class Side:
    """One of the circuits."""

    def __init__(self, module: dict):
        self.graph = Graph()
        self.circuit = Circuit(self.graph, module, complete=False)
        self.cells = {name: cell for name, cell in module["cells"].items() if cell["type"] in CUT}
        self.simulation = Simulation(self.graph, set())
        # Where a cell's outputs are in the graph, by pin and bit.
        self.outputs: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.ports: list[tuple[int, str]] = []
        for node in self.simulation.inputs:
            name = self.graph.nodes[node][0]
            cell, _, pin = name.rpartition(".")
            if cell in self.cells:
                self.outputs[cell].append((node, pin))
            else:
                self.ports.append((node, name))
        self.points: dict[str, list[tuple[str, list[int]]]] = defaultdict(list)
        self.outside: list[tuple[str, list[int]]] = []
        for point, bits in self.circuit.points.items():
            cell, _, pin = point.rpartition(".")
            if cell in self.cells:
                self.points[cell].append((pin, bits))
            else:
                self.outside.append((point, bits))
        self.anchors: dict[str, str] = {}
        self.begin()

    def begin(self) -> None:
        """Colours of what is not anchored, as at the beginning."""
        self.colours = {
            name: self.anchors.get(name)
            or digest(cell["type"], cell["parameters"].get("REGSET", "RESET").strip())
            for name, cell in self.cells.items()
        }

    def inputs(self) -> dict[int, int]:
        given = {node: values(f"port {name}") for node, name in self.ports}
        for cell, outputs in self.outputs.items():
            for node, pin in outputs:
                given[node] = values(f"{self.colours[cell]} {pin}")
        return given

    def arrives(self, v: list[int], cell: str) -> str:
        seen = []
        for pin, bits in self.points[cell]:
            arrived = tuple(get(v, bit) for bit in bits)
            if set(arrived) - {0, ALL}:
                seen.append((pin, hash(arrived)))
        return digest(self.colours[cell], *sorted(seen))

    def step(self) -> None:
        v = self.simulation.run(self.inputs(), lambda *_: None)
        self.colours = {cell: self.anchors.get(cell) or self.arrives(v, cell) for cell in self.cells}

    def drives(self, cells: list[str], all_: bool) -> dict[str, frozenset]:
        """What changes, and where, if the outputs of a cell change: at outputs and at what is anchored, or at all cells."""
        given = self.inputs()
        watched = list(self.outside)
        for cell in self.cells:
            if all_ or cell in self.anchors:
                watched += [(f"{self.colours[cell]}.{pin}", bits) for pin, bits in self.points[cell]]
        before = self.simulation.run(given, lambda *_: None)
        base = [tuple(get(before, bit) for bit in bits) for _, bits in watched]
        found = {}
        for cell in cells:
            turned = given | {node: given[node] ^ ALL for node, _ in self.outputs[cell]}
            after = self.simulation.run(turned, lambda *_: None)
            changed = []
            for (name, bits), old in zip(watched, base, strict=True):
                new = tuple(get(after, bit) for bit in bits)
                if new != old:
                    changed.append((name, hash(new)))
            found[cell] = frozenset(changed)
        return found

    def left(self) -> list[str]:
        return [cell for cell in self.cells if cell not in self.anchors]


def _anchor(sides: tuple[Side, Side], colours: list[dict[str, str]]) -> int:
    """Anchors what alone has its colour on both sides; how many."""
    by = []
    for side, found in zip(sides, colours, strict=True):
        count = Counter(found.values())
        by.append(
            {
                colour: cell
                for cell, colour in found.items()
                if count[colour] == 1 and cell not in side.anchors
            }
        )
    pairs = [(by[0][colour], by[1][colour]) for colour in sorted(by[0].keys() & by[1].keys())]
    for pair in pairs:
        for side, cell in zip(sides, pair, strict=True):
            side.anchors[cell] = f"anchor {pair[1]}"
    return len(pairs)


def matched(bits: dict, hint: dict) -> dict[str, str]:
    """Names that the hint has for what is cut in the bits."""
    sides = (Side(bits), Side(hint))
    while all(side.left() for side in sides):
        for side in sides:
            side.begin()
        found = 0
        for _ in range(STEPS):
            for side in sides:
                side.step()
            found += _anchor(sides, [{c: side.colours[c] for c in side.left()} for side in sides])
        if found:
            continue
        for side in sides:
            side.begin()
            side.step()
        left = [side.left() for side in sides]
        if max(map(len, left)) <= MOST_TURNED and _by_driven(sides, left):
            continue
        if not _choose(sides) and not _rest(sides):
            break
    names = {colour: cell for cell, colour in sides[1].anchors.items()}
    return {cell: names[colour] for cell, colour in sides[0].anchors.items()}


def _by_driven(sides: tuple[Side, Side], left: list[list[str]]) -> bool:
    """Anchors what alone drives what it drives: among all, among what is anchored, and then whatever it computes."""
    for all_, computes in ((True, True), (False, True), (False, False)):
        seen = []
        for side, cells in zip(sides, left, strict=True):
            driven = side.drives(cells, all_)
            seen.append(
                {
                    c: digest(side.colours[c] if computes else side.cells[c]["type"], *sorted(driven[c]))
                    for c in cells
                }
            )
        if _anchor(sides, seen):
            return True
    return False


def _unlike(sides: tuple[Side, Side]) -> int:
    """How many cells have a colour that none of the other circuit has."""
    for side in sides:
        side.begin()
        for _ in range(STEPS):
            side.step()
    counts = [Counter(side.colours.values()) for side in sides]
    return sum(((counts[0] - counts[1]) + (counts[1] - counts[0])).values())


def _choose(sides: tuple[Side, Side]) -> bool:
    """Of what cannot be told apart, one is taken for the one with which the circuits are most alike."""
    classes: list[dict[str, list[str]]] = []
    for side in sides:
        members = defaultdict(list)
        for cell in sorted(side.left()):
            members[side.colours[cell]].append(cell)
        classes.append(members)
    same = [c for c in classes[0] if len(classes[0][c]) == len(classes[1].get(c, [])) > 0]
    if not same:
        return False
    colour = min(same, key=lambda c: (len(classes[0][c]), c))
    one = classes[0][colour][0]
    best: tuple[int, str] | None = None
    for other in classes[1][colour][:MOST_TRIED]:
        sides[0].anchors[one] = sides[1].anchors[other] = f"anchor {other}"
        wrong = _unlike(sides)
        del sides[0].anchors[one], sides[1].anchors[other]
        if best is None or wrong < best[0]:
            best = wrong, other
        if not wrong:
            break
    assert best is not None
    sides[0].anchors[one] = sides[1].anchors[best[1]] = f"anchor {best[1]}"
    return True


def _rest(sides: tuple[Side, Side]) -> bool:
    """Of what is left of a kind, as much on both sides, what is most alike by what arrives and by what it drives."""
    left = [side.left() for side in sides]
    kinds = [
        Counter(side.cells[cell]["type"] for cell in cells) for side, cells in zip(sides, left, strict=True)
    ]
    wanted = {kind for kind in kinds[0] if kinds[0][kind] == kinds[1][kind] <= MOST_LEFT}
    about: list[dict[str, frozenset]] = []
    for side, cells in zip(sides, left, strict=True):
        cells = [cell for cell in cells if side.cells[cell]["type"] in wanted]
        side.begin()
        v = side.simulation.run(side.inputs(), lambda *_: None)
        driven = side.drives(cells, False)
        arrives = {
            cell: {(pin, hash(tuple(get(v, bit) for bit in bits))) for pin, bits in side.points[cell]}
            for cell in cells
        }
        about.append({cell: driven[cell] | arrives[cell] for cell in cells})
    pairs = [
        (len(ours & theirs), one, other)
        for one, ours in about[0].items()
        for other, theirs in about[1].items()
        if sides[0].cells[one]["type"] == sides[1].cells[other]["type"]
    ]
    if not pairs:
        return False
    _, one, other = max(pairs)
    sides[0].anchors[one] = sides[1].anchors[other] = f"anchor {other}"
    return True


def named(bits: dict, hint: dict, names: dict[str, str]) -> dict:
    """The circuit of the bits, with names of the hint for what is cut and for its signals."""
    cells = {}
    for name, cell in bits["cells"].items():
        cells[names.get(name, name)] = cell
    if len(cells) != len(bits["cells"]):
        raise ValueError("two cells have one name")
    theirs: dict[object, object] = {"0": "0", "1": "1", "x": "x"}
    for name, cell in cells.items():
        other = hint["cells"].get(name)
        if other is None or cell["type"] not in CUT:
            continue
        for pin, signals in cell["connections"].items():
            for mine, signal in zip(signals, other["connections"].get(pin, []), strict=False):
                if isinstance(signal, int) and (pin == "Q" or pin.startswith(("DO", "P"))):
                    theirs[signal] = mine
    ports = bits["ports"]
    for name, port in hint["ports"].items():
        if name in ports:
            theirs.setdefault(port["bits"][0], ports[name]["bits"][0])
    free = 1 << 40
    netnames = {}
    for name, net in hint["netnames"].items():
        found = []
        for signal in net["bits"]:
            if signal not in theirs:
                free += 1
            found.append(theirs.get(signal, free))
        netnames[name] = {**net, "bits": found}
    return {**bits, "cells": cells, "netnames": netnames}
