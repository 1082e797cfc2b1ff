# SPDX-License-Identifier: Apache-2.0
"""Results of the array's slot that are frames themselves: a cipher's ciphertext is the message of a hash in the other
tile, and the words that a set makes of a key are that key, without the host between.

`array_slot` runs what is here.
"""

import subprocess
from pathlib import Path
from random import Random

from ace_flow.array.frames import (
    EXPAND,
    NOT_FORWARDED,
    Set,
    Wrong,
    beats,
    data,
    expand,
    frame,
    hashing,
    key,
    key_of,
    load,
    modes,
    passing,
)
from ace_flow.array.noninterference import compare
from ace_flow.noninterference.slot import M_TLAST, M_TVALID, OFFER, TAKE, Slot
from ace_flow.sim.frames import BEAT, DECRYPT, OPERATION, WIPE, status

UNKNOWN_OPERATION, MISSING_KEY, BAD_LENGTH = 2, 4, 6


class Wire:
    """A slot as a stream: frames in, answers out as they come, by their tags."""

    def __init__(self, library: Path):
        self.slot = Slot(library)
        self.clocks = 0
        self.left: list[tuple[int, bool]] = []  # beats that have not gone in yet
        self.part = b""  # of an answer

    def close(self) -> None:
        self.slot.close()

    def send(self, requests: list[bytes], answers: int, stalls: Random | None = None) -> dict[int, bytes]:
        """Answers until there are so many. `stalls`: clocks in which nothing is offered or taken."""
        out: dict[int, bytes] = {}
        self.left += beats(requests)
        limit = self.clocks + 100_000 + 300 * len(self.left)
        while len(out) < answers:
            pattern = bytes([OFFER | TAKE])
            if stalls:
                pattern = bytes(
                    stalls.choice([OFFER | TAKE, OFFER | TAKE, OFFER, TAKE, 0]) for _ in range(16)
                )
            # An answer's end is seen in the clock in which it comes.
            seen = self.slot.drive(pattern, self.left[:16], 7)
            del self.left[: seen.taken]
            self.clocks += len(pattern)
            for does, pins, word in zip(pattern, seen.handshake, seen.data, strict=True):
                if not (pins & M_TVALID and does & TAKE):
                    continue
                self.part += word.to_bytes(BEAT, "little")
                if pins & M_TLAST:
                    tag = int.from_bytes(self.part[-4:-2], "little")
                    if tag in out:
                        raise Wrong(f"two answers have the tag {tag}")
                    out[tag], self.part = self.part, b""
            if self.clocks > limit:
                raise Wrong(f"{answers} answers were expected, {sorted(out)} came")
        return out

    def answered(self, request: bytes) -> int:
        (answer,) = self.send([request], 1).values()
        return status(answer)


def prepared(wire: Wire, loads: list[tuple[Set, int]], random: Random) -> None:
    """`loads`: sets and the tiles that take them."""
    for which, tiles in loads:
        for request in (load(which.data, 1, tiles=tiles), key(which, key_of(which, random), 2)):
            if (got := wire.answered(request)) != 0:
                raise Wrong(f"{which.name} has the status {got}")
        # It runs from its first frame on.
        mode = "hash" if which.hash else "ecb"
        if (got := wire.answered(data(which, mode, 64, random, 3))) != 0:
            raise Wrong(f"{which.name} does not run: status {got}")


