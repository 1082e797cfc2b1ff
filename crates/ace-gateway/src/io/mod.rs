// SPDX-License-Identifier: Apache-2.0
//! Devices and sockets: the thin part. Nothing here decides what becomes of a packet.

mod believed;
pub mod broken;
pub mod control;
pub mod guard;
pub mod icmp;
pub mod mss;
pub mod netns;
pub mod raw;
mod received;
mod segments;
pub mod setup;
pub mod tun;
pub mod udp;
pub mod xfrm;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::counted::counted;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::socket::{getsockopt, sockopt};

/// Instructions of the kernel's packet filters (linux/filter.h, bpf_common.h).
pub mod division;

mod bpf {
    /// A word at a place into A.
    pub const LOAD: u16 = 0x20;
    /// A word at X and a place into A.
    pub const LOAD_BEHIND: u16 = 0x40;
    /// Two bytes at a place into A.
    pub const LOAD_HALF: u16 = 0x28;
    /// Two bytes at X and a place into A.
    pub const LOAD_HALF_BEHIND: u16 = 0x48;
    /// Four times the low half of a byte into X: the length of an IPv4 header.
    pub const LOAD_HEADER_LEN: u16 = 0xb1;
    /// A modulo a number.
    pub const MODULO: u16 = 0x94;
    /// Goes on at one of two places: whether A is a number.
    pub const JUMP_EQUAL: u16 = 0x15;
    /// Whether A is a number or more.
    pub const JUMP_NOT_LESS: u16 = 0x35;
    /// Goes on so many instructions further.
    pub const JUMP: u16 = 0x05;
    pub const RETURN: u16 = 0x06;
    pub const RETURN_A: u16 = 0x16;
}

/// Packets that are taken from one side before the other one has its turn.
pub const BATCH: usize = 256;
/// Packets that are taken before they are computed: as many as are still in the processor's cache then.
const FEW: usize = 64;
/// Milliseconds that a packet waits for room in the kernel's queue before it is dropped.
const PATIENCE: u16 = 5;

counted! {
    /// What the kernel did not take or give. The kernel's queues are the only ones there are: they are bounded, and what
    /// does not fit is dropped there or counted here.
    Losses {
        /// The queue to the outside stayed full.
        outside_full,
        /// Longer than the MTU of the way out.
        outside_too_big,
        /// Anything else, such as no route.
        outside_failed,
        /// The kernel gave an error instead of datagrams: an ICMP error of an earlier one, say.
        outside_unreadable,
        /// The TUN device did not take packets; those that were written at once count as one.
        inside_failed,
        /// The TUN device gave an error instead of packets.
        inside_unreadable,
    }
}

impl Losses {
    /// Counts packets that the kernel did not send.
    ///
    /// # Errors
    /// The same one, where there is no socket any more.
    pub fn outside(&mut self, error: io::Error, packets: u64) -> io::Result<()> {
        let place = match error.raw_os_error() {
            _ if error.kind() == io::ErrorKind::WouldBlock => &mut self.outside_full,
            Some(nix::libc::EMSGSIZE) => &mut self.outside_too_big,
            _ => &mut self.outside_failed,
        };
        *place += packets;
        match error.raw_os_error() {
            Some(nix::libc::EBADF | nix::libc::ENOTSOCK) => Err(error),
            _ => Ok(()),
        }
    }
}

/// A listener that may be unable to accept. It stays readable then, and whoever waited for it would spin.
#[derive(Default)]
pub(crate) struct Rest(Option<Duration>);

/// Before a listener is looked at again: handles that ran out come back.
const REST: Duration = Duration::from_millis(100);

impl Rest {
    pub fn accept<T>(&mut self, now: Duration, accept: impl FnOnce() -> io::Result<T>) -> Option<T> {
        if self.0.is_some_and(|until| now < until) {
            return None;
        }
        let accepted = accept();
        self.0 = match &accepted {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Some(now + REST),
            _ => None,
        };
        accepted.ok()
    }

    /// When it may be asked again; `None`: whenever it is readable.
    pub fn until(&self) -> Option<Duration> {
        self.0
    }
}

/// What the kernel knows of the way to an address, in bytes from the IP header.
fn mtu_to(to: SocketAddr) -> Option<u16> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // Nothing is sent by that.
    socket.connect((to.ip(), to.port().max(1))).ok()?;
    let mtu = match to {
        SocketAddr::V4(_) => getsockopt(&socket, sockopt::IpMtu).ok()?.try_into().ok()?,
        SocketAddr::V6(_) => rustix::net::sockopt::ipv6_mtu(&socket).ok()?,
    };
    u16::try_from(mtu).ok()
}

/// Tries again once when the kernel's queue was full.
fn patiently(fd: BorrowedFd<'_>, mut send: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    match send() {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let _ = poll(&mut [PollFd::new(fd, PollFlags::POLLOUT)], PATIENCE);
            send()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_that_cannot_accept_rests() {
        let mut rest = Rest::default();
        let at = Duration::from_secs(1);
        let accept = |rest: &mut Rest, now, with: io::Result<u8>| rest.accept(now, || with);
        assert_eq!((accept(&mut rest, at, Ok(1)), rest.until()), (Some(1), None));
        let none = || Err(io::ErrorKind::WouldBlock.into());
        assert_eq!((accept(&mut rest, at, none()), rest.until()), (None, None));
        let full = || Err(io::Error::from_raw_os_error(nix::libc::EMFILE));
        assert_eq!((accept(&mut rest, at, full()), rest.until()), (None, Some(at + REST)));
        assert_eq!(rest.accept(at, || -> io::Result<u8> { panic!("it rests") }), None);
        assert_eq!((accept(&mut rest, at + REST, Ok(2)), rest.until()), (Some(2), None));
    }
}
