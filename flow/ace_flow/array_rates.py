# SPDX-License-Identifier: Apache-2.0
"""What the array's slot takes for frames of every algorithm, in clocks of its simulated RTL: one frame alone, two, four,
eight and sixteen side by side, each a packet whose blocks wait for each other (CBC, or a hash).

python -m ace_flow.array_rates --ace target/release/ace [--keep] [ALGORITHM:VARIANT …]

Where array/sets.toml has a second set of a variant, for latency, that is measured, too. --keep writes array/rates.json, from
which `ace array table` has its rates.
"""

import argparse
import json
import os
import re
import tempfile
import tomllib
from pathlib import Path
from random import Random

from . import array, tools
from .array_frames import Set, data, key, key_of, load
from .frames import status
from .model import Model

KEPT = tools.ROOT / "array" / "rates.json"
# Bytes of a frame: as many as fit a lane's queue, so that the stream is not what frames wait for.
BYTES = 1536
PACKETS = (1, 2, 4, 8, 16)
VARIANTS = [
    *[f"aes:aes{bits}_encrypt" for bits in (128, 192, 256)],
    *["des:des_encrypt", "des:tdes_encrypt", "cast128:cast128_encrypt", "cast256:cast256_encrypt"],
    *["rc6:rc6_encrypt", "md5:md5", "sha1:sha1", "sha256:sha256", "sm4:sm4_encrypt", "idea:idea_encrypt"],
    *["mars:mars_encrypt", "serpent:serpent_encrypt"],
    *[f"twofish:twofish{bits}_encrypt" for bits in (128, 192, 256)],
]


def lanes() -> int:
    """Frames that the slot has in flight, as its source says."""
    said = re.search(r"Lanes = (\d+)", (array.RTL / "array_slot.sv").read_text())
    if said is None:
        raise tools.ToolError("rtl/array/array_slot.sv does not say how many lanes there are")
    return int(said[1])


def sets() -> list[str]:
    known = tomllib.loads((tools.ROOT / "array" / "sets.toml").read_text())
    both = [[name, f"{name}_latency"] for name in VARIANTS]
    return [name for names in both for name in names if name.split(":")[1] in known]


def measure(library: Path, which: Set) -> dict[str, int]:
    """Clocks from the first beat in to the last beat out, by the number of frames."""
    random, clocks = Random(1), {}
    mode = "hash" if which.hash else "cbc"
    with Model(library) as slot:
        ready = [load(which.data, 1), key(which, key_of(which, random), 2)]
        for answer in slot.run(ready):
            if status(answer.response) != 0:
                raise tools.ToolError(f"{which.name}: a load or a key is refused, {status(answer.response)}")
        for count in PACKETS:
            answers = slot.run([data(which, mode, BYTES, random, tag) for tag in range(count)])
            if any(status(answer.response) != 0 for answer in answers):
                raise tools.ToolError(f"{which.name}: a frame is refused")
            first = min(answer.first_in for answer in answers)
            clocks[str(count)] = max(answer.last_out for answer in answers) - first + 1
    return clocks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ace", default=os.environ.get("ACE_BIN", "ace"), help="the command line")
    parser.add_argument("--keep", action="store_true", help="write array/rates.json")
    parser.add_argument(
        "names", nargs="*", help="sets, as aes:aes128_encrypt; default: one of each algorithm"
    )
    args = parser.parse_args()
    library, clocks = array.model(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or sets():
            which = Set.compiled(args.ace, name, Path(folder))
            clocks[which.name] = measure(library, which)
            print(json.dumps({which.name: clocks[which.name]}), flush=True)
    if args.keep:
        kept = {"bytes": BYTES, "lanes": lanes(), "clocks": clocks}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
