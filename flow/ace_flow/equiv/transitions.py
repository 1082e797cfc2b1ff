# SPDX-License-Identifier: Apache-2.0
"""Both machines with what is the same tied, and the points at which they are compared."""

from collections import defaultdict

from ace_flow.equiv.derive import Function
from ace_flow.equiv.machine import Machine, Write
from ace_flow.equiv.match import Matching
from ace_flow.equiv.netlist import Netlist
from ace_flow.equiv.rtl import Rtl
from ace_flow.equiv.simulate import stem
from ace_flow.equiv.states import States
from ace_flow.prove.gates import FALSE, TRUE, Graph, Literal
from ace_flow.tools import ToolError

Pair = tuple[Literal, Literal]
Key = tuple[str, str]


class Tied:
    """What was found to be the same is one input."""

    def __init__(self, proof: "Proof", prefix: str):
        self.proof, self.prefix = proof, prefix
        self.multiplies = proof.matching.outsides[0].multiplies

    def state(self, register: str) -> Literal:
        return self.proof.state((self.prefix, register))

    def read(self, port: str, columns: list[str], address: list[Literal]) -> list[Literal]:
        where = self.proof.matching.keys[self.prefix, port]
        colours = [self.proof.matching.columns[self.prefix, column] for column in columns]
        if self.prefix == "rtl":
            self.proof.asked_columns += [("rtl", column) for column in columns]
        self.proof.reads[where].append((f"{self.prefix} {port}", set(colours), address))
        number = self.proof.number(("read", where))
        if self.prefix == "netlist":
            constant = [
                column for column, colour in zip(columns, colours, strict=True) if colour[0] == "constant"
            ]
            self.proof.asked_columns += [("netlist", column) for column in constant]
        return [
            int(colour[1])
            if colour[0] == "constant"
            else self.proof.graph.input(f"read {number} {self.proof.number(colour)}")
            for colour in colours
        ]

    def used(self, column: str) -> None:
        self.proof.asked_columns.append((self.prefix, column))

    def product(self, name: str, one: list[Literal], other: list[Literal]) -> list[Literal]:
        key = self.proof.matching.keys[self.prefix, name]
        if self.proof.matching.turned[self.prefix, name]:
            one, other = other, one
        self.proof.products[key].append((f"{self.prefix} {name}", one, other))
        number = self.proof.number(("product", key))
        return [self.proof.graph.input(f"product {number} {bit}") for bit in range(36)]


