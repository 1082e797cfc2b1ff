// SPDX-License-Identifier: Apache-2.0
//! What is asked of nftables and answered.

use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, setsockopt, sockopt};

use super::layers::Layers;
use super::message::{Answer, Command, Messages, attribute};
use super::table::{Table, remove};

/// For a batch of a hundred thousand elements.
const ROOM: usize = 64 << 20;
/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether it is this error.
pub fn is(why: &io::Error, errno: Errno) -> bool {
    why.raw_os_error() == Some(errno as i32)
}

/// nftables of the network namespace.
pub struct Kernel {
    socket: Socket,
    pub port: u32,
    /// Number of the next message.
    pub next: u32,
    /// How many batches the kernel has done of all, the last of ours with it, had nobody else sent one meanwhile.
    pub done: u32,
    memory: Vec<u8>,
}

impl Kernel {
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_NETFILTER)?;
        let port = socket.bind_auto()?.port_number();
        socket.connect(&SocketAddr::new(0, 0))?;
        // A small room does for a few rules.
        let _ = setsockopt(&socket, sockopt::SndBufForce, &ROOM);
        let patience = nix::sys::time::TimeVal::new(PATIENCE.as_secs() as i64, 0);
        setsockopt(&socket, sockopt::ReceiveTimeout, &patience)?;
        Ok(Self { socket, port, next: 1, done: 0, memory: vec![0; 1 << 16] })
    }

    /// Makes a table.
    pub fn put(&mut self, table: &mut Table, layers: [&Layers; 2], replaces: bool) -> io::Result<()> {
        let start = Instant::now();
        loop {
            let (batch, last) = table.anew(layers, replaces, self.next);
            match self.commit(&batch, last) {
                Err(why) if is(&why, Errno::EOPNOTSUPP) && table.disown() => {}
                // The one before this has been killed and is about to go.
                Err(why) if is(&why, Errno::EPERM) && start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                done => return done,
            }
        }
    }

    /// Takes a table away.
    pub fn remove(&mut self, table: &str) -> io::Result<()> {
        let (batch, last) = Messages::begin(self.next).end(|batch| remove(batch, table));
        self.commit(&batch, last)
    }

    /// All of a batch, or an error and nothing of it. The message `last` has asked to be answered.
    pub fn commit(&mut self, batch: &[u8], last: u32) -> io::Result<()> {
        let first = self.next;
        let before = self.generation()?;
        self.commit_from(first, batch, last)?;
        self.done = before.wrapping_add(1);
        Ok(())
    }

    fn commit_from(&mut self, first: u32, batch: &[u8], last: u32) -> io::Result<()> {
        self.next = last.wrapping_add(2);
        self.socket.send(batch, 0)?;
        loop {
            let len = self.receive()?;
            for answer in Answer::all(self.memory.get(..len).unwrap_or_default()) {
                let Some(error) = answer.error() else { continue };
                // What comes of an earlier batch is over.
                if answer.sequence.wrapping_sub(first) > last.wrapping_sub(first) {
                    continue;
                }
                if error != 0 {
                    return Err(io::Error::from_raw_os_error(error.saturating_neg()));
                }
                if answer.sequence == last {
                    return Ok(());
                }
            }
        }
    }

    pub fn dropped(&mut self, table: &Table) -> io::Result<Option<u64>> {
        self.ask(&table.ask_dropped(self.next), |answer| {
            let count = answer.attribute(4).and_then(|data| attribute(data, 2))?;
            count.first_chunk().map(|count| u64::from_be_bytes(*count))
        })
    }

    /// How many batches were done of all.
    pub fn generation(&mut self) -> io::Result<u32> {
        let question = Messages::question(self.next, Command::GetGeneration, 0, |_| {});
        let number = self.ask(&question.bytes, |answer| {
            answer.attribute(1)?.first_chunk().map(|number| u32::from_be_bytes(*number))
        });
        number?.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Asks the question with the next number.
    fn ask<T>(&mut self, question: &[u8], read: impl Fn(Answer<'_>) -> Option<T>) -> io::Result<Option<T>> {
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        self.socket.send(question, 0)?;
        loop {
            let len = self.receive()?;
            for answer in Answer::all(self.memory.get(..len).unwrap_or_default()) {
                if answer.sequence != sequence {
                    continue;
                }
                if let Some(error) = answer.error() {
                    return Err(io::Error::from_raw_os_error(error.saturating_neg()));
                }
                return Ok(read(answer));
            }
        }
    }

    fn receive(&mut self) -> io::Result<usize> {
        loop {
            match recv(self.socket.as_raw_fd(), &mut self.memory, MsgFlags::empty()) {
                Err(Errno::EINTR) => {}
                received => return Ok(received?),
            }
        }
    }
}
