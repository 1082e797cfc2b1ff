// SPDX-License-Identifier: Apache-2.0
//! How long the loader takes, if neither its memory nor the port makes it wait: the clocks of each step.

use ace_ecp5::Device;

use super::memory::Memory;
use super::pipeline::Pipeline;
use super::place::Place;
use super::step::{self, STEP_BYTES, Step};
use crate::codec::{DICTIONARY_BYTES, Dictionary, decompress};

/// Clocks of a step besides its bytes: its own twelve bytes and the memory's answers.
const STEP_CLOCKS: u64 = 23;
/// Of these, what the beginning of a stream does not take, at which nothing is read.
const UNREAD_CLOCKS: u64 = 6;
/// Nor frames, whose stream is read while they are decoded.
const FRAMES_CLOCKS: u64 = 5;
/// And what only the last step does not take: something behind it.
const END_CLOCKS: u64 = 1;
/// The dictionary, besides its bytes.
const DICTIONARY_CLOCKS: u64 = 8;
/// The CRC, two bytes.
const SEAL_CLOCKS: u64 = 2;

impl Memory {
    /// Clocks from a start with this list to its end, if neither the memory nor the port makes the loader wait.
    /// `None` if it is not a list for this device.
    pub fn clocks(&self, list: u32, device: &Device, dictionary: &Dictionary) -> Option<u64> {
        let steps = self.bytes.get(list as usize..)?.as_chunks::<STEP_BYTES>().0;
        let mut patterns = None;
        let mut stream = Pipeline::default();
        let mut clocks = 0;
        for step in steps.iter().map(Step::of) {
            clocks += STEP_CLOCKS;
            match step.operation() {
                step::END => return Some(clocks - END_CLOCKS),
                step::COPY => {
                    clocks += u64::from(step.place().length);
                    clocks += if step.is_sealed() { SEAL_CLOCKS } else { 0 };
                    if step.is_packed() {
                        patterns = self.at(step.place())?.last_chunk::<8>();
                    }
                }
                step::STREAM if step.is_dictionary() => {
                    clocks += DICTIONARY_BYTES as u64 + DICTIONARY_CLOCKS;
                }
                step::STREAM => {
                    let mut frames = vec![0; step.count() * device.frame_bytes()];
                    let bytes = self.at(step.place())?;
                    decompress(dictionary, device, bytes, &mut frames).ok()?;
                    clocks -= UNREAD_CLOCKS;
                    stream = Pipeline::new(device, bytes, frames);
                }
                _ => {
                    let packed = if step.is_packed() { Some(patterns?) } else { None };
                    clocks += stream.run(device, step.count(), packed, step.is_run())?;
                    clocks -= FRAMES_CLOCKS;
                }
            }
        }
        None
    }

    fn at(&self, place: Place) -> Option<&[u8]> {
        let (address, length) = (place.address as usize, place.length as usize);
        self.bytes.get(address..address.checked_add(length)?)
    }
}
