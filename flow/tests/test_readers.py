# SPDX-License-Identifier: Apache-2.0
"""Two readers of the RTL say the same: a model of what slang has read, and one of what Verilator reads by itself."""

import random
import tempfile
import unittest
from pathlib import Path

from ace_flow import configurations, rtl, tools
from ace_flow.build.step import step_runtime
from ace_flow.layout import BUILD, RUNTIME
from ace_flow.sim import frames, measure, verilate
from ace_flow.sim.model import Model

# Small ones, of different shapes.
NAMES = ("des", "sm4", "md5")
FRAMES = 200


class Readers(unittest.TestCase):
    def setUp(self) -> None:
        RUNTIME.parent.mkdir(parents=True, exist_ok=True)
        step_runtime()
        place = tempfile.TemporaryDirectory(dir=BUILD, prefix=".readers-")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def models(self, name: str) -> tuple[Path, Path]:
        row = configurations.load()[name]
        sources = [tools.ROOT / source for source in row.sources]
        by_slang, by_verilator = self.folder / f"{name}-slang.so", self.folder / f"{name}-verilator.so"
        log = self.folder / f"{name}.log"
        verilate.build_rtl_model(row.top, sources, row.parameters, by_slang, RUNTIME, log, "quick")
        top = self.folder / f"{name}.sv"
        top.write_text(whole(row.sources))
        verilate.build_model(row.top, [top], row.parameters, by_verilator, RUNTIME, log, "quick")
        return by_slang, by_verilator

    def test_models_of_both_answer_alike(self) -> None:
        for name in NAMES:
            with self.subTest(name):
                row = configurations.load()[name]
                asked = list(requests(row.can, random.Random(name)))
                answers = []
                for path in self.models(name):
                    with Model(path) as model:
                        found = [(a.response, a.first_out, a.last_out) for a in model.run(asked)]
                    answers.append((found, measure.measure(path, row.can, row.in_flight)))
                self.assertEqual(*answers)
                self.assertGreater(len({response for response, _, _ in answers[0][0]}), FRAMES // 2)


def whole(sources: tuple[str, ...]) -> str:
    """All files as one, headers where they are included."""
    text = {Path(source).name: (tools.ROOT / source).read_text() for source in sources}
    files = [text[Path(source).name] for source in sources if source.endswith(".sv")]
    return rtl.INCLUDE.sub(lambda found: text[f"{found[1]}.svh"], "\n".join(files))


def requests(cans, draw: random.Random):
    """Frames of all modes and lengths, right ones and wrong ones."""
    for number in range(FRAMES):
        can = draw.choice(cans)
        payload = draw.randbytes(8 * draw.randrange(12))
        if can.kind == "cipher":
            mode = draw.choice(can.modes)
            key = draw.randbytes(draw.choice(can.key_bytes)) if draw.random() < 0.6 or number == 0 else b""
            iv = b"" if mode == "ecb" else draw.randbytes(can.block_bytes)
            yield frames.request(
                can.code, mode, payload, key=key, iv=iv, decrypt=draw.random() < 0.4, tag=number
            )
        else:
            yield frames.request(can.code, "hash", payload, result_len=can.digest_bytes, tag=number)


if __name__ == "__main__":
    unittest.main()
