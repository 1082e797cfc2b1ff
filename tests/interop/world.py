# SPDX-License-Identifier: Apache-2.0
"""Every suite of the model in every shape: SAs, their file, and the packets that each of them gets."""

import json
import random
import struct
import subprocess
from dataclasses import dataclass, field
from itertools import product

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_Router_Alert, IPOption_RR
from scapy.layers.inet6 import HBHOptUnknown, IPv6, IPv6ExtHdrHopByHop
from scapy.packet import Raw

# Link type of raw IP, version by the first four bits.
RAW_IP = 101


@dataclass
class Sa:
    number: int
    protocol: str
    cipher: dict
    auth: dict
    mode: str
    version: int
    esn: bool
    first: int
    key: bytes
    auth_key: bytes
    clear: list[bytes] = field(default_factory=list)

    @property
    def spi(self):
        return 0x1000 + self.number

    @property
    def suite(self):
        names = [self.cipher["name"]] * (self.protocol == "esp") + [self.auth["name"]]
        return f"{self.protocol} " + " + ".join(name for name in names if name != "none")

    @property
    def name(self):
        esn = ", ESN" if self.esn else ""
        return f"{self.suite}, {self.mode}, IPv{self.version}{esn} (SPI {self.spi:#x})"

    @property
    def ends(self):
        high, low = divmod(self.number, 256)
        if self.mode == "tunnel":
            return ("192.0.2.1", "192.0.2.2") if self.version == 4 else ("2001:db8::1", "2001:db8::2")
        if self.version == 4:
            return f"10.{128 + high}.{low}.1", f"10.{128 + high}.{low}.2"
        return f"fd00:1::{self.number + 1:x}", f"fd00:2::{self.number + 1:x}"

    @property
    def inner(self):
        """Ends of what is carried; a tunnel carries the other family as well."""
        if self.mode == "transport":
            return self.ends
        high, low = divmod(self.number, 256)
        if self.number % 3:
            return f"10.{high}.{low}.1", "10.255.0.1"
        return f"fd00:3::{self.number + 1:x}", "fd00:4::1"

    def numbers(self):
        """Of its packets."""
        return [self.first + n for n in range(len(self.clear))]

    def toml(self):
        (local, remote), (src, dst) = self.ends, self.inner
        fresh = "fresh_key = true\n" if self.cipher["implicit_iv"] else ""
        key = f'key = "{self.key.hex()}"\n' if self.key else ""
        auth_key = f'auth_key = "{self.auth_key.hex()}"\n' if self.auth_key else ""
        return (
            f'[[sa]]\nname = "{self.number}"\nspi = {self.spi}\ndirection = "out"\n'
            f'protocol = "{self.protocol}"\nmode = "{self.mode}"\nlocal = "{local}"\nremote = "{remote}"\n'
            f'selector = {{ src = "{src}", dst = "{dst}" }}\ncipher = "{self.cipher["name"]}"\n{key}'
            f'auth = "{self.auth["name"]}"\n{auth_key}{fresh}esn = {str(self.esn).lower()}\n'
            f"first_sequence = {self.first}\n\n"
        )


def suites(ace):
    """(protocol, cipher, authentication) of all that the model has."""
    listed = json.loads(
        subprocess.run([ace, "sas", "suites", "--json"], check=True, capture_output=True).stdout
    )
    none = next(auth for auth in listed["auths"] if auth["name"] == "none")
    null = next(cipher for cipher in listed["ciphers"] if cipher["name"] == "null")
    for cipher in listed["ciphers"]:
        for auth in [none] if cipher["combined"] else listed["auths"]:
            yield "esp", cipher, auth
    for auth in listed["auths"]:
        if auth is not none:
            yield "ah", null, auth


def clear(sa, rng):
    """Three packets: short, of any length, with options or extension headers."""
    src, dst = sa.inner
    short, long = (Raw(rng.randbytes(rng.randrange(*size))) for size in ((0, 20), (20, 400)))
    if ":" in src:
        head = IPv6(src=src, dst=dst, tc=0x28, fl=0x12345, hlim=63)
        # Its data may change on the way: AH leaves it out.
        hop = IPv6ExtHdrHopByHop(options=[HBHOptUnknown(otype=0x3E, optdata=b"abcd")])
        yield head / UDP(sport=1, dport=2) / short
        yield head / TCP(sport=3, dport=4, seq=rng.randrange(2**32)) / long
        yield head / hop / UDP(sport=5, dport=6) / long
    else:
        head = {"src": src, "dst": dst, "ttl": 63, "id": rng.randrange(2**16), "tos": 0xB8}
        options = [IPOption_Router_Alert(), IPOption_RR(routers=["0.0.0.0"]), IPOption_NOP()]
        yield IP(**head) / UDP(sport=1, dport=2) / short
        yield IP(**head, flags="DF") / TCP(sport=3, dport=4, seq=rng.randrange(2**32)) / long
        yield IP(**head, options=options) / ICMP() / short


def make(ace, part, seed=2026):
    """The SAs. With `part` each suite has two shapes of the eight, else all."""
    rng = random.Random(seed)
    sas = []
    shapes = list(product(("tunnel", "transport"), (4, 6), (False, True)))
    for at, (protocol, cipher, auth) in enumerate(suites(ace)):
        authentic = cipher["combined"] or auth["name"] != "none"
        able = [shape for shape in shapes if authentic or not shape[2]]
        for mode, version, esn in [able[(at + n * 3) % len(able)] for n in (0, 1)] if part else able:
            # Of every second SA with extended numbers the low half wraps between packets.
            low = 0xFFFF_FFFF if esn and len(sas) % 2 else rng.randrange(1, 2**32 - 3)
            high = rng.randrange(1, 2**31) if esn else 0
            sa = Sa(
                number=len(sas),
                protocol=protocol,
                cipher=cipher,
                auth=auth,
                mode=mode,
                version=version,
                esn=esn,
                first=high << 32 | low,
                key=rng.randbytes(cipher["key"] + cipher["nonce"]),
                auth_key=rng.randbytes(auth["key"]),
            )
            sa.clear = [bytes(packet) for packet in clear(sa, rng)]
            sas.append(sa)
    return sas


def write_file(path, sas):
    path.write_text("allow_legacy = true\n" + "".join(sa.toml() for sa in sas))


def write_capture(path, packets):
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW_IP))
        for n, packet in enumerate(packets):
            file.write(struct.pack("<IIII", 1_700_000_000, n, len(packet), len(packet)) + packet)


def read_capture(path):
    data, at, packets = path.read_bytes(), 24, []
    assert struct.unpack_from("<I", data)[0] in (0xA1B2C3D4, 0xA1B23C4D), f"{path}: not a pcap file"
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        packets.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return packets
