# SPDX-License-Identifier: Apache-2.0
"""AES-GCM in the array's slot, from its simulated RTL, against the Python package `cryptography` (tests/interop/requirements.txt):
texts and AAD of all lengths in many lanes at once, both ways, with every length of a tag; and wrong tags, after which not a byte
of the text may be on the bus.

python -m ace_flow array-aead --ace target/release/ace [--tiles 1] [--ways 1] [--lanes 16] [--frames 300] [--seed 1]

--controls: a change of the RTL that lets such a text out, which what watches the bus (rtl/formal/array_outlet_check.sv) has to
find.

Ends with 1 at the first thing that is wrong.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from random import Random

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ace_flow import tools
from ace_flow.array import model
from ace_flow.array.frames import Set, Wrong, key, load
from ace_flow.array.noninterference import compare
from ace_flow.sim.frames import DECRYPT, WIPE, status
from ace_flow.sim.model import Model, ModelError

SOURCE = tools.ROOT / "algorithms" / "aes" / "array" / "aes_gcm.ace"
OUTLET = model.RTL / "array_outlet.sv"
LEAK = ("(none_q || end_q.status != '0 || refused_q)", "(none_q || refused_q)")
AEAD = 0x41
BAD_IV_LENGTH, BAD_LENGTH, SHORT, LONG, BAD_TAG = 5, 6, 7, 8, 16
UNKNOWN_OPERATION = 2
# Of a lane's buffer, in bytes: AAD and text from a block's beginning each, and a tag's two beats behind them.
ROOM = 2048 - 16
TAGS = (8, 12, 16)
# What lies at the ends of beats and blocks, and what fills a lane.
TEXTS = [*range(34), 63, 64, 65, 127, 128, 576, 1400, 1424, 1999, 2000]
AADS = [0, 1, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 48, 64, 255]


def rounds(secret: bytes) -> list[int]:
    """AES's round keys (FIPS 197, 5.2), words of big-endian columns."""

    def double(x: int) -> int:
        return x << 1 ^ (0x11B if x & 0x80 else 0)

    # The S-box, from its definition.
    powers, x = [], 1
    for _ in range(255):
        powers.append(x)
        x ^= double(x)
    box = []
    for byte in range(256):
        inverse = powers[-powers.index(byte) % 255] if byte else 0
        turned = inverse * 0x101
        box.append((inverse ^ turned >> 7 ^ turned >> 6 ^ turned >> 5 ^ turned >> 4) & 0xFF ^ 0x63)

    def substituted(word: int) -> int:
        return int.from_bytes(bytes(box[byte] for byte in word.to_bytes(4, "big")), "big")

    size = len(secret) // 4
    words = [int.from_bytes(secret[4 * i : 4 * i + 4], "big") for i in range(size)]
    constant = 1
    for i in range(size, 4 * (size + 7)):
        word = words[-1]
        if i % size == 0:
            word = substituted((word << 8 | word >> 24) & 0xFFFFFFFF) ^ constant << 24
            constant = double(constant)
        elif size > 6 and i % size == 4:
            word = substituted(word)
        words.append(words[i - size] ^ word)
    return words


def key_words(secret: bytes) -> bytes:
    """What the sets' `setup` makes of a key: round keys, and H doubled, its lowest word first."""
    encryptor = Cipher(algorithms.AES(secret), modes.ECB()).encryptor()
    h = int.from_bytes(encryptor.update(bytes(16)), "big")
    h = (h << 1 & (1 << 128) - 1) ^ ((0xC2 << 120 | 1) if h >> 127 else 0)
    words = rounds(secret) + [h >> 32 * i & 0xFFFFFFFF for i in range(4)]
    return b"".join(word.to_bytes(4, "little") for word in words)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def frame(
    decrypt: bool, nonce: bytes, aad: bytes, text: bytes, mac: bytes, size: int, *, tag: int, flags: int = 0
) -> bytes:
    """`mac`: what comes behind the text; `size`: bytes of a tag that are asked for."""
    flags |= DECRYPT if decrypt else 0
    header = bytes([1, AEAD, flags, 0]) + tag.to_bytes(2, "little") + bytes([len(nonce), size])
    header += len(text).to_bytes(4, "little") + len(aad).to_bytes(2, "little") + bytes(2)
    return header + padded(nonce) + padded(aad) + padded(text) + padded(mac)


def trailer(length: int, tag: int, what: int) -> bytes:
    return length.to_bytes(4, "little") + tag.to_bytes(2, "little") + bytes([what, 0])


