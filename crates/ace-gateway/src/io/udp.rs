// SPDX-License-Identifier: Apache-2.0
//! ESP in UDP: one socket. Datagrams of one length for one peer go out in one call, where the kernel can cut them
//! (GSO), and come in so (GRO).

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::libc::{sock_filter, sock_fprog};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt};
use quinn_udp::{EcnCodepoint, Transmit, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

use super::broken::{Broken, Row};
use super::received::Inbox;
use super::{Losses, bpf, division, patiently};
use crate::core::TooBig;
use ace_ipsec::Protocol as Ipsec;

/// The kernel's queues, both ways.
const QUEUE: usize = 4 << 20;
/// A UDP payload.
const LONGEST: usize = 65_507;
/// Of a traffic class, the congestion mark (RFC 3168).
const ECN: u8 = 3;

pub struct Udp {
    socket: UdpSocket,
    reads: Row,
    /// Of IPv6, where IPv4 addresses are mapped.
    six: bool,
    state: UdpSocketState,
    inbox: Inbox,
    run: Run,
    /// Whether the socket asks for datagrams that no router divides.
    whole: bool,
    /// What datagrams carry unless they have a mark of their own, and what they carry now.
    usual_mark: u32,
    mark: u32,
    /// Packets that the kernel found too long for the way out.
    pub too_big: Vec<TooBig>,
}

/// How a datagram goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// DSCP and congestion mark.
    pub class: u8,
    /// No router may divide it.
    pub whole: bool,
    /// For the kernel's routing; 0: that of all.
    pub mark: u32,
}

/// Datagrams that go out together.
#[derive(Default)]
struct Run {
    to: Option<(SocketAddr, How)>,
    /// Of all but the last, which may be shorter.
    stride: usize,
    last: usize,
    count: usize,
    bytes: Vec<u8>,
}

impl Udp {
    pub fn bind(listen: SocketAddr) -> io::Result<Self> {
        Self::bind_one(listen, false)
    }

    /// So many sockets with one address; the kernel divides what comes by SPI, as [`Udp::divide`] says.
    pub fn bind_group(listen: SocketAddr, count: usize) -> io::Result<Vec<Self>> {
        let first = Self::bind_one(listen, true)?;
        let listen = first.local_addr()?;
        let mut all = vec![first];
        for _ in 1..count {
            all.push(Self::bind_one(listen, true)?);
        }
        all[0].divide(&[], count)?;
        Ok(all)
    }

    /// Has the kernel divide what comes, by the first four bytes of a datagram: which socket, in the order in which they
    /// were bound. How many SPIs had no room.
    pub fn divide(&self, odd: &[(u32, usize)], count: usize) -> io::Result<usize> {
        let found = |core| vec![(bpf::RETURN, 0, 0, core)];
        let (steps, left) = division::program(odd, count, found, &[(bpf::RETURN_A, 0, 0, 0)]);
        let steps = std::iter::once((bpf::LOAD, 0, 0, 0)).chain(steps);
        let mut steps: Vec<sock_filter> =
            steps.map(|(code, jt, jf, k)| sock_filter { code, jt, jf, k }).collect();
        attach(self, &mut steps)?;
        Ok(left)
    }

    /// Beside the socket of an IKE daemon, which comes to the same address: what begins with RFC 3948's marker, four
    /// zeros, is its, and all else this one's. As long as it is not there the kernel gives this one everything.
    pub fn bind_beside_ike(listen: SocketAddr) -> io::Result<Self> {
        // Whoever does not share finds out whether somebody is there: a gateway that was restarted comes behind him.
        let kind = Socket::new(Domain::for_address(listen), Type::DGRAM, Some(Protocol::UDP))?;
        let second = kind.bind(&listen.into()).is_err_and(|why| why.kind() == io::ErrorKind::AddrInUse);
        drop(kind);
        let one = Self::bind_one(listen, true)?;
        // The kernel knows the order alone in which both are bound; one that goes makes the other one the first. Who comes
        // later says who he is: the IKE daemon does it by the preload library.
        let (theirs, ours) = if second { (0, 1) } else { (1, 0) };
        let marked = sock_filter { code: bpf::JUMP_EQUAL, jt: 0, jf: 1, k: 0 };
        // A datagram that is shorter is the first one's.
        attach(&one, &mut [step(bpf::LOAD, 0), marked, step(bpf::RETURN, theirs), step(bpf::RETURN, ours)])?;
        Ok(one)
    }

