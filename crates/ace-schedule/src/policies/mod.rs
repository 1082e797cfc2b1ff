// SPDX-License-Identifier: Apache-2.0
//! The policies. One is a file with `decide`, and a line of the list below.

mod adaptive;
mod coprocessor;
mod double_buffer;
mod landlord;
mod on_demand;
mod rotation;
mod view;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::queue::Queue;
use crate::types::{Costs, Decision, SlotState};

macro_rules! policies {
    ($($(#[doc = $doc:literal])* $name:ident = $words:literal in $file:ident;)*) => {
        /// How decisions are taken. `docs/scheduling.md` describes each one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Policy {
            $($(#[doc = $doc])* #[serde(rename = $words)] $name,)*
        }

        impl Policy {
            /// Every policy.
            pub const ALL: [Policy; [$($words),*].len()] = [$(Policy::$name),*];

            /// Its name on the command line.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Policy::$name => $words,)*
                }
            }

            /// What the policy itself says.
            fn rule(&self, queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
                match self {
                    $(Policy::$name => $file::decide(queue, slots, costs),)*
                }
            }
        }
    };
}

policies! {
    /// Strictly in the order of packets, one operation at a time. When its configuration is not resident it is
    /// loaded over the one that was used longest ago, and everything waits.
    OnDemand = "on-demand" in on_demand;
    /// Looks ahead: queued operations of the resident configurations run in batches, flows may overtake each
    /// other, and a slot without work is loaded with what is needed next while the other one works.
    DoubleBuffer = "double-buffer" in double_buffer;
    /// What is needed first is loaded over the idle configuration whose rent is lowest.
    Landlord = "landlord" in landlord;
    /// The configuration whose packets are oldest is next; a slot that has work is taken when a bound is due.
    Rotation = "rotation" in rotation;
    /// Loads what brings most slot time into time, less what it costs others.
    Adaptive = "adaptive" in adaptive;
}

impl Policy {
    /// The next step. One configuration port is assumed: no load starts while another is under way.
    pub fn decide(&self, queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
        // As the policy sees them: what is to be loaded with its like takes nothing more.
        let mut seen: Option<Vec<SlotState>> = None;
        loop {
            let states = seen.as_deref().unwrap_or(slots);
            match self.rule(queue, states, costs) {
                Decision::Load { slot, configuration } => {
                    // On the whole board one operation runs at a time.
                    let most = if *self == Policy::OnDemand { 1 } else { usize::MAX };
                    let over = slots.get(slot).and_then(SlotState::resident);
                    let configuration = queue.cheapest_equivalent(configuration, over, most, costs);
                    return Decision::Load { slot, configuration };
                }
                Decision::Execute { slot, op } => match (queue.instead(slots, slot, costs), slots[slot]) {
                    (None, _) => return Decision::Execute { slot, op },
                    (Some(configuration), SlotState::Idle { .. }) => {
                        return Decision::Load { slot, configuration };
                    }
                    _ => seen.get_or_insert_with(|| slots.to_vec())[slot] = slots[slot].hidden(),
                },
                decision => return decision,
            }
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No policy has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown policy `{0}` (allowed: {allowed})", allowed = Policy::ALL.map(|p| p.name()).join(", "))]
pub struct UnknownPolicy(pub String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        Policy::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}
