// SPDX-License-Identifier: Apache-2.0
//! The shared object of a board in simulation (`flow/board/board_model.h`).
#![allow(unsafe_code)]

use std::path::Path;
use std::ptr::NonNull;

use libloading::Library;

use super::PinsError;

/// The version of the interface.
pub const ABI: u32 = 1;
/// Frames as a PHY brings them: it adds preamble, padding and FCS.
const FRAME: u32 = 0;
/// More than any frame has.
const ROOM: usize = 16 << 10;

/// `ace_board`, never looked into.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

/// What has happened at the pins.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Frames that came to the pins whole.
    pub in_frames: u64,
    /// Frames to the board that the wire has lost.
    pub in_lost: u64,
    /// Frames to the board of which the wire has turned a bit.
    pub in_broken: u64,
    /// Frames that left the pins whole.
    pub out_frames: u64,
    /// Frames from the board that the wire has lost.
    pub out_lost: u64,
    /// Frames from the board of which the wire has turned a bit.
    pub out_broken: u64,
    /// The board's own fault: preamble, FCS, length, or an error that it says.
    pub out_wrong: u64,
    /// The board's own fault: less than 12 bytes behind the frame before.
    pub out_close: u64,
    /// The tap of the receive delay now.
    pub tap: u32,
    /// 1: the LED is on.
    pub led: u32,
    /// 1: the PHY is in reset.
    pub phy_reset: u32,
    /// Changes of the SDRAM's clock pin, of which there are none.
    pub sdram_clock: u32,
}

/// What the wire does to frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wires {
    /// Chances in a million that a frame is lost, each way.
    pub lost: u32,
    /// Chances in a million that a bit of a frame is turned, each way.
    pub broken: u32,
    /// Taps of the receive delay at which bits are sampled right.
    pub eye: Option<(u32, u32)>,
}

struct Functions {
    free: unsafe extern "C" fn(*mut Opaque),
    send: unsafe extern "C" fn(*mut Opaque, *const u8, usize, u32, usize) -> u64,
    waiting: unsafe extern "C" fn(*const Opaque) -> usize,
    take: unsafe extern "C" fn(*mut Opaque, *mut u8, usize, *mut u64) -> usize,
    run: unsafe extern "C" fn(*mut Opaque, u64, i32) -> u64,
    now: unsafe extern "C" fn(*const Opaque) -> u64,
    eye: unsafe extern "C" fn(*mut Opaque, u32, u32),
    wire: unsafe extern "C" fn(*mut Opaque, u32, u32, u32, u32),
    reset: unsafe extern "C" fn(*mut Opaque, u64),
    count: unsafe extern "C" fn(*const Opaque, *mut Counts),
    /// Keeps the code above mapped.
    _library: Library,
}

/// One board in simulation, just powered.
pub struct Pins {
    raw: NonNull<Opaque>,
    functions: Functions,
}

// SAFETY: a board has no ties to the thread that made it, and boards are independent (board_model.h); `&mut self` keeps
// two threads from running one at once.
unsafe impl Send for Pins {}

