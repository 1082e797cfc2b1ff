# SPDX-License-Identifier: Apache-2.0
"""Proves functions of the RTL's packages against the standards, written down once more (docs/proof.md).

    python -m ace_flow standard      proves all, has a control of each refuted, and prints the table

What is on this side (standard_functions.py) is written from the standards' own tables and definitions, not from the RTL.
Where a bit depends on few others, both sides are evaluated for all values of what it depends on; else z3 has to find
none that tells them apart. Of each function a control, the same with one entry or one place changed on this side, has to
be refuted.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import z3

from ace_flow import design, tools
from ace_flow.equiv.derive import formula
from ace_flow.equiv.rtl import Rtl
from ace_flow.equiv.standard_functions import Spec, Word
from ace_flow.equiv.to_rtl import yosys
from ace_flow.equiv.words import Words
from ace_flow.layout import BUILD
from ace_flow.prove.gates import Graph, Literal

# So many bits may one depend on that all their values are tried.
MOST = 18
# How long z3 may take for a bit.
MILLISECONDS = 60_000


@dataclass(frozen=True)
class Function:
    """A function of a package of the RTL, and what the standard says."""

    cipher: str
    call: str
    standard: str
    source: str
    inputs: tuple[int, ...]
    width: int
    spec: Callable[..., Word]

    @property
    def package(self) -> str:
        return self.source.rsplit("/", 1)[1].removesuffix(".sv")

    @property
    def name(self) -> str:
        """The function, without what it is given."""
        return self.call.lstrip("{").split("(")[0]


def _all(call: str, *counts: range) -> str:
    """A call for each value of what stands in it, the first in the lowest bits."""
    calls = [call]
    for name, count in zip("ab", counts, strict=False):
        calls = [one.replace(f"@{name}", str(n)) for one in calls for n in count]
    return "{" + ", ".join(reversed(calls)) + "}"


AES, SM4 = "algorithms/aes/rtl/aes_pkg.sv", "algorithms/sm4/rtl/sm4_pkg.sv"
DES, SERPENT = "algorithms/des/rtl/des_pkg.sv", "algorithms/serpent/rtl/serpent_pkg.sv"
TWOFISH, GOST = "algorithms/twofish/rtl/twofish_pkg.sv", "algorithms/magma/rtl/gost_pkg.sv"
CAST, RC6, MARS = (
    "algorithms/cast128/rtl/cast_pkg.sv",
    "algorithms/rc6/rtl/rc6_pkg.sv",
    "algorithms/mars/rtl/mars_pkg.sv",
)
MD5, SHA1 = "algorithms/md5/rtl/md5_pkg.sv", "algorithms/sha1/rtl/sha1_pkg.sv"
SERPENT_PAPER, TWOFISH_PAPER = "Serpent's submission", "Twofish's paper"
FUNCTIONS = [
    Function("AES", "sub_byte(i0)", "FIPS 197, 5.1.1", AES, (8,), 8, Spec.aes_sub),
    Function("AES", "inv_sub_byte(i0)", "FIPS 197, 5.3.2", AES, (8,), 8, Spec.aes_inv_sub),
    Function("AES", "inv_mix_word(i0)", "FIPS 197, 5.3.3", AES, (32,), 32, Spec.aes_inv_mix),
    Function("SM4", "substitute(i0)", "GB/T 32907, 6.2.1", SM4, (32,), 32, Spec.sm4_sub),
    Function("SM4", "mix(i0)", "GB/T 32907, 6.2.2", SM4, (32,), 32, Spec.sm4_mix),
    Function("SM4", "mix_key(i0)", "GB/T 32907, 7.3", SM4, (32,), 32, Spec.sm4_mix_key),
    Function("DES", "initial_permutation(i0)", "FIPS 46-3, IP", DES, (64,), 64, Spec.des_ip),
    Function("DES", "final_permutation(i0)", "FIPS 46-3, its inverse", DES, (64,), 64, Spec.des_fp),
    Function("DES", "f(i0, i1)", "FIPS 46-3, f: E, S1 to S8, P", DES, (32, 48), 32, Spec.des_f),
    Function("DES", "permuted_choice_1(i0)", "FIPS 46-3, PC-1", DES, (64,), 56, Spec.des_pc1),
    Function("DES", "permuted_choice_2(i0)", "FIPS 46-3, PC-2", DES, (56,), 48, Spec.des_pc2),
    Function(
        "Serpent",
        _all("sbox_table(3'd@b, 1'b@a)", range(2), range(8)),
        f"{SERPENT_PAPER}, S0 to S7 and inverses",
        SERPENT,
        (),
        1024,
        Spec.serpent_boxes,
    ),
    Function(
        "Serpent",
        "mix(i0, merge_key(i1))",
        f"{SERPENT_PAPER}, linear transformation and key",
        SERPENT,
        (128, 128),
        128,
        Spec.serpent_mix,
    ),
    Function(
        "Serpent",
        "unmix(i0, merge_key(i1))",
        f"{SERPENT_PAPER}, key and inverse transformation",
        SERPENT,
        (128, 128),
        128,
        Spec.serpent_unmix,
    ),
    Function("Twofish", "q(i0, i1)", f"{TWOFISH_PAPER}, 4.3.5", TWOFISH, (1, 8), 8, Spec.twofish_q),
    Function(
        "Twofish",
        f"mds({_all('products(i0[8*@a+:8])', range(4))})",
        f"{TWOFISH_PAPER}, 4.3.2",
        TWOFISH,
        (32,),
        32,
        Spec.twofish_mds,
    ),
    Function(
        "Twofish",
        _all("rs_product(@a, i0[8*@a+:8])", range(8)),
        f"{TWOFISH_PAPER}, 4.3.1",
        TWOFISH,
        (64,),
        256,
        Spec.twofish_rs,
    ),
    Function(
        "Magma",
        _all("lut(3'd0, 3'd@a, 2'd@b)", range(8), range(4)),
        "RFC 8891, 4.1",
        GOST,
        (),
        512,
        Spec.magma_boxes,
    ),
    Function("Magma", "rotate_left_11(i0)", "RFC 8891, 4.2", GOST, (32,), 32, Spec.magma_rotate),
    Function("Magma", "key_word(i0, i1)", "RFC 8891, 4.3 and 4.5", GOST, (5, 1), 3, Spec.magma_key),
    Function("CAST-128", "cast128_kind(i0)", "RFC 2144, 2.2", CAST, (4,), 2, Spec.cast128_kind),
    Function("CAST-128, CAST-256", "rotate_left(i0, i1)", "RFC 2144, 2.2", CAST, (32, 5), 32, Spec.rotate),
    Function("RC6", "rotl(i0, i1)", "RC6's paper, 2.2", RC6, (32, 5), 32, Spec.rotate),
    Function("MARS", "rotate(i0, i1)", "MARS's submission, 2.2", MARS, (32, 5), 32, Spec.rotate),
    Function("MD5", "mix(i0, i1, i2, i3)", "RFC 1321, 3.4: F to I", MD5, (2, 32, 32, 32), 32, Spec.md5_mix),
    Function("MD5", "word_index(i0)", "RFC 1321, 3.4", MD5, (6,), 4, Spec.md5_word),
    Function(
        "SHA-1", "mix(0, 0, i0, i1, i2)", "FIPS 180-4, 4.1.1: Ch", SHA1, (32,) * 3, 32, Spec.sha1_choice
    ),
    Function(
        "SHA-1", "mix(1, 0, i0, i1, i2)", "FIPS 180-4, 4.1.1: Parity", SHA1, (32,) * 3, 32, Spec.sha1_parity
    ),
    Function(
        "SHA-1", "mix(0, 1, i0, i1, i2)", "FIPS 180-4, 4.1.1: Maj", SHA1, (32,) * 3, 32, Spec.sha1_majority
    ),
]


def harness(functions: list[Function]) -> str:
    """A module for each function."""
    modules = []
    for number, function in enumerate(functions):
        ports = "".join(f"input logic [{width - 1}:0] i{n}, " for n, width in enumerate(function.inputs))
        modules.append(
            f"module h{number} import {function.package}::*; ({ports}output logic [{function.width - 1}:0] o);\n"
            f"  assign o = {function.call};\nendmodule\n"
        )
    return "\n".join(modules)


def read(functions: list[Function], folder: Path) -> dict:
    """The functions as modules of word-level cells, before any pass."""
    here = folder.relative_to(tools.ROOT)
    (folder / "harness.sv").write_text(harness(functions))
    # A package of a cipher may use this one.
    sources = ["rtl/slot/core_pkg.sv", *sorted({function.source for function in functions})]
    tops = " ".join(f"--top h{number}" for number in range(len(functions)))
    lines = [
        f"{design.READ} {tops} {' '.join(sources)} {here}/harness.sv",
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
        return solved(graph, cone, one, other)
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


def solved(graph: Graph, cone: set[int], one: Literal, other: Literal) -> bool:
    """The same by z3."""
    known = {0: z3.BoolVal(False)}
    for node in sorted(cone - {0}):
        table, pins = graph.nodes[node]
        known[node] = (
            z3.Bool(table) if isinstance(table, str) else formula(table, [known[pin] for pin in pins])
        )
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    solver.add(z3.Xor(known[one >> 1], known[other >> 1]) != z3.BoolVal(bool((one ^ other) & 1)))
    answer = solver.check()
    if answer == z3.unknown:
        raise tools.ToolError(f"z3 has no answer in {MILLISECONDS // 1000} s")
    return answer == z3.unsat


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
