# SPDX-License-Identifier: Apache-2.0
"""Frames for the array's slot, and what a controller knows of it: which sets its banks hold, which key it was given."""

import json
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ace_flow.sim.frames import BEAT, DECRYPT, OPERATION

AEAD, LOAD, KEY, EXPAND = 0x41, 0x51, 0x52, 0x53
RESUME, PARTIAL = 8, 16
# Statuses behind those of the slot boundary (rtl/array/array_front_pkg.sv).
BAD_SET, OTHER_ARRAY, BAD_CRC, NOT_FORWARDED = 10, 11, 12, 13
BLOCK = {0x02: 8, 0x07: 8, 0x09: 8}  # bytes, of ciphers that do not have 16
DIGEST = {0x41: 16, 0x42: 20, 0x44: 32}


class Wrong(Exception):
    """The slot does not do what it should."""


@dataclass(frozen=True)
class Set:
    """A context set of a variant, as `ace array compile` writes it."""

    name: str
    source: str
    data: bytes
    key_words: int

    @property
    def code(self) -> int:
        return self.data[34]

    @property
    def decrypt(self) -> bool:
        return self.data[35] & 1 == 1

    @property
    def hash(self) -> bool:
        return self.code in DIGEST

    @property
    def aead(self) -> bool:
        return self.data[24:26] == bytes([16, 12])

    @property
    def contexts(self) -> int:
        return int.from_bytes(self.data[16:18], "little")

    @property
    def block(self) -> int:
        return BLOCK.get(self.code, 16)

    @staticmethod
    def compiled(ace: str, variant: str, folder: Path) -> "Set":
        """`variant`: as aes:aes128_encrypt, or sha1:sha1_latency of its second set."""
        source, name = variant.split(":")
        out = folder / f"{name}.set"
        goal = "latency" if name.endswith("_latency") else "throughput"
        command = [ace, "array", "compile", source, "--variant", name.removesuffix("_latency")]
        command += ["--for", goal, "-o", str(out)]
        output = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return Set(name, source, out.read_bytes(), output["key_words"])


def beats(requests: list[bytes]) -> list[tuple[int, bool]]:
    """Words of 64 bits, and whether a frame ends with each."""
    out = []
    for request in requests:
        cut = range(0, len(request), BEAT)
        out += [(int.from_bytes(request[i : i + BEAT], "little"), i + BEAT == len(request)) for i in cut]
    return out


def signed(data: bytes) -> bytes:
    """A set with these bytes under a CRC that is right."""
    return data[:-8] + zlib.crc32(data[:-8]).to_bytes(8, "little")


def frame(
    code: int, op: int, payload: bytes, *, tag: int, flags: int = 0, iv: bytes = b"", result: int = 0
) -> bytes:
    header = bytes([code, op, flags, 0]) + tag.to_bytes(2, "little") + bytes([len(iv), result])
    header += len(payload).to_bytes(4, "little") + bytes(4)
    return header + iv + bytes(-len(iv) % 8) + payload + bytes(-len(payload) % 8)


def load(data: bytes, tag: int, flags: int = 0, tiles: int = 0) -> bytes:
    """`tiles`: a bit for each that takes the set; none is the first one alone."""
    return frame(0, LOAD, data, tag=tag, flags=flags, result=tiles)


