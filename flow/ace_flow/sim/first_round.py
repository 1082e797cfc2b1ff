# SPDX-License-Identifier: Apache-2.0
"""When the first round may begin under a fresh key, of slots that work on one frame at a time.

measure.py has it from how late the first and the second block are, which is right where rounds wait for the whole key
schedule. A core whose later rounds wait for later round keys looks later by that. So it is seen here by when the first
block enters the core; where both are right they agree.
"""

from pathlib import Path

from ace_flow.capability import Capability
from ace_flow.sim.frames import request, status
from ace_flow.sim.measure import ANOTHER, SHORT, MeasureError
from ace_flow.sim.model import Model

# Bytes of payload that wait in front of a core that has no block, besides those that lie in queues.
WAITING = 16


def _entered(model: Model, frame: bytes, what: str) -> int:
    """Cycles until a frame is taken in whole, in a slot that is otherwise idle. Of one that is longer than what can wait
    in front of the core, that is when the first block has entered it: how much later that is under a fresh key is how
    long the first block has to wait for its round keys, whatever it waits for behind."""
    answer, behind = model.run([frame, request(ANOTHER, "ecb", b"", tag=0xFFFF)])
    if status(answer.response) != 0:
        raise MeasureError(f"{what}: the model answers status {status(answer.response)}")
    return behind.first_in - answer.first_in


def _latest(model: Model, can: Capability, key_bytes: int, direction: str) -> int:
    """Of all modes the longest."""
    key, found = bytes(range(1, key_bytes + 1)), []
    for mode in can.modes:
        what = f"{can.algorithm}, key of {key_bytes} bytes, {mode}, {direction}"
        iv = b"" if mode == "ecb" else bytes(can.block_bytes)

        def frame(blocks: int, key: bytes, mode: str = mode, iv: bytes = iv) -> bytes:
            payload = bytes(blocks * can.block_bytes)
            return request(can.code, mode, payload, key=key, iv=iv, decrypt=direction == "decrypt", tag=0)

        # A kept key first, long after it came: tables are full, and the key has been turned round.
        for settled in (key, b"", b""):
            model.run([frame(SHORT, settled)])
        some = WAITING // can.block_bytes + 1
        kept = _entered(model, frame(some, b""), what)
        found.append(_entered(model, frame(some, key), what) - kept)
    return max(found)


def applies(cans: tuple[Capability, ...], in_flight: int) -> bool:
    """Whether a slot has such a figure."""
    return in_flight == 1 and any(can.kind == "cipher" for can in cans)


def correct(library: Path, cans: tuple[Capability, ...], kept: dict[str, int], cycles: dict) -> None:
    """Puts it into what measure.py has counted of a model; `kept`: what its LUTs hold."""
    ciphers = {can.algorithm: can for can in cans if can.kind == "cipher"}
    with Model(library, kept) as model:
        for entry in cycles["key_setup"]:
            if "first_round" in entry:
                can = ciphers[entry["algorithm"]]
                model.reset()
                entry["first_round"] = _latest(model, can, entry["key_bytes"], entry["direction"])
