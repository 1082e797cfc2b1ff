// SPDX-License-Identifier: Apache-2.0
//! Frames of the link on a network interface: AF_PACKET, EtherType 88B5h alone, with a ring that the kernel fills. Linux alone.

mod raw;

use std::io;
use std::time::Duration;

use thiserror::Error;

use self::raw::{Raw, Ring};
use crate::wire::{Address, ETHERTYPE, LONGEST};
use crate::{Batch, Wire};

/// Frames that the kernel keeps for us.
const FRAMES: usize = 1024;

/// Why there is no socket on an interface.
#[derive(Debug, Error)]
pub enum SocketError {
    /// There is no interface of this name in this network namespace.
    #[error("there is no network interface `{0}` here; `ip link` lists them")]
    Missing(String),
    /// An interface's name is shorter than this.
    #[error("`{0}` is no name of a network interface")]
    Name(String),
    /// Ethernet frames are for root alone.
    #[error(
        "frames on `{0}` need the capability CAP_NET_RAW: run it as root, or `setcap cap_net_raw+ep` the program"
    )]
    Denied(String),
    /// The interface is not up.
    #[error("the network interface `{0}` is down: `ip link set {0} up`")]
    Down(String),
    /// It is no Ethernet.
    #[error("the network interface `{0}` is no Ethernet")]
    NotEthernet(String),
    /// Another program of this host has the board at this interface.
    #[error("another program uses the board at `{0}`")]
    Taken(String),
    /// Something else.
    #[error("{what} on `{interface}`: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Where.
        interface: String,
        /// What the system said.
        error: io::Error,
    },
}

/// A socket on an interface.
///
/// The ring is TPACKET_V2 and not V3: V3 hands frames over by the block, after a millisecond at the soonest, and here a frame
/// is asked for while the next ones wait for it.
pub struct Socket {
    raw: Raw,
    ring: Ring,
    address: Address,
    interface: String,
    index: i32,
}

impl Socket {
    /// Opens one for the host's end. Nobody else of this network namespace may have one there.
    ///
    /// # Errors
    /// Why there is none, with the remedy.
    pub fn open(interface: &str) -> Result<Self, SocketError> {
        Self::on(interface, true)
    }

    /// Opens one for the board's end.
    ///
    /// # Errors
    /// Why there is none, with the remedy.
    pub fn board(interface: &str) -> Result<Self, SocketError> {
        Self::on(interface, false)
    }

    fn on(interface: &str, host: bool) -> Result<Self, SocketError> {
        let system = |what| {
            move |error: io::Error| match error.raw_os_error() {
                Some(libc::EPERM | libc::EACCES) => SocketError::Denied(interface.to_owned()),
                Some(libc::ENETDOWN) => SocketError::Down(interface.to_owned()),
                Some(libc::EADDRINUSE) => SocketError::Taken(interface.to_owned()),
                _ => SocketError::System { what, interface: interface.to_owned(), error },
            }
        };
        if interface.is_empty() || interface.len() >= libc::IFNAMSIZ || interface.contains(['/', '\0']) {
            return Err(SocketError::Name(interface.to_owned()));
        }
        let index = raw::index(interface).ok_or_else(|| SocketError::Missing(interface.to_owned()))?;
        let mut raw = Raw::new().map_err(system("no socket"))?;
        if host {
            raw.claim(&format!("ace-link/{interface}")).map_err(system("no lock"))?;
        }
        let about = raw.about(interface).map_err(system("no address"))?;
        if !about.ethernet {
            return Err(SocketError::NotEthernet(interface.to_owned()));
        }
        if !about.up {
            return Err(SocketError::Down(interface.to_owned()));
        }
        let ring = raw.ring(FRAMES, LONGEST).map_err(system("no ring"))?;
        raw.bind(index, ETHERTYPE).map_err(system("cannot bind"))?;
        Ok(Self { raw, ring, address: about.address, interface: interface.to_owned(), index })
    }
}

impl Wire for Socket {
    fn address(&self) -> Address {
        self.address
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        self.raw.send(batch.frames())
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut count = 0;
        while self.ring.next(&mut *take) {
            count += 1;
        }
        Ok(count)
    }

    fn wait(&mut self, patience: Duration) -> io::Result<()> {
        self.raw.wait(patience)
    }

    /// An adapter that was pulled out and put back is another device under the same name. The socket goes over to it, which
    /// takes no capability.
    fn renew(&mut self) {
        let Some(index) = raw::index(&self.interface) else { return };
        let Ok(about) = self.raw.about(&self.interface) else { return };
        if !about.ethernet || !about.up {
            return;
        }
        if index != self.index {
            if self.raw.bind(index, ETHERTYPE).is_err() {
                return;
            }
            self.index = index;
        }
        self.address = about.address;
    }
}
