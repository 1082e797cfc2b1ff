# SPDX-License-Identifier: Apache-2.0
"""SAs as we and as Linux write them, the packets of each, and the wire to the machine."""

import random
import socket
import struct
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from itertools import product
from pathlib import Path

HOST, GUEST = "192.0.2.1", "192.0.2.2"
HOST_MAC, GUEST_MAC = "52:54:00:ac:e0:01", "52:54:00:ac:e0:02"
RAW_IP = 101
# Busybox takes `ip` for its own, which knows no xfrm.
IP = "/bin/ip-real"
TABLE = tomllib.loads((Path(__file__).parents[2] / "crates/ace-ipsec/suites.toml").read_text())
# What is tried, by the names that XFRM has for it.
CIPHER_NAMES = {
    row["name"].replace("{bits}", str(bits)): row["kernel"][0]
    for row in TABLE["cipher"]
    for bits in row.get("key_bits", [0])
    if "kernel" in row
}
CIPHERS = {
    name: CIPHER_NAMES[name]
    for name in [
        "aes-128-cbc",
        "aes-256-cbc",
        "aes-128-ctr",
        "3des-cbc",
        "cast128-cbc",
        "serpent-128-cbc",
        "serpent-256-cbc",
        "twofish-128-cbc",
        "twofish-256-cbc",
        "camellia-128-cbc",
        "camellia-256-cbc",
        "null",
    ]
}
COMBINED = {
    name: CIPHER_NAMES[name]
    for name in [
        "aes-128-gcm-16",
        "aes-256-gcm-16",
        "aes-128-gcm-8",
        "aes-128-gmac",
        "aes-128-ccm-16",
        "aes-256-ccm-8",
        "chacha20-poly1305",
    ]
}
MACS = {row["name"]: (row["kernel"][0], 8 * row["icv"]) for row in TABLE["auth"] if row["icv"]}


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def tell(*words):
    run("ip", *words)


@dataclass
class Sa:
    """Both directions between us and the machine."""

    COUNT = 4
    # With extended numbers the low half wraps between the packets.
    FIRST = 5 << 32 | 0xFFFF_FFFE

    number: int
    protocol: str
    cipher: dict
    auth: dict
    mode: str
    esn: bool
    keys: tuple
    encapsulated: bool = False

    @property
    def name(self):
        names = [name for name in (self.cipher["name"], self.auth["name"]) if name != "none"]
        names = names[1:] if self.protocol == "ah" else names
        return f"{self.protocol} {' + '.join(names)}, {self.mode}{', ESN' if self.esn else ''}"

    @property
    def spis(self):
        """There and back."""
        return 0x1000 + self.number, 0x8000 + self.number

    @property
    def ends(self):
        return (HOST, GUEST) if self.mode == "tunnel" else self.inner

    @property
    def inner(self):
        high, low = divmod(self.number, 256)
        return f"10.{high + 1}.{low}.1", f"10.{high + 1}.{low}.2"

    def toml(self):
        (local, remote), inner = self.ends, self.inner
        text = ""
        for direction, spi, (key, auth_key), (src, dst) in zip(
            ("out", "in"), self.spis, self.keys, (inner, inner[::-1]), strict=True
        ):
            text += (
                f'[[sa]]\nname = "{self.number}-{direction}"\nspi = {spi}\ndirection = "{direction}"\n'
                f'protocol = "{self.protocol}"\nmode = "{self.mode}"\nlocal = "{local}"\nremote = "{remote}"\n'
                f'selector = {{ src = "{src}", dst = "{dst}" }}\ncipher = "{self.cipher["name"]}"\n'
                f'auth = "{self.auth["name"]}"\nesn = {str(self.esn).lower()}\nfresh_key = true\n'
            )
            text += f'key = "{key.hex()}"\n' if key else ""
            text += f'auth_key = "{auth_key.hex()}"\n' if auth_key else ""
            text += f"first_sequence = {self.FIRST}\n" if self.esn else ""
        return text

    def commands(self):
        """For `ip xfrm` on the machine."""
        ours, theirs = self.ends
        for at, (src, dst) in enumerate(((ours, theirs), (theirs, ours))):
            key, auth_key = self.keys[at]
            words = f"state add src {src} dst {dst} proto {self.protocol} spi {self.spis[at]} reqid {self.number + 1} mode {self.mode}"
            if self.cipher["combined"]:
                name = COMBINED[self.cipher["name"]]
                words += f" aead '{name}' 0x{key.hex()} {self.cipher['icv'] * 8}"
            else:
                name, bits = MACS[self.auth["name"]]
                words += f" auth-trunc '{name}' 0x{auth_key.hex()} {bits}"
                if self.protocol == "esp":
                    key = f"0x{key.hex()}" if key else '""'
                    words += f" enc '{CIPHERS[self.cipher['name']]}' {key}"
            words += " replay-window 64"
            # Without it Linux fills AH up to 8 bytes in IPv4 too, which RFC 4302 (3.3.3.2.1) does not.
            flags = ["align4"] * (self.protocol == "ah") + ["esn"] * self.esn
            words += "".join(f" flag {flag}" for flag in flags)
            if self.esn:
                side = ("replay-seq", "replay-seq-hi") if at == 0 else ("replay-oseq", "replay-oseq-hi")
                words += f" {side[0]} {(self.FIRST & 0xFFFFFFFF) - 1} {side[1]} {self.FIRST >> 32}"
            if self.encapsulated:
                words += " encap espinudp 4500 4500 0.0.0.0"
            yield words
        for direction, (src, dst), end in (
            ("in", self.inner, self.ends),
            ("out", self.inner[::-1], self.ends[::-1]),
        ):
            yield (
                f"policy add src {src} dst {dst} dir {direction} tmpl src {end[0]} dst {end[1]} proto {self.protocol} "
                f"reqid {self.number + 1} mode {self.mode}"
            )


