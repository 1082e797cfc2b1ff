# SPDX-License-Identifier: Apache-2.0
"""What a board at its pins is put through. Each trial makes its own board, raises LinkError where the board does not do
what docs/link.md says, and returns a line of what it saw."""

from pathlib import Path
from random import Random

from ace_flow.board import work as of
from ace_flow.board.exchange import Exchange
from ace_flow.board.fuzz import Fuzz
from ace_flow.board.host import (
    ANSWER,
    COUNTERS,
    DATA,
    KEY,
    LED,
    LOAD,
    NO_SEGMENT,
    NO_SESSION,
    NO_SLOT,
    OTHERS,
    REFUSED,
    REGISTER,
    SHORT,
    STALE,
    TAP,
    TO_ALL,
    VERDICT,
    Host,
    LinkError,
    Message,
    segments,
)
from ace_flow.board.model import SHORT as TIMES
from ace_flow.board.wire import MICROSECOND, Wire
from ace_flow.sim.frames import request

OTHER = bytes.fromhex("020000000022")
# The taps at which a cable's data are right.
EYE = (35, 93)
# Frames of nonsense between two questions whether the board answers right.
MOST_AT_A_TIME = 400


def check(right: bool, what: str) -> None:
    if not right:
        raise LinkError(what)


def opened(wire: Wire, **about: object) -> Host:
    host = Host(wire, **about)
    check(host.hello() is not None, "another host has the board that nobody has talked to")
    return host


def sound(wire: Wire) -> None:
    """What a board must never do, whatever comes."""
    counts = wire.counts()
    check(counts.out_wrong == 0, f"{counts.out_wrong} frames left the pins broken")
    check(counts.out_close == 0, f"{counts.out_close} frames left too close to the one before")
    check(counts.sdram_clock == 0, "the SDRAM has a clock")


def registers(library: Path) -> str:
    """Hello, identity, registers, MDIO, counters, and what is answered to frames that say nothing."""
    with Wire(library) as wire:
        host = Host(wire)
        identity = host.hello(to=TO_ALL)
        check(identity is not None and identity.version == 1, "identity")
        check(
            identity.host == host.address and identity.session == host.session, "identity names another host"
        )
        check(identity.image == bytes.fromhex("efcdab8967452301"), "identity of the image")
        check([host.mdio(n) for n in (2, 3)] == [wire.mdio(2), wire.mdio(3)], "the PHY's identifier")
        check(host.mdio(2, phy=9) == 0xFFFF, "a PHY that is not there answers")
        host.mdio(0x1C, 0x8C00)
        check(wire.mdio(0x1C) == 0x8C00, "a register of the PHY is not written")
        check(wire.counts().led == 1, "the LED is off in a session")
        check((host.register(LED, 1), host.register(LED)) == (1, 1), "the LED's register")
        host.tap(77)
        check(wire.counts().tap == 77 and host.register(TAP) == 77, "the tap")
        host.register(COUNTERS, 0)
        after = host.hello()
        check(
            (after.whole, after.bad, after.lost, after.other, after.sent) == (1, 0, 0, 0, 1),
            f"counters: {after}",
        )
        # A number that is none, and a frame of another type: no answer, and counted.
        host.send(5, (99).to_bytes(8, "little"))
        wire.send(host.address + OTHER + b"\x08\x00" + bytes(50))
        check(host.receive(host.patience) is None, "an answer to what is none")
        check(host.hello().other == 2, "what was dropped is not counted")
        host.bye()
        host.send(DATA, bytes(8))
        message = host.receive(host.patience)
        check(message is not None and message.kind == REFUSED and message.beats[0] == NO_SESSION, "bye")
        sound(wire)
        return f"link {identity.version}, {identity.slots} slots, {identity.khz} kHz, {identity.words} words"


