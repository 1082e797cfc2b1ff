# SPDX-License-Identifier: Apache-2.0
"""The paper's three ways in around its three data paths, simulated: python -m ace_flow idea-ways prints as JSON.

Of each way, path and mode: clocks for the paper's text, accesses that were counted, and whether every block is right. An
access takes so many clocks of 20 MHz as the study's model has fitted to the paper's cells, or one.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterable

from ace_flow.sim import harness
from ace_studies.idea_2004.idea import encrypt, subkeys

FOLDER = "studies/idea-2004"
PARTS = ("idea_paths_pkg", "idea_multiply", "idea_phase", "idea_paths", "idea_ways")
SOURCES = [f"{FOLDER}/rtl/{name}.sv" for name in PARTS]
BENCH = f"{FOLDER}/test/ways_bench.cc"
PATHS = ("S", "SR", "P")
# Bits of an access.
WAYS = {"memory": 32, "port": 8, "array": 32}
MODES = ("ecb", "cbc", "cfb", "ofb")
# Groups of the array: characters of the paper's, in blocks.
DEPTH = {"S": 1496 // 8, "SR": 1496 // 8, "P": 1200 // 8}
BLOCKS = 31880 // 8


def enciphered(mode: str, blocks: Iterable[int], iv: int, z: list[int]) -> list[int]:
    """A text in a mode (NIST SP 800-38A)."""
    found, before = [], iv
    for block in blocks:
        if mode == "ecb":
            found.append(encrypt(block, z))
        elif mode == "cbc":
            before = encrypt(block ^ before, z)
            found.append(before)
        else:
            made = encrypt(before, z)
            found.append(made ^ block)
            before = found[-1] if mode == "cfb" else made
    return found


def run(path: str, way: str, mode: str, blocks: list[int], access: int = 1, copies: int = 1) -> dict:
    """A text through one of them; raises RuntimeError where a block is wrong."""
    values = {"Path": PATHS.index(path), "Way": list(WAYS).index(way), "Mode": MODES.index(mode)}
    values |= {"Copies": copies, "Depth": DEPTH[path]}
    name = f"idea-ways-{path}-{way}-{mode}-{copies}".lower()
    bench = harness.simulator(name, "idea_ways", SOURCES, BENCH, values)
    rng = random.Random(7)
    z, iv = subkeys(rng.getrandbits(128)), rng.getrandbits(64)
    words = [str(WAYS[way]), str(access), f"{iv:x}", *(f"{k:x}" for k in z), str(len(blocks))]
    text = " ".join([*words, *(f"{block:x}" for block in blocks)])
    done = subprocess.run([str(bench)], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.stdout.strip()} (exit {done.returncode})")
    clocks, reads, writes, *results = done.stdout.split()
    if [int(result, 16) for result in results] != enciphered(mode, blocks, iv, z):
        raise RuntimeError(f"{name}: a block is not IDEA's")
    return {
        "path": path,
        "way": way,
        "mode": mode,
        "copies": copies,
        "access_clocks": access,
        "blocks": len(blocks),
        "clocks": int(clocks),
        "accesses": [int(reads), int(writes)],
    }


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    rng = random.Random(11)
    text = [rng.getrandbits(64) for _ in range(BLOCKS)]
    rows = []
    for path in PATHS:
        for way in WAYS:
            for mode in MODES:
                rows.append(run(path, way, mode, text))
                print(f"{path}, {way}, {mode}: {rows[-1]['clocks']} clocks", file=sys.stderr, flush=True)
            rows.append(run(path, way, "ecb", text[: BLOCKS // 2 * 2], copies=2))
    print(json.dumps({"rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
