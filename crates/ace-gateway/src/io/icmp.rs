// SPDX-License-Identifier: Apache-2.0
//! ICMP errors that say that a packet was too long. The kernel gives raw sockets a copy of every message; a filter leaves
//! these alone.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{MsgFlags, recv};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use super::bpf;
use crate::core::TooBig;

/// Of one turn.
const BATCH: usize = 64;
/// More than what routers quote.
const LONGEST: usize = 2048;

pub struct Icmp {
    four: Socket,
    /// `None`: no IPv6 here.
    six: Option<Socket>,
}

impl Icmp {
    /// # Errors
    /// As the system says: it takes CAP_NET_RAW.
    pub fn open() -> io::Result<Self> {
        let open = |domain, protocol| -> io::Result<Socket> {
            let socket = Socket::new(domain, Type::RAW, Some(protocol))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let four = open(Domain::IPV4, Protocol::ICMPV4)?;
        // Behind the IP header: type and code "fragmentation needed".
        four.attach_filter(&[
            SockFilter::new(bpf::LOAD_HEADER_LEN, 0, 0, 0),
            SockFilter::new(bpf::LOAD_HALF_BEHIND, 0, 0, 0),
            SockFilter::new(bpf::JUMP_EQUAL, 0, 1, 0x0304),
            SockFilter::new(bpf::RETURN, 0, 0, u32::MAX),
            SockFilter::new(bpf::RETURN, 0, 0, 0),
        ])?;
        let six = open(Domain::IPV6, Protocol::ICMPV6).ok();
        if let Some(six) = &six {
            // From the ICMP header: type and code "packet too big".
            six.attach_filter(&[
                SockFilter::new(bpf::LOAD_HALF, 0, 0, 0),
                SockFilter::new(bpf::JUMP_EQUAL, 0, 1, 0x0200),
                SockFilter::new(bpf::RETURN, 0, 0, u32::MAX),
                SockFilter::new(bpf::RETURN, 0, 0, 0),
            ])?;
        }
        Ok(Self { four, six })
    }

    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(&self.four), self.six.as_ref()].into_iter().flatten().map(Socket::as_fd)
    }

    /// What there is about datagrams from a port, or about ESP and AH. Errors of the sockets are no packets' affair.
    pub fn read(&self, port: Option<u16>, mut take: impl FnMut(TooBig)) {
        let mut memory = [0; LONGEST];
        for (socket, v6) in [(Some(&self.four), false), (self.six.as_ref(), true)] {
            let Some(socket) = socket else { continue };
            for _ in 0..BATCH {
                let Ok(len) = recv(socket.as_raw_fd(), &mut memory, MsgFlags::MSG_DONTWAIT) else { break };
                let packet = memory.get(..len).unwrap_or_default();
                let header =
                    if v6 { 0 } else { packet.first().map_or(0, |first| usize::from(first & 15) * 4) };
                if let Some(about) = packet.get(header..).and_then(|icmp| TooBig::parse(v6, icmp, port)) {
                    take(about);
                }
            }
        }
    }
}
