# SPDX-License-Identifier: Apache-2.0
"""Several runs of one slot in step, clock by clock: pins and state (the last part of model/ace_model.h)."""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ace_flow.sim.model import new

OFFER, TAKE, HOLD = 1, 2, 4
S_TREADY, M_TVALID, M_TLAST = 1, 2, 4
PINS = {S_TREADY: "s_axis_tready", M_TVALID: "m_axis_tvalid", M_TLAST: "m_axis_tlast"}


class _Item(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("offset", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("element", ctypes.c_uint32),
    ]


@dataclass(frozen=True)
class Item:
    """One register, memory or net; a memory has several words of `element` bytes."""

    name: str
    start: int
    bytes: int
    element: int


@dataclass(frozen=True)
class Seen:
    """What a run of clocks showed: the handshake of each, m_axis_tdata of each, and the beats taken at the end."""

    handshake: bytes
    data: list[int]
    taken: int


class Slot:
    """One run. Not thread-safe; instances are independent."""

    def __init__(self, path: Path):
        lib = ctypes.CDLL(str(path.resolve()))
        self._slot = new(lib, path)
        lib.ace_model_free.argtypes = [ctypes.c_void_p]
        lib.ace_model_items.argtypes = [ctypes.POINTER(ctypes.POINTER(_Item))]
        lib.ace_model_items.restype = ctypes.c_size_t
        lib.ace_model_state.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        lib.ace_model_drive.argtypes = [
            *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p),
            *(ctypes.c_size_t, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_void_p),
        ]
        lib.ace_model_drive.restype = ctypes.c_size_t
        table = ctypes.POINTER(_Item)()
        count = lib.ace_model_items(ctypes.byref(table))
        self.items: list[Item] = []
        start = 0
        for item in table[:count]:
            self.items.append(Item(item.name.decode(), start, item.bytes, item.element))
            start += item.bytes
        self._state = ctypes.create_string_buffer(start)
        self._lib = lib

    def close(self) -> None:
        """Ends the slot; further calls are an error."""
        if self._slot:
            self._lib.ace_model_free(self._slot)
            self._slot = ctypes.c_void_p()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc) -> None:
        self.close()

    def drive(self, todo: bytes, beats: list[tuple[int, bool]], noise: int) -> Seen:
        """Runs len(todo) clocks; of the request beats as many are taken as are offered and welcome."""
        clocks = len(todo)
        words = (ctypes.c_uint64 * max(1, len(beats)))(*(beat for beat, _ in beats))
        last = bytes(end for _, end in beats)
        seen = ctypes.create_string_buffer(max(1, clocks))
        data = (ctypes.c_uint64 * max(1, clocks))()
        taken = self._lib.ace_model_drive(
            self._slot, todo, clocks, words, last, len(beats), noise, seen, data
        )
        return Seen(seen.raw[:clocks], data[:clocks], taken)

    def state(self) -> bytes:
        """All items, one behind the other."""
        self._lib.ace_model_state(self._slot, self._state)
        return self._state.raw
