# SPDX-License-Identifier: Apache-2.0
"""What a board's store is put through at its pins. A board without one has nothing to try."""

from pathlib import Path
from random import Random

from ace_flow.array import frames
from ace_flow.board import work as of
from ace_flow.board.host import (
    ANSWER,
    BEAT,
    DATA,
    LOAD,
    MAX_BEATS,
    NO_WORDS,
    RECALL,
    REFUSED,
    SHORT,
    STALE,
    STORE,
    STORED,
    VERDICT,
    Host,
    Message,
    Response,
    place_beat,
    segments,
)
from ace_flow.board.trials import check, known_answers, opened, sound
from ace_flow.board.wire import MICROSECOND, Wire
from ace_flow.board.work import HEAD
from ace_flow.sim.frames import request

NONE = "the board has no store"


def size(library: Path) -> int:
    """Words of a board's store."""
    with Wire(library) as wire:
        return opened(wire).hello().store_words


def one(host: Host, kind: int, beats: bytes, sets: int | None = None, keys: int | None = None) -> Message:
    """The answer to a frame that is sent once."""
    host.send(kind, beats, sets=sets, keys=keys)
    message = host.receive(host.patience)
    check(message is not None, f"no answer to {kind:02x}h of {beats[:BEAT].hex()}")
    if message.kind != ANSWER:
        check(message.number == host.number, f"{kind:02x}h is answered under another number")
    return message


def refused(host: Host, kind: int, beats: bytes) -> None:
    """Because of the store."""
    message = one(host, kind, beats, *host.epochs(kind, 0))
    what = f"{kind:02x}h of {beats[:BEAT].hex()} is answered {message.kind:02x}h"
    check((message.kind, message.beats) == (REFUSED, NO_WORDS.to_bytes(BEAT, "little")), what)


def empty(host: Host, when: str) -> None:
    """No word is there, and asking for one changes nothing."""
    refused(host, RECALL, place_beat(0, 1) + bytes(HEAD))
    refused(host, STORE, place_beat(1) + bytes(BEAT))
    check(host.hello().epochs[0] == (0, 0), f"{when}: an epoch has moved")


