# SPDX-License-Identifier: Apache-2.0
"""Functions of ciphers and hashes, written down from the standards' own tables and definitions, for ace_flow.standard."""

from dataclasses import dataclass, field

from ace_flow.equiv.words import Words
from ace_flow.prove.gates import FALSE, Literal

Word = list[Literal]

# FIPS 46-3: E, P, IP, its inverse, PC-1 and PC-2. Bits are counted from 1, the highest.
E_TABLE = [32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17]
E_TABLE += [16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1]
P_TABLE = [16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10]
P_TABLE += [2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25]
IP_TABLE = [first - 8 * n for first in (58, 60, 62, 64, 57, 59, 61, 63) for n in range(8)]
FP_TABLE = [40 - row + 8 * n for row in range(8) for n in (0, -4, 1, -3, 2, -2, 3, -1)]
PC1_TABLE = [
    57,
    49,
    41,
    33,
    25,
    17,
    9,
    1,
    58,
    50,
    42,
    34,
    26,
    18,
    10,
    2,
    59,
    51,
    43,
    35,
    27,
    19,
    11,
    3,
    60,
    52,
]
PC1_TABLE += [
    44,
    36,
    63,
    55,
    47,
    39,
    31,
    23,
    15,
    7,
    62,
    54,
    46,
    38,
    30,
    22,
    14,
    6,
    61,
    53,
    45,
    37,
    29,
    21,
    13,
]
PC1_TABLE += [5, 28, 20, 12, 4]
PC2_TABLE = [
    14,
    17,
    11,
    24,
    1,
    5,
    3,
    28,
    15,
    6,
    21,
    10,
    23,
    19,
    12,
    4,
    26,
    8,
    16,
    7,
    27,
    20,
    13,
    2,
    41,
    52,
    31,
]
PC2_TABLE += [37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32]
# Four rows of sixteen, in hexadecimal.
DES_BOXES = [
    ["E4D12FB83A6C5907", "0F74E2D1A6CB9538", "41E8D62BFC973A50", "FC8249175B3EA06D"],
    ["F18E6B34972DC05A", "3D47F28EC01A69B5", "0E7BA4D158C6932F", "D8A13F42B67C05E9"],
    ["A09E63F51DC7B428", "D709346A285ECBF1", "D6498F30B12C5AE7", "1AD069874FE3B52C"],
    ["7DE3069A1285BC4F", "D8B56F03472C1AE9", "A690CB7DF13E5284", "3F06A1D8945BC72E"],
    ["2C417AB6853FD0E9", "EB2C47D150FA3986", "421BAD78F9C5630E", "B8C71E2D6F09A453"],
    ["C1AF92680D34E75B", "AF427C9561DE0B38", "9EF528C3704A1DB6", "432C95FABE17608D"],
    ["4B2EF08D3C975A61", "D0B7491AE35C2F86", "14BDC37EAF680592", "6BD814A7950FE23C"],
    ["D2846FB1A93E50C7", "1FD8A374C56B0E92", "7B419CE206ADF358", "21E74A8DFC90356B"],
]
# GB/T 32907, 6.2.1.
SM4_BOX = bytes.fromhex(
    "D690E9FECCE13DB716B614C228FB2C052B679A762ABE04C3AA441326498606999C4250F491EF987A33540B43EDCFAC62"
    "E4B31CA9C908E89580DF94FA758F3FA64707A7FCF37317BA83593C19E6854FA8686B81B27164DA8BF8EB0F4B70569D35"
    "1E240E5E6358D1A225227C3B01217887D40046579FD327524C3602E7A0C4C89EEABF8AD240C738B5A3F7F2CEF96115A1"
    "E0AE5DA49B341A55AD933230F58CB1E31DF6E22E8266CA60C02923AB0D534E6FD5DB3745DEFD8E2F03FF6A726D6C5B51"
    "8D1BAF92BBDDBC7F11D95C411F105AD80AC13188A5CD7BBD2D74D012B8E5B4B08969974A0C96777E65B9F109C56EC684"
    "18F07DEC3ADC4D2079EE5F3ED7CB3948"
)
# Serpent's submission, S0 to S7.
SERPENT_BOXES = ["38F1A65BED42709C", "FC27905A1BE86D34", "86793CAFD1E40B52", "0FB8C963D124A75E"]
SERPENT_BOXES += ["1F83C0B6254A9E7D", "F52B4A9C03E8D671", "72C5846BE91FD3A0", "1DF0E82B74CA9356"]
# RFC 8891, 4.1: pi'_0 to pi'_7.
MAGMA_BOXES = ["C462A5B9E8D703F1", "68239A5C1E47BD0F", "B3582FADE174C960", "C821D4F670A53E9B"]
MAGMA_BOXES += ["7F5A816D093EB42C", "5DF692CAB78143E0", "8E25691CF4B0DA37", "17ED05834FA69CB2"]
# Twofish's paper, 4.3.5: t0 to t3 of q0, and of q1.
TWOFISH_NIBBLES = [
    ["817D6F320B59ECA4", "ECB81235F4A6709D", "BA5E6D90C8F32471", "D7F4126E9B3085CA"],
    ["28BDF76E31940AC5", "1E2B4C376DA5F908", "4C75169A0ED82B3F", "B951C3DE647F208A"],
]
TWOFISH_MDS = ["01EF5B5B", "5BEFEF01", "EF5B01EF", "EF01EF5B"]
TWOFISH_RS = ["01A455875A58DB9E", "A45682F31EC668E5", "02A1FCC147AE3D19", "A455875A58DB9E03"]
# RFC 1321, 3.4: the word that a step takes, round by round: first one, and how much further each next one is.
MD5_WORDS = [(0, 1), (1, 5), (5, 3), (0, 7)]


