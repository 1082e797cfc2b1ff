# SPDX-License-Identifier: Apache-2.0
"""The array's slot in simulation: damaged sets are refused, sets change under traffic and no frame is lost or wrong, and
nothing is left of a key. Results that are frames themselves: array_forward.

python -m ace_flow array-slot --ace target/release/ace [--tiles 1] [--ways 1] [--lanes 16] [--frames 400] [--seed 1]

Ends with 1 at the first thing that is wrong.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from random import Random

from ace_flow.array import forward, model
from ace_flow.array.frames import (
    BAD_CRC,
    BAD_SET,
    DIGEST,
    OTHER_ARRAY,
    PARTIAL,
    RESUME,
    Controller,
    Set,
    Wrong,
    data,
    frame,
    key,
    key_of,
    load,
    modes,
    signed,
)
from ace_flow.array.noninterference import compare
from ace_flow.sim.frames import OPERATION, WIPE, status
from ace_flow.sim.model import Model

VARIANTS = ["aes:aes128_encrypt", "aes:aes128_decrypt", "des:des_encrypt", "md5:md5", "sha1:sha1"]
# Of all sets it has the most blocks on their way.
DEEPEST = "cast128:cast128_encrypt"
# Of all hashes it has the longest state.
LONGEST = "sha256:sha256"
# Sets that expand keys, the ciphers that these are for, and bytes of a key.
EXPANDED = [
    ("aes_keys:aes128_encrypt_keys", "aes:aes128_encrypt", 16),
    ("aes_keys:aes256_decrypt_keys", "aes:aes256_decrypt", 32),
    ("des_keys:des_encrypt_keys", "des:des_encrypt", 8),
]
UNKNOWN_ALGORITHM, MISSING_KEY, SHORT, LONG = 1, 4, 7, 8
# Of payloads: none, blocks, what just fits a lane's buffer, what does not, and several times as much.
LENGTHS = [0, 8, 64, 64, 200, 200, 576, 576, 1500, 2024, 2032, 2040, 2056, 5000]
# FIPS 197, appendix B: key schedule (A.1), input, output.
ROUND_KEYS = (
    "2b7e1516 28aed2a6 abf71588 09cf4f3c a0fafe17 88542cb1 23a33939 2a6c7605 f2c295f2 7a96b943 5935807a 7359f67f "
    "3d80477d 4716fe3e 1e237e44 6d7a883b ef44a541 a8525b7f b671253b db0bad00 d4d1c6f8 7c839d87 caf2b8bc 11f915bc "
    "6d88a37a 110b3efd dbf98641 ca0093fd 4e54f70e 5f5fc9f3 84a64fb2 4ea6dc4f ead27321 b58dbad2 312bf560 7f8d292f "
    "ac7766f3 19fadc21 28d12941 575c006e d014f9a8 c9ee2589 e13f0cc8 b6630ca6"
)
BLOCK, WANTED = "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"


def answered(slot: Model, request: bytes) -> int:
    return status(slot.run([request])[0].response)


def refusals(library: Path, sets: dict[str, Set], random: Random) -> dict:
    """What is wrong with a set is found, and the set that runs goes on."""
    aes, des = sets["aes128_encrypt"], sets["des_encrypt"]
    # Tables of bytes: the words of a key come as they lie in a block.
    words = bytes.fromhex(ROUND_KEYS.replace(" ", ""))
    block = frame(aes.code, OPERATION["ecb"], bytes.fromhex(BLOCK), tag=1)

    def runs(slot: Model, after: str) -> None:
        answer = slot.run([block])[0].response
        if status(answer) != 0 or answer[:16].hex() != WANTED:
            raise Wrong(f"after {after} the block is {answer.hex()}")

    good = des.data
    version = signed(good[:8] + bytes([good[8] ^ 1]) + good[9:])
    older = signed(good[:6] + b"\x01" + good[7:])
    short = good[:-16] + good[-8:]
    count = signed(good[:12] + (len(good) // 8 + 1).to_bytes(4, "little") + good[16:])
    sections = signed(good[:32] + bytes([good[32] + 1]) + good[33:])
    deep = signed(good[:18] + b"\xff\x0f" + good[20:])
    contexts = signed(good[:16] + bytes([good[16] + 1]) + good[17:])
    cases = [
        ("another array's set", load(version, 2), {OTHER_ARRAY}),
        ("an older format's set", load(older, 2), {BAD_SET}),
        ("a set with a word less", load(short, 2), {BAD_SET}),
        ("a set that says another length", load(count, 2), {BAD_SET}),
        ("a set with a section too few", load(sections, 2), {BAD_SET}),
        ("a set with a context too few", load(contexts, 2), {BAD_SET}),
        ("a set with more blocks on their way than there is room for", load(deep, 2), {BAD_SET}),
        ("a set whose frame ends early", load(good, 2)[:-64], {SHORT}),
        ("a set whose frame ends late", load(good, 2) + bytes(8), {LONG}),
    ]
    for _ in range(200):
        at = random.randrange(8 * len(good))
        flipped = bytearray(good)
        flipped[at // 8] ^= 1 << at % 8
        cases.append(
            (f"a set with bit {at} flipped", load(bytes(flipped), 2), {BAD_SET, OTHER_ARRAY, BAD_CRC})
        )
    with Model(library) as slot:
        for request, wanted in ((load(aes.data, 1), 0), (block, MISSING_KEY), (key(aes, words, 1), 0)):
            if (got := answered(slot, request)) != wanted:
                raise Wrong(f"status {got}, not {wanted}")
        runs(slot, "the load")
        for name, request, wanted in cases:
            if (got := answered(slot, request)) not in wanted:
                raise Wrong(f"{name} has the status {got}")
            if (got := answered(slot, data(des, "ecb", 64, random, 3))) != UNKNOWN_ALGORITHM:
                raise Wrong(f"after {name} a frame for it has the status {got}")
            runs(slot, name)
        if answered(slot, load(good, 2)) != 0:
            raise Wrong("the set itself is refused")
        # The one that runs was not touched, and one that goes away takes its key with it.
        for request, wanted in (
            (data(des, "ecb", 64, random, 3), MISSING_KEY),
            (key(des, key_of(des, random), 3), 0),
            (data(des, "ecb", 64, random, 3), 0),
        ):
            if (got := answered(slot, request)) != wanted:
                raise Wrong(f"status {got}, not {wanted}")
        runs(slot, "two switches")
    return {"refused": len(cases)}


def traffic(library: Path, tiles: int, sets: dict[str, Set], count: int, random: Random) -> dict:
    """Frames of all sets back to back, with loads and keys between them: the answers are those that each frame has in a
    slot of one tile where it is alone."""
    control = Controller(tiles, random if tiles > 1 else None)
    requests: list[bytes] = []
    alone: dict[int, list[bytes]] = {}  # by tag: load, key, frame
    names = list(sets.values())
    which, tag = names[0], 0
    keys: dict[str, bytes] = {}
    for _ in range(count):
        tag += 2
        if random.random() < 0.2:
            which = random.choice(names)
        again = tiles > 1 and random.random() < 0.1
        fresh = which.name not in keys or random.random() < 0.2
        if fresh:
            keys[which.name] = key_of(which, random)
        requests += control.prepare(which, keys[which.name], tag + 1, fresh, again)
        mode = random.choice(modes(which))
        request = data(which, mode, random.choice(LENGTHS), random, tag)
        if random.random() < 0.1:
            # It ends too early or too late, in its IV or anywhere.
            request = random.choice(
                [request[: 8 * random.randrange(1, len(request) // 8)], request + bytes(8)]
            )
        requests.append(request)
        alone[tag] = [load(which.data, 0), key(which, keys[which.name], 0), request]
    with Model(library) as slot:
        answers = slot.run(requests, seed=random.getrandbits(30), in_stall=2000, out_stall=8000)
        clocks = slot.clocks
    bytes_done = 0
    with Model(model.model()) as slot:
        for request, answer in zip(requests, answers, strict=True):
            tag = int.from_bytes(request[4:6], "little")
            if tag % 2:
                wanted = b"\0\0\0\0" + request[4:6] + b"\0\0"
            else:
                slot.reset()
                wanted = slot.run(alone[tag])[-1].response
                bytes_done += int.from_bytes(request[8:12], "little")
            # What precedes another status than 0 counts for nothing.
            got = answer.response if status(wanted) == 0 else answer.response[-8:]
            if got != wanted[-len(got) :] or (status(wanted) == 0 and len(got) != len(wanted)):
                raise Wrong(f"frame {tag}: {answer.response.hex()}, alone {wanted.hex()}")
    return {
        "frames": count,
        "bytes": bytes_done,
        "loads": control.loads,
        "switches": control.switches,
        "clocks": clocks,
    }


def counters(library: Path, sets: dict[str, Set], random: Random) -> dict:
    """CTR is the cipher of block after block of a counter that goes over its words and its end, which ECB says, too."""
    done = 0
    for which in (sets["aes128_encrypt"], sets["des_encrypt"]):
        size = which.block
        ends = [
            1 << (8 * size),
            (1 << 64) if size == 16 else 1 << 32,
            (random.getrandbits(40) << 24) + (1 << 16),
        ]
        with Model(library) as slot:
            slot.run([load(which.data, 1), key(which, key_of(which, random), 2)])
            for end in ends:
                first = (end - 3) % (1 << (8 * size))
                text = random.randbytes(7 * size + 3)
                blocks = [((first + i) % (1 << (8 * size))).to_bytes(size, "big") for i in range(8)]
                iv = first.to_bytes(size, "big")
                frames = [
                    frame(which.code, OPERATION["ctr"], text, tag=3, iv=iv),
                    frame(which.code, OPERATION["ecb"], b"".join(blocks), tag=4),
                ]
                got, stream = (answer.response for answer in slot.run(frames))
                wanted = bytes(a ^ b for a, b in zip(text, stream, strict=False))
                if status(got) != 0 or got[: len(text)] != wanted:
                    raise Wrong(f"{which.name}: a counter from {first:x} on gives {got.hex()}")
                done += 8
    return {"blocks": done}


def parts(library: Path, which: Set, random: Random) -> dict:
    """A message whose state goes from frame to frame has the digest that it has as one."""
    size, op, done = DIGEST[which.code], OPERATION["hash"], 0
    with Model(library) as slot:
        slot.run([load(which.data, 1)])
        for lengths in ((64, 0), (128, 1), (64, 64, 55), (192, 128, 56), (64, 0, 64), (2560, 2560, 3000)):
            flags, iv, so_far, message = 0, b"", 0, b""
            for number, length in enumerate(lengths):
                text = random.randbytes(length)
                last = number == len(lengths) - 1
                request = frame(
                    which.code, op, text, tag=2, flags=flags | PARTIAL * (not last), iv=iv, result=size
                )
                got = slot.run([request])[0].response
                if status(got) != 0:
                    raise Wrong(f"{which.name}: a part has the status {status(got)}")
                message, so_far, flags, done = message + text, so_far + length, RESUME, done + 1
                iv = so_far.to_bytes(8, "little") + got[:size]
            wanted = hashlib.new(which.name, message).digest()
            if got[:size] != wanted:
                raise Wrong(f"{which.name}: {lengths} bytes are {got[:size].hex()}, not {wanted.hex()}")
    return {"frames": done}


def full(library: Path, tiles: int, which: Set, random: Random) -> dict:
    """Blocks that wait for nothing, at every start of the tiles: each is what it is alone."""
    requests = [data(which, "ecb", 1536, random, tag) for tag in range(16 * tiles)]
    ready = [load(which.data, 1, tiles=(1 << tiles) - 1), key(which, key_of(which, random), 2)]
    with Model(library) as slot:
        slot.run(ready)
        answers = slot.run(requests)
    with Model(library) as slot:
        slot.run(ready)
        for request, answer in zip(requests, answers, strict=True):
            text = request[16:]
            for at in range(0, len(text), which.block * 16):
                alone = frame(which.code, OPERATION["ecb"], text[at : at + which.block], tag=3)
                wanted = slot.run([alone])[0].response[: which.block]
                if answer.response[at : at + which.block] != wanted:
                    raise Wrong(f"{which.name}: the block at {at} is another one among others than alone")
    return {"frames": len(requests), "clocks": max(answer.last_out for answer in answers)}


def beside(library: Path, sets: dict[str, Set], random: Random) -> dict:
    """Clocks of eight packets of a cipher in one tile, of eight of a hash in the other one, of both in turns, and of those of
    the cipher while the other tile's bank is loaded: tiles do not wait for each other."""
    cipher, hashing, other = (sets[name] for name in ("aes128_encrypt", "sha1", "des_encrypt"))

    def clocks(loads: list[tuple[Set, int]], requests: list[bytes]) -> int:
        with Model(library) as slot:
            for which, tiles in loads:
                mode = "hash" if which.hash else "cbc"
                first = data(which, mode, 64, random, 3)
                # It runs from its first frame on.
                for request in (
                    load(which.data, 1, tiles=tiles),
                    key(which, key_of(which, random), 2),
                    first,
                ):
                    if (got := answered(slot, request)) != 0:
                        raise Wrong(f"{which.name} has the status {got}")
            answers = slot.run(requests)
        if any(status(answer.response) != 0 for answer in answers):
            raise Wrong("a frame is refused")
        return max(answer.last_out for answer in answers) - min(answer.first_in for answer in answers) + 1

    ciphers = [data(cipher, "cbc", 1536, random, tag) for tag in range(8)]
    hashes = [data(hashing, "hmac-states", 1536, random, tag) for tag in range(100, 108)]
    turns = [request for pair in zip(ciphers, hashes, strict=True) for request in pair]
    took = {
        "cipher": clocks([(cipher, 1)], ciphers),
        "hash": clocks([(hashing, 2)], hashes),
        "both": clocks([(cipher, 1), (hashing, 2)], turns),
        "cipher_while_loading": clocks(
            [(cipher, 1)], [*ciphers[:4], load(other.data, 99, tiles=2), *ciphers[4:]]
        ),
    }
    if took["both"] >= took["cipher"] + took["hash"]:
        raise Wrong(f"two tiles wait for each other: {took}")
    if took["cipher_while_loading"] > 1.05 * took["cipher"]:
        raise Wrong(f"a tile waits for the load of another one: {took}")
    return took


