# SPDX-License-Identifier: Apache-2.0
"""The way of a key into bits, with one phase of IDEA: placed and routed once, keys by frames, and what is refused."""

import json
import random
import re
import subprocess
import unittest
from pathlib import Path

from ace_flow import configurations, study, tools
from ace_flow.design import KEPT
from ace_flow.place import route
from ace_flow.synth import lut_init
from ace_studies.idea_2004 import constant_bits, constant_key
from ace_studies.idea_2004.constant_bits import PAIRS, PHASE, PROBE, Routed, _moved

FOLDER = constant_bits.FOLDER
RANDOM = random.Random(9)
KEY, OTHER = RANDOM.getrandbits(128), RANDOM.getrandbits(128)


class WhereInputsAre(unittest.TestCase):
    def test_a_probe_tells_where_the_router_has_put_inputs(self) -> None:
        bels = {"a": "X10/Y11/SLICEA.K0", "b": "X10/Y11/SLICED.K1"}
        exchanged, joined = _moved(PROBE, (2, 0, 3, 1)), _moved(PROBE, (3, 3, 1, 1))
        config = f".tile R11C10:PLC2\nword: SLICEA.K0.INIT {exchanged:016b}\n"
        config += f"word: SLICED.K1.INIT {joined:016b}\n"
        self.assertEqual(constant_bits.inputs(config, bels), {"a": (2, 0, 3, 1), "b": (3, 3, 1, 1)})
        self.assertIn((3, 3, 1, 1), PAIRS)
        with self.assertRaisesRegex(lut_init.KeptError, "1 LUTs do not say where their inputs are, b first"):
            constant_bits.inputs(config.replace(f"{joined:016b}", "0" * 16), bels)

    def test_what_the_study_prints_is_of_these_sources(self) -> None:
        known = json.loads(constant_bits.RESULT.read_text())
        fresh = {source: study.digest(source) for source in [*constant_key.SOURCES, KEPT]}
        self.assertEqual(known["sources"], fresh, "run `python -m ace_flow constant-bits`")
        self.assertEqual([found["seed"] for found in known["routes"]], list(constant_bits.SEEDS))


@unittest.skipUnless(Path(constant_bits.ace()).exists(), "ace is not built")
class KeysInBits(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.made = Routed(PHASE, configurations.TRYING[0], FOLDER)
        cls.bits = FOLDER / "phase-key.bit"
        cls.record = cls.made.rekey(KEY, "--held", f"{OTHER:032x}", "--show", "-o", str(cls.bits))

    def look(self, bits: Path, key: int) -> str:
        """Why `ace rekey` refuses bits."""
        command = [constant_bits.ace(), "rekey", str(self.made.bits), "--places", str(self.made.places)]
        command += ["--key", f"{key:032x}", "--look", str(bits)]
        done = subprocess.run(command, check=False, cwd=tools.ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stdout

    def changed(self, digit: str) -> Path:
        """A bitstream with right CRCs of a design in whose text a digit, behind this, is the other one."""
        text = self.bits.with_suffix(".config")
        call = [tools.tool("yowasp-ecpunpack"), *(str(p.relative_to(tools.ROOT)) for p in (self.bits, text))]
        tools.run(call, text.with_suffix(".log"), cwd=tools.ROOT)
        other = lambda found: found[1] + "10"[int(found[2])]
        config, count = re.subn(f"({digit})([01])", other, text.read_text(), count=1)
        self.assertEqual(count, 1)
        text.write_text(config)
        bits = self.bits.with_suffix(".changed.bit")
        route.pack(text, bits, text.with_suffix(".log"))
        return bits

    def test_a_key_comes_by_frames_and_the_bits_are_that_cipher(self) -> None:
        self.assertGreater(self.record["blocks"], 1000)
        self.assertEqual(self.record["luts"], constant_bits.PHASE_LUTS)
        delta = self.record["delta"]
        self.assertTrue(0 < delta["frames"] <= 64)
        self.assertLess(10 * delta["bytes"], delta["whole_bytes"])
        # What is in the slot does not depend on what was there.
        self.assertEqual(self.made.rekey(KEY)["memory_sha256"], self.record["memory_sha256"])
        seen = self.made.rekey(KEY, "--look", str(self.bits))
        self.assertEqual(seen["memory_sha256"], self.record["memory_sha256"])

    def test_placed_bits_and_those_of_a_key_are_proven(self) -> None:
        placed = self.made.prove(self.made.bits, lambda _: PROBE)
        self.assertEqual(placed["memory_sha256"], self.record["placed_sha256"])
        proof = self.made.prove(self.bits, self.made.contents(KEY))
        self.assertEqual(proof["memory_sha256"], self.record["memory_sha256"])
        self.assertGreater(proof["points"], 500)
        with self.assertRaises(tools.ToolError):
            self.made.prove(self.bits, self.made.contents(OTHER))

    def test_the_bits_of_another_key_are_refused(self) -> None:
        self.assertRegex(self.look(self.bits, OTHER), r"LUTs do not hold what the key makes, R\d+C10:PLC2")
        self.assertRegex(self.look(self.bits, KEY ^ 1 << 127), r"of the key's 368 LUTs do not hold")

    def test_a_flipped_bit_inside_or_outside_is_refused(self) -> None:
        word = r":PLC2\n(?:.+\n)*?word: SLICE"
        inside = self.look(self.changed(rf"\.tile R11C10{word}A\.K0\.INIT [01]{{15}}"), KEY)
        self.assertIn("1 of the key's 368 LUTs do not hold what the key makes, R11C10:PLC2.K0", inside)
        # A slice of another column.
        outside = self.look(self.changed(rf"\.tile R\d+C1[1-9]{word}.\.K.\.INIT [01]{{15}}"), KEY)
        self.assertIn("outside the key's LUTs", outside)


if __name__ == "__main__":
    unittest.main()
