// SPDX-License-Identifier: Apache-2.0
//! Recordings on boards: what `ace run` says of them (`python -m ace_flow scheduling-runs`), and the overhead strictly in
//! order of our array.

use ace_report::{Page, say};
use ace_schedule::captured::demo;
use serde::{Deserialize, Serialize};

use super::Goal;
use crate::array::{Tile, strictly_in_order};
use crate::error::{Context, Result};
use crate::marks::{By, Mark, cell, heads};
use crate::measured::Recorded;

const FILE: &str = "studies/scheduling/runs.json";

/// The file.
#[derive(Deserialize, Serialize)]
struct Runs {
    recorded: Recorded,
    runs: Vec<Run>,
}

/// One `ace run`.
#[derive(Clone, Deserialize, Serialize)]
struct Run {
    traffic: String,
    board: String,
    window: usize,
    policy: String,
    /// That were loaded.
    configurations: Vec<String>,
    figures: Figures,
}

/// Picoseconds and numbers, as `ace run --json` has them.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Figures {
    total: u64,
    executing: u64,
    exposed_load: u64,
    load: u64,
    hidden_load: u64,
    loads: u64,
    skipped_loads: u64,
    completed: u64,
}

impl Figures {
    fn overhead(&self) -> f64 {
        100.0 * self.exposed_load as f64 / self.total.max(1) as f64
    }
}

/// The runs, and overheads strictly in order, one packet in flight, in percent.
#[derive(Serialize)]
pub struct Boards {
    runs: Runs,
    pub demo_in_order: f64,
    pub paper_in_order: f64,
    pub recording_in_order: f64,
}

pub fn study() -> Result<Boards> {
    let runs = serde_json::from_str(include_str!("runs.json"))
        .with_context(|| format!("{FILE}: write it anew with python -m ace_flow measure {FILE}"))?;
    let [paper, recording] = crate::drp_2006::in_order()?;
    let tile = Tile::read()?;
    let names = ["aes128_encrypt", "md5", "tdes_encrypt", "sha1"];
    let variants = names.map(|name| tile.variant(name)).into_iter().collect::<Result<Vec<_>>>()?;
    let passes = |(flow, bytes): (u32, u64)| {
        let cipher = flow as usize / 2 * 2;
        [cipher, cipher + 1].map(|pass| (pass, bytes as f64))
    };
    let tasks: Vec<(usize, f64)> = demo(include_str!("demo.csv")).into_iter().flat_map(passes).collect();
    Ok(Boards {
        runs,
        demo_in_order: strictly_in_order(&variants, &tasks, 1).double,
        paper_in_order: paper.double,
        recording_in_order: recording.double,
    })
}

impl Boards {
    fn run(&self, traffic: &str, board: &str, window: usize) -> Option<&Figures> {
        let same = |r: &&Run| {
            r.traffic == traffic && r.board == board && r.window == window && r.policy == "adaptive"
        };
        self.runs.runs.iter().find(same).map(|run| &run.figures)
    }

    /// The least and the most time that the policies of the demo's slots need, in milliseconds, and the policy of the least.
    pub fn demo(&self, window: usize) -> Option<(f64, f64, &str)> {
        let of = |r: &&Run| r.traffic == "the demo, protecting" && r.board == "2 slots" && r.window == window;
        let runs: Vec<&Run> = self.runs.runs.iter().filter(of).collect();
        let least = runs.iter().min_by_key(|r| r.figures.total)?;
        let most = runs.iter().max_by_key(|r| r.figures.total)?;
        Some((least.figures.total as f64 / 1e9, most.figures.total as f64 / 1e9, &least.policy))
    }

