// SPDX-License-Identifier: Apache-2.0
//! One SA with its state: sequence numbers, replay window, lifetime, counters.

use ace_engine::Mode;

use crate::counters::{Cause, SaCounters};
use crate::iv::IvSource;
use crate::lifetime::{Charge, Usage};
use crate::plane::{Event, SaId, SaStatus};
use crate::replay::ReplayWindow;
use crate::sa_file::{Direction, Sa};

#[derive(Debug)]
pub struct Association {
    pub sa: Sa,
    flow: Flow,
    usage: Usage,
    pub counters: SaCounters,
}

/// What only one direction has.
#[derive(Debug)]
enum Flow {
    Out {
        /// `None`: used up, or that was reported and nothing is sent any more.
        next: Option<u64>,
        exhaustion_reported: bool,
        /// Counter mode: combined with the sequence number to make the IV. Drawn with the first packet.
        salt: Option<[u8; 8]>,
    },
    In(ReplayWindow),
}

/// What an outbound packet leaves with.
pub struct Ticket {
    /// All 64 bits.
    pub sequence: u64,
    pub iv: Vec<u8>,
}

/// Makes an event of the SA that it is about.
type EventOf = fn(SaId) -> Event;

impl Association {
    pub fn new(sa: Sa) -> Self {
        let flow = match sa.direction {
            Direction::Out => {
                Flow::Out { next: Some(sa.first_sequence), exhaustion_reported: false, salt: None }
            }
            Direction::In => Flow::In(ReplayWindow::new(sa.replay_window, sa.first_sequence)),
        };
        let usage = Usage::new(sa.lifetime);
        Self { sa, flow, usage, counters: SaCounters::default() }
    }

    /// Gives an outbound packet its number and its IV. A packet that is refused uses up neither.
    pub fn depart(
        &mut self,
        payload_len: usize,
        ivs: &mut dyn IvSource,
        mut report: impl FnMut(EventOf),
    ) -> Result<Ticket, Cause> {
        let Flow::Out { next, exhaustion_reported, salt } = &mut self.flow else {
            return Err(Cause::PolicyDiscard);
        };
        let Some(sequence) = *next else {
            if !std::mem::replace(exhaustion_reported, true) {
                report(|sa| Event::SequenceExhausted { sa });
            }
            return Err(Cause::SequenceExhausted);
        };
        let mut iv = vec![0; self.sa.cipher.iv_len];
        match self.sa.cipher.pass {
            Some((_, Mode::Ctr)) => {
                // Unique because the number is; different from run to run because the salt is.
                let salt = match salt {
                    Some(salt) => *salt,
                    None => {
                        let mut drawn = [0; 8];
                        ivs.fill(&mut drawn).map_err(|_| Cause::IvUnavailable)?;
                        *salt.insert(drawn)
                    }
                };
                iv = (sequence ^ u64::from_be_bytes(salt)).to_be_bytes().to_vec();
            }
            _ if iv.is_empty() => {}
            _ => ivs.fill(&mut iv).map_err(|_| Cause::IvUnavailable)?,
        }
        charge(&mut self.usage, payload_len, &mut report)?;
        let last = if self.sa.esn { u64::MAX } else { u64::from(u32::MAX) };
        *next = sequence.checked_add(1).filter(|&n| n <= last);
        Ok(Ticket { sequence, iv })
    }

    /// Looks at the number of an inbound packet before its ICV is checked: all 64 bits of it.
    pub fn arrive(&self, low: u32) -> Result<u64, Cause> {
        let Flow::In(window) = &self.flow else { return Err(Cause::UnknownSpi) };
        if self.usage.hard_over() {
            return Err(Cause::LifetimeExceeded);
        }
        let sequence = if self.sa.esn { window.extend(low).ok_or(Cause::TooOld)? } else { u64::from(low) };
        window.check(sequence)?;
        Ok(sequence)
    }

    /// Takes the number of an inbound packet that is authentic.
    pub fn vouched(
        &mut self,
        sequence: u64,
        payload_len: usize,
        mut report: impl FnMut(EventOf),
    ) -> Result<(), Cause> {
        let Flow::In(window) = &mut self.flow else { return Err(Cause::UnknownSpi) };
        window.take(sequence)?;
        charge(&mut self.usage, payload_len, &mut report)
    }

    pub fn status(&self, id: SaId) -> SaStatus {
        let sequence = match &self.flow {
            Flow::Out { next: Some(next), .. } => next - 1,
            Flow::Out { next: None, .. } if self.sa.esn => u64::MAX,
            Flow::Out { next: None, .. } => u64::from(u32::MAX),
            Flow::In(window) => window.top(),
        };
        SaStatus {
            id,
            name: self.sa.name.clone(),
            spi: self.sa.spi,
            direction: self.sa.direction,
            mode: self.sa.mode,
            cipher: self.sa.cipher.name,
            auth: self.sa.auth.name,
            esn: self.sa.esn,
            replay_window: self.sa.replay_window,
            sequence,
            soft_lifetime_over: self.usage.soft_over(),
            hard_lifetime_over: self.usage.hard_over(),
            counters: self.counters.clone(),
        }
    }
}

fn charge(usage: &mut Usage, bytes: usize, report: &mut impl FnMut(EventOf)) -> Result<(), Cause> {
    match usage.charge(bytes) {
        Charge::Within => Ok(()),
        Charge::SoftReached => {
            report(|sa| Event::SoftLifetime { sa });
            Ok(())
        }
        Charge::Refused { first } => {
            if first {
                report(|sa| Event::HardLifetime { sa });
            }
            Err(Cause::LifetimeExceeded)
        }
    }
}
