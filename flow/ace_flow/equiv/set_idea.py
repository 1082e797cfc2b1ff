# SPDX-License-Identifier: Apache-2.0
"""IDEA for ace_flow.equiv.sets: the cipher, and its graphs, whose words of 32 bits have numbers of 16 in their low halves.

A number of 16 bits that is a factor is one modulo the prime 65537, zero being 2^16. These numbers are a group, so that a
product of powers has one form: by each factor its exponent, modulo 65536.

The graphs have no such product. They have lo - hi + (lo < hi) of a word p, which is p modulo 65537, where p + 1 is no multiple
of 65537 (`reduces`), by operations or by two sums of a word's bytes in tables; and p is A * B + A + B, so that p + 1 is the
product of A + 1 and B + 1.
"""

from collections.abc import Sequence

from ace_flow.equiv.set_graphs import applied
from ace_flow.equiv.set_terms import DRAWS, ZERO, Terms, Word
from ace_flow.tools import ToolError

PRIME = 65537


def reduces() -> bool:
    """Whether the low half of d + (d >> 31), with d = lo - hi, is less than 65536 and p modulo 65537, for every d that there
    is: p is lo + 65536 * hi, which is d. Not so for d = -1 alone, where p + 1 is a multiple of 65537."""
    return all((d + (d < 0)) & 0xFFFF == d % PRIME for d in range(-65535, 65536) if d != -1)


