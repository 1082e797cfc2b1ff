# SPDX-License-Identifier: Apache-2.0
"""The Molen machine of the study of 2003: the core against an instruction-set simulator, programs against OpenSSL, what
stops it, and that what the study prints is of these sources."""

import functools
import hashlib
import json
import os
import subprocess
import unittest
from dataclasses import replace
from pathlib import Path

from ace_flow import study
from ace_studies.idea_2004 import idea
from ace_studies.molen_2003 import families
from ace_studies.molen_2003 import programs as molen

SET, RUN, END = 0x50000000, 0x30000000, 0
CUSTOM = 0x0B
STOP = 0x00100073
# Where programs put microcode, and causes as molen_pkg numbers them.
CODE = 0x400
CAUSES = {"stop": 0, "illegal": 1, "alignment": 2, "microcode": 3, "operation": 4, "refused": 5}


def addi(rd: int, rs: int, value: int) -> int:
    return 0x13 | rd << 7 | rs << 15 | (value & 0xFFF) << 20


def unit(funct3: int, rd: int, rs1: int, rs2: int) -> int:
    """p-set, c-set, execute, and a control register of number rs2."""
    return CUSTOM | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20


def micro(*words: int, stays: bool = False) -> list[int]:
    return [0xA5000000 | stays << 8 | len(words), *words]


