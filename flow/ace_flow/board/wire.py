# SPDX-License-Identifier: Apache-2.0
"""A board in simulation behind its cable: flow/board/board_model.h in Python."""

import ctypes
from pathlib import Path
from typing import NamedTuple, Self

ABI = 1
FRAME, RAW, ERROR = 0, 1, 2
ROOM = 2048
MICROSECOND = 1_000_000  # in picoseconds, which all times here are


class Counts(ctypes.Structure):
    """What has passed the pins."""

    _fields_ = [
        *[(name, ctypes.c_uint64) for name in ("in_frames", "in_lost", "in_broken")],
        *[
            (name, ctypes.c_uint64)
            for name in ("out_frames", "out_lost", "out_broken", "out_wrong", "out_close")
        ],
        *[(name, ctypes.c_uint32) for name in ("tap", "led", "phy_reset", "sdram_clock")],
    ]


class Taken(NamedTuple):
    """A frame that came out of the board, and when its preamble began."""

    data: bytes
    begun: int


def _load(library: Path) -> ctypes.CDLL:
    found = ctypes.CDLL(str(library))
    board, size, u64, u32 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint32
    for name, result, arguments in (
        ("abi", u32, []),
        ("new", board, [u64]),
        ("free", None, [board]),
        ("send", u64, [board, ctypes.c_char_p, size, u32, size]),
        ("ended", u64, [board, u64]),
        ("waiting", size, [board]),
        ("take", size, [board, ctypes.c_char_p, size, ctypes.POINTER(u64)]),
        ("run", u64, [board, u64, ctypes.c_int]),
        ("now", u64, [board]),
        ("eye", None, [board, ctypes.c_uint, ctypes.c_uint]),
        ("wire", None, [board, u32, u32, u32, u32]),
        ("skew", None, [board, ctypes.c_int32]),
        ("mdio", ctypes.c_uint16, [board, ctypes.c_uint]),
        ("reset", None, [board, u64]),
        ("count", None, [board, ctypes.POINTER(Counts)]),
        ("pins", u64, [board]),
    ):
        function = getattr(found, f"ace_board_{name}")
        function.restype, function.argtypes = result, arguments
    if found.ace_board_abi() != ABI:
        raise OSError(f"{library}: its interface is {found.ace_board_abi()}, {ABI} is wanted: make it anew")
    return found


class Wire:
    """A board just powered. Chances are in a million."""

    def __init__(self, library: Path, seed: int = 1):
        self._of = _load(library)
        self._board = self._of.ace_board_new(seed)
        if not self._board:
            raise MemoryError(f"{library}: no memory for a board")
        self._room = ctypes.create_string_buffer(ROOM)

    def close(self) -> None:
        if self._board:
            self._of.ace_board_free(self._board)
            self._board = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, frame: bytes, how: int = FRAME, error_at: int = 0) -> int:
        """A number by which `ended` knows it."""
        return self._of.ace_board_send(self._board, frame, len(frame), how, error_at)

    def ended(self, number: int) -> int:
        return self._of.ace_board_ended(self._board, number)

    def waiting(self) -> int:
        return self._of.ace_board_waiting(self._board)

    def take(self) -> Taken | None:
        begun = ctypes.c_uint64()
        length = self._of.ace_board_take(self._board, self._room, ROOM, ctypes.byref(begun))
        if length > ROOM:
            raise OSError(f"a frame of {length} bytes came out of the board")
        return Taken(self._room.raw[:length], begun.value) if length else None

    def run(self, time: int, until_frame: bool = False) -> int:
        return self._of.ace_board_run(self._board, time, until_frame)

    @property
    def now(self) -> int:
        return self._of.ace_board_now(self._board)

    def eye(self, lowest: int, highest: int) -> None:
        self._of.ace_board_eye(self._board, lowest, highest)

    def chances(self, lost: int, broken: int) -> None:
        """Each way."""
        self._of.ace_board_wire(self._board, lost, broken, lost, broken)

    def skew(self, ppm: int) -> None:
        self._of.ace_board_skew(self._board, ppm)

    def mdio(self, number: int) -> int:
        return self._of.ace_board_mdio(self._board, number)

    def reset(self, time: int = 200_000) -> None:
        self._of.ace_board_reset(self._board, time)

    def counts(self) -> Counts:
        counts = Counts()
        self._of.ace_board_count(self._board, ctypes.byref(counts))
        return counts

    def pins(self) -> int:
        return self._of.ace_board_pins(self._board)