def independence(library: Path, tiles: int, sets: dict[str, Set], rounds: int, random: Random) -> dict:
    """Two runs with the same lengths and other keys and data, clock by clock: no pin but the answers' data differs, and
    after a wipe, a key cut short or a reset no register and no memory does."""
    compared = switches = 0
    for number in range(rounds):
        salt = random.getrandbits(32)
        shape = Random(salt)  # of lengths, modes and sets, the same in both runs
        plan = []
        event = ("wipe", "cut", "reset", "reset in a frame")[number % 4]
        for tag in range(8):
            which = shape.choice(list(sets.values()))
            plan.append((which, shape.choice(modes(which)), shape.choice([0, 64, 128, 2400]), tag))
        runs = []
        for run in range(2):
            secret = Random(f"{salt} {run}")
            control = Controller(tiles, Random(salt) if tiles > 1 else None)
            requests = []
            for at, (which, mode, length, tag) in enumerate(plan):
                requests += control.prepare(which, key_of(which, secret), tag)
                flags = WIPE if event == "wipe" and at == len(plan) - 1 else 0
                requests.append(data(which, mode, length, secret, tag, flags))
            if event == "cut":
                last = plan[-1][0]
                requests.append(key(last, key_of(last, secret), 99)[: 16 + 24])
            runs.append(requests)
        switches += control.switches
        compare(library, runs, event, number)
        compared += 1
    return {"runs": compared, "switches": switches}


