// SPDX-License-Identifier: Apache-2.0
//! What becomes of answers.

use std::time::Duration;

use ace_board::expected::{Expected, Failure};
use ace_board::frame::{self, Status};
use ace_board::pass;
use ace_engine::{ConfigurationId, EngineError, SlotFailure};

use super::jobs::Running;
use super::slots::Phase;
use super::{LinkEngine, Pending, State};
use crate::Wire;
use crate::session::{Event, Ticket, Trailer};
use crate::wire::BEAT;

/// A set or key that came to nothing so often is given up, and so is a pass.
const FAILURES: u32 = 8;
/// A pass that comes back as stale so often has met something else than bad luck.
pub(super) const STALE: u32 = 200;

impl<W: Wire> LinkEngine<W> {
    /// Takes what the session says.
    pub(super) fn hear(&mut self, now: Duration) {
        while let Some(event) = self.session.event() {
            match event {
                Event::Opened(identity) => self.opened(identity, now),
                Event::Identity(..) | Event::Register { .. } => {}
                Event::Stored { taken, .. } => self.shelf.stored(taken),
                Event::Unstored { ticket, .. } => self.by_cable(ticket),
                Event::Answer { ticket, slot, response } => {
                    if let Some(pending) = self.tickets.take(ticket) {
                        self.answer(pending, usize::from(slot), response, now);
                    }
                }
                Event::Again { ticket, slot } => {
                    if let Some(pending) = self.tickets.take(ticket) {
                        self.unknown(pending, usize::from(slot));
                    }
                }
                Event::Lost(loss) => self.lost(loss, now),
            }
        }
        if std::mem::take(&mut self.disorder) && self.state == State::Open {
            self.renew(now);
        }
    }

    fn answer(&mut self, pending: Pending, slot: usize, response: Vec<u8>, now: Duration) {
        let trailer = Trailer::of(&response);
        let status = trailer.and_then(|trailer| Status::from_code(trailer.status));
        match pending {
            Pending::Data { job, set, at, expected, .. } => {
                let tag = trailer.map_or(0, |trailer| trailer.tag);
                self.computed(job, set, (slot, at), response, expected.tagged(tag));
            }
            Pending::Mark => self.marked(slot, now),
            Pending::Question(question) => {
                let tag = trailer.map_or(0, |trailer| trailer.tag);
                self.told(slot, question, Some((response, tag, status)));
            }
            Pending::Load { set, at, by_name } => match status {
                Some(Status::Ok) => {
                    self.failures.remove(&set);
                    self.tally.loaded((slot, at.0, at.1), set, by_name);
                    let words = self.sets.get(set).map_or(0, |set| frame::padded(set.bytes().len()) / BEAT);
                    self.shelf.loaded(set, words);
                }
                status => self.not_loaded(slot, set, at, status, by_name),
            },
            Pending::Key { set, key, at } => {
                if status == Some(Status::Ok) {
                    self.unkeyed.remove(&(set, key));
                } else {
                    self.not_keyed(slot, set, key, at, status);
                }
            }
        }
    }

    /// A pass has its answer.
    fn computed(
        &mut self,
        job: usize,
        set: usize,
        (slot, at): (usize, (usize, usize)),
        response: Vec<u8>,
        expected: Expected,
    ) {
        let (number, configuration) = (slot as u32, ConfigurationId::from_index(set));
        let Some(running) = self.jobs.get_mut(job) else { return };
        let checked = expected.check(response);
        if checked.is_ok() {
            self.tally.computed((slot, at.0, at.1), set, pass::data_len(&running.action, running.second));
        }
        let result = match checked {
            Ok(Some(result)) => {
                let behind = pass::needs(&running.action).1.is_some();
                let Running { action, second, buffer, carried, .. } = &mut *running;
                let applied = pass::apply(action, *second, &result, buffer, carried);
                if let Ok(left) = &applied
                    && behind
                    && !running.second
                {
                    (running.second, running.carried) = (true, left.clone());
                    return self.wait_for_slot(job, false);
                }
                applied.map(drop)
            }
            Ok(None) => Err(EngineError::Mismatch),
            // The slot does not hold what it is thought to hold.
            Err(Failure::Status(Status::UnknownAlgorithm | Status::MissingKey))
                if running.tries < FAILURES =>
            {
                running.tries += 1;
                self.disorder = true;
                return self.wait_for_slot(job, true);
            }
            Err(Failure::Status(status)) => {
                Err(EngineError::SlotStatus { slot: number, configuration, status: status as u8 })
            }
            Err(failure) => {
                if let Failure::Protocol(complaint) = failure {
                    self.complaint = complaint;
                }
                let failure = SlotFailure::Protocol;
                Err(EngineError::SlotFailed { slot: number, configuration, failure })
            }
        };
        self.jobs.finish(job, result);
    }

