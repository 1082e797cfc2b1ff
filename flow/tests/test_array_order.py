# SPDX-License-Identifier: Apache-2.0
"""What random frames are compared with: the ciphers and hashes against published answers, the order against small cases."""

import hashlib
import hmac
import struct
import unittest
from unittest import mock

from ace_flow.array.frames import KEY, LOAD, NOT_FORWARDED, Set, frame
from ace_flow.array.order import ALGORITHM, CTR, ECB, MAC, NO_KEY, OK, SHORT, Known, Order
from ace_flow.array.reference import CIPHERS, FIRST, HASHES, aes_back_words, aes_words, xtea_words

BLOCK = bytes.fromhex("00112233445566778899aabbccddeeff")


def made(name: str, code: int, decrypt: int, words: tuple[int, int, int], keys: int = 0) -> Known:
    """A set that says so of itself, and has nothing else."""
    data = bytearray(64)
    data[24], data[25], data[34], data[35] = words[0], words[1], code, decrypt | keys << 1
    data[63] = len(name)
    return Known.of(Set(name, "", bytes(data), words[2]))


class Reference(unittest.TestCase):
    def test_aes_and_xtea(self) -> None:
        for size, wanted in (
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ):
            key, cipher = bytes(range(size)), CIPHERS["aes128_encrypt"]
            self.assertEqual(cipher.crypt(aes_words(key), "ecb", b"", BLOCK).hex(), wanted)
            back = CIPHERS["aes128_decrypt"].crypt(aes_back_words(key), "ecb", b"", bytes.fromhex(wanted))
            self.assertEqual(back, BLOCK)
        words = xtea_words(bytes(range(16)))
        self.assertEqual(
            CIPHERS["xtea_encrypt"].crypt(words, "ecb", b"", b"ABCDEFGH").hex(), "497df3d072612cb5"
        )

    def test_modes(self) -> None:
        # SP 800-38A, F.2.1 and F.5.1.
        key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
        text = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
        cipher, words = CIPHERS["aes128_encrypt"], aes_words(key)
        chained = cipher.crypt(words, "cbc", bytes(range(16)), text)
        self.assertEqual(chained.hex(), "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")
        back = CIPHERS["aes128_decrypt"].crypt(aes_back_words(key), "cbc", bytes(range(16)), chained)
        self.assertEqual(back, text)
        counted = cipher.crypt(words, "ctr", bytes(range(0xF0, 0x100)), text[:21])
        self.assertEqual(counted.hex(), "874d6191b620e3261bef6864990db6ce9806f66b79")
        # F.3.13 and F.4.1.
        for mode, wanted in (
            ("cfb", "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0"),
            ("ofb", "3b3fd92eb72dad20333449f8e83cfb4a7789508d16"),
        ):
            fed = cipher.crypt(words, mode, bytes(range(16)), text[:21])
            self.assertEqual(fed.hex(), wanted)
            self.assertEqual(cipher.crypt(words, mode, bytes(range(16)), fed, True), text[:21])

    def test_hashes(self) -> None:
        for name, known in HASHES.items():
            message = b"abc" + b"\x80" + bytes(52) + struct.pack("<Q" if name == "md5" else ">Q", 24)
            state = known.step(FIRST[: known.words], message)
            self.assertEqual(
                struct.pack(f"{'<' if name == 'md5' else '>'}{known.words}I", *state), known.digest(b"abc")
            )
            state = known.blocks(known.begin(), bytes(128))
            for rest in (b"", b"x", bytes(56), bytes(64)):
                self.assertEqual(known.rest(128, state, rest), known.digest(bytes(128) + rest))
            self.assertEqual(known.digest(b"x"), hashlib.new(name, b"x").digest())
            self.assertEqual(known.mac(b"k", b"x"), hmac.new(b"k", b"x", name).digest())


class Orders(unittest.TestCase):
    def setUp(self) -> None:
        self.aes = made("aes128_encrypt", 1, 0, (4, 4, 44))
        self.keys = made("aes128_encrypt_keys", 1, 0, (4, 44, 0), keys=1)
        self.sha1 = made("sha1", 0x42, 0, (21, 5, 0))
        self.order = Order(2, [self.aes, self.keys, self.sha1])

    def take(self, request: bytes) -> list[tuple[int, list[int]]]:
        return [(answer.tag, sorted(answer.statuses)) for answer in self.order.take(request)]

    def load(self, known: Known, tiles: int) -> None:
        self.assertEqual(self.take(frame(0, LOAD, known.set.data, tag=1, result=tiles)), [(1, [OK])])

    def key(self, secret: bytes) -> bytes:
        return frame(1, KEY, struct.pack("<44I", *aes_words(secret)), tag=2, result=44)

    def expand(self, secret: bytes) -> bytes:
        inner = self.key(bytes(16))[:16]
        return frame(1, 0x53, inner + secret, tag=3, result=44)

    def test_the_last_key_serves(self) -> None:
        self.load(self.aes, 1)
        self.assertEqual(self.take(frame(1, ECB, BLOCK, tag=4)), [(4, [NO_KEY])])
        self.load(self.keys, 2)
        one, two = bytes(range(16)), bytes(16)
        self.assertEqual(self.take(self.expand(one)), [(3, [OK]), (2, [OK])])
        self.assertEqual(self.order.take(frame(1, ECB, BLOCK, tag=4))[0].result.hex()[:8], "69c4e0d8")
        self.take(self.key(two))
        (answer,) = self.order.take(frame(1, ECB, BLOCK, tag=4))
        self.assertEqual(answer.result, CIPHERS["aes128_encrypt"].crypt(aes_words(two), "ecb", b"", BLOCK))
        # A set that comes anew has no key.
        self.load(self.aes, 1)
        self.assertEqual(self.take(frame(1, CTR, b"", tag=4, iv=bytes(16))), [(4, [OK])])

    def test_what_no_tile_takes(self) -> None:
        self.load(self.aes, 1)
        self.take(self.key(bytes(16)))
        inner = frame(0x42, MAC, bytes(16), tag=5, result=12)[:16]
        joined = frame(1, ECB, inner + BLOCK, tag=4, result=2)
        self.assertEqual(self.take(joined), [(4, [NOT_FORWARDED])])
        self.load(self.sha1, 2)
        self.assertEqual(self.take(joined), [(4, [OK]), (5, [NO_KEY])])
        self.assertEqual(self.order.tiles[1].run, 1)
        self.assertEqual(self.take(frame(7, ECB, BLOCK, tag=6)), [(6, [ALGORITHM])])

    def test_a_key_that_is_cut_short(self) -> None:
        self.load(self.aes, 1)
        self.take(self.key(bytes(16)))
        self.assertEqual(self.take(self.key(bytes(16))[:16]), [(2, [SHORT])])
        self.assertEqual(self.take(frame(1, ECB, BLOCK, tag=4)), [(4, [OK])])
        self.assertEqual(self.take(self.key(bytes(16))[:24]), [(2, [SHORT])])
        self.assertEqual(self.take(frame(1, ECB, BLOCK, tag=4)), [(4, [NO_KEY])])
        with mock.patch.object(self.order, "forget") as forget:
            self.take(frame(1, ECB, BLOCK, tag=4, flags=4))
            forget.assert_called_once()


if __name__ == "__main__":
    unittest.main()
