# SPDX-License-Identifier: Apache-2.0
"""What the sets that random frames use compute, written from their standards: AES (FIPS 197), XTEA (Needham and Wheeler),
MD5 (RFC 1321), SHA-1 (FIPS 180-4). Modes and HMAC are of SP 800-38A and RFC 2104."""

import hashlib
import hmac
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass

MASK = 0xFFFFFFFF


def double(value: int) -> int:
    """Twice, in the field of AES."""
    return ((value << 1) ^ (0x11B if value & 0x80 else 0)) & 0xFF


def times(a: int, b: int) -> int:
    """A product there."""
    out = 0
    while b:
        out ^= a if b & 1 else 0
        a, b = double(a), b >> 1
    return out


def boxes() -> tuple[list[int], list[int]]:
    """The S-box, from inverses of the field, and its inverse."""
    forward, backward = [0] * 256, [0] * 256
    for value in range(256):
        inverse = next((i for i in range(256) if times(value, i) == 1), 0)
        turned = inverse
        for n in range(1, 5):
            turned ^= ((inverse << n) | (inverse >> (8 - n))) & 0xFF
        forward[value] = turned ^ 0x63
        backward[turned ^ 0x63] = value
    return forward, backward


SBOX, INVERSE = boxes()


def column(factors: tuple[int, ...], box: list[int]) -> list[list[int]]:
    """Tables of what a byte of each row adds to its column, the lowest byte first."""
    table = [sum(times(factors[i], box[value]) << (8 * i) for i in range(4)) for value in range(256)]
    return [[((w << (8 * r)) | (w >> (32 - 8 * r))) & MASK for w in table] for r in range(4)]


ROUND = column((2, 1, 1, 3), SBOX)
BACK = column((14, 9, 13, 11), INVERSE)
MIXED = column((14, 9, 13, 11), list(range(256)))


def aes_words(key: bytes) -> list[int]:
    """The key schedule, each word with its first byte lowest."""
    nk = len(key) // 4
    words = list(struct.unpack(f"<{nk}I", key))
    rcon = 1
    for i in range(nk, 4 * (nk + 7)):
        word = words[-1]
        if i % nk == 0 or (nk > 6 and i % nk == 4):
            if i % nk == 0:
                word = (word >> 8) | ((word << 24) & MASK)
            word = sum(SBOX[word >> n & 255] << n for n in (0, 8, 16, 24))
            if i % nk == 0:
                word, rcon = word ^ rcon, double(rcon)
        words.append(words[i - nk] ^ word)
    return words


def aes_back_words(key: bytes) -> list[int]:
    """Those of the equivalent inverse cipher."""
    words = aes_words(key)
    rounds = len(words) // 4 - 1
    out = []
    for r in range(rounds, -1, -1):
        for word in words[4 * r : 4 * r + 4]:
            mixed = 0
            for row in range(4):
                mixed ^= MIXED[row][word >> 8 * row & 255]
            out.append(mixed if 0 < r < rounds else word)
    return out


def aes(words: list[int], block: bytes, back: bool) -> bytes:
    """One block, with the words of its direction."""
    t0, t1, t2, t3 = BACK if back else ROUND
    box, way = (INVERSE, 3) if back else (SBOX, 1)
    x = [a ^ b for a, b in zip(struct.unpack("<4I", block), words[:4], strict=True)]
    last = len(words) - 4
    for r in range(4, last, 4):
        x = [
            t0[x[j] & 255]
            ^ t1[x[(j + way) & 3] >> 8 & 255]
            ^ t2[x[(j + 2) & 3] >> 16 & 255]
            ^ t3[x[(j - way) & 3] >> 24]
            ^ words[r + j]
            for j in range(4)
        ]
    out = []
    for j in range(4):
        word = box[x[j] & 255] | box[x[(j + way) & 3] >> 8 & 255] << 8
        word |= box[x[(j + 2) & 3] >> 16 & 255] << 16 | box[x[(j - way) & 3] >> 24] << 24
        out.append(word ^ words[last + j])
    return struct.pack("<4I", *out)


def xtea_words(key: bytes) -> list[int]:
    """What each half round adds."""
    words, total, out = struct.unpack(">4I", key), 0, []
    for _ in range(32):
        out.append((words[total & 3] + total) & MASK)
        total = (total + 0x9E3779B9) & MASK
        out.append((words[total >> 11 & 3] + total) & MASK)
    return out


def xtea(words: list[int], block: bytes, back: bool) -> bytes:
    """One block."""
    a, b = struct.unpack(">2I", block)
    for i in range(63, -1, -1) if back else range(64):
        other = a if i & 1 else b
        change = ((((other << 4) ^ (other >> 5)) + other) ^ words[i]) & MASK
        change = -change if back else change
        a, b = (a, (b + change) & MASK) if i & 1 else ((a + change) & MASK, b)
    return struct.pack(">2I", a, b)


