// SPDX-License-Identifier: Apache-2.0
//! The security association database (RFC 4301, 4.4.2): SAs by handle and, inbound, by destination and SPI.

pub mod association;
pub mod grant;
mod inbound;
mod outbound;
pub mod remotes;
pub mod replay;
mod sequences;
mod usage;

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use thiserror::Error;

pub use association::{Association, SaStatus, SaTimes, Share};
pub use remotes::Remote;
use remotes::Remotes;
use usage::Charge;

use crate::id::SaId;
use crate::model::{Direction, Protocol, SpecError};

/// What happens to an SA without anybody's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    SoftLifetime,
    HardLifetime,
    SequenceExhausted,
}

/// Reports what a charge did, the first time.
fn notice(charge: Charge, report: &mut impl FnMut(Notice)) {
    match charge {
        Charge::SoftReached => report(Notice::SoftLifetime),
        Charge::Refused { first: true } => report(Notice::HardLifetime),
        Charge::Within | Charge::Refused { first: false } => {}
    }
}

/// Why an SA is not in the database.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SadError {
    /// The SA itself is not right.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Packets of both SAs could not be told apart.
    #[error("an inbound security association with this destination, protocol and SPI is there already")]
    Taken,
    /// The SA was removed, or the handle is another data plane's.
    #[error("no security association with this handle")]
    Unknown,
    /// What both cores use cannot change now.
    #[error("another core has a share in the security association")]
    Shared,
    /// The rule was given for an inbound SA, or is missing or removed.
    #[error("an outbound security association needs a rule, and an inbound one has none")]
    Rule,
    /// Numbers were to go back, or are beyond the last one.
    #[error("sequence numbers go forward alone, as far as there are any")]
    Sequence,
    /// All handles are used up.
    #[error("no place for another security association")]
    Full,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    association: Option<Association>,
}

/// Destination, protocol and SPI, in words that are hashed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct InboundKey(u128, u64);

impl InboundKey {
    /// The address alone.
    fn end(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self(u128::from(u32::from(address)), 4 << 40),
            IpAddr::V6(address) => Self(u128::from(address), 6 << 40),
        }
    }

    fn new(destination: IpAddr, protocol: Protocol, spi: u32) -> Self {
        let Self(address, family) = Self::end(destination);
        Self(address, family | u64::from(protocol.number()) << 32 | u64::from(spi))
    }
}

#[derive(Debug, Default)]
pub struct Sad {
    slots: Vec<Slot>,
    free: Vec<u32>,
    inbound: HashMap<InboundKey, u32, foldhash::fast::RandomState>,
    /// Destinations of inbound SAs. They stay when the SAs go: what was protected does not become transit.
    ends: HashSet<InboundKey, foldhash::fast::RandomState>,
    /// What SAs did that are no more.
    gone: Remotes,
    /// There was an inbound SA that copies DSCP.
    pub copies_class: bool,
}

impl Sad {
    /// Whether ESP and AH for this address are for us.
    pub fn is_end(&self, address: &IpAddr) -> bool {
        self.ends.contains(&InboundKey::end(*address))
    }

    /// The place of an inbound SA.
    pub fn find(&self, destination: IpAddr, protocol: Protocol, spi: u32) -> Option<u32> {
        self.inbound.get(&InboundKey::new(destination, protocol, spi)).copied()
    }

    pub fn insert(&mut self, association: Association) -> Result<SaId, SadError> {
        let sa = &association.fixed;
        let end = association.local;
        let inbound = (sa.direction == Direction::In).then(|| InboundKey::new(end, sa.protocol, sa.spi));
        if inbound.is_some_and(|key| self.inbound.contains_key(&key)) {
            return Err(SadError::Taken);
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u32::try_from(self.slots.len()).map_err(|_| SadError::Full)?;
                self.slots.push(Slot::default());
                slot
            }
        };
        if let Some(key) = inbound {
            self.copies_class |= sa.headers.dscp;
            self.inbound.insert(key, slot);
            self.ends.insert(InboundKey::end(end));
        }
        let place = self.slots.get_mut(slot as usize).ok_or(SadError::Full)?;
        place.association = Some(association);
        Ok(SaId { slot, generation: place.generation })
    }

    /// The SA that has this handle, unless it was removed.
    pub fn get_mut(&mut self, id: SaId) -> Option<&mut Association> {
        let slot = self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == id.generation)?;
        slot.association.as_mut().filter(|association| !association.leaving)
    }

    /// As [`Sad::get_mut`].
    pub fn get(&self, id: SaId) -> Option<&Association> {
        let slot = self.slots.get(id.slot as usize).filter(|slot| slot.generation == id.generation)?;
        slot.association.as_ref().filter(|association| !association.leaving)
    }

    /// The SA at a place, even one that is being removed and has packets under way.
    pub fn at_mut(&mut self, slot: u32) -> Option<(SaId, &mut Association)> {
        let place = self.slots.get_mut(slot as usize)?;
        let id = SaId { slot, generation: place.generation };
        place.association.as_mut().map(|association| (id, association))
    }

    /// Takes an SA out of use. Packets under way still find it; [`Sad::tidy`] frees the place behind the last.
    pub fn remove(&mut self, id: SaId) -> Option<&mut Association> {
        let association = self.get_mut(id)?;
        association.leaving = true;
        let sa = &association.fixed;
        let key = InboundKey::new(association.local, sa.protocol, sa.spi);
        if sa.direction == Direction::In {
            self.inbound.remove(&key);
        }
        self.at_mut(id.slot).map(|(_, association)| association)
    }

    /// Frees a place whose SA was removed and has no packets under way. Its keys are wiped here.
    pub fn tidy(&mut self, slot: u32) {
        let Some(place) = self.slots.get_mut(slot as usize) else { return };
        if place.association.as_ref().is_some_and(|sa| sa.leaving && sa.queue.is_empty()) {
            if let Some(sa) = place.association.take() {
                self.gone.leave(&sa);
            }
            // A place that was used 2^32 times is not used again.
            if let Some(next) = place.generation.checked_add(1) {
                place.generation = next;
                self.free.push(slot);
            }
        }
    }

    /// What went to and came from each other end, by SAs that are and that were.
    pub fn remotes(&self) -> HashMap<IpAddr, Remote> {
        let mut all = self.gone.totals();
        for sa in self.slots.iter().filter_map(|place| place.association.as_ref()) {
            all.entry(sa.remote).or_default().add(sa, !sa.leaving);
        }
        all
    }

    /// Every SA that is in use, by place.
    pub fn iter(&self) -> impl Iterator<Item = (SaId, &Association)> {
        self.slots.iter().enumerate().filter_map(|(slot, place)| {
            let association = place.association.as_ref().filter(|association| !association.leaving)?;
            let slot = u32::try_from(slot).ok()?;
            Some((SaId { slot, generation: place.generation }, association))
        })
    }
}
