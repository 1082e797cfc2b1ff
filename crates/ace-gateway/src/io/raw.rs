// SPDX-License-Identifier: Apache-2.0
//! ESP and AH as they are: IP protocols 50 and 51 over IPv4. Packets go out with the header that the data plane made.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use super::broken::{Broken, Row};
use super::{FEW, Losses, bpf, division, patiently};
use crate::core::TooBig;
use ace_ipsec::Protocol as Ipsec;

/// IPPROTO_RAW: the header is part of what is sent.
const WITH_HEADER: i32 = 255;

pub struct Raw {
    esp: Socket,
    ah: Socket,
    out: Socket,
    /// Of both that are read from.
    reads: [Row; 2],
    memory: Vec<u8>,
    /// Packets that the kernel found too long for the way out.
    pub too_big: Vec<TooBig>,
    /// What packets carry unless they have a mark of their own, and what they carry now.
    usual_mark: u32,
    mark: u32,
}

impl Raw {
    pub fn open() -> io::Result<Self> {
        let socket = |protocol| -> io::Result<Socket> {
            let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(protocol)))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let (esp, ah, out) = (socket(50)?, socket(51)?, socket(WITH_HEADER)?);
        Ok(Self {
            esp,
            ah,
            out,
            reads: Default::default(),
            memory: vec![0; usize::from(u16::MAX)],
            too_big: Vec::new(),
            usual_mark: 0,
            mark: 0,
        })
    }

    /// One of `count` that share what comes, as [`Raw::divide`] says.
    pub fn open_part(part: usize, count: usize) -> io::Result<Self> {
        let raw = Self::open()?;
        raw.divide(part, count, |_| Vec::new())?;
        Ok(raw)
    }

    /// Has the kernel divide what comes, by SPI. It gives every raw socket everything; a filter leaves each its part. How
    /// many SPIs had no room.
    pub fn divide(
        &self,
        part: usize,
        count: usize,
        odd: impl Fn(Ipsec) -> Vec<(u32, usize)>,
    ) -> io::Result<usize> {
        let (yes, no) = ((bpf::RETURN, 0, 0, u32::MAX), (bpf::RETURN, 0, 0, 0));
        let me = u32::try_from(part).unwrap_or(0);
        let found = |core| vec![if core == me { yes } else { no }];
        let mut all = 0;
        // Behind the IP header: the SPI of ESP at once, that of AH four bytes later.
        for (socket, protocol, at) in [(&self.esp, Ipsec::Esp, 0), (&self.ah, Ipsec::Ah, 4)] {
            let rest = [(bpf::JUMP_EQUAL, 0, 1, me), yes, no];
            let (steps, left) = division::program(&odd(protocol), count, found, &rest);
            let load = [(bpf::LOAD_HEADER_LEN, 0, 0, 0), (bpf::LOAD_BEHIND, 0, 0, at)];
            let steps =
                load.into_iter().chain(steps).map(|(code, jt, jf, k)| SockFilter::new(code, jt, jf, k));
            socket.attach_filter(&steps.collect::<Vec<_>>())?;
            all += left;
        }
        Ok(all)
    }

    /// What all packets carry that have no mark of their own.
    ///
    /// # Errors
    /// As the system says; it is a privilege.
    pub fn carry(&mut self, mark: u32) -> io::Result<()> {
        self.out.set_mark(mark)?;
        (self.usual_mark, self.mark) = (mark, mark);
        Ok(())
    }

    /// Both that are read from.
    pub fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.esp.as_fd(), self.ah.as_fd()]
    }

    /// Reads what there is, at most [`FEW`] packets with their headers of each protocol. Whether there may be more.
    ///
    /// # Errors
    /// A socket does not work any more.
    pub fn read(&mut self, losses: &mut Losses, mut take: impl FnMut(&[u8])) -> Result<bool, Broken> {
        let mut through = 0;
        for (socket, reads) in [&self.esp, &self.ah].into_iter().zip(&mut self.reads) {
            for _ in 0..FEW {
                match recv(socket.as_raw_fd(), &mut self.memory, MsgFlags::MSG_DONTWAIT) {
                    Ok(len) => {
                        reads.well();
                        take(self.memory.get(..len).unwrap_or_default());
                    }
                    Err(Errno::EAGAIN) => {
                        reads.well();
                        through += 1;
                        break;
                    }
                    Err(why) => {
                        losses.outside_unreadable += 1;
                        reads.failed(why.into()).map_err(broken)?;
                    }
                }
            }
        }
        Ok(through < self.reads.len())
    }

    /// # Errors
    /// As [`Raw::read`].
    pub fn send(&mut self, losses: &mut Losses, to: IpAddr, mark: u32, packet: &[u8]) -> Result<(), Broken> {
        let mark = if mark == 0 { self.usual_mark } else { mark };
        if mark != self.mark {
            // Unmarked it would leave by another way than it has to.
            if let Err(why) = self.out.set_mark(mark) {
                return losses.outside(why, 1).map_err(broken);
            }
            self.mark = mark;
        }
        let to = SocketAddr::new(to, 0);
        let sent = patiently(self.out.as_fd(), || self.out.send_to(packet, &to.into()).map(drop));
        if let Err(error) = &sent
            && error.raw_os_error() == Some(nix::libc::EMSGSIZE)
            && let Some(mtu) = super::mtu_to(to)
        {
            self.too_big.extend(about(to, packet, mtu));
        }
        sent.or_else(|error| losses.outside(error, 1)).map_err(broken)
    }
}

/// An IPv4 packet with ESP or AH.
fn about(to: SocketAddr, packet: &[u8], mtu: u16) -> Option<TooBig> {
    let header = usize::from(*packet.first()? & 15) * 4;
    let (protocol, at) = match *packet.get(9)? {
        50 => (Ipsec::Esp, header),
        _ => (Ipsec::Ah, header + 4),
    };
    let spi = u32::from_be_bytes(*packet.get(at..at + 4)?.first_chunk()?);
    Some(TooBig { spi, protocol, sequence: None, to, mtu })
}

fn broken(why: io::Error) -> Broken {
    Broken::socket("the raw socket of ESP or AH", why)
}
