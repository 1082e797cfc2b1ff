// SPDX-License-Identifier: Apache-2.0
//! A board in simulation from its pins on, behind an interface of this machine: what a program sends to the interface
//! comes to the board's pins as the PHY would bring it, and what leaves them comes back. Times are the simulation's.

mod model;
mod tap;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

pub use model::{Counts, Pins, Wires};
pub use tap::Tap;

/// Simulated time between two looks at the interface, in picoseconds: shorter than a short frame's answer takes.
const STEP: u64 = 4_000_000;
/// So many looks at nothing, and the simulation waits for the interface in between.
const QUIET: u32 = 64;
/// How long it then waits, of wall time.
const NAP: Duration = Duration::from_millis(20);
/// Frames on their way to the board; the interface keeps what is more.
const AHEAD: usize = 32;

/// Why a board is not simulated.
#[derive(Debug, Error)]
pub enum PinsError {
    /// The shared object is not there, or not one of a board.
    #[error("{}: {reason}; `python -m ace_flow board-model` makes it", file.display())]
    Model {
        /// The shared object.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It was built for another version of the interface.
    #[error("{}: interface version {found}, expected {}; `python -m ace_flow board-model` makes it anew", file.display(), model::ABI)]
    Abi {
        /// The shared object.
        file: PathBuf,
        /// The version that it was built for.
        found: u32,
    },
    /// There is no memory for a board.
    #[error("out of memory for a board")]
    Memory,
    /// The interface.
    #[error("{name}: {reason}")]
    Tap {
        /// Its name.
        name: String,
        /// What the system says.
        reason: String,
    },
}

/// Lets a board that was just powered come to where it hears its PHY, which is reset by it for 10 ms.
pub fn power_up(board: &mut Pins, mut stop: impl FnMut() -> bool) {
    while board.counts().phy_reset == 1 && !stop() {
        board.run(100 * STEP, false);
    }
}

/// Connects a board's pins with an interface until `stop` says so, which is asked every few microseconds of simulated
/// time.
///
/// # Errors
/// When the interface is gone.
pub fn run(board: &mut Pins, tap: &mut Tap, mut stop: impl FnMut(&Pins) -> bool) -> io::Result<()> {
    let mut quiet = 0;
    let mut frame = Vec::new();
    while !stop(board) {
        let mut moved = false;
        while board.waiting() < AHEAD && tap.read(&mut frame)? {
            board.send(&frame);
            moved = true;
        }
        board.run(STEP, false);
        while board.take(&mut frame) {
            tap.write(&frame)?;
            moved = true;
        }
        quiet = if moved || board.waiting() > 0 { 0 } else { quiet + 1 };
        if quiet > QUIET {
            tap.wait(NAP)?;
        }
    }
    Ok(())
}
