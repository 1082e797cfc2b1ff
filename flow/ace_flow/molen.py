# SPDX-License-Identifier: Apache-2.0
"""The Molen machine of the study of 2003: python -m ace_flow.molen.

Compiles its C with Debian's gcc-riscv64-unknown-elf, runs it on the Verilated machine and writes what it took to
studies/molen-2003/programs.json, with the digest of all that went in. `ace study molen-2003` prints that.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import harness, rtl, tools
from .cache import publish
from .layout import BUILD
from .tools import ROOT

STUDY = "studies/molen-2003"
PARTS = (
    "molen_pkg",
    "mix_columns",
    "molen_ciphers",
    "molen_residence",
    "molen_unit",
    "molen_core",
    "molen_machine",
)
# The library's serial cores, which the unit may be configured for.
CORES = [
    *("slot/core_pkg", "lib/init_lut", "lib/ram_logic"),
    *(f"cipher/aes/aes_{part}" for part in ("pkg", "sbox_ebr", "sbox_tower", "sbox", "key_schedule", "core")),
    *(f"cipher/des/des_{part}" for part in ("pkg", "keys", "serial", "unrolled", "core")),
    *(f"cipher/idea/idea_{part}" for part in ("pkg", "mul", "subkeys", "core")),
]
RTL = [*(f"rtl/{core}.sv" for core in CORES), *(f"{STUDY}/rtl/{part}.sv" for part in PARTS)]
BENCH = f"{STUDY}/test/molen_bench.sv"
MAIN = f"{STUDY}/test/bench.cc"
COMPILER = "riscv64-unknown-elf-gcc"
# As the paper says ANSI C, and no call of a library that nobody wrote.
FLAGS = ["-O2", "-std=c90", "-pedantic", "-Wall", "-Wextra", "-Werror", "-march=rv32im", "-mabi=ilp32"]
FLAGS += ["-ffreestanding", "-nostdlib", "-fno-tree-loop-distribute-patterns", "-fno-inline"]
# Form, its source, and what is defined.
FORMS = {
    "reference": ("aes_reference.c", []),
    "tables": ("aes_tables.c", []),
    "molen": ("aes_reference.c", ["-DMOLEN"]),
    # AES in the unit: a block, the text in ECB, the text in CBC an execution.
    "block": ("aes_unit.c", ["-DMOLEN", "-DUNIT"]),
    "text": ("aes_unit.c", ["-DMOLEN", "-DUNIT", "-DWHOLE"]),
    "cbc": ("aes_unit.c", ["-DMOLEN", "-DUNIT", "-DWHOLE", "-DCBC"]),
}
# Programs by themselves, and words of their reports and of what they encipher.
PROGRAMS_ALONE = {"keys": (9, 12), "mix": (6, 10240)}
MOST_CLOCKS = 100_000_000
TEXT_WORDS, REPORT_WORDS = 1024, 6
# What a set takes in the mix of algorithms, in clocks.
SET_CLOCKS = (0, 1 << 9, 1 << 11, 1 << 13, 1 << 15, 1 << 17)
# What the paper's unit takes of its core's clocks of 1 ns: MixColumns and its inverse on Xilinx and Altera (Table II).
RUN_CLOCKS = (1, 13, 15, 16, 22)
# A text whose clocks are beside those of the first.
OTHER_SEED = 2
PARTIAL = 1 << 16
# Masks of what the unit is configured for, and the configurations of the library that would be loaded.
LOADED = {"aes": 1 << 2, "3des": 1 << 3, "idea": 1 << 4}
PROGRAMS = ROOT / STUDY / "programs.json"


@dataclass(frozen=True)
class Outcome:
    """Of one run: why it halted, clocks, instructions, sets and what they took; clocks by function; what was looked at."""

    cause: int
    clocks: int
    instructions: int
    sets: int
    set_clocks: int
    profile: dict[str, int]
    memory: list[list[int]]


def installed() -> bool:
    """Whether the compiler is there."""
    return shutil.which(COMPILER) is not None


def machine(run_clocks: int = 1) -> Path:
    """The machine in Verilator."""
    name = "molen" if run_clocks == 1 else f"molen-{run_clocks}"
    return harness.simulator(name, "molen_bench", [*RTL, BENCH], MAIN, {"RunClocks": run_clocks})


def build(form: str, seed: int = 1) -> Path:
    """A form as a program for the text of a seed: an image of words in hexadecimal, and the ELF file beside it."""
    if not installed():
        raise tools.ToolError(f"{COMPILER} is not installed: apt-get install gcc-riscv64-unknown-elf")
    if form in PROGRAMS_ALONE:
        sources, defines = [f"{form}.c"], []
    else:
        source, defines = FORMS[form]
        sources = ["main.c", "aes_field.c", source]
    folder = BUILD / "studies" / "molen-2003"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{form}-{seed}"
    elf, binary = folder / f"{name}.elf", folder / f"{name}.bin"
    files = [f"{STUDY}/c/{name}" for name in ("start.S", *sources)]
    command = [
        COMPILER,
        *FLAGS,
        *defines,
        f"-DSEED={seed}u",
        "-T",
        f"{STUDY}/c/machine.ld",
        *files,
        "-o",
        str(elf),
    ]
    tools.run(command, folder / f"{name}.gcc.log", cwd=ROOT)
    copy = [COMPILER.replace("gcc", "objcopy"), "-O", "binary", str(elf), str(binary)]
    tools.run(copy, folder / f"{name}.objcopy.log")
    data = binary.read_bytes()
    data += bytes(-len(data) % 4)
    image = folder / f"{name}.hex"
    image.write_text(
        "\n".join(f"{int.from_bytes(data[i : i + 4], 'little'):08x}" for i in range(0, len(data), 4))
    )
    return image


def symbols(image: Path) -> dict[str, tuple[int, int]]:
    """Addresses and sizes by name."""
    elf = image.with_suffix(".elf")
    said = tools.output([COMPILER.replace("gcc", "nm"), "--print-size", str(elf)])
    found = {}
    for line in said.splitlines():
        fields = line.split()
        if len(fields) == 4:
            found[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
    return found


def run(
    image: Path,
    bench: Path,
    set_clocks: int | dict[int, int] = 0,
    refuse: int = 0,
    functions: tuple[str, ...] = (),
    look: tuple[tuple[int, int], ...] = (),
) -> Outcome:
    """A program on the machine, until it halts. What sets take is one number, or one for each mask of operations (and
    PARTIAL, if the set is)."""
    if isinstance(set_clocks, dict):
        set_clocks = ",".join(["0", *(f"{mask:x}={clocks}" for mask, clocks in set_clocks.items())])
    where = symbols(image) if functions else {}
    ranges = [f"{where[name][0]:x}:{sum(where[name]):x}" for name in functions]
    pieces = [f"{at:x}={words}" for at, words in look]
    command = [
        str(bench),
        "run",
        str(image),
        str(MOST_CLOCKS),
        str(set_clocks),
        str(refuse),
        *ranges,
        *pieces,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise tools.ToolError(f"{' '.join(command)}: {done.stderr.strip()}")
    first, *lines = done.stdout.splitlines()
    profile = dict(zip(functions, map(int, lines[: len(functions)]), strict=True))
    memory = [[int(word, 16) for word in line.split()] for line in lines[len(functions) :]]
    return Outcome(*map(int, first.split()), profile, memory)


def inputs() -> str:
    """The digest of all that programs and machine are made of, comments left out of the RTL."""
    digest = hashlib.sha256()
    for path in [*RTL, BENCH]:
        digest.update(rtl.plain((ROOT / path).read_text()).encode())
    for path in sorted([*(ROOT / STUDY / "c").iterdir(), ROOT / MAIN]):
        digest.update(path.name.encode() + path.read_bytes())
    digest.update(repr((FLAGS, FORMS, PROGRAMS_ALONE, RUN_CLOCKS, SET_CLOCKS, OTHER_SEED)).encode())
    return digest.hexdigest()


def measure(form: str, run_clocks: int = 1, set_clocks: int = 0, seed: int = 1) -> dict:
    """The paper's benchmark in one form."""
    image = build(form, seed)
    where = symbols(image)
    functions = tuple(
        name
        for name in (
            "mix_columns",
            "inverse_mix_columns",
            "product",
            "substitution",
            "shift_rows",
            "add_round_key",
        )
        if name in where
    )
    look = tuple(
        (where[name][0], words) for name, words in (("report", REPORT_WORDS), ("cipher", TEXT_WORDS))
    )
    outcome = run(image, machine(run_clocks), set_clocks, functions=functions, look=look)
    report, cipher = outcome.memory
    if outcome.cause != 0 or report[2] != 1:
        raise tools.ToolError(
            f"{form}: the machine halted for cause {outcome.cause}; the text came back: {report[2]}"
        )
    return {
        "form": form,
        "run_clocks": run_clocks,
        "set_clocks": set_clocks,
        "seed": seed,
        "encrypt": report[0],
        "decrypt": report[1],
        "hits": report[3],
        "misses": report[4],
        "waited": report[5],
        "clocks": outcome.clocks,
        "instructions": outcome.instructions,
        "profile": outcome.profile,
        "cipher_sha256": hashlib.sha256(b"".join(w.to_bytes(4, "little") for w in cipher)).hexdigest(),
    }


