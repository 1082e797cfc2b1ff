# SPDX-License-Identifier: Apache-2.0
"""What Yosys's word-level cells compute, as logic of a graph (ace_flow/prove/gates.py): the RTL as it was read.

Words are lists of literals, the lowest bit first. Adders have the form of an ECP5 carry chain, so that those which
synthesis leaves alone become the same nodes.
"""

from collections.abc import Callable

from ace_flow.prove.gates import AND, FALSE, MUX, OR, TRUE, XOR, Graph, Literal
from ace_flow.tools import ToolError

Word = list[Literal]
# Cells whose output bits depend on the same bit of their operands (and on a selection) only.
BITWISE = {"$buf", "$pos", "$not", "$and", "$or", "$xor", "$xnor", "$mux", "$pmux", "$bmux", "$bwmux"}


class Words:
    """Arithmetic of words in a graph."""

    def __init__(self, graph: Graph):
        self.graph = graph

    def both(self, a: Literal, b: Literal) -> Literal:
        return self.graph.lut(AND, [a, b])

    def either(self, a: Literal, b: Literal) -> Literal:
        return self.graph.lut(OR, [a, b])

    def differ(self, a: Literal, b: Literal) -> Literal:
        return self.graph.lut(XOR, [a, b])

    def mux(self, no: Literal, yes: Literal, select: Literal) -> Literal:
        return self.graph.lut(MUX, [no, yes, select])

    def tree(self, of: Callable, bits: Word, nothing: Literal) -> Literal:
        """Joins bits in pairs."""
        while len(bits) > 1:
            odd = bits[len(bits) & ~1 :]
            bits = [of(*pair) for pair in zip(bits[::2], bits[1::2], strict=False)] + odd
        return bits[0] if bits else nothing

    def any(self, bits: Word) -> Literal:
        return self.tree(self.either, bits, FALSE)

    def all(self, bits: Word) -> Literal:
        return self.tree(self.both, bits, TRUE)

    def equal(self, a: Word, b: Word) -> Literal:
        return self.all([self.differ(x, y) ^ 1 for x, y in zip(a, b, strict=True)])

    def add(self, a: Word, b: Word, carry: Literal = FALSE) -> tuple[Word, Literal]:
        """The sum of two words of a width, and the carry out of it."""
        total = []
        for x, y in zip(a, b, strict=True):
            propagate = self.differ(x, y)
            total.append(self.differ(propagate, carry))
            carry = self.mux(x, carry, propagate)
        return total, carry

    def less(self, a: Word, b: Word) -> Literal:
        """Whether a < b, unsigned."""
        return self.add(a, [y ^ 1 for y in b], TRUE)[1] ^ 1

    def choose(self, words: list[Word], select: Word) -> Word:
        """One of the words by a number; there are as many as it can name."""
        for bit in select:
            pairs = zip(words[::2], words[1::2], strict=True)
            words = [[self.mux(x, y, bit) for x, y in zip(*pair, strict=True)] for pair in pairs]
        return words[0]

    def shift(self, a: Word, by: Word, fill: Literal, left: bool) -> Word:
        """Shifted by a number, which may be more than there are bits."""
        for place, bit in enumerate(by):
            size = min(1 << place, len(a))
            room = [fill] * size
            moved = [*room, *a[: len(a) - size]] if left else [*a[size:], *room]
            a = [self.mux(x, y, bit) for x, y in zip(a, moved, strict=True)]
        return a

    def divide(self, a: Word, b: Word) -> tuple[Word, Word]:
        """Quotient and remainder, unsigned, bit by bit."""
        wide = [*b, FALSE]
        rest: Word = [FALSE] * len(wide)
        quotient: Word = []
        for bit in reversed(a):
            rest = [bit, *rest[:-1]]
            less, fits = self.add(rest, [y ^ 1 for y in wide], TRUE)
            rest = [self.mux(x, y, fits) for x, y in zip(rest, less, strict=True)]
            quotient.insert(0, fits)
        return quotient, rest[: len(b)]


def extend(word: Word, width: int, signed: bool) -> Word:
    """A word made as wide as that, or cut."""
    fill = word[-1] if signed and word else FALSE
    return [*word, *[fill] * (width - len(word))][:width]


