# SPDX-License-Identifier: Apache-2.0
"""Two runs at a board's pins with other keys, IVs and texts: they may differ in results, and in nothing else."""

from pathlib import Path
from random import Random
from typing import NamedTuple

from ace_flow.array import frames as slot
from ace_flow.board import work as of
from ace_flow.board.host import (
    ANSWER,
    BEAT,
    COUNTERS,
    DATA,
    HEADER,
    KEY,
    LED,
    LOAD,
    RECALL,
    REFUSED,
    REGISTER,
    STORE,
    Host,
    Response,
    place_beat,
    tag_of,
)
from ace_flow.board.model import SHORT as TIMES
from ace_flow.board.trials import OTHER, check, opened, sound
from ace_flow.board.wire import MICROSECOND, Taken, Wire
from ace_flow.sim.frames import request

# How the first host's session ends: it says so, it says nothing more, the board is reset, or the same host begins anew.
ENDS = ("bye", "silence", "reset", "anew")


class Seen(NamedTuple):
    """The digest of all pins, frames with results taken out of them, and the results."""

    pins: int
    outside: list[tuple[int, bytes]]
    results: list[bytes]


class Watched(Wire):
    """A wire that notes all that leaves. The trailer of an answer is no result: it has length, tag and status."""

    def __init__(self, library: Path):
        super().__init__(library)
        self.outside: list[tuple[int, bytes]] = []
        self.results: list[bytes] = []

    def take(self) -> Taken | None:
        taken = super().take()
        if taken is not None:
            data, result = taken.data, b""
            if data[14] == ANSWER:
                end = HEADER.size + BEAT * data[21] - BEAT
                data, result = data[: HEADER.size] + data[end:], data[HEADER.size : end]
            self.outside.append((taken.begun, data))
            if result:
                self.results.append(result)
        return taken


def first(host: Host, ace: str, secret: Random, frames: int) -> None:
    """What is secret comes from `secret`; when what is sent, and how long it is, does not."""
    shape = Random(5)
    # Words of the store are not secret; if they were, nobody would see them.
    stores = host.hello().store_words > 0
    for kind in (of.AesWork, of.GcmWork):
        work = kind(ace, secret.randbytes(16), stores)
        if stores:
            check(host.store(0, secret.randbytes(800)), "the store takes no words")
            check(host.store(0, slot.load(work.set.data, 0)[of.HEAD :]), "the store takes no set")
            check(host.store(behind(work), secret.randbytes(800)), "the store takes no words behind it")
        work.prepare(host)
        for n in range(frames):
            size, key = 16 * shape.randrange(1, 60), secret.randbytes(16)
            if isinstance(work, of.GcmWork):
                # The same lengths; what they are of differs.
                frame = work.framed(secret.randbytes(12), secret.randbytes(20), secret.randbytes(size), 16, n)
            else:
                frame = request(of.AES, "cbc", secret.randbytes(size), iv=secret.randbytes(16), tag=n)
            host.ask(DATA, frame)
            if n % 4 == 3:
                # Another key and the set again, and the link's own in between.
                work.change(key)
                work.prepare(host)
                host.register(LED, n & 1)
                host.mdio(2)
    # Some stay under way: their session ends before they are answered.
    for n in range(4):
        host.put(DATA, request(of.AES, "cbc", secret.randbytes(640), iv=secret.randbytes(16), tag=n))


def behind(work: of.AesWork) -> int:
    """The place behind a set that begins at the first word."""
    return len(slot.load(work.set.data, 0)[of.HEAD :]) // BEAT


def ended(host: Host, how: str) -> None:
    wire = host.wire
    if how == "bye":
        host.bye()
    elif how == "reset":
        wire.reset(MICROSECOND)
    elif how == "silence":
        while host.receive(50 * MICROSECOND) is not None:
            pass
        wire.run(2 * (1 << TIMES["SessionBits"]) * 10_000)


