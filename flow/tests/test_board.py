# SPDX-License-Identifier: Apache-2.0
"""A board at its pins, in short; `python -m ace_flow board-pins` has more of all of it."""

import os
import shutil
import unittest
from pathlib import Path
from random import Random
from unittest import mock

from ace_flow import subset, tools
from ace_flow.board import alike, fuzz, host, model, rates, sets, stores, trials, work
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
        stores.words(two, rounds=12)
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

    def test_words_of_the_store_that_are_others_are_noticed(self) -> None:
        class Next(host.Host):
            """What it recalls is a word further on."""

            def recall(self, head: bytes, place: int, count: int, slot: int = 0) -> host.Response | None:
                return super().recall(head, place + (place > 0), count - (place > 0 and count > 1), slot)

        with mock.patch.object(trials, "Host", Next), self.assertRaisesRegex(host.LinkError, "are others"):
            stores.words(self.library, seed=3)


@unittest.skipIf(shutil.which(tools.compiler()) is None or not ACE.exists(), "no C++ compiler or no ace")
class Array(unittest.TestCase):
    """An array behind the link."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.library = model.model(content=Content("array"))

    def test_known_answers(self) -> None:
        trials.known(self.library, str(ACE))

    def test_loads_by_name(self) -> None:
        stores.loads(self.library, str(ACE))
        took = {load.way: load.whole for load in rates.loads(self.library, str(ACE), 2)}
        self.assertLess(took["by name"], took["over the cable"] / 2)

    def test_keys_show_in_results_alone(self) -> None:
        alike.alike(self.library, str(ACE), 4)

    def test_the_comparison_of_two_runs_can_fail(self) -> None:
        with self.assertRaisesRegex(host.LinkError, "results are the same"):
            alike.alike(self.library, str(ACE), 2, ("bye",), (1, 1))
        # Nothing ends the first session: the second host finds its epochs.
        with mock.patch.object(alike, "ended"), self.assertRaisesRegex(host.LinkError, "is not free"):
            alike.alike(self.library, str(ACE), 2, ("bye",))

    def test_a_lossy_wire(self) -> None:
        for by_name in (False, True):
            trials.lossy(self.library, work.AesWork(str(ACE), by_name=by_name), 100)

    def test_a_lossy_wire_and_an_aead(self) -> None:
        trials.lossy(self.library, work.GcmWork(str(ACE)), 60)

    def test_resets(self) -> None:
        trials.resets(self.library, work.AesWork(str(ACE), by_name=True), 4)

    def test_nonsense(self) -> None:
        trials.fuzzed(self.library, work.AesWork(str(ACE), by_name=True), 150)


@unittest.skipIf(shutil.which(tools.compiler()) is None or not ACE.exists(), "no C++ compiler or no ace")
class Sets(unittest.TestCase):
    """Sets of the library by a socket; `python -m ace_flow board-sets` has all of them."""

    @unittest.skipIf(os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), "TAP devices are root's")
    def test_known_answers_of_some(self) -> None:
        computing, _ = sets.of_library(str(ACE))
        names = ["aes256_decrypt_latency", "aes128_gcm_encrypt", "sha256"]
        self.assertLessEqual(set(names), set(computing))
        library = model.model(content=Content("array"), image_times=True)
        seen = sets.all_of(str(ACE), library, names, 2, computing)
        self.assertEqual([one.name for one in seen], names)

    def test_no_set_is_no_success(self) -> None:
        with self.assertRaisesRegex(host.LinkError, "no context set"):
            sets.all_of(str(ACE), Path("none"), [], 2, [])

    def test_a_set_of_which_nothing_was_compared_is_no_success(self) -> None:
        rate = {"name": "a", "operation": "b", "error": None}
        answers = {"subject": "c", "passed": 1, "failed": []}
        report = {"rates": [rate], "answers": [answers], "resent": 0}
        self.assertEqual(sets.judged("a", report, 2, 0).rows, {"c": 1})
        for change in (
            {"answers": []},
            {"answers": [answers | {"passed": 0}]},
            {"answers": [answers | {"failed": ["row 3"]}]},
            {"rates": []},
            {"rates": [rate | {"error": "an answer is not that of this processor"}]},
        ):
            with self.assertRaises(host.LinkError):
                sets.judged("a", report | change, 2, 0)


class Nonsense(unittest.TestCase):
    def test_what_nobody_has_asked_is_noticed(self) -> None:
        asked = fuzz.Asked()
        address = bytes(6)
        hello = host.Message(host.BOARD, address, host.HELLO, 3, 7, 0, 0, 0, 5, b"")
        answer = hello._replace(to=address, source=host.BOARD, kind=host.IDENTITY)
        asked.add(hello.encode())
        asked.take(answer)
        for unasked in (answer, answer._replace(number=8), answer._replace(kind=host.ANSWER)):
            with self.assertRaises(host.LinkError):
                asked.take(unasked)


class Text(unittest.TestCase):
    def test_a_pin_that_goes_both_ways_is_a_boards_alone(self) -> None:
        text = "module a (inout wire b);\nendmodule\n"
        for path, count in (
            ("rtl/board/board_colorlight.sv", 0),
            ("rtl/slot/a.sv", 1),
            ("rtl/board/link.sv", 1),
        ):
            self.assertEqual(len(list(subset.refused(Path(path), text))), count, path)


if __name__ == "__main__":
    unittest.main()