    pub fn goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        let demo = "the demo, protecting";
        for (window, limit) in [(64, 70.0), (256, 42.0)] {
            if let Some(of) = self.run(demo, "2 slots", window) {
                let what = format!("demo, 2 slots, adaptive, window {window}: ms");
                goals.push(Goal::at_most(&what, of.total as f64 / 1e9, limit));
            }
        }
        for (traffic, tiles, window, limit) in [
            (demo, "2 tiles", 64, 1.0),
            ("the demo, associations of 2006", "1 tile", 16, 1.0),
            ("20 SAs over 8 algorithms", "2 tiles", 64, 5.0),
        ] {
            let board = format!("array: {tiles} of 2 banks");
            if let Some(of) = self.run(traffic, &board, window) {
                let what = format!("{traffic}, {board}, window {window}: overhead %");
                goals.push(Goal::at_most(&what, of.overhead(), limit));
            }
        }
        if let Some(of) = self.run(demo, "array: 2 tiles of 2 banks", 64) {
            let what = "demo, array: 2 tiles of 2 banks: ms";
            goals.push(Goal::at_most(what, of.total as f64 / 1e9, 14.0));
        }
        for (what, of) in [
            ("demo", self.demo_in_order),
            ("traffic at random as in 2006", self.paper_in_order),
            ("the demo, associations of 2006", self.recording_in_order),
        ] {
            let what = format!(
                "{what}, array: 1 tile of 2 banks, strictly in order, 1 packet in flight: overhead %"
            );
            goals.push(Goal::at_most(&what, of, 4.6));
        }
        goals
    }

    pub fn print(&self, page: &mut Page) {
        say!(page, "\n## Recordings on boards\n");
        say!(
            page,
            "What `ace run` prints: the slots run the RTL, loads are those of the library's stored images or context sets. \
             Removed: of the time waited for loads on one slot, or one bank, that is loaded at every change of task. Recorded {}.\n",
            self.runs.recorded.about()
        );
        let rtl = Mark::Measured(By::Rtl);
        let columns = [
            ("total ms", rtl),
            ("loads", rtl),
            ("all loads ms", rtl),
            ("exposed ms", rtl),
            ("hidden ms", rtl),
            ("overhead %", rtl),
            ("removed %", rtl),
        ];
        say!(page, "{}", heads(&["traffic", "board", "window", "policy"], &columns));
        let runs = &self.runs.runs;
        for r in runs {
            let kind = |board: &str| board.starts_with("array");
            let alone = |board: &str| board == "1 slot" || board.ends_with("1 bank");
            let naive = runs
                .iter()
                .find(|n| n.traffic == r.traffic && alone(&n.board) && kind(&n.board) == kind(&r.board));
            let of = &r.figures;
            let removed =
                naive.map(|n| 100.0 - 100.0 * of.exposed_load as f64 / n.figures.exposed_load.max(1) as f64);
            let ms = |picos: u64| picos as f64 / 1e9;
            say!(
                page,
                "| {} | {} | {} | {} | {:.2} | {} | {:.3} | {:.3} | {:.3} | {:.2} | {} |",
                r.traffic,
                r.board,
                r.window,
                r.policy,
                ms(of.total),
                of.loads,
                ms(of.load),
                ms(of.exposed_load),
                ms(of.hidden_load),
                of.overhead(),
                cell(removed, 1)
            );
        }
        say!(
            page,
            "\nStrictly in order on one tile of two banks, one packet in flight, our array waits for loads in {:.2} % of the time \
             with the traffic at random of [the 2006 study](../drp-2006/results.md), in {:.2} % with the recording and the paper's \
             associations, and in {:.2} % with the demo's own ({}; the sets that are built, the rates of the slot's RTL).",
            self.paper_in_order,
            self.recording_in_order,
            self.demo_in_order,
            Mark::Predicted
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_packets_of_the_demo_went_through_every_board() {
        let boards = study().unwrap();
        let runs = &boards.runs.runs;
        let demo: Vec<&Run> = runs.iter().filter(|r| r.traffic.starts_with("the demo")).collect();
        assert!(demo.len() > 20 && demo.iter().all(|r| r.figures.completed == 2 * 277));
        for run in runs {
            let of = &run.figures;
            assert_eq!(of.load, of.exposed_load + of.hidden_load, "{} {}", run.traffic, run.board);
            assert!(of.total >= of.executing + of.exposed_load);
            assert_eq!(of.loads > 0, !run.configurations.is_empty());
        }
        assert!(boards.run("the demo, protecting", "2 slots", 64).is_some());
    }
}
