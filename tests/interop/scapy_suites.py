# SPDX-License-Identifier: Apache-2.0
"""Our suites by scapy's names, of the table of suites, what scapy lacks and the library beneath it has, and what neither has."""

import struct
import tomllib
from importlib.metadata import version
from pathlib import Path

from cryptography.hazmat.decrepit.ciphers import algorithms as decrepit
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scapy.layers.ipsec import AUTH_ALGOS, CRYPT_ALGOS, AuthAlgo, CryptAlgo

VERSION = version("scapy")

TABLE = tomllib.loads((Path(__file__).parents[2] / "crates/ace-ipsec/suites.toml").read_text())
# Rows that scapy does not have are made below.
CIPHERS = {
    row["name"].replace("{bits}", str(bits)): row["scapy"]
    for row in TABLE["cipher"]
    for bits in row.get("key_bits", [0])
    if "scapy" in row
}
AUTHS = {row["name"]: row["scapy"] for row in TABLE["auth"]}


class Blocks:
    """Counter mode out of single blocks, where the library has none for the cipher."""

    def __init__(self, algorithm, counter):
        self.ecb, self.counter = Cipher(algorithm, modes.ECB()).encryptor(), counter

    def encryptor(self):
        return self

    decryptor = encryptor

    def update(self, data):
        first, count = int.from_bytes(self.counter, "big"), len(data) // 16 + 1
        stream = self.ecb.update(b"".join((first + n).to_bytes(16, "big") for n in range(count)))
        return bytes(a ^ b for a, b in zip(data, stream, strict=False))

    def finalize(self):
        return b""


class CamelliaCtr(CryptAlgo):
    """RFC 5529."""

    def new_cipher(self, key, mode_iv, digest=None):
        return Blocks(self.cipher(key), mode_iv)


class Xcbc:
    """AES-XCBC-MAC (RFC 3566, 4), as scapy wants a MAC."""

    def __init__(self, key, _digestmod, _backend):
        first = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        self.keys = [first.update(bytes([n] * 16)) for n in (1, 2, 3)]
        self.data = b""

    def update(self, data):
        self.data += bytes(data)

    def finalize(self):
        whole = bool(self.data) and len(self.data) % 16 == 0
        text = self.data if whole else self.data + b"\x80" + bytes(-(len(self.data) + 1) % 16)
        last = bytes(a ^ b for a, b in zip(text[-16:], self.keys[1 if whole else 2], strict=True))
        cbc = Cipher(algorithms.AES(self.keys[0]), modes.CBC(bytes(16))).encryptor()
        return cbc.update(text[:-16] + last)[-16:]


def register():
    """Adds to scapy's tables what cryptography computes and scapy has no row for."""

    def of(name, **changes):
        fields = ("cipher", "mode", "block_size", "iv_size", "icv_size", "salt_size")
        row = {field: getattr(CRYPT_ALGOS[name], field) for field in fields}
        return row | {"key_size": CRYPT_ALGOS[name].key_size} | changes

    cbc = {"cipher": None, "mode": modes.CBC}
    for name, cipher in (
        ("CAMELLIA-CBC", decrepit.Camellia),
        ("SM4", algorithms.SM4),
        ("IDEA", decrepit.IDEA),
    ):
        CRYPT_ALGOS[name] = CryptAlgo(name, **cbc | {"cipher": cipher})
    ctr = of("AES-CTR", cipher=decrepit.Camellia, key_size=(16, 24, 32))
    CRYPT_ALGOS["CAMELLIA-CTR"] = CamelliaCtr(
        "CAMELLIA-CTR", **ctr, format_mode_iv=lambda sa, iv, **_: sa.crypt_salt + iv + b"\0\0\0\1"
    )

    # RFC 8750: the sequence number, all 64 bits of it, is the IV.
    def implicit(sa, **_):
        return sa.crypt_salt + struct.pack("!LL", sa.esn if sa.esn_en else 0, sa.seq_num)

    for name in ("AES-GCM", "AES-CCM", "CHACHA20-POLY1305"):
        CRYPT_ALGOS[f"{name}-IIV"] = CryptAlgo(f"{name}-IIV", **of(name, iv_size=0), format_mode_iv=implicit)
    # Scapy's own row takes no tags but of 16 bytes.
    CRYPT_ALGOS["AES-GCM"] = CryptAlgo(
        "AES-GCM",
        **of("AES-GCM", cipher=algorithms.AES, mode=modes.GCM),
        format_mode_iv=lambda sa, iv, **_: sa.crypt_salt + iv,
    )
    AUTH_ALGOS["AES-XCBC-96"] = AuthAlgo("AES-XCBC-96", mac=Xcbc, digestmod=lambda: None, icv_size=12)


OURS = {"IDEA", "SM4", "CAMELLIA-CBC", "CAMELLIA-CTR", "AES-XCBC-96"} | {
    name for name in CIPHERS.values() if name.endswith("-IIV")
}
