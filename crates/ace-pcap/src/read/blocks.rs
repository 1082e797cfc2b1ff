// SPDX-License-Identifier: Apache-2.0
//! One block at a time out of a stream.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use thiserror::Error;

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

pub(crate) struct Blocks {
    input: BufReader<Box<dyn Read + Send>>,
    block: Vec<u8>,
    position: u64,
}

impl Blocks {
    pub fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input: BufReader::with_capacity(BUFFER, input), block: Vec::new(), position: 0 }
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

    /// Passes over `len` bytes.
    pub fn skip(&mut self, len: u64) -> Result<(), Ended> {
        let passed = io::copy(&mut self.input.by_ref().take(len), &mut io::sink())?;
        self.position += passed;
        if passed == len { Ok(()) } else { Err(Ended::Short) }
    }
}
