# SPDX-License-Identifier: Apache-2.0
"""Random frames of every kind into the array's slot, lies among them, with stalls and resets: each answer is the one that
the documents have for it (array/order.py), whatever the clocks.

python -m ace_flow array-frames --ace target/release/ace [--tiles 1] [--ways 1] [--lanes 16] [--frames 2000] [--seed 1]

A round is some dozens of frames out of a reset. One that ends with a wrong answer, or without one, is printed with its
number: --round N plays it alone. Ends with 1 then.

--controls: each change of the RTL that the proof of the entrance has to refute (flow/formal.toml) becomes a model of its
own, and has to give a wrong answer. Some minutes each.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from ace_flow.array import model
from ace_flow.array.frames import (
    BAD_CRC,
    BAD_SET,
    EXPAND,
    KEY,
    LOAD,
    OTHER_ARRAY,
    PARTIAL,
    RESUME,
    Set,
    Wrong,
    frame,
    signed,
)
from ace_flow.array.order import CBC, CFB, CTR, ECB, ENCRYPTS, MAC, OFB, PLAIN_HASH, Answer, Known, Order
from ace_flow.array.reference import aes_back_words, aes_words, xtea_words
from ace_flow.formal import proofs
from ace_flow.noninterference.slot import HOLD, M_TLAST, M_TVALID, OFFER, TAKE, Slot
from ace_flow.sim.frames import BEAT, DECRYPT, WIPE

# Sets, and what their sources are; XTEA is the guide's example.
SETS = {
    "aes:aes128_encrypt": 16,
    "aes:aes256_encrypt": 32,
    "aes:aes128_decrypt": 16,
    "aes_keys:aes128_encrypt_keys": 16,
    "aes_keys:aes256_encrypt_keys": 32,
    "aes_keys:aes128_decrypt_keys": 16,
    "xtea_encrypt": 16,
    "xtea_decrypt": 16,
    "md5:md5": 20,
    "sha1:sha1": 20,
}
WORDS = {"aes128_decrypt": aes_back_words, "xtea_encrypt": xtea_words, "xtea_decrypt": xtea_words}
LENGTHS = [0, 8, 16, 16, 24, 32, 48, 64, 64, 96, 128, 200, 336, 520, 1016, 2008, 2016, 2024, 2032, 2040, 2600]
# Of a clock: how often the host offers and takes, in 16.
PACES = [(16, 16), (16, 16), (15, 15), (8, 16), (16, 8), (16, 2), (3, 16), (5, 5)]
FRAMES = 40
# Clocks in which nothing moves before a slot counts as dead; the longest that something takes is a wipe.
DEAD = 60_000
# Bytes of XTEA in CBC, CFB and OFB: a block waits 700 clocks for the one before.
MOST = 160


def compiled(ace: str, folder: Path) -> list[Known]:
    """The sets."""
    guide = (model.tools.ROOT / "docs" / "array-language.md").read_text()
    begin = guide.index("algorithm xtea")
    source = folder / "xtea.ace"
    source.write_text(guide[begin : guide.index("```", begin)])
    names = [name if ":" in name else f"{source}:{name}" for name in SETS]
    return [Known.of(Set.compiled(ace, name, folder)) for name in names]


class Host:
    """What sends frames: it knows what banks hold, and asks mostly for what is there."""

    def __init__(self, order: Order, sets: list[Known], random: Random):
        self.order, self.random = order, random
        self.sets = random.sample(sets, random.randrange(2, 7))
        if random.random() < 0.7:
            # A cipher and what makes its keys, or a hash beside one.
            self.sets += [s for s in sets if s.set.name in ("aes128_encrypt", "aes128_encrypt_keys", "sha1")]
        self.sizes = {known.set.name: size for known, size in zip(sets, SETS.values(), strict=True)}
        self.tag = random.randrange(1 << 16)
        self.made: Counter[str] = Counter()

    def next_tag(self) -> int:
        self.tag = (self.tag + 1) % (1 << 16)
        return self.tag

    def present(self) -> list[Known]:
        return [bank.known for tile in self.order.tiles for bank in tile.banks if bank.known]

    def one(self, wanted=lambda known: True) -> Known | None:
        """A set that is mostly there."""
        there = [known for known in self.present() if wanted(known)]
        if there and self.random.random() < 0.93:
            return self.random.choice(there)
        rest = [known for known in self.sets if wanted(known)]
        return self.random.choice(rest) if rest else None

    def load(self) -> bytes:
        random = self.random
        data = random.choice(self.sets).set.data
        kind = random.random()
        if kind < 0.04:
            wrong = bytearray(data)
            at = random.randrange(8 * len(data))
            wrong[at // 8] ^= 1 << at % 8
            data = bytes(wrong)
            self.order.wrong[data] = frozenset({BAD_SET, OTHER_ARRAY, BAD_CRC})
        elif kind < 0.08:
            # A table that begins so late that it ends behind the bank's, if it has any.
            at, end = 40, len(data) - 8
            while at < end and data[at] not in (2, 3, 4):
                at += 8 + 8 * int.from_bytes(data[at + 4 : at + 8], "little")
            if at < end:
                data = signed(
                    data[: at + 2] + (random.choice([510, 600, 65535])).to_bytes(2, "little") + data[at + 4 :]
                )
                self.order.wrong[data] = frozenset({BAD_SET})
        return frame(0, LOAD, data, tag=self.next_tag(), result=random.randrange(1 << self.order.count))

    def secret(self, known: Known) -> tuple[bytes, bytes]:
        """A key, and the payload of its frame."""
        secret = self.random.randbytes(self.sizes[known.set.name])
        if known.hash:
            payload = known.hash.states(secret)
            self.order.secrets[payload] = secret
            return secret, payload
        words = WORDS.get(known.set.name, aes_words)(secret)
        return secret, b"".join(word.to_bytes(4, "little") for word in words)

    def key(self) -> bytes | None:
        known = self.one(lambda known: not known.keys)
        if known is None:
            return None
        payload = self.secret(known)[1]
        flags = DECRYPT if known.set.decrypt else 0
        return frame(known.set.code, KEY, payload, tag=self.next_tag(), flags=flags, result=known.key_size)

    def expand(self) -> bytes | None:
        random = self.random
        known = self.one(lambda known: known.keys)
        if known is None:
            return None
        tag, flags = self.next_tag(), DECRYPT if known.set.decrypt else 0
        code, op, size, inner_flags = known.set.code, KEY, known.output_words, flags
        length = 4 * size
        lie = random.random()
        if lie < 0.03:
            op = random.choice([LOAD, EXPAND, ECB, MAC])
        elif lie < 0.06:
            size = random.choice([44, 60, 16, 64])
        elif lie < 0.09:
            length = random.choice([0, 8, 4 * size - 8, 4096, (1 << 32) - 1])
        elif lie < 0.12:
            code = random.choice([0x70, 0x41, 0x42, 7])
        elif lie < 0.15:
            inner_flags = random.choice([WIPE, 0x20, 2, 8])
        inner = bytes([code, op, inner_flags, 0]) + self.next_tag().to_bytes(2, "little") + bytes([0, size])
        inner += length.to_bytes(4, "little") + bytes(4)
        payload = inner + random.randbytes(4 * known.input_words)
        return frame(known.set.code, EXPAND, payload, tag=tag, flags=flags, result=known.output_words)

    def length(self, op: int, block: int) -> int:
        length = max(0, self.random.choice(LENGTHS) - self.random.choice([0, 0, 0, 1, 3, 8]))
        if op in (CBC, CFB, OFB) and block == 8:
            length = min(length, MOST)
        return length if op in ENCRYPTS or op == MAC else length - length % block

    def data(self) -> bytes | None:
        random = self.random
        known = self.one(lambda known: not known.keys)
        if known is None:
            return None
        tag = self.next_tag()
        if known.hash:
            return self.hashed(known, self.length(MAC, 64), tag)
        op, block = random.choice([ECB, CBC, CTR, CFB, OFB]), 4 * known.input_words
        length = self.length(op, block)
        flags = DECRYPT if known.set.decrypt or (op in ENCRYPTS and random.random() < 0.5) else 0
        iv = b"" if op == ECB else random.randbytes(block)
        if op == CTR and random.random() < 0.3:
            iv = b"\xff" * block
        return frame(known.set.code, op, random.randbytes(length), tag=tag, flags=flags, iv=iv)

    def hashed(self, known: Known, length: int, tag: int) -> bytes:
        """A message, or a part of one."""
        random, state = self.random, 4 * known.output_words
        op, flags, iv, result = random.choice([MAC, PLAIN_HASH]), 0, b"", random.choice([12, state])
        if op == PLAIN_HASH and random.random() < 0.4:
            flags |= RESUME
            so_far = 64 * random.choice([0, 1, random.getrandbits(26), random.getrandbits(58)])
            so_far |= random.random() < 0.1
            iv = so_far.to_bytes(BEAT, "little") + random.randbytes(state)
        if op == PLAIN_HASH and random.random() < 0.4:
            flags |= PARTIAL
            length, result = length - length % 64 + random.choice([0] * 12 + [8]), state
        return frame(known.set.code, op, random.randbytes(length), tag=tag, flags=flags, iv=iv, result=result)

    def join(self) -> bytes | None:
        random = self.random
        known = self.one(lambda known: known.cipher is not None and not known.set.decrypt)
        hashed = self.one(lambda known: known.hash is not None)
        if known is None or hashed is None:
            return None
        block, tag = 4 * known.input_words, self.next_tag()
        op = random.choice([ECB, CBC, CTR])
        length = min(self.length(op, block), 1888)
        front = BEAT * random.randrange(0, 6) + (block if op == CBC else 0)
        code, inner_op, inner_flags, size = hashed.set.code, random.choice([MAC, 0x21]), 0, front + length
        lie = random.random()
        if lie < 0.03:
            inner_op = random.choice([LOAD, KEY, EXPAND, ECB, 0x32])
        elif lie < 0.10:
            size = random.choice([size + 8, max(0, size - 8), 2024, 2031, 2032, 2040, 4096, (1 << 32) - 1])
        elif lie < 0.13:
            code = random.choice([1, 0x70, 0x41, 0x42])
        elif lie < 0.16:
            inner_flags = random.choice([WIPE, 0x80, 2, RESUME, PARTIAL, 1])
        inner = bytes([code, inner_op, inner_flags, 0]) + self.next_tag().to_bytes(2, "little")
        inner += bytes([0, random.choice([12, 16])]) + size.to_bytes(4, "little") + bytes(4)
        payload = inner + random.randbytes(front + length)
        iv = random.randbytes(block) if op == CTR else b""
        return frame(known.set.code, op, payload, tag=tag, iv=iv, result=2 + front // BEAT)

    def frame(self) -> bytes:
        random = self.random
        kinds = {"load": 3, "key": 8, "expand": 7, "data": 24, "join": 10}
        if len(self.present()) < 2:
            kinds["load"] = 40
        made = None
        while made is None:
            (kind,) = random.choices(list(kinds), weights=list(kinds.values()))
            made = getattr(self, kind)()
        self.made[kind] += 1
        out = bytearray(made)
        lie = random.random()
        if lie < 0.02:
            out[2] |= WIPE
        elif lie < 0.05 and len(out) > BEAT:
            # It ends early, perhaps with its first beat.
            del out[BEAT * random.randrange(1, len(out) // BEAT) :]
        elif lie < 0.07:
            out += random.randbytes(BEAT * random.randrange(1, 4))
        elif lie < 0.10 and kind != "key":
            # Any field of its header, but the tag.
            out[random.choice([0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 14])] ^= 1 << random.randrange(8)
        if lie < 0.10:
            self.made["lies"] += 1
        return bytes(out)


class Play:
    """Frames in a slot: what it answers, against what it should."""

    def __init__(self, slot: Slot, random: Random):
        self.slot, self.random = slot, random
        self.clocks = 0
        self.pace = random.choice(PACES)
        self.part = bytearray()

    def reset(self) -> None:
        self.slot.drive(bytes([HOLD | TAKE]) * self.random.randrange(1, 4), [], 7)
        self.part.clear()

    def run(self, frames: list[bytes], wanted: dict[int, Answer], until: int | None) -> None:
        """All of them, or for so many clocks."""
        words = [
            (int.from_bytes(one[i : i + BEAT], "little"), i + BEAT >= len(one))
            for one in frames
            for i in range(0, len(one), BEAT)
        ]
        left, sent, still, spent = dict(wanted), 0, 0, 0
        offer, take = self.pace
        while until is None or spent < until:
            if not left and sent == len(words):
                break
            step = 256 if until is None else min(256, until - spent)
            todo = bytes(
                (OFFER if a < offer else 0) | (TAKE if b < take else 0)
                for a, b in ((x & 15, x >> 4) for x in self.random.randbytes(step))
            )
            seen = self.slot.drive(todo, words[sent : sent + step], 7)
            if seen.taken > step:
                raise Wrong("an assertion of rtl/formal failed")
            sent += seen.taken
            spent += step
            still = 0 if seen.taken else still + step
            for does, pins, word in zip(todo, seen.handshake, seen.data, strict=True):
                if pins & M_TVALID and does & TAKE:
                    still = 0
                    self.part += word.to_bytes(BEAT, "little")
                    if pins & M_TLAST:
                        self.check(left)
            if still > DEAD:
                raise Wrong(
                    f"nothing moves any more: {sent} of {len(words)} beats went in, {len(left)} answers left"
                )
        self.clocks += spent
        if until is None and self.part:
            raise Wrong(f"an answer without an end: {self.part.hex()}")

    def check(self, left: dict[int, Answer]) -> None:
        got, self.part = bytes(self.part), bytearray()
        tag, status, size = (
            int.from_bytes(got[-4:-2], "little"),
            got[-2],
            int.from_bytes(got[-8:-4], "little"),
        )
        answer = left.pop(tag, None)
        if answer is None:
            raise Wrong(f"an answer with the tag {tag}, which no frame waits for: {got[-8:].hex()}")
        if status not in answer.statuses:
            raise Wrong(f"frame {tag} has the status {status}, not {sorted(answer.statuses)}")
        if got[-1] or size != (len(answer.result) if status == 0 else 0):
            raise Wrong(f"frame {tag}: a trailer {got[-8:].hex()} of {len(answer.result)} bytes")
        if status == 0 and got[:-8] != answer.result + bytes(-size % BEAT):
            raise Wrong(f"frame {tag} is {got[:-8].hex()}, not {answer.result.hex()}")


def play(
    slot: Slot, tiles: int, sets: list[Known], seed: int, number: int, tell: bool
) -> tuple[Counter, int]:
    """One round: out of a reset, perhaps with another one in the middle of it."""
    random = Random(f"{seed} {number}")
    playing, made = Play(slot, random), Counter()
    for part in range(2 if random.random() < 0.3 else 1):
        playing.reset()
        order = Order(tiles, sets)
        host = Host(order, sets, random)
        frames, wanted = [], {}
        for _ in range(random.randrange(2, 2 * FRAMES)):
            frames.append(host.frame())
            answers = order.take(frames[-1])
            if tell:
                state = [
                    [(b.known.set.name if b.known else "", b.key is not None, b.stale) for b in t.banks]
                    + [t.run]
                    for t in order.tiles
                ]
                print(
                    f"{frames[-1][:16].hex()} {len(frames[-1])} -> {[(a.tag, sorted(a.statuses)) for a in answers]} {state}"
                )
            wanted |= {answer.tag: answer for answer in answers}
        made += host.made
        made["frames"] += len(frames)
        # A part that is not the last one ends with a reset at any clock.
        until = random.randrange(50, 30_000) if part == 0 and random.random() < 0.3 else None
        made["resets"] += until is not None
        playing.run(frames, wanted, until)
    return made, playing.clocks


def run(
    library: Path, sets: list[Known], tiles: int, frames: int, seed: int, only: int | None = None
) -> dict:
    """So many frames, or one round alone."""
    total, clocks, number, begun, told = Counter(), 0, only or 0, time.monotonic(), 0.0
    with Slot(library) as slot:
        while total["frames"] < frames:
            try:
                made, took = play(slot, tiles, sets, seed, number, only is not None)
            except Wrong as wrong:
                raise Wrong(
                    f"round {number} of seed {seed}, after {total['frames']} frames: {wrong}"
                ) from None
            total, clocks, number = total + made, clocks + took, number + 1
            if only is not None:
                break
            if time.monotonic() - told > 10:
                told = time.monotonic()
                print(f"{total['frames']}/{frames} frames, {clocks} clocks", file=sys.stderr, flush=True)
    seconds = round(time.monotonic() - begun, 1)
    return {"tiles": tiles, **total, "rounds": number, "clocks": clocks, "seconds": seconds}


def controls(sets: list[Known], parts: model.Parts, frames: int, seed: int) -> bool:
    """Whether each change of the RTL gives a wrong answer."""
    proof, good = proofs.load()["array_intake"], True
    for number, mutation in enumerate(proof.mutation, 1):
        files = [
            path for path in model.SLOT_SOURCES if str(path.relative_to(model.tools.ROOT)) == mutation.file
        ]
        if not files:
            continue
        library = model.changed(parts, files[0], proofs.mutated(proof, mutation), f"control-{number}")
        try:
            run(library, sets, parts.tiles, frames, seed)
            found, good = None, False
        except Wrong as wrong:
            found = str(wrong)
        print(json.dumps({"control": mutation.what, "found": found}), flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    model.Parts.ask(parser)
    parser.add_argument("--frames", type=int, default=2000, help="how many, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, help="this one alone, with its frames printed")
    parser.add_argument(
        "--controls", action="store_true", help="changes of the RTL, each of which has to be found"
    )
    args = parser.parse_args()
    library = model.model(model.Parts.asked(args))
    with tempfile.TemporaryDirectory() as folder:
        sets = compiled(args.ace, Path(folder))
    try:
        if args.controls:
            return 0 if controls(sets, model.Parts.asked(args), args.frames, args.seed) else 1
        print(json.dumps(run(library, sets, args.tiles, args.frames, args.seed, args.round)))
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