def joined(library: Path, sets: dict[str, Set], count: int, random: Random) -> dict:
    """ESP's order, encrypt and then HMAC over header, IV and ciphertext, as one task over two tiles: both answers are those
    of two tasks, with other frames between them. Then clocks of one packet and of eight, beside two tasks each."""
    cipher, hashed = sets["aes128_encrypt"], sets["sha1"]
    wire = Wire(library)
    prepared(wire, [(cipher, 1), (hashed, 2)], random)
    requests, pairs, answers = [], {}, 0
    for number in range(count):
        tag = 4 * number + 100
        mode = random.choice(["cbc", "ctr", "ecb"])
        size = random.choice([16, 48, 480, 1440, 1840])
        if mode == "ctr":
            size -= 8 * random.randrange(2)
        front, iv, text = random.randbytes(8), random.randbytes(16), random.randbytes(size)
        shown = iv if mode == "cbc" else b""
        head = hashing(hashed, front + shown, size, tag + 1)
        requests.append(passing(cipher, mode, head, text, tag, iv if mode == "ctr" else b""))
        pairs[tag] = (mode, front + shown, iv, text)
        answers += 2
        if random.random() < 0.3:
            other = random.choice([cipher, hashed])
            requests.append(
                data(other, random.choice(modes(other)), random.choice([64, 576, 2400]), random, tag + 2)
            )
            answers += 1
    got = wire.send(requests, answers, Random(count))
    for tag, (mode, shown, iv, text) in pairs.items():
        alone = frame(cipher.code, OPERATION[mode], text, tag=3, iv=b"" if mode == "ecb" else iv)
        (wanted,) = wire.send([alone], 1).values()
        if (
            got[tag][: len(text)] != wanted[: len(text)]
            or status(got[tag]) != 0
            or len(got[tag]) != len(wanted)
        ):
            raise Wrong(f"frame {tag}, {mode}: {got[tag].hex()}, alone {wanted.hex()}")
        message = shown + wanted[: len(text)]
        (mac,) = wire.send(
            [frame(hashed.code, OPERATION["hmac-states"], message, tag=4, result=12)], 1
        ).values()
        if got[tag + 1][:12] != mac[:12] or status(got[tag + 1]) != 0:
            raise Wrong(f"frame {tag}, {mode}: the MAC is {got[tag + 1].hex()}, alone {mac.hex()}")
    took = {"tasks": len(pairs)}
    for packets in (1, 8):
        texts = [random.randbytes(1440) for _ in range(packets)]
        iv, spi = random.randbytes(16), random.randbytes(8)
        begun = wire.clocks
        heads = [hashing(hashed, spi + iv, 1440, 2 * n + 101) for n in range(packets)]
        wire.send(
            [
                passing(cipher, "cbc", head, text, 2 * n + 100)
                for n, (head, text) in enumerate(zip(heads, texts, strict=True))
            ],
            2 * packets,
        )
        together, begun = wire.clocks - begun, wire.clocks
        first = wire.send(
            [frame(cipher.code, OPERATION["cbc"], text, tag=n, iv=iv) for n, text in enumerate(texts)],
            packets,
        )
        wire.send(
            [
                frame(hashed.code, OPERATION["hmac-states"], spi + iv + first[n][:1440], tag=n, result=12)
                for n in range(packets)
            ],
            packets,
        )
        took[f"clocks_{packets}"] = together
        took[f"clocks_{packets}_as_two_tasks"] = wire.clocks - begun
    wire.close()
    return took


