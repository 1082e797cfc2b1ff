// SPDX-License-Identifier: Apache-2.0
//! Sessions that are opened, lost and opened again.

use std::time::Duration;

use ace_engine::{ConfigurationId, EngineError, SlotFailure};

use super::events::STALE;
use super::shelf::Shelf;
use super::slots::Slot;
use super::{LinkEngine, Pending, State};
use crate::session::{Loss, Session, draw};
use crate::wire::BOARD;
use crate::{Identity, Wire};

/// After a session was lost the next one is asked for at once, and then so often.
const PAUSE: Duration = Duration::from_secs(1);
/// A session that was open for less says that somebody else wants the board, too.
const BRIEF: Duration = Duration::from_secs(5);
/// So often one may be brief.
const BRIEFLY: u32 = 3;

impl<W: Wire> LinkEngine<W> {
    /// Asks for a new session.
    pub(super) fn again(&mut self, now: Duration) {
        self.next_try = now + PAUSE;
        let Ok(number) = draw() else { return };
        let own = self.session.counts();
        self.counts.frames += own.frames;
        self.counts.resent += own.resent;
        self.counts.stale += own.stale;
        self.counts.strange += own.strange;
        self.wire.renew();
        self.session = Session::new(self.wire.address(), BOARD, number, now);
    }

    /// The session is over: nothing that was handed over is answered.
    pub(super) fn lost(&mut self, loss: Loss, now: Duration) {
        let was_open = self.state == State::Open;
        self.brief = if was_open && now >= self.opened + BRIEF { 0 } else { self.brief + 1 };
        self.work.lost += u64::from(was_open);
        self.loss = Some(loss);
        self.tickets.clear();
        self.slots.clear();
        self.groups.take(|_| true);
        let failure = match loss {
            Loss::Silent | Loss::Unanswered | Loss::Wire => SlotFailure::Silent,
            _ => SlotFailure::Lost,
        };
        let configuration = ConfigurationId::from_index(0);
        self.jobs.fail(EngineError::SlotFailed { slot: 0, configuration, failure });
        // A board that only forgot the session has the next one at once; jobs wait for that.
        let at_once = was_open && matches!(loss, Loss::Ended | Loss::Reset) && self.brief < BRIEFLY;
        (self.state, self.next_try) = if at_once { (State::Opens, now) } else { (State::Down, now + PAUSE) };
        if at_once {
            self.again(now);
        }
    }

    pub(super) fn opened(&mut self, identity: Identity, now: Duration) {
        self.slots = (0..usize::from(identity.slots)).map(|_| Slot::new()).collect();
        (self.opened, self.loss) = (now, None);
        self.shelf = Shelf::new(identity.store_words);
        self.identity = identity;
        self.begin_to_ask();
    }

    /// Begins anew with a slot that does not hold what it is thought to hold: a new session empties it. What was asked is asked
    /// again.
    pub(super) fn renew(&mut self, now: Duration) {
        self.work.renewed += 1;
        for ticket in self.tickets.numbers() {
            let Some(Pending::Data { job, set, .. }) = self.tickets.take(ticket) else { continue };
            let Some(running) = self.jobs.get_mut(job) else { continue };
            running.tries += 1;
            if running.tries < STALE {
                self.wait_for_slot(job, true);
            } else {
                let (configuration, failure) = (ConfigurationId::from_index(set), SlotFailure::Lost);
                self.jobs.finish(job, Err(EngineError::SlotFailed { slot: 0, configuration, failure }));
            }
        }
        self.tickets.clear();
        self.slots.clear();
        self.state = State::Opens;
        self.again(now);
    }
}