def bit_of(words: Words, kind: str, inputs: Word) -> Literal:
    """One bit of a bitwise cell. The inputs of a multiplexer are what it chooses of, then the selection."""
    match kind:
        case "$buf" | "$pos":
            return inputs[0]
        case "$not":
            return inputs[0] ^ 1
        case "$and":
            return words.both(*inputs)
        case "$or":
            return words.either(*inputs)
        case "$xor":
            return words.differ(*inputs)
        case "$xnor":
            return words.differ(*inputs) ^ 1
        case "$mux" | "$bwmux":
            return words.mux(*inputs)
        case "$pmux":
            count = len(inputs) // 2
            cases, select = inputs[1 : count + 1], inputs[count + 1 :]
            chosen = words.any([words.both(x, s) for x, s in zip(cases, select, strict=True)])
            return words.mux(inputs[0], chosen, words.any(select))
        case _:
            count = next(size for size in range(len(inputs)) if size + (1 << size) == len(inputs))
            cases, select = inputs[: 1 << count], inputs[1 << count :]
            return words.choose([[x] for x in cases], select)[0]


def word_of(words: Words, kind: str, a: Word, b: Word, width: int, signed: bool) -> Word:
    """The output of any other cell. `signed`: both operands are."""
    size = max(len(a), len(b), width)
    match kind:
        case "$reduce_and":
            answer = [words.all(a)]
        case "$reduce_or" | "$reduce_bool":
            answer = [words.any(a)]
        case "$reduce_xor":
            answer = [words.tree(words.differ, a, FALSE)]
        case "$reduce_xnor":
            answer = [words.tree(words.differ, a, FALSE) ^ 1]
        case "$logic_not":
            answer = [words.any(a) ^ 1]
        case "$logic_and":
            answer = [words.both(words.any(a), words.any(b))]
        case "$logic_or":
            answer = [words.either(words.any(a), words.any(b))]
        case "$eq" | "$ne" | "$eqx" | "$nex":
            same = words.equal(extend(a, size, signed), extend(b, size, signed))
            answer = [same ^ (kind in ("$ne", "$nex"))]
        case "$lt" | "$le" | "$gt" | "$ge":
            one, other = extend(a, size, signed), extend(b, size, signed)
            if signed:
                one, other = [*one[:-1], one[-1] ^ 1], [*other[:-1], other[-1] ^ 1]
            if kind in ("$le", "$gt"):
                one, other = other, one
            answer = [words.less(one, other) ^ (kind in ("$le", "$ge"))]
        case "$add":
            answer = words.add(extend(a, size, signed), extend(b, size, signed))[0]
        case "$sub":
            inverted = [y ^ 1 for y in extend(b, size, signed)]
            answer = words.add(extend(a, size, signed), inverted, TRUE)[0]
        case "$neg":
            answer = words.add([FALSE] * size, [x ^ 1 for x in extend(a, size, signed)], TRUE)[0]
        case "$shl" | "$sshl":
            answer = words.shift(extend(a, size, signed), b, FALSE, left=True)
        case "$shr" | "$sshr":
            fill = a[-1] if kind == "$sshr" and signed else FALSE
            answer = words.shift(extend(a, size, signed), b, fill, left=False)
        case "$shift" | "$shiftx" if not signed or kind == "$shiftx" or b[-1] == FALSE:
            # Past the end, and below 0, $shiftx is undefined: 0 here.
            by, below = (b[:-1], b[-1]) if signed else (b, FALSE)
            answer = [
                words.both(x, below ^ 1) for x in words.shift(extend(a, size, False), by, FALSE, left=False)
            ]
        case "$demux":
            answer = []
            for at in range(1 << len(b)):
                here = words.all([bit ^ (at >> place & 1) ^ 1 for place, bit in enumerate(b)])
                answer += [words.both(bit, here) for bit in a]
        case "$div" | "$mod" if not signed:
            answer = words.divide(extend(a, size, False), extend(b, size, False))[kind == "$mod"]
        case _:
            raise ToolError(f"a {kind}{' of signed words' * signed}, which proofs do not know")
    return extend(answer, width, False)