def encipher(which: int, key: bytes, text: bytes) -> bytes:
    """In ECB by AES, triple DES, DES or IDEA."""
    if which == 3:
        z = idea.subkeys(int.from_bytes(key))
        blocks = (text[i : i + 8] for i in range(0, len(text), 8))
        return b"".join(idea.encrypt(int.from_bytes(block), z).to_bytes(8) for block in blocks)
    # Under one key three times triple DES is DES.
    name, key = ("aes-128-ecb", key) if which == 0 else ("des-ede3", key * (24 // len(key)))
    command = ["openssl", "enc", f"-{name}", "-K", key.hex(), "-nopad"]
    return subprocess.run(command, input=text, capture_output=True, check=True).stdout


def rijndael(key: bytes, block: bytes) -> bytes:
    """Rijndael with any size of block, by its definition: the inverse by search, products bit by bit."""

    def product(a: int, b: int) -> int:
        made = 0
        while b:
            made ^= a if b & 1 else 0
            a = a << 1 ^ (0x11B if a & 0x80 else 0)
            b >>= 1
        return made

    def substitute(x: int) -> int:
        inverse = next((y for y in range(256) if product(x, y) == 1), 0)
        turned = (inverse << n | inverse >> (8 - n) for n in range(5))
        return functools.reduce(lambda a, b: a ^ b & 0xFF, turned, 0x63)

    box = [substitute(x) for x in range(256)]
    columns, words = len(block) // 4, len(key) // 4
    rounds = max(columns, words) + 6
    keys, constant = [list(key[4 * n : 4 * n + 4]) for n in range(words)], 1
    while len(keys) < columns * (rounds + 1):
        last = list(keys[-1])
        if len(keys) % words == 0:
            last = [box[x] for x in last[1:] + last[:1]]
            last[0] ^= constant
            constant = product(constant, 2)
        elif words > 6 and len(keys) % words == 4:
            last = [box[x] for x in last]
        keys.append([a ^ b for a, b in zip(keys[-words], last, strict=True)])
    offsets = (0, 1, 3, 4) if columns == 8 else (0, 1, 2, 3)
    state = [list(block[4 * n : 4 * n + 4]) for n in range(columns)]
    for round_ in range(rounds + 1):
        if round_ > 0:
            state = [[box[x] for x in column] for column in state]
            state = [[state[(n + offsets[i]) % columns][i] for i in range(4)] for n in range(columns)]
        if 0 < round_ < rounds:
            state = [
                [
                    product(c[i], 2) ^ product(c[(i + 1) % 4], 3) ^ c[(i + 2) % 4] ^ c[(i + 3) % 4]
                    for i in range(4)
                ]
                for c in state
            ]
        at = columns * round_
        state = [[a ^ b for a, b in zip(c, k, strict=True)] for c, k in zip(state, keys[at:], strict=False)]
    return bytes(x for column in state for x in column)


class Molen(unittest.TestCase):
    def program(self, code: list[int], pieces: dict[int, list[int]], **how: int | dict) -> molen.Outcome:
        """Runs words from address 0, with others at their addresses."""
        words = code + [0] * (0x2000 // 4)
        for at, piece in pieces.items():
            words[at // 4 : at // 4 + len(piece)] = piece
        folder = molen.BUILD / "studies" / "molen-2003"
        folder.mkdir(parents=True, exist_ok=True)
        image = folder / f"{self.id()}.hex"
        image.write_text("\n".join(f"{word:08x}" for word in words))
        return molen.run(image, molen.machine(), look=((0x800, 16),), **how)

    @unittest.skipUnless(molen.installed(), "no compiler for RISC-V")
    def test_rijndael_with_larger_blocks(self) -> None:
        key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
        # Of the digits of pi, as FIPS 197 has it for 128 bits.
        plain = bytes.fromhex("3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c8")
        self.assertEqual(rijndael(key, plain[:16]).hex(), "3925841d02dc09fbdc118597196a0b32")
        for row in molen.rijndael():
            wanted = rijndael(key, plain[: row["block_bits"] // 8])
            self.assertEqual(row["cipher"], wanted.hex(), row["block_bits"])
            self.assertLess(max(row["unit"]), min(row["software"]))

    def test_random_programs_do_what_the_manual_says(self) -> None:
        for seed in range(1, 13 if os.environ.get("ACE_TESTS") == "all" else 7):
            command = [str(molen.machine()), "random", str(seed), "6000"]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, f"seed {seed}: {ran.stdout}")
            self.assertGreater(int(ran.stdout), 4000)

    def test_what_is_no_instruction_stops_the_core(self) -> None:
        for word, cause in (
            (0, "illegal"),
            (unit(4, 0, 0, 0), "illegal"),
            (0x00102083 | 1 << 20, "alignment"),
        ):
            outcome = self.program([addi(1, 0, 1), word, STOP], {})
            self.assertEqual((outcome.cause, outcome.instructions), (CAUSES[cause], 1), hex(word))

    def execute(self, sets: list[int], code: list[int], last: int = 1, **how: int | dict) -> molen.Outcome:
        """A c-set of each mask (the last one may be a p-set, 0), then an execution of microcode on the state at 0x800."""
        work = [addi(1, 0, CODE)]
        pieces = {CODE: micro(*code), 0x800: list(range(1, 5))}
        for n, mask in enumerate(sets):
            at = CODE + 0x100 * (n + 1)
            pieces[at] = micro(SET | mask, END)
            work += [addi(2, 1, at - CODE), unit(last if n and mask == sets[-1] else 1, 0, 2, 0)]
        work += [addi(3, 0, 0x7FF), addi(3, 3, 1), unit(2, 0, 1, 3), STOP]
        return self.program(work, pieces, **how)

    def test_microcode_that_is_wrong_is_a_trap_and_never_a_hang(self) -> None:
        mix = [0x10000000, RUN | 1, 0x20000000, END]
        self.assertEqual(self.execute([1], mix).cause, CAUSES["stop"])
        # None at the address; too long; an operation that there is not; a set in an execution; without an end.
        nothing = self.program([addi(1, 0, 0x500), unit(2, 0, 1, 0), STOP], {0x500: [0x12345678]})
        self.assertEqual(nothing.cause, CAUSES["microcode"])
        empty = self.program([addi(1, 0, 0x500), unit(2, 0, 1, 0), STOP], {0x500: [0xA5000000]})
        self.assertEqual(empty.cause, CAUSES["microcode"])
        for code in ([0xF0000000, END], [SET | 1, END], [0x10000000] * 15):
            self.assertEqual(self.execute([1], code).cause, CAUSES["microcode"], code)

    def test_an_operation_the_unit_is_not_configured_for_is_a_trap(self) -> None:
        for sets, operation, cause in (
            ([], 1, "operation"),
            ([2], 1, "operation"),
            ([1], 7, "operation"),
            # A complete set takes away what was there.
            ([1, 2], 1, "operation"),
            ([1, 2], 2, "stop"),
        ):
            outcome = self.execute(sets, [RUN | operation, END])
            self.assertEqual(outcome.cause, CAUSES[cause], (sets, operation))

    def test_a_refused_set_is_a_trap_where_the_unit_is_used(self) -> None:
        self.assertEqual(self.execute([1], [RUN | 1, END], refuse=1).cause, CAUSES["refused"])
        self.assertEqual(self.execute([1], [END], refuse=1).cause, CAUSES["stop"])
        # A part that was refused has left nobody knows what: what was there before is not used either.
        stopped = self.execute([1, 2], [RUN | 1, END], last=0)
        self.assertEqual(stopped.cause, CAUSES["stop"])
        self.assertEqual(self.execute([1, 2], [RUN | 1, END], last=0, refuse=2).cause, CAUSES["refused"])

    def test_an_execution_waits_for_its_set_and_the_core_does_not(self) -> None:
        quick, slow = (self.execute([1], [RUN | 1, END], set_clocks=clocks) for clocks in (1, 500))
        self.assertEqual((quick.cause, slow.cause), (0, 0))
        self.assertGreater(slow.clocks, quick.clocks + 450)
        # What lies between set and execution runs meanwhile.
        self.assertLess(slow.clocks, quick.clocks + 500)

    def test_what_stays_is_found_again_and_what_comes_and_goes_is_replaced(self) -> None:
        # Five that do not stay share four places; one that stays is found again.
        places = [CODE + 0x100 * n for n in range(6)]
        pieces = {at: micro(END, stays=n == 0) for n, at in enumerate(places)}
        work = [addi(9, 0, CODE), addi(6, 0, 0x7FF), addi(6, 6, 1)]
        for _ in range(2):
            for n in range(6):
                work += [addi(1, 9, 0x100 * n), unit(2, 0, 1, 0)]
        work += [unit(3, 4, 0, 0), unit(3, 5, 0, 1), 0x23 | 2 << 12 | 6 << 15 | 4 << 20]
        work += [0x23 | 4 << 7 | 2 << 12 | 6 << 15 | 5 << 20, STOP]
        # What lies at 0x800 is written over when all is done.
        outcome = self.program(work, pieces)
        self.assertEqual(outcome.cause, 0)
        self.assertEqual(outcome.memory[0][:2], [1, 11])

    def test_a_loop_goes_through_a_text_and_ends(self) -> None:
        # Rows of four words go to the exclusive-or of all in front of them; the count is used up, or zero.
        for count, done in ((3, 3), (1, 1), (0, 1), (1 << 16, 1)):
            code = [0x80000004, 0x70000000, 0x60030000, 0x20030000, 0x90000000 | 16 << 4 | 2, END]
            text = list(range(100, 116))
            job = [0x810, count]
            pieces = {CODE: micro(*code), 0x700: job, 0x810: text}
            work = [addi(1, 0, CODE), addi(3, 0, 0x700), addi(4, 0, 0), unit(2, 0, 1, 3), STOP]
            outcome = self.program(work, pieces)
            self.assertEqual(outcome.cause, 0)
            wanted, chain = [], [0] * 4
            for block in range(4):
                words = text[4 * block : 4 * block + 4]
                if block < done:
                    words = chain = [a ^ b for a, b in zip(chain, words, strict=True)]
                wanted += words
            self.assertEqual(outcome.memory[0][4:], wanted[:12], count)

    def test_a_key_no_cipher_takes_is_a_trap(self) -> None:
        # Bytes that are no whole beats, more than there are rows; a second argument; a number that none has.
        words = [20 << 10 | 3, 40 << 10 | 3, 1 << 9 | 3, 9, 16 << 10 | 1, 0x13]
        # A key of triple DES for DES; a round and a hash with a key; a hash that begins and ends at once.
        words += [24 << 10 | 8, 16 << 10 | 6, 16 << 10 | 7, 0x300 | 7]
        for word in words:
            outcome = self.execute([0xFFFF], [RUN | word, END])
            self.assertEqual(outcome.cause, CAUSES["operation"], hex(word))

    def test_a_block_without_a_key_is_a_trap_and_no_hang(self) -> None:
        for cipher, size in ((3, 16), (4, 24), (5, 16), (8, 8)):
            key = RUN | size << 10 | cipher
            self.assertEqual(self.execute([0xFFFF], [RUN | cipher, END]).cause, CAUSES["operation"])
            self.assertEqual(self.execute([0xFFFF], [key, RUN | cipher, END]).cause, CAUSES["stop"])
            # A set forgets it.
            at = CODE + 0x100
            work = [
                addi(1, 0, CODE),
                addi(2, 0, at),
                addi(4, 0, at + 0x40),
                unit(1, 0, 2, 0),
                unit(2, 0, 1, 0),
            ]
            work += [unit(0, 0, 2, 0), unit(2, 0, 4, 0), STOP]
            pieces = {CODE: micro(key, END), at: micro(SET | 0xFF, END), at + 0x40: micro(RUN | cipher, END)}
            self.assertEqual(self.program(work, pieces).cause, CAUSES["operation"], cipher)

    @unittest.skipUnless(molen.installed(), f"{molen.COMPILER} is not installed")
    def test_every_form_is_aes(self) -> None:
        text, x = b"", 1
        for _ in range(molen.TEXT_WORDS):
            x = (x * 1664525 + 1013904223) % (1 << 32)
            text += x.to_bytes(4, "little")
        key = "2b7e151628aed2a6abf7158809cf4f3c"
        command = ["openssl", "enc", "-aes-128-ecb", "-K", key, "-nopad"]
        cipher = subprocess.run(command, input=text, capture_output=True, check=True).stdout
        wanted = hashlib.sha256(cipher).hexdigest()
        for form in molen.FORMS:
            if form != "cbc":
                self.assertEqual(molen.measure(form)["cipher_sha256"], wanted, form)
        command = ["openssl", "enc", "-aes-128-cbc", "-K", key, "-iv", "0" * 32, "-nopad"]
        cipher = subprocess.run(command, input=text, capture_output=True, check=True).stdout
        self.assertEqual(molen.measure("cbc")["cipher_sha256"], hashlib.sha256(cipher).hexdigest())

    @unittest.skipUnless(molen.installed(), f"{molen.COMPILER} is not installed")
    def test_every_size_of_a_key_is_that_of_the_standard(self) -> None:
        _, words, _ = molen.alone("keys")
        found = b"".join(word.to_bytes(4, "little") for word in words)
        block = bytes(17 * i for i in range(16))
        for n, size in enumerate((16, 24, 32)):
            command = ["openssl", "enc", f"-aes-{8 * size}-ecb", "-K", bytes(range(size)).hex(), "-nopad"]
            wanted = subprocess.run(command, input=block, capture_output=True, check=True).stdout
            self.assertEqual(found[16 * n : 16 * n + 16], wanted, size)

    @unittest.skipUnless(molen.installed(), f"{molen.COMPILER} is not installed")
    def test_packets_of_four_algorithms_are_enciphered_by_each(self) -> None:
        # Sets of each algorithm take a time of their own.
        clocks = {mask: 2000 * (n + 1) for n, mask in enumerate((1 << 2, 1 << 3, 1 << 4))}
        clocks |= {1 << 7: 2000} | {molen.PARTIAL | mask: 2000 for mask in (1 << 3, 1 << 7)}
        report, words, outcome = molen.alone("mix", clocks)
        at, state = 0, 1

        def follow() -> int:
            nonlocal state
            state = (state * 1664525 + 1013904223) % (1 << 32)
            return state

        while at < report[4]:
            which, dice = follow() >> 30, (follow() >> 8) % 12
            size = 4 if which == 0 else 2
            count = (40 if dice < 7 else 576 if dice < 11 else 1500) // 4
            count += -count % size
            key = b"".join(follow().to_bytes(4, "little") for _ in range((4, 6, 2, 4)[which]))
            text = b"".join(follow().to_bytes(4, "little") for _ in range(count))
            found = b"".join(word.to_bytes(4, "little") for word in words[at : at + count])
            self.assertEqual(found, encipher(which, key, text), (which, at))
            at += count
        self.assertEqual(at, report[4])
        self.assertGreater(report[3], 40)
        self.assertEqual(outcome.sets, report[3])
        self.assertEqual(outcome.set_clocks % 2000, 0)
        self.assertTrue(2000 * report[3] < outcome.set_clocks < 6000 * report[3])
        # As the machine counts them itself; some are partial ones.
        self.assertEqual(report[6], outcome.set_clocks + report[3])
        self.assertTrue(2 < report[7] < report[3] and 0 < report[8] < report[9])
        # What waits is never more than what sets take, and a part of them is hidden.
        self.assertTrue(0 < report[2] < outcome.set_clocks)

    def test_a_set_takes_what_is_said_of_its_operations(self) -> None:
        for set_clocks, taken in (({1: 300, 2: 70}, 370), ({1: 300, molen.PARTIAL | 2: 70}, 300), (50, 100)):
            outcome = self.execute([1, 2], [END], set_clocks=set_clocks)
            self.assertEqual((outcome.cause, outcome.sets, outcome.set_clocks), (0, 2, taken))

    @unittest.skipUnless(molen.installed(), f"{molen.COMPILER} is not installed")
    def test_a_hash_is_that_of_the_standard(self) -> None:
        text, x = b"", 1
        for _ in range(molen.TEXT_WORDS):
            x = (x * 1664525 + 1013904223) % (1 << 32)
            text += x.to_bytes(4, "little")
        clocks, words, _ = molen.alone("hash")
        for form in range(3):
            found = b"".join(word.to_bytes(4, "little") for word in words[5 * form : 5 * form + 5])
            self.assertEqual(found, hashlib.sha1(text).digest(), form)
        self.assertGreater(clocks[0], 10 * clocks[1])

    @unittest.skipUnless(Path(molen.ace()).is_file(), "there is no ace")
    def test_sets_are_carried_out_by_the_loader_while_the_core_goes_on(self) -> None:
        given = molen.loads()
        for load in given.loads:
            if not load["over"]:
                continue
            took = molen.set_alone(given, load)
            modelled = load["microseconds"] * given.machine_mhz
            self.assertTrue(0.99 * modelled < took["clocks"] < 1.25 * modelled, took)
        # A list that is none, of another configuration than is held, and bits that are turned.
        good = {"set": (given.list("3des"), 1 << 3), "over": (given.list("des-cbc:3des"), 1 << 7)}
        for name, (sets, turned, cause) in {
            "whole": ((good["set"],), None, "operation"),
            "both": ((good["set"], good["over"]), None, "operation"),
            "no list": (((4, 1 << 3),), None, "refused"),
            "not over this": (((given.list("idea"), 1 << 4), good["over"]), None, "refused"),
            "not for this": (((given.list("3des"), 1 << 2),), None, "refused"),
            "turned": ((good["set"],), 3000, "refused"),
        }.items():
            bits = Path(given.path.read_text().split()[0])
            path = given.path
            if turned:
                wrong = bytearray(bits.read_bytes())
                # In the stream, which stands in front of its list.
                wrong[good["set"][0] - turned] ^= 1
                other = bits.with_name("turned")
                other.write_bytes(wrong)
                path = given.path.with_name("loads-turned")
                path.write_text(given.path.read_text().replace(str(bits), str(other)))
            code, pieces = [addi(1, 0, CODE)], {CODE: micro(RUN | 4, END)}
            for n, (number, mask) in enumerate(sets):
                at = CODE + 0x40 * (n + 1)
                pieces[at] = micro(SET | mask, END)
                code += [
                    ((number + 0x800) & 0xFFFFF000) | 2 << 7 | 0x37,
                    addi(2, 2, number),
                    addi(3, 1, at - CODE),
                ]
                code += [unit(0 if n else 1, 0, 3, 2)]
            # Without a key, an operation that is there is refused for that.
            outcome = self.program(
                [*code, unit(2, 0, 1, 0), STOP], pieces, set_clocks=replace(given, path=path)
            )
            self.assertEqual(outcome.cause, CAUSES[cause], name)

    def test_what_the_study_prints_is_of_these_sources(self) -> None:
        programs = json.loads(molen.PROGRAMS.read_text())
        self.assertEqual(programs["inputs"], molen.inputs(), "run `python -m ace_flow molen`")
        synthesised = json.loads(families.RESULT.read_text())
        fresh = {families.SOURCE: study.digest(families.SOURCE)}
        self.assertEqual(synthesised["sources"], fresh, "run `python -m ace_flow families`")


if __name__ == "__main__":
    unittest.main()