def refused(library: Path, tiles: int, sets: dict[str, Set], random: Random) -> dict:
    """What cannot be passed on is said, nothing of it leaves, and the slot goes on."""
    cipher, hashed, other = sets["aes128_encrypt"], sets["sha1"], sets["md5"]
    back = sets["aes128_decrypt"]
    wire = Wire(library)
    prepared(wire, [(cipher, 1)] + ([(hashed, 2)] if tiles > 1 else []), random)
    text, iv = random.randbytes(64), random.randbytes(16)
    head = hashing(hashed, iv, 64, 9)
    wipes = head[:2] + bytes([head[2] | 4]) + head[3:]
    cipher_head = frame(cipher.code, OPERATION["ecb"], bytes(80), tag=9)[:16] + iv
    cases = [
        ("a hash that no tile has", passing(cipher, "cbc", hashing(other, iv, 64, 9), text, 5), NOT_FORWARDED),
        ("a cipher's frame", passing(cipher, "cbc", cipher_head, text, 5), NOT_FORWARDED),
        ("a load", passing(cipher, "cbc", load(bytes(80), 9)[:16] + iv, text, 5), NOT_FORWARDED),
        ("a key", passing(cipher, "cbc", key(cipher, bytes(80), 9)[:16] + iv, text, 5), NOT_FORWARDED),
        ("a frame that wipes", passing(cipher, "cbc", wipes, text, 5), NOT_FORWARDED),
        ("a header cut in two", passing(cipher, "ecb", head[:8], text, 5), BAD_LENGTH),
        ("CBC without its IV", passing(cipher, "cbc", head[:16], text, 5), BAD_LENGTH),
        ("nothing behind it", passing(cipher, "cbc", head, b"", 5), BAD_LENGTH),
        ("half a block", passing(cipher, "cbc", head, text[:56], 5), BAD_LENGTH),
        ("more than a buffer", passing(cipher, "cbc", head, random.randbytes(2048), 5), BAD_LENGTH),
        ("more beats than there may be", passing(cipher, "ecb", bytes(256), text, 5), BAD_LENGTH),
        ("less than it says", passing(cipher, "cbc", head, text, 5)[:-8], 7),
        ("more than it says", passing(cipher, "cbc", head, text, 5) + bytes(8), 8),
    ]  # fmt: skip
    if tiles == 1:
        cases.append(("a hash in the same tile", passing(cipher, "cbc", head, text, 5), NOT_FORWARDED))
    for name, request, wanted in cases:
        answers = wire.send([request], 1)
        if list(answers) != [5] or answers[5][:-8] or status(answers[5]) != wanted:
            raise Wrong(f"{name}: { ({tag: answer.hex() for tag, answer in answers.items()}) }")
        if (got := wire.answered(data(cipher, "cbc", 64, random, 3))) != 0:
            raise Wrong(f"after {name} a frame has the status {got}")
    # What is passed on lies about its length: the cipher's answer stands, the hash's says so.
    if tiles > 1:
        for length, wanted in ((56, 8), (72, 7)):
            answers = wire.send([passing(cipher, "cbc", hashing(hashed, iv, length, 9), text, 5)], 2)
            if (status(answers[5]), status(answers[9])) != (0, wanted):
                raise Wrong(f"of a message of {length} bytes the status is {status(answers[9])}")
    wire.answered(load(back.data, 1))
    wire.answered(key(back, key_of(back, random), 2))
    decrypted = frame(back.code, OPERATION["cbc"], head + text, tag=5, flags=DECRYPT, result=4)
    if (got := wire.answered(decrypted)) != UNKNOWN_OPERATION:
        raise Wrong(f"a decryption that is passed on has the status {got}")
    wire.close()
    return {"refused": len(cases) + 1}


def crossed(library: Path, sets: dict[str, Set], random: Random) -> dict:
    """Each tile runs a cipher, and holds the hash that the other one's frames go to in its other bank: nobody waits for
    ever, and every frame has its answer."""
    one, two = sets["aes128_encrypt"], sets["des_encrypt"]
    wire = Wire(library)
    prepared(wire, [(sets["sha1"], 1), (sets["md5"], 2), (one, 1), (two, 2)], random)
    done = 0
    for rounds in range(40):
        requests, tags = [], []
        for number in range(random.randrange(1, 20)):
            which, hashed = random.choice([(one, sets["md5"]), (two, sets["sha1"])])
            size = which.block * random.randrange(1, 20)
            tag = 2 * number + 100
            requests.append(
                passing(which, "ecb", hashing(hashed, b"", size, tag + 1), random.randbytes(size), tag)
            )
            tags.append(tag)
        answers: dict[int, bytes] = {}
        # A frame that was refused has one answer, others have two.
        sent = requests
        while sum(1 + (tag in answers and status(answers[tag]) == 0) for tag in tags) > len(answers):
            answers |= wire.send(sent, 1, Random(rounds))
            sent = []
        done += len(answers)
        if any(status(answer) not in (0, NOT_FORWARDED) for answer in answers.values()):
            raise Wrong("a frame has another status")
    wire.close()
    return {"answers": done}


