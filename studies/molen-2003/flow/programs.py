# SPDX-License-Identifier: Apache-2.0
"""The Molen machine of the study of 2003: python -m ace_flow molen.

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
from pathlib import Path

from ace_flow import loader, rtl, study, tools
from ace_flow.layout import BUILD
from ace_flow.sim import harness
from ace_flow.tools import ROOT
from ace_studies.molen_2003.runs import Loads, Outcome

STUDY = "studies/molen-2003"
PARTS = (
    "molen_pkg",
    "mix_columns",
    "molen_ciphers",
    "molen_round",
    "molen_hash",
    "molen_residence",
    "molen_unit",
    "molen_core",
    "molen_machine",
)
# The library's serial cores, which the unit may be configured for.
CORES = [
    *("rtl/slot/core_pkg", "rtl/prim/init_lut", "rtl/prim/ram_logic"),
    *(
        f"algorithms/aes/rtl/aes_{part}"
        for part in ("pkg", "sbox_ebr", "sbox_tower", "sbox", "key_schedule", "core")
    ),
    *(f"algorithms/des/rtl/des_{part}" for part in ("pkg", "keys", "serial", "unrolled", "core")),
    *(f"algorithms/idea/rtl/idea_{part}" for part in ("pkg", "mul", "subkeys", "core")),
    *("rtl/hash/hash_control", "algorithms/sha1/rtl/sha1_pkg", "algorithms/sha1/rtl/sha1_core"),
]
# Who answers the unit's sets: the loader of the library's configurations.
LOADER = [source for source in loader.SOURCES if source.startswith("rtl/")]
RTL = [
    *(f"{core}.sv" for core in CORES),
    *LOADER,
    *(f"{STUDY}/rtl/{part}.sv" for part in PARTS),
]
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
    # A round of AES in the unit.
    "round": ("aes_round.c", ["-DMOLEN", "-DUNIT"]),
    # AES in the unit: a block, the text in ECB, the text in CBC an execution.
    "block": ("aes_unit.c", ["-DMOLEN", "-DUNIT"]),
    "text": ("aes_unit.c", ["-DMOLEN", "-DUNIT", "-DWHOLE"]),
    "cbc": ("aes_unit.c", ["-DMOLEN", "-DUNIT", "-DWHOLE", "-DCBC"]),
}
# Programs by themselves, and words of their reports and of what they encipher.
PROGRAMS_ALONE = {"keys": (9, 12), "mix": (10, 10240), "size": (2, 12), "hash": (3, 15), "rijndael": (13, 18)}
# Sources that they need besides.
WITH = {"rijndael": ["aes_field.c"]}
MOST_CLOCKS = 100_000_000
TEXT_WORDS, REPORT_WORDS = 1024, 6
# What a set takes in the mix of algorithms, in clocks.
SET_CLOCKS = (0, 1 << 9, 1 << 11, 1 << 13, 1 << 15, 1 << 17)
# What the paper's unit takes of its core's clocks of 1 ns: MixColumns and its inverse on Xilinx and Altera (Table II).
RUN_CLOCKS = (1, 13, 15, 16, 22)
OTHER_SEED = 2  # a text whose clocks are beside those of the first
PARTIAL = 1 << 16
# The library's configurations that sets load, also a few frames over another one, and what the unit then can do.
CAN = {"aes": 1 << 2, "aes-256-ctr": 1 << 2, "3des": 1 << 3, "des-cbc": 1 << 7, "idea": 1 << 4}
# Of their keys, if it is not 16.
KEY_BYTES = {"3des": 24, "des-cbc": 8}
# Of the programs that name lists, those in the order of set_lists.
LISTS = {
    "mix": ("aes", "3des", "des-cbc", "idea", "3des:des-cbc", "des-cbc:3des"),
    "size": ("aes", "aes-256-ctr:aes", "aes-256-ctr"),
}
# Bytes between loader and port: a block RAM.
BUFFER = 2048
PROGRAMS = ROOT / STUDY / "programs.json"


def installed() -> bool:
    """Whether the compiler is there."""
    return shutil.which(COMPILER) is not None


def machine() -> Path:
    """The machine in Verilator."""
    return harness.simulator("molen", "molen_bench", [*RTL, BENCH], MAIN)


def build(form: str, seed: int = 1) -> Path:
    """A form as a program for the text of a seed: an image of words in hexadecimal, and the ELF file beside it."""
    if not installed():
        raise tools.ToolError(f"{COMPILER} is not installed: apt-get install gcc-riscv64-unknown-elf")
    if form in PROGRAMS_ALONE:
        sources, defines = [f"{form}.c", *WITH.get(form, [])], []
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
    output = tools.output([COMPILER.replace("gcc", "nm"), "--print-size", str(elf)])
    found = {}
    for line in output.splitlines():
        fields = line.split()
        if len(fields) == 4:
            found[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
    return found


def ace() -> str:
    """The command line of this checkout."""
    return os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))


def loads() -> Loads:
    """The library's configurations for the bench: the loader's memory, lists, what the port is given, and clocks."""
    routed = json.loads((ROOT / STUDY / "results.json").read_text())["designs"]
    mhz = next(design["median"]["fmax_mhz"] for design in routed if design["name"] == "machine")
    folder = BUILD / "studies" / "molen-2003" / "loads"
    wanted = sorted({one for lists in LISTS.values() for one in lists})
    output = json.loads(tools.output([ace(), "library", "loader", "--json", "--out", str(folder), *wanted]))
    clocks = [round(1e6 / of) for of in (mhz, output["loader_mhz"], output["port_mhz"])]
    path = folder / "loads"

    def write(ports: dict[int, str]) -> None:
        lines = [f"{output['memory']} {' '.join(map(str, clocks))} {output['dictionary']} {BUFFER}"]
        for load in output["loads"]:
            port = load["port"] or ports.get(load["list"], "-")
            lines.append(f"{load['list']} {CAN[load['name']]:x} {load['name']} {load['over'] or '-'} {port}")
        path.write_text("\n".join([*lines, ""]))

    # Of those that are made by writing over another one, what is written is looked at by what it leaves.
    write({})
    ports = {}
    for load in output["loads"]:
        if load["port"]:
            continue
        bits = folder / f"{load['name']}.bit"
        with bits.open("wb") as out:
            subprocess.run([str(machine()), "load", str(path), str(load["list"])], stdout=out, check=True)
        found = json.loads(tools.output([ace(), "inspect", "--json", str(bits)]))
        if found["memory_sha256"] != load["memory_sha256"]:
            raise tools.ToolError(f"what the loader writes is not {load['name']}")
        load["port_bytes"] = bits.stat().st_size
        ports[load["list"]] = str(bits)
    write(ports)
    return Loads(path, mhz, output["loads"])


def with_lists(image: Path, program: str, loads: Loads) -> Path:
    """The program with the addresses of its lists in set_lists."""
    at = symbols(image)["set_lists"][0] // 4
    words = image.read_text().split()
    words += ["0"] * (at + len(LISTS[program]) - len(words))
    for n, wanted in enumerate(LISTS[program]):
        words[at + n] = f"{loads.list(wanted):08x}"
    patched = image.with_suffix(".lists.hex")
    patched.write_text("\n".join(words))
    return patched


def run(
    image: Path,
    bench: Path,
    set_clocks: int | dict[int, int] | Loads = 0,
    refuse: int = 0,
    functions: tuple[str, ...] = (),
    look: tuple[tuple[int, int], ...] = (),
    run_clocks: int = 1,
) -> Outcome:
    """A program on the machine, until it halts. What sets take is one number, or one for each mask of operations (and
    PARTIAL, if the set is), or they are carried out by the loader."""
    if isinstance(set_clocks, Loads):
        set_clocks = f"@{set_clocks.path}"
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
        str(run_clocks),
        str(set_clocks),
        str(refuse),
        *ranges,
        *pieces,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise tools.ToolError(f"{' '.join(command)}: {done.stderr.strip()}")
    first, outorder, *lines = done.stdout.splitlines()
    profile = dict(zip(functions, map(int, lines[: len(functions)]), strict=True))
    memory = [[int(word, 16) for word in line.split()] for line in lines[len(functions) :]]
    return Outcome(*map(int, first.split()), profile, memory, list(map(int, outorder.split()))[1:])


def inputs() -> str:
    """The digest of all that programs and machine are made of, comments left out of the RTL."""
    digest = hashlib.sha256()
    for path in [*RTL, BENCH]:
        digest.update(rtl.plain((ROOT / path).read_text()).encode())
    for path in sorted([*(ROOT / STUDY / "c").iterdir(), *(ROOT / STUDY / "test").iterdir()]):
        digest.update(path.name.encode() + path.read_bytes())
    digest.update(
        repr((FLAGS, FORMS, PROGRAMS_ALONE, RUN_CLOCKS, SET_CLOCKS, OTHER_SEED, CAN, LISTS, BUFFER)).encode()
    )
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
    outcome = run(image, machine(), set_clocks, functions=functions, look=look, run_clocks=run_clocks)
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
        "outorder": [end - start for start, end in zip(outcome.marks[::2], outcome.marks[1::2], strict=True)],
        "clocks": outcome.clocks,
        "instructions": outcome.instructions,
        "profile": outcome.profile,
        "cipher_sha256": hashlib.sha256(b"".join(w.to_bytes(4, "little") for w in cipher)).hexdigest(),
    }


def alone(program: str, set_clocks: int | dict[int, int] | Loads = 0) -> tuple[list[int], list[int], Outcome]:
    """What a program by itself reports, what it has enciphered, and how it went."""
    image = build(program)
    where = symbols(image)
    report, cipher = PROGRAMS_ALONE[program]
    look = ((where["report"][0], report), (where["cipher"][0], cipher))
    if isinstance(set_clocks, Loads):
        image = with_lists(image, program, set_clocks)
    outcome = run(image, machine(), set_clocks, look=look)
    if outcome.cause != 0:
        raise tools.ToolError(f"{program}: the machine halted for cause {outcome.cause}")
    return outcome.memory[0], outcome.memory[1], outcome


MIX = ("hits", "misses", "waited", "sets", "words", "clocks", "taken")
MIX_PARTIAL = ("partial", "partial_waited", "partial_taken")


def mix(set_clocks: int | Loads) -> dict:
    """Packets of four algorithms, where a set takes so many clocks or is carried out."""
    report, _, outcome = alone("mix", set_clocks)
    return dict(zip(MIX + MIX_PARTIAL, report, strict=True)) | {"port_bytes": outcome.port_bytes}


def loaded(given: Loads) -> dict:
    """The packets, and a key of another size, where each set is carried out by the loader."""
    report, *_ = alone("size", given)
    return {
        "machine_mhz": given.machine_mhz,
        "buffer": BUFFER,
        "mix": mix(given),
        "size": dict(zip(("partial", "whole"), report, strict=True)),
        "sets": [set_alone(given, load) for load in given.loads],
    }


def set_alone(given: Loads, load: dict) -> dict:
    """What one set takes, with nothing beside it: behind that of what it is written over, if it is a partial one."""
    name, over = load["name"], load["over"]
    wanted = [over, f"{name}:{over}"] if over else [name]
    took = []
    for count in range(len(wanted)):
        # x1 is the microcode, x2 the list; an execution behind each set waits for it.
        code, pieces = [], {}
        for n, one in enumerate(wanted[: count + 1]):
            at = 0x400 + 0x40 * n
            can = CAN[one.partition(":")[0]]
            pieces[at] = [0xA5000002, 0x50000000 | can, 0]
            number, partial = given.list(one), n > 0
            code += [
                0x37 | 2 << 7 | ((number + 0x800) & 0xFFFFF000),
                0x13 | 2 << 7 | 2 << 15 | (number & 0xFFF) << 20,
            ]
            code += [0x13 | 1 << 7 | at << 20, 0x0B | (0 if partial else 1) << 12 | 1 << 15 | 2 << 20]
        # A set is waited for by the next one, and by the key behind them all.
        key = 0x30000000 | KEY_BYTES.get(name, 16) << 10 | CAN[name].bit_length()
        pieces[0x600] = [0xA5000002, key, 0]
        code += [0x13 | 1 << 7 | 0x600 << 20, 0x0B | 2 << 12 | 1 << 15, 0x00100073]
        words = code + [0] * 0x200
        for at, piece in pieces.items():
            words[at // 4 : at // 4 + len(piece)] = piece
        image = given.path.with_suffix(".hex")
        image.write_text("\n".join(f"{word:08x}" for word in words))
        took.append(run(image, machine(), given))
    last = took[-1]
    if last.cause != 0:
        raise tools.ToolError(f"the set of {name} ended with cause {last.cause}")
    clocks = last.set_clocks - (took[0].set_clocks if over else 0)
    return {key: load[key] for key in ("name", "over", "port_bytes", "loader_clocks", "microseconds")} | {
        "clocks": clocks
    }


def sha1() -> dict:
    """SHA-1 in C, with a block and with the text in an execution."""
    report, *_ = alone("hash")
    return dict(zip(("software", "block", "text"), report, strict=True))


def keys() -> list[dict]:
    """AES under each size of a key."""
    report, *_ = alone("keys")
    names = ("first", "again", "block")
    sizes = (128, 192, 256)
    return [
        {"bits": bits, **dict(zip(names, report[3 * n : 3 * n + 3], strict=True))}
        for n, bits in enumerate(sizes)
    ]


def rijndael() -> list[dict]:
    """Rijndael with each size of block: clocks of a block in software and with MixColumns in the unit, there and back."""
    report, cipher, _ = alone("rijndael")
    if report[12] != 1:
        raise tools.ToolError("rijndael: a block did not come back, or the unit made another one")
    found, at = [], 0
    for size, bits in enumerate((128, 192, 256)):
        words = bits // 32
        text = b"".join(word.to_bytes(4, "little") for word in cipher[at : at + words])
        at += words
        clocks = report[4 * size : 4 * size + 4]
        found.append({"block_bits": bits, "software": clocks[:2], "unit": clocks[2:], "cipher": text.hex()})
    return found


def find() -> dict:
    """What is written: every form of the program, the mix with sets of each length and by the loader, keys, the hash."""
    found = [measure("reference"), measure("tables")]
    found += [measure("molen", clocks) for clocks in RUN_CLOCKS]
    found += [measure(form) for form in ("round", "block", "text", "cbc")]
    found += [measure(form, seed=OTHER_SEED) for form in FORMS]
    for one in found:
        print(
            f"{one['form']}, {one['run_clocks']} clocks, text {one['seed']}: {one['encrypt']} and {one['decrypt']} clocks"
        )
    return {
        "written_by": "python -m ace_flow molen",
        "compiler": tools.output([COMPILER, "--version"]).splitlines()[0],
        "flags": " ".join(FLAGS),
        "verilator": tools.package_version("verilator"),
        "inputs": inputs(),
        "runs": found,
        "mix": [{"set_clocks": clocks} | mix(clocks) for clocks in SET_CLOCKS],
        "loaded": loaded(loads()),
        "keys": keys(),
        "sha1": sha1(),
        "rijndael": rijndael(),
    }


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    return study.outcome(PROGRAMS, BUILD / "studies" / "molen-2003", find)


if __name__ == "__main__":
    sys.exit(main())
