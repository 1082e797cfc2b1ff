// SPDX-License-Identifier: Apache-2.0
//! What `ace run` did: printed, written as JSON, and drawn by the report.

use std::collections::BTreeMap;

use ace_board::trace::BoardReport;
use ace_ipsec::{Cause, Counters, SaStatus};
use serde::Serialize;

/// What a run did. Times of the board are modelled, `wall_seconds` is not.
#[derive(Default, Serialize)]
pub struct Summary {
    /// Capture that was read.
    pub input: String,
    /// Capture that was written.
    pub output: String,
    /// Name of the engine.
    pub engine: &'static str,
    /// Frames read.
    pub frames: u64,
    /// Frames that hold no IP packet; the policy decided about them.
    pub not_ip: u64,
    /// Frames of which nobody can say whether they hold one, by what they are; dropped, or else `bypass_opaque`.
    pub opaque: BTreeMap<&'static str, u64>,
    /// Whether such frames leave as they came.
    pub bypass_opaque: bool,
    /// Frames of which the capture kept only the beginning; dropped.
    pub cut_short: u64,
    /// Records of which nothing can be made, by why.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// Frames that have no place in the output, by why.
    pub unwritable: BTreeMap<String, u64>,
    /// Frames written.
    pub written: u64,
    /// What the data plane counted.
    pub packets: Counters,
    /// Its security associations.
    pub sas: Vec<SaStatus>,
    /// The board, if one computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardReport>,
    /// The board under the policies that it is compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<BoardReport>,
    /// What the engine reported about packets it lost, with how often.
    pub engine_errors: BTreeMap<String, u64>,
    /// What is wrong with the end of the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// How long it took on the wall.
    pub wall_seconds: f64,
}

impl Summary {
    /// Whether something about the run is wrong: packets failed authentication or found no security association, or
    /// what was read or written is not complete.
    pub fn is_wrong(&self) -> bool {
        let wrong = [Cause::IcvMismatch, Cause::UnknownSpi, Cause::NoSa, Cause::PolicyDiscard];
        wrong.iter().any(|cause| self.packets.dropped.get(*cause) > 0)
            || self.damage.is_some()
            || !(self.engine_errors.is_empty() && self.unreadable.is_empty() && self.unwritable.is_empty())
    }
}
