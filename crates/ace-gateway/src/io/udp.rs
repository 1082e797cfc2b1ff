// SPDX-License-Identifier: Apache-2.0
//! ESP in UDP: one socket. Datagrams of one length for one peer go out in one call, where the kernel can cut them
//! (GSO), and come in so (GRO).

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::libc::{sock_filter, sock_fprog};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt};
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

use super::broken::{Broken, Row};
use super::{FEW, Losses, bpf, division, patiently};
use crate::core::TooBig;
use ace_ipsec::Protocol as Ipsec;

/// The kernel's queues, both ways.
const QUEUE: usize = 4 << 20;
/// A UDP payload.
const LONGEST: usize = 65_507;
const PIECE: usize = 1 << 16;
/// Of a traffic class, the congestion mark (RFC 3168).
const ECN: u8 = 3;

pub struct Udp {
    socket: UdpSocket,
    reads: Row,
    /// Of IPv6, where IPv4 addresses are mapped.
    six: bool,
    state: UdpSocketState,
    memory: Vec<u8>,
    /// Pieces of it that are read into at once: such that they are [`FEW`] datagrams.
    most: usize,
    run: Run,
    /// Whether the socket asks for datagrams that no router divides.
    whole: bool,
    /// Packets that the kernel found too long for the way out.
    pub too_big: Vec<TooBig>,
}

