// SPDX-License-Identifier: Apache-2.0
//! Binding of `flow/model/ace_model.h`: a Verilated slot that runs whole frames. The only unsafe code of the
//! crate.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};
use std::io::Write;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::manifest::{FileRef, KeptLut};

/// The version of the interface that this binding speaks.
pub const ABI: u32 = 3;

/// A request, and where its response goes.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Whole beats.
    pub request: Vec<u8>,
    /// Bytes of response that there is room for.
    pub capacity: usize,
    /// What came back; whole beats.
    pub response: Vec<u8>,
    /// Clock in which the first beat of the request was taken.
    pub first_in: u64,
    /// Clock in which the first beat of the response was taken.
    pub first_out: u64,
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
    #[error("the slot does not answer")]
    Silent,
    #[error("a response is longer than it can be")]
    NoSpace,
    #[error("the slot was reset")]
    Reset,
    #[error("a request is empty or not whole beats")]
    BadFrame,
    #[error("an assertion of rtl/formal failed in the model; standard output says which")]
    Assertion,
    #[error("the model returned {0}")]
    Unknown(i32),
}

/// Something that answers frames: the simulation of a slot.
pub trait SlotModel: Send {
    /// Sends the frames back to back and collects their responses; a response belongs to the first frame of its
    /// tag that has none. Frames that were not answered when it failed have an empty response.
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError>;

    /// Asserts reset; keys are gone.
    fn reset(&mut self);

    /// Clocks since the last reset.
    fn clocks(&self) -> u64;
}

/// Why there is no model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ModelError {
    #[error("{}: {reason}", file.display())]
    Io { file: PathBuf, reason: String },
    #[error("{}: the file is not the one in the manifest (SHA-256 {found}, expected {expected}); run `make models`", file.display())]
    Digest { file: PathBuf, found: String, expected: String },
    #[error("{}: interface version {found}, expected {ABI}; run `make models`", file.display())]
    Abi { file: PathBuf, found: u32 },
    #[error("out of memory for a model")]
    Memory,
    #[error("{}: the LUTs of the manifest are not those of the model; run `make models`", .0.display())]
    OtherLuts(PathBuf),
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
    /// Keeps the code above mapped.
    _library: Library,
    /// Behind the library: the linker knows what it has mapped by this name, which must not become another's.
    _copy: Copy,
}

/// One simulated slot, out of reset.
pub struct Model {
    raw: NonNull<Opaque>,
    functions: Arc<Functions>,
}

// SAFETY: an instance has no ties to the thread that made it, and instances are independent (ace_model.h);
// `&mut self` keeps two threads from running one instance at once.
unsafe impl Send for Model {}

impl Model {
    /// A new slot from a shared object whose contents are those that the manifest promises, with these contents of its
    /// kept LUTs: all of them, or none for those that it was built with.
    pub fn open(file: &FileRef, kept: &[KeptLut]) -> Result<Self, ModelError> {
        let functions = functions(file)?;
        let other = || ModelError::OtherLuts(file.path.clone());
        let name = |lut: &KeptLut| CString::new(lut.name.as_bytes()).map_err(|_| other());
        let names: Vec<CString> = kept.iter().map(name).collect::<Result<_, _>>()?;
        let luts: Vec<RawLut> = names
            .iter()
            .zip(kept)
            .map(|(name, lut)| RawLut { name: name.as_ptr(), contents: lut.contents })
            .collect();
        let mut raw: *mut Opaque = null_mut();
        // SAFETY: `luts` has `len` entries whose names end with 0 and live, as `names` does, beyond the call, which
        // keeps none of them; it writes `raw` if it returns 0.
        let code = unsafe { (functions.new)(&mut raw, luts.as_ptr(), luts.len()) };
        match (code, NonNull::new(raw)) {
            (0, Some(raw)) => Ok(Self { raw, functions }),
            (7, _) => Err(other()),
            _ => Err(ModelError::Memory),
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

    fn reset(&mut self) {
        // SAFETY: `raw` is alive and not shared.
        unsafe { (self.functions.reset)(self.raw.as_ptr()) }
    }

    fn clocks(&self) -> u64 {
        // SAFETY: `raw` is alive; the call does not write.
        unsafe { (self.functions.clocks)(self.raw.as_ptr()) }
    }
}

/// What was hashed, where nobody can change it any more: what is mapped is that, whatever has become of the file.
#[cfg(target_os = "linux")]
struct Copy(std::fs::File);

#[cfg(target_os = "linux")]
impl Copy {
    /// A file in memory, sealed.
    fn of(bytes: &[u8]) -> std::io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        let memory = memfd_create("ace-model", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = std::fs::File::from(memory);
        file.write_all(bytes)?;
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(Self(file))
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// The same as a file of the user's own, which others cannot write.
#[cfg(not(target_os = "linux"))]
struct Copy(tempfile::NamedTempFile);

#[cfg(not(target_os = "linux"))]
impl Copy {
    fn of(bytes: &[u8]) -> std::io::Result<Self> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(bytes)?;
        Ok(Self(file))
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

/// By path and contents.
type Opened = HashMap<(PathBuf, [u8; 32]), Arc<Functions>>;

/// The functions of a shared object; each one is read, checked and mapped once in a process. The map is keyed
/// by contents, so a rebuilt file is another one.
fn functions(file: &FileRef) -> Result<Arc<Functions>, ModelError> {
    static OPEN: Mutex<Option<Opened>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    let key = (file.path.clone(), file.sha256);
    if let Some(found) = open.get(&key) {
        return Ok(Arc::clone(found));
    }
    let io = |reason: String| ModelError::Io { file: file.path.clone(), reason };
    let bytes = ace_io::input::bytes(&file.path).map_err(|e| io(e.to_string()))?;
    let found: [u8; 32] = Sha256::digest(&bytes).into();
    if found != file.sha256 {
        let (found, expected) = (hex::encode(found), hex::encode(file.sha256));
        return Err(ModelError::Digest { file: file.path.clone(), found, expected });
    }
    let copy = Copy::of(&bytes).map_err(|e| io(format!("no place for a copy: {e}")))?;
    // SAFETY: mapping a library runs its initialisers. The contents are those of the manifest, which the flow
    // wrote together with the library; a Verilated model initialises tables only.
    let library = unsafe { Library::new(copy.path()) }.map_err(|e| io(e.to_string()))?;
    // SAFETY: the names and types are those of ace_model.h, whose version is checked before anything else is
    // called; the pointers are kept together with the library.
    let functions = unsafe {
        let abi: unsafe extern "C" fn() -> u32 =
            *library.get(b"ace_model_abi").map_err(|e| io(e.to_string()))?;
        let found = abi();
        if found != ABI {
            return Err(ModelError::Abi { file: file.path.clone(), found });
        }
        let missing = |e: libloading::Error| io(e.to_string());
        Functions {
            new: *library.get(b"ace_model_new").map_err(missing)?,
            free: *library.get(b"ace_model_free").map_err(missing)?,
            reset: *library.get(b"ace_model_reset").map_err(missing)?,
            clocks: *library.get(b"ace_model_clocks").map_err(missing)?,
            run: *library.get(b"ace_model_run").map_err(missing)?,
            _library: library,
            _copy: copy,
        }
    };
    let functions = Arc::new(functions);
    open.insert(key, Arc::clone(&functions));
    Ok(functions)
}
