# SPDX-License-Identifier: Apache-2.0
"""Registers that are always a function of others: synthesis puts a register behind a table of constants where the RTL has
one in front of it, and holds both.

Such a function is a proposal like all that matching finds; ace_flow/equiv/transitions.py has it proven by induction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from ace_flow.equiv.simulate import ALL, formula, get, stem

if TYPE_CHECKING:
    from ace_flow.equiv.match import Matching

Key = tuple[str, str]
# Bits of a register whose function others may be.
BITS = 7
# Patterns that have to show a value before it counts, and values that have to be shown.
EVIDENCE = 4
VALUES = 3
# Milliseconds for each question to the solver, and how many of them a table may take.
MILLISECONDS = 5000
QUESTIONS = 40


@dataclass(frozen=True)
class Function:
    """What a register is: an entry of a table, chosen by registers of the same machine, the lowest bit first."""

    registers: tuple[Key, ...]
    table: tuple[int, ...]

    def of(self, bits: list, both: Callable, either: Callable, true: object) -> object:
        """Its value for theirs. Words of a simulation or literals of a graph."""
        answer = 0
        for value, entry in enumerate(self.table):
            if entry:
                here = true
                for place, bit in enumerate(bits):
                    here = both(here, bit if value >> place & 1 else bit ^ true)
                answer = either(answer, here)
        return answer


def derived(matching: Matching) -> dict[Key, tuple]:
    """Colours of the registers without a name that are functions of others."""
    left = [key for key, colour in matching.colours.items() if colour[0] == "left"]
    before = dict(matching.colours), dict(matching.columns)
    matching.colours = before[0] | {key: ("own", key) for key in left}
    matching._once()
    after = {key: get(matching.v, following) for key, (following, *_) in matching.next.items()}
    matching.colours, matching.columns = before
    found: dict[Key, Function] = {}
    for prefix in ("netlist", "rtl"):
        mine = [key for key in left if key[0] == prefix]
        for word in _words(matching, prefix):
            for key, function in _functions(word, mine, after).items():
                if key not in found and not _rests_on(found, function, key):
                    found[key] = function
    return {key: ("function", function) for key, function in _confirmed(matching, found).items()}


def _rests_on(found: dict[Key, Function], function: Function, key: Key) -> bool:
    """Whether a register is behind a function: of two that are functions of each other only one is made out of the other."""
    pending, seen = list(function.registers), set()
    while pending:
        one = pending.pop()
        if one == key:
            return True
        if one not in seen:
            seen.add(one)
            pending += found[one].registers if one in found else ()
    return False


def _words(matching: Matching, prefix: str) -> list[tuple[Key, ...]]:
    """Small registers of a machine, bit by bit: by their names in the netlist, by their own in the RTL."""
    machine = matching.machines[prefix == "netlist"]
    found: dict[frozenset, tuple[Key, ...]] = {}
    if prefix == "rtl":
        words = defaultdict(list)
        for name in machine.registers:
            words[stem(name)].append((prefix, name))
        candidates = [tuple(word) for word in words.values()]
    else:
        drivers = {register.output: (prefix, register.name) for register in machine.registers.values()}
        nets = [net["bits"] for net in machine.module["netnames"].values()]
        candidates = [tuple(drivers[bit] for bit in bits if bit in drivers) for bits in nets]
        candidates = [word for word, bits in zip(candidates, nets, strict=True) if len(word) == len(bits)]
    for word in candidates:
        if 2 <= len(word) <= BITS and len(set(word)) == len(word):
            found.setdefault(frozenset(word), word)
    return list(found.values())


def _functions(word: tuple[Key, ...], left: list[Key], after: dict[Key, int]) -> dict[Key, Function]:
    """Those of the registers that were one of a word in a simulation."""
    shown = []
    for value in range(1 << len(word)):
        here = ALL
        for place, key in enumerate(word):
            here &= after[key] if value >> place & 1 else ALL ^ after[key]
        if here.bit_count() >= EVIDENCE:
            shown.append((value, here))
    found = {}
    for key in left if len(shown) >= VALUES else []:
        if key in word:
            continue
        table, then = [0] * (1 << len(word)), after[key]
        for value, here in shown:
            seen = then & here
            if seen not in (0, here):
                break
            table[value] = int(seen != 0)
        else:
            if 0 < sum(table) < len(shown):
                found[key] = Function(word, tuple(table))
    return found


def _confirmed(matching: Matching, found: dict[Key, Function]) -> dict[Key, Function]:
    """Those that stay what they are, whatever happens, if all of them are; a value that no simulation has shown is
    entered in the table where the solver finds it."""
    found = dict(found)
    while True:
        terms = _Terms(matching, found)
        wrong = []
        for key, function in found.items():
            better = terms.settle(key, function)
            if better is None:
                wrong.append(key)
            else:
                found[key] = better
        if not wrong and all(terms.found[key] == function for key, function in found.items()):
            return found
        for key in wrong:
            del found[key]


class _Terms:
    """The logic of both machines for the solver, with functions in the place of registers."""

    def __init__(self, matching: Matching, found: dict[Key, Function]):
        self.matching, self.found = matching, dict(found)
        self.known: dict[int, z3.BoolRef] = {0: z3.BoolVal(False)}

    def _input(self, name: str) -> z3.BoolRef:
        key = tuple(name.split(":", 1))
        colour = self.matching.colours.get(key, ("input",))
        if key in self.found:
            function = self.found[key]
            return _entry(function, [self._input(f"{one[0]}:{one[1]}") for one in function.registers])
        if colour[0] == "constant":
            return z3.BoolVal(colour[1] == "1")
        return z3.Bool(name)

    def following(self, key: Key) -> z3.BoolRef:
        """The next value of a register."""
        graph, known = self.matching.graph, self.known
        literal = self.matching.next[key][0]
        stack = [literal >> 1]
        while stack:
            node = stack[-1]
            table, inputs = graph.nodes[node]
            if node in known:
                stack.pop()
            elif isinstance(table, str):
                known[node] = self._input(table)
            elif waiting := [at for at in inputs if at not in known]:
                stack += waiting
            else:
                known[node] = formula(table, [known[at] for at in inputs])
        return z3.Not(known[literal >> 1]) if literal & 1 else known[literal >> 1]

    def settle(self, key: Key, function: Function) -> Function | None:
        """The function with entries that were missing, or nothing if it is none."""
        mine, theirs = self.following(key), [self.following(one) for one in function.registers]
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        changed: set[int] = set()
        for _ in range(QUESTIONS):
            solver.push()
            solver.add(mine != _entry(function, theirs))
            answer = solver.check()
            if answer == z3.unsat:
                return function
            if answer != z3.sat:
                return None
            model = solver.model()
            solver.pop()
            value = sum(
                z3.is_true(model.eval(bit, model_completion=True)) << place
                for place, bit in enumerate(theirs)
            )
            if value in changed or function.table[value]:
                return None
            changed.add(value)
            table = list(function.table)
            table[value] = 1
            function = Function(function.registers, tuple(table))
        return None


def _entry(function: Function, bits: list[z3.BoolRef]) -> z3.BoolRef:
    rows = [
        z3.And([bit if value >> place & 1 else z3.Not(bit) for place, bit in enumerate(bits)])
        for value, entry in enumerate(function.table)
        if entry
    ]
    return z3.Or(rows) if rows else z3.BoolVal(False)
