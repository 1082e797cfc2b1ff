# SPDX-License-Identifier: Apache-2.0
"""Ciphers from their standards, for ace_flow.equiv.sets: keys and blocks are bytes, in the order of the standard's text."""

from collections.abc import Sequence

from ace_flow.equiv import standard_functions as of
from ace_flow.equiv.set_terms import ZERO, Bit, Terms, Word

Bytes = Sequence[Word]


def words(data: Bytes, big: bool) -> list[Word]:
    """Words of 32 bits of bytes."""
    fours = [data[n : n + 4] for n in range(0, len(data), 4)]
    return [tuple(bit for byte in (four[::-1] if big else four) for bit in byte) for four in fours]


def split(data: Sequence[Word], big: bool) -> list[Word]:
    """Bytes of words."""
    out = []
    for word in data:
        four = [word[8 * n : 8 * n + 8] for n in range(4)]
        out += four[::-1] if big else four
    return out


def matrix(t: Terms, rows: Sequence[Sequence[int]], column: Bytes, modulus: int) -> list[Word]:
    """A matrix over GF(2^8) times a column of bytes."""
    out = []
    for row in rows:
        bits = []
        for bit in range(8):
            total = ZERO
            for factor, byte in zip(row, column, strict=True):
                for place in range(8):
                    if of.times(1 << place, factor, modulus) >> bit & 1:
                        total = t.xor_bit(total, byte[place])
            bits.append(total)
        out.append(tuple(bits))
    return out


def circulant(first: Sequence[int]) -> list[list[int]]:
    return [[first[(n - row) % 4] for n in range(4)] for row in range(4)]


BOX = of.aes_box()
UNBOX = [BOX.index(value) for value in range(256)]


