# SPDX-License-Identifier: Apache-2.0
"""Bits as terms in one form, for ace_flow.equiv.sets: bits of the same form are the same for all inputs.

A bit is an XOR of products of atoms. An atom is a bit of an input, of a sum, of a product, of a word that a word rotates, or
a function of up to eight bits. The functions of the same bits have a basis, so that a table that joins two steps and the
steps by themselves have one form. Every bit has values for some random inputs, computed of its form; operations compute
them of their operands, and both have to agree.
"""

import random
from collections.abc import Sequence
from functools import cache

from ace_flow.tools import ToolError

Bit = int
Word = tuple[Bit, ...]
ZERO, ONE = 0, 1
# Random inputs, and a one for each.
DRAWS = 16
EVERY = (1 << DRAWS) - 1
# Products at most that an AND may make.
MOST = 5000


@cache
def truth_of(table: tuple[int, ...], bit: int) -> int:
    """A bit of a table's entries, as a number with a bit for each entry."""
    return sum((entry >> bit & 1) << place for place, entry in enumerate(table))


@cache
def affine(truth: int, size: int) -> tuple[int, list[int], int]:
    """What a function is at zero, which of its inputs it adds, and the rest of it."""
    constant = truth & 1
    linear = [place for place in range(size) if (truth >> (1 << place) & 1) != constant]
    rest = truth
    for place in linear:
        rest ^= sum(1 << row for row in range(1 << size) if row >> place & 1)
    if constant:
        rest ^= (1 << (1 << size)) - 1
    return constant, linear, rest


class TooLargeError(ToolError):
    """A bit would have too many parts: a graph does not follow the standard's form, or that names too few words to cut at."""


