# SPDX-License-Identifier: Apache-2.0
"""A Verilated slot from Python: the C interface of model/ace_model.h."""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ABI = 3
STATUS = {
    1: "silent",
    2: "no space for the response",
    3: "reset",
    4: "request is not whole beats",
    5: "an assertion of rtl/formal failed; standard output says which",
    6: "no memory",
    7: "the LUTs named are not those of the slot",
}


class _Frame(ctypes.Structure):
    _fields_ = [
        ("request", ctypes.c_char_p),
        ("request_len", ctypes.c_size_t),
        ("response", ctypes.c_void_p),
        ("response_cap", ctypes.c_size_t),
        ("response_len", ctypes.c_size_t),
        ("first_in", ctypes.c_uint64),
        ("first_out", ctypes.c_uint64),
        ("last_out", ctypes.c_uint64),
    ]


class _Lut(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("contents", ctypes.c_uint16)]


class _Options(ctypes.Structure):
    _fields_ = [
        ("seed", ctypes.c_uint64),
        ("in_stall", ctypes.c_uint32),
        ("out_stall", ctypes.c_uint32),
        ("max_clocks", ctypes.c_uint64),
        ("reset_after", ctypes.c_uint64),
    ]


class ModelError(Exception):
    """The model did not answer as it should."""


@dataclass
class Answer:
    """A response and the clocks in which its first request beat, first and last response beat were taken."""

    response: bytes
    first_in: int
    first_out: int
    last_out: int


def new(lib: ctypes.CDLL, path: Path, lut_init: dict[str, int] | None = None) -> ctypes.c_void_p:
    """A slot of a library. `kept`: what each of its kept LUTs holds; without any, what the model was built with."""
    abi = lib.ace_model_abi()
    if abi != ABI:
        raise ModelError(f"{path}: interface version {abi}, {ABI} wanted")
    lib.ace_model_new.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_Lut), ctypes.c_size_t]
    lut_init = lut_init or {}
    luts = (_Lut * len(lut_init))(*((name.encode(), contents) for name, contents in lut_init.items()))
    model = ctypes.c_void_p()
    status = lib.ace_model_new(ctypes.byref(model), luts, len(lut_init))
    if status != 0:
        raise ModelError(f"{path}: {STATUS.get(status, status)}")
    return model


class Model:
    """One slot. Not thread-safe; instances are independent. `kept` as in new()."""

    def __init__(self, path: Path, lut_init: dict[str, int] | None = None):
        self._model = ctypes.c_void_p()
        self._lib = ctypes.CDLL(str(path.resolve()))
        self._lib.ace_model_free.argtypes = [ctypes.c_void_p]
        self._lib.ace_model_reset.argtypes = [ctypes.c_void_p]
        self._lib.ace_model_clocks.argtypes = [ctypes.c_void_p]
        self._lib.ace_model_clocks.restype = ctypes.c_uint64
        self._lib.ace_model_run.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(_Frame),
            ctypes.c_size_t,
            ctypes.POINTER(_Options),
        ]
        self._model = new(self._lib, path, lut_init)

    def close(self) -> None:
        """Ends the slot; further calls are an error."""
        if self._model:
            self._lib.ace_model_free(self._model)
            self._model = ctypes.c_void_p()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc) -> None:
        self.close()

    def reset(self) -> None:
        """A reset; the clock count starts again at zero."""
        self._lib.ace_model_reset(self._model)

    @property
    def clocks(self) -> int:
        """Clocks since the last reset."""
        return self._lib.ace_model_clocks(self._model)

    def run(
        self,
        requests: list[bytes],
        *,
        seed: int = 0,
        in_stall: int = 0,
        out_stall: int = 0,
        max_clocks: int = 0,
    ) -> list[Answer]:
        """Sends the frames back to back and returns their answers, told apart by their tags. Stalls are
        chances in 65536."""
        frames = (_Frame * len(requests))()
        buffers = [ctypes.create_string_buffer(len(r) + 64) for r in requests]
        for frame, request, buffer in zip(frames, requests, buffers, strict=True):
            frame.request = request
            frame.request_len = len(request)
            frame.response = ctypes.addressof(buffer)
            frame.response_cap = len(buffer)
        options = _Options(seed, in_stall, out_stall, max_clocks, 0)
        status = self._lib.ace_model_run(self._model, frames, len(requests), ctypes.byref(options))
        if status != 0:
            raise ModelError(f"the model stopped: {STATUS.get(status, status)}")
        return [
            Answer(b.raw[: f.response_len], f.first_in, f.first_out, f.last_out)
            for f, b in zip(frames, buffers, strict=True)
        ]
