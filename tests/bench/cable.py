#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a board makes of AES-128-GCM behind its cable, in simulated time at its pins: packets of 1,424 bytes with some of them
under way, beside the lesser one of slot and wire; and what a load of the set takes, alone and behind packets that go on, over
the cable and, if the board has a store, by name.

    PYTHONPATH=flow .venv/bin/python tests/bench/cable.py --ace target/release/ace [--packets 64] [--json]

Needs the models that `python -m ace_flow board-model colorlight-i9 --slots array` and `python -m ace_flow array-slot`
make. Six answers are compared with SP 800-38D, as it stands. Ends with 1 if one is wrong, or a goal is missed.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from random import Random

from ace_flow.array import reference
from ace_flow.array.frames import Set, key, load
from ace_flow.board.host import BEAT, DATA, HEADER, KEY, LOAD, RECALL, Host, LinkError, place_beat, segments
from ace_flow.board.wire import MICROSECOND, Wire
from ace_flow.board.work import HEAD
from ace_flow.sim.model import Model

ROOT = Path(__file__).resolve().parents[2]
TEXT, AAD = 1424, 8
SECRET = bytes(range(16))
AES, AEAD, TAG = 1, 0x41, 16
# So many packets under way; the queue has room for eleven besides what is in the slot.
UNDER_WAY = (8, 16)
# Of the lesser one of slot and wire, and microseconds of a load.
GOALS = (0.85, 35.0)
HIDDEN = 0.99
LOADING = 0xFFE0


def encrypted(block):
    return reference.aes(reference.aes_words(SECRET), block, False)


def key_words():
    """What the sets' `setup` makes of the key: round keys, and H doubled, its lowest word first."""
    h = int.from_bytes(encrypted(bytes(16)), "big")
    h = (h << 1 & (1 << 128) - 1) ^ ((0xC2 << 120 | 1) if h >> 127 else 0)
    rounds = [int.from_bytes(word.to_bytes(4, "little"), "big") for word in reference.aes_words(SECRET)]
    return b"".join(
        word.to_bytes(4, "little") for word in rounds + [h >> 32 * i & 0xFFFFFFFF for i in range(4)]
    )


def packet(random, tag):
    """Nonce, AAD, text, and the slot's frame (docs/slot.md)."""
    nonce, aad, text = random.randbytes(12), random.randbytes(AAD), random.randbytes(TEXT)
    header = bytes([AES, AEAD, 0, 0]) + tag.to_bytes(2, "little") + bytes([len(nonce), TAG])
    header += TEXT.to_bytes(4, "little") + AAD.to_bytes(2, "little") + bytes(2)
    return (nonce, aad, text), header + nonce + bytes(4) + aad + text