def aes(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """FIPS 197: KeyExpansion (5.2), Cipher (5.1) and InvCipher (5.3)."""
    nk = len(key) // 4
    w = [[*key[4 * n : 4 * n + 4]] for n in range(nk)]
    constant = 1
    for n in range(nk, 4 * (nk + 7)):
        temp = w[n - 1]
        if n % nk == 0:
            temp = [t.look(BOX, byte, 8) for byte in temp[1:] + temp[:1]]
            temp[0] = t.xor(temp[0], t.constant(constant, 8))
            constant = of.times(constant, 2, 0x11B)
        elif nk > 6 and n % nk == 4:
            temp = [t.look(BOX, byte, 8) for byte in temp]
        w.append([t.xor(a, b) for a, b in zip(w[n - nk], temp, strict=True)])
    keys = [[byte for word in w[n : n + 4] for byte in word] for n in range(0, len(w), 4)]
    rows = circulant([0xE, 0xB, 0xD, 0x9] if decrypt else [2, 3, 1, 1])

    def added(state: Bytes, round_key: Bytes) -> list[Word]:
        return [t.xor(a, b) for a, b in zip(state, round_key, strict=True)]

    def mixed(state: Bytes) -> list[Word]:
        return [byte for n in range(0, 16, 4) for byte in matrix(t, rows, state[n : n + 4], 0x11B)]

    way, box = (-1, UNBOX) if decrypt else (1, BOX)
    state = added(block, keys[-1 if decrypt else 0])
    order = keys[-2::-1] if decrypt else keys[1:]
    for number, round_key in enumerate(order):
        # Byte n is row n % 4 of column n / 4.
        state = [t.look(box, state[(n + 4 * way * (n % 4)) % 16], 8) for n in range(16)]
        last = number + 1 == len(order)
        if decrypt:
            state = added(state, round_key)
            state = state if last else mixed(state)
        else:
            state = added(state if last else mixed(state), round_key)
        state = [t.cut(byte) for byte in state]
    return state


def upper(data: Bytes) -> list[Bit]:
    """Bits as FIPS 46-3 counts them."""
    return [bit for byte in data for bit in byte[::-1]]


def lower(bits: Sequence[Bit]) -> list[Word]:
    return [tuple(bits[n : n + 8][::-1]) for n in range(0, len(bits), 8)]


def des_once(t: Terms, key: Bytes, bits: list[Bit], decrypt: bool) -> list[Bit]:
    """FIPS 46-3; the block as bits."""
    chosen = [upper(key)[n - 1] for n in of.PC1_TABLE]
    c, d = chosen[:28], chosen[28:]
    keys = []
    for number in range(16):
        by = 1 if number in (0, 1, 8, 15) else 2
        c, d = c[by:] + c[:by], d[by:] + d[:by]
        keys.append([(c + d)[n - 1] for n in of.PC2_TABLE])
    boxes = []
    for rows in of.DES_BOXES:
        boxes.append([int(rows[2 * (v >> 5) + (v & 1)][v >> 1 & 15], 16) for v in range(64)])
    bits = [bits[n - 1] for n in of.IP_TABLE]
    left, right = bits[:32], bits[32:]
    for round_key in reversed(keys) if decrypt else keys:
        mixed = [t.xor_bit(right[n - 1], k) for n, k in zip(of.E_TABLE, round_key, strict=True)]
        out: list[Bit] = []
        for number, box in enumerate(boxes):
            index = tuple(mixed[6 * number : 6 * number + 6][::-1])
            out += t.look(box, index, 4)[::-1]
        f = [out[n - 1] for n in of.P_TABLE]
        left, right = right, [t.xor_bit(a, b) for a, b in zip(left, f, strict=True)]
    return [(right + left)[n - 1] for n in of.FP_TABLE]


def des(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """FIPS 46-3; with 24 bytes of a key SP 800-67."""
    parts = [(key[n : n + 8], (n // 8 % 2 == 1) != decrypt) for n in range(0, len(key), 8)]
    bits = upper(block)
    for part, back in reversed(parts) if decrypt else parts:
        bits = des_once(t, part, bits, back)
    return lower(bits)


def sm4(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """GB/T 32907, 6 and 7."""

    def tau(word: Word) -> Word:
        return tuple(bit for n in range(4) for bit in t.look(of.SM4_BOX, word[8 * n : 8 * n + 8], 8))

    def mixed(word: Word, *turns: int) -> Word:
        return t.xor(word, *(t.rotl(word, n) for n in turns))

    k = [
        t.xor(word, t.constant(fk))
        for word, fk in zip(words(key, True), [0xA3B1BAC6, 0x56AA3350, 0x677D9197, 0xB27022DC], strict=True)
    ]
    for n in range(32):
        ck = int.from_bytes(bytes((4 * n + j) * 7 % 256 for j in range(4)))
        f = mixed(tau(t.xor(k[n + 1], k[n + 2], k[n + 3], t.constant(ck))), 13, 23)
        k.append(t.cut(t.xor(k[n], f)))
    keys = k[4:]
    x = words(block, True)
    for n, round_key in enumerate(reversed(keys) if decrypt else keys):
        f = mixed(tau(t.xor(x[n + 1], x[n + 2], x[n + 3], round_key)), 2, 10, 18, 24)
        x.append(t.cut(t.xor(x[n], f)))
    return split(x[:-5:-1], True)


def rc6(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """RC6's paper, 2: 20 rounds."""
    count = len(key) // 4
    mixed, s = words(key, False), [t.constant(0xB7E15163 + n * 0x9E3779B9) for n in range(44)]
    a = b = t.constant(0)
    for n in range(132):
        a = s[n % 44] = t.rotl(t.add(s[n % 44], a, b), 3)
        both = t.add(a, b)
        b = mixed[n % count] = t.rotate_by(t.add(mixed[n % count], a, b), both)

    def square(word: Word) -> Word:
        return t.rotl(t.multiply(word, t.add(word, word, plus=1)), 5)

    a, b, c, d = words(block, False)
    if decrypt:
        c, a = t.add(c, minus=[s[43]]), t.add(a, minus=[s[42]])
        for n in reversed(range(1, 21)):
            a, b, c, d = d, a, b, c
            u, v = square(d), square(b)
            c = t.xor(t.rotate_by(t.add(c, minus=[s[2 * n + 1]]), v, right=True), u)
            a = t.xor(t.rotate_by(t.add(a, minus=[s[2 * n]]), u, right=True), v)
        return split([a, t.add(b, minus=[s[0]]), c, t.add(d, minus=[s[1]])], False)
    b, d = t.add(b, s[0]), t.add(d, s[1])
    for n in range(1, 21):
        v, u = square(b), square(d)
        a = t.add(t.rotate_by(t.xor(a, v), u), s[2 * n])
        c = t.add(t.rotate_by(t.xor(c, u), v), s[2 * n + 1])
        a, b, c, d = b, c, d, a
    return split([t.add(a, s[42]), b, t.add(c, s[43]), d], False)


def serpent(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """Serpent's submission, bit by bit in slices; the key has its 256 bits."""
    boxes = [[int(digit, 16) for digit in box] for box in of.SERPENT_BOXES]
    t.wholes = True

    def boxed(table: list[int], x: Sequence[Word]) -> list[Word]:
        columns = zip(*[t.cut(word) for word in x], strict=True)
        out = [t.box(table, column, 4) for column in columns]
        return [tuple(bits) for bits in zip(*out, strict=True)]

    w = words(key, False)
    for n in range(132):
        parts = [w[n], w[n + 3], w[n + 5], w[n + 7], t.constant(0x9E3779B9 ^ n)]
        w.append(t.rotl(t.xor(*parts), 11))
    keys = [boxed(boxes[(35 - n) % 8], w[4 * n + 8 : 4 * n + 12]) for n in range(33)]

    def keyed(x: Sequence[Word], number: int) -> list[Word]:
        return [t.xor(a, b) for a, b in zip(x, keys[number], strict=True)]

    def mixed(x: list[Word]) -> list[Word]:
        a, b, c, d = x
        a, c = t.rotl(a, 13), t.rotl(c, 3)
        b, d = t.xor(b, a, c), t.xor(d, c, t.shl(a, 3))
        b, d = t.rotl(b, 1), t.rotl(d, 7)
        a, c = t.xor(a, b, d), t.xor(c, d, t.shl(b, 7))
        return [t.rotl(a, 5), b, t.rotl(c, 22), d]

    def unmixed(x: list[Word]) -> list[Word]:
        a, b, c, d = x
        c, a = t.rotl(c, 10), t.rotl(a, 27)
        # Two of the words that the boxes take, but for a rotation; the others are made of them.
        c, a = t.cut(t.xor(c, d, t.shl(b, 7))), t.cut(t.xor(a, b, d))
        d, b = t.rotl(d, 25), t.rotl(b, 31)
        d, b = t.xor(d, c, t.shl(a, 3)), t.xor(b, a, c)
        return [t.rotl(a, 19), b, t.rotl(c, 29), d]

    x = words(block, False)
    if decrypt:
        inverses = [[box.index(value) for value in range(16)] for box in boxes]
        x = keyed(x, 32)
        for n in reversed(range(32)):
            x = keyed(boxed(inverses[n % 8], x if n == 31 else unmixed(x)), n)
        return split(x, False)
    for n in range(32):
        x = boxed(boxes[n % 8], keyed(x, n))
        x = x if n == 31 else mixed(x)
    return split(keyed(x, 32), False)


QS = [[of.twofish_q(number, x) for x in range(256)] for number in range(2)]
# 4.3.5, figure 2: which q each byte passes, the last one first, up to those for 256 bits.
PASSES = [(1, 0, 1, 0), (0, 0, 1, 1), (0, 1, 0, 1), (1, 1, 0, 0), (1, 0, 0, 1)]


def twofish(t: Terms, key: Bytes, block: Bytes, decrypt: bool) -> list[Word]:
    """Twofish's paper, 4."""
    count = len(key) // 8
    mds = [[*bytes.fromhex(row)] for row in of.TWOFISH_MDS]
    rs = [[*bytes.fromhex(row)] for row in of.TWOFISH_RS]

    def h(x: Bytes, lists: Sequence[Bytes]) -> Word:
        y = [*x]
        for n in reversed(range(count)):
            y = [
                t.xor(t.look(QS[q], byte, 8), k)
                for q, byte, k in zip(PASSES[n + 1], y, lists[n], strict=True)
            ]
        y = [t.look(QS[q], byte, 8) for q, byte in zip(PASSES[0], y, strict=True)]
        return words(matrix(t, mds, y, 0x169), False)[0]

    even = [key[8 * n : 8 * n + 4] for n in range(count)]
    odd = [key[8 * n + 4 : 8 * n + 8] for n in range(count)]
    s = [matrix(t, rs, key[8 * n : 8 * n + 8], 0x14D) for n in reversed(range(count))]
    k = []
    for n in range(20):
        a = h([t.constant(2 * n, 8)] * 4, even)
        b = t.rotl(h([t.constant(2 * n + 1, 8)] * 4, odd), 8)
        k += [t.add(a, b), t.rotl(t.add(a, b, b), 9)]

    def f(x: Word, y: Word, number: int) -> tuple[Word, Word]:
        one = h(split([x], False), s)
        two = h(split([t.rotl(y, 8)], False), s)
        return t.add(one, two, k[2 * number + 8]), t.add(one, two, two, k[2 * number + 9])

    x = words(block, False)
    if decrypt:
        x = [t.xor(x[(n + 2) % 4], k[4 + (n + 2) % 4]) for n in range(4)]
        for n in reversed(range(16)):
            a, b, c, d = x[2], x[3], x[0], x[1]
            first, second = f(a, b, n)
            x = [a, b, t.xor(t.rotl(c, 1), first), t.rotl(t.xor(d, second), 31)]
        return split([t.xor(a, b) for a, b in zip(x, k, strict=False)], False)
    x = [t.xor(a, b) for a, b in zip(x, k, strict=False)]
    for n in range(16):
        first, second = f(x[0], x[1], n)
        x = [t.rotl(t.xor(x[2], first), 31), t.xor(t.rotl(x[3], 1), second), x[0], x[1]]
    return split([t.xor(x[(n + 2) % 4], k[4 + n]) for n in range(4)], False)