def key(which: Set, words: bytes, tag: int, flags: int = 0) -> bytes:
    """Of a hash two states in four beats each, else the words of the expanded key."""
    flags |= DECRYPT if which.decrypt else 0
    return frame(which.code, KEY, words, tag=tag, flags=flags, result=len(words) // 4)


def expand(which: "Set", cipher: "Set", secret: bytes, tag: int) -> bytes:
    """What makes `secret` the cipher's key in the slot: its result is a key's frame, with the next tag."""
    head = key(cipher, bytes(4 * cipher.key_words), tag + 1)[:16]
    flags = DECRYPT if which.decrypt else 0
    return frame(which.code, EXPAND, head + secret, tag=tag, flags=flags, result=cipher.key_words)


def passing(which: Set, mode: str, front: bytes, text: bytes, tag: int, iv: bytes = b"") -> bytes:
    """A cipher's frame whose result is a frame: `front` in front of it, for CBC with the IV as its end."""
    return frame(which.code, OPERATION[mode], front + text, tag=tag, iv=iv, result=len(front) // BEAT)


def hashing(which: Set, head: bytes, length: int, tag: int, digest: int = 12) -> bytes:
    """The beginning of a hash's frame: its header and what the message has in front of the ciphertext."""
    whole = frame(which.code, OPERATION["hmac-states"], head + bytes(length), tag=tag, result=digest)
    return whole[: 16 + len(head)]


def key_of(which: Set, random: Random) -> bytes:
    """Any words are a key of the array."""
    if not which.hash:
        return random.randbytes(4 * which.key_words)
    words = DIGEST[which.code]
    return b"".join(random.randbytes(words) + bytes(32 - words) for _ in range(2))


def data(which: Set, mode: str, payload: int, random: Random, tag: int, flags: int = 0) -> bytes:
    """A frame of so many bytes, rounded down to blocks where the mode wants them. In CFB the tag says the direction."""
    if which.hash:
        digest, iv = DIGEST[which.code], b""
        if mode == "partial":
            flags |= PARTIAL
            payload = max(64, payload - payload % 64)
        if mode == "resume":
            flags |= RESUME
            iv = (64 * random.getrandbits(58)).to_bytes(BEAT, "little") + random.randbytes(digest)
        op, text = OPERATION.get(mode, OPERATION["hash"]), random.randbytes(payload)
        return frame(which.code, op, text, tag=tag, flags=flags, iv=iv, result=digest)
    if mode in ("ecb", "cbc"):
        payload -= payload % which.block
        flags |= DECRYPT if which.decrypt else 0
    elif mode == "cfb":
        flags |= DECRYPT if tag & 4 else 0
    iv = b"" if mode == "ecb" else random.randbytes(which.block)
    return frame(which.code, OPERATION[mode], random.randbytes(payload), tag=tag, flags=flags, iv=iv)


def modes(which: Set) -> list[str]:
    if which.hash:
        return ["hash", "hmac-states", "partial", "resume"]
    return ["ecb", "cbc"] + ([] if which.decrypt else ["ctr", "cfb", "ofb"])


@dataclass
class Bank:
    """What a bank holds, and whether its key is the last one for such frames."""

    set: Set | None = None
    keyed: bool = False


class Controller:
    """What has to be sent in front of a frame, so that the slot can do what it asks for: what its banks hold follows from
    the order of frames."""

    def __init__(self, tiles: int = 1, random: Random | None = None) -> None:
        """`random`: of which tiles take a set; without, the first one does."""
        self.tiles = [[Bank(), Bank()] for _ in range(tiles)]
        self.running = [0] * tiles
        self.random = random
        self.loads = self.switches = 0

    def holding(self, which: Set) -> list[tuple[int, int]]:
        """Tiles and banks that serve it, those that run first."""
        found = [
            (t, b) for t, banks in enumerate(self.tiles) for b, bank in enumerate(banks) if bank.set is which
        ]
        current = [(t, b) for t, b in found if self.tiles[t][b].keyed]
        return sorted(current or found, key=lambda at: (at[1] != self.running[at[0]], at[0]))

    def keyed(self, which: Set) -> bool:
        return any(self.tiles[t][b].keyed for t, b in self.holding(which))

    def load(self, which: Set, tag: int) -> bytes:
        mask = 0 if self.random is None else self.random.randrange(1, 1 << len(self.tiles))
        for t, banks in enumerate(self.tiles):
            if max(mask, 1) >> t & 1:
                banks[1 - self.running[t]] = Bank(which)
        self.loads += 1
        return load(which.data, tag, tiles=mask)

    def key(self, which: Set, words: bytes, tag: int) -> bytes:
        for t, banks in enumerate(self.tiles):
            run = self.running[t]
            given = run if banks[run].set is which else 1 - run
            for b, bank in enumerate(banks):
                if bank.set is which:
                    bank.keyed = b == given
        return key(which, words, tag)

    def prepare(
        self, which: Set, words: bytes, tag: int, fresh: bool = True, again: bool = False
    ) -> list[bytes]:
        """Loads and keys; the frame behind them runs the set under this key. `fresh`: it is another one than before;
        `again`: the set is loaded in any case."""
        frames = []
        if again or not self.holding(which):
            frames.append(self.load(which, tag))
        # A set that goes away takes its key with it.
        if fresh or not self.keyed(which):
            frames.append(self.key(which, words, tag))
        # All tiles that have it change to it, unless one runs it.
        banks = self.holding(which)
        if all(b != self.running[t] for t, b in banks):
            self.switches += 1
            for t, b in banks:
                self.running[t] = b
        return frames
