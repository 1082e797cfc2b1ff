# SPDX-License-Identifier: Apache-2.0
"""The Molen machine of the study of 2003: the core against an instruction-set simulator, programs against OpenSSL, what
stops it, and that what the study prints is of these sources."""

import hashlib
import json
import os
import subprocess
import unittest

from ace_flow import molen

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


class Molen(unittest.TestCase):
    def program(self, code: list[int], pieces: dict[int, list[int]], **how: int) -> molen.Outcome:
        """Runs words from address 0, with others at their addresses."""
        words = code + [0] * (0x2000 // 4)
        for at, piece in pieces.items():
            words[at // 4 : at // 4 + len(piece)] = piece
        folder = molen.BUILD / "studies" / "molen-2003"
        folder.mkdir(parents=True, exist_ok=True)
        image = folder / f"{self.id()}.hex"
        image.write_text("\n".join(f"{word:08x}" for word in words))
        return molen.run(image, molen.machine(), look=((0x800, 16),), **how)

    def test_random_programs_do_what_the_manual_says(self) -> None:
        for seed in range(1, 13 if os.environ.get("ACE_TESTS") == "all" else 7):
            command = [str(molen.machine()), "random", str(seed), "6000"]
            said = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(said.returncode, 0, f"seed {seed}: {said.stdout}")
            self.assertGreater(int(said.stdout), 4000)

    def test_what_is_no_instruction_stops_the_core(self) -> None:
        for word, cause in (
            (0, "illegal"),
            (unit(4, 0, 0, 0), "illegal"),
            (0x00102083 | 1 << 20, "alignment"),
        ):
            outcome = self.program([addi(1, 0, 1), word, STOP], {})
            self.assertEqual((outcome.cause, outcome.instructions), (CAUSES[cause], 1), hex(word))

    def execute(self, sets: list[int], code: list[int], **how: int) -> molen.Outcome:
        """A c-set of each mask, then an execution of microcode on the state at 0x800."""
        work = [addi(1, 0, CODE)]
        pieces = {CODE: micro(*code), 0x800: list(range(1, 5))}
        for n, mask in enumerate(sets):
            at = CODE + 0x100 * (n + 1)
            pieces[at] = micro(SET | mask, END)
            work += [addi(2, 1, at - CODE), unit(1, 0, 2, 0)]
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
        for code in ([0x70000000, END], [SET | 1, END], [0x10000000] * 15):
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

    def test_an_execution_waits_for_its_set_and_the_core_does_not(self) -> None:
        quick, slow = (self.execute([1], [RUN | 1, END], set_clocks=clocks) for clocks in (1, 500))
        self.assertEqual((quick.cause, slow.cause), (0, 0))
        self.assertGreater(slow.clocks, quick.clocks + 450)
        # What lies between set and execution runs meanwhile.
        self.assertLess(slow.clocks, quick.clocks + 500)

    def test_what_stays_is_found_again_and_what_comes_and_goes_is_replaced(self) -> None:
        # Three that do not stay share two places; one that stays is found again.
        places = [CODE + 0x100 * n for n in range(4)]
        pieces = {at: micro(END, stays=n == 0) for n, at in enumerate(places)}
        work = [addi(9, 0, CODE)]
        for _ in range(2):
            for at in places:
                work += [addi(1, 9, at - CODE), unit(2, 0, 1, 0)]
        work += [unit(3, 4, 0, 0), unit(3, 5, 0, 1), addi(6, 0, 0x7FF), addi(6, 6, 1)]
        work += [0x23 | 2 << 12 | 6 << 15 | 4 << 20, 0x23 | 4 << 7 | 2 << 12 | 6 << 15 | 5 << 20, STOP]
        outcome = self.program(work, pieces)
        self.assertEqual(outcome.cause, 0)
        self.assertEqual(outcome.memory[0][:2], [1, 7])

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
            self.assertEqual(molen.measure(form)["cipher_sha256"], wanted, form)

    def test_what_the_study_prints_is_of_these_sources(self) -> None:
        programs = json.loads(molen.PROGRAMS.read_text())
        self.assertEqual(programs["inputs"], molen.inputs(), "run `python -m ace_flow.molen`")


if __name__ == "__main__":
    unittest.main()
