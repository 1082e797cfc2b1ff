// SPDX-License-Identifier: Apache-2.0
//! What a context set is for.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// What a schedule is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The least interval: many packets at once.
    #[default]
    Throughput,
    /// The least time of a block of a packet alone, whatever the interval.
    Latency,
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Goal::Throughput => "throughput",
            Goal::Latency => "latency",
        })
    }
}

impl FromStr for Goal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Goal, Error> {
        let known = [Goal::Throughput, Goal::Latency];
        let found = known.into_iter().find(|goal| goal.to_string() == text);
        found.ok_or_else(|| Error::Use("a set is made for throughput or for latency".to_owned()))
    }
}
