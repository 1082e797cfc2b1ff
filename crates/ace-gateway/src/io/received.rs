// SPDX-License-Identifier: Apache-2.0
//! Datagrams that a socket has, many at once, as the kernel joins them (GRO). With or without their DSCP: the crate that
//! reads them otherwise tells congestion marks alone.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::libc::{in_pktinfo, in6_pktinfo, timespec};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSocketState};

use super::FEW;

/// A datagram with what the kernel joins to it.
const PIECE: usize = 1 << 16;

pub struct Inbox {
    memory: Vec<u8>,
    /// Pieces of it that are read into at once: such that they are [`FEW`] datagrams.
    most: usize,
    /// Somebody wants DSCP.
    pub classed: bool,
}

/// A piece: where it comes from, its class, its bytes, and how long each datagram in it is.
struct Piece {
    source: SocketAddr,
    class: u8,
    len: usize,
    stride: usize,
}

impl Inbox {
    pub fn new() -> Self {
        Self { memory: vec![0; BATCH_SIZE * PIECE], most: BATCH_SIZE, classed: false }
    }

    /// Reads some of what there is: source, DSCP if it is wanted and congestion mark, payload. Whether there may be more.
    ///
    /// # Errors
    /// As the system says.
    pub fn read(
        &mut self,
        socket: &UdpSocket,
        state: &UdpSocketState,
        mut take: impl FnMut(SocketAddr, u8, &[u8]),
    ) -> io::Result<bool> {
        let most = self.most;
        let pieces = match self.classed {
            true => self.read_classed(socket)?,
            false => self.read_marked(socket, state)?,
        };
        let mut taken = 0;
        for (piece, memory) in pieces.iter().flatten().zip(self.memory.chunks_exact(PIECE)) {
            let source = SocketAddr::new(piece.source.ip().to_canonical(), piece.source.port());
            for payload in memory.get(..piece.len).unwrap_or_default().chunks(piece.stride.max(1)) {
                take(source, piece.class, payload);
                taken += 1;
            }
        }
        let count = pieces.iter().flatten().count();
        // The more the kernel joins, the fewer pieces are read at once.
        self.most = (FEW * count.max(1) / taken.max(1)).clamp(1, BATCH_SIZE);
        // Was there room for more, the queue is empty.
        Ok(count == most)
    }

    fn read_marked(
        &mut self,
        socket: &UdpSocket,
        state: &UdpSocketState,
    ) -> io::Result<[Option<Piece>; BATCH_SIZE]> {
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let mut memory = self.memory.chunks_exact_mut(PIECE);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(memory.next().unwrap_or_default()));
        let slices = slices.get_mut(..self.most).unwrap_or_default();
        let count = state.recv(socket.into(), slices, &mut meta)?;
        let mut meta = meta.into_iter().take(count);
        Ok(std::array::from_fn(|_| {
            let RecvMeta { addr, len, stride, ecn, .. } = meta.next()?;
            Some(Piece { source: addr, class: ecn.map_or(0, |ecn| ecn as u8), len, stride })
        }))
    }

    fn read_classed(&mut self, socket: &UdpSocket) -> io::Result<[Option<Piece>; BATCH_SIZE]> {
        let memory = self.memory.chunks_exact_mut(PIECE).take(self.most);
        let mut slices: Vec<[IoSliceMut<'_>; 1]> = memory.map(|memory| [IoSliceMut::new(memory)]).collect();
        // What the socket was asked for: both kinds of class, who it came to, when, and how it is joined.
        let room = cmsg_space!(u8, i32, in_pktinfo, in6_pktinfo, timespec, i32);
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(slices.len(), Some(room));
        let (fd, flags) = (socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
        let mut found = recvmmsg(fd, &mut headers, slices.iter_mut(), flags, None)?;
        Ok(std::array::from_fn(|_| {
            let message = found.next()?;
            let (mut class, mut stride) = (0, message.bytes);
            for more in message.cmsgs().into_iter().flatten() {
                match more {
                    ControlMessageOwned::Ipv4Tos(found) => class = found,
                    ControlMessageOwned::Ipv6TClass(found) => class = (found & 0xff) as u8,
                    ControlMessageOwned::UdpGroSegments(found) => {
                        stride = usize::try_from(found).unwrap_or(message.bytes);
                    }
                    _ => {}
                }
            }
            let address = message.address?;
            let four = address.as_sockaddr_in().map(|it| SocketAddrV4::from(*it).into());
            let source =
                four.or_else(|| address.as_sockaddr_in6().map(|it| SocketAddrV6::from(*it).into()))?;
            Some(Piece { source, class, len: message.bytes, stride })
        }))
    }
}
