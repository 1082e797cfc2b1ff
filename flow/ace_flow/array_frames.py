# SPDX-License-Identifier: Apache-2.0
"""Frames for the array's slot, and what a controller knows of it: which sets its banks hold, which key it was given."""

import json
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .frames import DECRYPT, OPERATION

LOAD, KEY = 0x51, 0x52
# Statuses behind those of the slot boundary (rtl/array/array_front_pkg.sv).
BAD_SET, OTHER_ARRAY, BAD_CRC = 10, 11, 12
BLOCK = {0x02: 8, 0x07: 8, 0x09: 8}  # bytes, of ciphers that do not have 16
DIGEST = {0x41: 16, 0x42: 20, 0x44: 32}


@dataclass(frozen=True)
class Set:
    """A context set of a variant, as `ace array compile` writes it."""

    name: str
    data: bytes
    key_words: int

    @property
    def code(self) -> int:
        return self.data[34]

    @property
    def decrypt(self) -> bool:
        return self.data[35] == 1

    @property
    def hash(self) -> bool:
        return self.code in DIGEST

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
        said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return Set(name, out.read_bytes(), said["key_words"])


def signed(data: bytes) -> bytes:
    """A set with these bytes under a CRC that is right."""
    return data[:-8] + zlib.crc32(data[:-8]).to_bytes(8, "little")


def frame(
    code: int, op: int, payload: bytes, *, tag: int, flags: int = 0, iv: bytes = b"", result: int = 0
) -> bytes:
    header = bytes([code, op, flags, 0]) + tag.to_bytes(2, "little") + bytes([len(iv), result])
    header += len(payload).to_bytes(4, "little") + bytes(4)
    return header + iv + payload + bytes(-len(payload) % 8)


def load(data: bytes, tag: int, flags: int = 0) -> bytes:
    return frame(0, LOAD, data, tag=tag, flags=flags)


def key(which: Set, words: bytes, tag: int, flags: int = 0) -> bytes:
    """Of a hash two states in four beats each, else the words of the expanded key."""
    flags |= DECRYPT if which.decrypt else 0
    return frame(which.code, KEY, words, tag=tag, flags=flags, result=len(words) // 4)


def key_of(which: Set, random: Random) -> bytes:
    """Any words are a key of the array."""
    if not which.hash:
        return random.randbytes(4 * which.key_words)
    words = DIGEST[which.code]
    return b"".join(random.randbytes(words) + bytes(32 - words) for _ in range(2))


def data(which: Set, mode: str, payload: int, random: Random, tag: int, flags: int = 0) -> bytes:
    """A frame of so many bytes, rounded down to blocks where the mode wants them."""
    if which.hash:
        return frame(
            which.code,
            OPERATION[mode],
            random.randbytes(payload),
            tag=tag,
            flags=flags,
            result=DIGEST[which.code],
        )
    if mode != "ctr":
        payload -= payload % which.block
        flags |= DECRYPT if which.decrypt else 0
    iv = b"" if mode == "ecb" else random.randbytes(which.block)
    return frame(which.code, OPERATION[mode], random.randbytes(payload), tag=tag, flags=flags, iv=iv)


def modes(which: Set) -> list[str]:
    if which.hash:
        return ["hash", "hmac-states"]
    return ["ecb", "cbc"] + ([] if which.decrypt else ["ctr"])


class Controller:
    """What has to be sent in front of a frame, so that the slot can do what it asks for."""

    def __init__(self) -> None:
        self.banks: list[Set | None] = [None, None]
        self.running = 0
        self.keyed: set[str] = set()
        self.loads = self.switches = 0

    def prepare(self, which: Set, words: bytes | None, tag: int) -> list[bytes]:
        """Loads and keys; the frame behind them runs the set. `words`: a fresh key."""
        frames = []
        if which in self.banks:
            at = self.banks.index(which)
        else:
            at = 1 - self.running
            if (old := self.banks[at]) is not None:
                self.keyed.discard(old.name)
            self.banks[at] = which
            frames.append(load(which.data, tag))
            self.loads += 1
        self.switches += at != self.running
        self.running = at
        if words is not None:
            frames.append(key(which, words, tag))
            self.keyed.add(which.name)
        return frames
