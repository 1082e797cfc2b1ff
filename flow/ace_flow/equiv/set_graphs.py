# SPDX-License-Identifier: Apache-2.0
"""Graphs of `ace array graph`, computed over terms."""

from collections.abc import Sequence
from functools import cache

from ace_flow.equiv.set_terms import ONE, ZERO, Terms, Word
from ace_flow.tools import ToolError


@cache
def normal(truth: int, count: int) -> list[int]:
    """Which products of some arguments a bit function adds: of all whose bits are set."""
    form = [truth >> row & 1 for row in range(1 << count)]
    for place in range(count):
        form = [v ^ (form[row ^ 1 << place] if row >> place & 1 else 0) for row, v in enumerate(form)]
    return [row for row, part in enumerate(form) if part]


def logic(terms: Terms, truth: int, words: Sequence[Word]) -> Word:
    """A bit function of up to three words: its truth table by {third, second, first}."""
    out = []
    for column in zip(*words, strict=True):
        total = ZERO
        for row in normal(truth, len(words)):
            product = ONE
            for place, bit in enumerate(column):
                if row >> place & 1:
                    product = terms.and_bit(product, bit)
            total = terms.xor_bit(total, product)
        out.append(total)
    return tuple(out)


def entry(terms: Terms, table: list[int], word: Word, lane: int) -> Word:
    """The entry that a byte of a word names, or the byte's upper six bits."""
    index = word[8 * lane : 8 * lane + 8]
    return terms.look(table, index[2:] if len(table) == 64 else index)


def applied(terms: Terms, graph: dict, name: str, of: Sequence[Word], rest: list) -> Word:
    """What an operation makes of words."""
    match name:
        case "const":
            return terms.constant(rest[0])
        case "logic":
            return logic(terms, rest[0], of)
        case "sum":
            signs = [rest[0] >> at & 1 for at in range(len(of))]
            plus = [word for word, sign in zip(of, signs, strict=True) if not sign]
            return terms.add(*plus, minus=[word for word, sign in zip(of, signs, strict=True) if sign])
        case "rotate":
            return terms.rotl(of[0], rest[0])
        case "left_by" | "right_by":
            return terms.rotate_by(of[0], of[1], right=name == "right_by")
        case "left":
            return terms.shl(of[0], rest[0])
        case "right":
            return terms.shr(of[0], rest[0])
        case "multiply":
            return terms.multiply(of[0], of[1])
        case "carryless":
            return terms.carryless(of[0], of[1], *rest)
        case "quadratic":
            return terms.rotl(terms.multiply(of[0], terms.add(of[0], of[0], plus=1)), rest[0])
        case "look":
            return entry(terms, graph["tables"][rest[0]], of[0], rest[1])
        case "same":
            return of[0]
        case _:
            raise ToolError(f"an operation {name}, which a source's graph has not")


def linear(name: str, rest: list, count: int) -> bool:
    """Whether an operation adds bits and no more."""
    if name == "logic":
        return all(row.bit_count() < 2 for row in normal(rest[0], count))
    return name in ("const", "rotate", "left", "right", "look", "same")


def evaluated(terms: Terms, graph: dict, block: Sequence[Word], key: Sequence[Word]) -> list[Word]:
    """The words of the result. Where the standard's form has named words to cut at, what is made of such a word is made of
    its own bits. In key schedules, if `wholes` says so, what adds bits only is also made of the words as they are, so that a sum
    of words that are cut is found."""
    values: list[tuple[Word | None, Word]] = []
    for name, args, *rest in graph["nodes"]:
        if name in ("input", "key"):
            whole: Word | None = (block if name == "input" else key)[rest[0]]
            value = whole
        else:
            wholes = [values[arg][0] for arg in args]
            of = [values[arg][1] for arg in args]
            value = applied(terms, graph, name, of, rest)
            whole = None
            if wholes == of:
                whole = value
            elif terms.wholes and graph["keys"] and linear(name, rest, len(args)) and None not in wholes:
                whole = applied(terms, graph, name, wholes, rest)
        value = terms.at_cuts(value)
        if whole is not None:
            value = tuple(terms.cuts.get(a, b) for a, b in zip(whole, value, strict=True))
        values.append((whole, value))
    return [values[output][1] for output in graph["outputs"]]
