# SPDX-License-Identifier: Apache-2.0
"""Each instruction of RV32IM on the Molen machine's core, with operands at which it is special, against what the manual
(The RISC-V Instruction Set Manual, volume I, chapters 2 and 7) says of it. No registry carries riscv-tests or
riscv-arch-test; these take their place."""

import unittest
from collections.abc import Callable

from ace_studies.molen_2003 import programs

STOP = 0x00100073
ONES = 0xFFFFFFFF
LEAST, MOST = 0x80000000, 0x7FFFFFFF
# What is special of words, of shifts' amounts, of immediates.
WORDS = (0, 1, 2, 31, 32, 0x55555555, 0xFFFF, MOST, LEAST, LEAST + 1, ONES - 1, ONES)
AMOUNTS = (0, 1, 15, 16, 31)
IMMEDIATES = (-2048, -1, 0, 1, 31, 2047)
# Where programs put what comes out, and where data are.
OUT, DATA = 0xC000, 0x8000
A, B, TO, BASE = 5, 6, 7, 8
CAUSES = {"stop": 0, "illegal": 1, "alignment": 2}


def signed(x: int) -> int:
    return x - (1 << 32) if x & LEAST else x


def type_r(funct7: int, rs2: int, rs1: int, funct3: int, rd: int) -> int:
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33


