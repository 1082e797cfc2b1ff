// SPDX-License-Identifier: Apache-2.0
//! A processor beside the slots (`--engine auto`): both together beside each of them alone, and beside the exact optimum.

use crate::error::{Context, Result};
use crate::marks::{Mark, heads};
use crate::processors::{CORTEX_A53, THIS_MACHINE, VR5500};
use ace_report::{Page, say};
use ace_schedule::Policy;
use ace_schedule::bound::together::ends;
use ace_schedule::study::Figures;
use ace_schedule::study::twenty::{Together, together};
use serde::Serialize;

/// The default one, and the one that the pages speak of.
const POLICIES: [Policy; 2] = [Policy::DoubleBuffer, Policy::Adaptive];
/// More than any of them carries alone.
const OFFERED_MBPS: f64 = 1500.0;
/// Small traces, with which nothing was tuned.
const FIRST: u64 = 20_000;
const TRACES: u64 = 100;

/// What slots and processor make of the same work.
#[derive(Serialize)]
pub struct Beside {
    twenty: Vec<Together>,
    small: Vec<Spread>,
}

/// Times over the exact optimum's, of all small traces.
#[derive(Serialize)]
struct Spread {
    who: String,
    /// Least, quarters, greatest.
    quarters: [f64; 5],
    /// Traces that took no longer than the optimum.
    reached: usize,
}

impl Spread {
    fn of(who: String, mut ratios: Vec<f64>) -> Self {
        ratios.sort_by(f64::total_cmp);
        let last = ratios.len().saturating_sub(1);
        let quarters = [0, 1, 2, 3, 4].map(|of| ratios.get(last * of / 4).copied().unwrap_or(f64::NAN));
        Self { who, quarters, reached: ratios.iter().filter(|of| **of <= 1.0).count() }
    }
}

/// Plays all of it.
///
/// # Errors
/// A file of studies/ is not what it should be: a fault of this repository.
pub fn study(figures: &Figures, seed: u64) -> Result<Beside> {
    let mut twenty = Vec::new();
    for stated in [VR5500, CORTEX_A53, THIS_MACHINE] {
        let processor = stated.read()?;
        for policy in POLICIES {
            let row = together(figures, &processor, policy, seed, OFFERED_MBPS);
            twenty.push(row.context("studies/scheduling/classes.toml: an algorithm has no figure")?);
        }
    }
    let all: Vec<_> = (FIRST..FIRST + TRACES).filter_map(|seed| ends(seed, &POLICIES)).collect();
    let over = |time: u64, best: u64| time as f64 / best.max(1) as f64;
    let mut small = vec![Spread::of(
        "processor alone".into(),
        all.iter().map(|of| over(of.processor, of.best)).collect(),
    )];
    for (at, policy) in POLICIES.iter().enumerate() {
        let slots = all.iter().map(|of| over(of.slots[at], of.best)).collect();
        let both = all.iter().map(|of| over(of.both[at], of.best)).collect();
        small.push(Spread::of(format!("slots alone, {policy}"), slots));
        small.push(Spread::of(format!("auto, {policy}"), both));
    }
    Ok(Beside { twenty, small })
}

/// Puts both tables on a page.
pub fn print(page: &mut Page, of: &Beside) {
    say!(page, "\n## auto beside each engine alone: 20 SAs over 8 algorithms\n");
    say!(
        page,
        "{OFFERED_MBPS:.0} Mb/s come for 100 ms: where the end of all is later it is the throughput, and where it is not, all was carried as it came. Alone: all of it by slots, \
         or by the processor, which cannot where it has no figure for an algorithm.\n"
    );
    let figures = ["slots alone, ms", "processor alone, ms", "auto, ms", "better one ÷ auto"];
    let figures: Vec<_> = figures.into_iter().map(|head| (head, Mark::Predicted)).collect();
    let words = ["processor", "policy", "packets", "passes of the processor", "passes of slots", "loads"];
    say!(page, "{}", heads(&words, &figures));
    let ms = |ns: u64| ns as f64 / 1e6;
    for row in &of.twenty {
        let Together { processor, policy, packets, computed, executed, loads, .. } = row;
        let alone = row.alone.map_or("–".into(), |alone| format!("{:.1}", ms(alone)));
        say!(
            page,
            "| {processor} | {policy} | {packets} | {computed} | {executed} | {loads} | {:.1} | {alone} | {:.1} | {:.3} |",
            ms(row.slots),
            ms(row.both),
            row.of_the_better()
        );
    }
    say!(page, "\n## auto beside the exact optimum: {TRACES} small traces\n");
    say!(
        page,
        "Time until the last of 3 to 7 packets is done, over that of who knows the future and has the same slots and processor. \
         Quarters of all traces; \"reached\" is how many took no longer.\n"
    );
    let figures = ["least", "quarter", "half", "three quarters", "greatest", "reached"];
    let figures: Vec<_> = figures.into_iter().map(|head| (head, Mark::Predicted)).collect();
    say!(page, "{}", heads(&["who"], &figures));
    for Spread { who, quarters: [a, b, c, d, e], reached } in &of.small {
        say!(page, "| {who} | {a:.3} | {b:.3} | {c:.3} | {d:.3} | {e:.3} | {reached} |");
    }
}
