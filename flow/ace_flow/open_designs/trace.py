# SPDX-License-Identifier: Apache-2.0
"""What shows that a design is another one: values of registers and inputs, and what either side makes of them."""

from collections import defaultdict
from pathlib import Path

from ace_flow.equiv.certificate import CONFLICTS, Clauses, solve
from ace_flow.equiv.transitions import Proof
from ace_flow.prove.gates import Literal

Points = dict[str, list[tuple[Literal, Literal]]]


def called(proof: Proof) -> dict[str, str]:
    """What inputs of the graph stand for, in words of the RTL."""
    found: dict[str, str] = {}
    by_number = {number: of for of, number in proof.numbers.items()}
    members = defaultdict(list)
    for key, colour in proof.matching.colours.items():
        members[colour].append(key)
        members[key].append(key)
    for number, of in by_number.items():
        for prefix, name in sorted(members.get(of, []), key=lambda key: key[0] != "rtl"):
            found[f"state {number}"] = name.removeprefix("$driver$") if prefix == "rtl" else f"{name} (bits)"
            break
    return found


def of(proof: Proof, points: Points, point: str, folder: Path) -> dict[str, dict[str, str]]:
    """Values under which a point differs: those that it depends on, by word, and what either side makes of them."""
    asked = {point: points[point]}
    clauses = Clauses(proof.graph, asked)
    found, model, _ = solve(clauses, folder / "trace.lrat", CONFLICTS)
    if not found:
        return {}
    true = {literal for literal in model if literal > 0}
    names = called(proof)
    values: dict[int, int] = {}
    words: dict[str, dict[int, int]] = defaultdict(dict)
    for node, variable in clauses.variables.items():
        table, inputs = proof.graph.nodes[node]
        if isinstance(table, str):
            values[node] = int(variable in true)
            name = names.get(table, table)
            word, _, bit = name.rpartition("[")
            if word and bit.endswith("]") and bit[:-1].isdigit():
                words[word][int(bit[:-1])] = values[node]
            else:
                words[name][-1] = values[node]
        else:
            row = sum(values[one] << place for place, one in enumerate(inputs))
            values[node] = table >> row & 1
    shown = {}
    for word, bits in sorted(words.items()):
        if -1 in bits:
            shown[word] = str(bits[-1])
        elif set(bits) == {0}:
            shown[word] = str(bits[0])
        else:
            digits = "".join(str(bits.get(place, "-")) for place in reversed(range(max(bits) + 1)))
            shown[word] = digits

    def value(literal: Literal) -> str:
        return str(values[literal >> 1] ^ (literal & 1))

    sides = [[value(pair[side]) for pair in asked[point]] for side in (0, 1)]
    what = ("next value", "clock", "reset", "reset value", "value at first")
    labels = what if point.startswith("register") and len(sides[0]) == len(what) else range(len(sides[0]))
    differ = {
        f"{point}: {label}"
        if isinstance(label, str)
        else f"{point}[{label}]": f"{one} in the RTL, {other} in the bits"
        for label, one, other in zip(labels, *sides, strict=True)
        if one != other
    }
    return {"under these values of registers and inputs": shown, "they differ": differ}