def times(a: int, b: int, modulus: int) -> int:
    """A product in GF(2^8)."""
    product = 0
    for place in range(8):
        product ^= (a << place) * (b >> place & 1)
    for place in range(14, 7, -1):
        product ^= (modulus << place - 8) * (product >> place & 1)
    return product


def aes_box() -> list[int]:
    """FIPS 197, 5.1.1."""
    box = []
    for value in range(256):
        b = next((b for b in range(256) if times(value, b, 0x11B) == 1), 0)
        turns = b >> 4 | b << 4, b >> 5 | b << 3, b >> 6 | b << 2, b >> 7 | b << 1
        box.append((b ^ turns[0] ^ turns[1] ^ turns[2] ^ turns[3]) & 0xFF ^ 0x63)
    return box


def twofish_q(number: int, x: int) -> int:
    a, b = x >> 4, x & 15
    for first, second in (TWOFISH_NIBBLES[number][:2], TWOFISH_NIBBLES[number][2:]):
        a, b = a ^ b, a ^ (b >> 1 | (b & 1) << 3) ^ 8 * a & 15
        a, b = int(first[a], 16), int(second[b], 16)
    return 16 * b + a


@dataclass
class Spec:
    """Words of literals by the standards, the lowest bit first; `wrong`: with one thing changed."""

    words: Words
    wrong: bool = False
    changed: bool = field(default=False, init=False)

    def _changes(self) -> bool:
        """Whether this is what the control has otherwise."""
        changes, self.changed = self.wrong and not self.changed, True
        return changes

    def look(self, box: list[int], select: Word, width: int) -> Word:
        """An entry of a table."""
        box = [*box]
        box[-1] ^= int(self._changes())
        return self.words.choose([[entry >> bit & 1 for bit in range(width)] for entry in box], select)

    def constant(self, value: int, width: int) -> Word:
        value ^= int(self._changes())
        return [value >> bit & 1 for bit in range(width)]

    def xor(self, *operands: Word) -> Word:
        total = operands[0]
        for other in operands[1:]:
            total = [self.words.differ(a, b) for a, b in zip(total, other, strict=True)]
        return total

    def rotl(self, a: Word, places: int) -> Word:
        """To the left; the control rotates by one place more, once."""
        places = (places + int(self._changes())) % len(a)
        return [*a[len(a) - places :], *a[: len(a) - places]]

    def shl(self, a: Word, places: int) -> Word:
        return [*[FALSE] * places, *a[: len(a) - places]]

    def rotate(self, a: Word, places: Word) -> Word:
        """By as many places as the lowest five bits of a word say."""
        return self.words.choose([self.rotl(a, n) for n in range(32)], places[:5])

    def permute(self, a: Word, table: list[int]) -> Word:
        """Bits by their numbers, the highest of a word and of the result first."""
        table = [*table]
        if self._changes():
            table[0], table[1] = table[1], table[0]
        return [*reversed([a[len(a) - bit] for bit in table])]

    def matrix(self, rows: list[str], a: Word, modulus: int) -> Word:
        """Rows of coefficients times the bytes of a word, the lowest byte first."""
        out: Word = []
        for row in rows:
            factors = [*bytes.fromhex(row)]
            factors[0] ^= int(self._changes())
            for bit in range(8):
                parts = [
                    a[8 * place + one]
                    for place, factor in enumerate(factors)
                    for one in range(8)
                    if times(1 << one, factor, modulus) >> bit & 1
                ]
                out.append(self.words.tree(self.words.differ, parts, FALSE))
        return out

    # AES.
    def aes_sub(self, a: Word) -> Word:
        return self.look(aes_box(), a, 8)

    def aes_inv_sub(self, a: Word) -> Word:
        box = aes_box()
        return self.look([box.index(value) for value in range(256)], a, 8)

    def aes_inv_mix(self, a: Word) -> Word:
        """FIPS 197, 5.3.3."""
        return self.matrix(["0E0B0D09", "090E0B0D", "0D090E0B", "0B0D090E"], a, 0x11B)

    # SM4.
    def sm4_sub(self, a: Word) -> Word:
        return [bit for place in range(4) for bit in self.look([*SM4_BOX], a[8 * place :][:8], 8)]

    def sm4_mix(self, a: Word) -> Word:
        return self.xor(a, *(self.rotl(a, places) for places in (2, 10, 18, 24)))

    def sm4_mix_key(self, a: Word) -> Word:
        return self.xor(a, *(self.rotl(a, places) for places in (13, 23)))

    # DES. A block and a key have the byte that comes first in the lowest bits.
    def _wire(self, a: Word) -> Word:
        return [bit for place in reversed(range(8)) for bit in a[8 * place :][:8]]

    def des_ip(self, block: Word) -> Word:
        return self.permute(self._wire(block), IP_TABLE)

    def des_fp(self, halves: Word) -> Word:
        return self._wire(self.permute(halves, FP_TABLE))

    def des_pc1(self, key: Word) -> Word:
        return self.permute(self._wire(key), PC1_TABLE)

    def des_pc2(self, halves: Word) -> Word:
        return self.permute(halves, PC2_TABLE)

    def des_f(self, r: Word, k: Word) -> Word:
        """ "The cipher function f"."""
        expanded = [self.words.differ(r[32 - bit], k[47 - place]) for place, bit in enumerate(E_TABLE)]
        out: Word = []
        for number, rows in enumerate(DES_BOXES):
            b = expanded[6 * number : 6 * number + 6]
            box = [int(rows[2 * (v >> 5) + (v & 1)][v >> 1 & 15], 16) for v in range(64)]
            out += reversed(self.look(box, [*reversed(b)], 4))
        return [*reversed([out[bit - 1] for bit in P_TABLE])]

    # Serpent.
    def serpent_boxes(self) -> Word:
        """Entries of four bits, S0 to S7, then their inverses."""
        boxes = [[int(digit, 16) for digit in box] for box in SERPENT_BOXES]
        boxes += [[box.index(value) for value in range(16)] for box in boxes]
        entries = [entry for box in boxes for entry in box]
        return self.constant(sum(entry << 4 * place for place, entry in enumerate(entries)), 4 * len(entries))

    def serpent_mix(self, a: Word, key: Word) -> Word:
        """The linear transformation, then a round key."""
        x = [a[32 * n :][:32] for n in range(4)]
        x[0], x[2] = self.rotl(x[0], 13), self.rotl(x[2], 3)
        x[1], x[3] = self.xor(x[1], x[0], x[2]), self.xor(x[3], x[2], self.shl(x[0], 3))
        x[1], x[3] = self.rotl(x[1], 1), self.rotl(x[3], 7)
        x[0], x[2] = self.xor(x[0], x[1], x[3]), self.xor(x[2], x[3], self.shl(x[1], 7))
        return self.xor([*self.rotl(x[0], 5), *x[1], *self.rotl(x[2], 22), *x[3]], key)

    def serpent_unmix(self, a: Word, key: Word) -> Word:
        """A round key, then the inverse linear transformation."""
        b = self.xor(a, key)
        x = [b[32 * n :][:32] for n in range(4)]
        x[2], x[0] = self.rotl(x[2], 10), self.rotl(x[0], 27)
        x[2], x[0] = self.xor(x[2], x[3], self.shl(x[1], 7)), self.xor(x[0], x[1], x[3])
        x[3], x[1] = self.rotl(x[3], 25), self.rotl(x[1], 31)
        x[3], x[1] = self.xor(x[3], x[2], self.shl(x[0], 3)), self.xor(x[1], x[0], x[2])
        return [*self.rotl(x[0], 19), *x[1], *self.rotl(x[2], 29), *x[3]]

    # Twofish.
    def twofish_q(self, which: Word, x: Word) -> Word:
        return self.look([twofish_q(number, v) for number in range(2) for v in range(256)], [*x, *which], 8)

    def twofish_mds(self, a: Word) -> Word:
        return self.matrix(TWOFISH_MDS, a, 0x169)

    def twofish_rs(self, a: Word) -> Word:
        """The column of each byte, the first byte's first."""
        columns = [[row[2 * n : 2 * n + 2] for row in TWOFISH_RS] for n in range(8)]
        return [bit for n, rows in enumerate(columns) for bit in self.matrix(rows, a[8 * n :][:8], 0x14D)]

    # Magma.
    def magma_boxes(self) -> Word:
        """Of each S-box and each bit of what it gives, the bits for the inputs 0 to 15."""
        bits = [int(box[v], 16) >> place & 1 for box in MAGMA_BOXES for place in range(4) for v in range(16)]
        return self.constant(sum(bit << place for place, bit in enumerate(bits)), len(bits))

    def magma_rotate(self, a: Word) -> Word:
        return self.rotl(a, 11)

    def magma_key(self, number: Word, decrypt: Word) -> Word:
        """RFC 8891, 4.3 and 4.5: which of the key's words a round adds."""
        forward = [n % 8 if n < 24 else 7 - n % 8 for n in range(32)]
        return self.look([*forward, *reversed(forward)], [*number, *decrypt], 3)

    # CAST-128.
    def cast128_kind(self, number: Word) -> Word:
        return self.look([n % 3 for n in range(16)], number, 2)

    # Hashes.
    def md5_mix(self, which: Word, x: Word, y: Word, z: Word) -> Word:
        w = self.words
        f = [w.either(w.both(a, b), w.both(a ^ 1, c)) for a, b, c in zip(x, y, z, strict=True)]
        g = [w.either(w.both(a, c), w.both(b, c ^ 1)) for a, b, c in zip(x, y, z, strict=True)]
        i = [w.differ(b, w.either(a, c ^ 1)) for a, b, c in zip(x, y, z, strict=True)]
        f, g = (g, f) if self._changes() else (f, g)
        return w.choose([f, g, self.xor(x, y, z), i], which)

    def md5_word(self, step: Word) -> Word:
        words = [(first + by * n) % 16 for first, by in MD5_WORDS for n in range(16)]
        return self.look(words, step, 4)

    def sha1_choice(self, x: Word, y: Word, z: Word) -> Word:
        w = self.words
        y, z = (z, y) if self._changes() else (y, z)
        return [w.differ(w.both(a, b), w.both(a ^ 1, c)) for a, b, c in zip(x, y, z, strict=True)]

    def sha1_parity(self, x: Word, y: Word, z: Word) -> Word:
        return self.xor(x, y, [bit ^ int(self._changes()) for bit in z])

    def sha1_majority(self, x: Word, y: Word, z: Word) -> Word:
        w = self.words
        pairs = [(w.both(a, b), w.both(a, c), w.both(b, c)) for a, b, c in zip(x, y, z, strict=True)]
        return [w.differ(w.differ(a, b), c) ^ int(self._changes()) for a, b, c in pairs]
