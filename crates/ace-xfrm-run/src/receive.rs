// SPDX-License-Identifier: Apache-2.0
//! What arrives on a connection, given to a program with an address of netlink. A call that has to wait waits here; its
//! message is not taken before it is there and the call still waits for it, so that a signal loses none.

use std::ffi::c_int;
use std::os::fd::OwnedFd;
use std::time::Instant;

use zeroize::Zeroize;

use crate::answers::{ADDRESS, nobody, put_address};
use crate::kernel::{self, Call, Listener};

/// No answer is longer.
const LONGEST: usize = 1 << 20;
/// Pieces of memory of one call (UIO_MAXIOV).
const MOST_PIECES: u64 = 1024;
/// Bytes of struct msghdr, and places in it, where addresses have 64 bits.
const MSGHDR: usize = 56;
const NAME_LEN: u64 = 8;
const CONTROL_LEN: u64 = 40;
const FLAGS: u64 = 48;

/// A call that receives.
pub struct Receive {
    pub call: Call,
    pub fd: OwnedFd,
    /// When it gives up.
    pub until: Option<Instant>,
    waits: bool,
    flags: c_int,
    /// Where the message goes: address and length.
    pieces: Vec<(u64, usize)>,
    /// recvmsg(2): its header; recvfrom(2): places of the address and of its length.
    header: Option<u64>,
    address: (u64, u64),
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

impl Receive {
    /// Looks at the arguments.
    pub fn new(call: Call, fd: OwnedFd) -> Result<Self, c_int> {
        let [_, second, third, fourth, fifth, sixth] = call.arguments;
        let is_from = i64::from(call.number) == libc::SYS_recvfrom;
        let flags = if is_from { fourth } else { third } as c_int;
        let (pieces, header, address) = if is_from {
            (vec![(second, third as usize)], None, (fifth, sixth))
        } else {
            let mut bytes = [0; MSGHDR];
            kernel::read_memory(call.thread, second, &mut bytes)?;
            let (name, vector, count) = (word(&bytes, 0), word(&bytes, 16), word(&bytes, 24));
            if count > MOST_PIECES {
                return Err(libc::EMSGSIZE);
            }
            let mut vectors = vec![0; 16 * count as usize];
            kernel::read_memory(call.thread, vector, &mut vectors)?;
            let pieces = vectors.chunks(16).map(|one| (word(one, 0), word(one, 8) as usize));
            (pieces.collect(), Some(second), (name, second + NAME_LEN))
        };
        let waits = flags & libc::MSG_DONTWAIT == 0 && !kernel::never_waits(&fd);
        let until = kernel::patience(&fd).and_then(|patience| Instant::now().checked_add(patience));
        Ok(Self { call, fd, until, waits, flags, pieces, header, address })
    }

    /// Takes a message if there is one, and answers. False: the call has to wait.
    pub fn try_now(&self, listener: &Listener) -> bool {
        let is_there = kernel::wait(&[std::os::fd::AsRawFd::as_raw_fd(&self.fd)], 0).contains(&true);
        let over = self.until.is_some_and(|until| until <= Instant::now());
        if !is_there && self.waits && !over {
            return false;
        }
        if listener.waits(self.call.id) {
            let result = if is_there { self.take(listener) } else { Err(libc::EAGAIN) };
            listener.answer(self.call.id, result);
        }
        true
    }

    fn take(&self, listener: &Listener) -> Result<i64, c_int> {
        let room = self.pieces.iter().fold(0_usize, |sum, (_, len)| sum.saturating_add(*len));
        let mut memory = vec![0; room.min(LONGEST)];
        let (length, flags) = kernel::receive(&self.fd, &mut memory, self.flags)?;
        if length == 0 && room > 0 {
            self.gone(listener);
            return Err(libc::ECONNRESET);
        }
        let given = self.give(memory.get(..length.min(memory.len())).unwrap_or_default(), flags);
        // Keys may have been in it.
        memory.zeroize();
        given.map(|()| length as i64)
    }

    fn give(&self, mut message: &[u8], flags: c_int) -> Result<(), c_int> {
        let thread = self.call.thread;
        for (at, len) in &self.pieces {
            let (piece, rest) = message.split_at(message.len().min(*len));
            kernel::write_memory(thread, *at, piece)?;
            message = rest;
        }
        let Some(header) = self.header else {
            // Without a place for it nobody asks.
            let wanted = self.address.0 != 0;
            return if wanted {
                put_address(thread, self.address.0, self.address.1).map(drop)
            } else {
                Ok(())
            };
        };
        if self.address.0 == 0 {
            kernel::write_memory(thread, header + NAME_LEN, &0_u32.to_ne_bytes())?;
        } else {
            let mut room = [0; 4];
            kernel::read_memory(thread, header + NAME_LEN, &mut room)?;
            let room = (u32::from_ne_bytes(room) as usize).min(ADDRESS);
            kernel::write_memory(thread, self.address.0, &nobody()[..room])?;
            kernel::write_memory(thread, header + NAME_LEN, &(ADDRESS as u32).to_ne_bytes())?;
        }
        kernel::write_memory(thread, header + CONTROL_LEN, &0_u64.to_ne_bytes())?;
        kernel::write_memory(thread, header + FLAGS, &flags.to_ne_bytes())
    }

    /// Netlink has no end, and programs are not made for one. They hear an error once; the descriptor becomes a socket on
    /// which nothing arrives and nothing can be sent.
    fn gone(&self, listener: &Listener) {
        let (thread, number) = (self.call.thread, self.call.arguments[0] as u32);
        let info = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| c_int::from_str_radix(flags.trim(), 8).ok()).unwrap_or(0);
        if let Ok(silent) = kernel::unix_socket(libc::SOCK_DGRAM) {
            drop(kernel::set_never_waits(&silent, flags & libc::O_NONBLOCK != 0));
            drop(listener.put(self.call.id, &silent, number, flags & libc::O_CLOEXEC != 0, false));
        }
    }
}
