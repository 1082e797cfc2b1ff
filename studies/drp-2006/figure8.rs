// SPDX-License-Identifier: Apache-2.0
//! Figure 8: HMAC with the hash on the accelerator and the rest on a processor, against that processor alone.
//!
//! The key's block and those of the message go over a bus of 64 bits at 100 MHz to the accelerator, which is configured
//! already; the outer call, two blocks, and what is not hashing stay on the processor.

use serde::Serialize;

use super::ours::Ours;
use super::paper::Paper;
use ace_report::{Page, say};

const BUS_MBPS: f64 = 6400.0;
const BLOCK_BITS: f64 = 512.0;
/// The improvement that the paper reports, at its longest message.
const REPORTED: [(&str, &str, f64); 2] = [("HMAC-MD5-96", "MD5", 1.8), ("HMAC-SHA-1-96", "SHA-1", 4.1)];

/// One HMAC.
#[derive(Serialize)]
pub struct Figure8 {
    pub name: &'static str,
    pub reported: f64,
    /// The part of the processor's time that the hash has to take, of the longest message, for the paper's improvement.
    pub share_needed: f64,
    pub rows: Vec<Row>,
}

/// Improvement over the processor alone at one size.
#[derive(Serialize)]
pub struct Row {
    pub bytes: u64,
    /// All of the processor's time is hashing.
    pub drp: f64,
    /// The hash takes the part that the paper's improvement needs.
    pub drp_with_share: f64,
    pub array: Option<f64>,
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

pub fn study(paper: &Paper, ours: &[Ours]) -> Vec<Figure8> {
    let sizes: Vec<u64> = (5..=13).map(|power| 1 << power).collect();
    let of = |&(name, task, reported): &(&'static str, &str, f64)| {
        let t = paper.task.iter().find(|t| t.name == task)?;
        let own = ours.iter().find(|o| o.task == task);
        let longest = times(*sizes.last()?, t.mips);
        let gain = longest.moved - longest.blocks * BLOCK_BITS / t.drp - longest.bus;
        let share_needed = longest.alone * (1.0 - 1.0 / reported) / gain;
        let row = |bytes: &u64| {
            let it = times(*bytes, t.mips);
            let with = |mbps: f64| improvement(&it, mbps, 1.0);
            Row {
                bytes: *bytes,
                drp: with(t.drp),
                drp_with_share: improvement(&it, t.drp, share_needed),
                array: own.and_then(|o| o.array.as_ref()).map(|a| with(a.chained_mbps)),
                slot: own.and_then(|o| o.slot.as_ref()).map(|s| with(s.mbps)),
            }
        };
        Some(Figure8 { name, reported, share_needed, rows: sizes.iter().map(row).collect() })
    };
    REPORTED.iter().filter_map(of).collect()
}

pub fn print(page: &mut Page, all: &[Figure8]) {
    say!(page, "## Figure 8: the hash of an HMAC on the accelerator, improvement over the VR5500 alone\n");
    say!(page, "| HMAC | bytes | DRP-1, all is hashing | DRP-1, a part is | array, one packet | slot |");
    say!(page, "|---|--:|--:|--:|--:|--:|");
    let figure = |of: Option<f64>| of.map_or(String::new(), |of| format!("{of:.2}"));
    for it in all {
        for r in &it.rows {
            say!(
                page,
                "| {} | {} | {:.2} | {:.2} | {} | {} |",
                it.name,
                r.bytes,
                r.drp,
                r.drp_with_share,
                figure(r.array),
                figure(r.slot)
            );
        }
    }
    let words: Vec<String> = all
        .iter()
        .map(|it| {
            let share = 100.0 * it.share_needed;
            format!(
                "{}: {} times, which needs {share:.1} % of the processor's time in the hash",
                it.name, it.reported
            )
        })
        .collect();
    say!(
        page,
        "\nThe paper reports {}; it says \"over 90 %\". Its rates are Table 1's, the outer call stays on the VR5500, and the bus \
         of 64 bits at 100 MHz does not overlap with the hash. Modelled time.\n",
        words.join("; ")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

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
