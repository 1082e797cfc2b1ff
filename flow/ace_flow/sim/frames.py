# SPDX-License-Identifier: Apache-2.0
"""Request frames of the slot boundary (docs/slot.md), as far as the flow measures with them."""

OPERATION = {"ecb": 0x11, "cbc": 0x12, "ctr": 0x13, "cfb": 0x14, "cfb8": 0x15, "ofb": 0x16}
OPERATION |= {"hash": 0x21, "hmac-states": 0x31, "hmac-key": 0x32}
DECRYPT, FRESH_KEY, WIPE = 1, 2, 4
BEAT = 8


def _padded(section: bytes) -> bytes:
    return section + bytes(-len(section) % BEAT)


def request(
    code: int,
    operation: str,
    payload: bytes,
    *,
    key: bytes = b"",
    iv: bytes = b"",
    decrypt: bool = False,
    result_len: int = 0,
    tag: int = 0,
) -> bytes:
    """One request; with a key it is a fresh one."""
    flags = (DECRYPT if decrypt else 0) | (FRESH_KEY if key else 0)
    header = (
        bytes([code, OPERATION[operation], flags, len(key)])
        + tag.to_bytes(2, "little")
        + bytes([len(iv), result_len])
        + len(payload).to_bytes(4, "little")
        + bytes(4)
    )
    return header + _padded(key) + _padded(iv) + _padded(payload)


def status(response: bytes) -> int:
    """The status of a response; 0 is Ok."""
    return response[-2] if len(response) >= BEAT else 255
