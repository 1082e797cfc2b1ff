#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many bytes ESP adds to a capture, suite by suite: overhead.py CAPTURE FROM TO

Everything that ACE knows comes as JSON: the suites that there are, and what a run did. Needs `ace` on the path, nothing else.
"""

import json
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

SA = """default_policy = "bypass"
[[sa]]
name = "all"
spi = 0x1001
direction = "out"
mode = "tunnel"
local = "192.0.2.1"
remote = "192.0.2.2"
selector = {{ src = "{source}", dst = "{to}" }}
cipher = "{cipher}"
key = "{key}"
"""
AUTH = 'auth = "{auth}"\nauth_key = "{auth_key}"\n'


def ace(*args: str) -> dict:
    """What a command of `ace` prints with --json; its own words end the program if it fails."""
    done = subprocess.run(["ace", *args, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    return json.loads(done.stdout)


def main(capture: str, source: str, to: str) -> None:
    suites = ace("sas", "suites")
    auth = next(auth for auth in suites["auths"] if auth["name"] == "hmac-sha256-128")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        sas, out = Path(name, "sas.toml"), Path(name, "out.pcap")
        for cipher in suites["ciphers"]:
            if cipher["legacy"] or cipher["name"] == "null":
                continue
            key = secrets.token_hex(cipher["key"] + cipher["nonce"])
            text = SA.format(source=source, to=to, cipher=cipher["name"], key=key)
            if cipher["implicit_iv"]:
                text += "fresh_key = true\n"
            if not cipher["combined"]:
                text += AUTH.format(auth=auth["name"], auth_key=secrets.token_hex(auth["key"]))
            sas.write_text(text)
            run = ace("run", capture, "--sas", str(sas), "-o", str(out), "--engine", "cpu")
            clear, esp = (run["sas"][0]["counters"][side] for side in ("accepted", "forwarded"))
            if not esp["packets"]:
                raise SystemExit(f"no packet of {capture} goes from {source} to {to}")
            suite = cipher["name"] if cipher["combined"] else f"{cipher['name']} + {auth['name']}"
            rows.append(((esp["bytes"] - clear["bytes"]) / esp["packets"], suite, esp["packets"]))
    print("bytes a packet  packets  suite")
    for added, suite, packets in sorted(rows):
        print(f"{added:14.1f}  {packets:7}  {suite}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
