# SPDX-License-Identifier: Apache-2.0
"""Proves functions of the RTL's packages against the standards, written down once more (docs/proof.md).

    python -m ace_flow.standard      proves all, has a control of each refuted, and prints the table

What is on this side is written from the standards' own tables and definitions, not from the RTL. No bit of these functions
depends on many others: both sides are evaluated for all values of what it depends on. Of each function a control, the
same with one entry or one place changed on this side, has to be refuted.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import tools
from .equal.rtl import Rtl
from .equal.words import Words
from .gates import Graph, Literal
from .layout import BUILD
from .to_rtl import yosys

Word = list[Literal]
# So many bits may one depend on: all their values are tried.
MOST = 18
# FIPS 46-3, appendix 1.
E_TABLE = [32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17]
E_TABLE += [16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1]
P_TABLE = [16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10]
P_TABLE += [2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25]
# Four rows of sixteen, in hexadecimal.
S_BOXES = [
    ["E4D12FB83A6C5907", "0F74E2D1A6CB9538", "41E8D62BFC973A50", "FC8249175B3EA06D"],
    ["F18E6B34972DC05A", "3D47F28EC01A69B5", "0E7BA4D158C6932F", "D8A13F42B67C05E9"],
    ["A09E63F51DC7B428", "D709346A285ECBF1", "D6498F30B12C5AE7", "1AD069874FE3B52C"],
    ["7DE3069A1285BC4F", "D8B56F03472C1AE9", "A690CB7DF13E5284", "3F06A1D8945BC72E"],
    ["2C417AB6853FD0E9", "EB2C47D150FA3986", "421BAD78F9C5630E", "B8C71E2D6F09A453"],
    ["C1AF92680D34E75B", "AF427C9561DE0B38", "9EF528C3704A1DB6", "432C95FABE17608D"],
    ["4B2EF08D3C975A61", "D0B7491AE35C2F86", "14BDC37EAF680592", "6BD814A7950FE23C"],
    ["D2846FB1A93E50C7", "1FD8A374C56B0E92", "7B419CE206ADF358", "21E74A8DFC90356B"],
]


def times(a: int, b: int, modulus: int) -> int:
    """A product in GF(2^8)."""
    product = 0
    for place in range(8):
        product ^= (a << place) * (b >> place & 1)
    for place in range(14, 7, -1):
        product ^= (modulus << place - 8) * (product >> place & 1)
    return product


def inverse(a: int, modulus: int) -> int:
    """The inverse in GF(2^8), and 0 for 0."""
    return next((b for b in range(256) if times(a, b, modulus) == 1), 0)


def aes_box() -> list[int]:
    """FIPS 197, 5.1.1."""
    box = []
    for value in range(256):
        b = inverse(value, 0x11B)
        box.append(
            sum(
                (
                    (
                        b >> i
                        ^ b >> (i + 4) % 8
                        ^ b >> (i + 5) % 8
                        ^ b >> (i + 6) % 8
                        ^ b >> (i + 7) % 8
                        ^ 0x63 >> i
                    )
                    & 1
                )
                << i
                for i in range(8)
            )
        )
    return box


@dataclass
class Spec:
    """Words of literals by the standards; `wrong`: with one thing changed."""

    words: Words
    wrong: bool = False
    changed: bool = field(default=False, init=False)

    def look(self, box: list[int], select: Word, width: int) -> Word:
        """An entry of a table."""
        box = [*box]
        if self.wrong and not self.changed:
            box[-1] ^= 1
            self.changed = True
        return self.words.choose([[entry >> bit & 1 for bit in range(width)] for entry in box], select)

    def xor(self, *operands: Word) -> Word:
        total = operands[0]
        for other in operands[1:]:
            total = [self.words.differ(a, b) for a, b in zip(total, other, strict=True)]
        return total

    def rotl(self, a: Word, places: int) -> Word:
        """To the left; the control rotates by one place more, once."""
        if self.wrong and not self.changed:
            places, self.changed = places + 1, True
        places %= len(a)
        return [*a[len(a) - places :], *a[: len(a) - places]]

    def aes_sub(self, a: Word) -> Word:
        return self.look(aes_box(), a, 8)

    def aes_inv_sub(self, a: Word) -> Word:
        box = aes_box()
        return self.look([box.index(value) for value in range(256)], a, 8)

    def sm4_mix(self, a: Word) -> Word:
        """GB/T 32907, 6.2.2: L."""
        return self.xor(a, *(self.rotl(a, places) for places in (2, 10, 18, 24)))

    def sm4_mix_key(self, a: Word) -> Word:
        """GB/T 32907, 7.3: L'."""
        return self.xor(a, *(self.rotl(a, places) for places in (13, 23)))

    def des_f(self, r: Word, k: Word) -> Word:
        """FIPS 46-3, "The cipher function f". Bit 1 is the highest."""
        expanded = [self.words.differ(r[32 - bit], k[47 - place]) for place, bit in enumerate(E_TABLE)]
        out: Word = []
        for number, rows in enumerate(S_BOXES):
            b = expanded[6 * number : 6 * number + 6]
            box = [int(rows[2 * (v >> 5) + (v & 1)][v >> 1 & 15], 16) for v in range(64)]
            out += reversed(self.look(box, [*reversed(b)], 4))
        return [*reversed([out[bit - 1] for bit in P_TABLE])]


