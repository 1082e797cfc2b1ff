# SPDX-License-Identifier: Apache-2.0
"""Frames of a slot, and its two streams under cocotb: docs/slot.md is the reference."""

import random
from dataclasses import dataclass

from cocotb.triggers import RisingEdge

BEAT = 8
MODES = {"ecb": 0x11, "cbc": 0x12, "ctr": 0x13}
DECRYPT, FRESH_KEY = 0x01, 0x02


def padded(section: bytes) -> bytes:
    """A section fills whole beats."""
    return section + bytes(-len(section) % BEAT)


def request(
    code: int,
    mode: str,
    payload: bytes,
    key: bytes = b"",
    iv: bytes = b"",
    decrypt: bool = False,
    tag: int = 0,
):
    """A frame that asks a cipher; without a key, the one before it counts."""
    flags = DECRYPT * decrypt | FRESH_KEY * bool(key)
    header = bytes([code, MODES[mode], flags, len(key), *tag.to_bytes(2, "little"), len(iv), 0])
    return header + padded(len(payload).to_bytes(4, "little")) + padded(key) + padded(iv) + padded(payload)


@dataclass(frozen=True)
class Answer:
    """A response, and the clock edges from its request's last beat to its own."""

    result: bytes
    tag: int
    status: int
    clocks: int


class Slot:
    """Both streams of a slot. `stall` is the share of clocks in which a side does nothing."""

    def __init__(self, dut, stall: float = 0.0, seed: int = 1) -> None:
        self.dut, self.stall, self.draw = dut, stall, random.Random(seed)
        self.now = 0

    def idle(self) -> bool:
        return self.draw.random() < self.stall

    async def reset(self) -> None:
        """Asynchronous and active-low, for a clock edge at least."""
        self.dut.s_axis_tvalid.value = 0
        self.dut.m_axis_tready.value = 0
        self.dut.rst_ni.value = 0
        for _ in range(2):
            await RisingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def ask(self, frame: bytes, most: int = 20_000) -> Answer:
        """Sends a frame and takes its answer."""
        dut, beats = self.dut, [frame[at : at + BEAT] for at in range(0, len(frame), BEAT)]
        got, sent, last_sent = bytearray(), 0, 0
        for _ in range(most):
            # What is offered stays until it is taken.
            offers = sent < len(beats) and (bool(dut.s_axis_tvalid.value) or not self.idle())
            dut.s_axis_tvalid.value = offers
            if offers:
                dut.s_axis_tdata.value = int.from_bytes(beats[sent], "little")
                dut.s_axis_tlast.value = sent + 1 == len(beats)
            dut.m_axis_tready.value = not self.idle()
            await RisingEdge(dut.clk_i)
            self.now += 1
            if offers and dut.s_axis_tready.value:
                sent, last_sent = sent + 1, self.now
                dut.s_axis_tvalid.value = 0
            if dut.m_axis_tvalid.value and dut.m_axis_tready.value:
                got += int(dut.m_axis_tdata.value).to_bytes(BEAT, "little")
                if dut.m_axis_tlast.value:
                    dut.m_axis_tready.value = 0
                    trailer = got[-BEAT:]
                    length = int.from_bytes(trailer[:4], "little")
                    return Answer(
                        bytes(got[:length]),
                        int.from_bytes(trailer[4:6], "little"),
                        trailer[6],
                        self.now - last_sent,
                    )
        raise AssertionError(
            f"{sent} of {len(beats)} beats taken, {len(got)} bytes answered in {most} clocks"
        )