# By byte, what tables have of d = lo - hi, and of d + (d < 0): modulo 2^32, and of d what is above its low half is all ones
# or all zeros.
DIFFERENCE = tuple(
    tuple(value * byte % (1 << 32) for byte in range(256)) for value in (1, 1 << 8, -1, -(1 << 8))
)
ONE_MORE = (*DIFFERENCE[:2], tuple(byte // 255 for byte in range(256)), (0,) * 256)


def reduces_by_bytes() -> bool:
    """The same of what ONE_MORE has of d."""

    def found(d: int) -> int:
        return sum(table[d >> 8 * lane & 255] for lane, table in enumerate(ONE_MORE)) % (1 << 32)

    return all(found(d % (1 << 32)) == d % PRIME for d in range(-65535, 65536) if d != -1)


class Numbers:
    """Numbers modulo 65537 as words of 16 bits, of some terms."""

    def __init__(self, t: Terms) -> None:
        self.t = t
        # Of a product the factors and their exponents.
        self.factors = t.factors

    def multiply(self, *words: Word) -> Word:
        powers: dict[Word, int] = {}
        for word in words:
            for factor, power in self.factors.get(word, ((word, 1),)):
                powers[factor] = (powers.get(factor, 0) + power) % 65536
        return self.word(powers)

    def inverse(self, word: Word) -> Word:
        return self.word({factor: -power % 65536 for factor, power in self.factors.get(word, ((word, 1),))})

    def word(self, powers: dict[Word, int]) -> Word:
        known, of = 1, []
        for word, power in sorted(powers.items()):
            if (value := self.t.known(word)) is not None:
                known = known * pow(value or 65536, power, PRIME) % PRIME
            elif power:
                of.append((word, power))
        if known != 1:
            constant = self.t.constant(known & 0xFFFF, 16)
            if not of:
                return constant
            of.append((constant, 1))
        if len(of) == 1 and of[0][1] == 1:
            return of[0][0]
        if not of:
            return self.t.constant(1, 16)
        numbers = [1] * DRAWS
        for word, power in of:
            factors = [pow(number or 65536, power, PRIME) for number in self.t.numbers(word)]
            numbers = [a * b % PRIME for a, b in zip(numbers, factors, strict=True)]
        out = self.t.atoms(("number", tuple(of)), [number & 0xFFFF for number in numbers], 16)
        self.factors[out] = tuple(of)
        return self.t._step(out)


def idea(t: Terms, key: Sequence[Word], block: Sequence[Word], decrypt: bool) -> list[Word]:
    """Lai, 1992."""
    numbers = Numbers(t)
    bits = [bit for byte in key for bit in byte[::-1]]
    z: list[Word] = []
    while len(z) < 52:
        z += [tuple(bits[n : n + 16][::-1]) for n in range(0, 128, 16)]
        bits = bits[25:] + bits[:25]
    if decrypt:
        back: list[Word] = []
        for n in range(9):
            a, b, c, d = z[48 - 6 * n : 52 - 6 * n]
            sums = [t.add(t.constant(0, 16), minus=[word]) for word in (b, c)]
            back += [numbers.inverse(a), *(sums if n in (0, 8) else sums[::-1]), numbers.inverse(d)]
            if n < 8:
                back += z[46 - 6 * n : 48 - 6 * n]
        z = back
    x1, x2, x3, x4 = (block[n + 1] + block[n] for n in range(0, 8, 2))
    for n in range(8):
        k = z[6 * n : 6 * n + 6]
        a, b, c, d = numbers.multiply(x1, k[0]), t.add(x2, k[1]), t.add(x3, k[2]), numbers.multiply(x4, k[3])
        p = numbers.multiply(t.xor(a, c), k[4])
        q = numbers.multiply(t.add(t.xor(b, d), p), k[5])
        both = t.add(p, q)
        x1, x2, x3, x4 = t.xor(a, q), t.xor(c, q), t.xor(b, both), t.xor(d, both)
    y = numbers.multiply(x1, z[48]), t.add(x3, z[49]), t.add(x2, z[50]), numbers.multiply(x4, z[51])
    return [half for word in y for half in (word[8:], word[:8])]


class Halves:
    """A graph's words: of sums only the low half is known, and the high half is anything."""

    def __init__(self, t: Terms, graph: dict) -> None:
        if not (reduces() and reduces_by_bytes()):
            raise ToolError("what IDEA's graphs do is no reduction modulo 65537")
        self.t, self.numbers = t, Numbers(t)
        self.graph, self.nodes = graph, graph["nodes"]
        self.values: list[Word] = []

    def constant(self, node: int) -> int | None:
        name, _, *rest = self.nodes[node]
        return rest[0] if name == "const" else None

    def matches(self, node: int, name: str, rest: int) -> list[int] | None:
        found, args, *other = self.nodes[node]
        return args if found == name and other[:1] == [rest] else None

    def masked(self, node: int) -> int | None:
        """Of what a node is the low half."""
        args = self.matches(node, "logic", 0b1000)
        return args[0] if args and self.constant(args[1]) == 0xFFFF else None

    def reduced(self, node: int) -> int | None:
        """The word p of which a node is lo - hi + (lo < hi)."""
        args = self.matches(node, "sum", 0) or []
        for d, sign in [*zip(args, args[::-1], strict=True)]:
            ends = self.matches(d, "sum", 0b10)
            if self.matches(sign, "right", 31) != [d] or not ends:
                continue
            p = self.masked(ends[0])
            if p is not None and self.matches(ends[1], "right", 16) == [p]:
                return p
        return None

    def terms(self, node: int, minus: bool = False) -> list[tuple[int, bool]]:
        """What a sum of sums adds and subtracts."""
        name, args, *rest = self.nodes[node]
        if name != "sum":
            return [(node, minus)]
        signs = [minus ^ bool(rest[0] >> at & 1) for at in range(len(args))]
        return [term for arg, sign in zip(args, signs, strict=True) for term in self.terms(arg, sign)]

    def by_bytes(self, node: int) -> tuple[int, tuple] | None:
        """The word whose four bytes a sum looks up, and what it adds by byte."""
        found, words = {}, set()
        for term, minus in self.terms(node):
            name, args, *rest = self.nodes[term]
            if name != "look" or rest[2]:
                return None
            table = self.graph["tables"][rest[0]]
            found[rest[1]] = tuple(-entry % (1 << 32) for entry in table) if minus else tuple(table)
            words.add(args[0])
        if len(words) != 1 or len(self.terms(node)) != 4 or len(found) != 4:
            return None
        return words.pop(), tuple(found[lane] for lane in range(4))

    def reduced_by_bytes(self, node: int) -> int | None:
        """The word p of which a node is lo - hi + (lo < hi), by tables. All above its low half is zero."""
        more = self.by_bytes(node)
        less = self.by_bytes(more[0]) if more and more[1] == ONE_MORE else None
        return less[0] if less and less[1] == DIFFERENCE else None

    def factors(self, p: int) -> list[Word] | None:
        """A and B, each of 16 bits and as a word, where p is A * B + A + B."""
        args = self.matches(p, "sum", 0)
        if not args or len(args) != 2:
            return None
        product, last = args
        less = self.values[last]
        if self.nodes[product][0] == "multiply":
            # A * (B + 1) + B.
            a, factor = (self.values[arg] for arg in self.nodes[product][1])
            if factor != self.one_more(less):
                return None
            both = [a, less]
        else:
            inner = self.matches(product, "sum", 0)
            if not inner or self.nodes[inner[0]][0] != "multiply":
                return None
            both = [self.values[inner[1]], less]
            if [self.values[arg] for arg in self.nodes[inner[0]][1]] != both:
                return None
        return both if all(set(word[16:]) == {ZERO} for word in both) else None

    def one_more(self, less: Word) -> Word:
        """A number of 16 bits and one more."""
        return self.half(self.t.add(less[:16], plus=1), ("one more", less))

    def half(self, low: Word, key: tuple) -> Word:
        """A word of whose high half nothing is known."""
        high = tuple(self.t.atom((*key, n), self.t.random.getrandbits(DRAWS)) for n in range(16))
        return (*low, *high)

    def product(self, both: list[Word]) -> Word:
        """A * B + A + B modulo 65537, of numbers less one."""
        more = [self.t.add(word[:16], plus=1) for word in both]
        return self.t.add(self.numbers.multiply(*more), minus=[self.t.constant(1, 16)])

    def value(self, number: int) -> Word:
        name, args, *rest = self.nodes[number]
        of = [self.values[arg] for arg in args]
        any_high = ("anything", id(self.graph), number)
        p = self.reduced(number)
        both = self.factors(p) if p is not None else None
        if both:
            return self.half(self.product(both), any_high)
        p = self.reduced_by_bytes(number)
        both = self.factors(p) if p is not None else None
        if both:
            return (*self.product(both), *[ZERO] * 16)
        if name == "sum":
            known = [self.constant(arg) for arg in args]
            if rest[0] == 0 and known[1] == 1 and set(of[0][16:]) == {ZERO}:
                return self.one_more(of[0])
            signs = [rest[0] >> at & 1 for at in range(len(of))]
            plus = [word[:16] for word, sign in zip(of, signs, strict=True) if not sign]
            minus = [word[:16] for word, sign in zip(of, signs, strict=True) if sign]
            if not plus:
                plus = [self.t.constant(0, 16)]
            return self.half(self.t.add(*plus, minus=minus), any_high)
        if name == "multiply":
            low = self.half((), (*any_high, "low"))
            return self.half(low, any_high)
        return applied(self.t, self.graph, name, of, rest)


def evaluated(t: Terms, graph: dict, block: Sequence[Word], key: Sequence[Word]) -> list[Word]:
    """The words of the result."""
    halves = Halves(t, graph)
    for number, (name, _, *rest) in enumerate(graph["nodes"]):
        if name in ("input", "key"):
            halves.values.append((block if name == "input" else key)[rest[0]])
        else:
            halves.values.append(halves.value(number))
    return [halves.values[output] for output in graph["outputs"]]
