# SPDX-License-Identifier: Apache-2.0
"""What the array's slot answers, as docs/slot.md and docs/array-slot.md have it: as if its frames came one after the other.

Written from the documents; it knows of no lane, no clock and no stall.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from ace_flow.array.frames import (
    BAD_CRC,
    BAD_SET,
    EXPAND,
    KEY,
    LOAD,
    NOT_FORWARDED,
    OTHER_ARRAY,
    PARTIAL,
    RESUME,
    Set,
)
from ace_flow.array.reference import CIPHERS, HASHES, Cipher, Hash, aes_back_words, aes_words
from ace_flow.sim.frames import BEAT, DECRYPT, OPERATION, WIPE

FRESH = 2
OK, ALGORITHM, UNKNOWN, KEY_LENGTH, NO_KEY, IV_LENGTH, LENGTH, SHORT, LONG, RESERVED = range(10)
ECB, CBC, CTR, CFB, OFB = (OPERATION[mode] for mode in ("ecb", "cbc", "ctr", "cfb", "ofb"))
PLAIN_HASH, MAC = OPERATION["hash"], OPERATION["hmac-states"]
MODES = {ECB: "ecb", CBC: "cbc", CTR: "ctr", CFB: "cfb", OFB: "ofb"}
# Modes that encrypt in both directions.
ENCRYPTS = (CTR, CFB, OFB)
# Bytes: a frame of as many does not fit a lane's buffer; a set is not longer.
BUFFER, LONGEST = 2032, 1 << 17
EXPANDS: dict[str, Callable[[bytes], list[int]]] = {
    "aes128_encrypt_keys": aes_words,
    "aes256_encrypt_keys": aes_words,
    "aes128_decrypt_keys": aes_back_words,
}


@dataclass(frozen=True)
class Known:
    """A set, what it says of itself, and what it computes."""

    set: Set
    input_words: int
    output_words: int
    keys: bool
    cipher: Cipher | None
    hash: Hash | None

    @staticmethod
    def of(which: Set) -> "Known":
        data = which.data
        name = which.name
        return Known(which, data[24], data[25], bool(data[35] & 2), CIPHERS.get(name), HASHES.get(name))

    def serves(self, head: "Header") -> bool:
        if head.code != self.set.code or self.hash:
            return head.code == self.set.code
        if self.keys != (head.op == EXPAND):
            return False
        if self.keys and head.result_len != self.output_words:
            return False
        return (head.decrypt and head.op not in ENCRYPTS) == self.set.decrypt

    @property
    def key_size(self) -> int:
        """What a key says of its length."""
        return 16 if self.hash else self.set.key_words


@dataclass(frozen=True)
class Header:
    """A frame's first two beats; of a frame of one beat the rest is zero."""

    code: int
    op: int
    flags: int
    key_len: int
    tag: int
    iv_len: int
    result_len: int
    payload_len: int
    aad_len: int
    reserved: int

    @staticmethod
    def of(frame: bytes) -> "Header":
        return Header(*struct.unpack("<BBBBHBBIHH", frame[:16].ljust(16, b"\0")))

    @property
    def decrypt(self) -> bool:
        return bool(self.flags & DECRYPT)

    def beats(self) -> int:
        """As many as it announces."""
        return 2 + sum(-(-n // BEAT) for n in (self.key_len, self.iv_len, self.payload_len))

    def fault(self) -> int:
        """What is wrong for every slot."""
        if self.reserved or self.flags >> 5:
            return RESERVED
        if self.key_len and not self.flags & FRESH:
            return KEY_LENGTH
        return LENGTH if self.aad_len else OK


@dataclass
class Bank:
    """`key`: words of a cipher's, HMAC's as it is; `stale`: another bank had a later one for such frames."""

    known: Known | None = None
    key: list[int] | bytes | None = None
    stale: bool = False

    @property
    def current(self) -> bool:
        return self.key is not None and not self.stale


@dataclass
class Tile:
    banks: list[Bank] = field(default_factory=lambda: [Bank(), Bank()])
    run: int = 0

    @property
    def now(self) -> Bank:
        return self.banks[self.run]


@dataclass(frozen=True)
class Answer:
    """`statuses`: any of them; `result`: counts if the status is Ok."""

    tag: int
    statuses: frozenset[int]
    result: bytes = b""


class Order:
    """A slot. `sets`: those that may be loaded; `secrets`: HMAC's keys by what their frames have as payload."""

    def __init__(self, tiles: int, sets: list[Known]):
        self.sets = {one.set.data: one for one in sets}
        self.secrets: dict[bytes, bytes] = {}
        # Sets that are wrong, and the statuses that say so; any of them for what was never a set.
        self.wrong: dict[bytes, frozenset[int]] = {}
        self.count = tiles
        self.reset()

    def reset(self) -> None:
        self.tiles = [Tile() for _ in range(self.count)]

    def forget(self) -> None:
        for tile in self.tiles:
            for bank in tile.banks:
                bank.key, bank.stale = None, False

    def take(self, frame: bytes) -> list[Answer]:
        """The answers to a frame, which comes behind all before."""
        head = Header.of(frame)
        if head.op == LOAD:
            answers = [self.load(head, frame)]
        elif head.op == KEY:
            answers = [self.key(head, frame, self.key_banks(head), self.key_serves(head))]
        else:
            answers = self.data(head, frame)
        if head.flags & WIPE:
            self.forget()
        return answers

    # -- the loader -------------------------------------------------------------------------------------------

    def load(self, head: Header, frame: bytes) -> Answer:
        def status(*which: int) -> Answer:
            return Answer(head.tag, frozenset(which))

        if len(frame) == BEAT:
            return status(SHORT)
        if fault := head.fault():
            return status(fault)
        if head.iv_len or head.flags & (PARTIAL | RESUME) or head.result_len >> self.count:
            return status(UNKNOWN)
        if head.flags & FRESH:
            return status(KEY_LENGTH)
        if head.payload_len % 8 or not 64 <= head.payload_len < LONGEST:
            return status(LENGTH)
        if len(frame) == 16:
            return status(SHORT)
        banks = [
            tile.banks[1 - tile.run] for t, tile in enumerate(self.tiles) if max(head.result_len, 1) >> t & 1
        ]
        for bank in banks:
            bank.known, bank.key, bank.stale = None, None, False
        if len(frame) // BEAT != head.beats():
            return status(SHORT if len(frame) // BEAT < head.beats() else LONG)
        data = frame[16:]
        if data not in self.sets:
            return status(*self.wrong.get(data, (BAD_SET, OTHER_ARRAY, BAD_CRC)))
        for bank in banks:
            bank.known = self.sets[data]
        return status(OK)

    def key_serves(self, head: Header) -> list[tuple[int, int]]:
        """Tiles and banks that a key is for, by algorithm and direction."""
        return [
            (t, b)
            for t, tile in enumerate(self.tiles)
            for b, bank in enumerate(tile.banks)
            if bank.known and bank.known.serves(head)
        ]

    def key_banks(self, head: Header) -> list[tuple[int, int]]:
        """Those that it goes to: of a tile one that it has the length for, the one that runs before the other one."""
        fits = [
            (t, b)
            for t, b in self.key_serves(head)
            if self.tiles[t].banks[b].known.key_size == head.result_len
        ]
        return [(t, b) for t, b in fits if b == self.tiles[t].run or (t, 1 - b) not in fits]

    def key(self, head: Header, frame: bytes, banks: list, serves: list) -> Answer:
        def status(which: int) -> Answer:
            return Answer(head.tag, frozenset([which]))

        if len(frame) == BEAT:
            return status(SHORT)
        if fault := head.fault():
            return status(fault)
        if not banks:
            return status(ALGORITHM)
        if head.iv_len or head.flags & (PARTIAL | RESUME):
            return status(UNKNOWN)
        known = self.tiles[banks[0][0]].banks[banks[0][1]].known
        size = 64 if known.hash else 4 * known.set.key_words
        if head.flags & FRESH or not size or head.payload_len != size:
            return status(KEY_LENGTH)
        if len(frame) == 16:
            return status(SHORT)
        if len(frame) // BEAT != head.beats():
            self.forget()
            return status(SHORT if len(frame) // BEAT < head.beats() else LONG)
        payload = frame[16 : 16 + size]
        key = self.secrets[payload] if known.hash else list(struct.unpack(f"<{size // 4}I", payload))
        for t, b in serves:
            bank = self.tiles[t].banks[b]
            if (t, b) in banks:
                bank.key, bank.stale = key, False
            else:
                bank.stale = True
        return status(OK)

    # -- lanes ------------------------------------------------------------------------------------------------

    def place(self, head: Header, without: int | None = None) -> int | None:
        """The tile that serves a frame; it, and all others that could, change their banks for it, if none runs it."""
        able = self.key_serves(head)
        if any(self.tiles[t].banks[b].current for t, b in able):
            able = [(t, b) for t, b in able if self.tiles[t].banks[b].current]
        able = [(t, b) for t, b in able if t != without]
        for t, b in able:
            if b == self.tiles[t].run:
                return t
        for t, b in able:
            self.tiles[t].run = b
        return able[0][0] if able else None

    def verdict(self, bank: Bank, head: Header) -> int:
        """What is wrong with a header for a lane of a tile that runs this bank."""
        known = bank.known
        if known is None or head.code != known.set.code:
            return ALGORITHM
        forward = self.forwards(known, head)
        ops = (EXPAND,) if known.keys else (PLAIN_HASH, MAC) if known.hash else tuple(MODES)
        if head.op not in ops or (head.flags & (PARTIAL | RESUME) and head.op != PLAIN_HASH):
            return UNKNOWN
        back = head.decrypt and head.op not in ENCRYPTS
        if back if known.hash else back != known.set.decrypt:
            return UNKNOWN
        if forward and known.set.decrypt and not known.keys:
            return UNKNOWN
        if head.flags & FRESH:
            return KEY_LENGTH
        if head.op not in (PLAIN_HASH, EXPAND) and bank.key is None:
            return NO_KEY
        if known.hash:
            return self.hash_verdict(4 * known.output_words, head)
        block = 4 * known.input_words
        if head.iv_len != (block if head.op in ENCRYPTS or (head.op == CBC and not forward) else 0):
            return IV_LENGTH
        if known.keys:
            return OK if head.result_len == known.output_words else LENGTH
        if forward and head.op in (CFB, OFB):
            return LENGTH
        if forward and not 2 + (block // BEAT if head.op == CBC else 0) <= head.result_len < 32:
            return LENGTH
        whole = (head.payload_len - BEAT * head.result_len * forward) % block == 0
        return OK if head.op in ENCRYPTS or whole else LENGTH

    @staticmethod
    def hash_verdict(state: int, head: Header) -> int:
        """Of lengths; `state`: of the state, and of the digest."""
        if head.iv_len != (BEAT + state if head.flags & RESUME else 0):
            return IV_LENGTH
        if not head.flags & PARTIAL:
            return OK if 1 <= head.result_len <= state else LENGTH
        # Of nothing there is no state.
        some = head.payload_len or head.flags & RESUME
        return OK if head.result_len == state and head.payload_len % 64 == 0 and some else LENGTH

    @staticmethod
    def forwards(known: Known, head: Header) -> bool:
        """Its result is a frame."""
        return known.keys or (known.hash is None and head.result_len != 0)

    def data(self, head: Header, frame: bytes) -> list[Answer]:
        """A frame of the host for a lane, and the one that its result is."""
        at = self.place(head)
        bank = self.tiles[at or 0].now
        status = self.judge(bank, head, frame)
        if status != OK:
            return [Answer(head.tag, frozenset([status]))]
        known, payload = bank.known, frame[16 + -(-head.iv_len // BEAT) * BEAT :][: head.payload_len]
        if known.keys:
            return self.expand(known, head, payload)
        iv = frame[16 : 16 + head.iv_len]
        if not self.forwards(known, head):
            return [Answer(head.tag, frozenset([OK]), self.result(bank, head, iv, payload))]
        return self.join(at or 0, bank, head, iv, payload)

    def judge(self, bank: Bank, head: Header, frame: bytes) -> int:
        if len(frame) == BEAT:
            return SHORT
        if fault := head.fault() or self.verdict(bank, head):
            return fault
        if head.flags & RESUME and len(frame) > 16 and int.from_bytes(frame[16:24], "little") % 64:
            return LENGTH
        if len(frame) // BEAT != head.beats():
            return SHORT if len(frame) // BEAT < head.beats() else LONG
        known = bank.known
        if self.forwards(known, head):
            front = BEAT * head.result_len
            fits = head.payload_len > front
            if known.keys:
                fits = head.payload_len == 16 + 4 * known.input_words
            if not fits or head.payload_len >= BUFFER:
                return LENGTH
        return OK

    @staticmethod
    def result(bank: Bank, head: Header, iv: bytes, payload: bytes) -> bytes:
        known = bank.known
        if known.hash:
            if head.op == MAC:
                return known.hash.mac(bank.key, payload)[: head.result_len]
            so_far = int.from_bytes(iv[:BEAT], "little")
            state = iv[BEAT:] or known.hash.begin()
            if head.flags & PARTIAL:
                return known.hash.blocks(state, payload)
            if head.flags & RESUME:
                return known.hash.rest(so_far, state, payload)[: head.result_len]
            return known.hash.digest(payload)[: head.result_len]
        back = head.op == CFB and head.decrypt
        return known.cipher.crypt(bank.key, MODES[head.op], iv, payload, back)

    def expand(self, known: Known, head: Header, payload: bytes) -> list[Answer]:
        """A key that is expanded, and comes to its banks at once."""
        inner = Header.of(payload)
        banks, serves = self.key_banks(inner), self.key_serves(inner)
        sized = inner.result_len == head.result_len
        if inner.op != KEY or inner.flags & WIPE or not sized or not banks:
            return [Answer(head.tag, frozenset([NOT_FORWARDED]))]
        words = EXPANDS[known.set.name](payload[16:])
        frame = payload[:16] + struct.pack(f"<{len(words)}I", *words)
        return [Answer(head.tag, frozenset([OK])), self.key(inner, frame, banks, serves)]

    def join(self, at: int, bank: Bank, head: Header, iv: bytes, payload: bytes) -> list[Answer]:
        """Ciphertext, and what a hash makes of it in another tile."""
        front, text = payload[: BEAT * head.result_len], payload[BEAT * head.result_len :]
        inner = Header.of(front)
        if head.op == CBC:
            iv = front[-4 * bank.known.input_words :]
        refused = [Answer(head.tag, frozenset([NOT_FORWARDED]))]
        if inner.op not in (PLAIN_HASH, MAC) or inner.flags & WIPE or inner.payload_len >= BUFFER:
            return refused
        to = self.place(inner, without=at)
        if to is None:
            return refused
        result = self.result(bank, head, iv, text)
        message = front + result
        message += bytes(-len(message) % BEAT)
        other = self.tiles[to].now
        status = self.judge(other, inner, message)
        brought, rest = message[16:][: inner.iv_len], message[16 + -(-inner.iv_len // BEAT) * BEAT :]
        digest = self.result(other, inner, brought, rest[: inner.payload_len]) if status == OK else b""
        return [Answer(head.tag, frozenset([OK]), result), Answer(inner.tag, frozenset([status]), digest)]