def type_i(immediate: int, rs1: int, funct3: int, rd: int, opcode: int = 0x13) -> int:
    return (immediate & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def store(offset: int, rs2: int, rs1: int, funct3: int = 2) -> int:
    return (offset >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (offset & 31) << 7 | 0x23


def branch(funct3: int, rs1: int, rs2: int, offset: int) -> int:
    high = (offset >> 12 & 1) << 31 | (offset >> 5 & 63) << 25
    return (
        high | rs2 << 20 | rs1 << 15 | funct3 << 12 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63
    )


def jal(rd: int, offset: int) -> int:
    bits = (offset >> 20 & 1) << 31 | (offset >> 1 & 1023) << 21 | (offset >> 11 & 1) << 20
    return bits | (offset >> 12 & 255) << 12 | rd << 7 | 0x6F


def constant(rd: int, value: int) -> list[int]:
    return [((value + 0x800) & 0xFFFFF000) | rd << 7 | 0x37, type_i(value, rd, 0, rd)]


def quotient(a: int, b: int) -> int:
    if b == 0:
        return ONES
    return int(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) & ONES


def rest(a: int, b: int) -> int:
    """Its sign is that of what is divided."""
    if b == 0:
        return a & ONES
    return abs(a) % abs(b) * (-1 if a < 0 else 1) & ONES


# funct7, funct3, and what comes out of two words.
REGISTERS: dict[str, tuple[int, int, Callable[[int, int], int]]] = {
    "add": (0, 0, lambda a, b: a + b),
    "sub": (32, 0, lambda a, b: a - b),
    "sll": (0, 1, lambda a, b: a << (b & 31)),
    "slt": (0, 2, lambda a, b: signed(a) < signed(b)),
    "sltu": (0, 3, lambda a, b: a < b),
    "xor": (0, 4, lambda a, b: a ^ b),
    "srl": (0, 5, lambda a, b: a >> (b & 31)),
    "sra": (32, 5, lambda a, b: signed(a) >> (b & 31)),
    "or": (0, 6, lambda a, b: a | b),
    "and": (0, 7, lambda a, b: a & b),
    "mul": (1, 0, lambda a, b: a * b),
    "mulh": (1, 1, lambda a, b: signed(a) * signed(b) >> 32),
    "mulhsu": (1, 2, lambda a, b: signed(a) * b >> 32),
    "mulhu": (1, 3, lambda a, b: a * b >> 32),
    "div": (1, 4, lambda a, b: quotient(signed(a), signed(b))),
    "divu": (1, 5, quotient),
    "rem": (1, 6, lambda a, b: rest(signed(a), signed(b))),
    "remu": (1, 7, rest),
}
BRANCHES: dict[str, tuple[int, Callable[[int, int], bool]]] = {
    "beq": (0, lambda a, b: a == b),
    "bne": (1, lambda a, b: a != b),
    "blt": (4, lambda a, b: signed(a) < signed(b)),
    "bge": (5, lambda a, b: signed(a) >= signed(b)),
    "bltu": (6, lambda a, b: a < b),
    "bgeu": (7, lambda a, b: a >= b),
}


class Core(unittest.TestCase):
    def program(self, code: list[int], results: int = 1, data: tuple[int, ...] = ()) -> programs.Outcome:
        """Runs words from address 0; what comes out is looked at."""
        self.assertLess(4 * len(code), DATA)
        words = code + [STOP] + [0] * (DATA // 4 - len(code) - 1) + list(data)
        folder = programs.BUILD / "studies" / "molen-2003"
        folder.mkdir(parents=True, exist_ok=True)
        image = folder / f"{self.id()}.hex"
        image.write_text("\n".join(f"{word:08x}" for word in words))
        return programs.run(image, programs.machine(), look=((OUT, results),))

    def results(self, pieces: list[list[int]], data: tuple[int, ...] = ()) -> list[int]:
        """What each piece leaves in register TO, the base of what comes out going along."""
        code = constant(BASE, OUT)
        for piece in pieces:
            code += [*piece, store(0, TO, BASE), type_i(4, BASE, 0, BASE)]
        outcome = self.program(code, len(pieces), data)
        self.assertEqual(outcome.cause, CAUSES["stop"])
        return outcome.memory[0]

    def test_operations_on_two_registers(self) -> None:
        pairs = [(a, b) for a in WORDS for b in WORDS]
        for name, (funct7, funct3, of) in REGISTERS.items():
            work = type_r(funct7, B, A, funct3, TO)
            found = self.results([[*constant(A, a), *constant(B, b), work] for a, b in pairs])
            for (a, b), value in zip(pairs, found, strict=True):
                self.assertEqual(value, of(a, b) & ONES, f"{name} {a:#x} {b:#x}")

    def test_operations_on_an_immediate(self) -> None:
        for name in ("add", "slt", "sltu", "xor", "or", "and"):
            _, funct3, of = REGISTERS[name]
            pairs = [(a, i) for a in WORDS for i in IMMEDIATES]
            found = self.results([[*constant(A, a), type_i(i, A, funct3, TO)] for a, i in pairs])
            for (a, i), value in zip(pairs, found, strict=True):
                # Its sign is extended, for sltiu as well.
                self.assertEqual(value, of(a, i & ONES) & ONES, f"{name}i {a:#x} {i}")
        for name in ("sll", "srl", "sra"):
            funct7, funct3, of = REGISTERS[name]
            pairs = [(a, n) for a in WORDS for n in AMOUNTS]
            found = self.results(
                [[*constant(A, a), type_i(funct7 << 5 | n, A, funct3, TO)] for a, n in pairs]
            )
            for (a, n), value in zip(pairs, found, strict=True):
                self.assertEqual(value, of(a, n) & ONES, f"{name}i {a:#x} {n}")

    def test_upper_immediates(self) -> None:
        uppers = (0, 1, 0x7FFFF, 0x80000, 0xFFFFF)
        found = self.results([[upper << 12 | TO << 7 | 0x37] for upper in uppers])
        self.assertEqual(found, [upper << 12 for upper in uppers])
        found = self.results([[upper << 12 | TO << 7 | 0x17] for upper in uppers])
        # Two words in front, and three of each piece.
        wanted = [(4 * (2 + 3 * n) + (upper << 12)) & ONES for n, upper in enumerate(uppers)]
        self.assertEqual(found, wanted)

    def test_results_for_register_zero_are_dropped(self) -> None:
        pieces = [[type_i(5, 0, 0, 0), type_r(0, 0, 0, 0, TO)], [0xFFFFF037, type_i(0, 0, 0, TO)]]
        pieces += [
            [jal(0, 4), type_i(0, 0, 0, TO)],
            [*constant(A, DATA), type_i(0, A, 2, 0, 0x03), type_i(0, 0, 0, TO)],
        ]
        self.assertEqual(self.results(pieces, (ONES,)), [0] * len(pieces))

    def test_branches(self) -> None:
        pairs = [(a, b) for a in WORDS for b in WORDS]
        for name, (funct3, of) in BRANCHES.items():
            pieces = [
                # Taken, the second addition is left out.
                [
                    *constant(A, a),
                    *constant(B, b),
                    type_i(1, 0, 0, TO),
                    branch(funct3, A, B, 8),
                    type_i(2, TO, 0, TO),
                ]
                for a, b in pairs
            ]
            for (a, b), value in zip(pairs, self.results(pieces), strict=True):
                self.assertEqual(value, 1 if of(a, b) else 3, f"{name} {a:#x} {b:#x}")
        # Backwards.
        loop = [
            type_i(0, 0, 0, TO),
            type_i(5, 0, 0, A),
            type_i(3, TO, 0, TO),
            type_i(-1, A, 0, A),
            branch(1, A, 0, -8),
        ]
        self.assertEqual(self.results([loop]), [15])

    def test_jumps_and_what_they_link(self) -> None:
        # Two words in front of the first piece.
        self.assertEqual(self.results([[jal(TO, 8), type_i(-1, 0, 0, TO)]]), [12])
        for odd in (0, 1):
            # jalr clears the lowest bit; base and link may be the same register.
            pieces = [[*constant(TO, 0x100), type_i(24 + odd - 0x100, TO, 0, TO, 0x67), type_i(-1, 0, 0, TO)]]
            self.assertEqual(self.results(pieces), [20])

    def test_loads_extend_and_stores_keep_their_neighbours(self) -> None:
        words = (0x80FF7F01, 0x7F80FE82)
        data = b"".join(word.to_bytes(4, "little") for word in words)
        loads = {0: (1, True), 1: (2, True), 2: (4, True), 4: (1, False), 5: (2, False)}
        for funct3, (size, is_signed) in loads.items():
            places = range(0, 8, size)
            pieces = [[*constant(A, DATA + 16), type_i(at - 16, A, funct3, TO, 0x03)] for at in places]
            wanted = [
                int.from_bytes(data[at : at + size], "little", signed=is_signed) & ONES for at in places
            ]
            self.assertEqual(self.results(pieces, words), wanted, funct3)
        for funct3, size in ((0, 1), (1, 2), (2, 4)):
            places = range(0, 4, size)
            pieces = [
                [
                    *constant(A, DATA),
                    *constant(B, words[0]),
                    store(0, B, A),
                    *constant(B, 0x12345678),
                    store(at, B, A, funct3),
                    type_i(0, A, 2, TO, 0x03),
                ]
                for at in places
            ]
            for at, value in zip(places, self.results(pieces), strict=True):
                merged = bytearray(data[:4])
                merged[at : at + size] = (0x12345678).to_bytes(4, "little")[:size]
                self.assertEqual(value, int.from_bytes(merged, "little"), (funct3, at))

    def test_what_is_not_aligned_is_a_trap_and_changes_nothing(self) -> None:
        base = constant(A, DATA)
        for funct3, at in ((1, 1), (1, 3), (5, 1), (2, 1), (2, 2), (2, 3)):
            load = [*base, type_i(at, A, funct3, TO, 0x03)]
            self.assertEqual(self.program(load).cause, CAUSES["alignment"], (funct3, at))
        for funct3, at in ((1, 1), (1, 3), (2, 1), (2, 2), (2, 3)):
            outcome = self.program([*constant(A, OUT), *constant(B, ONES), store(at, B, A, funct3)])
            self.assertEqual((outcome.cause, outcome.memory[0]), (CAUSES["alignment"], [0]), (funct3, at))
        # Instructions are whole words.
        for jump in (jal(0, 6), type_i(2, A, 0, 0, 0x67), branch(0, 0, 0, 6)):
            self.assertEqual(self.program([*base, jump]).cause, CAUSES["alignment"], hex(jump))
        # A branch that is not taken goes nowhere.
        self.assertEqual(self.program([branch(1, 0, 0, 6)]).cause, CAUSES["stop"])

    def test_fence_does_nothing_and_calls_stop(self) -> None:
        self.assertEqual(self.results([[type_i(7, 0, 0, TO), 0x0FF0000F]]), [7])
        for word in (0x00000073, STOP):
            self.assertEqual(self.program([word, *[0] * 4]).cause, CAUSES["stop"])

    def test_the_count_of_clocks_goes_up(self) -> None:
        first, second = self.results([[0xC0002073 | TO << 7], [0xC0002073 | TO << 7]])
        self.assertTrue(0 < first < second < first + 20)


if __name__ == "__main__":
    unittest.main()
