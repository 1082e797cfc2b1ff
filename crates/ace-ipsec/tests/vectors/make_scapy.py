# SPDX-License-Identifier: Apache-2.0
"""Writes scapy.csv: packets sealed by an independent implementation (pip install scapy==2.8.0
cryptography==50.0.2). One row: the SA as in an SA file, the clear packet, the ESP packet."""

import csv
import random
import sys

from scapy.all import ESP, ICMP, IP, TCP, UDP, IPOption_NOP, IPv6, Raw, SecurityAssociation
from scapy.layers.inet6 import (
    HBHOptUnknown,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrHopByHop,
    PadN,
)

CIPHERS = {
    "aes-128-cbc": ("AES-CBC", 16, 0),
    "aes-192-cbc": ("AES-CBC", 24, 0),
    "aes-256-cbc": ("AES-CBC", 32, 0),
    "aes-128-ctr": ("AES-CTR", 16, 4),
    "aes-192-ctr": ("AES-CTR", 24, 4),
    "aes-256-ctr": ("AES-CTR", 32, 4),
    "3des-cbc": ("3DES", 24, 0),
    "des-cbc": ("DES", 8, 0),
    "null": ("NULL", 0, 0),
}
AUTHS = {"hmac-sha1-96": ("HMAC-SHA1-96", 20), "hmac-md5-96": ("HMAC-MD5-96", 16), "none": ("NULL", 0)}
COLUMNS = [
    *("shape", "mode", "local", "remote", "cipher", "key", "auth", "auth_key"),
    *("spi", "esn", "sequence", "clear", "esp"),
]
rng = random.Random(2026)


def clear_packets():
    """Name of the shape and the packet."""
    data = rng.randbytes(rng.randrange(0, 80))
    v4 = {"src": "10.1.0.1", "dst": "10.1.0.2", "ttl": 63, "id": 77, "tos": 0xB8}
    v6 = {"src": "2001:db8::1", "dst": "2001:db8::2", "tc": 0x28, "fl": 0x12345}
    yield "udp4", IP(**v4) / UDP(sport=1000, dport=2000) / Raw(data)
    yield "icmp4", IP(**v4, flags="DF") / ICMP() / Raw(data)
    yield "options4", IP(**v4, options=[IPOption_NOP()] * 4) / TCP(sport=5, dport=6) / Raw(data)
    yield "tcp6", IPv6(**v6) / TCP(sport=1, dport=2) / Raw(data)
    hop = IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))])
    yield "hop6", IPv6(**v6) / hop / UDP(sport=3, dport=4) / Raw(data)
    dest = IPv6ExtHdrDestOpt(options=[HBHOptUnknown(otype=30, optdata=b"abcd")])
    yield "dest6", IPv6(**v6) / hop / dest / UDP(sport=3, dport=4) / Raw(data)


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for cipher, (name, key_len, nonce_len) in CIPHERS.items():
        for auth, (auth_name, auth_len) in AUTHS.items():
            for shape, clear in clear_packets():
                tunnel = rng.random() < 0.5
                ends = (
                    ("192.0.2.1", "192.0.2.2") if rng.random() < 0.5 else ("2001:db8:f::1", "2001:db8:f::2")
                )
                header = IP if ":" not in ends[0] else IPv6
                key, nonce = rng.randbytes(key_len), rng.randbytes(nonce_len)
                auth_key, spi = rng.randbytes(auth_len), rng.randrange(256, 2**32)
                esn = auth != "none" and rng.random() < 0.5
                low = rng.randrange(1, 2**32 - 1)
                high = rng.randrange(1, 2**31) if esn else 0
                sa = SecurityAssociation(
                    ESP,
                    spi=spi,
                    seq_num=low,
                    crypt_algo=name,
                    crypt_key=key + nonce,
                    auth_algo=auth_name,
                    auth_key=auth_key,
                    esn_en=esn,
                    esn=high,
                    tunnel_header=header(src=ends[0], dst=ends[1]) if tunnel else None,
                )
                clear = clear.__class__(bytes(clear))
                sealed = bytes(sa.encrypt(clear))
                if not tunnel:
                    ends = (clear.src, clear.dst)
                mode = "tunnel" if tunnel else "transport"
                row = [
                    shape,
                    mode,
                    *ends,
                    cipher,
                    (key + nonce).hex(),
                    auth,
                    auth_key.hex(),
                    spi,
                    str(esn).lower(),
                ]
                out.writerow([*row, high << 32 | low, bytes(clear).hex(), sealed.hex()])


main()
