# SPDX-License-Identifier: Apache-2.0
"""The data paths of the study of 2004 against IDEA as its definition has it."""

import json
import random
import subprocess
import unittest

from ace_flow import study
from ace_flow.sim import harness
from ace_studies.idea_2004 import constant_key
from ace_studies.idea_2004.idea import encrypt, number, phase, subkeys, words

FOLDER = "studies/idea-2004"
PARTS = ("idea_paths_pkg", "idea_multiply", "idea_phase", "idea_paths", "idea_stages", "idea_substages")
SOURCES = [*(f"{FOLDER}/rtl/{name}.sv" for name in (*PARTS, "idea_unit")), f"{FOLDER}/test/idea_bench.sv"]
# Clocks from block to result, and from result to result, as the headers say.
CLOCKS = [("117", "117"), ("58", "58"), ("73", "8"), ("108", "1")]


class IdeaPaths(unittest.TestCase):
    def test_every_path_is_idea_in_the_clocks_that_it_says(self) -> None:
        bench = harness.simulator("idea-paths", "idea_bench", SOURCES, f"{FOLDER}/test/bench.cc")
        rng = random.Random(4)
        # Lai's own example; words of zero; all ones; random keys and blocks.
        lai = 0x0001_0002_0003_0004_0005_0006_0007_0008
        self.assertEqual(encrypt(0x0000_0001_0002_0003, subkeys(lai)), 0x11FB_ED2B_0198_6DE5)
        for key in (lai, 0, (1 << 128) - 1, rng.getrandbits(128), rng.getrandbits(128)):
            z = subkeys(key)
            blocks = [0x0000_0001_0002_0003, 0, (1 << 64) - 1, 0x0000_FFFF_0000_0001]
            blocks += [rng.getrandbits(64) & ~(0xFFFF << 16 * rng.randrange(8)) for _ in range(40)]
            text = " ".join([*(f"{k:x}" for k in z), str(len(blocks)), *(f"{b:x}" for b in blocks)])
            ran = subprocess.run([str(bench)], input=text, capture_output=True, text=True, check=True)
            *paths, phases = [line.split() for line in ran.stdout.splitlines()]
            wanted = [f"{encrypt(block, z):016x}" for block in blocks]
            self.assertEqual([tuple(path[:2]) for path in paths], CLOCKS)
            for path in paths:
                self.assertEqual(path[2:], wanted)
            self.assertEqual(phases, [f"{number(phase(words(b), z[:6])):016x}" for b in blocks])

    def test_constant_keys_make_idea_of_each(self) -> None:
        parts = ("idea_constant_multiply", "idea_constant_add", "idea_constant_phase", "idea_constant")
        sources = ["rtl/prim/init_lut.sv", f"{FOLDER}/rtl/idea_paths_pkg.sv"]
        sources += [*(f"{FOLDER}/rtl/{name}.sv" for name in parts), f"{FOLDER}/test/constant_bench.sv"]
        bench = harness.simulator(
            "idea-constant", "constant_bench", sources, f"{FOLDER}/test/constant_bench.cc"
        )
        rng = random.Random(6)
        blocks = [0x0000_0001_0002_0003, 0, (1 << 64) - 1]
        blocks += [rng.getrandbits(64) & ~(0xFFFF << 16 * rng.randrange(8)) for _ in range(60)]
        text = " ".join([str(constant_key.LATENCY), *(f"{b:x}" for b in blocks)])
        ran = subprocess.run([str(bench)], input=text, capture_output=True, text=True, check=True)
        lai, other = 0x0001_0002_0003_0004_0005_0006_0007_0008, 0x9F3C_0000_71D4_FFFF_2B08_0001_C6AA_5E97
        for key, line in zip((0, (1 << 128) - 1, lai, other), ran.stdout.splitlines(), strict=True):
            self.assertEqual(line.split(), [f"{encrypt(b, subkeys(key)):016x}" for b in blocks], hex(key))

    def test_the_contents_of_a_key_are_tables_of_its_products(self) -> None:
        z = list(range(1, 53))
        name = "gen_phase[2].u_phase.u_d.gen_part[1].gen_bit[7].u_key"
        table = constant_key.contents(name, z)
        self.assertEqual([table >> n & 1 for n in range(16)], [(16 * n * 16) >> 7 & 1 for n in range(16)])
        # A subkey of 0 stands for 2^16, which is -1; a sum's is what it is.
        table = constant_key.contents("gen_product[1].u_product.gen_part[0].gen_bit[16].u_key", [0] * 52)
        self.assertEqual(table, 1 << 1)
        self.assertEqual(constant_key.contents("u_c.gen_bit[1].u_key", z), 0xFFFF * (51 >> 1 & 1))
        with self.assertRaisesRegex(RuntimeError, "no LUT of the key"):
            constant_key.contents("u_x", z)

    def test_what_the_study_prints_of_constant_keys_is_of_these_sources(self) -> None:
        known = json.loads(constant_key.RESULT.read_text())
        fresh = {source: study.digest(source) for source in known["sources"]}
        self.assertEqual(known["sources"], fresh, "run `python -m ace_flow constant-key`")


if __name__ == "__main__":
    unittest.main()