def switches(library: Path, sets: dict[str, Set], random: Random) -> dict:
    """Mean clocks that a frame takes more if the frame before it was of the other bank's set: the tile changes at the end of
    its contexts. The board counts none."""
    more = {}
    for first, second in (("aes128_encrypt", "des_encrypt"), ("des_encrypt", "md5")):
        pair = [sets[first], sets[second]]
        with Model(library) as slot:

            def clocks(which: Set, slot: Model = slot) -> int:
                request = data(which, "hash" if which.hash else "ecb", 64, random, 3)
                answer = slot.run([request])[0]
                if (got := status(answer.response)) != 0:
                    raise Wrong(f"{which.name} has the status {got}")
                return answer.last_out - answer.first_in

            for which in pair:
                for request in (load(which.data, 1), key(which, key_of(which, random), 2)):
                    if (got := answered(slot, request)) != 0:
                        raise Wrong(f"{which.name}: a load or a key has the status {got}")
                # It runs from its first frame on, and the next load goes to the other bank.
                clocks(which)

            same, other = [], []
            for number in range(400):
                which = pair[number % 2]
                other.append(clocks(which))
                same.append(clocks(which))
            mean = round((sum(other) - sum(same)) / len(same), 1)
            # Half of the contexts of either on average, and what the change takes.
            if mean > max(one.contexts for one in pair):
                raise Wrong(f"a change from {first} to {second} or back takes {mean} clocks")
            more[f"{first}, {second}"] = mean
    return more


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    model.Parts.ask(parser)
    parser.add_argument("--frames", type=int, default=400, help="of the traffic")
    parser.add_argument("--rounds", type=int, default=24, help="of the comparison of two runs")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    library = model.model(model.Parts.asked(args))
    random = Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        made = [Set.compiled(args.ace, variant, Path(folder)) for variant in VARIANTS]
        longest = Set.compiled(args.ace, LONGEST, Path(folder))
        deepest = Set.compiled(args.ace, DEEPEST, Path(folder))
        expanded = [
            (Set.compiled(args.ace, keys, Path(folder)), Set.compiled(args.ace, cipher, Path(folder)), size)
            for keys, cipher, size in EXPANDED
        ]
    sets = {one.name: one for one in made}
    try:
        print(json.dumps({"refusals": refusals(library, sets, random)}), flush=True)
        print(json.dumps({"counters": counters(library, sets, random)}), flush=True)
        hashes = [*(one for one in made if one.hash), longest]
        for which in hashes:
            print(json.dumps({"parts": parts(library, which, Random(args.seed))}), flush=True)
        print(json.dumps({"full": full(library, args.tiles, deepest, random)}), flush=True)
        if args.tiles > 1:
            print(json.dumps({"beside": beside(library, sets, random)}), flush=True)
        print(json.dumps({"switch_clocks": switches(library, sets, random)}), flush=True)
        print(
            json.dumps({"not_forwarded": forward.refused(library, args.tiles, sets, random)}),
            flush=True,
        )
        print(json.dumps({"keys": forward.keys(library, args.ace, expanded, random)}), flush=True)
        if args.tiles > 1:
            count = max(10, args.frames // 10)
            print(json.dumps({"joined": forward.joined(library, sets, count, random)}), flush=True)
            print(json.dumps({"crossed": forward.crossed(library, sets, random)}), flush=True)
        print(json.dumps({"traffic": traffic(library, args.tiles, sets, args.frames, random)}), flush=True)
        print(
            json.dumps({"independence": independence(library, args.tiles, sets, args.rounds, random)}),
            flush=True,
        )
        rounds, keys = max(4, args.rounds // 3), expanded[0][0]
        print(
            json.dumps(
                {
                    "independence_of_forwarded": forward.independence(
                        library, args.tiles, sets, keys, rounds, random
                    )
                }
            ),
            flush=True,
        )
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