    fn bind_one(listen: SocketAddr, shared: bool) -> io::Result<Self> {
        let domain = if listen.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        if listen.is_ipv6() {
            socket.set_only_v6(!listen.ip().is_unspecified())?;
        }
        // Without the privilege the system's limit holds.
        if setsockopt(&socket, sockopt::RcvBufForce, &QUEUE).is_err() {
            socket.set_recv_buffer_size(QUEUE)?;
        }
        if setsockopt(&socket, sockopt::SndBufForce, &QUEUE).is_err() {
            socket.set_send_buffer_size(QUEUE)?;
        }
        if shared {
            socket.set_reuse_port(true)?;
        }
        socket.bind(&listen.into())?;
        let socket = UdpSocket::from(socket);
        let state = UdpSocketState::new((&socket).into())?;
        // The crate asks for them, and has no room for them besides the congestion mark of datagrams that are joined.
        setsockopt(&socket, sockopt::ReceiveTimestampns, &false)?;
        Ok(Self {
            socket,
            reads: Row::default(),
            six: listen.is_ipv6(),
            state,
            inbox: Inbox::new(),
            run: Run::default(),
            // As the crate makes sockets.
            whole: true,
            usual_mark: 0,
            mark: 0,
            too_big: Vec::new(),
        })
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Reads some of what there is: source, DSCP if it is wanted and congestion mark, payload. Whether there may be more.
    ///
    /// # Errors
    /// The socket does not work any more.
    pub fn read(
        &mut self,
        losses: &mut Losses,
        take: impl FnMut(SocketAddr, u8, &[u8]),
    ) -> Result<bool, Broken> {
        match self.inbox.read(&self.socket, &self.state, take) {
            Ok(more) => {
                self.reads.well();
                Ok(more)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.reads.well();
                Ok(false)
            }
            // Such as an ICMP error of an earlier datagram.
            Err(error) => {
                losses.outside_unreadable += 1;
                self.reads.failed(error).map(|()| false).map_err(|why| self.broken(why))
            }
        }
    }

    /// From now on the DSCP of datagrams is told.
    pub fn want_class(&mut self) {
        self.inbox.classed = true;
    }

    fn broken(&self, why: io::Error) -> Broken {
        let port = self.local_addr().map_or_else(|_| "4500".to_owned(), |at| at.to_string());
        Broken::socket(&format!("the UDP socket {port}"), why)
    }

    /// What all datagrams carry that have no mark of their own.
    ///
    /// # Errors
    /// As the system says; it is a privilege.
    pub fn carry(&mut self, mark: u32) -> io::Result<()> {
        setsockopt(&self.socket, sockopt::Mark, &mark)?;
        (self.usual_mark, self.mark) = (mark, mark);
        Ok(())
    }

    /// Takes a datagram; it goes out at the latest with [`Udp::flush`].
    ///
    /// # Errors
    /// As [`Udp::flush`].
    pub fn put(
        &mut self,
        losses: &mut Losses,
        to: SocketAddr,
        how: How,
        payload: &[u8],
    ) -> Result<(), Broken> {
        let run = &self.run;
        // Of one SA, so that whoever gets them at once is who they are for.
        let joins = run.to == Some((to, how))
            // What may be divided may be longer than the way, and the kernel cuts nothing that is.
            && how.whole
            && run.bytes.first_chunk::<4>() == payload.first_chunk::<4>()
            && run.last == run.stride
            && payload.len() <= run.stride
            && run.count < self.state.max_gso_segments()
            && run.bytes.len() + payload.len() <= LONGEST;
        let mut flushed = Ok(());
        if !joins {
            flushed = self.flush(losses);
            self.run.to = Some((to, how));
            self.run.stride = payload.len();
        }
        self.run.bytes.extend_from_slice(payload);
        self.run.last = payload.len();
        self.run.count += 1;
        flushed
    }

    /// Sends what was put.
    ///
    /// # Errors
    /// The socket does not work any more.
    pub fn flush(&mut self, losses: &mut Losses) -> Result<(), Broken> {
        let Some((to, How { class, whole, mark })) = self.run.to.take() else { return Ok(()) };
        let mark = if mark == 0 { self.usual_mark } else { mark };
        if mark != self.mark {
            if let Err(why) = setsockopt(&self.socket, sockopt::Mark, &mark) {
                // It would leave by another way than it has to.
                let packets = self.run.count as u64;
                self.run.bytes.clear();
                self.run.count = 0;
                return losses.outside(why.into(), packets).map_err(|why| self.broken(why));
            }
            self.mark = mark;
        }
        if whole != self.whole && self.ask_whole(whole).is_ok() {
            self.whole = whole;
        }
        let transmit = Transmit {
            destination: self.reachable(to),
            ecn: EcnCodepoint::from_bits(class & ECN),
            contents: &self.run.bytes,
            segment_size: (self.run.count > 1).then_some(self.run.stride),
            src_ip: None,
        };
        let sent = patiently(self.socket.as_fd(), || match class & !ECN {
            0 => self.state.try_send((&self.socket).into(), &transmit),
            _ => send_classed(&self.socket, &transmit, class),
        });
        let packets = self.run.count as u64;
        if let Err(error) = &sent
            && matches!(error.raw_os_error(), Some(nix::libc::EMSGSIZE | nix::libc::EINVAL))
            && let Some(spi) = self.run.bytes.first_chunk()
            && let Some(mtu) = super::mtu_to(to)
            && self.run.stride + if to.is_ipv4() { 28 } else { 48 } > usize::from(mtu)
        {
            let spi = u32::from_be_bytes(*spi);
            self.too_big.push(TooBig { spi, protocol: Ipsec::Esp, sequence: None, to, mtu });
        }
        self.run.bytes.clear();
        self.run.count = 0;
        sent.or_else(|error| losses.outside(error, packets)).map_err(|why| self.broken(why))
    }

    /// Path MTU is the gateway's affair: the kernel's knowledge of it is not asked for, either way.
    fn ask_whole(&self, whole: bool) -> io::Result<()> {
        use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery as Four, Ipv6PathMtuDiscovery as Six};
        let four = if whole { Four::PROBE } else { Four::DONT };
        if self.six {
            sockopt::set_ipv6_mtu_discover(&self.socket, if whole { Six::PROBE } else { Six::DONT })?;
            // A socket of IPv6 alone has none.
            let _ = sockopt::set_ip_mtu_discover(&self.socket, four);
            return Ok(());
        }
        Ok(sockopt::set_ip_mtu_discover(&self.socket, four)?)
    }