class Terms:
    """Words of bits. `changed` is the number of the operation that is done wrongly, for a control."""

    def __init__(self, changed: int | None = None) -> None:
        self.forms: list[frozenset[int]] = [frozenset(), frozenset({0})]
        self.form_of = {form: number for number, form in enumerate(self.forms)}
        self.values = [0, EVERY]
        # Products of atoms; the first one is of none.
        self.products: list[frozenset[int]] = [frozenset()]
        self.product_of = {self.products[0]: 0}
        self.product_values = [EVERY]
        self.atom_values: list[int] = []
        self.atom_of: dict[tuple, int] = {}
        self.bases: dict[Word, dict[int, tuple[int, int]]] = {}
        self.sums: dict[Word, tuple[tuple[tuple[Word, int], ...], int]] = {}
        self.cuts: dict[Bit, Bit] = {}
        self.products_without_carries: dict[tuple[Word, Word], Word] = {}
        # Whether graphs add such words as they are, too (set_graphs.py).
        self.wholes = False
        # Of numbers modulo 65537 (set_idea.py).
        self.factors: dict[Word, tuple[tuple[Word, int], ...]] = {}
        self.random = random.Random(1)
        self.changed = changed
        self.steps = 0

    # Bits.
    def _form(self, form: frozenset[int]) -> Bit:
        known = self.form_of.get(form)
        if known is None:
            known = self.form_of[form] = len(self.forms)
            self.forms.append(form)
            value = 0
            for product in form:
                value ^= self.product_values[product]
            self.values.append(value)
        return known

    def _product(self, atoms: frozenset[int]) -> int:
        known = self.product_of.get(atoms)
        if known is None:
            known = self.product_of[atoms] = len(self.products)
            self.products.append(atoms)
            value = EVERY
            for atom in atoms:
                value &= self.atom_values[atom]
            self.product_values.append(value)
        return known

    def atom(self, key: tuple, value: int) -> Bit:
        known = self.atom_of.get(key)
        if known is None:
            known = self.atom_of[key] = len(self.atom_values)
            self.atom_values.append(value)
        return self._form(frozenset({self._product(frozenset({known}))}))

    def _agreed(self, bit: Bit, value: int) -> Bit:
        if self.values[bit] != value:
            raise ToolError("a rule of the terms is wrong, which is a fault of ACE")
        return bit

    def xor_bit(self, a: Bit, b: Bit) -> Bit:
        return self._agreed(self._form(self.forms[a] ^ self.forms[b]), self.values[a] ^ self.values[b])

    def and_bit(self, a: Bit, b: Bit) -> Bit:
        one, other = self.forms[a], self.forms[b]
        if min(len(one), len(other)) > 1 and len(one) * len(other) > MOST:
            raise TooLargeError("bits of too many parts meet in an AND")
        out: set[int] = set()
        for p in one:
            for q in other:
                out ^= {self._product(self.products[p] | self.products[q])}
        return self._agreed(self._form(frozenset(out)), self.values[a] & self.values[b])

    def known(self, word: Sequence[Bit]) -> int | None:
        """A word's number, if it is one."""
        return (
            sum(bit << place for place, bit in enumerate(word)) if all(bit <= ONE for bit in word) else None
        )

    # Words.
    def input(self, name: str, width: int = 32) -> Word:
        return tuple(self.atom(("in", name, n), self.random.getrandbits(DRAWS)) for n in range(width))

    def constant(self, value: int, width: int = 32) -> Word:
        return tuple(value >> n & 1 for n in range(width))

    def _step(self, word: Word) -> Word:
        """A result of the standard's, wrong if it is the one that the control changes."""
        self.steps += 1
        if self.steps - 1 == self.changed:
            return (self.xor_bit(word[0], ONE), *word[1:])
        return word

    def xor(self, *words: Word) -> Word:
        total = words[0]
        for word in words[1:]:
            total = tuple(self.xor_bit(a, b) for a, b in zip(total, word, strict=True))
        return self._step(total)

    def both(self, a: Word, b: Word) -> Word:
        return self._step(tuple(self.and_bit(x, y) for x, y in zip(a, b, strict=True)))

    def invert(self, a: Word) -> Word:
        return tuple(self.xor_bit(bit, ONE) for bit in a)

    def rotl(self, a: Word, by: int) -> Word:
        by %= len(a)
        return self._step((*a[len(a) - by :], *a[: len(a) - by]))

    def shl(self, a: Word, by: int) -> Word:
        return (*[ZERO] * by, *a[: len(a) - by])

    def shr(self, a: Word, by: int) -> Word:
        return (*a[by:], *[ZERO] * by)

    def numbers(self, word: Sequence[Bit]) -> list[int]:
        """The word's values for the random inputs."""
        values = [self.values[bit] for bit in word]
        return [sum((value >> draw & 1) << n for n, value in enumerate(values)) for draw in range(DRAWS)]

    def atoms(self, key: tuple, numbers: list[int], width: int = 32) -> Word:
        bits = [sum((number >> n & 1) << draw for draw, number in enumerate(numbers)) for n in range(width)]
        return tuple(self.atom((*key, n), bit) for n, bit in enumerate(bits))

    def add(self, *words: Word, plus: int = 0, minus: Sequence[Word] = ()) -> Word:
        """The sum of words less others, of the same width."""
        width = len([*words, *minus][0])
        limit = (1 << width) - 1
        terms: dict[Word, int] = {}

        def take(word: Word, factor: int) -> int:
            if (value := self.known(word)) is not None:
                return factor * value
            if word in self.sums:
                of, more = self.sums[word]
                for inner, times in of:
                    terms[inner] = (terms.get(inner, 0) + factor * times) & limit
                return factor * more
            # The complement of x is -x - 1.
            if all(0 in self.forms[bit] for bit in word):
                return -factor + take(self.invert(word), -factor)
            terms[word] = (terms.get(word, 0) + factor) & limit
            return 0

        known = plus + sum(take(word, 1) for word in words) + sum(take(word, -1) for word in minus)
        known &= limit
        of = tuple(sorted((word, factor) for word, factor in terms.items() if factor))
        if not of:
            return self._step(self.constant(known, width))
        if known == 0 and len(of) == 1 and of[0][1] == limit and not any(of[0][0][1:]):
            # A bit less than nothing is that bit everywhere.
            return self._step((of[0][0][0],) * width)
        if known == 0 and len(of) == 1 and of[0][1].bit_count() == 1:
            return self._step(self.shl(of[0][0], of[0][1].bit_length() - 1))
        if known == 0 and len(of) == 1 and of[0][1] == 1:
            return self._step(of[0][0])
        if known == limit and len(of) == 1 and of[0][1] == limit:
            return self._step(self.invert(of[0][0]))
        columns = [(self.numbers(word), factor) for word, factor in of]
        numbers = [known + sum(column[n] * factor for column, factor in columns) for n in range(DRAWS)]
        out = self.atoms(("sum", of, known), numbers, width)
        self.sums[out] = (of, known)
        return self._step(out)

    def multiply(self, a: Word, b: Word) -> Word:
        one, other = self.known(a), self.known(b)
        if one is not None and other is not None:
            return self.constant(one * other)
        for factor, word in ((one, b), (other, a)):
            places = [n for n in range(32) if factor is not None and factor >> n & 1]
            copies = [self.shl(word, n) for n in places]
            if copies and all(
                len([bit for bit in bits if bit != ZERO]) < 2 for bits in zip(*copies, strict=True)
            ):
                # Copies that do not meet are added bit by bit.
                return self._step(tuple(sum(bits) for bits in zip(*copies, strict=True)))
        a, b = min(a, b), max(a, b)
        numbers = [x * y for x, y in zip(self.numbers(a), self.numbers(b), strict=True)]
        return self._step(self.atoms(("product", a, b), numbers))

    def carryless(self, a: Word, b: Word, low: bool, high: bool) -> Word:
        """Of the product without carries the low half, the high half, or the XOR of both."""
        if (a, b) not in self.products_without_carries:
            whole = [ZERO] * 64
            for n, bit in enumerate(a):
                for place, other in enumerate(b):
                    if bit != ZERO and other != ZERO:
                        whole[n + place] = self.xor_bit(whole[n + place], self.and_bit(bit, other))
            self.products_without_carries[a, b] = tuple(whole)
        whole = self.products_without_carries[a, b]
        halves = [half for half, wanted in ((whole[:32], low), (whole[32:], high)) if wanted]
        return self.xor(*halves)

    def rotate_by(self, a: Word, by: Word, right: bool = False) -> Word:
        """By as many places as the lowest five bits of a word say."""
        by = by[:5]
        if (known := self.known(by)) is not None:
            return self.rotl(a, 32 - known if right else known)
        places = [32 - n if right else n for n in self.numbers(by)]
        turned = [(x << n | x >> 32 - n) & 0xFFFFFFFF for x, n in zip(self.numbers(a), places, strict=True)]
        return self._step(self.atoms(("rotated", right, a, by), turned))

    def look(self, table: Sequence[int], index: Word, width: int = 32) -> Word:
        """An entry of a table that some bits name, the lowest first."""
        table = tuple(table)
        if (known := self.known(index)) is not None:
            return self._step(self.constant(table[known], width))
        return self._step(tuple(self.function(truth_of(table, bit), index) for bit in range(width)))

    def function(self, truth: int, index: Word) -> Bit:
        """A function of some bits: its truth table."""
        constant, linear, rest = affine(truth, len(index))
        out = constant
        for place in linear:
            out = self.xor_bit(out, index[place])
        basis = self.bases.setdefault(index, {})
        # Least bits first: an element of the basis has a least bit that no later one has.
        while rest:
            least = rest & -rest
            if least not in basis:
                values = [rest >> row & 1 for row in self.numbers(index)]
                value = sum(bit << draw for draw, bit in enumerate(values))
                basis[least] = rest, self.atom(("function", index, rest), value)
            part, atom = basis[least]
            out = self.xor_bit(out, atom)
            rest ^= part
        return out

    def box(self, table: Sequence[int], index: Word, width: int) -> Word:
        """A table of few entries, as products of the bits that name one."""
        size = 1 << len(index)
        out = []
        for bit in range(width):
            form = [table[row] >> bit & 1 for row in range(size)]
            for place in range(len(index)):
                form = [v ^ (form[row ^ 1 << place] if row >> place & 1 else 0) for row, v in enumerate(form)]
            total = ZERO
            for row in range(size):
                if form[row]:
                    product = ONE
                    for place, of in enumerate(index):
                        if row >> place & 1:
                            product = self.and_bit(product, of)
                    total = self.xor_bit(total, product)
            out.append(total)
        return self._step(tuple(out))

    def cut(self, word: Word) -> Word:
        """Bits of their own for those of a word: what is the same of any values of them is the same of these."""
        for bit in word:
            if bit > ONE and bit not in self.cuts:
                own = self.cuts[bit] = self.atom(("cut", bit), self.values[bit])
                self.cuts[own] = own
        return self.at_cuts(word)

    def at_cuts(self, word: Word) -> Word:
        return tuple(self.cuts.get(bit, bit) for bit in word)
