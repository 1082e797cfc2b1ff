# SPDX-License-Identifier: Apache-2.0
"""Frames that no host of the link sends: broken, cut, endless, of others, and well formed with heads of nonsense."""

import zlib
from collections import Counter
from collections.abc import Callable
from random import Random

from ace_flow.board.host import (
    ANSWER,
    BEAT,
    BOARD,
    DATA,
    FIRST,
    HEADER,
    KEY,
    LAST,
    LOAD,
    RECALL,
    STORE,
    TO_ALL,
    TYPE,
    Host,
    LinkError,
    Message,
    place_beat,
)
from ace_flow.board.wire import ERROR, FRAME, RAW, Wire

PREAMBLE = b"\x55" * 7 + b"\xd5"


def sealed(frame: bytes) -> bytes:
    """As it is on the wire, with an FCS that is right."""
    return PREAMBLE + frame + zlib.crc32(frame).to_bytes(4, "little")


class Asked:
    """What a board was asked since the last `clear`: whatever it says beyond that it says unasked."""

    def __init__(self) -> None:
        # By address, number, slot and session: an answer of the link itself repeats them.
        self.own: Counter[tuple[bytes, int, int, int]] = Counter()
        # Frames that may begin at a slot, by it, and sessions that may be open.
        self.slots: Counter[int] = Counter()

    def clear(self) -> None:
        self.own.clear()
        self.slots.clear()

    def add(self, frame: bytes) -> None:
        """A frame that may come whole."""
        if len(frame) < HEADER.size:
            return
        _, source, _, kind, flags, number, _, _, slot, _, session = HEADER.unpack_from(frame)
        self.own[source, number, slot, session] += 1
        if kind in (DATA, LOAD, RECALL, KEY) and flags & FIRST:
            self.slots[slot] += 1

    def take(self, message: Message) -> None:
        """An answer, which something has to have asked for."""
        if message.kind == ANSWER:
            if message.flags & LAST:
                self.slots[message.slot] -= 1
            if self.slots[message.slot] < 0:
                raise LinkError(f"slot {message.slot} answers what nobody has asked")
            return
        key = message.to, message.number, message.slot, message.session
        self.own[key] -= 1
        if self.own[key] < 0:
            raise LinkError(f"the board says {message.kind:02x}h, number {message.number:04x}h, unasked")


class Fuzz:
    """What a random number chooses from."""

    def __init__(self, wire: Wire, host: Host, slots: int, random: Random):
        self.wire, self.host, self.slots, self.random = wire, host, slots, random
        self.sent = 0
        self.asked = Asked()

    def _send(self, frame: bytes) -> None:
        self.asked.add(frame)
        self.wire.send(frame, FRAME)

    def _raw(self, frame: bytes, wire: bytes | None = None) -> None:
        """`frame`, as `wire` if that is not its own form."""
        self.asked.add(frame)
        self.wire.send(sealed(frame) if wire is None else wire, RAW)

    def link(self, **changed: object) -> Message:
        """Well formed, of the session, with a head in which some of the fields are anything."""
        r, host = self.random, self.host
        count = r.choice([0, 1, 1, 2, 3, r.randrange(185)])
        host.number = host.number + 1 & 0xFFFF
        fields: dict[str, object] = {
            "to": BOARD,
            "source": host.address,
            "kind": (kind := r.choice([1, 2, 2, 2, 3, 3, 4, 5, 5, STORE, STORE, RECALL, RECALL])),
            "flags": r.choice([3, 3, 0, 1, 2]),
            "number": host.number,
            "sets": host.sets.get(0, 0) + r.choice([0, 0, 1, 2]),
            "keys": host.keys.get(0, 0) + r.choice([0, 0, 1, 2]),
            "slot": r.randrange(self.slots),
            "session": host.session,
            "beats": self.beats(kind, count),
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

    def beats(self, kind: int, count: int) -> bytes:
        """Anything; of the store now and then words that it may have."""
        r = self.random
        beats = r.randbytes(BEAT * count)
        if kind not in (STORE, RECALL) or not count or not r.randrange(6):
            return beats
        place = r.choice([0, 0, r.randrange(8), r.randrange(200), r.randrange(1 << 16)])
        words = 0 if kind == STORE else r.choice([0, 1, 2, r.randrange(200), r.randrange(1 << 16)])
        return place_beat(place, words) + beats[BEAT:]

    def nonsense(self) -> bytes:
        return self.link().encode()

    def lies(self) -> bytes:
        """Another length than its beats."""
        frame = bytearray(self.link().encode())
        frame[21] = self.random.randrange(256)
        return bytes(frame)

    def frame(self) -> None:
        self._send(self.nonsense())

    def longer(self) -> None:
        self._send(self.lies() + self.random.randbytes(self.random.choice([0, 1, 7, 64])))

    def cut(self) -> None:
        """With a right FCS over less, down to nothing."""
        frame = self.nonsense()
        self._raw(frame[: self.random.randrange(len(frame) + 1)])

    def broken(self) -> None:
        frame = self.nonsense()
        wire = bytearray(sealed(frame))
        for _ in range(self.random.choice([1, 1, 2, 9])):
            wire[self.random.randrange(len(wire))] ^= 1 << self.random.randrange(8)
        # A bit of the preamble may be turned alone.
        self._raw(frame, bytes(wire))

    def error(self) -> None:
        frame = self.nonsense()
        self.asked.add(frame)
        self.wire.send(frame, ERROR, self.random.randrange(8 + len(frame)))

    def noise(self) -> None:
        self.wire.send(self.random.randbytes(self.random.choice([1, 2, 9, 64, 300])), RAW)

    def start(self) -> None:
        """A preamble of another length, or without its end."""
        count = self.random.choice([0, 1, 2, 6, 8, 40])
        end = self.random.choice([b"\xd5", b"", b"\x55\xd5", b"\x5d"])
        frame = self.nonsense()
        self._raw(frame, b"\x55" * count + end + sealed(frame)[8:])

    def endless(self) -> None:
        self._raw(self.nonsense() + self.random.randbytes(self.random.choice([1600] * 7 + [9000])))

    def other(self) -> None:
        frame = bytearray(self.nonsense())
        frame[12:14] = self.random.choice([b"\x08\x00", b"\x88\xb6", b"\x81\x00", TYPE[::-1]])
        self._send(bytes(frame))

    def halves(self) -> None:
        """Loads and keys of more than they may be, without their end, or with an end alone."""
        kind = self.random.choice([LOAD, KEY])
        self._send(self.link(kind=kind, flags=self.random.randrange(4)).encode())

    def one(self) -> None:
        """Any of them."""
        kinds: list[Callable[[], None]] = [
            *[self.frame] * 6,
            *(self.longer, self.cut, self.broken, self.error, self.noise, self.start, self.endless),
            *(self.other, self.halves),
        ]
        self.random.choice(kinds)()
        self.sent += 1
