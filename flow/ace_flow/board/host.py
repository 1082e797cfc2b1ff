# SPDX-License-Identifier: Apache-2.0
"""The host's end of the link (docs/link.md), for tests: it knows what the document says, and nothing of the RTL."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ace_flow.board.wire import MICROSECOND, Wire

BOARD = bytes.fromhex("024143450001")
TO_ALL = b"\xff" * 6
TYPE = b"\x88\xb5"
HELLO, DATA, LOAD, KEY, REGISTER, BYE, STORE, RECALL = 1, 2, 3, 4, 5, 6, 7, 8
IDENTITY, ANSWER, VERDICT, STALE, REGISTER_IS, REFUSED, STORED = 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87
FIRST, LAST = 1, 2
BEAT, MAX_BEATS = 8, 184
OTHERS, NO_SESSION, NO_SLOT, NO_SEGMENT, NO_WORDS = 1, 2, 3, 4, 5
TAP, MDIO, LED, COUNTERS = 0, 1, 2, 3
SHORT = 7  # FrameShort, of a slot
PENDING = b"\xff" * BEAT
HEADER = struct.Struct("<6s6s2sBBHBBBBH")


class LinkError(Exception):
    """The board does not do what docs/link.md says."""


class Message(NamedTuple):
    """A frame of the link."""

    to: bytes
    source: bytes
    kind: int
    flags: int
    number: int
    sets: int
    keys: int
    slot: int
    session: int
    beats: bytes

    def encode(self) -> bytes:
        count = len(self.beats) // BEAT
        head = HEADER.pack(
            *(self.to, self.source, TYPE, self.kind, self.flags, self.number & 0xFFFF),
            *(self.sets & 0xFF, self.keys & 0xFF, self.slot, count, self.session),
        )
        return head + self.beats

    @classmethod
    def decode(cls, frame: bytes) -> "Message":
        if len(frame) < HEADER.size:
            raise LinkError(f"the board sent {len(frame)} bytes")
        to, source, kind_of, kind, flags, number, sets, keys, slot, count, session = HEADER.unpack_from(frame)
        beats = frame[HEADER.size : HEADER.size + BEAT * count]
        if kind_of != TYPE or source != BOARD or len(beats) != BEAT * count:
            raise LinkError(f"the board sent what is no frame of the link: {frame[:24].hex()}")
        return cls(to, source, kind, flags, number, sets, keys, slot, session, beats)


class Identity(NamedTuple):
    """Eight beats."""

    version: int
    slots: int
    words: int
    khz: int
    image: bytes
    host: bytes
    session: int
    whole: int
    bad: int
    lost: int
    other: int
    sent: int
    tap: int
    arrived: bool
    store_words: int
    epochs: tuple[tuple[int, int], ...]  # sets and keys

    @classmethod
    def decode(cls, beats: bytes) -> "Identity":
        if len(beats) != 64:
            raise LinkError(f"identity has {len(beats)} bytes")
        version, slots, words, khz = struct.unpack_from("<BBHI", beats)
        session, whole, bad, lost, other, sent, tap = struct.unpack_from("<HIIIIII", beats, 22)
        epochs = tuple(zip(beats[48:64:2], beats[49:64:2], strict=True))
        return cls(
            *(version, slots, words, khz, beats[8:16], beats[16:22], session),
            *(whole, bad, lost, other, sent, tap & 127, bool(tap & 128), tap >> 16, epochs),
        )


def place_beat(place: int, count: int = 0) -> bytes:
    """The first beat of *store* (without a count) and of *recall*."""
    return (place | count << 16).to_bytes(BEAT, "little")


def segments(frame: bytes) -> Iterator[tuple[int, bytes]]:
    """Flags and beats."""
    size = BEAT * MAX_BEATS
    for at in range(0, len(frame), size):
        yield (FIRST if at == 0 else 0) | (LAST if at + size >= len(frame) else 0), frame[at : at + size]


class Response(NamedTuple):
    """A slot's: the result without padding, and the trailer's status."""

    result: bytes
    tag: int
    status: int
    sets: int
    keys: int

    @classmethod
    def of(cls, beats: bytes, sets: int = 0, keys: int = 0) -> "Response":
        length, tag, status, _ = struct.unpack("<IHBB", beats[-BEAT:])
        return cls(beats[: min(length, len(beats) - BEAT)], tag, status, sets, keys)


@dataclass
class Reassembly:
    """Segments of a slot's answer, which follow each other; None until one is whole."""

    beats: bytes = b""
    next: int = -1

    def take(self, message: Message) -> bytes | None:
        if message.flags & FIRST:
            self.beats = b""
        elif message.number != self.next:
            self.next = -1
            return None
        self.beats += message.beats
        self.next = message.number + 1 & 0xFFFF
        if not message.flags & LAST:
            return None
        self.next = -1
        return self.beats


