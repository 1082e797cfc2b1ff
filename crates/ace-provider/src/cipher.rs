// SPDX-License-Identifier: Apache-2.0
//! CBC and CTR over a message that comes in pieces: padding, chaining from one piece to the next, and what waits for
//! the rest of its block. What computes a run of whole blocks is the engine's table, or intel-ipsec-mb for long ones.

use std::ptr;
use std::sync::Arc;

use ace_engine::evp::Row;
use ace_engine::key::scrub_stack;
use ace_engine::software::block::BlockCipher;
use ace_engine::software::table;
use ace_engine::{Direction, Mode};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::abi::Reason;

/// Text is copied and computed in runs that stay in the first cache.
const RUN: usize = 8 << 10;

/// A key and what was made of it; wiped with the last context that has it.
pub struct Schedule {
    secret: Zeroizing<Vec<u8>>,
    portable: Box<dyn BlockCipher>,
    #[cfg(feature = "ipsec-mb")]
    native: crate::native::BlockKey,
}

impl Schedule {
    fn new(row: &Row, key: &[u8]) -> Option<Self> {
        let made = Self::expand(row, key);
        scrub_stack();
        made
    }

    #[inline(never)]
    fn expand(row: &Row, key: &[u8]) -> Option<Self> {
        Some(Self {
            secret: Zeroizing::new(key.to_vec()),
            portable: (table::cipher(row.algorithm, key.len())?.expand)(key)?,
            #[cfg(feature = "ipsec-mb")]
            native: crate::native::BlockKey::new(row.algorithm, row.mode, key),
        })
    }
}

/// What computed with it has left round keys where the stack was.
impl Drop for Schedule {
    fn drop(&mut self) {
        scrub_stack();
    }
}

#[derive(Clone)]
pub struct Context {
    pub row: &'static Row,
    pub encrypt: bool,
    pub key_len: usize,
    pub padding: bool,
    schedule: Option<Arc<Schedule>>,
    /// As it was given, and as the next block wants it. Zeros until one is given: programs rely on that.
    pub first_iv: [u8; 16],
    pub iv: [u8; 16],
    /// CBC: the text of a block that is not whole, or, when padding is to be taken off, of what may be the last one.
    /// CTR: a block of key stream.
    buffered: [u8; 16],
    /// CBC: how much of it there is. CTR: how much is used, 0 for none and for all.
    buffered_len: usize,
}

impl Drop for Context {
    fn drop(&mut self) {
        self.iv.zeroize();
        self.buffered.zeroize();
    }
}

impl Context {
    pub fn new(row: &'static Row) -> Self {
        Self {
            row,
            encrypt: true,
            key_len: row.key_len,
            padding: true,
            schedule: None,
            first_iv: [0; 16],
            iv: [0; 16],
            buffered: [0; 16],
            buffered_len: 0,
        }
    }

    /// Begins a message. What is not given stays: key, or IV.
    pub fn begin(&mut self, encrypt: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), Reason> {
        self.encrypt = encrypt;
        self.buffered.zeroize();
        self.buffered_len = 0;
        if let Some(iv) = iv {
            if iv.len() != self.row.block() {
                return Err(Reason::IvLength);
            }
            let mut first = [0; 16];
            first[..iv.len()].copy_from_slice(iv);
            self.first_iv = first;
        }
        self.iv = self.first_iv;
        if let Some(key) = key {
            if key.len() != self.key_len {
                return Err(Reason::KeyLength);
            }
            // The same key again keeps its schedule.
            let same = self.schedule.as_ref().is_some_and(|old| bool::from(old.secret.ct_eq(key)));
            if !same {
                self.schedule = None;
                self.schedule = Some(Arc::new(Schedule::new(self.row, key).ok_or(Reason::KeyLength)?));
            }
        }
        Ok(())
    }

    /// The next piece. Returns how many bytes were written.
    ///
    /// # Safety
    /// `len` bytes can be read at `from`, `room` written at `to`; where both overlap, they are the same.
    pub unsafe fn update(
        &mut self,
        from: *const u8,
        len: usize,
        to: *mut u8,
        room: usize,
    ) -> Result<usize, Reason> {
        if self.schedule.is_none() {
            return Err(Reason::NoKey);
        }
        match self.row.mode {
            Mode::Ctr if room < len => Err(Reason::Room),
            // SAFETY: as the caller says.
            Mode::Ctr => unsafe { self.stream(from, len, to) },
            // SAFETY: as the caller says.
            _ => unsafe { self.blocks(from, len, to, room) },
        }
    }