def sealed(nonce, aad, text):
    """SP 800-38D, 7.1, for whole blocks of text and half a block of AAD."""

    def times(x, y):
        product = 0
        for bit in range(127, -1, -1):
            product ^= y if x >> bit & 1 else 0
            y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
        return product

    h, out = int.from_bytes(encrypted(bytes(16)), "big"), b""
    for at in range(0, TEXT, 16):
        pad = encrypted(nonce + (2 + at // 16).to_bytes(4, "big"))
        out += bytes(a ^ b for a, b in zip(text[at : at + 16], pad, strict=True))
    hashed, y = aad + bytes(8) + out + (8 * AAD).to_bytes(8, "big") + (8 * TEXT).to_bytes(8, "big"), 0
    for at in range(0, len(hashed), 16):
        y = times(y ^ int.from_bytes(hashed[at : at + 16], "big"), h)
    mask = encrypted(nonce + (1).to_bytes(4, "big"))
    return out + bytes(a ^ b for a, b in zip(y.to_bytes(16, "big"), mask, strict=True))


def wire_bytes(frame):
    """From preamble to gap, of all segments (docs/link.md; IEEE 802.3)."""
    return sum(max(HEADER.size + len(beats), 60) + 4 + 8 + 12 for _, beats in segments(frame))


def slot_clocks(model, which, packets):
    """Of a packet in a slot that never waits, from the difference of two runs: without beginning and end."""
    random = Random(1)
    with Model(model) as slot:
        slot.run([load(which.data, 1)])
        slot.run([key(which, key_words(), 2)])
        took = []
        for count in (packets // 2, packets * 3 // 2):
            begin = slot.clocks
            slot.run([packet(random, tag)[1] for tag in range(count)])
            took.append(slot.clocks - begin)
    return (took[1] - took[0]) / packets


def stored(host, sets):
    """Writes sets to the store; the frame of a recall of each (docs/link.md, "The store")."""
    recalls, place = [], 0
    for which in sets:
        frame = load(which.data, LOADING)
        if not host.store(place, frame[HEAD:]):
            raise LinkError("the store does not take the sets")
        count = len(frame[HEAD:]) // BEAT
        recalls.append((place, count, place_beat(place, count) + frame[:HEAD]))
        place += count
    return recalls


def through(model, sets, packets, under_way, loads):
    """Mb/s of text from the board; microseconds of a load alone over the cable and by name, and of one in the middle of packets
    if `loads` is a kind of load; and answers."""
    random = Random(2)
    with Wire(model) as wire:
        host = Host(wire)
        board = host.hello()
        if board is None:
            raise LinkError("another host has the board")
        begin = wire.now
        status = host.ask(LOAD, load(sets[0].data, 1)).status
        alone = {LOAD: (host.last_begun - begin) / MICROSECOND}
        frames = {LOAD: load(sets[1].data, LOADING)}
        if board.store_words:
            (place, count, _), (*_, frames[RECALL]) = stored(host, sets)
            begin = wire.now
            answer = host.recall(load(sets[0].data, 3)[:HEAD], place, count)
            alone[RECALL] = (host.last_begun - begin) / MICROSECOND
            status = status or answer is None or answer.status
        if status or host.ask(KEY, key(sets[0], key_words(), 2)).status:
            raise LinkError("a load or a key is refused")
        asked, begun, answers, tag, loading, beside = {}, [], [], 0, None, None
        end = wire.now + packets * 200 * MICROSECOND
        while len(begun) < packets:
            while tag < packets and len(asked) < under_way and wire.waiting() < 2:
                if loads in frames and tag == packets // 2 and loading is None:
                    loading, (of_sets, of_keys) = wire.now, host.epochs(loads, 0)
                    host.put(loads, frames[loads], 0, of_sets, of_keys)
                    host.sets[0] = of_sets
                asked[tag], frame = packet(random, tag)
                host.put(DATA, frame)
                tag += 1
            message = host.receive(MICROSECOND)
            if message is None and wire.now > end:
                raise LinkError(f"{len(asked)} packets are not answered")
            answer = host.answered(message) if message else None
            if answer is None:
                continue
            if answer[1].status:
                raise LinkError(f"a frame is answered with {answer[1].status}")
            if answer[1].tag == LOADING:
                beside = (host.last_begun - loading) / MICROSECOND
                continue
            answers.append((asked.pop(answer[1].tag), answer[1].result))
            begun.append(host.last_begun)
        cut = packets // 4
        mbps = 8 * TEXT * (packets - cut) / (begun[-1] - begun[cut - 1]) * MICROSECOND
        times = {loads: beside} if beside else alone
        return mbps, times, answers, board


def us(time):
    return "" if time is None else f"{time:.1f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ace", required=True)
    parser.add_argument("--packets", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--board", type=Path, default=ROOT / "build/board/colorlight-i9-array.so")
    parser.add_argument("--slot", type=Path, default=ROOT / "build/array/slot-1x8.so")
    args = parser.parse_args()
    for model in (args.board, args.slot):
        if not model.is_file():
            sys.exit(f"cable.py: {model} is not built; its help says how")
    source = ROOT / "algorithms/aes/array/aes_gcm.ace"
    with tempfile.TemporaryDirectory() as folder:
        ways = [f"{source}:aes128_gcm_{way}" for way in ("encrypt", "decrypt")]
        sets = [Set.compiled(args.ace, way, Path(folder)) for way in ways]
    rows, wrong, board = [], 0, None
    for under_way, loads in [
        *((count, None) for count in UNDER_WAY),
        *((UNDER_WAY[-1], kind) for kind in (LOAD, RECALL)),
    ]:
        if loads == RECALL and not board.store_words:
            continue
        mbps, times, answers, board = through(args.board, sets, args.packets, under_way, loads)
        row = {"under_way": under_way, "mbps": mbps, "beside_packets": loads is not None}
        rows.append({**row, "load_us": times.get(LOAD), "load_by_name_us": times.get(RECALL)})
        wrong += sum(sealed(*asked) != answer for asked, answer in answers[:: -(-len(answers) // 2)])
    clocks = slot_clocks(args.slot, sets[0], args.packets)
    khz = board.khz
    slot = 8 * TEXT * khz / clocks / 1e3
    wire = 1000 * TEXT / wire_bytes(packet(Random(0), 0)[1])
    least = min(slot, wire)
    for row in rows:
        row["of_the_least"] = row["mbps"] / least
    # A load behind packets waits for those in front of it: it is hidden if packets come as they do without it.
    alone = rows[len(UNDER_WAY) - 1]
    hidden = all(row["mbps"] >= HIDDEN * alone["mbps"] for row in rows[len(UNDER_WAY) :])
    met = alone["of_the_least"] >= GOALS[0] and alone["load_us"] <= GOALS[1] and hidden and not wrong
    if args.json:
        about = {
            "slot_mbps": slot,
            "slot_clocks": clocks,
            "wire_mbps": wire,
            "khz": khz,
            "wrong": wrong,
            "met": met,
        }
        print(json.dumps({**about, "rows": rows}, indent=2))
        return not met
    print(f"slot {slot:.1f} Mb/s ({clocks:.0f} clocks a packet at {khz / 1000:g} MHz), wire {wire:.1f} Mb/s")
    print(
        "| under way | Mb/s | of the least | a load over the cable, us | by name, us | |\n|--:|--:|--:|--:|--:|---|"
    )
    for row in rows:
        what = "beside packets" if row["beside_packets"] else "alone"
        print(
            f"| {row['under_way']} | {row['mbps']:.1f} | {row['of_the_least']:.0%}"
            f" | {us(row['load_us'])} | {us(row['load_by_name_us'])} | {what} |"
        )
    print(
        f"a load behind packets costs them {'nothing' if hidden else 'time'}; {wrong} of six answers are wrong"
    )
    print(
        f"goals: {GOALS[0]:.0%} of the least, a load within {GOALS[1]:.0f} us, hidden: {'met' if met else 'missed'}"
    )
    return not met


if __name__ == "__main__":
    sys.exit(main())
