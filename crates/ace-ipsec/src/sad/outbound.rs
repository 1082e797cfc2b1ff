// SPDX-License-Identifier: Apache-2.0
//! The sending half of an SA: sequence numbers, IVs, lifetime. What several cores share is in [`Shared`].

use std::sync::{Arc, OnceLock};

use super::grant::Grant;
use super::sequences::{Block, Claim, Sequences};
use super::usage::{Charge, Usage};
use super::{Notice, notice};
use crate::counters::Cause;
use crate::iv::IvSource;
use crate::model::{IvKind, KeyUse, SaSpec, Time};
use crate::packet::transform::Transform;

/// Numbers that one core takes at once. The other end sees blocks of several cores mixed: a window of 64 stands four
/// cores.
const BLOCK: u64 = 16;

/// Packets under a key that may have been used before: with R runs of n packets the chance that two counters meet is
/// below R²·n/2⁶⁴, and n ends here.
const REUSED_LIMIT: u64 = 1 << 32;

/// What every core that works on an outbound SA has in common.
#[derive(Debug)]
pub struct Shared {
    sequences: Sequences,
    /// Counter modes under a key that is not fresh: combined with the sequence number to make the IV. Drawn with
    /// the first packet.
    salt: OnceLock<[u8; 8]>,
    key_use: KeyUse,
    /// The last number of all.
    last: u64,
    grant: Grant,
    pub usage: Usage,
}

/// One core's share.
#[derive(Debug)]
pub struct Outbound {
    pub shared: Arc<Shared>,
    block: Block,
    /// The last number sent by this core.
    pub sent: u64,
    exhaustion_reported: bool,
    /// Bytes of the longest packet that goes through to the other end, and until when that is believed (RFC 4301, 8.2.1).
    pub path: Option<(u16, Time)>,
}

/// What an outbound packet leaves with.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// All 64 bits.
    pub sequence: u64,
    pub iv: [u8; 16],
}

impl Shared {
    pub fn new(spec: &SaSpec, now: Time, grant: Grant) -> Self {
        let mut last = spec.last_sequence();
        if spec.cipher.counts() && spec.key_use == KeyUse::Reused {
            last = last.min(spec.first_sequence.saturating_add(REUSED_LIMIT - 1));
        }
        Self {
            sequences: Sequences::new(spec.first_sequence, last),
            salt: OnceLock::new(),
            key_use: spec.key_use,
            last,
            grant,
            usage: Usage::new(spec.lifetime, now),
        }
    }

    /// The next numbers for one core, none if they are used up. They count as used from here on.
    fn claim(&self) -> Result<Block, Cause> {
        match self.sequences.claim(BLOCK, |last| self.grant.take(last)) {
            Claim::Block(block) => Ok(block),
            Claim::UsedUp => Ok(Block::default()),
            Claim::Withheld => Err(Cause::SequenceWithheld),
        }
    }

    /// Unique because the number is; different from run to run because the salt is.
    fn counter(&self, sequence: u64, ivs: &mut dyn IvSource) -> Result<[u8; 8], Cause> {
        if self.key_use == KeyUse::Fresh {
            return Ok(sequence.to_be_bytes());
        }
        let salt = match self.salt.get() {
            Some(salt) => *salt,
            None => {
                let mut drawn = [0; 8];
                ivs.fill(&mut drawn).map_err(|_| Cause::IvUnavailable)?;
                *self.salt.get_or_init(|| drawn)
            }
        };
        Ok((sequence ^ u64::from_be_bytes(salt)).to_be_bytes())
    }
}

impl Outbound {
    pub fn new(shared: Arc<Shared>, first: u64) -> Self {
        Self { shared, block: Block::default(), sent: first - 1, exhaustion_reported: false, path: None }
    }

    /// Gives a packet its number and its IV. A packet that is refused uses up neither.
    pub fn depart(
        &mut self,
        transform: &Transform,
        bytes: usize,
        now: Time,
        ivs: &mut dyn IvSource,
        mut report: impl FnMut(Notice),
    ) -> Result<Ticket, Cause> {
        if self.block.peek().is_none() {
            self.block = self.shared.claim()?;
        }
        let Some(sequence) = self.block.peek() else {
            if !std::mem::replace(&mut self.exhaustion_reported, true) {
                report(Notice::SequenceExhausted);
            }
            return Err(Cause::SequenceExhausted);
        };
        let mut iv = [0; 16];
        match transform.cipher.iv {
            IvKind::None | IvKind::Implicit => {}
            IvKind::Counter => iv[..8].copy_from_slice(&self.shared.counter(sequence, ivs)?),
            IvKind::Random => {
                let place = iv.get_mut(..transform.cipher.iv_len).ok_or(Cause::EngineFailed)?;
                ivs.fill(place).map_err(|_| Cause::IvUnavailable)?;
            }
        }
        let charge = self.shared.usage.charge(bytes, now);
        notice(charge, &mut report);
        if matches!(charge, Charge::Refused { .. }) {
            return Err(Cause::LifetimeExceeded);
        }
        self.block.take();
        self.sent = sequence;
        Ok(Ticket { sequence, iv })
    }

    /// What is known of the way: bytes of a packet.
    #[inline]
    pub fn path_mtu(&self, now: Time) -> Option<u16> {
        self.path.filter(|(_, until)| now < *until).map(|(most, _)| most)
    }

    /// False if as little or less was known.
    pub fn narrow(&mut self, most: u16, now: Time, until: Time) -> bool {
        let narrower = self.path_mtu(now).is_none_or(|known| most < known);
        if narrower {
            self.path = Some((most, until));
        }
        narrower
    }

    /// All numbers up to this one count as sent. False if some behind it were given out, or there is no leave.
    pub fn advance(&mut self, number: u64) -> bool {
        if number < self.sent || number > self.shared.last || !self.shared.grant.take(number) {
            return false;
        }
        // What is left of a block is this one's own and not sent yet.
        let within = self.block.skip(number);
        if within || self.shared.sequences.advance(number) {
            self.sent = number;
            return true;
        }
        false
    }

    /// Whether nothing will be sent any more.
    pub fn exhausted(&self) -> bool {
        self.sent == self.shared.last
    }
}
