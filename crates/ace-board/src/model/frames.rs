// SPDX-License-Identifier: Apache-2.0
//! Frames, and what answers them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use thiserror::Error;

/// A request, and where its response goes.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Whole beats.
    pub request: Vec<u8>,
    /// Bytes of response that there is room for.
    pub capacity: usize,
    /// Its result is a frame, which the slot answers as well, under the same tag, unless it refuses the first one: the
    /// response is both answers, one behind the other. Only for frames that join.
    pub chained: bool,
    /// The context set that takes the result in another tile, where that is a hash's.
    pub beside: Option<Arc<str>>,
    /// What came back; whole beats.
    pub response: Vec<u8>,
    /// Clock in which the first beat of the request was taken.
    pub first_in: u64,
    /// Clock in which the first beat of the response was taken.
    pub first_out: u64,
    /// Of one that is answered twice, the clock in which the last beat of the first answer was taken.
    pub passed_on: u64,
    /// Clock in which the last beat of the response was taken.
    pub last_out: u64,
}

impl Frame {
    /// Room for `capacity` bytes of response, rounded up to beats.
    pub fn new(request: Vec<u8>, capacity: usize) -> Self {
        Self { request, capacity: capacity.next_multiple_of(8), ..Self::default() }
    }

    /// Clocks from the first request beat to the last response beat, both counted.
    pub fn cycles(&self) -> u64 {
        self.last_out.saturating_sub(self.first_in) + 1
    }
}

/// How a model is run. The default: no stalls, the model's own time-out, no reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Of the stalls.
    pub seed: u64,
    /// Chance in 65536 that no request beat is offered in a clock.
    pub in_stall: u32,
    /// Chance in 65536 that no response beat is taken in a clock.
    pub out_stall: u32,
    /// Clocks without a beat after which the slot counts as hanging; 0: 2^20.
    pub max_clocks: u64,
    /// Reset after so many clocks of this call; 0: never.
    pub reset_after: u64,
}

/// Why a run ended before every frame was answered.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// For longer than [`Options`] allow, the slot has neither taken nor given a beat.
    #[error("the slot does not answer")]
    Silent,
    /// The slot goes on with a response beyond the space that was set aside for it.
    #[error("a response is longer than it can be")]
    NoSpace,
    /// The slot was reset in the middle, as [`Options::reset_after`] asks for.
    #[error("the slot was reset")]
    Reset,
    /// A request has no bytes, or is not whole beats of 8.
    #[error("a request is empty or not whole beats")]
    BadFrame,
    /// The slot began a response while no request was open.
    #[error("an answer came to no request")]
    Unasked,
    /// An assertion that was compiled into the model failed.
    #[error("an assertion of rtl/formal failed in the model; standard output says which")]
    Assertion,
    /// The model ended with a code that this crate does not know.
    #[error("the model returned {0}")]
    Unknown(i32),
}

/// A run that is over because the slot does not do what a slot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Why it is over.
    pub error: RunError,
    /// The clock in which that was seen.
    pub clock: u64,
}

/// What goes over the link for a key, the trailers of the answers included. By default it goes with the frame that needs it.
#[derive(Clone, Debug, Default)]
pub struct KeyFrames {
    /// Bytes, if the host expands it.
    pub expanded: Option<u64>,
    /// Sets with which the slot expands keys itself.
    pub slot: Vec<SetsUp>,
}

/// A set with which a slot expands keys.
#[derive(Clone, Debug)]
pub struct SetsUp {
    /// Bytes of the keys that it is for.
    pub keys: RangeInclusive<usize>,
    /// Bytes that load it, if it is not there.
    pub load: u64,
    /// Bytes for a key.
    pub frame: u64,
}

impl KeyFrames {
    /// The set that expands a key of so many bytes.
    pub fn set(&self, key: usize) -> Option<usize> {
        self.slot.iter().position(|set| set.keys.contains(&key))
    }
}

/// Something that answers frames: the simulation of a slot.
pub trait SlotModel: Send {
    /// Sends the frames back to back and collects their responses; a response belongs to the first frame of its
    /// tag that has none. Frames that were not answered when it failed have an empty response.
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError>;

    /// Offers a frame from the next clock on, behind those that were offered before and may still be worked on. No
    /// frames are run the other way before all that joined are answered. `number` comes back with it. A slot that has
    /// answered all takes the first beat at once. Returns the clock from which on the frame is there.
    fn join(&mut self, number: u64, frame: Frame) -> u64;

    /// Lets time pass until clock `until`, or until a frame that joined is answered, which comes back; none passes while
    /// there is none. Counts as hanging as in [`Options`]. What had joined is gone after an error.
    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped>;

    /// Asserts reset; keys are gone.
    fn reset(&mut self);

    /// Clocks since the last reset.
    fn clocks(&self) -> u64;

    /// Clocks that a slot of the array was busy with the context set that it was opened with. What a slot does after a reset is
    /// not of a load: the one on the board was reset before time 0.
    fn loading(&self) -> u64 {
        0
    }

    /// The sets that can take a result of this slot in its other tile.
    fn passes_to(&self) -> Vec<String> {
        Vec::new()
    }

    /// What goes over the link for a key of the slot that this is.
    fn keys(&self) -> KeyFrames {
        KeyFrames::default()
    }
}