def keys(library: Path, ace: str, pairs: list[tuple[Set, Set, int]], random: Random) -> dict:
    """Keys expanded in the slot: under each of them blocks become what they do in the simulated tile under the host's words.
    Of each pair: the set that expands, the cipher's, bytes of a key. Clocks from the first beat in to the last answer."""
    took = {}
    for expands, cipher, size in pairs:
        wire = Wire(library)
        for which in (cipher, expands):
            if (got := wire.answered(load(which.data, 1, tiles=1))) != 0:
                raise Wrong(f"{which.name} has the status {got}")
            # A set runs from its first frame on, and the next one goes to the other bank.
            if which is cipher and wire.answered(data(cipher, "ecb", 64, random, 3)) != MISSING_KEY:
                raise Wrong(f"{cipher.name} has a key before it was given one")
        for _ in range(3):
            secret, block = random.randbytes(size), random.randbytes(cipher.block)
            begun = wire.clocks
            answers = wire.send([expand(expands, cipher, secret, 5)], 2)
            took[expands.name] = wire.clocks - begun
            if status(answers[5]) or status(answers[6]) or len(answers[5]) != BEAT or len(answers[6]) != BEAT:
                raise Wrong(f"{expands.name}: { ({tag: answer.hex() for tag, answer in answers.items()}) }")
            flags = DECRYPT if cipher.decrypt else 0
            (got,) = wire.send([frame(cipher.code, OPERATION["ecb"], block, tag=7, flags=flags)], 1).values()
            call = [
                ace,
                "array",
                "run",
                cipher.source,
                "--variant",
                cipher.name,
                "--key",
                secret.hex(),
                block.hex(),
            ]
            wanted = subprocess.run(call, capture_output=True, check=True, text=True).stdout.split()[0]
            if status(got) != 0 or got[: cipher.block].hex() != wanted:
                raise Wrong(f"under the key of {expands.name} a block is {got.hex()}, not {wanted}")
        for length in (0, size - 8, size + 8):
            answers = wire.send([expand(expands, cipher, bytes(length), 5)], 1)
            if list(answers) != [5] or status(answers[5]) != BAD_LENGTH:
                raise Wrong(f"{expands.name}: a key of {length} bytes has the status {status(answers[5])}")
        # The words of a key go nowhere but into key memories.
        secret = random.randbytes(size)
        hashed = frame(0x42, OPERATION["hash"], bytes(4 * cipher.key_words), tag=6, result=20)[:16]
        request = frame(expands.code, EXPAND, hashed + secret, tag=5, flags=flags, result=cipher.key_words)
        answers = wire.send([request], 1)
        if list(answers) != [5] or answers[5][:-BEAT] or status(answers[5]) != NOT_FORWARDED:
            raise Wrong(f"{expands.name}: words of a key as a message: {answers}")
        wire.close()
    return {"clocks": took}


def independence(
    library: Path, tiles: int, sets: dict[str, Set], expands: Set, rounds: int, random: Random
) -> dict:
    """As array_slot's, of frames whose results are frames: two runs with other keys and data show the same, but for the
    data of answers; after a wipe, a key cut short or a reset every register and memory is the same."""
    cipher, hashed = sets["aes128_encrypt"], sets["sha1"]
    for number in range(rounds):
        salt = random.getrandbits(32)
        event = ("wipe", "cut", "reset", "reset in a frame")[number % 4]
        runs, answers = [], 0
        for run in range(2):
            secret, shape = Random(f"{salt} {run}"), Random(salt)
            requests = [load(cipher.data, 1, tiles=1), key(cipher, key_of(cipher, secret), 2)]
            requests += [data(cipher, "ecb", 64, secret, 3), load(expands.data, 4, tiles=1)]
            answers = 4
            if tiles > 1:
                requests += [load(hashed.data, 5, tiles=2), key(hashed, key_of(hashed, secret), 6)]
                answers += 2
            for tag in range(100, 120, 2):
                if tiles > 1 and shape.random() < 0.6:
                    size = 16 * shape.randrange(1, 40)
                    head = hashing(hashed, secret.randbytes(24), size, tag + 1)
                    requests.append(passing(cipher, "cbc", head, secret.randbytes(size), tag))
                else:
                    requests.append(expand(expands, cipher, secret.randbytes(16), tag))
                answers += 2
            requests.append(data(cipher, "cbc", 160, secret, 7, WIPE if event == "wipe" else 0))
            answers += 1
            if event == "cut":
                requests.append(key(cipher, key_of(cipher, secret), 99)[: 16 + 24])
                answers += 1
            runs.append(requests)
        compare(library, runs, event, number, answers)
    return {"runs": rounds}