class Case:
    """A frame, and its answer, byte for byte."""

    def __init__(self, secret: bytes, random: Random, tag: int, decrypt: bool, wrong: bool) -> None:
        nonce, size = random.randbytes(12), random.choice(TAGS)
        aad = random.randbytes(random.choice(AADS))
        text = random.randbytes(random.choice([*TEXTS, random.randrange(2000)]))
        fits = 16 * (-(-len(aad) // 16)) + len(text) <= ROOM
        sealed = AESGCM(secret).encrypt(nonce, text, aad)
        ciphertext, mac = sealed[: len(text)], sealed[len(text) :][:size]
        if decrypt:
            given, answer = ciphertext, padded(text)
            length = len(text)
        else:
            given, answer = text, padded(ciphertext) + padded(mac)
            length = len(text) + size
        what = 0
        if decrypt and wrong:
            bit = random.randrange(8 * size)
            mac = bytes(byte ^ (1 << bit % 8 if at == bit // 8 else 0) for at, byte in enumerate(mac))
            # Or of another text, AAD or nonce.
            which = random.randrange(4)
            if which > 0:
                mac = sealed[len(text) :][:size]
                texts = [nonce, aad, given]
                texts[which - 1] = (
                    bytes([texts[which - 1][0] ^ 0x80]) + texts[which - 1][1:] if texts[which - 1] else b""
                )
                if texts == [nonce, aad, given]:
                    mac = bytes([mac[0] ^ 1]) + mac[1:]
                nonce, aad, given = texts
            what = BAD_TAG
        if not fits:
            what = BAD_LENGTH
        self.request = frame(decrypt, nonce, aad, given, mac if decrypt else b"", size, tag=tag)
        self.answer = answer + trailer(length, tag, 0) if what == 0 else trailer(0, tag, what)
        odd = random.random()
        if what == 0 and odd < 0.05:
            # It ends too early, within what the header announces.
            self.request = self.request[: 8 * random.randrange(2, len(self.request) // 8)]
            self.answer = trailer(0, tag, SHORT)
        elif what == 0 and odd < 0.1:
            self.request += bytes(8)
            self.answer = trailer(0, tag, LONG)


def refusals(one: Set, other: Set, secret: bytes, random: Random) -> list[tuple[str, bytes, int]]:
    """Frames that no set can answer."""
    nonce, text = random.randbytes(12), random.randbytes(64)
    plain = frame(False, nonce, b"", text, b"", 16, tag=2)
    return [
        ("a nonce of 8 bytes", frame(False, nonce[:8], b"", text, b"", 16, tag=2), BAD_IV_LENGTH),
        ("a tag of 10 bytes", frame(False, nonce, b"", text, b"", 10, tag=2), BAD_LENGTH),
        ("no tag", frame(False, nonce, b"", text, b"", 0, tag=2), BAD_LENGTH),
        (
            "a text that fills a lane with its tag",
            frame(False, nonce, b"", bytes(ROOM + 1), b"", 8, tag=2),
            BAD_LENGTH,
        ),
        ("partial", plain[:2] + b"\x10" + plain[3:], UNKNOWN_OPERATION),
    ]


def answers(library: Path, tiles: int, sets: list[Set], size: int, count: int, random: Random) -> dict:
    """Frames in many lanes and both ways: each answer is that of the reference, and nothing else."""
    secret = random.randbytes(size)
    every = (1 << tiles) - 1
    cases = []
    with Model(library) as slot:
        for tag, which in enumerate(sets):
            first = Case(secret, Random(tag), 99, which.decrypt, False)
            # The first frame of a set makes the tiles run it, and the next load goes to the other bank.
            for request in (
                load(which.data, 1, tiles=every),
                key(which, key_words(secret), 2),
                first.request,
            ):
                answer = slot.run([request])[0].response
                if status(answer) not in (0, status(first.answer)):
                    raise Wrong(f"{which.name} has the status {status(answer)}")
        for name, request, wanted in refusals(*sets, secret, random):
            got = slot.run([request])[0].response
            if got != trailer(0, 2, wanted):
                raise Wrong(f"{name}: {got.hex()}")
        decrypt = False
        for tag in range(count):
            if random.random() < 0.1:
                decrypt = not decrypt
            cases.append(Case(secret, random, tag, decrypt, random.random() < 0.25))
        ran = slot.run(
            [case.request for case in cases], seed=random.getrandbits(30), in_stall=2000, out_stall=8000
        )
        clocks = slot.clocks
        for case, answer in zip(cases, ran, strict=True):
            if answer.response != case.answer:
                raise Wrong(
                    f"{case.request[:16].hex()} ({len(case.request)} bytes) is answered by {answer.response.hex()}, and not "
                    f"by {case.answer.hex()}"
                )
    kinds = [status(case.answer) for case in cases]
    if BAD_TAG not in kinds or 0 not in kinds:
        raise Wrong("no tag was wrong, or all were")
    return {
        "frames": count,
        "wrong_tags": kinds.count(BAD_TAG),
        "too_long": kinds.count(BAD_LENGTH),
        "clocks": clocks,
    }


def times(library: Path, tiles: int, which: Set, size: int, random: Random) -> dict:
    """Clocks of frames of 1,424 bytes of text and 12 of AAD, alone and side by side."""
    secret, took = random.randbytes(size), {}
    with Model(library) as slot:
        slot.run([load(which.data, 1, tiles=(1 << tiles) - 1), key(which, key_words(secret), 2)])
        for count in (1, 2, 4, 8, 16, 64):
            requests = [
                frame(
                    False,
                    random.randbytes(12),
                    random.randbytes(12),
                    random.randbytes(1424),
                    b"",
                    16,
                    tag=tag,
                )
                for tag in range(count)
            ]
            ran = slot.run(requests)
            if any(status(answer.response) != 0 for answer in ran):
                raise Wrong("a frame is refused")
            took[count] = max(answer.last_out for answer in ran) - min(answer.first_in for answer in ran) + 1
    return took


def independence(library: Path, tiles: int, sets: list[Set], number: int, random: Random) -> dict:
    """Two runs with other keys and data, of which one has wrong tags where the other one has: no pin differs but data under
    valid, and after a wipe no register and no memory."""
    every = (1 << tiles) - 1
    for which in sets:
        for event in ("wipe", "reset"):
            salt, runs = random.getrandbits(32), []
            for _ in range(2):
                shape = Random(salt)
                secret = random.randbytes(16)
                requests = [load(which.data, 1, tiles=every), key(which, key_words(secret), 2)]
                for tag in range(number):
                    length, aad, size = shape.randrange(200), shape.choice(AADS), shape.choice(TAGS)
                    nonce, more, text = (random.randbytes(n) for n in (12, aad, length))
                    sealed = AESGCM(secret).encrypt(nonce, text, more)
                    mac = bytes(size) if shape.random() < 0.4 else sealed[length:][:size]
                    given = sealed[:length] if which.decrypt else text
                    flags = WIPE if event == "wipe" and tag == number - 1 else 0
                    requests.append(
                        frame(
                            which.decrypt,
                            nonce,
                            more,
                            given,
                            mac if which.decrypt else b"",
                            size,
                            tag=tag,
                            flags=flags,
                        )
                    )
                runs.append(requests)
            compare(library, runs, event, 0)
    return {"runs": 2 * len(sets)}


def control(parts: model.Parts, ace: str, folder: Path, random: Random) -> str:
    """What is said of RTL that lets a text out before its tag is known to be wrong."""
    text = OUTLET.read_text()
    changed = text.replace(*LEAK)
    if changed == text:
        raise tools.ToolError(f"{OUTLET}: {LEAK[0]!r} is not in it")
    library = model.changed(parts, OUTLET, changed, "control-aead")
    which = Set.compiled(ace, f"{SOURCE}:aes128_gcm_decrypt", folder)
    secret = random.randbytes(16)
    every = (1 << parts.tiles) - 1
    with Model(library) as slot:
        slot.run([load(which.data, 1, tiles=every), key(which, key_words(secret), 2)])
        try:
            slot.run([frame(True, bytes(12), b"", bytes(64), bytes(16), 16, tag=3)])
        except ModelError as error:
            return str(error)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    model.Parts.ask(parser)
    parser.add_argument("--frames", type=int, default=300, help="of each length of a key")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--controls", action="store_true", help="a change of the RTL that has to be found")
    args = parser.parse_args()
    if args.controls:
        with tempfile.TemporaryDirectory() as folder:
            found = control(model.Parts.asked(args), args.ace, Path(folder), Random(args.seed))
        print(json.dumps({"control": LEAK, "found": found}))
        return 0 if "assertion" in found else 1
    library, random = model.model(model.Parts.asked(args)), Random(args.seed)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for bits in (128, 192, 256):
                names = [f"{SOURCE}:aes{bits}_gcm_{way}" for way in ("encrypt", "decrypt")]
                sets = [Set.compiled(args.ace, name, Path(folder)) for name in names]
                done = answers(library, args.tiles, sets, bits // 8, args.frames, random)
                print(json.dumps({f"aes{bits}_gcm": done}), flush=True)
                done = times(library, args.tiles, sets[0], bits // 8, random)
                print(json.dumps({f"aes{bits}_gcm_clocks": done}), flush=True)
                if bits == 128:
                    done = independence(library, args.tiles, sets, 8, random)
                    print(json.dumps({"independence": done}), flush=True)
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
