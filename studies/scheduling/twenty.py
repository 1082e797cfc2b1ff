#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the capture of 20 associations over 8 algorithms (twenty.pcap) and writes their SA files.

Ten hosts download a file each from an eleventh one at the same time (tests/demo/record.py --peers 10, needs root); each
direction of each pair is an association. Six ciphers and two hashes take turns.
"""

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = HERE.parent.parent / "tests" / "demo" / "record.py"
PEERS = 10
CIPHERS = [
    ("aes-128-cbc", 16),
    ("des-cbc", 8),
    ("3des-cbc", 24),
    ("cast128-cbc", 16),
    ("cast256-256-cbc", 32),
    ("rc6-128-cbc", 16),
]
HASHES = [("hmac-md5-96", 16), ("hmac-sha1-96", 20)]
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The {direction}bound SAs of twenty.pcap, written by twenty.py. The keys are examples, printed for all to see: never use them.
default_policy = "discard"
allow_legacy = true
"""


def key(of, length):
    digest = hashlib.sha512(of.encode()).digest()[:length]
    # DES has odd parity, which nobody looks at; keys that are weak do not come out of a hash.
    return digest.hex()


def association(number, direction):
    peer, to_peer = divmod(number, 2)
    ends = [("10.0.0.1", "192.0.2.1"), (f"10.0.0.{2 + peer}", f"192.0.2.{2 + peer}")]
    (src, local), (dst, remote) = ends if to_peer == 0 else ends[::-1]
    if direction == "in":
        local, remote = remote, local
    host = chr(ord("b") + peer)
    name = f"a-to-{host}" if to_peer == 0 else f"{host}-to-a"
    cipher, key_len = CIPHERS[number % len(CIPHERS)]
    auth, auth_len = HASHES[number // len(CIPHERS) % len(HASHES)]
    return f"""
[[sa]]
name = "{name}"
spi = {0x2001 + number:#x}
direction = "{direction}"
mode = "tunnel"
local = "{local}"
remote = "{remote}"
selector = {{ src = "{src}/32", dst = "{dst}/32" }}
cipher = "{cipher}"
key = "{key(f"cipher {number}", key_len)}"
auth = "{auth}"
auth_key = "{key(f"auth {number}", auth_len)}"
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sas-only", action="store_true", help="write the SA files, record nothing")
    args = parser.parse_args()
    for direction in ("out", "in"):
        text = HEAD.format(direction=direction) + "".join(
            association(number, direction) for number in range(2 * PEERS)
        )
        (HERE / f"twenty-{direction}.toml").write_text(text)
    if not args.sas_only:
        command = [sys.executable, RECORD, "--peers", str(PEERS), "--size", "24000", HERE / "twenty.pcap"]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
