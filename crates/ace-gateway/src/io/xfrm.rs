// SPDX-License-Identifier: Apache-2.0
//! Where programs that configure the kernel's IPsec reach the gateway, by the preload library: a socket that keeps
//! messages apart, as netlink does. Keys go over it, so only root and who started the gateway may connect. A client
//! whose answers are not read is asked nothing more, and stands in nobody's way.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, getsockopt, recv, send, sockopt::PeerCredentials};
use nix::unistd::geteuid;
use socket2::{Domain, SockAddr, Socket, Type};
use zeroize::Zeroize;

use super::Rest;
use super::believed::Believed;
use super::control::make_way;
use crate::xfrm::{GROUP_EXPIRE, GROUP_SA, Messages, listened};

const MOST_CLIENTS: usize = 64;
/// Requests of one client before the next one has its turn, and packets theirs.
const BATCH: usize = 16;
/// A request.
const LONGEST: usize = 1 << 16;
/// Messages that wait for one client; to one that does not read them no more are told.
const MOST_WAITING: usize = 4096;
/// A no-op of netlink: the groups that a client listens to, as the preload library says it for `bind`.
const NOOP: u16 = 1;

pub struct XfrmSocket {
    listener: Socket,
    path: PathBuf,
    owner: u32,
    clients: Vec<Client>,
    rest: Rest,
    memory: Vec<u8>,
    believed: Believed,
    /// Groups that somebody listens to, as the gateway was told.
    heard: u32,
}

struct Client {
    socket: Socket,
    waiting: VecDeque<Messages>,
    groups: u32,
}

impl XfrmSocket {
    /// # Errors
    /// As the system says; a socket on which somebody answers is not taken over.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let socket = || Socket::new(Domain::UNIX, Type::SEQPACKET, None);
        let address = SockAddr::unix(path)?;
        make_way(path, |_| socket().and_then(|socket| socket.connect(&address)).is_ok())?;
        let listener = socket()?;
        listener.bind(&address)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        listener.listen(16)?;
        listener.set_nonblocking(true)?;
        let owner = geteuid().as_raw();
        let mut beside = path.as_os_str().to_owned();
        beside.push(".sas");
        let believed = Believed::open(Path::new(&beside))?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            owner,
            clients: Vec::new(),
            rest: Rest::default(),
            memory: vec![0; LONGEST],
            believed,
            heard: 0,
        })
    }

    /// What to wait for.
    pub fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let client = |client: &Client| match client.waiting.is_empty() {
            true => PollFlags::POLLIN,
            false => PollFlags::POLLOUT,
        };
        let listener = self.rest.until().is_none().then(|| (self.listener.as_fd(), PollFlags::POLLIN));
        (listener.into_iter()).chain(self.clients.iter().map(move |one| (one.socket.as_fd(), client(one))))
    }

    /// When the next client may come, where handles ran out.
    pub fn timeout(&self) -> Option<Duration> {
        self.rest.until()
    }

    /// Takes requests and gives answers as far as nobody has to be waited for.
    pub fn serve(&mut self, now: Duration, mut answer: impl FnMut(&[u8]) -> Vec<Messages>) {
        while let Some((socket, _)) = self.rest.accept(now, || self.listener.accept()) {
            let may = getsockopt(&socket, PeerCredentials)
                .is_ok_and(|who| who.uid() == 0 || who.uid() == self.owner);
            if may && self.clients.len() < MOST_CLIENTS && socket.set_nonblocking(true).is_ok() {
                self.clients.push(Client { socket, waiting: VecDeque::new(), groups: 0 });
            }
        }
        let Self { clients, memory, believed, heard, .. } = self;
        if *heard == 0 {
            *heard = GROUP_SA;
            answer(&listened(GROUP_SA));
        }
        clients.retain_mut(|client| client.goes_on(memory, believed, heard, &mut answer));
        // Those who are gone listen no more; what is told of SAs is always heard here.
        let groups = clients.iter().fold(GROUP_SA, |all, client| all | client.groups);
        if std::mem::replace(heard, groups) != groups {
            answer(&listened(groups));
        }
    }

    /// Tells something to those that listen to a group.
    pub fn tell(&mut self, group: u32, notice: &Messages) {
        if group == GROUP_SA {
            self.believed.take(notice);
        }
        for client in self.clients.iter_mut().filter(|client| client.groups & group != 0) {
            if client.waiting.len() < MOST_WAITING {
                client.waiting.push_back(notice.clone());
            }
        }
        self.clients.retain_mut(Client::deliver);
    }
}

impl Client {
    /// False when it is gone.
    fn goes_on(
        &mut self,
        memory: &mut [u8],
        believed: &mut Believed,
        heard: &mut u32,
        answer: &mut impl FnMut(&[u8]) -> Vec<Messages>,
    ) -> bool {
        for _ in 0..BATCH {
            if !self.deliver() {
                return false;
            }
            if !self.waiting.is_empty() {
                return true;
            }
            match recv(self.socket.as_raw_fd(), memory, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return false,
                Ok(len) => {
                    let request = memory.get_mut(..len).unwrap_or_default();
                    match request {
                        [_, _, _, _, a, b, .., c, d, e, f] if u16::from_ne_bytes([*a, *b]) == NOOP => {
                            let groups = u32::from_ne_bytes([*c, *d, *e, *f]);
                            let before = std::mem::replace(&mut self.groups, groups);
                            if groups & !before & GROUP_EXPIRE != 0 {
                                self.waiting.extend(believed.lost());
                            }
                            // Before the next request is answered.
                            if groups & !*heard != 0 {
                                *heard |= groups | GROUP_SA;
                                answer(&listened(*heard));
                            }
                        }
                        _ => self.waiting.extend(answer(request)),
                    }
                    // Keys were in it.
                    request.zeroize();
                }
                Err(Errno::EAGAIN) => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Sends what the client takes. False when it is gone.
    fn deliver(&mut self) -> bool {
        while let Some(message) = self.waiting.front() {
            match send(self.socket.as_raw_fd(), message, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
                // It is wiped, as it is when the client goes.
                Ok(_) => drop(self.waiting.pop_front()),
                Err(Errno::EAGAIN) => return true,
                Err(_) => return false,
            }
        }
        true
    }
}

impl Drop for XfrmSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether an address is this machine's: a socket can be bound to it.
pub fn is_local(address: IpAddr) -> bool {
    !address.is_unspecified() && UdpSocket::bind(SocketAddr::new(address, 0)).is_ok()
}