    /// # Safety
    /// As [`Self::update`].
    unsafe fn blocks(
        &mut self,
        from: *const u8,
        len: usize,
        to: *mut u8,
        room: usize,
    ) -> Result<usize, Reason> {
        let block = self.row.block();
        let whole = self.buffered_len.checked_add(len).ok_or(Reason::TooLong)?;
        // What may be padding waits for the end.
        let mut ready = whole / block * block;
        if !self.encrypt && self.padding && ready == whole && ready > 0 {
            ready -= block;
        }
        if ready > room {
            return Err(Reason::Room);
        }
        let (mut read, mut written) = (0, 0);
        if ready > 0 && self.buffered_len > 0 {
            // The block that was begun; it may be whole already.
            let missing = block - self.buffered_len;
            let mut first = Zeroizing::new(self.buffered);
            // SAFETY: `missing` bytes belong to a block that is ready, so they are there; there is room for it.
            unsafe {
                ptr::copy_nonoverlapping(from, first[self.buffered_len..].as_mut_ptr(), missing);
                self.run(&mut first[..block])?;
                ptr::copy_nonoverlapping(first.as_ptr(), to, block);
            }
            (read, written, self.buffered_len) = (missing, block, 0);
        }
        while written < ready {
            let count = (ready - written).min(RUN);
            // SAFETY: all of that is inside of what the caller gave.
            let text = unsafe {
                ptr::copy(from.add(read), to.add(written), count);
                std::slice::from_raw_parts_mut(to.add(written), count)
            };
            self.run(text)?;
            (read, written) = (read + count, written + count);
        }
        if read < len {
            let rest = len - read;
            // SAFETY: what is left is a block at most, together with what is there.
            unsafe {
                ptr::copy_nonoverlapping(
                    from.add(read),
                    self.buffered[self.buffered_len..].as_mut_ptr(),
                    rest,
                )
            };
            self.buffered_len += rest;
        }
        Ok(written)
    }

    /// # Safety
    /// As [`Self::update`], and there is room for `len`.
    unsafe fn stream(&mut self, from: *const u8, len: usize, to: *mut u8) -> Result<usize, Reason> {
        let mut at = 0;
        if self.buffered_len > 0 {
            let count = len.min(16 - self.buffered_len);
            for key in &self.buffered[self.buffered_len..self.buffered_len + count] {
                // SAFETY: inside of what the caller gave; byte by byte each is read before it is written.
                unsafe { *to.add(at) = *from.add(at) ^ key };
                at += 1;
            }
            self.buffered_len = (self.buffered_len + count) % 16;
        }
        while len - at >= 16 {
            let count = ((len - at) / 16 * 16).min(RUN);
            // SAFETY: inside of what the caller gave.
            let text = unsafe {
                ptr::copy(from.add(at), to.add(at), count);
                std::slice::from_raw_parts_mut(to.add(at), count)
            };
            self.run(text)?;
            at += count;
        }
        if at < len {
            let mut key = Zeroizing::new([0; 16]);
            self.run(&mut key[..])?;
            self.buffered = *key;
            self.buffered_len = len - at;
            for key in &self.buffered[..len - at] {
                // SAFETY: as above.
                unsafe { *to.add(at) = *from.add(at) ^ key };
                at += 1;
            }
        }
        Ok(len)
    }

    /// Whole blocks in place; the IV goes on.
    #[inline]
    fn run(&mut self, text: &mut [u8]) -> Result<(), Reason> {
        let Some(schedule) = &self.schedule else { return Err(Reason::NoKey) };
        let block = self.row.block();
        let direction = if self.encrypt { Direction::Encrypt } else { Direction::Decrypt };
        let iv = self.iv;
        match self.row.mode {
            Mode::Ctr => {
                let blocks = (text.len() / 16) as u128;
                self.iv = u128::from_be_bytes(iv).wrapping_add(blocks).to_be_bytes();
            }
            _ if !self.encrypt => self.iv[..block].copy_from_slice(&text[text.len() - block..]),
            _ => {}
        }
        #[cfg(feature = "ipsec-mb")]
        let done = schedule.native.run(direction, &iv[..block], text);
        #[cfg(not(feature = "ipsec-mb"))]
        let done = false;
        if !done {
            let mode = self.row.mode;
            schedule.portable.run(mode, direction, &iv[..block], text).map_err(|_| Reason::Engine)?;
        }
        if self.encrypt && self.row.mode == Mode::Cbc {
            self.iv[..block].copy_from_slice(&text[text.len() - block..]);
        }
        Ok(())
    }

    /// The end: padding, put on or taken off. Returns how many bytes were written.
    pub fn finish(&mut self, to: &mut [u8]) -> Result<usize, Reason> {
        if self.schedule.is_none() {
            return Err(Reason::NoKey);
        }
        let block = self.row.block();
        if self.row.mode == Mode::Ctr {
            return Ok(0);
        }
        let buffered = std::mem::take(&mut self.buffered_len);
        let mut last = Zeroizing::new(self.buffered);
        self.buffered.zeroize();
        if !self.padding {
            return if buffered == 0 { Ok(0) } else { Err(Reason::NotWholeBlocks) };
        }
        if self.encrypt {
            let place = to.get_mut(..block).ok_or(Reason::Room)?;
            last[buffered..block].fill((block - buffered) as u8);
            self.run(&mut last[..block])?;
            place.copy_from_slice(&last[..block]);
            return Ok(block);
        }
        if buffered != block {
            return Err(Reason::NotWholeBlocks);
        }
        self.run(&mut last[..block])?;
        let count = usize::from(last[block - 1]);
        let good = (1..=block).contains(&count)
            && last[block - count..block].iter().all(|&byte| usize::from(byte) == count);
        if !good {
            return Err(Reason::Padding);
        }
        to.get_mut(..block - count).ok_or(Reason::Room)?.copy_from_slice(&last[..block - count]);
        Ok(block - count)
    }

    /// Bytes of the current block that wait or are used.
    pub fn waiting(&self) -> usize {
        self.buffered_len
    }
}