/// Datagrams that go out together.
#[derive(Default)]
struct Run {
    to: Option<(SocketAddr, (u8, bool))>,
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
        Ok(Self {
            socket,
            reads: Row::default(),
            six: listen.is_ipv6(),
            state,
            memory: vec![0; BATCH_SIZE * PIECE],
            most: BATCH_SIZE,
            run: Run::default(),
            // As the crate makes sockets.
            whole: true,
            too_big: Vec::new(),
        })
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Reads some of what there is: source, congestion mark, payload. Whether there may be more.
    ///
    /// # Errors
    /// The socket does not work any more.
    pub fn read(
        &mut self,
        losses: &mut Losses,
        mut take: impl FnMut(SocketAddr, u8, &[u8]),
    ) -> Result<bool, Broken> {
        let most = self.most;
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let received = {
            let mut pieces = self.memory.chunks_exact_mut(PIECE);
            let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
                std::array::from_fn(|_| IoSliceMut::new(pieces.next().unwrap_or_default()));
            let slices = slices.get_mut(..most).unwrap_or_default();
            self.state.recv((&self.socket).into(), slices, &mut meta)
        };
        let count = match received {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.reads.well();
                return Ok(false);
            }
            // Such as an ICMP error of an earlier datagram.
            Err(error) => {
                losses.outside_unreadable += 1;
                return self.reads.failed(error).map(|()| false).map_err(|why| self.broken(why));
            }
        };
        self.reads.well();
        let mut taken = 0;
        for (meta, piece) in meta.iter().zip(self.memory.chunks_exact(PIECE)).take(count) {
            let source = SocketAddr::new(meta.addr.ip().to_canonical(), meta.addr.port());
            let ecn = meta.ecn.map_or(0, |ecn| ecn as u8);
            for payload in piece.get(..meta.len).unwrap_or_default().chunks(meta.stride.max(1)) {
                take(source, ecn, payload);
                taken += 1;
            }
        }
        // The more the kernel joins, the fewer pieces are read at once.
        self.most = (FEW * count.max(1) / taken.max(1)).clamp(1, BATCH_SIZE);
        // Was there room for more, the queue is empty.
        Ok(count == most)
    }

    fn broken(&self, why: io::Error) -> Broken {
        let port = self.local_addr().map_or_else(|_| "4500".to_owned(), |at| at.to_string());
        Broken::socket(&format!("the UDP socket {port}"), why)
    }

    /// Takes a datagram, with DSCP and congestion mark; it goes out at the latest with [`Udp::flush`].
    ///
    /// # Errors
    /// As [`Udp::flush`].
    pub fn put(
        &mut self,
        losses: &mut Losses,
        to: SocketAddr,
        (class, whole): (u8, bool),
        payload: &[u8],
    ) -> Result<(), Broken> {
        let run = &self.run;
        // Of one SA, so that whoever gets them at once is who they are for.
        let joins = run.to == Some((to, (class, whole)))
            // What may be divided may be longer than the way, and the kernel cuts nothing that is.
            && whole
            && run.bytes.first_chunk::<4>() == payload.first_chunk::<4>()
            && run.last == run.stride
            && payload.len() <= run.stride
            && run.count < self.state.max_gso_segments()
            && run.bytes.len() + payload.len() <= LONGEST;
        let mut flushed = Ok(());
        if !joins {
            flushed = self.flush(losses);
            self.run.to = Some((to, (class, whole)));
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
        let Some((to, (class, whole))) = self.run.to.take() else { return Ok(()) };
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
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dscp_goes_out_with_one_datagram_and_with_many() {
        for (bind, to) in [("0.0.0.0:0", "127.0.0.1:0"), ("[::]:0", "127.0.0.1:0"), ("[::]:0", "[::1]:0")] {
            let mut ours = Udp::bind(bind.parse().unwrap()).unwrap();
            let mut theirs =
                Socket::new(Domain::for_address(to.parse().unwrap()), Type::DGRAM, None).unwrap();
            theirs.bind(&to.parse::<SocketAddr>().unwrap().into()).unwrap();
            if to.starts_with('[') {
                theirs.set_recv_tclass_v6(true).unwrap();
            } else {
                theirs.set_recv_tos_v4(true).unwrap();
            }
            theirs.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let at = theirs.local_addr().unwrap().as_socket().unwrap();
            // The same class together, and a run without any between.
            let classes = [0xb8, 0xb9, 0xb9, 0xb9, 0x02, 0x00, 0x29];
            for (n, class) in classes.iter().enumerate() {
                let payload = [0, 0, 1, 2, n as u8, 0, 0, 0, 7];
                ours.put(&mut Losses::default(), at, (*class, true), &payload).unwrap();
            }
            ours.flush(&mut Losses::default()).unwrap();
            for (n, class) in classes.iter().enumerate() {
                let (class_found, payload) = received(&mut theirs);
                assert_eq!((payload[4], class_found), (n as u8, *class), "{bind} to {to}");
            }
        }
    }

    /// The traffic class of a datagram, and its payload.
    fn received(socket: &mut Socket) -> (u8, Vec<u8>) {
        use nix::sys::socket::{ControlMessageOwned, recvmsg};
        let (mut memory, mut more) = ([0; 64], nix::cmsg_space!([i32; 4]));
        let mut pieces = [IoSliceMut::new(&mut memory)];
        let got =
            recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, Some(&mut more), MsgFlags::empty());
        let got = got.unwrap();
        let class = got.cmsgs().unwrap().find_map(|one| match one {
            ControlMessageOwned::Ipv4Tos(class) => Some(class),
            ControlMessageOwned::Ipv6TClass(class) => u8::try_from(class).ok(),
            _ => None,
        });
        let len = got.bytes;
        (class.unwrap(), memory[..len].to_vec())
    }

    #[test]
    fn an_ike_daemon_at_the_same_port_gets_what_is_marked_as_its_and_nothing_else() {
        let mut ours = Udp::bind_beside_ike("0.0.0.0:0".parse().unwrap()).unwrap();
        let port = ours.local_addr().unwrap().port();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let marked = [0, 0, 0, 0, 1, 2, 3, 4];
        let [esp, keepalive]: [&[u8]; 2] = [&[0, 0, 0, 9, 0, 0, 0, 1, 5], &[0xff]];
        let got = |ours: &mut Udp| {
            let mut all = Vec::new();
            ours.socket.set_nonblocking(true).unwrap();
            ours.read(&mut Losses::default(), |_, _, payload| all.push(payload.to_vec())).unwrap();
            all
        };
        let send = |what: &[u8]| sender.send_to(what, ("127.0.0.1", port)).map(drop).unwrap();
        // Loopback delivers at once. Nobody else is there yet.
        send(&marked);
        assert_eq!(got(&mut ours), [marked.to_vec()]);
        // Not who does not share.
        assert_eq!(UdpSocket::bind(("0.0.0.0", port)).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        let theirs = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
        theirs.set_reuse_port(true).unwrap();
        theirs.bind(&SocketAddr::from(([0, 0, 0, 0], port)).into()).unwrap();
        let theirs = UdpSocket::from(theirs);
        theirs.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        for _ in 0..20 {
            [esp, &marked, keepalive].iter().for_each(|what| send(what));
            assert_eq!(got(&mut ours), [esp.to_vec(), keepalive.to_vec()]);
            let mut memory = [0; 64];
            let len = theirs.recv(&mut memory).unwrap();
            assert_eq!(memory[..len], marked);
        }
        theirs.set_nonblocking(true).unwrap();
        assert!(theirs.recv(&mut [0; 64]).is_err());
        // This one goes and comes again: it is second now, and nothing goes another way.
        drop(ours);
        let mut ours = Udp::bind_beside_ike(SocketAddr::from(([0, 0, 0, 0], port))).unwrap();
        let theirs_is = |theirs: &UdpSocket, wanted: Option<&[u8]>| {
            let mut memory = [0; 64];
            assert_eq!(theirs.recv(&mut memory).ok().map(|len| &memory[..len]), wanted);
        };
        for _ in 0..20 {
            [esp, &marked].iter().for_each(|what| send(what));
            assert_eq!(got(&mut ours), [esp.to_vec()]);
            theirs_is(&theirs, Some(&marked));
        }
    }
}
