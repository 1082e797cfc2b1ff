// SPDX-License-Identifier: Apache-2.0
//! One step of a list; rtl/loader/load_pkg.sv has the same.

use super::place::Place;

/// Bytes of a step.
pub const STEP_BYTES: usize = 12;

pub(super) const END: u8 = 0;
pub(super) const COPY: u8 = 1;
pub(super) const STREAM: u8 = 2;
pub(super) const FRAMES: u8 = 3;

/// Frames in the device's own compression; the bytes end with its patterns.
const PACK: u8 = 1 << 2;
/// The bytes enter the CRC; the address and the number of frames go in front of them.
const COVERED: u8 = 1 << 3;
/// The CRC follows the bytes.
const SEAL: u8 = 1 << 4;
/// Zeros in place of the bytes.
const BLANK: u8 = 1 << 5;
/// The stream has to end with these frames.
const FINISH: u8 = 1 << 6;
/// The stream is the dictionary.
const DICTIONARY: u8 = 1 << 7;

/// A step, as the loader reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    code: u8,
    /// Frames or entries less one.
    last: u16,
    place: Place,
}

impl Step {
    pub(super) fn end() -> Self {
        Self { code: END, last: 0, place: Place::default() }
    }

    pub(super) fn copy(place: Place, covered: bool) -> Self {
        Self { code: COPY | if covered { COVERED } else { 0 }, last: 0, place }
    }

    pub(super) fn sealed(self) -> Self {
        Self { code: self.code | SEAL, ..self }
    }

    pub(super) fn packed(self) -> Self {
        Self { code: self.code | PACK, ..self }
    }

    pub(super) fn blank(self) -> Self {
        Self { code: self.code | BLANK, ..self }
    }

    pub(super) fn stream(place: Place, frames: usize) -> Self {
        Self { code: STREAM, last: frames.wrapping_sub(1) as u16, place }
    }

    pub(super) fn dictionary(place: Place, entries: usize) -> Self {
        Self { code: STREAM | DICTIONARY, ..Self::stream(place, entries) }
    }

    pub(super) fn frames(frames: usize, finish: bool) -> Self {
        let code = FRAMES | if finish { FINISH } else { 0 };
        Self { code, last: frames.wrapping_sub(1) as u16, place: Place::default() }
    }

    /// Frames that the loader announces, with the address of the first one as the port takes it.
    pub(super) fn run(address: u32, frames: usize, finish: bool) -> Self {
        let step = Self::frames(frames, finish);
        Self { code: step.code | COVERED, place: Place { address, length: frames as u32 }, ..step }
    }

    /// What it does.
    pub(super) fn operation(&self) -> u8 {
        self.code % 4
    }

    pub(super) fn is_packed(&self) -> bool {
        self.code & PACK != 0
    }

    /// Of frames: they are announced.
    pub(super) fn is_run(&self) -> bool {
        self.code & COVERED != 0
    }

    pub(super) fn is_sealed(&self) -> bool {
        self.code & SEAL != 0
    }

    pub(super) fn is_dictionary(&self) -> bool {
        self.code & DICTIONARY != 0
    }

    /// Frames or entries.
    pub(super) fn count(&self) -> usize {
        usize::from(self.last) + 1
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// From what stands in the memory.
    pub(super) fn of(bytes: &[u8; STEP_BYTES]) -> Self {
        let [code, _, last0, last1, a0, a1, a2, a3, l0, l1, l2, l3] = *bytes;
        let place = Place {
            address: u32::from_le_bytes([a0, a1, a2, a3]),
            length: u32::from_le_bytes([l0, l1, l2, l3]),
        };
        Self { code, last: u16::from_le_bytes([last0, last1]), place }
    }

    /// As it stands in the memory.
    pub fn to_bytes(&self) -> [u8; STEP_BYTES] {
        let mut bytes = [0; STEP_BYTES];
        bytes[0] = self.code;
        bytes[2..4].copy_from_slice(&self.last.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.place.address.to_le_bytes());
        bytes[8..].copy_from_slice(&self.place.length.to_le_bytes());
        bytes
    }
}
