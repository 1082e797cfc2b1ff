// SPDX-License-Identifier: Apache-2.0
//! What a board is, how good its cable is, and whether it computes: for whoever has a new one.

mod cable;
mod computes;
mod loads;

use std::io;
use std::time::Duration;

use ace_board::array::{ArrayError, Loadable};
use ace_engine::kat::Failure;
use serde::Serialize;
use thiserror::Error;

use crate::Wire;
use crate::engine::OpenError;
use crate::identity::{Counters, Identity};
use crate::session::Loss;
use crate::wire;

pub use self::cable::{Eye, Times};
pub use self::loads::Loads;

/// An eye has to have so many taps (25 ps each) that a warmer or colder board still hears.
pub const NARROW: usize = 16;

/// What is asked of a board.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Hellos for the round trip.
    pub hellos: usize,
    /// Hellos at each tap.
    pub at_each: usize,
    /// Loads of a set over the cable, and as many by name; 0: they are not measured.
    pub loads: usize,
    /// Packets for the rate of each set; 0: rates are not measured.
    pub packets: usize,
    /// Bytes of data in each.
    pub bytes: usize,
    /// Known answers are asked for.
    pub answers: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { hellos: 1000, at_each: 16, loads: 16, packets: 256, bytes: 1424, answers: true }
    }
}

/// What came of known answers.
#[derive(Debug, Serialize)]
pub struct Answers {
    /// What they are of, as `ace kat` is told it.
    pub subject: String,
    /// Rows that are as they should be.
    pub passed: usize,
    /// Rows for which there is no set, no frame or no time (chains of thousands).
    pub skipped: usize,
    /// Rows that are not, with what was expected and what came.
    pub failed: Vec<Failure>,
}

/// How a context set did.
#[derive(Debug, Serialize)]
pub struct SetRate {
    /// The set.
    pub name: String,
    /// What was asked of it.
    pub operation: String,
    /// Mb/s of data that came back; wall time, with all of this program's work.
    pub mbps: Option<f64>,
    /// Mb/s that one tile of the slot computes at the board's clock (measured in the RTL); of a slot that takes no sets it
    /// is not known here.
    pub slot_mbps: Option<f64>,
    /// Mb/s that a cable of 1 Gb/s carries of such packets.
    pub cable_mbps: f64,
    /// Why there is no rate.
    pub error: Option<String>,
}

/// All that was found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Where.
    pub interface: String,
    /// The board, when its session was opened.
    pub identity: Identity,
    /// What the image was made from: the first 16 hexadecimal digits of the SHA-256, as in its manifest.
    pub image: String,
    /// Round trips of *hello*.
    pub round_trip: Times,
    /// What came back at each tap.
    pub eye: Eye,
    /// What a load takes; `None`: it was not asked for, or no slot takes sets.
    pub loads: Option<Loads>,
    /// Of each set.
    pub rates: Vec<SetRate>,
    /// Of each file.
    pub answers: Vec<Answers>,
    /// What the board's link counted while known answers and rates were asked for.
    pub counted: Counters,
    /// Frames that this host had to send again meanwhile.
    pub resent: u64,
}

/// Why there is no report.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// No session, or it was lost.
    #[error("{interface}: {loss}")]
    Lost {
        /// Where.
        interface: String,
        /// Why.
        loss: Loss,
    },
    /// No engine over the link.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The interface does not work.
    #[error("{interface}: {error}")]
    Wire {
        /// Where.
        interface: String,
        /// What the system said.
        error: io::Error,
    },
    /// The system has no random numbers.
    #[error("no random number for a session: {0}")]
    Random(#[from] getrandom::Error),
    /// What was measured of sets cannot be read.
    #[error(transparent)]
    Array(#[from] ArrayError),
}

impl Report {
    /// What is not as it should be, a sentence each.
    pub fn problems(&self) -> Vec<String> {
        let mut all = Vec::new();
        match self.eye.widest() {
            Some((first, last)) if usize::from(last - first) + 1 < NARROW => {
                let width = usize::from(last - first) + 1;
                all.push(format!("the eye is {width} taps wide, and {NARROW} are the least that is safe"));
            }
            Some(_) => {}
            None => all.push("at no tap all frames came whole".to_owned()),
        }
        for answers in self.answers.iter().filter(|answers| !answers.failed.is_empty()) {
            all.push(format!("{} known answers of {} are wrong", answers.failed.len(), answers.subject));
        }
        for set in &self.rates {
            if let Some(error) = &set.error {
                all.push(format!("{}: {error}", set.name));
            }
        }
        if let Some(error) = self.loads.as_ref().and_then(|loads| loads.error.as_ref()) {
            all.push(error.clone());
        }
        if self.counted.broken > 0 {
            all.push(format!("{} frames came broken at the tap that was chosen", self.counted.broken));
        }
        all
    }
}

/// Asks a board for all of this. `tell` hears what is done next.
///
/// # Errors
/// Why there is no report.
pub fn probe<W: Wire>(
    wire: &mut W,
    interface: &str,
    sets: Vec<Loadable>,
    wanted: Wanted,
    tell: &mut dyn FnMut(&str),
) -> Result<Report, ProbeError> {
    let mut cable = cable::Cable::open(wire, interface)?;
    let identity = cable.identity.clone();
    tell("round trips");
    let round_trip = cable.times(wanted.hellos)?;
    tell("the eye");
    let all = u32::try_from(wanted.at_each).unwrap_or(u32::MAX);
    let patience = round_trip.longest.max(Duration::from_micros(100)).saturating_mul(all);
    let eye = cable.eye(wanted.at_each, patience)?;
    let before = cable.hello()?.counters;
    cable.close()?;
    drop(cable);
    let slot = (0..wire::SLOTS).find(|slot| identity.arrays >> slot & 1 == 1);
    let loads = match (slot, sets.first()) {
        (Some(slot), Some(set)) if wanted.loads > 0 => {
            tell("loads");
            Some(loads::measure(wire, interface, slot as u8, set, wanted.loads)?)
        }
        _ => None,
    };
    let computed = computes::all(wire, interface, sets, identity.khz, wanted, tell)?;
    let mut cable = cable::Cable::open(wire, interface)?;
    let after = cable.identity.counters;
    cable.close()?;
    let since = |after: u32, before: u32| after.wrapping_sub(before);
    let counted = Counters {
        whole: since(after.whole, before.whole),
        broken: since(after.broken, before.broken),
        no_room: since(after.no_room, before.no_room),
        dropped: since(after.dropped, before.dropped),
        sent: since(after.sent, before.sent),
    };
    Ok(Report {
        interface: interface.to_owned(),
        image: format!("{:016x}", u64::from_le_bytes(identity.image)),
        identity,
        round_trip,
        eye,
        loads,
        rates: computed.rates,
        answers: computed.answers,
        counted,
        resent: computed.resent,
    })
}
