// SPDX-License-Identifier: Apache-2.0
//! Binding of `flow/model/ace_model.h`: a Verilated slot that runs whole frames. The only unsafe code of the
//! crate.
#![allow(unsafe_code)]

pub(crate) mod frames;
mod shared;

use std::ffi::{CString, c_char, c_int};
use std::path::PathBuf;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use libloading::Library;
use thiserror::Error;

pub use self::frames::{Frame, KeyFrames, Options, RunError, SetsUp, SlotModel, Stopped};
use self::shared::{Copy, functions};
use crate::manifest::{FileRef, KeptLut};
use crate::stream::{Seen, Stream};

/// The version of the interface that this binding speaks.
pub const ABI: u32 = 3;

/// What `ace_model_drive` is told to do in a clock, and what it saw.
const OFFER: u8 = 1;
const TAKE: u8 = 2;
const TVALID: u8 = 2;
const TLAST: u8 = 4;
/// Clocks in which a slot that has answered all takes a beat, if it ever does.
const SETTLE: u64 = 1 << 12;

/// Why there is no model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ModelError {
    /// The shared object of the model cannot be read or loaded.
    #[error("{}: {reason}", file.display())]
    Io {
        /// The shared object.
        file: PathBuf,
        /// Why the system or the loader refuses it.
        reason: String,
    },
    /// The shared object is not the one that the manifest was written for.
    #[error("{}: the file is not the one in the manifest (SHA-256 {found}, expected {expected}); run `make models`", file.display())]
    Digest {
        /// The shared object.
        file: PathBuf,
        /// Its SHA-256 in hexadecimal digits.
        found: String,
        /// The SHA-256 that the manifest gives.
        expected: String,
    },
    /// The shared object was built for another version of the interface between models and this crate.
    #[error("{}: interface version {found}, expected {ABI}; run `make models`", file.display())]
    Abi {
        /// The shared object.
        file: PathBuf,
        /// The version that it was built for.
        found: u32,
    },
    /// The model could not be given the memory that it needs.
    #[error("out of memory for a model")]
    Memory,
    /// The LUTs that the manifest names are not those that the model of this file has.
    #[error("{}: the LUTs of the manifest are not those of the model; run `make models`", .0.display())]
    OtherLuts(PathBuf),
    /// The model of the synthesised netlist was asked for, and this configuration was built without.
    #[error("`{0}` has no netlist model; `make models NAMES={0} NETLISTS=all` makes it")]
    NoNetlist(String),
}

#[repr(C)]
struct RawFrame {
    request: *const u8,
    request_len: usize,
    response: *mut u8,
    response_cap: usize,
    response_len: usize,
    first_in: u64,
    first_out: u64,
    last_out: u64,
}

#[repr(C)]
struct RawOptions {
    seed: u64,
    in_stall: u32,
    out_stall: u32,
    max_clocks: u64,
    reset_after: u64,
}

#[repr(C)]
struct RawLut {
    name: *const c_char,
    contents: u16,
}

/// `ace_model`, never looked into.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

struct Functions {
    new: unsafe extern "C" fn(*mut *mut Opaque, *const RawLut, usize) -> c_int,
    free: unsafe extern "C" fn(*mut Opaque),
    reset: unsafe extern "C" fn(*mut Opaque),
    clocks: unsafe extern "C" fn(*const Opaque) -> u64,
    run: unsafe extern "C" fn(*mut Opaque, *mut RawFrame, usize, *const RawOptions) -> c_int,
    drive: unsafe extern "C" fn(
        *mut Opaque,
        *const u8,
        usize,
        *const u64,
        *const u8,
        usize,
        u64,
        *mut u8,
        *mut u64,
    ) -> usize,
    /// Keeps the code above mapped.
    _library: Library,
    /// Behind the library: the linker knows what it has mapped by this name, which must not become another's.
    _copy: Copy,
}

/// One simulated slot, out of reset.
pub struct Model {
    raw: NonNull<Opaque>,
    functions: Arc<Functions>,
    joined: Stream,
    /// What went wrong while one joined.
    fault: Option<Stopped>,
}

// SAFETY: an instance has no ties to the thread that made it, and instances are independent (ace_model.h);
// `&mut self` keeps two threads from running one instance at once.
unsafe impl Send for Model {}

