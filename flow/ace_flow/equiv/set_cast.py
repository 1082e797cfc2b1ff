# SPDX-License-Identifier: Apache-2.0
"""CAST-128, CAST-256 and MARS from their standards, for ace_flow.equiv.sets."""

import hashlib
import struct
from collections.abc import Sequence

from ace_flow.equiv.set_ciphers import Bytes, split, words
from ace_flow.equiv.set_terms import Terms, Word
from ace_flow.tools import ToolError

# SHA-256 of S1 to S8 of RFC 2144, whose words have their highest byte first: nothing defines these tables but themselves.
DIGESTS = [
    "4bb56b2f7fa3c64b004f599c2146819816fccb7d105ec5f9925da6780f41b2ce",
    "9753ae4e75f0febb53104a11f14c2e75947480e93744d766030d31974c7bbf56",
    "82317535bfc5ce2e9ba9cfb72b869e456d03d6c8f988f176ebed4450db747af6",
    "a48127df70913d221a4e50ab65eb62dbc60964211048239a5d38f054443cc7f9",
    "a84d0dcd11868595aea037dd9e1f61a4530b6917aa74f35bd92179f9f4815852",
    "c4e0f01fe83abf2fbf963c1e4b8af67711e2c31e385873912fc6560f0d2179c6",
    "ed1448cba9a259341b0207c67caa4a1875f0a302785276db387c7710793a5001",
    "634c9826543e03648305e3f25a1f52bd0fa19bc727f5841bd6073e251b398a4c",
]
# RFC 2144, 2.4: lines of the halves of a quarter. Each is four bytes that are changed, four bytes that S5 to S8 look up,
# and the box and the byte of a fifth look-up. The first line's bytes are of the old half, the others' of the new one.
TO_Z = [(0, "DFCE", 7, 8), (8, "0213", 8, 10), (12, "7654", 5, 9), (4, "A9B8", 6, 11)]
TO_X = [(8, "5746", 7, 0), (0, "0213", 8, 2), (4, "7654", 5, 1), (12, "A9B8", 6, 3)]
# The keys of each quarter: five bytes, that S5 to S8 and one of them again look up.
KEYS = [
    ["89762", "AB546", "CD329", "EF10C"],
    ["32CD8", "10EFD", "76893", "54AB7"],
    ["32CD9", "10EFC", "76892", "54AB6"],
    ["89763", "AB547", "CD328", "EF10D"],
]

# MARS's submission: what its S-box is made of.
SEEDS = (0xB7E15162, 0x243F6A88, 0x02917D59)
TRIPLED = {17, 67, 76, 131, 147, 210, 297, 351, 420}


def named(tables: Sequence[Sequence[int]]) -> dict[int, Sequence[int]]:
    """The boxes among some tables, by their numbers."""
    found = {}
    for table in tables:
        digest = hashlib.sha256(struct.pack(f">{len(table)}I", *table)).hexdigest()
        if digest in DIGESTS:
            found[DIGESTS.index(digest) + 1] = table
    return found


class Cast:
    def __init__(self, t: Terms, tables: Sequence[Sequence[int]]) -> None:
        self.t, self.boxes = t, named(tables)

    def look(self, number: int, byte: Word) -> Word:
        if number not in self.boxes:
            raise ToolError(f"no table is S{number} of RFC 2144")
        return self.t.look(self.boxes[number], byte)

    def f(self, kind: int, d: Word, km: Word, kr: Word) -> Word:
        """RFC 2144, 2.2, types 1 to 3."""
        t = self.t
        i = [t.add(km, d), t.xor(km, d), t.add(km, minus=[d])][kind]
        a, b, c, e = (self.look(n + 1, byte) for n, byte in enumerate(split([t.rotate_by(i, kr)], True)))
        match kind:
            case 0:
                return t.add(t.xor(a, b), e, minus=[c])
            case 1:
                return t.xor(t.add(a, c, minus=[b]), e)
            case _:
                return t.add(t.xor(t.add(a, b), c), minus=[e])

    def five(self, data: Bytes, line: str) -> list[Word]:
        return [self.look(5 + n, data[int(place, 16)]) for n, place in enumerate(line)]

    def half(self, old: Bytes, lines: list[tuple[int, str, int, int]]) -> list[Word]:
        new: list[Word] = []
        for source, line, box, place in lines:
            looked = self.five(new if new else old, line)
            word = words(old[source : source + 4], True)[0]
            new += split([self.t.cut(self.t.xor(word, *looked, self.look(box, old[place])))], True)
        return new

    def keys128(self, key: Bytes) -> list[Word]:
        x, out = [*key], []
        for quarter in range(8):
            x = self.half(x, [TO_Z, TO_X][quarter % 2])
            for n, line in enumerate(KEYS[quarter % 4]):
                looked = [*self.five(x, line[:4]), self.look(5 + n, x[int(line[4], 16)])]
                out.append(self.t.xor(*looked))
        return out


