// SPDX-License-Identifier: Apache-2.0
//! Frames that a slot works on at once.

use crate::config::{PICOS_PER_SECOND, clocks_time};
use crate::execution::Execution;
use crate::trace::Picos;
use crate::worker::Answer;

/// Frames that a slot works on since one came to it when it had none.
pub struct Batch {
    pub start: Picos,
    pub clock_hz: u64,
    /// Clocks that have been simulated since, and each as often as there were frames under way in it.
    pub clocks: u64,
    pub frame_clocks: u64,
    /// One has failed: none joins any more.
    pub closed: bool,
    /// In the order in which they joined, without those whose end is known.
    pub frames: Vec<InBatch>,
}

pub struct InBatch {
    pub op: u64,
    pub flow: Option<u32>,
    /// It has brought the key of those behind it.
    pub fresh_key: bool,
    /// It needs the key of one in front of it.
    pub kept_key: bool,
    pub at: Picos,
    /// The batch's clocks then.
    pub clocks: u64,
    pub frame_clocks: u64,
    pub answer: Option<Answer>,
}

impl Batch {
    /// When the oldest frame joined whose end is not known.
    pub fn oldest(&self) -> Option<Picos> {
        self.frames.iter().map(|frame| frame.at).min()
    }

    /// Frames that the slot has not answered.
    pub fn under_way(&self) -> usize {
        self.frames.iter().filter(|frame| frame.answer.is_none()).count()
    }

    /// The instant behind so many of its clocks.
    pub fn time(&self, clocks: u64) -> Picos {
        self.start.saturating_add(clocks_time(clocks, self.clock_hz))
    }

    /// Clocks that have begun before an instant.
    pub fn clocks_until(&self, until: Picos) -> u64 {
        let picos = u128::from(until.saturating_sub(self.start));
        u64::try_from((picos * u128::from(self.clock_hz)).div_ceil(PICOS_PER_SECOND)).unwrap_or(u64::MAX)
    }

    /// Takes out what may leave, with the start of its execution: an answer waits for earlier ones of its flow, and for
    /// that of the frame that brought its key; after a failure all leave together.
    pub fn leaving(&mut self) -> Vec<(u64, Execution)> {
        let (mut out, mut remaining): (Vec<_>, Vec<InBatch>) = (Vec::new(), Vec::new());
        let mut key_waits = false;
        for frame in std::mem::take(&mut self.frames) {
            let waits =
                (key_waits && frame.kept_key) || remaining.iter().any(|earlier| earlier.flow == frame.flow);
            let stays = frame.answer.is_none() || (waits && !self.closed);
            key_waits = if frame.fresh_key { stays } else { key_waits };
            match frame.answer {
                Some(answer) if !stays => {
                    let start = self.time(answer.finished.saturating_sub(answer.cycles)).max(frame.at);
                    out.push((frame.op, Execution { start, answer }));
                }
                answer => remaining.push(InBatch { answer, ..frame }),
            }
        }
        self.frames = remaining;
        out
    }
}
