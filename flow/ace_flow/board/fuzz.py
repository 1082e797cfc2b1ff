# SPDX-License-Identifier: Apache-2.0
"""Frames that no host of the link sends: broken, cut, endless, of others, and well formed with heads of nonsense."""

import zlib
from collections.abc import Callable
from random import Random

from ace_flow.board.host import BOARD, KEY, LOAD, TO_ALL, TYPE, Host, Message
from ace_flow.board.wire import ERROR, FRAME, RAW, Wire

PREAMBLE = b"\x55" * 7 + b"\xd5"


def sealed(frame: bytes) -> bytes:
    """As it is on the wire, with an FCS that is right."""
    return PREAMBLE + frame + zlib.crc32(frame).to_bytes(4, "little")


class Fuzz:
    """What a random number chooses from."""

    def __init__(self, wire: Wire, host: Host, slots: int, random: Random):
        self.wire, self.host, self.slots, self.random = wire, host, slots, random
        self.sent = 0

    def link(self, **changed: object) -> Message:
        """Well formed, of the session, with a head in which some of the fields are anything."""
        r, host = self.random, self.host
        count = r.choice([0, 1, 1, 2, 3, r.randrange(185)])
        host.number = host.number + 1 & 0xFFFF
        fields: dict[str, object] = {
            "to": BOARD,
            "source": host.address,
            "kind": r.choice([1, 2, 2, 2, 3, 3, 4, 5, 5]),
            "flags": r.choice([3, 3, 0, 1, 2]),
            "number": host.number,
            "sets": host.sets.get(0, 0) + r.choice([0, 0, 1, 2]),
            "keys": host.keys.get(0, 0) + r.choice([0, 0, 1, 2]),
            "slot": r.randrange(self.slots),
            "session": host.session,
            "beats": r.randbytes(8 * count),
        }
        wild = {
            "to": lambda: r.choice([TO_ALL, r.randbytes(6)]),
            "source": lambda: r.randbytes(6),
            "kind": lambda: r.randrange(256),
            "flags": lambda: r.randrange(256),
            "number": lambda: r.randrange(65536),
            "sets": lambda: r.randrange(256),
            "keys": lambda: r.randrange(256),
            "slot": lambda: r.randrange(256),
            "session": lambda: r.randrange(65536),
        }
        for name in r.sample(sorted(wild), r.choice([0, 0, 1, 1, 2])):
            fields[name] = wild[name]()
        return Message(**(fields | changed))

    def nonsense(self) -> bytes:
        return self.link().encode()

    def lies(self) -> bytes:
        """Another length than its beats."""
        frame = bytearray(self.link().encode())
        frame[21] = self.random.randrange(256)
        return bytes(frame)

    def frame(self) -> None:
        self.wire.send(self.nonsense(), FRAME)

    def longer(self) -> None:
        self.wire.send(self.lies() + self.random.randbytes(self.random.choice([0, 1, 7, 64])), FRAME)

    def cut(self) -> None:
        """With a right FCS over less, down to nothing."""
        frame = self.nonsense()
        self.wire.send(sealed(frame[: self.random.randrange(len(frame) + 1)]), RAW)

    def broken(self) -> None:
        wire = bytearray(sealed(self.nonsense()))
        for _ in range(self.random.choice([1, 1, 2, 9])):
            wire[self.random.randrange(len(wire))] ^= 1 << self.random.randrange(8)
        self.wire.send(bytes(wire), RAW)

    def error(self) -> None:
        frame = self.nonsense()
        self.wire.send(frame, ERROR, self.random.randrange(8 + len(frame)))

    def noise(self) -> None:
        self.wire.send(self.random.randbytes(self.random.choice([1, 2, 9, 64, 300])), RAW)

    def start(self) -> None:
        """A preamble of another length, or without its end."""
        count = self.random.choice([0, 1, 2, 6, 8, 40])
        end = self.random.choice([b"\xd5", b"", b"\x55\xd5", b"\x5d"])
        self.wire.send(b"\x55" * count + end + sealed(self.nonsense())[8:], RAW)

    def endless(self) -> None:
        self.wire.send(sealed(self.nonsense() + self.random.randbytes(self.random.choice([1600, 9000]))), RAW)

    def other(self) -> None:
        frame = bytearray(self.nonsense())
        frame[12:14] = self.random.choice([b"\x08\x00", b"\x88\xb6", b"\x81\x00" + b"", TYPE[::-1]])
        self.wire.send(bytes(frame), FRAME)

    def halves(self) -> None:
        """Loads and keys of more than they may be, without their end, or with an end alone."""
        kind = self.random.choice([LOAD, KEY])
        self.wire.send(self.link(kind=kind, flags=self.random.randrange(4)).encode(), FRAME)

    def one(self) -> None:
        """Any of them."""
        kinds: list[Callable[[], None]] = [
            *[self.frame] * 6,
            *(self.longer, self.cut, self.broken, self.error, self.noise, self.start, self.endless),
            *(self.other, self.halves),
        ]
        self.random.choice(kinds)()
        self.sent += 1
