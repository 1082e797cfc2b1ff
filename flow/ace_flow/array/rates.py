# SPDX-License-Identifier: Apache-2.0
"""What the array's slot takes for frames of every algorithm, in clocks of its simulated RTL: one frame alone, two, four,
eight and sixteen side by side, and 64 as fast as lanes come free, each a packet whose blocks wait for each other (CBC, a hash, or
an AEAD without AAD).

python -m ace_flow array-rates --ace target/release/ace [--tiles 1] [--ways 1] [--lanes 16] [--keep] [ALGORITHM:VARIANT …]

Where an algorithm's sets.toml has a second set of a variant, for latency, that is measured, too. All tiles hold the set. --keep writes
array/rates.json, from which `ace array table` has its rates, and is for the slot that is routed.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from random import Random

from ace_flow import algorithms, tools
from ace_flow.array import model
from ace_flow.array.frames import AEAD, Set, data, frame, key, key_of, load
from ace_flow.pages import results
from ace_flow.sim.frames import status
from ace_flow.sim.model import Model

# Bytes of a frame: as many as fit a lane's queue, so that the stream is not what frames wait for.
BYTES = 1536
PACKETS = (1, 2, 4, 8, 16, 64)


def variants() -> list[str]:
    """FILE:VARIANT of everything that the array serves; decryption takes as long."""
    tables = [(room.kind, room.table.get("array", {})) for room in algorithms.load()]
    served = [(kind, v) for of in ("variant", "aead") for kind, table in tables for v in table.get(of, [])]
    ending = {"cipher": "_encrypt", "hash": ""}
    return [f"{v['file'].removesuffix('.ace')}:{v['stem']}{ending[kind]}" for kind, v in served]


def sets() -> list[str]:
    known: set[str] = set()
    for path in algorithms.FOLDER.glob("*/array/sets.toml"):
        known |= algorithms.read(path)[1].keys()
    both = [[name, f"{name}_latency"] for name in variants()]
    return [name for names in both for name in names if name.split(":")[1] in known]


def measure(library: Path, tiles: int, which: Set) -> dict[str, int]:
    """Clocks from the first beat in to the last beat out, by the number of frames."""
    random, clocks = Random(1), {}
    mode = "hash" if which.hash else "cbc"

    def request(tag: int) -> bytes:
        if which.aead:
            text, nonce = random.randbytes(BYTES), random.randbytes(12)
            return frame(which.code, AEAD, text, tag=tag, iv=nonce, result=16)
        return data(which, mode, BYTES, random, tag)

    with Model(library) as slot:
        ready = [load(which.data, 1, tiles=(1 << tiles) - 1), key(which, key_of(which, random), 2)]
        for answer in slot.run(ready):
            if status(answer.response) != 0:
                raise tools.ToolError(f"{which.name}: a load or a key is refused, {status(answer.response)}")
        for count in PACKETS:
            answers = slot.run([request(tag) for tag in range(count)])
            if any(status(answer.response) != 0 for answer in answers):
                raise tools.ToolError(f"{which.name}: a frame is refused")
            first = min(answer.first_in for answer in answers)
            clocks[str(count)] = max(answer.last_out for answer in answers) - first + 1
    return clocks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    model.Parts.ask(parser)
    parser.add_argument("--keep", action="store_true", help="write array/rates.json")
    parser.add_argument(
        "names", nargs="*", help="sets, as aes:aes128_encrypt; default: one of each algorithm"
    )
    args = parser.parse_args()
    library, clocks = model.model(model.Parts.asked(args)), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or sets():
            which = Set.compiled(args.ace, name, Path(folder))
            clocks[which.name] = measure(library, args.tiles, which)
            print(json.dumps({which.name: clocks[which.name]}), flush=True)
    if args.keep:
        if model.Parts.asked(args) != model.SLOT:
            parser.error(f"array/rates.json is of `{model.SLOT.options}`")
        path = "array/rates.json"
        kept = {
            "recorded": results.record(path),
            "bytes": BYTES,
            "tiles": args.tiles,
            "ways": args.ways,
            "lanes": args.lanes,
            "clocks": clocks,
        }
        (tools.ROOT / path).write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