    /// The bank that is to stay runs: the set goes to the other one.
    fn marked(&mut self, slot: usize, now: Duration) {
        let Some(own) = self.slots.get(slot) else { return };
        if let Phase::Marks { set, tile } = own.phase {
            self.load(slot, tile, set, now);
        }
    }

    /// Nobody knows what became of it, or it was not computed.
    fn unknown(&mut self, pending: Pending, slot: usize) {
        match pending {
            Pending::Data { job, set, key, .. } => {
                let Some(running) = self.jobs.get_mut(job) else { return };
                running.tries += 1;
                let (slot, configuration) = (slot as u32, ConfigurationId::from_index(set));
                let refused = self.unkeyed.get(&(set, key)).filter(|(count, _)| *count >= FAILURES);
                let error = match refused {
                    Some((_, status)) => {
                        EngineError::SlotStatus { slot, configuration, status: *status as u8 }
                    }
                    None if running.tries < STALE => return self.wait_for_slot(job, true),
                    None => EngineError::SlotFailed { slot, configuration, failure: SlotFailure::Lost },
                };
                self.jobs.finish(job, Err(error));
            }
            Pending::Load { set, at, .. } => self.not_loaded(slot, set, at, Some(Status::FrameShort), false),
            Pending::Key { set, key, at } => self.not_keyed(slot, set, key, at, None),
            Pending::Question(question) => self.told(slot, question, None),
            Pending::Mark => {
                if let Some(own) = self.slots.get_mut(slot)
                    && let Phase::Marks { set, .. } = own.phase
                {
                    own.phase = Phase::Drains { set };
                }
            }
        }
    }

    /// The store does not have a set that was to come from it: the session sends the load.
    fn by_cable(&mut self, ticket: Ticket) {
        if let Some(Pending::Load { set, by_name, .. }) = self.tickets.get_mut(ticket) {
            *by_name = false;
            self.work.refused_recalls += 1;
            self.shelf.lost(*set);
        }
    }

    /// A set is not where it was thought to be.
    fn not_loaded(
        &mut self,
        slot: usize,
        set: usize,
        at: (usize, usize),
        status: Option<Status>,
        by_name: bool,
    ) {
        let Some(own) = self.slots.get_mut(slot) else { return };
        own.empty(at, set);
        let of_the_set = matches!(
            status,
            Some(
                Status::BadSet | Status::OtherArray | Status::BadCrc | Status::FrameShort | Status::FrameLong
            )
        );
        if at.0 > 0 && !of_the_set {
            return own.without(at.0);
        }
        self.work.refused_loads += 1;
        if by_name {
            // It may be the store's fault: the next load goes over the cable.
            return self.shelf.lost(set);
        }
        let failures = self.failures.entry(set).or_default();
        *failures += 1;
        // What was cut short is sent again.
        if status == Some(Status::FrameShort) && *failures < FAILURES {
            return;
        }
        self.refused.insert(set, status);
        let configuration = ConfigurationId::from_index(set);
        for job in self.groups.take(|group| group.set == set) {
            self.jobs.finish(job, Err(EngineError::LoadFailed { configuration }));
        }
    }

    /// A set has not the key that it was thought to have.
    fn not_keyed(&mut self, slot: usize, set: usize, key: u64, at: (usize, usize), status: Option<Status>) {
        let Some(bank) = self.slots.get_mut(slot).and_then(|own| own.bank_mut(at)) else { return };
        if bank.set != set {
            return;
        }
        bank.key = None;
        // No load in front has come to nothing, so the slot does not hold what it is thought to hold.
        self.disorder |= status == Some(Status::UnknownAlgorithm);
        if let Some(status) = status {
            let (count, _) = self.unkeyed.get(&(set, key)).copied().unwrap_or((0, status));
            self.unkeyed.insert((set, key), (count + 1, status));
        }
    }
}
