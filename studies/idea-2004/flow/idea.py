# SPDX-License-Identifier: Apache-2.0
"""IDEA as its definition has it, for those who compare with it. Blocks and keys are numbers, their first word leftmost."""


def multiply(x: int, k: int) -> int:
    """Modulo 2^16 + 1, zero standing for 2^16."""
    return (x or 65536) * (k or 65536) % 65537 % 65536


def subkeys(key: int) -> list[int]:
    """Eight words of the key, which turns left by 25 bits for each eight more."""
    found = []
    while len(found) < 52:
        found += [key >> 112 - 16 * i & 0xFFFF for i in range(8)]
        key = (key << 25 | key >> 103) & (1 << 128) - 1
    return found[:52]


def phase(x: list[int], z: list[int]) -> list[int]:
    """A phase of four words under six subkeys."""
    a, d = multiply(x[0], z[0]), multiply(x[3], z[3])
    b, c = (x[1] + z[1]) % 65536, (x[2] + z[2]) % 65536
    s = multiply(a ^ c, z[4])
    t = multiply((s + (b ^ d)) % 65536, z[5])
    u = (s + t) % 65536
    return [a ^ t, c ^ t, b ^ u, d ^ u]


def encrypt(block: int, z: list[int]) -> int:
    """A block under 52 subkeys."""
    x = words(block)
    for r in range(8):
        x = phase(x, z[6 * r : 6 * r + 6])
    a, d = multiply(x[0], z[48]), multiply(x[3], z[51])
    return number([a, (x[2] + z[49]) % 65536, (x[1] + z[50]) % 65536, d])


def words(block: int) -> list[int]:
    """Its four, the first first."""
    return [block >> 48 - 16 * i & 0xFFFF for i in range(4)]


def number(x: list[int]) -> int:
    """The block of four words."""
    return x[0] << 48 | x[1] << 32 | x[2] << 16 | x[3]