def sessions(library: Path) -> str:
    """One host has the board; others and other sessions are refused; it ends by itself, and all is forgotten."""
    with Wire(library) as wire:
        host = opened(wire)
        frame = request(1, "ecb", b"12345678", tag=1)
        host.ask(LOAD, frame)
        other = Host(wire, address=OTHER, session=7)
        check(other.hello() is None, "a second host is let in")
        for guest, why in ((other, OTHERS), (Host(wire, session=8), NO_SESSION)):
            for kind, beats in ((DATA, frame), (LOAD, frame), (KEY, frame), (5, bytes(8)), (6, b"")):
                guest.send(kind, beats)
                message = guest.receive(guest.patience)
                check(
                    message is not None and message.kind == REFUSED, f"{kind:02x}h of others is not refused"
                )
                check(message.beats[0] == why, f"{kind:02x}h of others is refused with {message.beats[0]}")
        host.send(DATA, frame, slot=200)
        message = host.receive(host.patience)
        check(message.kind == REFUSED and message.beats[0] == NO_SLOT, "a slot that is none")
        check(host.hello().epochs[0] == (1, 0), "hello of the open session changed it")
        # Another session of the same host begins anew.
        again = Host(wire, session=9)
        check(again.hello().epochs[0] == (0, 0), "epochs outlive their session")
        # Half of the time of silence, and then all of it.
        half = (1 << TIMES["SessionBits"]) * 10_000 // 2
        wire.run(half + half // 2)
        check(again.hello().session == 9, "a session ended too early")
        wire.run(3 * half)
        check(other.hello() is not None, "a session does not end by itself")
        sound(wire)
        return "one host at a time; ended by bye, by another session and by silence"


def epochs(library: Path) -> str:
    """Loads and keys come once, what is stale does not reach a slot, and segments that are missing end a frame."""
    with Wire(library) as wire:
        host = opened(wire)
        load = request(1, "ecb", bytes(4000), tag=5)
        parts = list(segments(load))

        def one(kind: int, beats: bytes, **about: int) -> Message:
            host.send(kind, beats, **about)
            message = host.receive(host.patience)
            check(message is not None, f"no answer to {kind:02x}h")
            return message

        # Without its second segment.
        host.send(LOAD, parts[0][1], flags=parts[0][0], sets=1)
        host.number += 1
        host.send(LOAD, parts[2][1], flags=parts[2][0], sets=1)
        kinds = [host.receive(host.patience) for _ in range(2)]
        check(sorted(m.kind for m in kinds) == [ANSWER, REFUSED], "a load without its middle")
        refused, answer = sorted(kinds, key=lambda m: m.kind != REFUSED)
        check(refused.beats[0] == NO_SEGMENT, "the segment behind a missing one")
        check(answer.beats[-2] == SHORT and (answer.sets, answer.keys) == (0, 0), "a load that was cut")
        check(host.ask(LOAD, load).status == 0, "the same load again")
        message = one(LOAD, parts[0][1], flags=parts[0][0])
        check(message.kind == VERDICT and message.beats[6] == 0 and message.beats[4] == 5, "its verdict")
        key = request(1, "ecb", bytes(40), tag=6)
        check(host.ask(KEY, key).status == 0, "a key")
        check(one(KEY, key).beats[4] == 6, "its verdict")
        stale = [(0, 1), (1, 0), (2, 1), (1, 2)]
        for sets, keys in stale:
            message = one(DATA, key, sets=sets, keys=keys)
            check(message.kind == STALE and (message.sets, message.keys) == (1, 1), f"data of {sets}, {keys}")
            check(not message.beats, "stale has beats")
        for sets, keys in ((0, 1), (3, 1), (2, 0), (2, 2)):
            check(
                one(LOAD, load[:1472], flags=1, sets=sets, keys=keys).kind == STALE,
                f"a load of {sets}, {keys}",
            )
        # A frame that another one's first segment ends.
        host.send(DATA, load[:1472], flags=1)
        first, second = one(DATA, key), host.receive(host.patience)
        check(
            (first.kind, first.beats[-2]) == (ANSWER, SHORT) or first.beats[:8] == bytes(8),
            "a frame that is cut",
        )
        while second is not None and second.beats[-4] != 6:
            second = host.receive(host.patience)
        check(second is not None and second.beats[-2] == 0, "the frame that cuts it")
        sound(wire)
        return f"{len(stale)} ways to be stale, none of which reached the slot"


def slots(library: Path) -> str:
    """Two slots: epochs, verdicts and numbers of each are its own, and both answer at a time."""
    with Wire(library) as wire:
        host = opened(wire)
        random = Random(3)
        load = request(1, "ecb", bytes(40), tag=9)
        for slot, loads in ((0, 3), (1, 1)):
            for _ in range(loads):
                check(host.ask(LOAD, load, slot).status == 0, "a load")
        check(host.ask(KEY, load, 1).status == 0, "a key")
        check(host.hello().epochs[:3] == ((3, 0), (1, 1), (0, 0)), "epochs are not those of their slots")
        asked, answers = {}, {}
        for tag in range(40):
            payload = random.randbytes(random.choice([0, 8, 600, 2900]))
            asked[tag] = payload
            host.put(DATA, request(1, "ecb", payload, tag=tag), tag & 1)
            while (message := host.receive(40 * MICROSECOND if tag % 4 == 3 else 1)) is not None:
                if (whole := host.answered(message)) is not None:
                    check(whole[0] == whole[1].tag & 1, "an answer of another slot")
                    answers[whole[1].tag] = whole[1].result
        check(asked == answers, f"of {len(asked)} frames {len(answers)} are answered right")
        host.send(LOAD, load, slot=1, sets=1, keys=1)
        message = host.receive(host.patience)
        check((message.kind, message.slot, message.beats[4]) == (VERDICT, 1, 9), "the verdict of a slot")
        sound(wire)
        return f"{len(answers)} frames in turns"


def eye(library: Path) -> str:
    """The board finds a tap at which frames come, and a host all of them."""
    with Wire(library) as wire:
        wire.eye(*EYE)
        host = Host(wire, patience=20 * MICROSECOND, tries=400)
        check(host.hello() is not None, "no hello")
        found = wire.counts().tap
        check(EYE[0] <= found <= EYE[1], f"frames come at tap {found}")
        good = []
        for tap in range(128):
            # A tap at which nothing comes is left again by the board itself.
            host.send(REGISTER, (TAP | 1 << 31 | tap << 32).to_bytes(8, "little"))
            host.receive(host.patience)
            wire.run(2 * MICROSECOND + abs(tap - found) * 80_000)
            answered = 0
            for _ in range(3):
                number = host.send(REGISTER, LED.to_bytes(8, "little"))
                message = host.receive(4 * MICROSECOND)
                answered += message is not None and message.number == number
            if answered == 3:
                good.append(tap)
            host.tap(found)
        check(
            good == list(range(EYE[0], EYE[1] + 1)), f"the eye is {EYE[0]} to {EYE[1]}, the scan says {good}"
        )
        return f"found tap {found}; eye {good[0]} to {good[-1]}"


def known(library: Path, ace: str) -> str:
    """SP 800-38A through the pins."""
    with Wire(library) as wire:
        host = opened(wire)
        aes = of.AesWork(ace)
        aes.prepare(host)
        known_answers(host)
        # The key goes with the session.
        host.bye()
        host.hello()
        response = host.ask(DATA, request(of.AES, "ecb", of.PLAIN_38A, tag=4))
        check(response.status != 0 and not response.result, "a key outlives its session")
        sound(wire)
        return "ECB and CBC of AES-128 are those of SP 800-38A"


def known_answers(host: Host) -> None:
    """Of a slot with AES-128 under its key."""
    for mode, iv, result in (("ecb", b"", of.ECB_38A), ("cbc", of.IV_38A, of.CBC_38A)):
        response = host.ask(DATA, request(of.AES, mode, of.PLAIN_38A, iv=iv, tag=3))
        check((response.status, response.result) == (0, result), f"{mode}: {response}")


def exchanged(
    wire: Wire, host: Host, room: int, work: of.Work, count: int, random: Random, most: int
) -> Exchange:
    """So many tasks, of which each has to come back right."""
    tasks = [work.task(random, host.tag(), most) for _ in range(count)]
    exchange = Exchange(host, room, prepare=work.prepare)
    answers = exchange.run(task.frame for task in tasks)
    for index, task in enumerate(tasks):
        response = answers.get(index)
        check(response is not None, f"frame {index} is not answered")
        check(
            (response.status, response.result) == (0, task.result),
            f"frame {index} is wrong: {response.status}",
        )
    sound(wire)
    return exchange


def lossy(library: Path, work: of.Work, count: int, seed: int = 1, most: int = 200) -> str:
    """1 % of the frames lost and 1 % broken, each way."""
    with Wire(library, seed) as wire:
        wire.chances(10_000, 10_000)
        host = Host(wire)
        identity = host.hello()
        random = Random(seed)
        work.prepare(host)
        done = 0
        while done < count:
            part = min(count - done, 250)
            exchanged(wire, host, identity.words, work, part, random, most)
            done += part
            # Epochs move in between.
            work.prepare(host)
        counts = wire.counts()
        lost, broken = counts.in_lost + counts.out_lost, counts.in_broken + counts.out_broken
        return f"{done} frames right, none unanswered; {lost} lost, {broken} broken, {host.resent} sent again"


def resets(library: Path, work: of.Work, count: int, seed: int = 1) -> str:
    """Boards and hosts that begin anew in the middle of it."""
    random = Random(seed)
    with Wire(library, seed) as wire:
        host = Host(wire, session=1)
        room = host.hello().words
        work.prepare(host)
        boards = hosts = forgotten = 0
        for n in range(count):
            for _ in range(random.randrange(1, 12)):
                host.put(DATA, work.task(random, host.tag(), 3000).frame)
            wire.run(random.randrange(60 * MICROSECOND))
            if random.randrange(2):
                wire.reset(random.randrange(1, 3) * MICROSECOND)
                boards += 1
            else:
                host = Host(wire, session=2 + n, tags=host.tags)
                hosts += 1
                check(host.hello() is not None, "the same host's new session is refused")
                work.prepare(host)
            forgotten += exchanged(wire, host, room, work, 6, random, 1500).forgotten
        return f"{boards} of the board, {hosts} of the host; the board was told anew {forgotten} times"


def fuzzed(library: Path, work: of.Work, count: int, slots: int = 1, seed: int = 1) -> str:
    """Frames of nonsense leave a board that answers, and it never speaks unasked."""
    random = Random(seed)
    answers = 0
    with Wire(library, seed) as wire:
        host = Host(wire, session=1)
        room = host.hello().words
        fuzz = Fuzz(wire, host, slots, random)
        while fuzz.sent < count:
            begin, before, sent = wire.counts().out_frames, answers, fuzz.sent
            for _ in range(random.randrange(1, min(MOST_AT_A_TIME, max(count // 100, 40)))):
                fuzz.one()
            # Until it says nothing more, and for as long again.
            while wire.waiting() or wire.run(host.patience, until_frame=True) < host.patience:
                while (taken := wire.take()) is not None:
                    fuzz.asked.take(Message.decode(taken.data))
                    answers += 1
                wire.run(5 * MICROSECOND)
            check(wire.take() is None, "a frame leaves when nothing is to be said")
            out = wire.counts().out_frames - begin
            check(out == answers - before, f"{out} frames left, {answers - before} were answers")
            check(out <= 2 * (fuzz.sent - sent), f"{fuzz.sent - sent} frames of nonsense have {out} answers")
            fuzz.asked.clear()
            # Whoever has the board now: silence ends that.
            host.session += 1
            if host.hello() is None:
                wire.run((1 << TIMES["SessionBits"]) * 10_000)
                check(host.hello() is not None, "no new session behind silence")
            work.prepare(host)
            exchanged(wire, host, room, work, 3, random, 600)
        return f"{fuzz.sent} frames of nonsense, {answers} answers; then it answers right"