impl Model {
    /// A new slot from a shared object whose contents are those that the manifest promises, with these contents of its
    /// kept LUTs: all of them, or none for those that it was built with.
    pub fn open(file: &FileRef, lut_init: &[KeptLut]) -> Result<Self, ModelError> {
        let functions = functions(file)?;
        let other = || ModelError::OtherLuts(file.path.clone());
        let name = |lut: &KeptLut| CString::new(lut.name.as_bytes()).map_err(|_| other());
        let names: Vec<CString> = lut_init.iter().map(name).collect::<Result<_, _>>()?;
        let luts: Vec<RawLut> = names
            .iter()
            .zip(lut_init)
            .map(|(name, lut)| RawLut { name: name.as_ptr(), contents: lut.contents })
            .collect();
        let mut raw: *mut Opaque = null_mut();
        // SAFETY: `luts` has `len` entries whose names end with 0 and live, as `names` does, beyond the call, which
        // keeps none of them; it writes `raw` if it returns 0.
        let code = unsafe { (functions.new)(&mut raw, luts.as_ptr(), luts.len()) };
        match (code, NonNull::new(raw)) {
            (0, Some(raw)) => Ok(Self { raw, functions, joined: Stream::default(), fault: None }),
            (7, _) => Err(other()),
            _ => Err(ModelError::Memory),
        }
    }
}

impl Model {
    /// Lets a clock pass in which answers are taken and this beat is offered, the last of its frame or not.
    fn clock(&mut self, offer: Option<(u64, bool)>) -> Result<Seen, RunError> {
        let todo = TAKE | if offer.is_some() { OFFER } else { 0 };
        let (beat, last) = offer.unwrap_or_default();
        let (last, beats) = (u8::from(last), usize::from(offer.is_some()));
        let (mut seen, mut data) = (0, 0);
        // SAFETY: one clock, at most one beat, and room for what is seen in one clock, all of which live beyond the
        // call; `raw` is alive.
        let taken = unsafe {
            (self.functions.drive)(self.raw.as_ptr(), &todo, 1, &beat, &last, beats, 0, &mut seen, &mut data)
        };
        let answer = (seen & TVALID != 0).then_some((data, seen & TLAST != 0));
        match taken {
            usize::MAX => Err(RunError::Assertion),
            taken => Ok(Seen { taken: taken == 1, answer }),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `new` of the same library and is not used again.
        unsafe { (self.functions.free)(self.raw.as_ptr()) }
    }
}

impl SlotModel for Model {
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError> {
        let mut raw: Vec<RawFrame> = Vec::with_capacity(frames.len());
        for frame in frames.iter_mut() {
            frame.response.clear();
            frame.response.resize(frame.capacity, 0);
            raw.push(RawFrame {
                request: frame.request.as_ptr(),
                request_len: frame.request.len(),
                response: frame.response.as_mut_ptr(),
                response_cap: frame.response.len(),
                response_len: 0,
                first_in: 0,
                first_out: 0,
                last_out: 0,
            });
        }
        let options = RawOptions {
            seed: options.seed,
            in_stall: options.in_stall,
            out_stall: options.out_stall,
            max_clocks: options.max_clocks,
            reset_after: options.reset_after,
        };
        // SAFETY: `raw` holds `len` frames whose request and response buffers live in `frames` and do not move
        // during the call; response buffers have `response_cap` initialised bytes; `self.raw` is alive.
        let code = unsafe { (self.functions.run)(self.raw.as_ptr(), raw.as_mut_ptr(), raw.len(), &options) };
        for (frame, raw) in frames.iter_mut().zip(&raw) {
            frame.response.truncate(raw.response_len);
            (frame.first_in, frame.first_out, frame.last_out) = (raw.first_in, raw.first_out, raw.last_out);
        }
        match code {
            0 => Ok(()),
            1 => Err(RunError::Silent),
            2 => Err(RunError::NoSpace),
            3 => Err(RunError::Reset),
            4 => Err(RunError::BadFrame),
            5 => Err(RunError::Assertion),
            other => Err(RunError::Unknown(other)),
        }
    }

    fn join(&mut self, number: u64, frame: Frame) -> u64 {
        let mut now = self.clocks();
        let mut joined = std::mem::take(&mut self.joined);
        let first = joined.is_empty();
        joined.join(now, number, frame);
        // What a slot that stood still has yet to do before it takes a beat is not the frame's time.
        for _ in 0..if first { SETTLE } else { 0 } {
            if joined.has_begun() || self.fault.is_some() {
                break;
            }
            self.fault = joined.go(now, now + 1, 0, |offer| self.clock(offer)).err();
            now = self.clocks();
        }
        self.joined = joined;
        if first { now.saturating_sub(1) } else { now }
    }

    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        let mut joined = std::mem::take(&mut self.joined);
        let gone = match self.fault.take() {
            Some(fault) => Err(fault),
            None => joined.go(self.clocks(), until, max_clocks, |offer| self.clock(offer)),
        };
        match gone {
            Ok(_) => self.joined = joined,
            Err(_) => self.reset(),
        }
        gone
    }

    fn reset(&mut self) {
        // What had joined is gone, and so is time.
        (self.joined, self.fault) = (Stream::default(), None);
        // SAFETY: `raw` is alive and not shared.
        unsafe { (self.functions.reset)(self.raw.as_ptr()) }
    }

    fn clocks(&self) -> u64 {
        // SAFETY: `raw` is alive; the call does not write.
        unsafe { (self.functions.clocks)(self.raw.as_ptr()) }
    }
}
