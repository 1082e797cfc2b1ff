# SPDX-License-Identifier: Apache-2.0
"""Cycles of a configuration, measured on its model without stalls: one frame at a time, and where a slot works
on several, as many as keep it busy."""

from pathlib import Path

from ace_flow.configurations import Capability
from ace_flow.sim.frames import request, status
from ace_flow.sim.model import Model

SHORT, LONG = 16, 64  # blocks; the slope between them is the cost of a block
PHASES = 48  # frames at different times, a multiple of most periods in a slot
ANOTHER = 0xFE  # the code of no algorithm


class MeasureError(Exception):
    """The model does not do what its row says."""


def _cycles(model: Model, frame: bytes, what: str, before: tuple[bytes, ...] = ()) -> int:
    """Cycles from the first beat in to the last beat out, both counted, in a slot that is otherwise idle; but for
    the frames `before`, which are refused."""
    answer = model.run([*before, frame])[-1]
    if status(answer.response) != 0:
        raise MeasureError(f"{what}: the model answers status {status(answer.response)}")
    return answer.last_out - answer.first_in + 1


def _mean(model: Model, frame: bytes, what: str, in_flight: int) -> float:
    """The same of a slot in which a block has to wait for its turn: the mean over frames at different turns."""
    if in_flight == 1:
        return _cycles(model, frame, what)
    # Turns and the search for lanes that are done repeat, so what a frame takes depends on when it begins. In front
    # of each goes a frame of another algorithm, which is refused, a beat longer every time.
    cycles = []
    for beats in range(PHASES):
        filler = request(ANOTHER, "ecb", bytes(8 * beats), tag=0xFFFF)
        cycles.append(_cycles(model, frame, what, (filler,)))
    return sum(cycles) / len(cycles)


def _loaded(model: Model, frames: list[bytes], what: str) -> int:
    """Cycles from the first beat in to the last beat out of all frames, sent back to back."""
    answers = model.run(frames)
    for answer in answers:
        if status(answer.response) != 0:
            raise MeasureError(f"{what}: the model answers status {status(answer.response)}")
    return max(a.last_out for a in answers) - min(a.first_in for a in answers) + 1


def _slope(short: float, long: float) -> float:
    return round((long - short) / (LONG - SHORT), 3)


# Frames for each one that is in flight: what the first and the last of them cost goes into neither figure,
# because both figures of a slope have it.
WAVES = 6

# Bytes of payload that wait for nobody (docs/slot.md).
BUFFER = 2048


