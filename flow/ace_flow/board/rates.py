# SPDX-License-Identifier: Apache-2.0
"""What a board makes of its cable, in simulated time: payload each way at once, and how long an answer takes."""

import statistics
from pathlib import Path
from typing import NamedTuple

from ace_flow.array import frames
from ace_flow.board.host import DATA, HEADER, HELLO, Host, LinkError
from ace_flow.board.wire import MICROSECOND, Wire
from ace_flow.board.work import AesWork
from ace_flow.sim.frames import request

PAYLOADS = (64, 256, 576, 1408)
# Bytes that the queue may hold of what is under way.
WINDOW = 8192


class Rate(NamedTuple):
    """Of a payload: megabits a second to the board and from it, at the same time, and the wire's own limit."""

    payload: int
    to_board: float
    from_board: float
    limit: float


class Latency(NamedTuple):
    """Of a payload, in nanoseconds: from the last byte of the FCS in to the first one of the preamble out."""

    payload: int
    whole: float
    # Clocks in which the slot had beats or an answer to give, and what is left: the link's own.
    slot: float
    link: float


def rate(library: Path, payload: int, frames: int) -> Rate:
    """An echo of so many frames, with the cable full."""
    with Wire(library) as wire:
        host = Host(wire)
        if host.hello() is None:
            raise LinkError("another host has the board")
        sent: list[tuple[int, int]] = []
        begun: list[int] = []
        tag = 0
        while len(begun) < frames:
            while tag < frames and wire.waiting() < 2 and (tag - len(begun)) * payload < WINDOW:
                host.put(DATA, request(1, "ecb", bytes(payload), tag=tag))
                sent.append((host.last_sent, payload))
                tag += 1
            message = host.receive(MICROSECOND)
            if message is not None:
                if message.kind != 0x82 or len(message.beats) != payload + 8:
                    raise LinkError(f"a frame of {len(message.beats)} bytes came back")
                begun.append(host.last_begun)
            elif wire.now > frames * 100 * MICROSECOND:
                raise LinkError(f"{frames - len(begun)} frames did not come back")
        # Without the beginning, when one way is empty.
        cut = frames // 4
        ends = [wire.ended(number) for number, _ in sent]
        spans = (ends[-1] - ends[cut - 1], begun[-1] - begun[cut - 1])
        bits = 8 * payload * (frames - cut)
        beats = 16 + payload + -payload % 8
        limit = 1000 * payload / (max(HEADER.size + beats, 60) + 4 + 8 + 12)
        return Rate(payload, bits / spans[0] * 1e6, bits / spans[1] * 1e6, limit)


def latency(library: Path, payload: int | None, khz: int, times: int = 8) -> Latency:
    """Of one frame alone, an echo or (None) hello; the median."""
    with Wire(library) as wire:
        host = Host(wire)
        host.hello()
        seen = []
        for n in range(times):
            wire.run(MICROSECOND + n * 1300)
            if payload is None:
                host.send(HELLO)
            else:
                host.put(DATA, request(1, "ecb", bytes(payload), tag=n))
            if host.receive(100 * MICROSECOND) is None:
                raise LinkError("no answer")
            seen.append((host.last_begun - wire.ended(host.last_sent)) / 1000)
        whole = statistics.median(seen)
        # The echo takes its frame a beat a clock, and has the trailer 9 clocks behind the last one.
        beats = 0 if payload is None else 2 + -(-payload // 8)
        slot = 0.0 if payload is None else (beats + ECHO_CLOCKS) * 1e6 / khz
        return Latency(payload or 0, whole, slot, whole - slot)


class Load(NamedTuple):
    """Of a set of AES-128, in nanoseconds: from the first byte of the preamble in to that of the answer out, alone."""

    way: str
    bytes: int
    whole: float


def loads(library: Path, ace: str, times: int = 4) -> list[Load]:
    """Over the cable, and by name where the board has a store; the median."""
    with Wire(library) as wire:
        host = Host(wire, patience=1000 * MICROSECOND)
        stores = host.hello().store_words > 0
        seen = []
        for way in ("over the cable", "by name") if stores else ("over the cable",):
            work = AesWork(ace, by_name=way == "by name")
            # Then the store has it.
            work.prepare(host)
            took = []
            for n in range(times):
                wire.run(MICROSECOND + n * 1300)
                begin = wire.now
                if work.load(host).status:
                    raise LinkError("a load is refused")
                took.append((host.last_begun - begin) / 1000)
            seen.append(Load(way, len(frames.load(work.set.data, 0)), statistics.median(took)))
        return seen


# Of a frame in the echo, besides its beats.
ECHO_CLOCKS = 9
