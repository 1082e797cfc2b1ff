// SPDX-License-Identifier: Apache-2.0
//! The controller's policies: which configuration is loaded where and when, and which operation runs next.
//!
//! A decision is a pure function of the [`Queue`], which knows the time, the [`SlotState`]s and the [`Costs`]: no I/O,
//! no randomness. The live board and the trace simulator ([`simulate()`]) call the same [`Policy::decide`], again and again
//! at one instant until it answers [`Decision::Wait`] or [`Decision::WaitUntil`], and then let time pass until something
//! happens.
//!
//! Times are plain `u64`; the caller chooses the unit and keeps to it.
//!
//! ```
//! use ace_engine::ConfigurationId;
//! use ace_schedule::simulate::{Packet, Setup, Trace, simulate};
//! use ace_schedule::{Costs, Policy};
//!
//! // Packets of two flows in turns: each needs another configuration, whose load takes as long as ten packets.
//! let [one, other] = [0, 1].map(ConfigurationId::from_index);
//! let packet = |n: u32| Packet { arrival: 0, flow: n % 2, suite: n % 2, bytes: 1500, costs: [10, 0, 0] };
//! let trace = Trace {
//!     suites: vec![vec![vec![one]], vec![vec![other]]],
//!     packets: (0..40).map(packet).collect(),
//! };
//! let costs = Costs::whole(vec![100, 100]);
//!
//! // One slot. In the order of packets it is loaded for each; a policy that looks ahead loads it twice.
//! let setup = Setup::new(1, &costs, 10_000);
//! assert_eq!(simulate(&trace, &setup, Policy::OnDemand).load_count, 40);
//! assert_eq!(simulate(&trace, &setup, Policy::DoubleBuffer).load_count, 2);
//! ```

#![warn(missing_docs)]

pub mod bound;
mod policies;
mod queue;
pub mod sim;
mod types;

pub use policies::{Policy, UnknownPolicy};
pub use queue::{ClassId, Queue, QueuedOp, Terms};
pub use sim::{captured, in_order, simulate, study, traffic};
pub use types::{Costs, Decision, Processor, SlotState, Time};
