# SPDX-License-Identifier: Apache-2.0
"""The frames of the key-independence test: what a configuration can do, with keys and data left open."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from ace_flow.configurations import Capability
from ace_flow.sim.frames import BEAT, DECRYPT, FRESH_KEY, OPERATION, WIPE

RESUME, PARTIAL = 8, 16
ANOTHER = 0xFE  # the code of no algorithm
Beats = list[tuple[int, bool]]


@dataclass(frozen=True)
class Frame:
    """A request without its secrets: in every run it has the same header and the same lengths."""

    code: int
    operation: str
    payload: int
    key: int = 0  # bytes of a fresh key; 0 is the kept one
    iv: int = 0
    count: int = 0  # of a hash with `resume`: bytes hashed so far
    flags: int = 0
    result: int = 0
    cut: int = 0  # beats after which it ends; 0 is where it should

    def __str__(self) -> str:
        words = [self.operation, f"{self.payload} bytes"]
        words += ["decrypt"] if self.flags & DECRYPT else []
        words += ["resume"] if self.flags & RESUME else []
        words += ["partial"] if self.flags & PARTIAL else []
        words += [f"fresh key of {self.key}"] if self.key else []
        words += ["wipe"] if self.flags & WIPE else []
        words += [f"cut after {self.cut} beats"] if self.cut else []
        return ", ".join(words)

    @property
    def sound(self) -> bool:
        """Whether the answer is Ok."""
        return self.code != ANOTHER and not self.cut

    @property
    def key_beats(self) -> int:
        """How many beats its key section takes."""
        return -(-self.key // BEAT)

    def wiping(self) -> "Frame":
        """The same with the wipe flag."""
        return replace(self, flags=self.flags | WIPE)

    def same_key(self) -> "Frame":
        """The same under the key that the slot has."""
        return replace(self, key=0)

    def beats(self, tag: int, keys: Random, data: Random) -> Beats:
        """It, with a key, an IV and a payload; what is cut off is drawn, too."""
        key = keys.randbytes(self.key)
        iv = (
            self.count.to_bytes(8, "little") + data.randbytes(self.iv - 8)
            if self.count
            else data.randbytes(self.iv)
        )
        flags = self.flags | (FRESH_KEY if self.key else 0)
        header = bytes([self.code, OPERATION[self.operation], flags, self.key]) + tag.to_bytes(2, "little")
        header += bytes([self.iv, self.result]) + self.payload.to_bytes(4, "little") + bytes(4)
        # Pad bytes are ignored, and so may be anything.
        raw = header + b"".join(
            part + noise.randbytes(-len(part) % BEAT)
            for part, noise in ((key, keys), (iv, data), (data.randbytes(self.payload), data))
        )
        beats = [int.from_bytes(raw[i : i + BEAT], "little") for i in range(0, len(raw), BEAT)]
        beats = beats[: self.cut or len(beats)]
        return [(beat, i == len(beats) - 1) for i, beat in enumerate(beats)]


def _cipher(can: Capability) -> Iterator[Frame]:
    block = can.block_bytes

    def frame(mode: str, direction: str, key: int, n: int) -> Frame:
        payload = (1 + n % 4) * block
        if mode not in ("ecb", "cbc"):
            payload -= (3 * n + 1) % block
        return Frame(
            code=can.code,
            operation=mode,
            payload=payload,
            key=key,
            iv=0 if mode == "ecb" else block,
            flags=DECRYPT if direction == "decrypt" else 0,
        )

    # Every mode in every direction, every key length in every direction.
    n = 0
    middle = can.key_bytes[len(can.key_bytes) // 2]
    seen = set()
    for key in (middle, *can.key_bytes):
        for direction in can.directions:
            for mode in can.modes if key == middle else (can.modes[n % len(can.modes)],):
                if (key, direction, mode) not in seen:
                    seen.add((key, direction, mode))
                    yield frame(mode, direction, key, n)
                n += 1


def _hash(can: Capability) -> Iterator[Frame]:
    block, state = can.block_bytes, can.digest_bytes
    for operation in can.operations:
        if operation == "hash":
            for n, payload in enumerate((3, 0, block - 9, block, block + 55)):
                yield Frame(can.code, operation, payload, result=state - n)
            yield Frame(can.code, operation, block, result=state, flags=PARTIAL)
            yield Frame(can.code, operation, 21, iv=8 + state, count=3 * block, result=state, flags=RESUME)
            yield Frame(
                can.code,
                operation,
                2 * block,
                iv=8 + state,
                count=block,
                result=state,
                flags=RESUME | PARTIAL,
            )
        elif operation == "hmac-states":
            for payload in (20, 0, block + 1):
                yield Frame(can.code, operation, payload, key=2 * state, result=12)
        else:
            for key, payload in ((block, 33), (16, 64), (block - 1, 0), (1, 5)):
                yield Frame(can.code, operation, payload, key=key, result=state)


def frames(can: tuple[Capability, ...]) -> list[Frame]:
    """At least one of each operation, mode, direction and key length, every one with a fresh key if it takes any."""
    return [f for c in can for f in (_cipher(c) if c.kind == "cipher" else _hash(c))]
