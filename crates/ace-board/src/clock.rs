// SPDX-License-Identifier: Apache-2.0
//! The virtual clock for whoever brings packets at instants of their own: a gateway's traffic that is played again.

use ace_engine::{Completion, Engine};
use ace_schedule::Processor;

use crate::board::Board;
use crate::parts::Event;
use crate::trace::{Picos, What};

impl Board {
    /// One core is the processor beside the slots and the host's thread: it computes, or serves the board, or does what
    /// it is told to [`Board::spend`] time on, one after the other as they come.
    pub fn one_core(&mut self) {
        self.link.one_core = true;
    }

    /// Says how many packets wait for the host's thread, each of which it takes so long for ([`Board::spend`]) before it is a
    /// job: what the processor computes meanwhile keeps them waiting.
    pub fn packets_wait(&mut self, packets: usize, each: Picos) {
        self.link.packets = (packets, each);
    }

    /// The host's thread does something else for so long, when it has done what it was given before. When it is done.
    pub fn spend(&mut self, time: Picos) -> Picos {
        let start = self.agenda.now.max(self.link.host_free);
        self.link.host_free = start.saturating_add(time);
        if time > 0 {
            self.log(start, self.link.host_free, self.slots.len(), What::Host { job: 0, sends: false });
        }
        self.core_taken();
        self.link.host_free
    }

    /// When the host's thread has done what it was given.
    pub fn core_free(&self) -> Picos {
        self.link.host_free
    }

    /// The processor beside the slots, as the policy sees it.
    pub(crate) fn beside(&self) -> Option<Processor> {
        let running = self.coprocessor.as_ref()?.busy();
        let host = Some(self.link.host_free).filter(|until| self.link.one_core && *until > self.agenda.now);
        let (packets, packet) = if self.link.one_core { self.link.packets } else { (0, 0) };
        Some(Processor { busy: running.into_iter().chain(host).max(), packets, packet })
    }

    /// The core is taken until the host's thread is free: whoever decides is asked again then.
    pub(crate) fn core_taken(&mut self) {
        if self.link.one_core && self.coprocessor.is_some() && self.link.host_free > self.agenda.now {
            self.agenda.at(self.link.host_free, Event::CoreFree);
        }
    }

    /// Lets time pass until `until`, or until something is done. Returns how many jobs are on the board.
    pub fn pass(&mut self, until: Picos, done: &mut Vec<Completion>) -> usize {
        if until == Picos::MAX {
            return self.wait(done);
        }
        while self.done.is_empty() {
            if self.agenda.ask {
                self.decide();
                continue;
            }
            let look = self.agenda.look.filter(|_| !self.queue.is_empty());
            self.simulate(look.unwrap_or(Picos::MAX).min(until));
            let next = self.agenda.next();
            if [next, look].into_iter().flatten().min().is_none_or(|next| next > until) {
                self.agenda.now = self.agenda.now.max(until);
                self.queue.advance(self.agenda.now);
                break;
            }
            self.advance();
        }
        done.append(&mut self.done);
        self.jobs.len()
    }
}