def cast128(
    t: Terms, tables: Sequence[Sequence[int]], rounds: int, key: Bytes, block: Bytes, decrypt: bool
) -> list[Word]:
    """RFC 2144; the key has its 16 bytes."""
    cast = Cast(t, tables)
    keys = cast.keys128(key)
    left, right = words(block, True)
    for n in reversed(range(rounds)) if decrypt else range(rounds):
        left, right = right, t.xor(left, cast.f(n % 3, right, keys[n], keys[16 + n]))
    return split([right, left], True)


def cast256(
    t: Terms, tables: Sequence[Sequence[int]], keys: Sequence[Word], block: Bytes, decrypt: bool
) -> list[Word]:
    """RFC 2612, 2.2; the keys are Km of all quad-rounds, then Kr, in the order in which they are used."""
    cast = Cast(t, tables)
    a, b, c, d = words(block, True)
    for q in range(12):
        km, kr = keys[4 * q : 4 * q + 4], keys[48 + 4 * q : 52 + 4 * q]
        # A quad-round forward for the first six, and backward then; decryption is the same with the keys turned round.
        for n in range(4) if q < 6 else reversed(range(4)):
            match n:
                case 0:
                    c = t.xor(c, cast.f(0, d, km[0], kr[0]))
                case 1:
                    b = t.xor(b, cast.f(1, c, km[1], kr[1]))
                case 2:
                    a = t.xor(a, cast.f(2, b, km[2], kr[2]))
                case 3:
                    d = t.xor(d, cast.f(0, a, km[3], kr[3]))
    return split([a, b, c, d], True)


def cast256_keys(t: Terms, tables: Sequence[Sequence[int]], key: bytes, decrypt: bool) -> list[Word]:
    """RFC 2612, 2.4, of a known key, in the order in which the keys are used: of all quad-rounds Km, then Kr."""
    cast = Cast(t, tables)
    state = words([t.constant(byte, 8) for byte in key.ljust(32, b"\0")], True)
    cm, cr = 0x5A827999, 19
    masks, turns = [], []
    for _ in range(12):
        for _ in range(2):
            for n in range(8):
                to, source = (6 - n) % 8, 7 - n
                f = cast.f(n % 3, state[source], t.constant(cm), t.constant(cr))
                state[to] = t.xor(state[to], f)
                cm, cr = cm + 0x6ED9EBA1 & 0xFFFFFFFF, cr + 17 & 31
        masks.append([state[n] for n in (7, 5, 3, 1)])
        turns.append([state[n] for n in (0, 2, 4, 6)])
    if decrypt:
        masks, turns = masks[::-1], turns[::-1]
    return [word for four in [*masks, *turns] for word in four]


def mars_box() -> list[int]:
    """Entry 5i + j is word j of the digest of 5i and the seeds."""
    entries: list[int] = []
    for start in range(0, 512, 5):
        entries += struct.unpack("<5I", hashlib.sha1(struct.pack("<4I", start, *SEEDS)).digest())
    return [3 * w & 0xFFFFFFFF if n in TRIPLED else w for n, w in enumerate(entries[:512])]


MARS_BOX = mars_box()


def mars_keys(key: bytes) -> list[int]:
    """MARS's submission, 2.1, with the key schedule of the second round."""

    def turned(word: int, by: int) -> int:
        word &= 0xFFFFFFFF
        return (word << by | word >> 32 - by) & 0xFFFFFFFF

    count = len(key) // 4
    t = [*struct.unpack(f"<{count}I", key), count, *[0] * (14 - count)]
    k: list[int] = []
    for j in range(4):
        for i in range(15):
            t[i] ^= turned(t[i - 7] ^ t[i - 2], 3) ^ 4 * i + j
        for _ in range(4):
            for i in range(15):
                t[i] = turned(t[i] + MARS_BOX[t[i - 1] & 511], 9)
        k += [t[4 * i % 15] for i in range(10)]
    for i in range(5, 36, 2):
        w = k[i] | 3
        digits = f"{w:032b}"[::-1]
        runs = {n + d for n in range(23) if len({*digits[n : n + 10]}) == 1 for d in range(10)}
        inside = {n for n in range(2, 31) if digits[n - 1] == digits[n] == digits[n + 1]}
        mask = sum(1 << n for n in runs & inside)
        by = k[i - 1] & 31
        pattern = turned(MARS_BOX[265 + (k[i] & 3)], by) if by else MARS_BOX[265 + (k[i] & 3)]
        k[i] = w ^ pattern & mask
    return k


