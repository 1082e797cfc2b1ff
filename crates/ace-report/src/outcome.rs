// SPDX-License-Identifier: Apache-2.0
//! How a command ended, and values for machines.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

/// Exit code of a command whose arguments or inputs cannot be used.
pub const FAILED: u8 = 2;

/// The exit codes, and what each says: what `ace --help` prints, and no other place but this.
pub const EXIT_CODES: [(u8, &str); 4] = [
    (Outcome::Well.code(), "all is well"),
    (
        Outcome::Wrong.code(),
        "the work is done, and something about it is wrong: a known answer or a proof failed, packets were lost",
    ),
    (FAILED, "the arguments or an input cannot be used; nothing was done"),
    (Outcome::Interrupted.code(), "interrupted"),
];

/// How a command ended that did not fail outright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well: exit code 0.
    Well,
    /// The work is done and its result says that something is wrong: exit code 1.
    Wrong,
    /// It was interrupted: exit code 130, as of a shell.
    Interrupted,
}

impl Outcome {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Wrong => 1,
            Self::Interrupted => 130,
        }
    }

    /// Well, if that is so.
    pub const fn well_if(good: bool) -> Self {
        if good { Self::Well } else { Self::Wrong }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

/// Prints a value for machines: JSON with line breaks, and one behind it.
///
/// # Errors
/// Standard output is gone, or the value has no form in JSON.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)
}
