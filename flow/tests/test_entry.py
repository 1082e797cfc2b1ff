# SPDX-License-Identifier: Apache-2.0
"""The entry point: what it says, and what it does when nobody reads."""

import os
import signal
import subprocess
import sys
import unittest

from ace_flow.tools import ROOT


class Entry(unittest.TestCase):
    def run_flow(self, *words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "ace_flow", *words],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT / "flow")},
            stderr=subprocess.PIPE,
            check=False,
            **options,
        )

    def test_an_unknown_command_is_refused(self) -> None:
        done = self.run_flow("no-such-command", stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"there is no command 'no-such-command'", done.stderr)

    def test_a_reader_that_has_gone_ends_it_quietly(self) -> None:
        for words in [(), ("prose", "--list")]:
            reader, writer = os.pipe()
            os.close(reader)
            try:
                done = self.run_flow(*words, stdout=writer)
            finally:
                os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (128 + signal.SIGPIPE, b""), words)


if __name__ == "__main__":
    unittest.main()