def make(listed):
    """Every transform in tunnel and transport, with and without extended numbers; and one for UDP."""
    rng = random.Random(2026)
    ciphers = {cipher["name"]: cipher for cipher in listed["ciphers"]}
    auths = {auth["name"]: auth for auth in listed["auths"]}
    suites = [("esp", name, "none") for name in COMBINED]
    # Each cipher with one MAC, each MAC with AES, and AH with each.
    macs = list(MACS)
    suites += [("esp", name, macs[at % len(macs)]) for at, name in enumerate(CIPHERS)]
    suites += [("esp", "aes-128-cbc", mac) for mac in macs if ("esp", "aes-128-cbc", mac) not in suites]
    suites += [("ah", "null", mac) for mac in macs]
    sas = []
    for (protocol, cipher, auth), mode, esn in product(suites, ("tunnel", "transport"), (False, True)):
        cipher, auth = ciphers[cipher], auths[auth]
        keys = tuple(
            (
                rng.randbytes(cipher["key"] + cipher["nonce"] if protocol == "esp" else 0),
                rng.randbytes(auth["key"]),
            )
            for _ in range(2)
        )
        sas.append(Sa(len(sas), protocol, cipher, auth, mode, esn, keys))
    keys = tuple((rng.randbytes(20), b"") for _ in range(2))
    return sas, Sa(
        len(sas), "esp", ciphers["aes-128-gcm-16"], auths["none"], "tunnel", False, keys, encapsulated=True
    )


def script(sas):
    """What the machine does: addresses, and SAs and policies, of which it names those that it does not take."""
    lines = [
        f"{IP} address add {GUEST}/24 dev eth0",
        f"{IP} neigh replace {HOST} lladdr {HOST_MAC} dev eth0 nud permanent",
    ]
    lines.append(f"{IP} route add default via {HOST} dev eth0")
    for sa in sas:
        lines.append(f"{IP} address add {sa.inner[1]}/32 dev lo")
        all_of_it = " && ".join(f"{IP} xfrm {command}" for command in sa.commands())
        lines.append(f"{{ {all_of_it}; }} || echo ACE REFUSED {sa.number}")
    return "\n".join(lines) + "\n"


def checksum(data):
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def echo(sa, number, reply=False):
    """The part of it that both ends agree on; the whole of a request."""
    src, dst = (socket.inet_aton(end) for end in sa.inner)
    text = random.Random(sa.number * 16 + number).randbytes((8, 100, 1200, 56)[number])
    icmp = struct.pack("!BBHHH", 0 if reply else 8, 0, 0, sa.number, number) + text
    icmp = icmp[:2] + struct.pack("!H", checksum(icmp)) + icmp[4:]
    if reply:
        return icmp
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), number, 0, 64, 1, 0) + src + dst
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + icmp


def write_capture(path, packets):
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW_IP))
        for n, packet in enumerate(packets):
            file.write(struct.pack("<IIII", 1_700_000_000, n, len(packet), len(packet)) + packet)


def read_capture(path):
    """Packets; of echo replies what is behind the IP header."""
    data, at, packets = path.read_bytes(), 24, []
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        packet = data[at + 16 : at + 16 + length]
        packets.append(packet[20:] if packet[9] == 1 else packet)
        at += 16 + length
    return packets


class Tap:
    """The wire, as frames."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind(("wire", 0))
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, _sa, packet):
        macs = bytes.fromhex((GUEST_MAC + HOST_MAC).replace(":", ""))
        self.socket.send(macs + b"\x08\x00" + packet)
        # The machine is slow, and its queue short.
        time.sleep(0.004)

    def hear(self, count, seconds):
        """ESP and AH from the machine, until there are so many and a little longer."""
        heard, until = [], time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame, (_, _, kind, *_) = self.socket.recvfrom(65536)
            except TimeoutError:
                break
            packet = frame[14:]
            if kind == socket.PACKET_OUTGOING or frame[12:14] != b"\x08\x00" or packet[9] not in (50, 51):
                continue
            heard.append(packet[: struct.unpack("!H", packet[2:4])[0]])
            if len(heard) == count:
                until = min(until, time.monotonic() + 1)
        return heard


def pings(to, count):
    """Whether each of so many is answered within a second."""
    answered = []
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        for number in range(count):
            body = struct.pack("!BBHHH", 8, 0, 0, 0xACE, number) + b"in UDP"
            body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
            sock.sendto(body, (to, 0))
            until, found = time.monotonic() + 1, False
            while not found and (left := until - time.monotonic()) > 0:
                sock.settimeout(left)
                try:
                    answer = sock.recv(2048)
                except TimeoutError:
                    break
                found = answer[20] == 0 and answer[24:] == body[4:]
            answered.append(found)
    return answered