def second(wire: Wire, ace: str, how: str) -> None:
    """Whatever another host can ask: it finds no epoch, set or key, and no answer to what it has not sent."""
    host = Host(
        wire, session=77, patience=1000 * MICROSECOND, address=Host(wire).address if how == "anew" else OTHER
    )
    identity = host.hello()
    check(identity is not None, f"{how}: the board is not free")
    check(all(epochs == (0, 0) for epochs in identity.epochs), f"{how}: epochs outlive their session")
    for number in (0, 1, LED):
        host.register(number)
    tags = []
    for code, op in ((of.AES, "ecb"), (of.AES, "cbc"), (of.AES, "ctr"), (0x42, "hash")):
        iv = b"" if op in ("ecb", "hash") else bytes(16)
        frame = request(
            code, op, bytes(64), iv=iv, tag=0x600 + len(tags), result_len=20 if op == "hash" else 0
        )
        tags.append(tag_of(frame))
        response = host.ask(DATA, frame)
        check(response.status != 0 and not response.result, f"{how}: {op} is answered by what is left")
    # No word of the store, nor that there was one.
    for kind, beat in ((RECALL, place_beat(0, 1)), (RECALL, place_beat(500, 1)), (STORE, place_beat(1))):
        host.send(kind, beat + bytes(16), sets=host.sets[0] + (kind == RECALL))
        message = host.receive(host.patience)
        there = REFUSED if identity.store_words else None
        check((message and message.kind) == there, f"{how}: words of the store outlive their session")
    # A set alone, without a key; then the same load once more, whose verdict is its own.
    work = of.AesWork(ace)
    load = slot.load(work.set.data, 0x700)
    check(host.ask(LOAD, load).status == 0, f"{how}: a load")
    response = host.ask(DATA, request(of.AES, "ecb", bytes(64), tag=0x701))
    check(response.status == of.MISSING_KEY and not response.result, f"{how}: a key outlives its session")
    host.send(LOAD, load[: 184 * BEAT], flags=1, sets=1, keys=0)
    host.send(KEY, bytes(8), sets=0, keys=0)
    host.send(REGISTER, (COUNTERS | 1 << 31).to_bytes(8, "little"))
    while (message := host.receive(200 * MICROSECOND)) is not None:
        if message.kind == ANSWER:
            response = Response.of(message.beats)
            check(not response.result, f"{how}: an answer that the second host has not asked for")
    host.hello()


def run(library: Path, ace: str, how: str, frames: int, seed: int) -> Seen:
    with Watched(library) as wire:
        host = opened(wire)
        host.patience = 1000 * MICROSECOND
        first(host, ace, Random(seed), frames)
        ended(host, how)
        second(wire, ace, how)
        wire.run(100 * MICROSECOND)
        sound(wire)
        while wire.take() is not None:
            pass
        return Seen(wire.pins(), wire.outside, wire.results)


def alike(
    library: Path, ace: str, frames: int = 12, ends: tuple[str, ...] = ENDS, secrets: tuple[int, int] = (1, 2)
) -> str:
    """Pins at every clock, times, lengths, heads and trailers are the same, and all of what a second host sees."""
    seen = []
    for how in ends:
        a, b = (run(library, ace, how, frames, seed) for seed in secrets)
        check(
            [at for at, _ in a.outside] == [at for at, _ in b.outside], f"{how}: frames leave at other times"
        )
        for (at, one), (_, other) in zip(a.outside, b.outside, strict=True):
            check(one == other, f"{how}: at {at} ps {one.hex()} and {other.hex()}")
        check(a.pins == b.pins, f"{how}: pins other than those of results differ")
        same = sum(one == other for one, other in zip(a.results, b.results, strict=True))
        check(
            len(a.results) >= 2 * frames and not same,
            f"{how}: {same} of {len(a.results)} results are the same",
        )
        seen.append(f"{how} {len(a.outside)}")
    return f"frames alike but for results: {', '.join(seen)}; a second host finds nothing of the first"
