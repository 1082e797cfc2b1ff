# SPDX-License-Identifier: Apache-2.0
"""The key-independence test itself: it finds what leaks, each kind of it, and nothing where nothing leaks."""

import re
import tempfile
import unittest
from pathlib import Path
from random import Random

from ace_flow import configurations, tools
from ace_flow.configurations import Capability, Configuration
from ace_flow.layout import BUILD, RUNTIME
from ace_flow.noninterference import pairs
from ace_flow.noninterference.frames import frames
from ace_flow.noninterference.runs import differing
from ace_flow.noninterference.slot import Item
from ace_flow.sim import verilate

SOURCE = "flow/tests/rtl/leaky_slot.sv"
TOP = "leaky_slot"


def design(code: int) -> Configuration:
    """A row for leaky_slot with one of its leaks."""
    return Configuration(
        name=f"leaky-{code}",
        summary="",
        top=TOP,
        sources=(SOURCE,),
        parameters={},
        synth=(),
        passes=(),
        frequency_mhz=100,
        seeds=(1,),
        sets=("library",),
        shape="iterative",
        in_flight=1,
        can=(
            Capability("leaky", code, "cipher", 8, (16, 24), ("encrypt", "decrypt"), ("ecb", "cbc", "ctr")),
        ),
    )


class Leaks(unittest.TestCase):
    """One model, which leaks in the way that the algorithm's code asks for."""

    @classmethod
    def setUpClass(cls) -> None:
        BUILD.mkdir(exist_ok=True)
        cls.folder = tempfile.TemporaryDirectory(dir=BUILD, prefix="test-independence-")
        work = Path(cls.folder.name)
        runtime = RUNTIME
        if not RUNTIME.exists():
            runtime = work / "runtime.o"
            verilate.build_runtime(runtime, work / "runtime.log")
        cls.library = work / "leaky.so"
        log = work / "log"
        verilate.build_model(TOP, [tools.ROOT / SOURCE], {}, cls.library, runtime, log, "netlist_model")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def found(self, code: int) -> dict[str, set[str]]:
        runs = pairs.examine(self.library, design(code), 20_000)
        return {path: set(f.events) for path, f in runs.findings.items()}

    def test_nothing_is_found_where_nothing_leaks(self) -> None:
        self.assertEqual(self.found(1), {})

    def test_a_key_on_the_bus_is_found(self) -> None:
        self.assertEqual(set(self.found(2)), {"pin m_axis_tdata"})

    def test_time_that_depends_on_the_key_is_found(self) -> None:
        self.assertIn("pin m_axis_tvalid", self.found(3))

    def test_a_memory_that_a_wipe_leaves_is_found(self) -> None:
        found = self.found(4)
        self.assertEqual(set(found), {"leaky_slot.memory", "the answer"})
        self.assertEqual(found["leaky_slot.memory"], {pairs.WIPE, pairs.CUT})

    def test_a_register_that_a_reset_leaves_is_found(self) -> None:
        found = self.found(5)
        self.assertEqual(set(found), {"leaky_slot.key_q", "the answer"})
        self.assertEqual(found["leaky_slot.key_q"], {pairs.RESET_IDLE, pairs.RESET_BUSY})

    def test_a_key_cut_short_that_stays_is_found(self) -> None:
        found = self.found(6)
        self.assertLessEqual({"leaky_slot.key_q", "leaky_slot.memory"}, set(found))
        self.assertEqual(found["leaky_slot.memory"], {pairs.CUT})

    def test_what_is_found_has_its_place(self) -> None:
        runs = pairs.examine(self.library, design(4), 20_000)
        text = str(runs.findings["leaky_slot.memory"])
        self.assertRegex(text, r"^leaky_slot\.memory word 0 bits 0x[0-9a-f]+ and \d+ more words? differs ")


class Parts(unittest.TestCase):
    """What needs no model."""

    def test_frames_differ_in_secrets_alone(self) -> None:
        for row in configurations.load().values():
            for frame in frames(row.can):
                one, other = (frame.beats(7, Random(k), Random(k + 1)) for k in (1, 3))
                self.assertEqual(one[:2], other[:2], frame)
                self.assertEqual([last for _, last in one], [last for _, last in other], frame)
                self.assertEqual([last for _, last in one], [False] * (len(one) - 1) + [True])

    def test_frames_have_all_that_a_configuration_can(self) -> None:
        for row in configurations.load().values():
            kinds = frames(row.can)
            for can in row.can:
                of = [f for f in kinds if f.code == can.code]
                self.assertLessEqual({*can.modes, *can.operations}, {f.operation for f in of}, row.name)
                self.assertLessEqual(set(can.key_bytes), {f.key for f in of}, row.name)
                self.assertTrue(
                    can.directions != ("encrypt", "decrypt") or {f.flags & 1 for f in of} == {0, 1}
                )

    def test_every_shape_says_when_it_has_forgotten(self) -> None:
        rows = configurations.load().values()
        self.assertLessEqual({(r.shape, r.can[0].kind) for r in rows}, pairs.WIPE_CYCLES.keys())
        text = (tools.ROOT / "docs/slot.md").read_text()
        table = re.findall(r"^\| (\w+) (cipher|hash) \| (\d+)(?:, and .*)? \|$", text, re.MULTILINE)
        stated = {(shape, kind): int(clocks) for shape, kind, clocks in table}
        self.assertEqual(stated, pairs.WIPE_CYCLES)

    def test_bits_that_differ(self) -> None:
        self.assertEqual(differing(Item("x", 0, 2, 2), b"\x01\x02", b"\x01\x03"), "bits 0x100")
        memory = Item("m", 0, 4, 1)
        self.assertEqual(differing(memory, b"abcd", b"abcd"[::-1]), "word 0 bits 0x5 and 3 more words")

    def test_names_are_those_of_the_source(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "Vslot__Syms.h").write_text("    Vslot___024root                TOP;\n")
            (work / "Vslot___024root.h").write_text(
                "        CData/*0:0*/ t__DOT__u_a__DOT__x_q;\n"
                "        CData/*0:0*/ t__DOT__g__BRA__2__KET____DOT__y_q;\n"
                "        CData/*0:0*/ __Vdly__t__DOT__u_a__DOT__x_q;\n"
                "        CData/*0:0*/ t__DOT__u_b__DOT____VlemCall_0__f;\n"
                "        VlWide<4>/*127:0*/ t__DOT____Vcellout__u_c__q_o;\n"
                "        VlUnpacked<VlUnpacked<IData/*31:0*/, 2>, 32> t__DOT__u_05Fb__DOT__m;\n"
            )
            rows = re.findall(r'"(.*)", .* (\d+)},', verilate.items(work))
            self.assertEqual(
                rows,
                [
                    ("t.u_a.x_q", "1"),
                    ("t.g[2].y_q", "1"),
                    ("t.__Vcellout__u_c__q_o", "16"),
                    ("t.u_05Fb.m", "4"),
                ],
            )
            (work / "Vslot__Syms.h").write_text("    Vslot___024root  TOP;\n    Vslot_cell  TOP__t;\n")
            (work / "Vslot_cell.h").write_text("        CData/*0:0*/ x_q;\n")
            self.assertRaises(tools.ToolError, verilate.items, work)


if __name__ == "__main__":
    unittest.main()
