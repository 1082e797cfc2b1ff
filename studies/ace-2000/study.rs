// SPDX-License-Identifier: Apache-2.0
//! The 2000 paper: an adaptive cryptographic engine, its finalists, its compression of configurations.

mod compression;
mod finalists;
mod layouts;
mod rounds;
pub mod scheme;

use ace_report::{Page, say};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Context, Result};
use crate::measured::Software;
pub use compression::{Compressed, compressed, print as print_compressed};
pub use rounds::{Rounds, print as print_rounds, rounds};

/// studies/ace-2000/paper.toml.
#[derive(Deserialize)]
struct Figures {
    finalist: Vec<finalists::Finalist>,
    compressed: Vec<compression::Published>,
}

fn figures() -> Result<Figures> {
    toml::from_str(include_str!("paper.toml")).context("studies/ace-2000/paper.toml")
}

/// Which tables are wanted; the compression of Table 4 has its own ([`compressed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Table 1.
    pub key_setup: bool,
    /// Table 2.
    pub throughput: bool,
    /// Section 4.2.
    pub rounds: bool,
}

impl Tables {
    /// All of them.
    pub const ALL: Self = Self { key_setup: true, throughput: true, rounds: true };
}

/// The tables that were wanted.
#[derive(Serialize)]
pub struct Study {
    /// Where software's figures are from.
    about: String,
    finalists: Vec<finalists::Row>,
    rounds: Vec<layouts::Layout>,
    #[serde(skip)]
    tables: Tables,
}

impl Study {
    /// Ciphers of which no configuration is built.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.finalists.iter().filter(|row| row.iterative.is_none()).map(|row| row.cipher.as_str())
    }
}

/// `built`: the manifests of what is built, beside this software.
///
/// # Errors
/// The paper's figures are not what they should be: a fault of this repository.
pub fn study(built: &[Value], tables: Tables, measured: &Software) -> Result<Study> {
    let wanted = tables.key_setup || tables.throughput;
    let finalists = if wanted { figures()?.finalist } else { Vec::new() };
    Ok(Study {
        about: measured.about(),
        finalists: finalists
            .into_iter()
            .map(|f| finalists::compare(f, built, measured))
            .collect::<Result<_>>()?,
        rounds: if tables.rounds { layouts::layouts(built) } else { Vec::new() },
        tables,
    })
}

/// Puts the tables on a page.
pub fn print(page: &mut Page, study: &Study) {
    if study.tables.key_setup {
        finalists::print_setup(page, &study.finalists);
    }
    if study.tables.throughput {
        finalists::print_throughput(page, &study.finalists);
    }
    if study.tables.rounds {
        layouts::print(page, &study.rounds);
    }
    say!(
        page,
        "Between the two software columns lie 26 years of processors (Pentium Pro, 200 MHz, 1999; this CPU today), \
         between the hardware columns a Virtex of 220 nm and an ECP5 of 40 nm, and other tools: what a column says \
         about another one is the ratio within its own time. Software: {}. Hardware: cycles of \
         the simulated RTL at the placed and routed clock, not tried on silicon.",
        study.about
    );
}
