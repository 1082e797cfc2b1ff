# SPDX-License-Identifier: Apache-2.0
"""AES-GCM from SP 800-38D, for ace_flow.equiv.sets: one block as a set takes and answers it (docs/array-slot.md)."""

from collections.abc import Sequence

from ace_flow.equiv.set_ciphers import Bytes, aes
from ace_flow.equiv.set_terms import ZERO, Bit, Terms, Word

# 6.3: R is 11100001 and 120 zeros.
REDUCED = (0, 1, 2, 7)


def bits(block: Bytes) -> list[Bit]:
    """The bits of a block, x^0 first: each byte's highest one is its first."""
    return [bit for byte in block for bit in byte[::-1]]


def joined(of: Sequence[Bit]) -> list[Word]:
    return [tuple(of[n : n + 8][::-1]) for n in range(0, len(of), 8)]


def times(t: Terms, x: Bytes, y: Bytes) -> list[Word]:
    """6.3, the product of two blocks: as many copies of y, moved on, as x has bits."""
    total: list[Word] = [t.constant(0, 128)]
    moved = tuple(bits(y))
    for bit in bits(x):
        total.append(t.xor(total[-1], t.both((bit,) * 128, moved)))
        last = moved[-1]
        moved = (ZERO, *moved[:-1])
        moved = tuple(t.xor_bit(b, last) if n in REDUCED else b for n, b in enumerate(moved))
    return joined(total[-1])


def gcm(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """A counter, a text, the sum of GHASH before it and a mask (6.4, 6.5, 7.1 and 7.2): the sum behind it, the text's other
    side, and the sum's MSB with the stream, which is the tag if the text is the block of lengths and the counter J0."""

    def xor(a: Bytes, b: Bytes) -> list[Word]:
        return [t.xor(x, y) for x, y in zip(a, b, strict=True)]

    counter, text, before, mask = (block[n : n + 16] for n in range(0, 64, 16))
    h = [t.cut(byte) for byte in aes(t, key, [t.constant(0, 8)] * 16, False)]
    stream = aes(t, key, counter, False)
    out = xor([t.both(a, b) for a, b in zip(stream, mask, strict=True)], text)
    # Of text that the mask leaves out nothing is changed: it is zeros, or is hashed as it is.
    y = [t.cut(byte) for byte in xor(before, text if decrypt else out)]
    after = times(t, y, h)
    return [*after, *out, *xor(after, stream)]


def answered(t: Terms, row: Sequence[str], decrypt: bool) -> bool:
    """Whether a published packet of one block of text and a nonce of 96 bits comes out, its tag too."""
    key, nonce, _, plain, cipher, tag = (bytes.fromhex(field) for field in row[1:7])
    words = [t.constant(byte, 8) for byte in key]

    def step(counter: int, text: bytes, before: bytes, mask: int) -> list[bytes]:
        data = nonce + counter.to_bytes(4) + text + before + bytes([mask] * 16)
        got = gcm(t, words, [t.constant(byte, 8) for byte in data], decrypt)
        answer = bytes(t.known(byte) or 0 for byte in got)
        return [answer[n : n + 16] for n in range(0, 48, 16)]

    text, wanted = (cipher, plain) if decrypt else (plain, cipher)
    before, out, _ = step(2, text, bytes(16), 0xFF)
    lengths = bytes(8) + (8 * len(text)).to_bytes(8)
    return out == wanted and step(1, lengths, before, 0)[2] == tag
