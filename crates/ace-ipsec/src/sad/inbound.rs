// SPDX-License-Identifier: Apache-2.0
//! The receiving half of an SA: replay window and lifetime. It has one owner; the cipher work of its packets may be
//! done anywhere.

use super::grant::Grant;
use super::replay::ReplayWindow;
use super::usage::{Charge, Usage};
use super::{Notice, notice};
use crate::counters::Cause;
use crate::model::{SaSpec, Time};

#[derive(Debug)]
pub struct Inbound {
    window: ReplayWindow,
    esn: bool,
    grant: Grant,
    pub usage: Usage,
    authenticates: bool,
    /// When its last authentic packet came.
    pub authenticated: Option<Time>,
}

impl Inbound {
    pub fn new(spec: &SaSpec, now: Time, grant: Grant) -> Self {
        // Without authentication numbers prove nothing (RFC 4303, 3.4.3).
        let size = if spec.authenticates() { spec.replay_window } else { 0 };
        Self {
            window: ReplayWindow::new(size, spec.first_sequence),
            esn: spec.esn,
            grant,
            usage: Usage::new(spec.lifetime, now),
            authenticates: spec.authenticates(),
            authenticated: None,
        }
    }

    /// Looks at the number of a packet before its ICV is checked: all 64 bits of it.
    pub fn arrive(&self, low: u32) -> Result<u64, Cause> {
        if self.usage.hard_over() {
            return Err(Cause::LifetimeExceeded);
        }
        let sequence = if self.esn { self.window.extend(low).ok_or(Cause::TooOld)? } else { u64::from(low) };
        self.window.check(sequence)?;
        Ok(sequence)
    }

    /// Takes the number of a packet that is authentic, unless another packet in flight took it first.
    pub fn vouched(
        &mut self,
        sequence: u64,
        bytes: usize,
        now: Time,
        mut report: impl FnMut(Notice),
    ) -> Result<(), Cause> {
        // Where replays are not looked for nothing is remembered.
        if self.window.size() != 0 {
            self.window.check(sequence)?;
            if !self.grant.take(sequence) {
                return Err(Cause::SequenceWithheld);
            }
        }
        self.window.take(sequence)?;
        if self.authenticates {
            self.authenticated = Some(now);
        }
        let charge = self.usage.charge(bytes, now);
        notice(charge, &mut report);
        match charge {
            Charge::Refused { .. } => Err(Cause::LifetimeExceeded),
            Charge::Within | Charge::SoftReached => Ok(()),
        }
    }

    /// All numbers up to this one count as received. False if there is no leave for it.
    pub fn advance(&mut self, number: u64) -> bool {
        number >= self.window.top() && (number == self.window.top() || self.grant.take(number)) && {
            self.window.advance(number);
            true
        }
    }

    /// Whether a number counts as received, or is too old to be taken.
    pub fn was_received(&self, number: u64) -> bool {
        self.window.check(number).is_err()
    }

    /// The highest number that was authentic.
    pub fn top(&self) -> u64 {
        self.window.top()
    }

    /// In packets; 0 when off.
    pub fn window_size(&self) -> u32 {
        self.window.size()
    }
}
