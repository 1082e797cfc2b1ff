// SPDX-License-Identifier: Apache-2.0
//! Throughput: bytes that left, protected or in clear behind their protection, over the time that they took.

use std::collections::BTreeSet;

use ace_board::trace::{BoardReport, What};

use super::summary::Summary;

const PICOS: f64 = 1e12;

/// Mb/s, 10⁶ bits a second, where there is a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Of all associations that the time is about.
    pub total: Option<f64>,
    /// Of each in the order of [`Summary::sas`]; `None`: the board's clock knows nothing of its packets.
    pub sas: Vec<Option<f64>>,
}

impl Summary {
    /// The board, if it or the processor beside it has computed anything: then times are its clock's.
    pub fn working_board(&self) -> Option<&BoardReport> {
        self.board.as_ref().filter(|_| !self.nothing_on_board())
    }

    /// Throughput by the board's clock, or by the wall's where no board has worked.
    pub fn rates(&self) -> Rates {
        let board = self.working_board();
        let seconds = board.map_or(self.wall_seconds, |board| board.totals.total as f64 / PICOS);
        let rate = |bytes: u64| (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / 1e6);
        // What the CPU did beside a board that cannot do it takes none of the board's time.
        let timed: Option<BTreeSet<u32>> =
            board.filter(|board| board.events_left_out == 0 && !board.events.is_empty()).map(|board| {
                let flow = |what: &What| match what {
                    What::Execute { flow, .. } | What::Compute { flow, .. } => Some(*flow),
                    _ => None,
                };
                board.events.iter().filter_map(|event| flow(&event.what)).collect()
            });
        let is_timed = |at: usize| timed.as_ref().is_none_or(|timed| timed.contains(&(at as u32)));
        let bytes = |at: usize| self.sas.get(at).map_or(0, |sa| sa.counters.forwarded.bytes);
        let sas: Vec<Option<f64>> =
            (0..self.sas.len()).map(|at| rate(bytes(at)).filter(|_| is_timed(at))).collect();
        let all = self.packets.protected.bytes + self.packets.decapsulated.bytes;
        let untimed: u64 = (0..self.sas.len()).filter(|at| !is_timed(*at)).map(bytes).sum();
        Rates { total: rate(all.saturating_sub(untimed)), sas }
    }
}
