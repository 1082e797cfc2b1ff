# SPDX-License-Identifier: Apache-2.0
"""What passes the wire of tests/interop/orders.py: every frame is looked at for what is inside, and every ESP packet for
the number that it carries. And traffic in namespaces: marked packets all the time, and clear ones under inside addresses."""

import contextlib
import ctypes
import ipaddress
import os
import socket
import threading
import time

from clear import AH, ARP, ESP, ETH_P_ALL, ICMP, IPV4, IPV6, UDP, UNREACHABLE, carries

# In every packet of the inside, and in every one that somebody outside sends in clear under an inside address.
WORD = b"the word that nobody outside may read."
FORGED = b"a clear packet that nobody inside may get."
INSIDE = ipaddress.ip_network("10.0.0.0/16")
PORT = 7000
CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33
LIBC = ctypes.CDLL(None, use_errno=True)


def within(namespace, make):
    """What is made in a namespace: its sockets stay there."""
    made = []

    def enter():
        with open(f"/run/netns/{namespace}") as file:
            if LIBC.setns(file.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        made.append(make())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return made[0]


def inside(address):
    return ipaddress.ip_address(address) in INSIDE


def in_clear(frame):
    """Words for what a frame shows of the inside; nothing, if it shows nothing."""
    if FORGED in frame:
        return None
    if WORD in frame:
        return "the word"
    kind, packet = int.from_bytes(frame[12:14], "big"), frame[14:]
    if kind == ARP and len(packet) >= 28:
        return f"who has {ipaddress.ip_address(packet[24:28])}" if inside(packet[24:28]) else None
    if kind == IPV6:
        return None if packet[8] in (0xFE, 0) else "IPv6"
    if kind != IPV4 or len(packet) < 20 or carries(packet):
        return None
    if packet[9] == ICMP and packet[20:21] == bytes([UNREACHABLE]) and carries(packet[28:]):
        return None
    ends = [packet[12:16], packet[16:20]]
    return (
        f"protocol {packet[9]}, {' to '.join(str(ipaddress.ip_address(end)) for end in ends)}"
        if any(map(inside, ends))
        else None
    )


def esp(frame):
    """The ESP packet in a frame, if it is one."""
    packet = frame[14:]
    if int.from_bytes(frame[12:14], "big") != IPV4 or carries(packet) != "protected" or packet[9] == AH:
        return None
    header = (packet[0] & 15) * 4
    return packet[header:] if packet[9] == ESP else packet[header + 8 :]


class Wire:
    """Looks at the ports of a bridge. What a machine sends is seen once: at its own port, as it comes in there."""

    def __init__(self, namespace, ports):
        self.clear, self.twice = [], []
        self.protected, self.lost = 0, 0
        self.numbers, self.stopped = set(), False
        self.sockets = [within(namespace, lambda port=port: self.open(port)) for port in ports]
        self.threads = [threading.Thread(target=self.look, args=(s,), daemon=True) for s in self.sockets]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def open(port):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        sock.bind((port, 0))
        sock.settimeout(0.2)
        return sock

    def look(self, sock):
        while not self.stopped:
            try:
                frame, about = sock.recvfrom(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                # The port is down, and comes back.
                time.sleep(0.01)
                continue
            if about[2] != socket.PACKET_OUTGOING:
                self.judge(frame)

    def judge(self, frame):
        if (what := in_clear(frame)) is not None:
            self.clear.append((time.monotonic(), what))
        if (packet := esp(frame)) is None:
            return
        self.protected += 1
        # The SPI is that of a key here, and the IV of AES-GCM stands behind the number.
        spi, number, vector = packet[:4], packet[4:8], packet[8:16]
        for what in (spi + number, spi + b"v" + vector):
            if what in self.numbers:
                self.twice.append((time.monotonic(), what.hex()))
            self.numbers.add(what)

    def stop(self):
        self.stopped = True
        for thread in self.threads:
            thread.join()


class Flow:
    """Marked datagrams from one host inside to another, all the time."""

    def __init__(self, namespace, source, to, pause):
        self.namespace, self.source, self.to, self.pause = namespace, source, to, pause
        self.sock = within(namespace, self.open)
        self.arrived, self.forged, self.stopped = 0, [], False
        for work in (self.send, self.take):
            threading.Thread(target=work, daemon=True).start()

    def open(self):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((self.source, PORT))
        sock.settimeout(0.2)
        return sock

    def send(self):
        while not self.stopped:
            with contextlib.suppress(OSError):
                self.sock.sendto(WORD + os.urandom(8), (self.to, PORT))
            time.sleep(self.pause)

    def take(self):
        while not self.stopped:
            try:
                data = self.sock.recv(2048)
            except OSError:
                continue
            if FORGED in data:
                self.forged.append((time.monotonic(), f"{self.source}: a forged packet"))
            elif WORD in data:
                self.arrived += 1


class Forger:
    """Sends clear packets under inside addresses to a machine, from the bridge, unless it is told to be quiet."""

    def __init__(self, namespace, port, machine, pairs, pause):
        self.frames = [self.frame(machine, *pair) for pair in pairs]
        self.namespace, self.port, self.pause = namespace, port, pause
        self.quiet, self.stopped, self.sent = False, False, 0
        self.lock = threading.Lock()
        self.sock = within(namespace, self.open)
        threading.Thread(target=self.send, daemon=True).start()

    @staticmethod
    def open():
        return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)

    @staticmethod
    def frame(machine, source, to):
        udp = b"".join(n.to_bytes(2, "big") for n in (PORT, PORT, 8 + len(FORGED), 0)) + FORGED
        header = bytearray(
            b"\x45\0" + (20 + len(udp)).to_bytes(2, "big") + bytes([0, 1, 0, 0, 64, UDP, 0, 0])
        )
        header += socket.inet_aton(source) + socket.inet_aton(to)
        total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, 20, 2))
        header[10:12] = (0xFFFF - (total % 0xFFFF)).to_bytes(2, "big")
        return machine + b"\x02\0\0\0\0\x09" + IPV4.to_bytes(2, "big") + bytes(header) + udp

    def send(self):
        while not self.stopped:
            with self.lock:
                for frame in [] if self.quiet else self.frames:
                    with contextlib.suppress(OSError):
                        # By name: the port comes and goes.
                        self.sock.sendto(frame, (self.port, 0))
                        self.sent += 1
            time.sleep(self.pause)

    def hush(self, quiet):
        """From when this returns."""
        with self.lock:
            self.quiet = quiet
        if quiet:
            # What is under way has been judged.
            time.sleep(0.02)
