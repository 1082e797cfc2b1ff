// SPDX-License-Identifier: Apache-2.0
//! What a bitstream does beyond what it leaves in the memory. A security bit, a register that is set and set back, a frame
//! that is written twice, commands in another order: none of them shows in the memory, so that whoever proves something
//! of the memory has said nothing of them. A stream that is nothing but its memory is the one that [`Emit`] writes of it.

use std::fmt;

use crate::emit::Emit;
use crate::memory::ConfigMemory;
use crate::port::{ConfigPort, PREAMBLE, opcode};

/// Where a bitstream is another one than [`Emit`] writes of the memory that it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untold {
    /// Bytes before the first one that is another.
    pub offset: u64,
    /// The command that the stream is in there, by its opcode; none between commands.
    pub command: Option<u8>,
}

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |command| opcode::NAMES.iter().find(|(code, _)| *code == command).map(|(_, name)| *name);
        write!(f, "byte {}", self.offset)?;
        match self.command.and_then(|command| Some((command, name(command)?))) {
            Some((command, name)) => write!(f, " (command {command:02X}: {name})")?,
            None => f.write_str(" (between commands)")?,
        }
        f.write_str(" does what the memory does not show, or in another order or form than `ace` and ecppack write it")
    }
}

/// Whether a whole bitstream, which leaves this memory, is written just as [`Emit::whole`] does it, plain or compressed;
/// else where it begins to be another one. Comments and padding behind the end do not count.
pub fn untold(bytes: &[u8], memory: &ConfigMemory) -> Option<Untold> {
    let at = start(bytes);
    let end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte != opcode::DUMMY).map_or(0, |last| last + 1);
    let body = &bytes[at..];
    let mut first = 0;
    for compress in [false, true] {
        let told = Emit { compress, ..Emit::default() }.whole(memory);
        let told = &told[start(&told)..];
        if body[..end(body)] == told[..end(told)] {
            return None;
        }
        first = first.max(body.iter().zip(told).take_while(|(a, b)| a == b).count());
    }
    let offset = (at + first).min(bytes.len());
    let mut port = ConfigPort::for_any_device();
    let command = port.push(&bytes[..bytes.len().min(offset + 1)]).ok().and_then(|()| port.command());
    Some(Untold { offset: offset as u64, command })
}

/// Where the first byte behind the preamble is.
fn start(bytes: &[u8]) -> usize {
    let preamble = PREAMBLE.to_be_bytes();
    bytes.windows(preamble.len()).position(|window| window == preamble).map_or(0, |at| at + preamble.len())
}

#[cfg(test)]
mod tests;
