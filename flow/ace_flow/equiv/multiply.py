# SPDX-License-Identifier: Apache-2.0
"""A product of any width out of products of 18 by 18 bits, split where Yosys splits it (mul2dsp.v).

That this is the product is school arithmetic: digits of 18 bits, multiplied one by one and added where they belong. The
tests compare it with Python's own (flow/tests/test_to_rtl.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ace_flow.equiv.words import Word, Words, extend
from ace_flow.prove.gates import FALSE, TRUE

if TYPE_CHECKING:
    from ace_flow.equiv.machine import Outside

# What an ECP5 multiplier takes, and that with a sign in front.
DIGIT = 18
SIZE = DIGIT + 1
# Narrower products are logic.
SMALL = 9


def digits(word: Word) -> list[Word]:
    """The word in digits; only the last one may be shorter."""
    return [word[at : at + DIGIT] for at in range(0, len(word), DIGIT)]


def strip(word: Word, signed: bool) -> Word:
    """The word without the bits at its upper end that say nothing; it is signed then."""
    word = list(word) if signed else [*word, FALSE]
    while len(word) > 1 and word[-1] == word[-2]:
        word.pop()
    return word


def _shift(word: Word) -> int | None:
    """The place of the only bit that is 1 of a constant, and not its sign: of such a product synthesis makes wires."""
    places = [place for place, bit in enumerate(word) if bit != FALSE]
    return places[0] if len(places) == 1 and word[places[0]] == TRUE and word[-1] == FALSE else None


def multiply(words: Words, outside: Outside, name: str, a: Word, b: Word, width: int, signed: bool) -> Word:
    """The product, cut to a width. `signed`: both operands are."""
    a, b = strip(a[:width] if not signed else a, signed), strip(b[:width] if not signed else b, signed)
    # The wider operand is the one that is taken apart first.
    if len(a) < len(b):
        a, b = b, a
    for one, other in ((a, b), (b, a)):
        if (shift := _shift(one)) is not None:
            return extend([*[FALSE] * shift, *other], width, True)
    if width < SMALL or not outside.multiplies:
        total: Word = [FALSE] * width
        for place, bit in enumerate(extend(b, width, True)):
            row = [words.both(x, bit) for x in extend(a, width - place, True)]
            total = words.add([*[FALSE] * place, *row], total)[0]
        return total
    if len(a) <= DIGIT or (len(a) == SIZE and a[-1] == FALSE and (b[-1] == FALSE or len(b) <= DIGIT)):
        product = outside.product(name, extend(a, SIZE, True), extend(b, SIZE, True))
        return extend(product, width, True)
    if a[-1] == FALSE and b[-1] == FALSE:
        a, b = a[:-1], b[:-1]
    else:
        a, b = extend(a, width, True), extend(b, width, True)
    total = [FALSE] * width
    for i, x in enumerate(digits(a)):
        part: Word = [FALSE] * (width - DIGIT * i)
        for j, y in enumerate(digits(b)):
            if DIGIT * (i + j) < width:
                one, other = extend(x, SIZE, False), extend(y, SIZE, False)
                product = outside.product(f"{name}.{i}.{j}", one, other)
                part = words.add(extend([*[FALSE] * (DIGIT * j), *product], len(part), False), part)[0]
        if part:
            total = words.add([*[FALSE] * (DIGIT * i), *part], total)[0]
    return total
