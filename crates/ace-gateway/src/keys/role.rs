// SPDX-License-Identifier: Apache-2.0
//! What a gateway with a standby is to the keys of its state file: who counts under them, and who may take over.
//!
//! | bytes | copy of the role |
//! |---|---|
//! | 0 | 0: alone, 1: attached, 2: standby, 3: given |
//! | 1 | bit 0: strict, bit 1: whole |
//! | 8–15 | how often the keys were taken over |
//! | 40–47 | how often it was written |
//! | 60–63 | CRC-32 of 0–59 |
//!
//! All other bytes are zero. There are two copies, as of a record. Never written: alone.

use super::record::{DamagedRecord, PART, sealed, whole, word};

/// Who counts under the keys of a state file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// This one, and nobody else knows how far.
    #[default]
    Alone,
    /// This one; a standby has all that it may use.
    Attached {
        /// Nothing is used that the standby does not have. If it is not so, this one may become [`Phase::Alone`] by itself.
        strict: bool,
    },
    /// Another one does: this is a copy.
    Standby {
        /// It has everything that the other one may use while that one is attached.
        whole: bool,
        /// As of [`Phase::Attached`]. It is never so of the copy unless it is of the other one.
        strict: bool,
    },
    /// Another one does, for good: it took over.
    Given,
}

/// [`Phase`], and which of two ends that think the same is behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role {
    pub phase: Phase,
    /// How often the keys were taken over.
    pub term: u64,
    serial: u64,
}

impl Role {
    /// The next one, in the same term.
    pub fn turned(self, phase: Phase) -> Self {
        Self { phase, serial: self.serial + 1, ..self }
    }

    /// The next one, in another term.
    pub fn in_term(self, term: u64, phase: Phase) -> Self {
        Self { term, ..self.turned(phase) }
    }

    /// Whether no standby ever knew these keys.
    pub fn is_first(self) -> bool {
        self.serial == 0
    }

    /// Where its copy stands, and what it is.
    pub fn bytes(self) -> (u64, [u8; PART]) {
        let (phase, flags) = match self.phase {
            Phase::Alone => (0, 0),
            Phase::Attached { strict } => (1, u8::from(strict)),
            Phase::Standby { whole, strict } => (2, u8::from(strict) | u8::from(whole) << 1),
            Phase::Given => (3, 0),
        };
        let mut bytes = [0; PART];
        (bytes[0], bytes[1]) = (phase, flags);
        bytes[8..16].copy_from_slice(&self.term.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.serial.to_le_bytes());
        (PART as u64 + (self.serial % 2) * PART as u64, sealed(bytes))
    }

    fn from_copy(bytes: &[u8]) -> Option<Self> {
        let bytes = whole(bytes)?;
        let (strict, is_whole) = (bytes[1] & 1 != 0, bytes[1] & 2 != 0);
        let phase = match bytes[0] {
            0 => Phase::Alone,
            1 => Phase::Attached { strict },
            2 => Phase::Standby { whole: is_whole, strict },
            3 => Phase::Given,
            _ => return None,
        };
        Some(Self { phase, term: word(bytes, 8), serial: word(bytes, 40) })
    }

    /// Of both copies the newer one.
    ///
    /// # Errors
    /// Both were written, and neither is whole.
    pub fn from_copies(bytes: &[u8]) -> Result<Self, DamagedRecord> {
        let newer = bytes.chunks(PART).filter_map(Self::from_copy).max_by_key(|role| role.serial);
        let written = bytes.chunks(PART).filter(|copy| copy.iter().any(|byte| *byte != 0)).count();
        match newer {
            Some(role) => Ok(role),
            // A first write that was cut short: what it says was waited for by nobody.
            None if written < 2 => Ok(Self::default()),
            None => Err(DamagedRecord),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_as_it_was_written_and_the_newer_copy_counts() {
        let phases = [
            Phase::Attached { strict: false },
            Phase::Attached { strict: true },
            Phase::Standby { whole: true, strict: false },
            Phase::Standby { whole: false, strict: true },
            Phase::Given,
            Phase::Alone,
        ];
        let (mut both, mut role) = (vec![0; 2 * PART], Role::default());
        assert_eq!(Role::from_copies(&both), Ok(role));
        for (term, phase) in (1..).zip(phases) {
            let before = role;
            role = role.in_term(term, phase);
            let (at, bytes) = role.bytes();
            let at = at as usize - PART;
            both[at..at + PART].copy_from_slice(&bytes);
            assert_eq!(Role::from_copies(&both), Ok(role));
            let mut cut = both.clone();
            cut[at + 20] ^= 1;
            assert_eq!(Role::from_copies(&cut), Ok(before));
            cut.iter_mut().for_each(|byte| *byte |= 0x80);
            assert_eq!(Role::from_copies(&cut), Err(DamagedRecord));
        }
    }
}
