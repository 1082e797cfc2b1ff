// SPDX-License-Identifier: Apache-2.0
//! The 2000 paper: an adaptive cryptographic engine, its finalists, its compression of configurations.

mod compression;
mod domains;
mod finalists;
mod layouts;
mod negotiation;
mod opening;
mod reader;
mod rounds;
pub mod scheme;

use ace_report::{Page, say};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::built::Image;
use crate::error::{Context, Result};
use crate::marks::Opening;
use crate::measured::Software;
pub use compression::{Compressed, compressed, print as print_compressed};
pub use domains::Domains;
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

/// Which tables are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// All of them, behind the first lines.
    All,
    /// Table 1.
    KeySetup,
    /// Table 2.
    Throughput,
    /// Tables 3 and 4 in the paper's rows. Those of every configuration are [`compressed`].
    Compression,
    /// Section 4.2.
    Rounds,
}

/// The paper's tables beside ours.
#[derive(Serialize)]
pub struct Study {
    opening: Opening,
    /// Where software's figures are from.
    about: String,
    finalists: Vec<finalists::FinalistComparison>,
    rounds: Vec<layouts::Layout>,
    /// Cores that were placed for the question of p rounds.
    placed: layouts::Placed,
    published: Vec<compression::Published>,
    /// None without images.
    compression: Option<Domains>,
    decoders: Option<reader::Decoders>,
    negotiation: Option<negotiation::Negotiation>,
}

impl Study {
    /// Ciphers of which there is no configuration.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.finalists.iter().filter(|row| row.iterative.is_none()).map(|row| row.cipher.as_str())
    }
}

/// The configuration that stands for each finalist in Tables 3 and 4: the one of Table 1.
///
/// # Errors
/// As [`study`].
pub fn compressible(built: &[Value]) -> Result<Vec<String>> {
    let all = figures()?.finalist.into_iter();
    Ok(all
        .filter_map(|f| Some(finalists::shapes(built, &f.algorithm)[0].as_ref()?.configuration.clone()))
        .collect())
}

/// `built`: the manifests of what there is, beside this software; `images`: of those that are [`compressible`], or none where nothing is to be compressed.
///
/// # Errors
/// The paper's figures, or what was measured, are not what they should be: a fault of this repository.
pub fn study(built: &[Value], images: &[Image], measured: &Software) -> Result<Study> {
    let Figures { finalist, compressed: published } = figures()?;
    let finalists =
        finalist.into_iter().map(|f| finalists::compare(f, built, measured)).collect::<Result<_>>()?;
    let mut study = Study {
        opening: Opening::default(),
        about: measured.about(),
        finalists,
        rounds: layouts::layouts(built),
        placed: layouts::placed()?,
        published,
        compression: (!images.is_empty()).then(|| domains::domains(images)),
        decoders: None,
        negotiation: None,
    };
    if let Some(domains) = &study.compression {
        study.decoders = Some(reader::decoders(images, domains)?);
        study.negotiation = Some(negotiation::negotiation(images)?);
    }
    study.opening = opening::opening(&study);
    Ok(study)
}

/// Puts tables on a page.
pub fn print(page: &mut Page, study: &Study, tables: Tables) {
    let wants = |table| tables == Tables::All || tables == table;
    if tables == Tables::All {
        study.opening.print(page);
    }
    if wants(Tables::KeySetup) {
        finalists::print_setup(page, &study.finalists);
    }
    if tables == Tables::All {
        say!(page, "{SETUP}\n");
    }
    if wants(Tables::Throughput) {
        finalists::print_throughput(page, &study.finalists);
    }
    if wants(Tables::Rounds) {
        layouts::print(page, &study.placed, &study.rounds);
    }
    if let Some(compression) = study.compression.as_ref().filter(|_| wants(Tables::Compression)) {
        domains::print(page, &study.published, compression);
    }
    if let Some(decoders) = study.decoders.as_ref().filter(|_| wants(Tables::Compression)) {
        reader::print(page, decoders);
    }
    if let Some(negotiation) = study.negotiation.as_ref().filter(|_| tables == Tables::All) {
        negotiation::print(page, negotiation);
    }
    say!(
        page,
        "Between the two software columns lie 26 years of processors (Pentium Pro, 200 MHz, 1999; this CPU today), between the \
         hardware columns a Virtex of 220 nm and an ECP5 of 40 nm, and other tools: what a column says about another one is \
         the ratio within its own time. Software: {}.",
        study.about
    );
}

/// What a key set-up is, here and there.
const SETUP: &str = "The key-setup latency of the paper is the time until the first round may start; ours is that too, the beats \
that bring the key included: how much later than under a kept key the first block enters the core. Rounds of that block may be \
longer until tables are full (Twofish), or wait for later round keys (MARS); that is no part of it.

RC6's 0.17 µs in the paper cannot be a whole key schedule. With a key of 128 bits the schedule goes three times over the 44 \
words of S, 132 steps; every step adds twice, rotates, and needs the result of the step before, and a word of S is final only \
in the third pass. The first one that encryption needs, S[0], comes out of step 89: 0.17 µs would leave 1.9 ns for each of \
these steps. So that figure is at most the time from which a round can start whose keys were made before.";
