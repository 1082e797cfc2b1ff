# SPDX-License-Identifier: Apache-2.0
"""One bit of one table is another one, and only where its inputs can choose it."""

import tempfile
import unittest
from pathlib import Path

from ace_flow import tools
from ace_flow.array.netlist import bits, mutate

NETLIST = r"""module array_tile_netlist(a, z);
  LUT4 #(
    .INIT(16'hcaca)
  ) \gen_alu[0].u_pair  (
    .A(a),
    .B(a),
    .C(a),
    .D(1'h1),
    .Z(z)
  );
endmodule
"""


class Mutants(unittest.TestCase):
    def path(self) -> Path:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "netlist.v"
        path.write_text(NETLIST)
        return path

    def test_half_of_a_table_is_never_read_where_an_input_is_constant(self) -> None:
        self.assertEqual(bits("    .A(x),\n    .D(1'h1),\n"), list(range(8, 16)))
        self.assertEqual(bits("    .A(1'h0),\n    .B(1'h1),\n"), [2, 6, 10, 14])
        self.assertEqual(bits("    .A(x),\n"), list(range(16)))

    def test_the_table_keeps_its_name_and_pins(self) -> None:
        mutated, names = mutate(self.path(), 1)
        text = mutated.read_text()
        self.assertRegex(names[0], r"^bit (8|9|1[0-5]) of 16'hcaca in \\gen_alu\[0\]\.u_pair$")
        self.assertRegex(
            text, r"ace_mutant #\(\.INIT\(16'hcaca\), \.WHICH\(0\), \.BIT\(\d+\)\) \\gen_alu\[0\]\.u_pair \("
        )
        self.assertIn("    .D(1'h1),\n    .Z(z)\n  );\n  ace_mutant_choice u_choice ();\nendmodule", text)
        self.assertNotIn("LUT4", text)

    def test_more_than_there_are_is_an_error(self) -> None:
        with self.assertRaises(tools.ToolError):
            mutate(self.path(), 2)


if __name__ == "__main__":
    unittest.main()