def alone(program: str, set_clocks: int | dict[int, int] = 0) -> tuple[list[int], list[int], Outcome]:
    """What a program by itself reports, what it has enciphered, and how it went."""
    image = build(program)
    where = symbols(image)
    report, cipher = PROGRAMS_ALONE[program]
    look = ((where["report"][0], report), (where["cipher"][0], cipher))
    outcome = run(image, machine(), set_clocks, look=look)
    if outcome.cause != 0:
        raise tools.ToolError(f"{program}: the machine halted for cause {outcome.cause}")
    return outcome.memory[0], outcome.memory[1], outcome


def mix(set_clocks: int | dict[int, int]) -> dict:
    """Packets of four algorithms, where a set takes so many clocks."""
    names = ("hits", "misses", "waited", "sets", "words", "clocks")
    report, _, outcome = alone("mix", set_clocks)
    return dict(zip(names, report, strict=True)) | {"taken": outcome.set_clocks}


def loads() -> dict[str, int]:
    """Clocks of the machine that a whole load of a configuration takes, from the clock model that the library's loads
    have everywhere."""
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    said = json.loads(tools.output([ace, "study", "molen-2003", "--json"]))
    sets = said["sets"].get("Ok", [])
    found = {one["configuration"]: one["machine_clocks"] for one in sets}
    if found.keys() != LOADED.keys():
        raise tools.ToolError(
            f"`ace study molen-2003` says nothing of the loads of {', '.join(LOADED)}: build a library"
        )
    return found