def tag_of(frame: bytes) -> int:
    return int.from_bytes(frame[4:6], "little")


@dataclass
class Host:
    """A host with its address and session. What it asks it asks again until it is answered."""

    wire: Wire
    address: bytes = bytes.fromhex("020000000011")
    session: int = 0x1234
    patience: int = 60 * MICROSECOND
    tries: int = 60
    number: int = 0
    sets: dict[int, int] = field(default_factory=dict)
    keys: dict[int, int] = field(default_factory=dict)
    resent: int = 0
    tags: int = 0
    parts: dict[int, Reassembly] = field(default_factory=dict)

    # -- frames -------------------------------------------------------------------------------------------

    def send(self, kind: int, beats: bytes = b"", *, flags: int = 3, slot: int = 0, sets: int | None = None,
             keys: int | None = None, to: bytes = BOARD) -> int:  # fmt: skip
        """One frame; the number of the link's."""
        self.number = self.number + 1 & 0xFFFF
        sets = self.sets.get(slot, 0) if sets is None else sets
        keys = self.keys.get(slot, 0) if keys is None else keys
        message = Message(to, self.address, kind, flags, self.number, sets, keys, slot, self.session, beats)
        self.last_sent = self.wire.send(message.encode())
        return self.number

    def put(
        self, kind: int, frame: bytes, slot: int = 0, sets: int | None = None, keys: int | None = None
    ) -> None:
        """A slot's frame, in segments."""
        for flags, beats in segments(frame):
            self.send(kind, beats, flags=flags, slot=slot, sets=sets, keys=keys)

    def receive(self, time: int) -> Message | None:
        """The next frame to this host within the time."""
        end = self.wire.now + time
        while True:
            taken = self.wire.take()
            if taken is not None:
                message = Message.decode(taken.data)
                self.last_begun = taken.begun
                if message.to == self.address:
                    return message
                continue
            if self.wire.now >= end:
                return None
            self.wire.run(end - self.wire.now, until_frame=True)

    def _asked(self, kind: int, answers: tuple[int, ...], beats: bytes = b"", to: bytes = BOARD) -> Message:
        for attempt in range(self.tries):
            self.resent += attempt > 0
            number = self.send(kind, beats, to=to)
            end = self.wire.now + self.patience
            while (message := self.receive(end - self.wire.now)) is not None:
                if message.number == number and message.kind in answers:
                    return message
        raise LinkError(f"the board does not answer {kind:02x}h")

    # -- the link's own -----------------------------------------------------------------------------------

    def hello(self, to: bytes = BOARD) -> Identity | None:
        """The board's identity; None: another host has it."""
        message = self._asked(HELLO, (IDENTITY, REFUSED), to=to)
        if message.kind == REFUSED:
            return None
        identity = Identity.decode(message.beats)
        for slot in range(identity.slots):
            self.sets[slot], self.keys[slot] = identity.epochs[slot]
        return identity

    def bye(self) -> None:
        self._asked(BYE, (IDENTITY, REFUSED))

    def register(self, number: int, value: int | None = None) -> int:
        """Reads it, or writes it and says what it is then."""
        word = number | (0 if value is None else 1 << 31 | value << 32)
        beats = self._asked(REGISTER, (REGISTER_IS,), word.to_bytes(8, "little")).beats
        if len(beats) != 8 or int.from_bytes(beats[:4], "little") != number:
            raise LinkError(f"register {number}: the board answers {beats.hex()}")
        return int.from_bytes(beats[4:], "little")

    def tap(self, tap: int) -> None:
        self.register(TAP, tap)
        while self.register(TAP) & 128:
            pass

    def mdio(self, number: int, value: int | None = None, phy: int = 0) -> int:
        word = phy << 21 | number << 16 | (0 if value is None else 1 << 26 | value)
        self.register(MDIO, word)
        while (read := self.register(MDIO)) >> 31:
            pass
        return read & 0xFFFF

    # -- slots --------------------------------------------------------------------------------------------

    def tag(self) -> int:
        """One that nothing under way has: an answer to what was sent twice may come late. Loads and keys have others."""
        self.tags = (self.tags + 1) % 0xF000
        return self.tags

    def epochs(self, kind: int, slot: int) -> tuple[int, int]:
        """What a frame carries."""
        sets, keys = self.sets.get(slot, 0), self.keys.get(slot, 0)
        return (sets + (kind in (LOAD, RECALL))) & 255, (keys + (kind == KEY)) & 255

    def answered(self, message: Message) -> tuple[int, Response] | None:
        """A slot and its response, if this is the last segment of one."""
        if message.kind != ANSWER:
            return None
        beats = self.parts.setdefault(message.slot, Reassembly()).take(message)
        return (message.slot, Response.of(beats, message.sets, message.keys)) if beats else None

    def ask(self, kind: int, frame: bytes, slot: int = 0) -> Response:
        """A slot's frame, until it is answered. A load's or a key's epoch is the present one then."""
        response = self._answer(kind, frame, slot, tag_of(frame))
        if response is None:
            raise LinkError("what is no recall is refused because of the store")
        return response

    def store(self, place: int, words: bytes) -> bool:
        """Words go to the store, from this place on. Whether the board has taken all of them."""
        size = BEAT * (MAX_BEATS - 1)
        for at in range(0, len(words), size):
            beats = place_beat(place + at // BEAT) + words[at : at + size]
            message = self._asked(STORE, (STORED, REFUSED), beats)
            if message.kind == REFUSED and message.beats[0] == NO_WORDS:
                return False
            if message.kind != STORED or message.beats:
                raise LinkError(f"store is answered {message.kind:02x}h, {message.beats.hex()}")
        return True

    def recall(self, head: bytes, place: int, count: int, slot: int = 0) -> Response | None:
        """A load whose first beats are these and whose end is in the store; None: the store does not have it."""
        return self._answer(RECALL, place_beat(place, count) + head, slot, tag_of(head))

    def _answer(self, kind: int, frame: bytes, slot: int, tag: int) -> Response | None:
        """A slot's answer; None: the store does not have the frame's end."""
        sets, keys = self.epochs(kind, slot)
        for attempt in range(self.tries):
            self.resent += attempt > 0
            self.put(kind, frame, slot, sets, keys)
            end = self.wire.now + self.patience
            while (message := self.receive(end - self.wire.now)) is not None:
                response = None
                if message.kind == VERDICT and kind != DATA:
                    if message.beats == PENDING:
                        break
                    response = Response.of(message.beats)
                elif message.kind == STALE:
                    raise LinkError(
                        f"stale: the board has {message.sets}, {message.keys}; {sets}, {keys} were sent"
                    )
                elif (
                    message.kind == REFUSED and message.number == self.number and message.beats[0] == NO_WORDS
                ):
                    return None
                elif (whole := self.answered(message)) is not None and whole[0] == slot:
                    response = whole[1]
                if response is None or response.tag != tag:
                    continue
                if response.status == SHORT:
                    break
                self.sets[slot], self.keys[slot] = sets, keys
                return response
        raise LinkError(f"a slot's frame with tag {tag:04x}h is not answered")
