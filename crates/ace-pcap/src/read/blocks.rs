// SPDX-License-Identifier: Apache-2.0
//! One block at a time out of a stream.

use std::io::{self, BufRead, ErrorKind, Read};

use thiserror::Error;
use zeroize::{Zeroize, Zeroizing};

/// Longer records are passed over: no link has frames of so many bytes.
pub const MAX_BLOCK: usize = 1 << 20;

const BUFFER: usize = 256 << 10;

/// The stream ends where it should go on.
#[derive(Debug, Error)]
pub(crate) enum Ended {
    #[error("the file ends in the middle of it")]
    Short,
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::UnexpectedEof { Ended::Short } else { Ended::Io(error) }
    }
}

/// A buffer that is wiped: a capture may have keys in it.
struct Buffered {
    input: Box<dyn Read + Send>,
    buffer: Zeroizing<Vec<u8>>,
    from: usize,
    to: usize,
}

impl Read for Buffered {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(into)?;
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for Buffered {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.from == self.to {
            (self.from, self.to) = (0, self.input.read(&mut self.buffer)?);
        }
        Ok(self.buffer.get(self.from..self.to).unwrap_or_default())
    }

    fn consume(&mut self, len: usize) {
        self.from = (self.from + len).min(self.to);
    }
}

pub(crate) struct Blocks {
    input: Buffered,
    block: Vec<u8>,
    position: u64,
}

impl Blocks {
    pub fn new(input: Box<dyn Read + Send>) -> Self {
        let buffer = Zeroizing::new(vec![0; BUFFER]);
        Self { input: Buffered { input, buffer, from: 0, to: 0 }, block: Vec::new(), position: 0 }
    }

    /// Bytes taken so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// What was read of the current block.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Starts another block with `len` bytes; false if the stream has ended before it.
    pub fn begin(&mut self, len: usize) -> Result<bool, Ended> {
        self.block.clear();
        // An end is proper only where a block would start.
        let first = loop {
            match self.input.fill_buf() {
                Ok(bytes) => break !bytes.is_empty(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Ended::Io(error)),
            }
        };
        if first {
            self.more(len)?;
        }
        Ok(first)
    }

    /// Reads `len` bytes more of the block, which its caller has held against [`MAX_BLOCK`].
    pub fn more(&mut self, len: usize) -> Result<(), Ended> {
        let from = self.block.len();
        self.block.resize(from + len, 0);
        self.input.read_exact(&mut self.block[from..])?;
        self.position += len as u64;
        Ok(())
    }

    /// Wipes the block, of which nothing is needed any more.
    pub fn wipe(&mut self) {
        self.block.zeroize();
    }

    /// Passes over `len` bytes, without a copy of them.
    pub fn skip(&mut self, len: u64) -> Result<(), Ended> {
        let mut left = len;
        while left > 0 {
            let here = match self.input.fill_buf() {
                Ok([]) => return Err(Ended::Short),
                Ok(bytes) => bytes.len(),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Ended::Io(error)),
            };
            // At most as many as are here.
            let passed = left.min(here as u64);
            self.input.consume(passed as usize);
            self.position += passed;
            left -= passed;
        }
        Ok(())
    }
}
