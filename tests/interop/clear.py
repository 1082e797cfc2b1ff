# SPDX-License-Identifier: Apache-2.0
"""Watches a device until SIGTERM; exit code 1 if anything passed in clear: whatever is not ESP, AH, IKE, ESP in UDP, ARP
or what hosts say of themselves: IPv6 to find each other, IGMP of groups. Says how many packets were protected; with --ike, as JSON, how long each
negotiation took from the first IKE_SA_INIT to the last answer of IKE_AUTH, which brings the first CHILD_SA."""

import collections
import json
import signal
import socket
import sys
import time

ETH_P_ALL = 3
IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
ESP, AH, UDP, ICMP, ICMPV6, HOP_BY_HOP = 50, 51, 17, 1, 58, 0
UNREACHABLE = 3
# RFC 3376, 4.2.14: where reports go.
IGMP, IGMP_ROUTERS = 2, bytes([224, 0, 0, 22])
ESP_IN_UDP = 4500
IKE = (500, ESP_IN_UDP)
# RFC 7296, 3.1: exchanges and the flag of an answer.
IKE_SA_INIT, IKE_AUTH, RESPONSE = 34, 35, 0x20


def carries(packet):
    """`protected` or `allowed`, if an IPv4 packet is of those."""
    header = (packet[0] & 15) * 4
    if packet[9] in (ESP, AH):
        return "protected"
    # A translator gives one end another port.
    ports = {int.from_bytes(packet[header + at : header + at + 2], "big") for at in (0, 2)}
    if packet[9] != UDP or not ports & set(IKE):
        return None
    # ESP in UDP has its SPI where IKE has four zeros (RFC 3948).
    payload = packet[header + 8 :]
    return "protected" if ESP_IN_UDP in ports and len(payload) > 8 and any(payload[:4]) else "allowed"


def judge(frame):
    """What a frame is: `protected`, `allowed`, or words for what is in clear."""
    kind, packet = int.from_bytes(frame[12:14], "big"), frame[14:]
    if kind == ARP:
        return "allowed"
    if kind == IPV6:
        return "allowed" if packet[6] in (ICMPV6, HOP_BY_HOP) and packet[8] in (0xFE, 0) else "IPv6"
    if kind != IPV4:
        return f"type {kind:#x}"
    header = (packet[0] & 15) * 4
    if packet[9] == IGMP and packet[16:20] == IGMP_ROUTERS:
        return "allowed"
    if packet[9] == ICMP and packet[header] == UNREACHABLE:
        # The kernel says of a packet of these that nobody takes it, and quotes its beginning.
        return "allowed" if carries(packet[header + 8 :]) else "a quotation"
    if kind := carries(packet):
        return kind
    ends = [".".join(map(str, packet[at : at + 4])) for at in (12, 16)]
    return f"protocol {packet[9]}, {ends[0]} to {ends[1]}"


def ike(frame):
    """The initiator's SPI, the exchange and whether it is an answer, of a frame that carries IKE."""
    packet = frame[14:]
    if int.from_bytes(frame[12:14], "big") != IPV4 or packet[9] != UDP or carries(packet) != "allowed":
        return None
    udp = packet[(packet[0] & 15) * 4 :]
    message = (
        udp[12:]
        if ESP_IN_UDP in (int.from_bytes(udp[:2], "big"), int.from_bytes(udp[2:4], "big"))
        else udp[8:]
    )
    return (message[:8], message[18], bool(message[19] & RESPONSE)) if len(message) >= 28 else None


class Negotiations:
    """How long each took, by its initiator's SPI."""

    def __init__(self):
        self.begun, self.ended = {}, {}

    def take(self, frame, now):
        if (found := ike(frame)) is None:
            return
        spi, exchange, answer = found
        if exchange == IKE_SA_INIT and not answer:
            self.begun.setdefault(spi, now)
        elif exchange == IKE_AUTH and answer and spi in self.begun:
            self.ended[spi] = now

    def milliseconds(self):
        return [round(1e3 * (end - self.begun[spi]), 3) for spi, end in self.ended.items()]


def main():
    timed = "--ike" in sys.argv[2:]
    negotiations = Negotiations()
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    sock.bind((sys.argv[1], 0))
    sock.settimeout(0.2)
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    seen = collections.Counter()
    print("watching", file=sys.stderr, flush=True)
    while not stopped:
        try:
            frame = sock.recv(200)
            negotiations.take(frame, time.monotonic())
            seen[judge(frame)] += 1
        except TimeoutError:
            continue
    clear = {what: count for what, count in seen.items() if what not in ("protected", "allowed")}
    if timed and clear:
        print(f"in clear: {clear}", file=sys.stderr, flush=True)
    if timed:
        print(json.dumps({"negotiation_ms": negotiations.milliseconds()}, indent=1), flush=True)
    else:
        print(f"on the wire: {seen['protected']} packets protected, in clear {clear or 'none'}", flush=True)
    sys.exit(bool(clear) or not seen["protected"])


if __name__ == "__main__":
    main()
