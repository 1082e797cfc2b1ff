#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the demo's traffic: hosts B and C download a file each from host A over TCP, at the same time; with --peers as
many hosts as wanted.

Network namespaces joined by veth pairs; no packet leaves this machine. What A's two interfaces see is
written, in clear, as a pcap file. Needs root and iproute2. Offloads are switched off so that the capture holds
what a wire would: packets of at most one MTU with complete checksums.
"""

import argparse
import ctypes
import fcntl
import hashlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time

HOSTS = {"a": "10.0.0.1"}
PORT = 8080
SIOCETHTOOL = 0x8946
# ETHTOOL_SRXCSUM, STXCSUM, SSG, STSO, SGSO, SGRO of linux/ethtool.h
OFFLOADS = [0x15, 0x17, 0x19, 0x1F, 0x24, 0x2C]
ETH_P_ALL = 3
# asm-generic/socket.h
SO_RCVBUFFORCE = 33
SO_MAX_PACING_RATE = 47


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def peers():
    return [host for host in HOSTS if host != "a"]


def namespace(host):
    return f"ace-{host}"


def enter(host):
    """Moves the calling thread into the host's network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace(host)}") as handle:
        if libc.setns(handle.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), f"setns {host}")


def switch_offloads_off(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP", interface.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(sock, SIOCETHTOOL, request)
            except OSError as error:
                print(f"{interface}: offload {command:#x} stays as it is ({error})", file=sys.stderr)


def build(mtu):
    for host in HOSTS:
        ip("netns", "add", namespace(host))
        ip("-n", namespace(host), "link", "set", "lo", "up")
    for peer in peers():
        near, far = f"to-{peer}", "to-a"
        a, other = namespace("a"), namespace(peer)
        ip("link", "add", near, "netns", a, "type", "veth", "peer", "name", far, "netns", other)
        for name, interface in ((a, near), (other, far)):
            ip("-n", name, "link", "set", interface, "mtu", str(mtu), "up")
        ip("-n", a, "addr", "add", HOSTS["a"], "peer", HOSTS[peer], "dev", near)
        ip("-n", other, "addr", "add", HOSTS[peer], "peer", HOSTS["a"], "dev", far)


def tear_down():
    for host in HOSTS:
        subprocess.run(["ip", "netns", "del", namespace(host)], check=False, stderr=subprocess.DEVNULL)


class Recorder(threading.Thread):
    """Collects (time in ns, frame) of every IPv4 packet on A's interfaces."""

    def __init__(self):
        super().__init__(daemon=True)
        self.frames = []
        self.ready = threading.Event()
        self.stop = threading.Event()

    def run(self):
        enter("a")
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        sock.settimeout(0.1)
        self.ready.set()
        while not self.stop.is_set():
            try:
                frame, (interface, protocol, *_rest) = sock.recvfrom(65536)
            except TimeoutError:
                continue
            if interface != "lo" and protocol == 0x0800:
                self.frames.append((time.time_ns(), frame))


def serve(content, clients, ready):
    enter("a")
    with socket.create_server((HOSTS["a"], PORT)) as server:
        ready.set()
        workers = []
        for _ in range(clients):
            connection, _peer = server.accept()
            worker = threading.Thread(target=answer, args=(connection, content))
            worker.start()
            workers.append(worker)
        for worker in workers:
            worker.join()


def answer(connection, content):
    with connection:
        # A 100 Mbit/s network, so that the two downloads interleave as they would on a wire.
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 100_000_000 // 8)
        connection.recv(4096)
        head = f"HTTP/1.0 200 OK\r\nContent-Length: {len(content)}\r\n\r\n"
        connection.sendall(head.encode() + content)


def download(host, barrier, results):
    enter(host)
    barrier.wait()
    with socket.create_connection((HOSTS["a"], PORT)) as connection:
        connection.sendall(b"GET /file HTTP/1.0\r\n\r\n")
        data = bytearray()
        while block := connection.recv(8192):
            data += block
    results[host] = bytes(data.split(b"\r\n\r\n", 1)[1])


def write_pcap(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for when, frame in frames:
            seconds, rest = divmod(when, 10**9)
            out.write(struct.pack("<IIII", seconds, rest // 1000, len(frame), len(frame)))
            out.write(frame)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", help="pcap file to write")
    parser.add_argument("--size", type=int, default=128 * 1024, help="bytes of the file (default 131072)")
    parser.add_argument("--mtu", type=int, default=1400, help="bytes; leaves room for ESP (default 1400)")
    parser.add_argument("--peers", type=int, default=2, help="hosts that download, 1 to 20 (default 2)")
    args = parser.parse_args()
    if not 1 <= args.peers <= 20:
        parser.error(f"--peers {args.peers}: 1 to 20")
    for number in range(args.peers):
        HOSTS[chr(ord("b") + number)] = f"10.0.0.{2 + number}"
    if os.geteuid() != 0:
        sys.exit("record.py: needs root, to make network namespaces")

    # Text-like content that needs no file: lines of digests.
    content = b"".join(
        hashlib.sha256(str(i).encode()).hexdigest().encode() + b"\n" for i in range(args.size // 65 + 1)
    )
    content = content[: args.size]
    tear_down()
    try:
        build(args.mtu)
        all_interfaces = [("a", [f"to-{peer}" for peer in peers()])] + [(peer, ["to-a"]) for peer in peers()]
        for host, interfaces in all_interfaces:
            thread = threading.Thread(
                target=lambda h=host, i=interfaces: (enter(h), [switch_offloads_off(x) for x in i])
            )
            thread.start()
            thread.join()
        time.sleep(0.5)
        recorder = Recorder()
        recorder.start()
        recorder.ready.wait()
        ready = threading.Event()
        server = threading.Thread(target=serve, args=(content, args.peers, ready))
        server.start()
        ready.wait()
        results, barrier = {}, threading.Barrier(args.peers)
        clients = [threading.Thread(target=download, args=(host, barrier, results)) for host in peers()]
        for thread in clients:
            thread.start()
        for thread in [*clients, server]:
            thread.join(60)
        time.sleep(0.5)
        recorder.stop.set()
        recorder.join()
    finally:
        tear_down()
    for host in peers():
        if results.get(host) != content:
            sys.exit(f"record.py: host {host} did not receive the file as it was sent")
    write_pcap(args.output, recorder.frames)
    largest = max(len(frame) for _when, frame in recorder.frames)
    print(
        f"{args.output}: {len(recorder.frames)} packets, largest {largest} bytes, {args.peers} times a file of"
        f" {len(content)} bytes"
    )


if __name__ == "__main__":
    main()
