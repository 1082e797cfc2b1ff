// SPDX-License-Identifier: Apache-2.0
//! Requests that join what a slot is working on.

use std::sync::Arc;

use super::{Answer, Expected, Failure, Request, answer_of, frame_of};
use crate::model::{Frame, RunError, SlotModel, Stopped};

/// How far a slot is whose frames join each other, and what it has answered.
#[derive(Debug)]
pub struct News {
    /// Clocks since the first one joined.
    pub clocks: u64,
    /// By number. If one of them failed, all others that were under way are here as well.
    pub answers: Vec<(u64, Answer)>,
}

/// Requests that join each other: what their answers have to be.
#[derive(Default)]
pub(super) struct Joined {
    /// The model's clock when the first one joined.
    start: u64,
    max_clocks: u64,
    /// Number, and what the answer has to be.
    under_way: Vec<(u64, Expected)>,
}

impl Joined {
    pub(super) fn join(&mut self, model: &mut dyn SlotModel, number: u64, request: &Request) {
        let (bytes, expected) = frame_of(request);
        let beside = request.then.as_ref().map(|then| Arc::clone(&then.set));
        let frame = Frame { beside, ..Frame::new(bytes.to_vec(), expected.capacity()) };
        let start = model.join(number, frame);
        if self.under_way.is_empty() {
            (self.start, self.max_clocks) = (start, request.max_clocks);
        }
        self.under_way.push((number, expected));
    }

    pub(super) fn go(&mut self, model: &mut dyn SlotModel, mut until: u64) -> News {
        let (mut answers, mut draining) = (Vec::new(), false);
        loop {
            match model.go(self.start.saturating_add(until), self.max_clocks) {
                Ok(Some((number, frame))) => {
                    let at = self.under_way.iter().position(|one| one.0 == number);
                    let Some((_, expected)) = at.map(|at| self.under_way.remove(at)) else { continue };
                    let answer = answer_of(frame, self.start, &expected);
                    let failed = answer.result.is_err();
                    answers.push((number, answer));
                    if failed {
                        // Others come to their ends, so that all of them can be looked at in their order.
                        (until, draining) = (u64::MAX, true);
                    }
                    if !draining {
                        return News { clocks: model.clocks().saturating_sub(self.start), answers };
                    }
                }
                Ok(None) => return News { clocks: model.clocks().saturating_sub(self.start), answers },
                Err(Stopped { error, clock }) => {
                    let failure = match error {
                        RunError::Silent => Failure::Silent,
                        error => Failure::Protocol(error.to_string()),
                    };
                    let rest = self.under_way.drain(..);
                    answers.extend(rest.map(|one| (one.0, Answer::failed(failure.clone()))));
                    return News { clocks: (clock + 1).saturating_sub(self.start), answers };
                }
            }
        }
    }
}
