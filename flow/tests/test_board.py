# SPDX-License-Identifier: Apache-2.0
"""A board at its pins, in short; `python -m ace_flow board-pins` has more of all of it."""

import os
import shutil
import unittest
from pathlib import Path
from random import Random

from ace_flow import subset, tools
from ace_flow.board import host, model, rates, trials, work
from ace_flow.board.model import Content

ACE = Path(os.environ.get("ACE_BIN", tools.ROOT / "target" / "release" / "ace"))


@unittest.skipIf(shutil.which(tools.compiler()) is None, "no C++ compiler")
class Echo(unittest.TestCase):
    """The link alone."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.library = model.model(content=Content("echo"))
        cls.work = work.EchoWork()

    def test_registers(self) -> None:
        trials.registers(self.library)

    def test_sessions(self) -> None:
        trials.sessions(self.library)

    def test_epochs(self) -> None:
        trials.epochs(self.library)

    def test_the_eye_is_found(self) -> None:
        trials.eye(self.library)

    def test_two_slots(self) -> None:
        two = model.model(content=Content("echo", number=2))
        trials.slots(two)
        trials.fuzzed(two, self.work, 300, slots=2)

    def test_a_lossy_wire(self) -> None:
        for seed in (1, 2):
            trials.lossy(self.library, self.work, 600, seed)

    def test_resets(self) -> None:
        trials.resets(self.library, self.work, 20)

    def test_nonsense(self) -> None:
        trials.fuzzed(self.library, self.work, 1000)

    def test_the_cable_is_full(self) -> None:
        rate = rates.rate(self.library, 1408, 120)
        self.assertGreater(min(rate.to_board, rate.from_board), 900)

    def test_an_answer_takes_a_microsecond_at_most(self) -> None:
        for payload in (None, 64, 1408):
            self.assertLess(rates.latency(self.library, payload, 100_000).link, 1000)

    def test_a_wrong_answer_is_noticed(self) -> None:
        class Wrong(work.EchoWork):
            def task(self, random: Random, tag: int, most: int) -> work.Task:
                task = super().task(random, tag, most)
                return task._replace(result=task.result + b"x")

        with self.assertRaisesRegex(host.LinkError, "frame 0 is wrong"):
            trials.lossy(self.library, Wrong(), 4)


@unittest.skipIf(shutil.which(tools.compiler()) is None or not ACE.exists(), "no C++ compiler or no ace")
class Array(unittest.TestCase):
    """An array behind the link."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.library = model.model(content=Content("array"))

    def test_known_answers(self) -> None:
        trials.known(self.library, str(ACE))

    def test_keys_show_in_results_alone(self) -> None:
        trials.alike(self.library, str(ACE), 6)

    def test_a_lossy_wire(self) -> None:
        trials.lossy(self.library, work.AesWork(str(ACE)), 100)

    def test_resets(self) -> None:
        trials.resets(self.library, work.AesWork(str(ACE)), 4)

    def test_nonsense(self) -> None:
        trials.fuzzed(self.library, work.AesWork(str(ACE)), 150)


class Text(unittest.TestCase):
    def test_a_pin_that_goes_both_ways_is_a_boards_alone(self) -> None:
        text = "module a (inout wire b);\nendmodule\n"
        for path, count in (("rtl/board/board_i9.sv", 0), ("rtl/slot/a.sv", 1), ("rtl/board/link.sv", 1)):
            self.assertEqual(len(list(subset.refused(Path(path), text))), count, path)


if __name__ == "__main__":
    unittest.main()