impl Pins {
    /// A board of a shared object. All that is random follows from `seed`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn open(file: &Path, seed: u64) -> Result<Self, PinsError> {
        let wrong = |reason: String| PinsError::Model { file: file.to_owned(), reason };
        if !file.is_file() {
            return Err(wrong("there is no such file".into()));
        }
        let missing = |error: libloading::Error| wrong(error.to_string());
        // SAFETY: mapping a library runs its initialisers; a Verilated model initialises tables only. Whoever names the
        // file has made it.
        let library = unsafe { Library::new(file) }.map_err(missing)?;
        // SAFETY: names and types are those of board_model.h, whose version is checked before anything else is called;
        // the pointers are kept together with the library.
        unsafe {
            let abi: unsafe extern "C" fn() -> u32 = *library.get(b"ace_board_abi").map_err(missing)?;
            let found = abi();
            if found != ABI {
                return Err(PinsError::Abi { file: file.to_owned(), found });
            }
            let new: unsafe extern "C" fn(u64) -> *mut Opaque =
                *library.get(b"ace_board_new").map_err(missing)?;
            let functions = Functions {
                free: *library.get(b"ace_board_free").map_err(missing)?,
                send: *library.get(b"ace_board_send").map_err(missing)?,
                waiting: *library.get(b"ace_board_waiting").map_err(missing)?,
                take: *library.get(b"ace_board_take").map_err(missing)?,
                run: *library.get(b"ace_board_run").map_err(missing)?,
                now: *library.get(b"ace_board_now").map_err(missing)?,
                eye: *library.get(b"ace_board_eye").map_err(missing)?,
                wire: *library.get(b"ace_board_wire").map_err(missing)?,
                reset: *library.get(b"ace_board_reset").map_err(missing)?,
                count: *library.get(b"ace_board_count").map_err(missing)?,
                _library: library,
            };
            let raw = NonNull::new(new(seed)).ok_or(PinsError::Memory)?;
            Ok(Self { raw, functions })
        }
    }

    /// Sets what the wire does from here on.
    pub fn set_wires(&mut self, wires: Wires) {
        let Wires { lost, broken, eye } = wires;
        // SAFETY: `raw` is alive.
        unsafe { (self.functions.wire)(self.raw.as_ptr(), lost, broken, lost, broken) };
        if let Some((lowest, highest)) = eye {
            // SAFETY: as above.
            unsafe { (self.functions.eye)(self.raw.as_ptr(), lowest, highest) };
        }
    }

    /// Puts a frame, without preamble and FCS, behind those that wait for the board.
    pub fn send(&mut self, frame: &[u8]) {
        // SAFETY: `raw` is alive; the call reads `len` bytes and keeps none of them.
        unsafe { (self.functions.send)(self.raw.as_ptr(), frame.as_ptr(), frame.len(), FRAME, 0) };
    }

    /// Frames that are in the wire to the board, or wait for it.
    pub fn waiting(&self) -> usize {
        // SAFETY: `raw` is alive; the call does not write.
        unsafe { (self.functions.waiting)(self.raw.as_ptr()) }
    }

    /// The next frame that has come out of the board, if there is one.
    pub fn take(&mut self, frame: &mut Vec<u8>) -> bool {
        frame.resize(ROOM, 0);
        let mut begun = 0;
        // SAFETY: `raw` is alive; the call writes at most `len` bytes, all of which are initialised, and the time.
        let length =
            unsafe { (self.functions.take)(self.raw.as_ptr(), frame.as_mut_ptr(), frame.len(), &mut begun) };
        frame.truncate(length);
        length > 0
    }

    /// Lets so many picoseconds pass, or with `until_frame` less if a frame comes out before.
    pub fn run(&mut self, picoseconds: u64, until_frame: bool) {
        // SAFETY: `raw` is alive.
        unsafe { (self.functions.run)(self.raw.as_ptr(), picoseconds, i32::from(until_frame)) };
    }

    /// Picoseconds of simulated time since it was powered.
    pub fn now(&self) -> u64 {
        // SAFETY: `raw` is alive; the call does not write.
        unsafe { (self.functions.now)(self.raw.as_ptr()) }
    }

    /// The oscillator loses its lock for so many picoseconds: everything is reset.
    pub fn reset(&mut self, picoseconds: u64) {
        // SAFETY: `raw` is alive.
        unsafe { (self.functions.reset)(self.raw.as_ptr(), picoseconds) };
    }

    /// What has happened at the pins.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: `raw` is alive; the call writes one structure of this layout.
        unsafe { (self.functions.count)(self.raw.as_ptr(), &mut counts) };
        counts
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `new` of the same library and is not used again.
        unsafe { (self.functions.free)(self.raw.as_ptr()) }
    }
}