@dataclass(frozen=True)
class Cipher:
    """`words`: of a key, as its frame has them."""

    block: int
    words: Callable[[bytes], list[int]]
    run: Callable[[list[int], bytes, bool], bytes]
    back: bool

    def crypt(self, words: list[int], mode: str, iv: bytes, text: bytes, back: bool = False) -> bytes:
        """A payload in a mode; `back`: CFB decrypts, with the cipher that encrypts."""
        size, out = self.block, bytearray()
        if mode in ("cfb", "ofb"):
            for n in range(0, len(text), size):
                stream = self.run(words, iv, False)
                out += bytes(a ^ b for a, b in zip(text[n : n + size], stream, strict=False))
                iv = stream if mode == "ofb" else (text if back else bytes(out))[n : n + size]
            return bytes(out)
        if mode == "ctr":
            count = int.from_bytes(iv, "big")
            for n in range(0, len(text), size):
                stream = self.run(words, ((count + n // size) % (1 << 8 * size)).to_bytes(size, "big"), False)
                out += bytes(a ^ b for a, b in zip(text[n : n + size], stream, strict=False))
            return bytes(out)
        before = int.from_bytes(iv if mode == "cbc" else bytes(size), "big")
        for n in range(0, len(text), size):
            block = text[n : n + size]
            if self.back:
                word = int.from_bytes(self.run(words, block, True), "big") ^ before
            else:
                word = int.from_bytes(
                    self.run(words, (int.from_bytes(block, "big") ^ before).to_bytes(size, "big"), False),
                    "big",
                )
            if mode == "cbc":
                before = int.from_bytes(block, "big") if self.back else word
            out += word.to_bytes(size, "big")
        return bytes(out)


def left(value: int, n: int) -> int:
    """A rotation."""
    return ((value << n) | (value >> (32 - n))) & MASK


def md5_block(state: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """One block of a message."""
    words = struct.unpack("<16I", block)
    a, b, c, d = state
    for i in range(64):
        if i < 16:
            f, g = (b & c) | (~b & d), i
        elif i < 32:
            f, g = (b & d) | (c & ~d), 5 * i + 1
        elif i < 48:
            f, g = b ^ c ^ d, 3 * i + 5
        else:
            f, g = c ^ (b | (~d & MASK)), 7 * i
        turn = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))[i // 16][i % 4]
        total = (a + (f & MASK) + words[g % 16] + int(abs(math.sin(i + 1)) * (1 << 32))) & MASK
        a, b, c, d = d, (b + left(total, turn)) & MASK, b, c
    return tuple((x + y) & MASK for x, y in zip(state, (a, b, c, d), strict=True))


def sha1_block(state: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """One block of a message."""
    words = list(struct.unpack(">16I", block))
    for i in range(16, 80):
        words.append(left(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1))
    a, b, c, d, e = state
    for i, word in enumerate(words):
        if i < 20:
            f, k = (b & c) | (~b & d), 0x5A827999
        elif i < 40:
            f, k = b ^ c ^ d, 0x6ED9EBA1
        elif i < 60:
            f, k = (b & c) | (b & d) | (c & d), 0x8F1BBCDC
        else:
            f, k = b ^ c ^ d, 0xCA62C1D6
        a, b, c, d, e = (left(a, 5) + (f & MASK) + e + k + word) & MASK, a, left(b, 30), c, d
    return tuple((x + y) & MASK for x, y in zip(state, (a, b, c, d, e), strict=True))


FIRST = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)


@dataclass(frozen=True)
class Hash:
    """`name`: as hashlib has it."""

    name: str
    words: int
    step: Callable[[tuple[int, ...], bytes], tuple[int, ...]]

    def states(self, key: bytes) -> bytes:
        """Of a key of HMAC, as its frame has them: each in 32 bytes."""
        out = b""
        for pad in (0x36, 0x5C):
            block = bytes(byte ^ pad for byte in key.ljust(64, b"\0"))
            out += struct.pack(f"<{self.words}I", *self.step(FIRST[: self.words], block)).ljust(32, b"\0")
        return out

    def digest(self, message: bytes) -> bytes:
        return hashlib.new(self.name, message).digest()

    @property
    def order(self) -> str:
        return "<" if self.name == "md5" else ">"

    def begin(self) -> bytes:
        """The first state, as frames have it."""
        return struct.pack(f"{self.order}{self.words}I", *FIRST[: self.words])

    def blocks(self, state: bytes, message: bytes) -> bytes:
        """The state behind whole blocks."""
        words = struct.unpack(f"{self.order}{self.words}I", state)
        for n in range(0, len(message), 64):
            words = self.step(words, message[n : n + 64])
        return struct.pack(f"{self.order}{self.words}I", *words)

    def rest(self, so_far: int, state: bytes, message: bytes) -> bytes:
        """The digest of a message of which so many bytes are in the state."""
        bits = (8 * (so_far + len(message))) % (1 << 64)
        end = b"\x80" + bytes(-(len(message) + 9) % 64) + struct.pack(f"{self.order}Q", bits)
        return self.blocks(state, message + end)

    def mac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self.name).digest()


CIPHERS = {
    "aes128_encrypt": Cipher(16, aes_words, aes, False),
    "aes256_encrypt": Cipher(16, aes_words, aes, False),
    "aes128_decrypt": Cipher(16, aes_back_words, aes, True),
    "xtea_encrypt": Cipher(8, xtea_words, xtea, False),
    "xtea_decrypt": Cipher(8, xtea_words, xtea, True),
}
HASHES = {"md5": Hash("md5", 4, md5_block), "sha1": Hash("sha1", 5, sha1_block)}
