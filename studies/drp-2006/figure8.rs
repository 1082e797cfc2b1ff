// SPDX-License-Identifier: Apache-2.0
//! Figure 8: HMAC with the hash on the accelerator and the rest on a processor, against that processor alone.
//!
//! The key's block and those of the message go over a bus of 64 bits at 100 MHz to the accelerator, which is configured
//! already; the outer call, two blocks, and what is not hashing stay on the processor.

use ace_report::{Page, say};
use serde::Serialize;

use super::ours::Ours;
use super::paper::{Hmac, Paper};
use crate::error::{Context, Result};
use crate::marks::{By, Mark, cell, heads};

const BUS_MBPS: f64 = 6400.0;
const BLOCK_BITS: f64 = 512.0;
/// The message at which the shares are solved: the paper does not say at which one it has its improvement.
pub const SOLVED_AT: u64 = 8192;
/// Others, to see what hangs on that.
const SOLVED_ELSEWHERE: [u64; 5] = [1024, 2048, 4096, SOLVED_AT, 65_536];

/// One HMAC.
#[derive(Serialize)]
pub struct Figure8 {
    pub name: String,
    pub reported: f64,
    /// The part of the processor's time that the hash has to take for the paper's improvement at [`SOLVED_AT`].
    pub share_needed: f64,
    /// The same at other messages; above 1 there is no such part.
    pub shares: Vec<Share>,
    pub rows: Vec<AlgorithmThroughput>,
}

/// What is solved at one message.
#[derive(Serialize)]
pub struct Share {
    pub bytes: u64,
    /// Improvement if all of the processor's time is hashing.
    pub most: f64,
    pub share: f64,
}

/// Improvement over the processor alone at one size.
#[derive(Serialize)]
pub struct AlgorithmThroughput {
    pub bytes: u64,
    /// All of the processor's time is hashing.
    pub drp: f64,
    /// The hash takes the part that was solved for.
    pub drp_with_share: f64,
    pub array: f64,
    pub slot: Option<f64>,
}

struct Times {
    alone: f64,
    moved: f64,
    bus: f64,
    blocks: f64,
}

/// Microseconds of a message of `bytes` on a processor of `mbps`.
fn times(bytes: u64, mbps: f64) -> Times {
    // The block of the key, the message, and its padding of 9 bytes and more.
    let blocks = 1.0 + (bytes + 9).div_ceil(64) as f64;
    let block = BLOCK_BITS / mbps;
    let bus = (64 + bytes) as f64 * 8.0 / BUS_MBPS;
    Times { alone: (blocks + 2.0) * block, moved: blocks * block, bus, blocks }
}

/// How much faster with an accelerator of `mbps`, where hashing takes `share` of the processor's time.
fn improvement(of: &Times, mbps: f64, share: f64) -> f64 {
    let all = of.alone / share;
    all / (all - of.moved + of.blocks * BLOCK_BITS / mbps + of.bus)
}

/// The part that hashing has to take for an improvement with an accelerator of `drp` beside a processor of `mips`.
fn solved(bytes: u64, mips: f64, drp: f64, improvement: f64) -> f64 {
    let it = times(bytes, mips);
    let gain = it.moved - it.blocks * BLOCK_BITS / drp - it.bus;
    it.alone * (1.0 - 1.0 / improvement) / gain
}

pub fn study(paper: &Paper, ours: &[Ours]) -> Result<Vec<Figure8>> {
    let sizes: Vec<u64> = (5..=13).map(|power| 1 << power).collect();
    let of = |Hmac { name, task, improvement: reported }: &Hmac| {
        let t = paper.task.iter().find(|t| t.name == *task).context(task.clone())?;
        let own = ours.iter().find(|o| o.task == *task).context(task.clone())?;
        let solved = |bytes| solved(bytes, t.mips, t.drp, *reported);
        let share_needed = solved(SOLVED_AT);
        let row = |bytes: &u64| {
            let it = times(*bytes, t.mips);
            let with = |mbps: f64| improvement(&it, mbps, 1.0);
            AlgorithmThroughput {
                bytes: *bytes,
                drp: with(t.drp),
                drp_with_share: improvement(&it, t.drp, share_needed),
                array: with(own.array.mbps(1)),
                slot: own.slot.as_ref().map(|s| with(s.mbps)),
            }
        };
        let share = |bytes: u64| {
            let most = improvement(&times(bytes, t.mips), t.drp, 1.0);
            Share { bytes, most, share: solved(bytes) }
        };
        Ok(Figure8 {
            name: name.clone(),
            reported: *reported,
            share_needed,
            shares: SOLVED_ELSEWHERE.map(share).into(),
            rows: sizes.iter().map(row).collect(),
        })
    };
    paper.hmac.iter().map(of).collect()
}

pub fn print(page: &mut Page, all: &[Figure8]) {
    use Mark::{Fitted, Predicted};
    say!(page, "## Figure 8: the hash of an HMAC on the accelerator, improvement over the VR5500 alone\n");
    let columns = [
        ("DRP-1, all is hashing", Predicted),
        ("DRP-1, a part is", Fitted),
        ("array, 1 packet in flight", Predicted),
        ("slot", Predicted),
    ];
    say!(page, "{}", heads(&["HMAC", "bytes"], &columns));
    for it in all {
        for r in &it.rows {
            say!(
                page,
                "| {} | {} | {:.2} | {:.2} | {:.2} | {} |",
                it.name,
                r.bytes,
                r.drp,
                r.drp_with_share,
                r.array,
                cell(r.slot, 2)
            );
        }
    }
    say!(
        page,
        "\nThe rates are those of Table 1, the outer call stays on the VR5500, and the bus of 64 bits at 100 MHz does not overlap \
         with the hash. The paper names one improvement for each HMAC, and neither the message nor the part of the time that is \
         hashing, \"over 90 %\". So the part is *solved for* at a message of {SOLVED_AT} bytes, the longest drawn here: one figure \
         gives one part, and nothing is tested by it. What other messages would give:\n"
    );
    let columns = [
        ("reported", Mark::Published),
        ("if all is hashing", Predicted),
        ("part that has to be hashing, %", Fitted),
    ];
    say!(page, "{}", heads(&["HMAC", "solved at, bytes"], &columns));
    for it in all {
        for Share { bytes, most, share } in &it.shares {
            let part = if *share <= 1.0 { format!("{:.1}", 100.0 * share) } else { "more than all".into() };
            say!(page, "| {} | {bytes} | {:.1} | {most:.2} | {part} |", it.name, it.reported);
        }
    }
    say!(
        page,
        "\nOur columns suppose that all is hashing, and so bound from above what would be seen; the rates in them are {}.\n",
        Mark::Measured(By::Rtl)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_solved_for_gives_the_improvement() {
        let share = solved(8192, 38.7, 202.1, 4.1);
        assert!((0.9..1.0).contains(&share));
        assert!((improvement(&times(8192, 38.7), 202.1, share) - 4.1).abs() < 1e-9);
    }

    #[test]
    fn by_hand() {
        // 55 bytes and padding are one block: two to be moved, two that stay, of 1 us; on the accelerator a tenth.
        let it = times(55, 512.0);
        assert_eq!((it.alone, it.moved), (4.0, 2.0));
        assert!((it.bus - 119.0 * 8.0 / 6400.0).abs() < 1e-12);
        let expected = 4.0 / (2.0 + 0.2 + it.bus);
        assert!((improvement(&it, 5120.0, 1.0) - expected).abs() < 1e-12);
        assert!((improvement(&it, 5120.0, 0.5) - 8.0 / (6.0 + 0.2 + it.bus)).abs() < 1e-12);
    }
}