@dataclass(frozen=True)
class Function:
    """A function of a package of the RTL, and what the standard says."""

    cipher: str
    name: str
    standard: str
    sources: tuple[str, ...]
    package: str
    inputs: tuple[int, ...]
    width: int
    spec: Callable[..., Word]


AES, SM4, DES = ("rtl/cipher/aes/aes_pkg.sv",), ("rtl/cipher/sm4/sm4_pkg.sv",), ("rtl/cipher/des/des_pkg.sv",)
FUNCTIONS = [
    Function("AES", "sub_byte", "FIPS 197, 5.1.1", AES, "aes_pkg", (8,), 8, Spec.aes_sub),
    Function("AES", "inv_sub_byte", "FIPS 197, 5.3.2", AES, "aes_pkg", (8,), 8, Spec.aes_inv_sub),
    Function("SM4", "mix", "GB/T 32907, 6.2.2", SM4, "sm4_pkg", (32,), 32, Spec.sm4_mix),
    Function("SM4", "mix_key", "GB/T 32907, 7.3", SM4, "sm4_pkg", (32,), 32, Spec.sm4_mix_key),
    Function("DES", "f", "FIPS 46-3, f: E, S1 to S8, P", DES, "des_pkg", (32, 48), 32, Spec.des_f),
]


def harness(functions: list[Function]) -> str:
    """A module for each function."""
    modules = []
    for number, function in enumerate(functions):
        ports = "".join(f"input logic [{width - 1}:0] i{n}, " for n, width in enumerate(function.inputs))
        arguments = ", ".join(f"i{n}" for n in range(len(function.inputs)))
        modules.append(
            f"module h{number} ({ports}output logic [{function.width - 1}:0] o);\n"
            f"  assign o = {function.package}::{function.name}({arguments});\nendmodule\n"
        )
    return "\n".join(modules)


def read(functions: list[Function], folder: Path) -> dict:
    """The functions as modules of word-level cells, before any pass."""
    here = folder.relative_to(tools.ROOT)
    (folder / "harness.sv").write_text(harness(functions))
    sources = sorted({source for function in functions for source in function.sources})
    tops = " ".join(f"--top h{number}" for number in range(len(functions)))
    lines = [
        f"read_slang -j 1 {tops} {' '.join(sources)} {here}/harness.sv",
        f"write_json {here}/functions.json",
    ]
    yosys("\n".join([*lines, ""]), folder, "functions")
    return json.loads((folder / "functions.json").read_text())["modules"]


def same(graph: Graph, one: Literal, other: Literal) -> bool:
    """Whether two bits are the same for all values of what they depend on, by trying all."""
    cone, stack = set(), [one >> 1, other >> 1]
    while stack:
        if (node := stack.pop()) not in cone:
            cone.add(node)
            stack += graph.nodes[node][1]
    inputs = sorted(node for node in cone if isinstance(graph.nodes[node][0], str))
    if len(inputs) > MOST:
        raise tools.ToolError(f"a bit that depends on {len(inputs)} others; {MOST} are tried")
    count = 1 << len(inputs)
    every = (1 << count) - 1
    # Of input n, values alternate in runs of 2^n.
    v = {0: 0}
    for place, node in enumerate(inputs):
        run = (1 << (1 << place)) - 1 << (1 << place)
        v[node] = run * (every // ((1 << (2 << place)) - 1))
    for node in sorted(cone - v.keys()):
        table, pins = graph.nodes[node]
        v[node] = 0
        for row in range(1 << len(pins)):
            if table >> row & 1:
                here = every
                for place, pin in enumerate(pins):
                    here &= v[pin] if row >> place & 1 else every ^ v[pin]
                v[node] |= here
    return v[one >> 1] ^ v[other >> 1] == (every if (one ^ other) & 1 else 0)


def compared(function: Function, module: dict, wrong: bool) -> str:
    """Whether a function is what the standard says."""
    graph = Graph()
    machine = Rtl(graph, None, module, function.name)  # without registers nobody is asked for anything
    machine.build({})
    inputs = [machine.all(module["ports"][f"i{n}"]["bits"]) for n in range(len(function.inputs))]
    wanted = function.spec(Spec(Words(graph), wrong), *inputs)
    got = machine.all(module["ports"]["o"]["bits"])
    return "proven" if all(same(graph, a, b) for a, b in zip(got, wanted, strict=True)) else "differs"


def main() -> int:
    BUILD.mkdir(exist_ok=True)
    failed = 0
    print("| algorithm | function | standard | input bits | result | control |\n|---|---|---|--:|---|---|")
    try:
        with tempfile.TemporaryDirectory(dir=BUILD, prefix=".standard-") as name:
            folder = Path(name)
            modules = read(FUNCTIONS, folder)
            for number, function in enumerate(FUNCTIONS):
                module = modules[f"h{number}"]
                result = compared(function, module, wrong=False)
                control = "refuted" if compared(function, module, wrong=True) == "differs" else "NOT REFUTED"
                failed |= (result, control) != ("proven", "refuted")
                figures = [function.standard, sum(function.inputs), result, control]
                print(
                    f"| {function.cipher} | `{function.name}` | {' | '.join(map(str, figures))} |", flush=True
                )
    except (tools.ToolError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
