# SPDX-License-Identifier: Apache-2.0
"""SM4's slot under cocotb: published answers in both directions, wrong frames, and time that no key changes."""

import csv
import os
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from slot import Slot, request

ROOT = Path(__file__).resolve().parents[2]
SM4, BAD_LENGTH = 0x0B, 6
KEY = bytes.fromhex("0123456789abcdeffedcba9876543210")


async def started(dut, **how) -> Slot:
    """A slot that runs and has been reset."""
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    slot = Slot(dut, **how)
    await slot.reset()
    return slot


def answers() -> list[dict[str, bytes | str]]:
    """The published answers of the modes that every slot has."""
    with (ROOT / "algorithms" / "sm4" / "kat.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["mode"].lower() in ("ecb", "cbc", "ctr")]
    return [
        {name: value if name in ("source", "mode") else bytes.fromhex(value) for name, value in row.items()}
        for row in rows
    ]


@cocotb.test()
async def published_answers(dut) -> None:
    """With random stalls of both streams, and a tag that comes back."""
    slot = await started(dut, stall=0.3, seed=int(os.environ.get("SEED", "1")))
    for tag, row in enumerate(answers()):
        mode, key, iv = row["mode"].lower(), row["key_hex"], row["iv_hex"]
        for decrypt, ask, want in (
            (False, "plaintext_hex", "ciphertext_hex"),
            (True, "ciphertext_hex", "plaintext_hex"),
        ):
            got = await slot.ask(request(SM4, mode, row[ask], key, iv, decrypt, tag))
            assert (got.result, got.tag, got.status) == (row[want], tag, 0), row["source"]
    assert tag > 4


@cocotb.test()
async def a_wrong_frame_is_refused_and_the_slot_goes_on(dut) -> None:
    slot = await started(dut)
    await slot.ask(request(SM4, "ecb", KEY, KEY))
    wrong = await slot.ask(request(SM4, "ecb", KEY[:15], tag=7))
    assert (wrong.result, wrong.tag, wrong.status) == (b"", 7, BAD_LENGTH)
    # The key in front of the wrong frame is still there.
    right = await slot.ask(request(SM4, "ecb", KEY, tag=8))
    assert right.result.hex() == "681edf34d206965e86b3e94f536e4246"


@cocotb.test()
async def clocks_depend_on_lengths_alone(dut) -> None:
    slot = await started(dut)
    took = set()
    for key in (bytes(16), b"\xff" * 16, KEY):
        for payload in (bytes(64), b"\xff" * 64):
            took.add((await slot.ask(request(SM4, "ecb", payload, key))).clocks)
    assert len(took) == 1, took
    dut._log.info("4 blocks and a new key: %d clocks from the last beat in to the last beat out", took.pop())