class Mars:
    """MARS's submission, 2; the keys are K[0] to K[39]."""

    def __init__(self, t: Terms) -> None:
        self.t = t

    def s(self, number: int, word: Word, byte: int) -> Word:
        return self.t.look(MARS_BOX[256 * number : 256 * number + 256], word[8 * byte : 8 * byte + 8])

    def e(self, word: Word, add: Word, times: Word) -> tuple[Word, Word, Word]:
        t = self.t
        m = t.add(word, add)
        low, high = self.s(0, m, 0), self.s(1, m, 0)
        both = t.xor(low, t.both(t.xor(low, high), (m[8],) * 32))
        r = t.rotl(t.multiply(t.rotl(word, 13), times), 5)
        more = t.rotl(r, 5)
        return t.rotate_by(t.xor(both, r, more), more), t.rotate_by(m, r), more

    def encrypt(self, k: Sequence[Word], block: Bytes) -> list[Word]:
        t = self.t
        a, b, c, d = (t.add(x, y) for x, y in zip(words(block, False), k, strict=False))
        for n in range(8):
            b = t.add(t.xor(b, self.s(0, a, 0)), self.s(1, a, 1))
            c = t.add(c, self.s(0, a, 2))
            d = t.xor(d, self.s(1, a, 3))
            a = t.rotl(a, 8)
            if n % 4 < 2:
                a = t.add(a, [d, b][n % 4])
            a, b, c, d = b, c, d, a
        for n in range(16):
            low, middle, right = self.e(a, k[2 * n + 4], k[2 * n + 5])
            a, c = t.rotl(a, 13), t.add(c, middle)
            if n < 8:
                b, d = t.add(b, low), t.xor(d, right)
            else:
                d, b = t.add(d, low), t.xor(b, right)
            a, b, c, d = b, c, d, a
        for n in range(8):
            if n % 4 > 1:
                a = t.add(a, minus=[[d, b][n % 4 - 2]])
            b = t.xor(b, self.s(1, a, 0))
            c = t.add(c, minus=[self.s(0, a, 3)])
            d = t.xor(t.add(d, minus=[self.s(1, a, 2)]), self.s(0, a, 1))
            a = t.rotl(a, 24)
            a, b, c, d = b, c, d, a
        return split([t.add(x, minus=[y]) for x, y in zip([a, b, c, d], k[36:], strict=True)], False)

    def decrypt(self, k: Sequence[Word], block: Bytes) -> list[Word]:
        """Each step of the encryption taken back."""
        t = self.t
        a, b, c, d = (t.add(x, y) for x, y in zip(words(block, False), k[36:], strict=True))
        for n in reversed(range(8)):
            a, b, c, d = d, a, b, c
            a = t.rotl(a, 8)
            d = t.add(t.xor(d, self.s(0, a, 1)), self.s(1, a, 2))
            c = t.add(c, self.s(0, a, 3))
            b = t.xor(b, self.s(1, a, 0))
            if n % 4 > 1:
                a = t.add(a, [d, b][n % 4 - 2])
        for n in reversed(range(16)):
            a, b, c, d = d, a, b, c
            a = t.rotl(a, 19)
            low, middle, right = self.e(a, k[2 * n + 4], k[2 * n + 5])
            c = t.add(c, minus=[middle])
            if n < 8:
                b, d = t.add(b, minus=[low]), t.xor(d, right)
            else:
                d, b = t.add(d, minus=[low]), t.xor(b, right)
        for n in reversed(range(8)):
            a, b, c, d = d, a, b, c
            if n % 4 < 2:
                a = t.add(a, minus=[[d, b][n % 4]])
            a = t.rotl(a, 24)
            d = t.xor(d, self.s(1, a, 3))
            c = t.add(c, minus=[self.s(0, a, 2)])
            b = t.xor(t.add(b, minus=[self.s(1, a, 1)]), self.s(0, a, 0))
        return split([t.add(x, minus=[y]) for x, y in zip([a, b, c, d], k, strict=False)], False)
