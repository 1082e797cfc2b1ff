// SPDX-License-Identifier: Apache-2.0
//! Handles of SAs and rules.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Serialize, Serializer};

/// A handle of an SA: a place, and how often the place was used. It never means another SA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SaId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl SaId {
    /// The place: small numbers, used again when an SA is gone.
    pub fn slot(self) -> u32 {
        self.slot
    }
}

impl Serialize for SaId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.slot)
    }
}

/// A handle of a rule of one side. It never means another rule.
pub struct RuleId<S> {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    side: PhantomData<S>,
}

impl<S> RuleId<S> {
    pub(crate) fn new(slot: u32, generation: u32) -> Self {
        Self { slot, generation, side: PhantomData }
    }

    /// A number that no other rule of this side ever has.
    pub fn number(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }
}

impl<S> Clone for RuleId<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for RuleId<S> {}

impl<S> PartialEq for RuleId<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.slot, self.generation) == (other.slot, other.generation)
    }
}

impl<S> Eq for RuleId<S> {}

impl<S> Hash for RuleId<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.slot, self.generation).hash(state);
    }
}

impl<S> fmt::Debug for RuleId<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RuleId({}, {})", self.slot, self.generation)
    }
}

impl<S> Serialize for RuleId<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_u32(self.slot)
    }
}