def loaded() -> dict:
    """The packets, where a set takes what the load of its configuration does."""
    clocks = loads()
    return {"sets": clocks} | {"mix": mix({LOADED[name]: clocks[name] for name in LOADED})}


def keys() -> list[dict]:
    """AES under each size of a key."""
    report, *_ = alone("keys")
    names = ("first", "again", "block")
    sizes = (128, 192, 256)
    return [
        {"bits": bits, **dict(zip(names, report[3 * n : 3 * n + 3], strict=True))}
        for n, bits in enumerate(sizes)
    ]


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    try:
        found = [measure("reference"), measure("tables")]
        found += [measure("molen", clocks) for clocks in RUN_CLOCKS]
        found += [measure(form) for form in ("block", "text", "cbc")]
        found += [measure(form, seed=OTHER_SEED) for form in FORMS]
        for one in found:
            print(
                f"{one['form']}, {one['run_clocks']} clocks, text {one['seed']}: {one['encrypt']} and {one['decrypt']} clocks"
            )
        value = {
            "written_by": "python -m ace_flow.molen",
            "compiler": tools.output([COMPILER, "--version"]).splitlines()[0],
            "flags": " ".join(FLAGS),
            "verilator": tools.package_version("verilator"),
            "inputs": inputs(),
            "runs": found,
            "mix": [{"set_clocks": clocks} | mix(clocks) for clocks in SET_CLOCKS],
            "loaded": loaded(),
            "keys": keys(),
        }
        part = BUILD / "studies" / "molen-2003" / "programs.json"
        part.write_text(json.dumps(value, indent=1) + "\n")
        publish(part, PROGRAMS)
    except (tools.ToolError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
