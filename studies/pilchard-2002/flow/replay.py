# SPDX-License-Identifier: Apache-2.0
"""Table 4 of 2002: python -m ace_flow vpn-replay prints as JSON what `ace gateway replay` makes of the recordings.

Modelled time: the same traffic with a processor alone, with the board alone, and with both, TCP as a closed loop, UDP from
a sender that waits. A processor is this machine with what 3DES and HMAC-MD5 take beyond AES-GCM, which is nearly free
(vpn.json); the same with portable software (studies/processors); or that of the paper as its Section 5 states it: LibDES,
and as much again for everything else. What the traffic consists of is counted beside it, by length.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

from ace_flow.tools import ROOT

STUDY = ROOT / "studies" / "pilchard-2002"
ENDS = {"sender": "a", "receiver": "b"}
PROTOCOLS = {"TCP": 6, "UDP": 17}
PORTABLE = ROOT / "studies" / "processors" / "this-machine.toml"


def rate(path: Path, algorithm: str) -> float:
    """Mb/s of a processor of studies/processors."""
    rows = tomllib.loads(path.read_text())["rate"]
    return next(row["mbps"] for row in rows if row["algorithm"] == algorithm)


def enciphered(packet: int) -> int:
    """Bytes that ESP enciphers of a packet with 3DES: with padding, its length and the next header."""
    return (packet + 2 + 7) // 8 * 8


def processor(folder: Path, name: str, source: str, rates: dict[str, float]) -> Path:
    """A file as in studies/processors."""
    lines = [f'name = "{name}"', f'source = "{source}"']
    lines += [f'[[rate]]\nalgorithm = "{algorithm}"\nmbps = {mbps:.1f}' for algorithm, mbps in rates.items()]
    path = folder / f"{name.split()[0]}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def recording(path: Path) -> dict:
    """What went through: packets by direction and length, the data of the flow that carries most."""
    flows: dict[int, dict] = {}
    packets: Counter = Counter()
    out = {}
    for line in path.read_text().splitlines():
        match json.loads(line):
            case {"sa": sa}:
                out[sa["number"]] = sa["out"]
            case {"flow": flow}:
                flows[flow["number"]] = flow
            case {"packet": [_, sa, _, size, *_]}:
                packets[("out" if out[sa] else "in", size)] += 1
    return {"packets": [[way, size, count] for (way, size), count in sorted(packets.items())]}


def replay(ace: str, path: Path, profile: Path, packet_us: float, *more: str) -> dict[str, float]:
    """Mbit/s of the stream, by who computes."""
    command = [ace, "gateway", "replay", str(path), "--json", "--greedy", "--processor", str(profile)]
    command += ["--packet-us", f"{packet_us:.3f}", *more]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    protocol = path.stem.split("-")[0]
    found = {}
    for side in json.loads(done.stdout)["sides"]:
        found[side["what"]] = next(s["mbps"] for s in side["streams"] if s["protocol"] == protocol)
    return found


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    measured = json.loads((STUDY / "vpn.json").read_text())["values"]
    libdes = tomllib.loads((STUDY / "paper.toml").read_text())["software"]["tdes_cbc"]
    gcm_us, suite_us = measured["packet_us"].values()
    # Headers of IPv4 and UDP before the data; the IV behind.
    packet = measured["buffers"]["packets"]["udp"] + 28
    bits = enciphered(packet) * 8
    md5 = rate(PORTABLE, "md5")
    md5_us = (enciphered(packet) + 16) * 8 / md5
    rows, streams = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        here = {"3des": bits / max(suite_us - gcm_us - md5_us, 0.1), "md5": md5}
        machines = [
            ("this machine, as measured", processor(folder, "here", "vpn.json", here), gcm_us, []),
            ("this machine, portable software", PORTABLE, gcm_us, []),
            (
                "P-III 866, Pilchard's host link",
                processor(
                    folder, "P-III 866", "the paper, Sections 2.2 and 5.3", {"3des": libdes, "md5": 1e7}
                ),
                bits / libdes,
                ["--board", str(STUDY / "board.toml")],
            ),
        ]
        for protocol in PROTOCOLS:
            for side, end in ENDS.items():
                path = STUDY / "recordings" / f"{protocol}-{end}.rec"
                streams.append({"protocol": protocol, "side": side, **recording(path)})
                for what, profile, packet_us, more in machines:
                    print(f"{what}: {protocol} {side}", file=sys.stderr, flush=True)
                    mbps = replay(ace, path, profile, packet_us, *more)
                    rows.append(
                        {
                            "machine": what,
                            "protocol": protocol,
                            "side": side,
                            "packet_us": packet_us,
                            "mbps": mbps,
                        }
                    )
    print(json.dumps({"streams": streams, "replayed": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
