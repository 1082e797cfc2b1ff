# SPDX-License-Identifier: Apache-2.0
"""Compression functions of hashes from their standards, for ace_flow.equiv.sets: states and blocks are words of 32 bits."""

import math
from collections.abc import Sequence

from ace_flow.equiv.set_terms import Terms, Word
from ace_flow.equiv.standard_functions import MD5_WORDS

# RFC 1321, 3.4: by how much a step rotates, round by round.
MD5_TURNS = [(7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21)]


def root(value: int, power: int) -> int:
    """The first 32 bits behind the point of a root."""
    low, high = 0, value << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**power <= value << 32 * power else (low, middle)
    return low & 0xFFFFFFFF


def primes(count: int) -> list[int]:
    return [n for n in range(2, 400) if all(n % d for d in range(2, n))][:count]


def choice(t: Terms, x: Word, y: Word, z: Word) -> Word:
    return t.xor(t.both(x, y), t.both(t.invert(x), z))


def majority(t: Terms, x: Word, y: Word, z: Word) -> Word:
    return t.xor(t.both(x, y), t.both(x, z), t.both(y, z))


def md5_mix(t: Terms, part: int, x: Word, y: Word, z: Word) -> Word:
    """F to I."""
    match part:
        case 0:
            return choice(t, x, y, z)
        case 1:
            return choice(t, z, x, y)
        case 2:
            return t.xor(x, y, z)
        case _:
            return t.xor(y, t.invert(t.both(t.invert(x), z)))


def md5(t: Terms, state: Sequence[Word], block: Sequence[Word]) -> list[Word]:
    a, b, c, d = state
    for n in range(64):
        part = n // 16
        f = md5_mix(t, part, b, c, d)
        first, by = MD5_WORDS[part]
        word = block[(first + by * (n % 16)) % 16]
        sine = int(abs(math.sin(n + 1)) * 2**32)
        turned = t.rotl(t.add(a, f, word, plus=sine), MD5_TURNS[part][n % 4])
        a, b, c, d = d, t.add(b, turned), b, c
    return [t.add(x, y) for x, y in zip(state, [a, b, c, d], strict=True)]


def sha1(t: Terms, state: Sequence[Word], block: Sequence[Word]) -> list[Word]:
    w = [*block]
    for n in range(16, 80):
        w.append(t.rotl(t.xor(w[n - 3], w[n - 8], w[n - 14], w[n - 16]), 1))
    a, b, c, d, e = state
    for n in range(80):
        f = [choice, lambda t, x, y, z: t.xor(x, y, z), majority, lambda t, x, y, z: t.xor(x, y, z)][n // 20]
        k = [0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6][n // 20]
        total = t.add(t.rotl(a, 5), f(t, b, c, d), e, w[n], plus=k)
        a, b, c, d, e = total, a, t.rotl(b, 30), c, d
    return [t.add(x, y) for x, y in zip(state, [a, b, c, d, e], strict=True)]


def sha256(t: Terms, state: Sequence[Word], block: Sequence[Word]) -> list[Word]:
    def turned(x: Word, *by: int) -> list[Word]:
        return [t.rotl(x, 32 - n) for n in by]

    w = [*block]
    for n in range(16, 64):
        first = t.xor(*turned(w[n - 15], 7, 18), t.shr(w[n - 15], 3))
        second = t.xor(*turned(w[n - 2], 17, 19), t.shr(w[n - 2], 10))
        w.append(t.add(second, w[n - 7], first, w[n - 16]))
    s = [*state]
    for n, prime in enumerate(primes(64)):
        one = t.add(s[7], t.xor(*turned(s[4], 6, 11, 25)), choice(t, *s[4:7]), w[n], plus=root(prime, 3))
        two = t.add(t.xor(*turned(s[0], 2, 13, 22)), majority(t, *s[:3]))
        s = [t.add(one, two), *s[:3], t.add(s[3], one), *s[4:7]]
    return [t.add(x, y) for x, y in zip(state, s, strict=True)]
