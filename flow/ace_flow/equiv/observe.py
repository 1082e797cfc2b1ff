# SPDX-License-Identifier: Apache-2.0
"""The RTL and the netlist side by side, nothing of them tied, under random values: what registers and memories do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from ace_flow.equiv.machine import Machine, Register, Write
from ace_flow.equiv.names import aliases, bits_named, group, names_of
from ace_flow.equiv.netlist import Netlist
from ace_flow.equiv.rtl import Rtl
from ace_flow.equiv.simulate import ALL, Noise, get, slice_of, stem
from ace_flow.equiv.states import States
from ace_flow.prove.gates import FALSE, Graph, Literal

# Colours that no simulation changes: what they say is the value of a register.
FIXED = ("states", "constant", "function")


def _left(register: Register) -> tuple:
    """The class of those of which no name says anything: what they are reset to."""
    return ("left", "" if register.reset() == FALSE else register.value)


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
        one_hot: Iterable[str] = (),
    ):
        """`codes`: what synthesis has coded anew (ace_flow/equiv/states.py), and `hot` the registers of the netlist where
        names do not say them. `derives`: look for registers that are functions of others, too. `one_hot`: words of the RTL
        of which one bit is 1 at any time; synthesis may have made use of that."""
        self.states: list[States] = []
        # Those of which nothing says what they are in the netlist.
        self.nameless: list[str] = []
        self.derives = derives
        self.one_hot = one_hot
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
        self.colours: dict[tuple[str, str], object] = {}
        self.columns: dict[tuple[str, str], object] = {}
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
                self.colours["rtl", register.name] = _left(register)
        for register in self.netlist.registers.values():
            known_as = ("net", register.output) if register.output in taken else _left(register)
            self.colours["netlist", register.name] = known_as
        for name, bits in words.items():
            net = self.netlist.module["netnames"].get(name, {"bits": []})["bits"]
            named_so = [drivers.get(bit, "") for bit in net] if len(net) == len(codes[name]) else []
            theirs = named_so if any(named_so) else hot.get(name, [])
            if len(bits) != widths[name] or not any(theirs):
                self.nameless.append(name)
                continue
            kept = {drivers[net]: place for place, bit in bits.items() for net in nets_of[bit]}
            kept = {one: place for one, place in kept.items() if one not in theirs}
            states = States(name, [bits[place] for place in sorted(bits)], theirs, codes[name], kept)
            self.states.append(states)
            for key in [
                *(("rtl", bit) for bit in states.rtl),
                *(("netlist", one) for one in (*states.netlist, *kept) if one),
            ]:
                self.colours[key] = ("states", states.name)

    def _evaluate(self) -> None:
        """Makes all logic that anything depends on."""
        self.next: dict[tuple[str, str], tuple[Literal, Literal, int]] = {}
        for machine in self.machines:
            for register in machine.registers.values():
                register.clock()
                self.next[machine.prefix, register.name] = (
                    register.following(),
                    register.reset(),
                    register.value,
                )
            list(machine.outputs())
        self.writes: dict[tuple[str, str], list[Write]] = {}
        read: set[tuple[str, str]] = set()
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
        for outside in self.outsides:
            for name, (inputs, *_) in outside.reads.items():
                if inputs:
                    self.asked[inputs[0] >> 1] = ("read", outside.prefix, name)
            for name, (inputs, *_) in outside.products.items():
                self.asked[inputs[0] >> 1] = ("product", outside.prefix, name)
        every = {
            one >> 1
            for outside in self.outsides
            for inputs, *_ in [*outside.reads.values(), *outside.products.values()]
            for one in inputs
        }
        self.others = every - self.asked.keys()
        return set(self.asked)

    def _hot(self) -> dict[object, int]:
        """Values for classes, so that one bit is 1 of each word of which that is known, as far as classes tell its bits
        apart."""
        values: dict[object, int] = {}
        drivers = {register.output: ("rtl", register.name) for register in self.rtl.registers.values()}
        for name in self.one_hot:
            bits = [drivers.get(bit) for bit in self.rtl.module["netnames"][name]["bits"]]
            colours = [self.colours[key] for key in bits if key]
            alone = [colour for colour, count in Counter(colours).items() if count == 1]
            if not alone or any(colour[0] in FIXED for colour in colours):
                continue
            states = States(name, [], [], list(range(len(alone))))
            free = [self.noise.bits() for _ in range(len(alone).bit_length())]
            values |= dict.fromkeys(colours, 0)
            values |= zip(alone, states.split(free, int.__and__, int.__or__, ALL)[1], strict=True)
        return values

    def _once(self) -> None:
        """Simulates once; classes become what was seen."""
        simulation = self.simulation
        noise, word = self.noise, self.noise.word
        noise.begin()
        values: dict[int, int] = {}
        inputs = {self.graph.nodes[node][0]: node for node in simulation.inputs}
        # What registers hold, by machine and name.
        held: dict[tuple[str, str], int] = {}
        stems = {}
        for (prefix, name), colour in self.colours.items():
            if prefix == "rtl":
                stems.setdefault(colour, stem(name))
        for states in self.states:
            free = [word(("states", name), states.name) for name in states.rtl]
            one_hot = [word(("states", name), name) for name in states.netlist]
            if states.codes:
                free, one_hot = states.split(free, int.__and__, int.__or__, ALL)
            both = zip([*states.rtl, *states.netlist], [*free, *one_hot], strict=True)
            for place, (name, value) in enumerate(both):
                held["rtl" if place < len(states.rtl) else "netlist", name] = value
            held |= {("netlist", one): free[place] for one, place in states.kept.items()}
        for key, colour in self.colours.items():
            if colour[0] == "constant":
                held[key] = ALL if colour[1] == "1" else 0
            elif colour[0] not in FIXED:
                held[key] = word(("register", colour), stems.get(colour, colour))
        self.keys: dict[tuple[str, str], object] = {}
        # Products whose operands were exchanged to compare them.
        self.turned: dict[tuple[str, str], bool] = {}

        def late(node: int, v: list[int]) -> None:
            kind, prefix, name = self.asked[node]
            outside = self.outsides[prefix == "netlist"]
            if kind == "read":
                found, columns, address = outside.reads[name]
                where = tuple(get(v, bit) for bit in address)
                for one, column in zip(found, columns, strict=True):
                    colour = self.columns[prefix, column]
                    if colour[0] == "constant":
                        v[one >> 1] = ALL if colour[1] == "1" else 0
                    else:
                        v[one >> 1] = word(("read", colour, where), where)
                self.keys[prefix, name] = where
            else:
                found, one, other = outside.products[name]
                sides = [tuple(get(v, bit) for bit in side) for side in (one, other)]
                key = tuple(sorted(sides))
                self.turned[prefix, name] = sides[0] > sides[1]
                for place, bit in enumerate(found):
                    v[bit >> 1] = word(("product", key, place), key)
                self.keys[prefix, name] = key

        # Where simulations begin at what a solver found, it is so for every seed in as many patterns; in half of them
        # exactly so, in the others bits of the words of which it is about go on to be told apart.
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

        for key, colour in self.colours.items():
            if colour[0] not in FIXED:
                held[key] = sow(colour, held[key])
        hot = self._hot()
        held |= {key: hot[colour] for key, colour in self.colours.items() if colour in hot}
        for key, colour in self.colours.items():
            if colour[0] == "function":
                held[key] = colour[1].of(
                    [held[one] for one in colour[1].registers], int.__and__, int.__or__, ALL
                )
        for (prefix, name), value in held.items():
            node = inputs.pop(f"{prefix}:{name}", None)
            if node is not None:
                values[node] = value
        for name, node in inputs.items():
            if node not in self.others:
                values[node] = word(("input", name), name.partition("[")[0])
                values[node] = sow(name, values[node])
        v = self.v = simulation.run(values, late)
        fresh: dict[tuple[str, str], object] = {}
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
            fresh[key] = ("seen", hash((old, then, off, value if off else 0)))
        self.colours = fresh
        new: dict[tuple[str, str], object] = {}
        # The ports that write a column, in an order that is the same for the same ones.
        self.order: dict[tuple[str, str], list[int]] = {}
        for key, ports in self.writes.items():
            what = []
            for port in ports:
                on = get(v, port.enable)
                what.append((on, *(get(v, bit) & on for bit in [*port.address, port.data])))
            self.order[key] = sorted(range(len(ports)), key=lambda place, what=what: what[place])
            new[key] = self.columns[key]
            if new[key][0] != "constant":
                new[key] = ("seen", hash((self.columns[key], *sorted(port for port in what if port[0]))))
        self.columns = new
