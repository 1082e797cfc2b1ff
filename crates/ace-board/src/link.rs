// SPDX-License-Identifier: Apache-2.0
//! The time of the host's thread, and of the link between it and the slots.

use crate::board::Board;
use crate::config::LinkKind;
use crate::trace::{Picos, What};

impl Board {
    /// How long what needs the host's thread waits for it, where that is also the processor beside the slots.
    pub(crate) fn host_waits(&self) -> Picos {
        if self.link.one_core { self.link.host_free.saturating_sub(self.agenda.now) } else { 0 }
    }

    /// The host's thread does something for a job of `slot` that takes `time`, when it has done what it was given before.
    /// When it is done.
    pub(crate) fn host(&mut self, time: Picos, slot: usize, job: u64, sends: bool) -> Picos {
        let start = self.agenda.now.max(self.link.host_free);
        let end = start.saturating_add(time);
        self.link.host_free = end;
        if time > 0 {
            self.log(start, end, slot, What::Host { job, sends });
        }
        self.core_taken();
        end
    }

    /// A transfer over the link that cannot begin before `ready`. A host that polls does nothing else meanwhile.
    pub(crate) fn transfer(&mut self, ready: Picos, bytes: u64, way: Way) -> (Picos, Picos) {
        let polled = self.config.host.polled;
        let lane = match self.config.host_link.kind {
            LinkKind::Bus => 0,
            LinkKind::Ethernet => way as usize,
        };
        let start = ready.max(self.link.free[lane]).max(if polled { self.link.host_free } else { 0 });
        let end = start.saturating_add(self.config.link_time(bytes));
        self.link.free[lane] = start.saturating_add(self.config.link_busy(bytes));
        if polled {
            self.link.host_free = end;
            self.core_taken();
        }
        (start, end)
    }
}

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ToSlot = 0,
    FromSlot = 1,
}