def words(library: Path, seed: int = 1, rounds: int = 40) -> str:
    """Slots that give back what they get: words of any number at any place are those that were written last, and the store
    takes no gaps and nothing beyond its end."""
    random = Random(seed)
    with Wire(library, seed) as wire:
        host = opened(wire, patience=400 * MICROSECOND)
        identity = host.hello()
        room = identity.store_words
        if not room:
            return NONE
        empty(host, "at first")
        there = b""
        for n in range(rounds):
            place = random.randrange(len(there) // BEAT + 1)
            count = min(random.choice([1, 2, 3, random.randrange(1, 600)]), room - place)
            part = random.randbytes(BEAT * count)
            check(host.store(place, part), f"{count} words at {place} are not taken")
            there = there[: BEAT * place] + part + there[BEAT * (place + count) :]
            filled = len(there) // BEAT
            for gap in (filled + 1, random.randrange(filled + 1, 1 << 16)):
                refused(host, STORE, place_beat(gap) + bytes(BEAT))
            recalled(host, random, there, random.randrange(identity.slots))
            wide = [[random.getrandbits(random.randrange(1, 17)) for _ in range(2)] for _ in range(4)]
            edges = [(filled, 1), (filled - 1, 2), (0, filled + 1), (0, 0), (room, room), (0xFFFF, 0xFFFF)]
            for place, count in edges + [(at, count) for at, count in wide if at + count > filled]:
                refused(host, RECALL, place_beat(place, count) + bytes(HEAD))
            # Bits that say nothing are zero.
            for kind, beat, first in ((STORE, place_beat(0), 16), (RECALL, place_beat(0, 1), 32)):
                other = int.from_bytes(beat, "little") | 1 << random.randrange(first, 64)
                refused(host, kind, other.to_bytes(BEAT, "little") + bytes(HEAD))
            loaded = sum(sets for sets, _ in host.hello().epochs)
            check(loaded == n + 1, f"{n + 1} recalls are {loaded} loads")
        # Up to its end, and not beyond.
        filled = len(there) // BEAT
        check(host.store(filled, bytes(BEAT * (room - filled))), "the store is smaller than it says")
        refused(host, STORE, place_beat(room) + bytes(BEAT))
        refused(host, STORE, place_beat(room - 1) + bytes(2 * BEAT))
        last = random.randbytes(BEAT)
        check(host.store(room - 1, last), "its last word is not taken")
        response = host.recall(request(1, "ecb", last, tag=7)[:HEAD], room - 1, 1)
        check(response is not None and response.result == last, "the last word is another one")
        dropped(host)
        ends(host)
        sound(wire)
        return f"{rounds} times what was written last; {room} words, none beyond; nothing outlives a session"


def recalled(host: Host, random: Random, there: bytes, slot: int) -> None:
    """Some of the words, behind more or less that the frame itself brings."""
    filled = len(there) // BEAT
    count = random.randrange(1, min(filled, 700) + 1)
    place = random.randrange(filled - count + 1)
    payload = random.randbytes(BEAT * random.choice([0, 0, 1, 20, MAX_BEATS - 3]))
    payload, head = payload + there[BEAT * place : BEAT * (place + count)], HEAD + len(payload)
    response = host.recall(request(1, "ecb", payload, tag=host.tag())[:head], place, count, slot)
    right = response is not None and (response.status, response.result) == (0, payload)
    check(right, f"{count} words from {place} on are others")


def dropped(host: Host) -> None:
    """What is of a single beat, or of several segments, is answered by nothing, and counted."""
    before = host.hello().other
    for kind in (STORE, RECALL):
        beat, (sets, keys) = place_beat(0, kind == RECALL), host.epochs(kind, 0)
        for beats, flags in ((beat, 3), (beat + bytes(HEAD), 1)):
            host.send(kind, beats, flags=flags, sets=sets, keys=keys)
            check(host.receive(host.patience) is None, f"{kind:02x}h, {len(beats)} bytes, flags {flags}")
    check(host.hello().other - before == 4, "what was dropped is not counted")


def ends(host: Host) -> None:
    """Whichever way a session ends, the next one finds an empty store."""
    for how in ("bye", "another session of the host", "reset"):
        check(host.store(0, bytes(10 * BEAT)), "words are not taken")
        if how == "bye":
            host.bye()
        elif how == "reset":
            host.wire.reset()
        else:
            host.session += 1
        check(host.hello() is not None, f"no session behind {how}")
        empty(host, how)


def loads(library: Path, ace: str) -> str:
    """A recall is a load: once, with a verdict, and what it loads computes; store and data do not meet."""
    with Wire(library) as wire:
        host = opened(wire, patience=400 * MICROSECOND)
        if not host.hello().store_words:
            return NONE
        aes = of.AesWork(ace, by_name=True)
        load = frames.load(aes.set.data, 0xFFF0)
        head, end = load[:HEAD], load[HEAD:]
        again = place_beat(0, len(end) // BEAT) + head
        aes.prepare(host)
        known_answers(host)
        sets, keys = host.sets[0], host.keys[0]
        for of_sets, of_keys, kind in (
            (sets, keys, VERDICT),
            (sets, keys + 1, STALE),
            (sets + 2, keys, STALE),
            (sets + 1, keys - 1, STALE),
        ):
            message = one(host, RECALL, again, of_sets, of_keys)
            check(message.kind == kind, f"a recall of {of_sets}, {of_keys} is answered {message.kind:02x}h")
        check(host.hello().epochs[0] == (sets, keys), "a recall is taken twice")
        check(aes.load(host).status == 0, "a second recall")
        refused(host, RECALL, place_beat(0, len(end) // BEAT + 1) + head)
        # The same once more, and a load of the same epoch; what was refused meanwhile was none.
        for kind, beats, flags in ((RECALL, again, 3), (LOAD, next(segments(load))[1], 1)):
            host.send(kind, beats, flags=flags)
            message = host.receive(host.patience)
            check(message is not None and message.kind == VERDICT, f"{kind:02x}h again has no verdict")
            verdict = Response.of(message.beats)
            check((verdict.tag, verdict.status) == (0xFFF0, 0), f"the verdict is {verdict}")
        check(host.hello().epochs[0] == (sets + 1, keys), "a load behind a recall is taken twice")
        # A set of which a word is another one is none, and it can be written again.
        place = len(end) // BEAT // 2
        wrong = bytes(byte ^ 0xFF for byte in end[BEAT * place : BEAT * (place + 1)])
        check(host.store(place, wrong), "a word is not written over")
        check(aes.load(host).status == frames.BAD_CRC, "a set with another word is taken")
        check(host.store(place, end[BEAT * place :]), "words are not written over")
        between(host, end[:BEAT])
        aes.prepare(host)
        check(aes.written == 1, "a set was not where it was written")
        known_answers(host)
        sound(wire)
        return "ECB and CBC of SP 800-38A under a set of the store; it is loaded once; words between segments"


def between(host: Host, word: bytes) -> None:
    """The store's first word anew between the segments of a frame; and a recall that ends one early."""
    frame = request(of.AES, "ecb", bytes(2400), tag=host.tag())
    right = host.ask(DATA, frame)
    parts = list(segments(frame))
    stored, responses = 0, []
    number = host.number
    for flags, beats in parts:
        # Numbers of segments follow each other; that of *store* is another one.
        host.number = number
        number = host.send(DATA, beats, flags=flags)
        host.number += 0x4000
        host.send(STORE, place_beat(0) + word)
    host.number = number
    host.send(DATA, parts[0][1], flags=parts[0][0])
    sets, keys = host.epochs(RECALL, 0)
    host.send(RECALL, place_beat(0, 1) + bytes(HEAD), sets=sets, keys=keys)
    while (message := host.receive(host.patience)) is not None:
        stored += message.kind == STORED
        whole = host.answered(message)
        responses += [whole[1]] if whole else []
    check(stored == len(parts), f"of {len(parts)} frames of words {stored} are stored")
    check(len(responses) == 3, f"three frames have {len(responses)} answers")
    check(
        (responses[0].status, responses[0].result) == (0, right.result),
        "a frame with words in it is another one",
    )
    check(responses[1].status == SHORT, "a recall does not end a frame that is open")
    check((responses[2].sets, responses[2].tag) == (sets, 0), "the recall that ends it")
    host.hello()
