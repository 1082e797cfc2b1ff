// SPDX-License-Identifier: Apache-2.0
//! Packets on their way out.

use ace_engine::Buffer;
use serde::Serialize;

use crate::counters::Cause;
use crate::id::SaId;

/// How a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// To the outside.
    Protected,
    /// To the inside.
    Decapsulated,
    /// As it came, to the other side.
    Bypassed,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It leaves on the unprotected side.
    ToOutside(How),
    /// It leaves on the protected side.
    ToInside(How),
    /// It must not leave. What is in its buffer means nothing.
    Dropped(Cause),
}

/// A packet on its way out. Those of one SA leave in the order in which they came.
#[derive(Debug)]
pub struct Exit {
    /// The [`Packet::token`](crate::Packet::token) that the packet came with.
    pub token: u64,
    /// The packet as it leaves.
    pub buffer: Buffer,
    /// Whose packet it was, where that is known.
    pub sa: Option<SaId>,
    /// The interface inside that it came by, or that its SA is of.
    pub if_id: u32,
    /// [`SaSpec::output_mark`](crate::SaSpec::output_mark) of its SA.
    pub mark: u32,
    /// Where the packet goes, or why it goes nowhere.
    pub fate: Fate,
}
