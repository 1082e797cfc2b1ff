// SPDX-License-Identifier: Apache-2.0
//! The ESP and AH data plane (RFC 4301, 4302, 4303), sans-I/O.
//!
//! A [`Shard`] takes IP packets from one of two sides ([`Inside`], [`Outside`]) and gives jobs for an engine
//! ([`Shard::jobs`]); the engine's completions go to [`Shard::complete`], and packets leave by
//! [`Shard::poll_exit`]. Nothing here computes a cipher or a hash, opens a socket or looks at a clock.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod counters;
mod exit;
mod id;
pub mod iv;
pub mod kat;
pub mod model;
pub mod packet;
mod restore;
mod sad;
mod shard;
mod side;
pub mod spd;

pub use counters::{Cause, Counters, Drops, SaCounters, Traffic};
pub use exit::{Exit, Fate, How};
pub use id::{RuleId, SaId};
pub use iv::{IvError, IvSource, OsIvs, SeededIvs};
pub use model::{Direction, Flow, Headers, Lifetime, Match, Protocol, SaMode, SaSpec, Selector, Time};
pub use restore::Restorer;
pub use sad::association::{Edit, Update};
pub use sad::grant::{Account, Grant, Granter};
pub use sad::{Remote, SaStatus, SaTimes, SadError, Share};
pub use shard::{Event, HEADROOM, Packet, Seen, Shard, TAILROOM};
pub use side::{Inside, Outside, Side};
pub use spd::{Policy, Rule, RuleChange, Treatment};
