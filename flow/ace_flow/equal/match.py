# SPDX-License-Identifier: Apache-2.0
"""Finds out what of the RTL is what of the netlist, before it is proven (ace_flow/to_rtl.py).

Names say most of it; the rest is seen by what registers compute: registers of one class hold the same random values, the
logic is simulated, and what is not given the same next value leaves the class, until none is split any more. The same
holds for columns of memories. A wrong match makes no proof succeed: it is an assumption that the proof confirms.
"""

from __future__ import annotations

from collections import defaultdict

import z3

from ..gates import FALSE, Literal
from .observe import Observed
from .simulate import ALL, Simulation, formula, get, stem, substitute

# After so many simulations that split nothing the classes stand.
QUIET = 2
# How often a solver is asked for what tells registers apart.
SEEDS = 40
# Patterns that have to show something before it is believed.
EVIDENCE = 8
# Simulations that choose between codes for them.
DECODED = 3


class Matching(Observed):
    """Finds the classes."""

    def run(self) -> None:
        """Splits classes until they stand."""
        self.simulation = Simulation(self.graph, self._late())
        self.nodes = {self.graph.nodes[node][0]: node for node in self.simulation.inputs}
        self._tie()
        self._decode()
        self._refine()
        for _ in range(SEEDS):
            if not self._sow():
                break
            self._refine()

    def adopt(self, other: Matching) -> None:
        """Takes the classes of another RTL for the same netlist; what is in this one only is alone."""
        self.simulation = Simulation(self.graph, self._late())
        self.nodes = {self.graph.nodes[node][0]: node for node in self.simulation.inputs}
        self.states = other.states
        classes = (
            {key: other.colours.get(key, ("own", key)) for key in self.colours},
            {key: other.columns.get(key, ("own", key)) for key in self.columns},
        )
        self.colours, self.columns = (dict(part) for part in classes)
        self._once()
        self.colours, self.columns = classes

    def _refine(self) -> None:
        quiet = 0
        while quiet < QUIET:
            before = len(set(self.colours.values())) + len(set(self.columns.values()))
            self._once()
            after = len(set(self.colours.values())) + len(set(self.columns.values()))
            quiet = quiet + 1 if before == after else 0

    def _sow(self) -> bool:
        """Asks a solver for what tells registers apart that random values do not, and has simulations begin there."""
        classes = defaultdict(list)
        for key, colour in self.colours.items():
            if colour[0] not in ("states", "constant"):
                classes[colour].append(key)
        for members in classes.values():
            mine = [key for key in members if key[0] == "rtl"]
            if len(mine) < 2 or len(members) - len(mine) < 2 or tuple(mine) in self.same:
                continue
            found = self._distinguish(mine[0], mine[-1])
            if found is not None:
                self.seeds = found
                self.dense = {stem(name) for _, name in mine}
                return True
            self.same.add(tuple(mine))
        return False

    def _distinguish(self, one: tuple, other: tuple) -> dict | None:
        """Values of registers and inputs for which the two get different next values, if there are some."""
        known: dict[int, z3.BoolRef] = {0: z3.BoolVal(False)}
        names: dict[str, list[str]] = defaultdict(list)
        ends = [self.next[one][0], self.next[other][0]]
        stack = [end >> 1 for end in ends]
        while stack:
            node = stack[-1]
            table, inputs = self.graph.nodes[node]
            if node in known:
                stack.pop()
            elif isinstance(table, str):
                colour = self.colours.get(tuple(table.split(":", 1)), table)
                if colour[0] == "constant":
                    known[node] = z3.BoolVal(colour[1] == "1")
                else:
                    names[str(colour)].append(table)
                    known[node] = z3.Bool(str(colour))
            elif waiting := [at for at in inputs if at not in known]:
                stack += waiting
            else:
                known[node] = formula(table, [known[at] for at in inputs])
        solver = z3.Solver()
        solver.set("timeout", 20000)
        bits = [z3.Not(known[end >> 1]) if end & 1 else known[end >> 1] for end in ends]
        solver.add(bits[0] != bits[1])
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return {
            name: z3.is_true(model.eval(z3.Bool(colour)))
            for colour, inputs in names.items()
            for name in inputs
        }

    def _tie(self) -> None:
        """Finds registers without a name that are constant or the same as another one of their machine."""
        names, columns = dict(self.colours), dict(self.columns)
        left = [key for key, colour in names.items() if colour[0] == "left"]
        names |= {key: ("own", key) for key in left}
        ties: dict[tuple[str, str], tuple] = {}
        while True:
            self.colours, self.columns = names | ties, dict(columns)
            self._once()
            found = self._ties([key for key in left if key not in ties], names | ties)
            if not found:
                break
            ties |= found
        self._confirm(ties, names)
        # Those that are the same as one without a name stay with it in the class of those without a name.
        self.columns = columns
        self.colours = {
            key: colour if colour[0] != "own" else ("left",) for key, colour in (names | ties).items()
        }

    def _decode(self) -> None:
        """Finds out for which state each bit stands that synthesis made of one."""
        before = dict(self.colours), dict(self.columns)

        def restore() -> None:
            self.colours, self.columns = (dict(part) for part in before)

        for states in self.states:
            fitting = []
            for codes in states.guesses():
                states.codes = codes
                restore()
                self._once()
                here = [get(self.v, self.next["rtl", name][0]) for name in states.rtl]
                wanted = states.split(here, int.__and__, int.__or__, ALL)[1]
                if all(
                    not name or get(self.v, self.next["netlist", name][0]) == word
                    for name, word in zip(states.netlist, wanted, strict=True)
                ):
                    fitting.append(codes)
            scores = {}
            for codes in fitting if len(fitting) > 1 else []:
                states.codes = codes
                restore()
                for _ in range(DECODED):
                    self._once()
                scores[tuple(codes)] = self.alone()
            states.codes = min(fitting, key=lambda codes: scores.get(tuple(codes), 0), default=[])
        restore()

    def alone(self) -> int:
        """How many registers of the netlist are in classes without one of the RTL."""
        mine = {colour for (prefix, _), colour in self.colours.items() if prefix == "rtl"}
        return sum(prefix == "netlist" and colour not in mine for (prefix, _), colour in self.colours.items())

    def _ties(self, left: list, colours: dict) -> dict:
        """By what registers do in one simulation."""
        v, found = self.v, {}
        after = {key: get(v, following) for key, (following, *_) in self.next.items()}
        reset = {key: (get(v, off), value) for key, (_, off, value) in self.next.items()}
        same: dict[object, tuple] = {}
        for key, word in after.items():
            if colours[key] != ("own", key) and word.bit_count() >= EVIDENCE:
                same.setdefault((key[0], word, reset[key]), colours[key])
        held = {}
        for key in left:
            node = self.nodes.get(f"{key[0]}:{key[1]}")
            if node is not None:
                held[key] = v[node]
        for key, now in held.items():
            then = after[key]
            if then != now:
                for value in (reset[key][1],) if reset[key][0] else (0, 1):
                    wanted = ALL if value else 0
                    if not (then ^ wanted) & ~(now ^ wanted) & ALL:
                        found[key] = ("constant", str(value))
            if key not in found and min(then.bit_count(), (then ^ ALL).bit_count()) >= EVIDENCE:
                twin = same.setdefault((key[0], then, reset[key]), colours[key])
                if twin != colours[key]:
                    found[key] = twin
        return found

    def _confirm(self, ties: dict, colours: dict) -> None:
        """Takes back ties of the RTL that do not follow, one by one, from the form of its logic: what is seldom may look as
        if it never were, and what synthesis has not found, must not be tied here."""
        waiting = {key: colour for key, colour in ties.items() if key[0] == "rtl" or colour[0] == "constant"}
        for key in waiting:
            del ties[key]
        sure: dict[int, Literal] = {0: FALSE}
        while True:
            first: dict[object, tuple] = {}
            for key, colour in (colours | ties).items():
                if key[0] == "rtl":
                    first.setdefault(colour, key)
            found = []
            for key, colour in waiting.items():
                node = self.nodes[f"{key[0]}:{key[1]}"]
                known = dict(sure)
                if colour[0] == "constant":
                    wanted = known[node] = int(colour[1])
                elif (
                    other := self.nodes.get(f"rtl:{first[colour][1]}" if colour in first else "")
                ) is not None:
                    known[node] = 2 * other
                    wanted = substitute(self.graph, known, self.next[first[colour]][0])
                else:
                    continue
                if substitute(self.graph, known, self.next[key][0]) == wanted:
                    found.append(key)
                    sure[node] = known[node]
                    ties[key] = colour
            if not found:
                return
            for key in found:
                del waiting[key]
