# SPDX-License-Identifier: Apache-2.0
"""Finds out what of the RTL is what of the netlist, before it is proven (ace_flow/equiv/to_rtl.py).

Names say most of it; the rest is seen by what registers compute: registers of one class hold the same random values, the
logic is simulated, and what is not given the same next value leaves the class, until none is split any more. The same
holds for columns of memories. A wrong match makes no proof succeed: it is an assumption that the proof confirms.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import z3

from ace_flow.equiv.derive import derived
from ace_flow.equiv.names import aliases, names_of
from ace_flow.equiv.observe import FIXED, Observed
from ace_flow.equiv.simulate import ALL, Simulation, formula, get, stem, substitute
from ace_flow.equiv.users import Users
from ace_flow.prove.gates import FALSE, Literal

# After so many simulations that split nothing the classes stand.
QUIET = 2
# How often a solver is asked for what tells registers apart, of how many pairs, and for how many milliseconds each.
SEEDS = 40
AT_ONCE = 32
MILLISECONDS = 5000
# Patterns that have to show something before it is believed.
EVIDENCE = 8


class Matching(Observed):
    """Finds the classes."""

    # Made where several registers do the same.
    users: Users | None = None

    def run(self) -> None:
        """Splits classes until they stand."""
        self.simulation = Simulation(self.graph, self._late())
        self.nodes = {self.graph.nodes[node][0]: node for node in self.simulation.inputs}
        self._tie()
        if self.derives:
            self.colours |= derived(self)
        self._refine()
        for _ in range(SEEDS):
            if not self._sow():
                break
            self._refine()
        self._recognise()

    def _recognise(self) -> None:
        """What was found of registers that are coded anew."""
        theirs = {colour: key[1] for key, colour in self.colours.items() if key[0] == "netlist"}
        for states, keys in self.unknown:
            states.netlist += [theirs.get(self.colours.pop(key), "") for key in keys]
            self.colours |= {("netlist", one): ("states", states.name) for one in states.netlist if one}
            for key in keys:
                del self.next[key]
        self.unknown, self.virtual = [], set()

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
            if colour[0] not in FIXED:
                classes[colour].append(key)
        self.seeds = []
        for members in classes.values():
            mine = [key for key in members if key[0] == "rtl"]
            if len(mine) < 2 or len(members) - len(mine) < 2:
                continue
            for pair in pairwise(mine):
                if len(self.seeds) == AT_ONCE or (pair, tuple(mine)) in self.same:
                    continue
                found = self._distinguish(*pair)
                if found is not None:
                    self.seeds.append((found, {stem(name) for _, name in pair}))
                    break
                self.same.add((pair, tuple(mine)))
        return bool(self.seeds)

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
        solver.set("timeout", MILLISECONDS)
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
        began = self.began = dict(names)
        left = [key for key, colour in names.items() if colour[0] == "left" and key not in self.virtual]
        names |= {key: ("own", key) for key in [*left, *self.virtual]}
        ties: dict[tuple[str, str], tuple] = {}
        tried: set[tuple] = set()
        while True:
            self.colours, self.columns = names | ties, dict(columns)
            self._once()
            found = self._ties([key for key in left if key not in ties], names | ties, tried)
            if not found:
                break
            tried |= found.items()
            ties |= self._confirmed(
                {key: colour for key, colour in tried if key not in ties}, names | ties, columns
            )
            columns |= self._constant_columns(names | ties, columns)
        self.columns = dict(columns)
        same = {key: colour for key, colour in self._same(names | ties).items() if key not in ties}
        ties |= self._confirmed(same, names | ties, columns)
        # Those that are the same as one without a name stay with it in the class of those without a name.
        self.columns = columns
        self.colours = {
            key: colour if colour[0] != "own" else began[key] for key, colour in (names | ties).items()
        }

    def alone(self) -> int:
        """How many registers of the netlist are in classes without one of the RTL."""
        mine = {colour for (prefix, _), colour in self.colours.items() if prefix == "rtl"}
        return sum(
            prefix == "netlist" and colour not in mine and colour[0] not in FIXED
            for (prefix, _), colour in self.colours.items()
        )

    def partners(self, word: str, width: int) -> list[str]:
        """The registers of the netlist that are the bits of a word of the RTL, or nothing where there is none."""
        known, theirs = aliases(self.rtl.module), {}
        for (prefix, name), colour in self.colours.items():
            if prefix == "netlist" and colour[0] not in FIXED:
                theirs.setdefault(colour, name)
        found = [""] * width
        for register in self.rtl.registers.values():
            for name, place in names_of(register, known):
                if name == word:
                    found[place] = theirs.get(self.colours["rtl", register.name], "")
        return found

    def _constant_columns(self, colours: dict, columns: dict) -> dict:
        """Columns to which nothing but one value is ever written, in the form of the logic: synthesis leaves them out."""
        known: dict[int, Literal] = {0: FALSE}
        self._know_all(known, colours, columns)
        found = {}
        for key, ports in self.writes.items():
            values = {substitute(self.graph, known, port.data) for port in ports}
            held = set(self.machines[key[0] == "netlist"].columns[key[1]].contents) - {"x"}
            if ports and columns[key][0] != "constant" and values <= {0, 1} and len(values) == 1:
                value = str(values.pop())
                if held <= {value}:
                    found[key] = ("constant", value)
        return found

    def _know_all(self, known: dict[int, Literal], colours: dict, columns: dict) -> dict:
        """Enters all constants and registers of the RTL that are others; the first of each colour."""
        first: dict[object, tuple] = {}
        for key, colour in colours.items():
            if key[0] == "rtl":
                first.setdefault(colour, key)
        for key, colour in colours.items():
            self._know(known, key, colour, first)
        for outside in self.outsides:
            for inputs, read, _ in outside.reads.values():
                for one, column in zip(inputs, read, strict=True):
                    colour = columns.get((outside.prefix, column), ("",))
                    if colour[0] == "constant":
                        known[one >> 1] = int(colour[1])
        return first

    def _same(self, colours: dict) -> dict:
        """Registers of the RTL without a name that may be the same as another one of it: all are taken for the same until
        simulations tell them apart. That finds those, too, that sometimes keep what they hold."""
        whole = self.simulation, self.next, self.writes, self.columns
        self.next, self.writes, self.columns = (
            {key: value for key, value in part.items() if key[0] == "rtl"} for part in whole[1:]
        )
        self.simulation = Simulation(self.graph, self.asked.keys(), self._cone())
        self.colours = {
            key: colour if colour[0] in FIXED else ("own", key) if key in self.virtual else ("same",)
            for key, colour in colours.items()
            if key[0] == "rtl"
        }
        self._refine()
        self.simulation, self.next, self.writes, self.columns = whole
        classes = defaultdict(list)
        for key, colour in self.colours.items():
            if key[0] == "rtl" and colour[0] not in FIXED:
                classes[colour].append(key)
        found = {}
        for members in classes.values():
            named = [key for key in members if colours[key][0] != "own"] or members
            found |= {
                key: colours[named[0]] for key in members if colours[key] == ("own", key) != colours[named[0]]
            }
        return found

    def _cone(self) -> set[int]:
        """The nodes on which next values and what is written depend; memories and multipliers answer to others."""
        wanted: set[int] = set()
        waiting = [literal for following, reset, _ in self.next.values() for literal in (following, reset)]
        waiting += [self.clocks[key] for key in self.next]
        for ports in self.writes.values():
            waiting += [bit for port in ports for bit in (port.enable, port.data, *port.address)]
        waiting = [literal >> 1 for literal in waiting]
        while waiting:
            node = waiting.pop()
            if node not in wanted:
                wanted.add(node)
                waiting += self.graph.nodes[node][1]
                if node in self.asked or node in self.others:
                    waiting += [literal >> 1 for literal in self.questions[node]]
        return wanted

    def _ties(self, left: list, colours: dict, tried: set) -> dict:
        """By what registers do in one simulation; what has been tried is not said again."""
        v, found = self.v, {}
        after = {key: get(v, following) for key, (following, *_) in self.next.items()}
        reset = {
            key: (get(v, off), value, get(v, self.clocks[key])) for key, (_, off, value) in self.next.items()
        }
        # Which classes do the same, by what it is.
        same: dict[object, dict[tuple, None]] = defaultdict(dict)
        for key, word in after.items():
            if colours[key] != ("own", key) and word.bit_count() >= EVIDENCE:
                same[key[0], word, reset[key]][colours[key]] = None
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
                    constant = ("constant", str(value))
                    if not (then ^ wanted) & ~(now ^ wanted) & ALL and (key, constant) not in tried:
                        found[key] = constant
            # What only seems to be constant changes too seldom to be told from others; nothing confirms it in the netlist.
            rare = key[0] == "netlist" and any((key, ("constant", value)) in tried for value in "01")
            if key not in found and not rare and min(then.bit_count(), (then ^ ALL).bit_count()) >= EVIDENCE:
                twins = same[key[0], then, reset[key]]
                twin = self._twin(key, twins) if twins else colours[key]
                twins[twin] = None
                if twin != colours[key] and (key, twin) not in tried:
                    found[key] = twin
        return found

    def _twin(self, key: tuple, twins: dict[tuple, None]) -> tuple:
        """Which of several classes a register without a name is of, all of which do the same as it."""
        if len(twins) > 1 and key[0] == "rtl":
            members = {twin: [one for one, colour in self.began.items() if colour == twin] for twin in twins}
            if self.users is None:
                self.users = Users(self, self.began)
            return self.users.instead(key, members)
        return next(iter(twins))

    def _confirmed(self, ties: dict, colours: dict, columns: dict) -> dict:
        """Those that follow, one by one, from the form of the logic: what is seldom may look as if it never were, and what
        synthesis has not found, must not be tied in the RTL."""
        found = {key: colour for key, colour in ties.items() if key[0] != "rtl" and colour[0] != "constant"}
        sure: dict[int, Literal] = {0: FALSE}
        first = self._know_all(sure, colours, columns)
        waiting = {key: colour for key, colour in ties.items() if key not in found}
        while True:
            more = []
            for key, colour in waiting.items():
                known = dict(sure)
                if not self._know(known, key, colour, first):
                    continue
                node = self.nodes[f"{key[0]}:{key[1]}"]
                wanted = known[node]
                if colour[0] != "constant":
                    wanted = substitute(self.graph, known, self.next[first[colour]][0])
                if substitute(self.graph, known, self.next[key][0]) == wanted:
                    more.append(key)
                    sure[node] = known[node]
            if not more:
                return found
            for key in more:
                found[key] = waiting.pop(key)

    def _know(self, known: dict[int, Literal], key: tuple, colour: tuple, first: dict) -> bool:
        """Enters that a register is a constant, or another register of the RTL; whether it is one of these."""
        node = self.nodes.get(f"{key[0]}:{key[1]}")
        if node is None:
            return False
        if colour[0] == "constant":
            known[node] = int(colour[1])
            return True
        other = self.nodes.get(f"rtl:{first[colour][1]}") if colour in first else None
        if key[0] != "rtl" or other is None or other == node or colour[0] in FIXED:
            return False
        known[node] = 2 * other
        return True