def _full(model: Model, in_flight: int, frame, key: bytes, block_bytes: int, what: str) -> float:
    """Cycles per block of a slot that always has enough frames, each with a key of its own."""
    cycles = []
    # Long frames: a short one may take less time than its key, and would hide the blocks behind it. But not longer
    # than the buffers, or the entrance would be what is measured.
    most = min(2 * LONG, BUFFER // block_bytes)
    for blocks in (most // 2, most):
        frames = [
            frame(blocks, bytes([n % 251]) + key[1:] if key else b"", tag=n)
            for n in range(1, WAVES * in_flight + 1)
        ]
        cycles.append(_loaded(model, frames, what))
    return round((cycles[1] - cycles[0]) / (WAVES * in_flight * (most - most // 2)), 3)


def _cipher(model: Model, can: Capability, in_flight: int) -> dict:
    per_block, key_setup, overheads = [], [], []
    for key_bytes in can.key_bytes:
        key = bytes(range(1, key_bytes + 1))
        for direction in can.directions:
            decrypt = direction == "decrypt"
            setups, firsts, starts = [], [], []
            for mode in can.modes:
                what = f"{can.algorithm}, key of {key_bytes} bytes, {mode}, {direction}"
                iv = b"" if mode == "ecb" else bytes(can.block_bytes)

                def frame(blocks: int, key: bytes, tag=0, mode=mode, iv=iv, decrypt=decrypt) -> bytes:
                    payload = bytes(blocks * can.block_bytes)
                    return request(can.code, mode, payload, key=key, iv=iv, decrypt=decrypt, tag=tag)

                # Behind a reset a slot may still be wiping itself.
                _cycles(model, frame(SHORT, key), what)
                fresh = _mean(model, frame(SHORT, key), what, in_flight)
                # The first frame under a kept key may still turn the key round; the second is the steady state.
                _cycles(model, frame(SHORT, b""), what)
                short = _mean(model, frame(SHORT, b""), what, in_flight)
                long = _mean(model, frame(LONG, b""), what, in_flight)
                setups.append(round(max(0, fresh - short)))
                if in_flight == 1:
                    # Blocks may be slower as long as tables are made, under a key that is kept, too: hence the kept
                    # one first, long after it came. What the second block is late by, taken from the first's, is
                    # how long the first has to wait for its key.
                    kept = [_cycles(model, frame(n, b""), what) for n in (1, 2)]
                    one, two = (_cycles(model, frame(n, key), what) - kept[n - 1] for n in (1, 2))
                    firsts.append(one)
                    starts.append(one - (two - one))
                slope = _slope(short, long)
                overheads.append(round(short - SHORT * slope))
                about = {
                    "algorithm": can.algorithm,
                    "key_bytes": key_bytes,
                    "mode": mode,
                    "direction": direction,
                }
                if in_flight > 1:
                    full = _full(model, in_flight, frame, key, can.block_bytes, what)
                    if full * BUFFER / can.block_bytes / 2 < setups[-1]:
                        # The shorter frames were hidden behind the set-up of their keys.
                        full = _full(model, in_flight, frame, b"", can.block_bytes, what)
                    per_block.append(about | {"cycles": full, "alone": slope})
                else:
                    per_block.append(about | {"cycles": slope})
            about = {"algorithm": can.algorithm, "key_bytes": key_bytes, "direction": direction}
            about["cycles"] = max(setups)
            if in_flight == 1:
                about |= {"first_block": max(firsts), "first_round": max(starts)}
            key_setup.append(about)
    return {"per_block": per_block, "key_setup": key_setup, "frame_overhead": max(overheads)}


def _hash(model: Model, can: Capability, in_flight: int) -> dict:
    per_block, key_setup, overheads = [], [], []
    for operation in can.operations:
        what = f"{can.algorithm}, {operation}"
        key = {
            "hash": b"",
            "hmac-states": bytes(2 * can.digest_bytes),
            "hmac-key": bytes(range(1, can.digest_bytes + 1)),
        }[operation]

        def frame(blocks: int, key: bytes, tag=0, operation=operation) -> bytes:
            payload = bytes(blocks * can.block_bytes)
            return request(can.code, operation, payload, key=key, result_len=can.digest_bytes, tag=tag)

        # Behind a reset a slot may still be wiping itself.
        _cycles(model, frame(SHORT, key), what)
        fresh = _cycles(model, frame(SHORT, key), what)
        if key:
            short = _cycles(model, frame(SHORT, b""), what)
            about = {"algorithm": can.algorithm, "operation": operation}
            key_setup.append(about | {"cycles": max(0, fresh - short)})
        else:
            short = fresh
            overheads.append(_cycles(model, frame(0, b""), what))
        long = _cycles(model, frame(LONG, b""), what)
        row = {"algorithm": can.algorithm, "operation": operation, "cycles": _slope(short, long)}
        if in_flight > 1:
            row |= {
                "cycles": _full(model, in_flight, frame, key, can.block_bytes, what),
                "alone": row["cycles"],
            }
        per_block.append(row)
    return {"per_block": per_block, "key_setup": key_setup, "frame_overhead": max(overheads, default=0)}


def measure(
    library: Path, can: tuple[Capability, ...], in_flight: int, kept: dict[str, int] | None = None
) -> dict:
    """The `cycles` of a manifest; `kept` as in Model."""
    cycles: dict = {"per_block": [], "key_setup": [], "frame_overhead": 0}
    with Model(library, kept) as model:
        for capability in can:
            model.reset()
            one = (_cipher if capability.kind == "cipher" else _hash)(model, capability, in_flight)
            cycles["per_block"] += one["per_block"]
            cycles["key_setup"] += one["key_setup"]
            cycles["frame_overhead"] = max(cycles["frame_overhead"], one["frame_overhead"])
    return cycles


def throughput(cycles: dict, can: tuple[Capability, ...], fmax_mhz: float) -> list[dict]:
    """The `throughput_mbps` of a manifest."""
    bits = {c.algorithm: 8 * c.block_bytes for c in can}
    return [
        {k: v for k, v in row.items() if k not in ("cycles", "alone")}
        | {"mbps": round(bits[row["algorithm"]] * fmax_mhz / row["cycles"], 1)}
        for row in cycles["per_block"]
    ]