class Proof:
    """Both machines with what is the same tied, and the points at which they are compared."""

    def __init__(self, matching: Matching):
        self.matching = matching
        self.graph = Graph()
        self.numbers: dict[object, int] = {}
        self.reads: dict[object, list] = defaultdict(list)
        self.products: dict[object, list] = defaultdict(list)
        self.asked: list[Key] = []
        self.asked_columns: list[Key] = []
        self.known: dict[Key, Literal] = {}
        self.classes: dict[object, list[Key]] = defaultdict(list)
        for key, colour in matching.colours.items():
            self.classes[colour].append(key)
        self.columns: dict[object, list[Key]] = defaultdict(list)
        for key, colour in matching.columns.items():
            self.columns[colour].append(key)
        self.written: dict[Key, list[Write]] = {}
        self.states: dict[str, States] = {}
        modules = [machine.module for machine in matching.machines]
        self.rtl = Rtl(self.graph, Tied(self, "rtl"), modules[0], "rtl")
        self.netlist = Netlist(self.graph, Tied(self, "netlist"), modules[1], "netlist")
        self.rtl.build(matching.tiles)
        self.netlist.build(modules[0].get("memories", {}))
        self.points: dict[str, list[Pair]] = {}
        # What has no partner, and what is assumed of the time before the first reset.
        self.open: list[str] = []
        self.assumed: set[str] = set()
        self.counts = {
            "registers": 0,
            "constant": 0,
            "merged": 0,
            "recoded": 0,
            "derived": 0,
            "columns": 0,
            "products": 0,
        }

    def machine(self, key: Key) -> Machine:
        return self.netlist if key[0] == "netlist" else self.rtl

    def number(self, of: object) -> int:
        return self.numbers.setdefault(of, len(self.numbers))

    def state(self, key: Key) -> Literal:
        """What a register is; whoever asks has it proven."""
        if key in self.known:
            return self.known[key]
        colour = self.matching.colours[key]
        self.asked.append(key)
        if colour[0] == "constant":
            literal = int(colour[1])
        elif colour[0] == "states":
            literal = self._recoded(colour[1])[key]
        elif colour[0] == "function":
            literal = self._function(key, [self.state(one) for one in colour[1].registers])
        else:
            members = self.classes[colour]
            # Without a partner it is free: nothing is known of it, and nothing has to be proven.
            alone = len(members) > 1 and not any(one[0] == "netlist" for one in members)
            literal = self.graph.input(f"state {self.number(key if alone else colour)}")
        self.known[key] = literal
        return literal

    def _function(self, key: Key, bits: list[Literal]) -> Literal:
        """What a register is that is a function of others, for values of these."""
        words = self.rtl.words
        return self.matching.colours[key][1].of(bits, words.both, words.either, TRUE)

    def _recoded(self, name: str) -> dict[Key, Literal]:
        states = next(one for one in self.matching.states if one.name == name)
        words = self.rtl.words
        free = [self.graph.input(f"{name}[{place}]") for place in range(len(states.rtl))]
        bits, hot = states.split(free, words.both, words.either, TRUE)
        self.states[name] = states
        known = {("rtl", one): bit for one, bit in zip(states.rtl, bits, strict=True)}
        known |= {("netlist", one): bits[place] for one, place in states.kept.items()}
        return known | {("netlist", one): bit for one, bit in zip(states.netlist, hot, strict=True) if one}

    def point(self, name: str, pairs: list[Pair]) -> None:
        if name in self.points:
            raise ToolError(f"two points are called {name}")
        self.points[name] = pairs

    def collect(self) -> None:
        """All points, from the outputs on: of what nothing depends on there are none."""
        outputs = dict(self.rtl.outputs())
        for name, literal in self.netlist.outputs():
            self.point(f"output {name}", [(outputs.pop(name), literal)])
        if outputs:
            raise ToolError(f"outputs of the RTL only: {', '.join(outputs)}")
        done: set[object] = set()
        while self.asked or self.asked_columns:
            if self.asked:
                key = self.asked.pop()
                colour = self.matching.colours[key]
                if colour[0] == "states":
                    if ("states", colour[1]) not in done:
                        done.add(("states", colour[1]))
                        self._states(colour[1])
                elif key not in done:
                    done.add(key)
                    self._register(key, colour)
            else:
                key = self.asked_columns.pop()
                if key not in done:
                    done.add(key)
                    self._column(key)
        for where, ports in self.reads.items():
            for name, _, address in ports[1:]:
                pairs = list(zip(ports[0][2], address, strict=True))
                self.point(f"address of {name} ({self.number(('read', where))})", pairs)
        for one, *others in self.products.values():
            for name, a, b in others:
                self.counts["products"] += name.startswith("netlist")
                self.point(f"operands of {name}", list(zip([*one[1], *one[2]], [*a, *b], strict=True)))
        for machine in (self.rtl, self.netlist):
            for name, both in machine.exclusive.items():
                self.point(f"two writes of {name} ({machine.prefix})", [(both, FALSE)])

    def _register(self, key: Key, colour: tuple) -> None:
        register = self.machine(key).registers[key[1]]
        name = f"register {key[1]} ({key[0]})"
        if colour[0] == "constant":
            value = int(colour[1])
            self.counts["constant"] += 1
            off = register.reset()
            wrong = off if register.value != value else FALSE
            begins = register.initial in ("x", str(value))
            self.point(
                name, [(register.following(), value), (wrong, FALSE), (TRUE if begins else FALSE, TRUE)]
            )
            return
        if colour[0] == "function":
            self._derived(key, colour[1])
            return
        members = self.classes[colour]
        mine = [one for one in members if one[0] == "rtl"]
        if not mine:
            self.open.append(f"{name} of the netlist has no partner")
            return
        if len(mine) == len(members):
            return
        first = self.rtl.registers[mine[0][1]]
        if key == mine[0]:
            return
        self.counts["registers" if key[0] == "netlist" else "merged"] += 1
        resets = first.reset(), register.reset()
        values = (first.value, register.value) if FALSE not in resets else (0, 0)
        starts = {self.machine(one).registers[one[1]].initial for one in members} - {"x"}
        self.point(
            name,
            [
                (first.following(), register.following()),
                (first.clock(), register.clock()),
                resets,
                values,
                (TRUE if len(starts) < 2 else FALSE, TRUE),
            ],
        )

    def _derived(self, key: Key, function: Function) -> None:
        """The next value is that function of the next values, if they have the same clock and no reset without one."""
        self.counts["derived"] += 1
        register = self.machine(key).registers[key[1]]
        others = [self.machine(one).registers[one[1]] for one in function.registers]
        pairs = [(self._function(key, [one.following() for one in others]), register.following())]
        pairs += [(one.clock(), register.clock()) for one in others]
        pairs += [(one.reset(), FALSE) for one in (register, *others)]
        self.point(f"register {key[1]} ({key[0]})", pairs)
        starts = [one.initial for one in others]
        begins = "x" if "x" in starts else str(self._function(key, [int(start) for start in starts]))
        if begins == "x" or begins != register.initial:
            names = " and ".join(sorted({self._name(one) for one in function.registers}))
            self.assumed.add(f"{key[1]} is its function of {names} before it is first set")

    def _name(self, key: Key) -> str:
        """What the RTL calls the word of a register, if it has it."""
        members = [key, *self.classes[self.matching.colours[key]]]
        return stem(next((name for prefix, name in members if prefix == "rtl"), key[1])).removeprefix(
            "$driver$"
        )

    def _states(self, name: str) -> None:
        """The next value is one of the codes, and every bit of the netlist is 1 for its own."""
        states = self.states[name]
        self.counts["recoded"] += sum(one != "" for one in states.netlist)
        self.counts["registers"] += len(states.kept)
        mine = [self.rtl.registers[one] for one in states.rtl]
        following = [one.following() for one in mine]
        words = self.rtl.words
        wanted = [
            words.all([bit ^ (code >> place & 1) ^ 1 for place, bit in enumerate(following)])
            for code in states.codes
        ]
        start = sum(one.value << place for place, one in enumerate(mine))
        begins = mine[0].reset() == FALSE or start in states.codes
        self.point(f"states of {name}", [(words.any(wanted), TRUE), (TRUE if begins else FALSE, TRUE)])
        for name_, then, code in zip(states.netlist, wanted, states.codes, strict=True):
            if not name_:
                continue
            one = self.netlist.registers[name_]
            pairs = [(then, one.following()), (mine[0].clock(), one.clock())]
            pairs += [(register.reset(), one.reset()) for register in mine]
            if mine[0].reset() != FALSE:
                pairs.append((int(code == start), one.value))
            self.point(f"register {one.name} (netlist)", pairs)
        for name_, place in states.kept.items():
            one = self.netlist.registers[name_]
            pairs = [(mine[place].following(), one.following()), (mine[0].clock(), one.clock())]
            pairs += [(register.reset(), one.reset()) for register in mine]
            if mine[0].reset() != FALSE:
                pairs.append((start >> place & 1, one.value))
            self.point(f"register {one.name} (netlist)", pairs)
        begun = [
            at
            for at, one in zip(states.codes, states.netlist, strict=True)
            if one and self.netlist.registers[one].initial == "1"
        ]
        kept = {place: self.netlist.registers[one].initial for one, place in states.kept.items()}
        if len(begun) != 1 or any(begun[0] >> place & 1 != int(one == "1") for place, one in kept.items()):
            self.assumed.add(f"{name} is one of its states before it is first set")

    def _column(self, key: Key) -> None:
        """What is written to a column, and what it holds at first."""
        machine = self.machine(key)
        colour = self.matching.columns[key]
        if colour[0] == "constant":
            value = int(colour[1])
            pairs = [(machine.words.both(port.enable, port.data ^ value), FALSE) for port in self.writes(key)]
            begins = set(machine.columns[key[1]].contents) <= {"x", colour[1]}
            self.point(f"column {key[1]} ({key[0]})", [*pairs, (TRUE if begins else FALSE, TRUE)])
            return
        mine = [one for one in self.columns[colour] if one[0] == "rtl"]
        if not mine:
            self.open.append(f"column {key[1]} of the netlist has no partner")
            return
        if key == mine[0]:
            return
        self.counts["columns"] += key[0] == "netlist"
        one, other = self.rtl.columns[mine[0][1]], machine.columns[key[1]]
        words, order = machine.words, self.matching.order
        ports = [[self.writes(which)[at] for at in order[which]] for which in (mine[0], key)]
        pairs: list[Pair] = [] if len(ports[0]) == len(ports[1]) else [(TRUE, FALSE)]
        for ours, theirs in zip(*ports, strict=False):
            pairs += [(ours.clock, theirs.clock), (ours.enable, theirs.enable)]
            bits = zip([*ours.address, ours.data], [*theirs.address, theirs.data], strict=True)
            pairs += [(words.both(a, ours.enable), words.both(b, theirs.enable)) for a, b in bits]
        same = all(a in ("x", b) for a, b in zip(one.contents, other.contents, strict=False))
        self.point(f"column {key[1]} ({key[0]})", [*pairs, (TRUE if same else FALSE, TRUE)])

    def writes(self, key: Key) -> list[Write]:
        if key not in self.written:
            self.written[key] = self.machine(key).columns[key[1]].writes()
        return self.written[key]

    def left(self) -> dict[str, list[Pair]]:
        """The points that are not equal by structure, and which of their bits."""
        found = {}
        for name, pairs in self.points.items():
            if apart := [pair for pair in pairs if pair[0] != pair[1]]:
                found[name] = apart
        return found