    /// An IPv4 address as a socket of IPv6 wants it.
    fn reachable(&self, to: SocketAddr) -> SocketAddr {
        match to.ip() {
            IpAddr::V4(ip) if self.six => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        }
    }
}

/// With DSCP, which the other way to send does not know.
fn send_classed(socket: &UdpSocket, transmit: &Transmit<'_>, class: u8) -> io::Result<()> {
    let to = SockaddrStorage::from(transmit.destination);
    let four = transmit.destination.ip().to_canonical().is_ipv4();
    let wide = i32::from(class);
    let mut more =
        vec![if four { ControlMessage::Ipv4Tos(&class) } else { ControlMessage::Ipv6TClass(&wide) }];
    let stride = transmit.segment_size.and_then(|stride| u16::try_from(stride).ok());
    more.extend(stride.as_ref().map(ControlMessage::UdpGsoSegments));
    let pieces = [IoSlice::new(transmit.contents)];
    sendmsg(socket.as_raw_fd(), &pieces, &more, MsgFlags::empty(), Some(&to))?;
    Ok(())
}

/// Whose a datagram is, of all that are bound to this one's address.
fn attach(one: &Udp, steps: &mut [sock_filter]) -> io::Result<()> {
    let program = sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    Ok(setsockopt(&one.socket, sockopt::AttachReusePortCbpf, &program)?)
}

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

impl AsFd for Udp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests;
