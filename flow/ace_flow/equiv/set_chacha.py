# SPDX-License-Identifier: Apache-2.0
"""Half of ChaCha20 from RFC 8439, for ace_flow.equiv.sets."""

from ace_flow.equiv.set_ciphers import Bytes, split, words
from ace_flow.equiv.set_terms import Terms, Word


def chacha20_half(t: Terms, block: Bytes) -> list[Word]:
    """2.1 and 2.3: ten of the twenty rounds over the first 16 words of a block, to which the others are added."""
    state = words(block, False)
    x, addend = state[:16], state[16:]

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for one, two, three, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[one] = t.add(x[one], x[two])
            x[three] = t.cut(t.rotl(t.xor(x[three], x[one]), by))

    for _ in range(5):
        for n in range(4):
            quarter(n, n + 4, n + 8, n + 12)
        for n in range(4):
            quarter(n, 4 + (n + 1) % 4, 8 + (n + 2) % 4, 12 + (n + 3) % 4)
    return split([t.add(a, b) for a, b in zip(x, addend, strict=True)], False)
