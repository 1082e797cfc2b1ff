# SPDX-License-Identifier: Apache-2.0
"""The S-box of MARS is typed as data; here it is held against what it is made from."""

import hashlib
import re
import struct
import unittest

from ace_flow import tools

SEEDS = (0xB7E15162, 0x243F6A88, 0x02917D59)
# Entries that the designers replaced by three times themselves.
TRIPLED = {17, 67, 76, 131, 147, 210, 297, 351, 420}


def definition() -> list[int]:
    """Entry 5i + j is word j of the digest of 5i and the seeds."""
    words: list[int] = []
    for start in range(0, 512, 5):
        words += struct.unpack("<5I", hashlib.sha1(struct.pack("<4I", start, *SEEDS)).digest())
    return [3 * w & 0xFFFFFFFF if i in TRIPLED else w for i, w in enumerate(words[:512])]


class SBox(unittest.TestCase):
    def test_table_is_its_definition(self):
        text = (tools.ROOT / "algorithms/mars/rtl/mars_pkg.sv").read_text()
        table = text[text.index("SBox[512]") :]
        words = [int(word, 16) for word in re.findall(r"32'h([0-9a-f]{8})", table)]
        self.assertEqual(words, definition())


if __name__ == "__main__":
    unittest.main()
