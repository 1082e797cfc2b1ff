# SPDX-License-Identifier: Apache-2.0
"""The RTL and the netlist side by side, nothing of them tied, under random values: what registers and memories do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from ace_flow.equiv.machine import Machine, Write
from ace_flow.equiv.names import aliases, bits_named, group, names_of
from ace_flow.equiv.netlist import Netlist
from ace_flow.equiv.rtl import Rtl
from ace_flow.equiv.simulate import ALL, Noise, get, slice_of, stem
from ace_flow.equiv.states import States
from ace_flow.prove.gates import FALSE, Graph, Literal

# Colours that no simulation changes: what they say is the value of a register.
FIXED = ("states", "constant", "function")
# A register: its machine's prefix, and its name.
Key = tuple[str, str]


def _left(reset: Literal, value: int) -> tuple:
    """The class of those of which no name says anything: what they are reset to."""
    return ("left", "" if reset == FALSE else value)


class Free:
    """Nothing is tied: every register, read and product is an input of its own, by machine and name."""

    def __init__(self, graph: Graph, prefix: str, multiplies: bool):
        self.graph, self.prefix, self.multiplies = graph, prefix, multiplies
        # Node of the first input of a port → its inputs, columns and address.
        self.reads: dict[str, tuple[list[Literal], list[str], list[Literal]]] = {}
        self.products: dict[str, tuple[list[Literal], list[Literal], list[Literal]]] = {}

    def state(self, register: str) -> Literal:
        return self.graph.input(f"{self.prefix}:{register}")

    def read(self, port: str, columns: list[str], address: list[Literal]) -> list[Literal]:
        inputs = [self.graph.input(f"{self.prefix}:{port}:{column}") for column in columns]
        self.reads[port] = (inputs, columns, address)
        return inputs

    def used(self, column: str) -> None:
        pass

    def product(self, name: str, one: list[Literal], other: list[Literal]) -> list[Literal]:
        inputs = [self.graph.input(f"{self.prefix}:{name}:{bit}") for bit in range(36)]
        self.products[name] = (inputs, one, other)
        return inputs


class Observed:
    """Classes of registers and of columns of both machines, by (machine's prefix, name)."""

    def __init__(
        self,
        rtl_module: dict,
        netlist_module: dict,
        tiles: dict[str, tuple[int, int]],
        codes: dict[str, list[int]] | None = None,
        hot: dict[str, list[str]] | None = None,
        derives: bool = False,
        by_state: bool = True,
    ):
        """`codes`: what synthesis has coded anew (ace_flow/equiv/states.py), and `hot` the registers of the netlist where
        names do not say them. `derives`: look for registers that are functions of others, too. `by_state`: find out what
        names do not say of states by what they do."""
        self.states: list[States] = []
        # Those of which nothing says what they are in the netlist.
        self.nameless: list[str] = []
        self.derives = derives
        self.by_state = by_state
        # What is coded anew and of which names say nothing; for each of its values a register that says whether it is that.
        self.unknown: list[tuple[States, list[Key]]] = []
        self.virtual: set[Key] = set()
        graph = self.graph = Graph()
        multiplies = any(c["type"] == "MULT18X18D" for c in netlist_module["cells"].values())
        self.outsides = [Free(graph, prefix, multiplies) for prefix in ("rtl", "netlist")]
        self.rtl = Rtl(graph, self.outsides[0], rtl_module, "rtl")
        self.netlist = Netlist(graph, self.outsides[1], netlist_module, "netlist")
        self.tiles = tiles
        self.rtl.build(tiles)
        self.netlist.build(rtl_module.get("memories", {}))
        self.machines: list[Machine] = [self.rtl, self.netlist]
        self.noise = Noise()
        # What a solver found: values of registers and inputs, and words of which most bits shall be 1 there.
        self.seeds: list[tuple[dict[str, bool], set[str]]] = []
        self.same: set[tuple] = set()
        self.colours: dict[Key, object] = {}
        self.columns: dict[Key, object] = {}
        self.next: dict[Key, tuple[Literal, Literal, int]] = {}
        # Registers of several clocks are never the same.
        self.clocks: dict[Key, Literal] = {}
        self._begin_registers(codes or {}, hot or {})
        self._evaluate()
        self._begin_columns()

    def _begin_registers(self, codes: dict[str, list[int]], hot: dict[str, list[str]]) -> None:
        """What names say. A name of another width than in the RTL says nothing."""
        widths = {name: len(net["bits"]) for name, net in self.rtl.module["netnames"].items()}
        named = bits_named(self.rtl.module, self.netlist.module)
        drivers = {register.output: register.name for register in self.netlist.registers.values()}
        known = aliases(self.rtl.module)
        taken, words, nets_of = set(), defaultdict(dict), {}
        for register in self.rtl.registers.values():
            own = names_of(register, known)
            for name, place in own:
                if name in codes:
                    words[name][place] = register.name
            bits = [named[name] for name in own if name in named]
            nets = nets_of[register.name] = [bit for bit in bits if bit in drivers]
            if nets:
                self.colours["rtl", register.name] = ("net", nets[0])
                taken.add(nets[0])
            elif any(bit in ("0", "1") for bit in bits):
                self.colours["rtl", register.name] = (
                    "constant",
                    next(bit for bit in bits if bit in ("0", "1")),
                )
            else:
                self.colours["rtl", register.name] = _left(register.reset(), register.value)
        for register in self.netlist.registers.values():
            known_as = (
                ("net", register.output)
                if register.output in taken
                else _left(register.reset(), register.value)
            )
            self.colours["netlist", register.name] = known_as
        for name, bits in words.items():
            net = self.netlist.module["netnames"].get(name, {"bits": []})["bits"]
            named_so = [drivers.get(bit, "") for bit in net] if len(net) == len(codes[name]) else []
            theirs = named_so if any(named_so) else hot.get(name, [])
            if len(bits) != widths[name] or not any(theirs):
                self.nameless.append(name)
                if self.by_state and len(bits) == widths[name]:
                    self._virtual(States(name, [bits[place] for place in sorted(bits)], [], codes[name]))
                continue
            # A state of which the netlist says that it never is, is none: the proof has to show so.
            never = {
                code for bit, code in zip(net, codes[name], strict=False) if bit == "0" and theirs is named_so
            }
            values = [code for code in codes[name] if code not in never]
            theirs = [one for one, code in zip(theirs, codes[name], strict=True) if code not in never]
            kept = {drivers[net]: place for place, bit in bits.items() for net in nets_of[bit]}
            kept = {one: place for one, place in kept.items() if one not in theirs}
            states = States(name, [bits[place] for place in sorted(bits)], theirs, values, kept)
            self.states.append(states)
            for key in [
                *(("rtl", bit) for bit in states.rtl),
                *(("netlist", one) for one in (*states.netlist, *kept) if one),
            ]:
                self.colours[key] = ("states", states.name)

    def _virtual(self, states: States) -> None:
        """Has a register for each value that another one may have: which of the netlist it is, is seen by what it does."""
        self.states.append(states)
        self.colours |= {("rtl", bit): ("states", states.name) for bit in states.rtl}
        keys = [("rtl", f"{states.name} is {code}") for code in states.codes]
        self.unknown.append((states, keys))
        self.virtual |= set(keys)
        for key, code in zip(keys, states.codes, strict=True):
            self.next[key] = self._becomes(states, code)
            self.clocks[key] = self.rtl.registers[states.rtl[0]].clock()
            self.colours[key] = _left(*self.next[key][1:])

    def _becomes(self, states: States, code: int) -> tuple[Literal, Literal, int]:
        """Whether a register gets a value; when it is reset, and whether to that."""
        mine = [self.rtl.registers[name] for name in states.rtl]
        bits = [one.following() ^ (code >> at & 1) ^ 1 for at, one in enumerate(mine)]
        start = sum(one.value << at for at, one in enumerate(mine))
        return self.rtl.words.all(bits), mine[0].reset(), int(start == code)

    def _evaluate(self) -> None:
        """Makes all logic that anything depends on."""
        for machine in self.machines:
            for register in machine.registers.values():
                self.clocks[machine.prefix, register.name] = register.clock()
                self.next[machine.prefix, register.name] = (
                    register.following(),
                    register.reset(),
                    register.value,
                )
            list(machine.outputs())
        self.writes: dict[Key, list[Write]] = {}
        read: set[Key] = set()
        while True:
            more = {
                (outside.prefix, column)
                for outside in self.outsides
                for _, columns, _ in outside.reads.values()
                for column in columns
            } - read
            if not more:
                break
            read |= more
            for prefix, name in sorted(more):
                machine = self.machines[prefix == "netlist"]
                self.writes[prefix, name] = machine.columns[name].writes()

    def _begin_columns(self) -> None:
        """Columns of a memory by its name; of tables by what they hold."""
        defined = {
            name.rpartition(".")[0]
            for name, column in self.rtl.columns.items()
            if set(column.contents) - {"x"}
        }
        for prefix, name in self.writes:
            machine = self.machines[prefix == "netlist"]
            stem = group(name, prefix)
            held = machine.columns[name].contents.replace("x", "0").rstrip("0") if stem in defined else ""
            self.columns[prefix, name] = (stem, held)

    def _late(self) -> set[int]:
        """The nodes at which a simulation has to ask: the first inputs of reads and products."""
        self.asked: dict[int, tuple[str, str, str]] = {}
        # For every answer of a memory or multiplier: on what it depends, and all answers that come with it.
        self.questions: dict[int, list[Literal]] = {}
        for outside in self.outsides:
            every = [("read", name, found, address) for name, (found, _, address) in outside.reads.items()]
            every += [
                ("product", name, found, [*one, *other])
                for name, (found, one, other) in outside.products.items()
            ]
            for kind, name, found, depends in every:
                if found:
                    self.asked[found[0] >> 1] = (kind, outside.prefix, name)
                self.questions |= {bit >> 1: [*found, *depends] for bit in found}
        self.others = self.questions.keys() - self.asked.keys()
        # The registers whose values are inputs of the logic, by node; and the words of those of the RTL.
        self.owners = {}
        for key in self.colours:
            node = self.graph.known.get((":".join(key), ()))
            if node is not None:
                self.owners[node] = key
        self.stems = [(key, stem(key[1])) for key in self.colours if key[0] == "rtl"]
        return set(self.asked)

    def _hot(self, held: dict[Key, int]) -> dict[object, int]:
        """Values of registers that are coded anew and have no partners yet, which are entered, and what follows for
        classes, as far as these tell the values apart."""
        values: dict[object, int] = {}
        for states, keys in self.unknown:
            colours = [self.colours[key] for key in keys]
            alone = [place for place, colour in enumerate(colours) if colours.count(colour) == 1]
            seen = States(states.name, [], [], [states.codes[place] for place in alone] or states.codes)
            width = len(states.rtl)
            bits, hot = seen.split([self.noise.bits() for _ in range(width)], int.__and__, int.__or__, ALL)
            held |= zip((("rtl", name) for name in states.rtl), bits, strict=True)
            if alone:
                values |= dict.fromkeys(colours, 0)
                values |= zip((colours[place] for place in alone), hot, strict=True)
        return values

    def _once(self) -> None:
        """Simulates once; classes become what was seen."""
        noise, word = self.noise, self.noise.word
        noise.begin()
        # What registers hold: those of a class the same, the others by machine and name.
        stems: dict[object, str] = {}
        for key, of in self.stems:
            stems.setdefault(self.colours[key], of)
        alike: dict[object, int] = {}
        held: dict[Key, int] = {}
        for states in self.states:
            if any(of is states for of, _ in self.unknown):
                continue
            free = [word(("states", name), states.name) for name in states.rtl]
            one_hot = [word(("states", name), name) for name in states.netlist]
            if states.codes:
                free, one_hot = states.split(free, int.__and__, int.__or__, ALL)
            both = zip([*states.rtl, *states.netlist], [*free, *one_hot], strict=True)
            for place, (name, value) in enumerate(both):
                held["rtl" if place < len(states.rtl) else "netlist", name] = value
            held |= {("netlist", one): free[place] for one, place in states.kept.items()}
        sow = self._sown(stems)
        for colour in set(self.colours.values()):
            if colour[0] == "constant":
                alike[colour] = ALL if colour[1] == "1" else 0
            elif colour[0] not in FIXED:
                alike[colour] = sow(colour, word(("register", colour), stems.get(colour, colour)))
        alike |= self._hot(held)

        def holds(key: Key) -> int:
            colour = self.colours[key]
            if colour[0] == "function":
                bits = [holds(one) for one in colour[1].registers]
                return colour[1].of(bits, int.__and__, int.__or__, ALL)
            return held[key] if colour[0] == "states" else alike[colour]

        values: dict[int, int] = {}
        for node in self.simulation.inputs:
            name = self.graph.nodes[node][0]
            if node in self.owners:
                values[node] = holds(self.owners[node])
            elif node not in self.others:
                values[node] = sow(name, word(("input", name), name.partition("[")[0]))
        v = self.v = self.simulation.run(values, self._answers())
        self._split(v)

    def _sown(self, stems: dict[object, str]) -> Callable[[object, int], int]:
        """Where simulations begin at what a solver found, it is so for every seed in as many patterns; in half of them
        exactly so, in the others bits of the words of which it is about go on to be told apart."""
        noise = self.noise
        sown: dict[object, list[tuple[int, int]]] = defaultdict(list)
        exact = noise.bits()
        for place, (seed, dense) in enumerate(self.seeds):
            here = slice_of(place, len(self.seeds))
            for name, bit in seed.items():
                flips = noise.few() & noise.bits() & noise.bits() & ~exact
                colour = self.colours.get(tuple(name.split(":", 1)), name)
                sown[colour].append((here, ALL ^ flips if bit else flips))
            for colour, of in stems.items():
                if of in dense:
                    sown[colour].append((here & ~exact, noise.dense(colour)))

        def sow(colour: object, value: int) -> int:
            for here, seed in sown.get(colour, ()):
                value = value & ~here | seed & here
            return value

        return sow

    def _answers(self) -> Callable[[int, list[int]], None]:
        """What memories and multipliers answer: the same to the same question."""
        word = self.noise.word
        self.keys: dict[Key, object] = {}
        # Products whose operands were exchanged to compare them.
        self.turned: dict[Key, bool] = {}
        # Addresses and operands by number: words are long.
        numbers: dict[object, int] = {}

        def late(node: int, v: list[int]) -> None:
            kind, prefix, name = self.asked[node]
            outside = self.outsides[prefix == "netlist"]
            if kind == "read":
                found, columns, address = outside.reads[name]
                where = tuple(get(v, bit) for bit in address)
                number = numbers.setdefault(where, len(numbers))
                for one, column in zip(found, columns, strict=True):
                    colour = self.columns[prefix, column]
                    if colour[0] == "constant":
                        v[one >> 1] = ALL if colour[1] == "1" else 0
                    else:
                        v[one >> 1] = word(("read", colour, number), ("read", number))
                self.keys[prefix, name] = ("read", number)
            else:
                found, one, other = outside.products[name]
                sides = [tuple(get(v, bit) for bit in side) for side in (one, other)]
                key = tuple(sorted(sides))
                number = numbers.setdefault(key, len(numbers))
                self.turned[prefix, name] = sides[0] > sides[1]
                for place, bit in enumerate(found):
                    v[bit >> 1] = word(("product", number, place), ("product", number))
                self.keys[prefix, name] = ("product", number)

        return late

    def _split(self, v: list[int]) -> None:
        """Has classes of what was given the same."""
        fresh: dict[Key, object] = {}
        for key, (following, reset, value) in self.next.items():
            then, off, old = get(v, following), get(v, reset), self.colours[key]
            if old[0] in ("states", "function"):
                fresh[key] = old
                continue
            if old[0] == "constant":
                wanted = ALL if old[1] == "1" else 0
                if then == wanted and (not off or value == int(old[1])):
                    fresh[key] = old
                    continue
            clock = get(v, self.clocks[key])
            fresh[key] = ("seen", hash((old, then, clock, off, value if off else 0)))
        self.colours = fresh
        new: dict[Key, object] = {}
        # The ports that write a column, in an order that is the same for the same ones.
        self.order: dict[Key, list[int]] = {}
        places: dict[tuple[Literal, ...], int] = {}
        for key, ports in self.writes.items():
            what = []
            for port in ports:
                at = (port.enable, *port.address)
                if at not in places:
                    on = get(v, port.enable)
                    places[at] = hash(tuple(get(v, bit) & on for bit in port.address))
                on = get(v, port.enable)
                what.append((on, places[at], get(v, port.data) & on))
            self.order[key] = sorted(range(len(ports)), key=lambda place, what=what: what[place])
            new[key] = self.columns[key]
            if new[key][0] != "constant":
                new[key] = ("seen", hash((self.columns[key], *sorted(port for port in what if port[0]))))
        self.columns = new
