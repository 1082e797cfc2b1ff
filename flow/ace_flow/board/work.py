# SPDX-License-Identifier: Apache-2.0
"""What a slot is given to do, and what has to come back."""

import subprocess
import tempfile
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from ace_flow.array import frames, reference
from ace_flow.board.host import BEAT, KEY, LOAD, Host, LinkError, Response
from ace_flow.sim.frames import request

# SP 800-38A, F.1.1 and F.2.1: key, initialisation vector, plaintext, ECB, CBC.
KEY_38A = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
IV_38A = bytes(range(16))
PLAIN_38A = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
ECB_38A = bytes.fromhex(
    "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
    "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"
)
CBC_38A = bytes.fromhex(
    "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
    "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"
)
AES, MISSING_KEY = 1, 4
# Bytes of a slot's header: a load has in it what differs from load to load.
HEAD = 2 * BEAT


class Task(NamedTuple):
    """A slot's frame and its result."""

    frame: bytes
    result: bytes


class Work(Protocol):
    """What slots of a kind are asked."""

    def prepare(self, host: Host, slot: int = 0) -> None: ...
    def task(self, random: Random, tag: int, most: int) -> Task: ...


class EchoWork:
    """The payload comes back. A load and a key are frames like others, and make epochs move."""

    def prepare(self, host: Host, slot: int = 0) -> None:
        for kind, tag in ((LOAD, 0xFFF0), (KEY, 0xFFF1)):
            if host.ask(kind, request(AES, "ecb", bytes(2000 if kind == LOAD else 40), tag=tag), slot).status:
                raise LinkError("the echo refuses a frame")

    def task(self, random: Random, tag: int, most: int) -> Task:
        payload = random.randbytes(random.randrange(most + 1))
        return Task(request(AES, "ecb", payload, tag=tag), payload)


class AesWork:
    """AES-128 of the array, under a key."""

    variant = "aes:aes128_encrypt"

    def __init__(self, ace: str, key: bytes = KEY_38A, by_name: bool = False):
        self.set = compiled(ace, self.variant)
        # Its loads are of the board's store, and how often it was written there.
        self.by_name, self.written = by_name, 0
        self.change(key)

    def change(self, key: bytes) -> None:
        """The key from the next `prepare` on."""
        self.words = reference.aes_words(key)

    def prepare(self, host: Host, slot: int = 0) -> None:
        key = b"".join(word.to_bytes(4, "little") for word in self.words)
        for answer in (self.load(host, slot), host.ask(KEY, frames.key(self.set, key, 0xFFF1), slot)):
            if answer.status:
                raise LinkError(f"a load or key is answered with {answer.status}")

    def load(self, host: Host, slot: int = 0) -> Response:
        frame = frames.load(self.set.data, 0xFFF0)
        if not self.by_name:
            return host.ask(LOAD, frame, slot)
        head, words = frame[:HEAD], frame[HEAD:]
        for _ in range(2):
            answer = host.recall(head, 0, len(words) // BEAT, slot)
            if answer is not None:
                return answer
            # Nobody has written it in this session.
            self.written += 1
            if not host.store(0, words):
                raise LinkError("the store does not take a set")
        raise LinkError("the store does not have what was written to it")

    def task(self, random: Random, tag: int, most: int) -> Task:
        """CBC of whole blocks."""
        text, iv = random.randbytes(16 * random.randrange(1, most // 16 + 1)), random.randbytes(16)
        out, chain = b"", iv
        for at in range(0, len(text), 16):
            block = bytes(a ^ b for a, b in zip(text[at : at + 16], chain, strict=True))
            chain = reference.aes(self.words, block, False)
            out += chain
        return Task(request(AES, "cbc", text, iv=iv, tag=tag), out)


class GcmWork(AesWork):
    """AES-128-GCM of the array, under a key: texts of whole beats, behind which the tag is, any AAD and lengths of a tag."""

    variant = "aes_gcm:aes128_gcm_encrypt"

    def change(self, key: bytes) -> None:
        super().change(key)
        self.rounds = self.words
        self.h = int.from_bytes(reference.aes(self.rounds, bytes(16), False), "big")
        # The set takes H times x, its lowest word first.
        doubled = (self.h << 1 & (1 << 128) - 1) ^ ((0xC2 << 120 | 1) if self.h >> 127 else 0)
        big = (int.from_bytes(word.to_bytes(4, "little"), "big") for word in self.rounds)
        self.words = [*big, *(doubled >> 32 * i & 0xFFFFFFFF for i in range(4))]

    def sealed(self, nonce: bytes, aad: bytes, text: bytes) -> bytes:
        """SP 800-38D."""

        def enciphered(count: int) -> bytes:
            return reference.aes(self.rounds, nonce + count.to_bytes(4, "big"), False)

        stream = b"".join(enciphered(2 + n) for n in range(-(-len(text) // 16)))
        out = bytes(a ^ b for a, b in zip(text, stream, strict=False))
        lengths = (8 * len(aad)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
        hashed, sum_of = aad + bytes(-len(aad) % 16) + out + bytes(-len(out) % 16) + lengths, 0
        for at in range(0, len(hashed), 16):
            sum_of = product(sum_of ^ int.from_bytes(hashed[at : at + 16], "big"), self.h)
        return out + bytes(a ^ b for a, b in zip(sum_of.to_bytes(16, "big"), enciphered(1), strict=True))

    def task(self, random: Random, tag: int, most: int) -> Task:
        nonce, size = random.randbytes(12), random.choice([8, 12, 16])
        aad, text = (
            random.randbytes(random.randrange(41)),
            random.randbytes(8 * random.randrange(most // 8 + 1)),
        )
        sealed = self.sealed(nonce, aad, text)[: len(text) + size]
        return Task(self.framed(nonce, aad, text, size, tag), sealed)

    @staticmethod
    def framed(nonce: bytes, aad: bytes, text: bytes, size: int, tag: int) -> bytes:
        """`size`: bytes of a tag."""
        header = bytes([AES, frames.AEAD, 0, 0]) + tag.to_bytes(2, "little") + bytes([len(nonce), size])
        header += len(text).to_bytes(4, "little") + len(aad).to_bytes(2, "little") + bytes(2)
        parts = (part + bytes(-len(part) % 8) for part in (nonce, aad, text))
        return header + b"".join(parts)


def product(a: int, b: int) -> int:
    """In GF(2^128) as SP 800-38D has it, the highest bit first."""
    out = 0
    for bit in range(127, -1, -1):
        out ^= b if a >> bit & 1 else 0
        b = b >> 1 ^ (0xE1 << 120 if b & 1 else 0)
    return out


_sets: dict[tuple[str, str], frames.Set] = {}


def compiled(ace: str, variant: str) -> frames.Set:
    """A variant's set, made once."""
    if (ace, variant) not in _sets:
        with tempfile.TemporaryDirectory() as folder:
            try:
                _sets[ace, variant] = frames.Set.compiled(ace, variant, Path(folder))
            except (OSError, subprocess.CalledProcessError) as error:
                raise LinkError(
                    f"{ace} array compile: {error}; `make ace` makes it, --ace names it"
                ) from None
    return _sets[ace, variant]
