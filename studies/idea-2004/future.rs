// SPDX-License-Identifier: Apache-2.0
//! What the paper leaves to its future, by its own model: feedback through each way in, and duplicated paths.

use ace_ecp5::device::LFE5U_45F;
use serde::Serialize;

use super::built::Built;
use super::interface::{BLOCK_BITS, Path};
use ace_report::{Page, say};

/// MULT18X18D of an LFE5U-45F, and what part of them and of its LUT4 is used at most, so that it can be routed.
const MULTIPLIERS: u64 = 72;
const FULL: f64 = 0.8;

/// The paper's ways in, as the model has them.
pub struct Ways {
    /// Of a block, and what each takes: memory, ports.
    pub accesses: [u64; 2],
    pub access_us: [f64; 2],
    /// Of the array: characters for each path, and clocks of an access.
    pub array_characters: [u64; 3],
    pub array_access: u64,
    pub characters: u64,
}

impl Ways {
    /// Mb/s at `mhz` if a block takes so many clocks: through memory, ports and the array.
    fn mbps(&self, path: Path, clocks: f64, latency: f64, mhz: f64) -> [f64; 3] {
        let blocks = (self.characters / 8) as f64;
        let compute_us = (blocks * clocks + latency) / mhz;
        let all = blocks * BLOCK_BITS;
        let link = |way: usize| blocks * self.accesses[way] as f64 * self.access_us[way];
        let fills = (self.characters as f64 / self.array_characters[path as usize] as f64).ceil();
        let moved = blocks * (self.accesses[0] * self.array_access) as f64;
        let array_us = (blocks * clocks + fills * latency + moved) / mhz;
        [all / compute_us.max(link(0)), all / compute_us.max(link(1)), all / array_us]
    }
}

/// A path at its clock, through memory, ports and array.
#[derive(Serialize)]
pub struct Feedback {
    path: Path,
    ecb: [f64; 3],
    /// CBC, CFB and OFB: each block waits for the one before.
    feedback: [f64; 3],
}

/// The paths with MULT18X18D.
fn fast(built: &[Built]) -> impl Iterator<Item = &Built> {
    built.iter().filter(|b| b.mult18 > 0)
}

/// Clocks until the first block is there, less what a block takes.
fn latency(built: &Built) -> f64 {
    (built.feedback_clocks - built.clocks) as f64
}

pub fn feedback(built: &[Built], ways: &Ways) -> Vec<Feedback> {
    fast(built)
        .map(|b| Feedback {
            path: b.path,
            ecb: ways.mbps(b.path, b.clocks as f64, latency(b), b.median_mhz),
            feedback: ways.mbps(b.path, b.feedback_clocks as f64, 0.0, b.median_mhz),
        })
        .collect()
}

/// As many of a path as there is room for.
#[derive(Serialize)]
pub struct Copies {
    path: Path,
    copies: u64,
    /// All together, if the blocks are there; through memory, ports and array.
    alone: f64,
    through: [f64; 3],
}

pub fn copies(built: &[Built], ways: &Ways) -> Vec<Copies> {
    fast(built)
        .map(|b| {
            let room = |have: u64, each: u64| (FULL * have as f64 / each.max(1) as f64) as u64;
            let copies = room(LFE5U_45F.lut4, b.lut_sites).min(room(MULTIPLIERS, b.mult18));
            let clocks = b.clocks as f64 / copies.max(1) as f64;
            Copies {
                path: b.path,
                copies,
                alone: b.mbps * copies as f64,
                through: ways.mbps(b.path, clocks, latency(b), b.median_mhz),
            }
        })
        .collect()
}

pub fn print(page: &mut Page, feedback: &[Feedback], copies: &[Copies]) {
    say!(page, "\n## What feedback costs, and what copies give\n");
    say!(page, "| path | mode | memory, Mb/s (predicted) | ports (predicted) | array (predicted) |");
    say!(page, "|---|---|--:|--:|--:|");
    for f in feedback {
        for (mode, mbps) in [("ECB", f.ecb), ("CBC, CFB, OFB", f.feedback)] {
            say!(page, "| {:?} | {mode} | {:.3} | {:.3} | {:.3} |", f.path, mbps[0], mbps[1], mbps[2]);
        }
    }
    say!(
        page,
        "\n| path | copies on a 45F | Mb/s of all, ECB (predicted) | memory (predicted) | ports (predicted) | array (predicted) |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|");
    for c in copies {
        let [memory, port, array] = c.through;
        say!(page, "| {:?} | {} | {:.0} | {memory:.3} | {port:.3} | {array:.3} |", c.path, c.copies, c.alone);
    }
    say!(
        page,
        "\nOur paths with MULT18X18D run at their clocks through the paper's ways in, as fitted above. Copies: as many as {:.0} % of \
         the LUTs and multipliers hold, at the clock of one; more than two are not placed, and they share one way in, which is soon all \
         that counts. S and SR lose nothing by feedback, because they take one block after the other anyway.",
        100.0 * FULL
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_slower_than_the_path_is_all_that_counts() {
        let ways = Ways {
            accesses: [4, 16],
            access_us: [1.0, 10.0],
            array_characters: [800, 800, 80],
            array_access: 2,
            characters: 800,
        };
        // 100 blocks of 10 clocks at 10 MHz are 100 µs; the links take 400 and 16 000 µs.
        let [memory, port, array] = ways.mbps(Path::S, 10.0, 0.0, 10.0);
        assert_eq!((memory, port), (16.0, 0.4));
        // The array is filled once, by 8 clocks a block.
        assert!((array - 6400.0 / 180.0).abs() < 1e-9);
        let [.., often] = ways.mbps(Path::P, 10.0, 20.0, 10.0);
        assert!((often - 6400.0 / (180.0 + 20.0)).abs() < 1e-9);
    }
}
