// SPDX-License-Identifier: Apache-2.0
//! Table I: the reference form with MixColumns in the unit beside that without, and what Amdahl's law allows.

use crate::error::{Context, Result};
use serde::Serialize;

use super::units::Unit;
use super::{DIRECTIONS, Paper, Programs, Run, Study, Table1, run};
use ace_report::{Page, say};

/// The reference form with the unit beside that without, in one direction.
#[derive(Serialize)]
pub struct Gain {
    pub direction: &'static str,
    /// Where the unit's delay is from, and its clocks.
    pub unit: &'static str,
    pub run_clocks: u64,
    pub software: u64,
    pub accelerated: u64,
    /// Part of the time saved, what the share of MixColumns allows, and the one over the other.
    pub saved: f64,
    pub allowed: f64,
    pub reached: f64,
    pub paper: Option<[f64; 3]>,
}

/// Clocks of MixColumns, or of its inverse, in the reference form: all that is not in the same program with the unit.
pub fn taken_over(software: &Run, accelerated: &Run) -> [u64; 2] {
    let functions = ["mix_columns", "inverse_mix_columns"];
    [0, 1].map(|d| {
        let rest = accelerated.clocks()[d].saturating_sub(accelerated.of(functions[d]));
        software.clocks()[d].saturating_sub(rest)
    })
}

/// The paper's clocks of a unit at its core's clock.
pub(super) fn clocks_of(ns: f64, ghz: f64) -> u64 {
    (ns * ghz).ceil() as u64
}

pub fn gains(paper: &Paper, programs: &Programs) -> Result<Vec<Gain>> {
    let software = run(programs, "reference", 1, 1)?;
    let taken = taken_over(software, run(programs, "molen", 1, 1)?);
    let mut all = Vec::new();
    for (d, direction) in DIRECTIONS.into_iter().enumerate() {
        let Unit { altera_ns, xilinx_ns, .. } =
            paper.table2.get(d).context("studies/molen-2003/paper.toml: two rows of table2 are wanted")?;
        let table = &paper.table1;
        let before = table.software[d];
        let beside = |after: f64| Some([before, after, 1.0 - after / before]);
        for (unit, run_clocks, paper) in [
            ("Xilinx, the paper's ns", clocks_of(*xilinx_ns, paper.core_ghz), beside(table.xilinx[d])),
            ("Altera, the paper's ns", clocks_of(*altera_ns, paper.core_ghz), beside(table.altera[d])),
            ("ours, at the machine's clock", 1, None),
        ] {
            let accelerated = run(programs, "molen", run_clocks, 1)?.clocks()[d];
            let before = software.clocks()[d];
            let saved = 1.0 - accelerated as f64 / before as f64;
            let allowed = taken[d] as f64 / before as f64;
            all.push(Gain {
                direction,
                unit,
                run_clocks,
                software: before,
                accelerated,
                saved,
                allowed,
                reached: saved / allowed,
                paper,
            });
        }
    }
    Ok(all)
}

pub fn print(page: &mut Page, study: &Study) {
    say!(page, "## Table I: AES-128 in ECB, a text of 4 KB\n");
    say!(
        page,
        "| | unit | clocks of the unit | \"kb/s\" (paper) | with the unit (paper) | gain % (paper) | clocks, ours (measured: RTL) | with the unit (measured: RTL) | saved % (measured: RTL) | allowed % (predicted) | reached of it % | × |"
    );
    say!(page, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for g in &study.gains {
        let of = |at: usize, digits: usize, by: f64| {
            g.paper
                .map_or("–".into(), |p| p.get(at).map_or(String::new(), |v| format!("{:.digits$}", v * by)))
        };
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {:.2} |",
            g.direction,
            g.unit,
            g.run_clocks,
            of(0, 2, 1.0),
            of(1, 2, 1.0),
            of(2, 0, 100.0),
            g.software,
            g.accelerated,
            100.0 * g.saved,
            100.0 * g.allowed,
            100.0 * g.reached,
            g.software as f64 / g.accelerated as f64
        );
    }
    say!(
        page,
        "\nThe paper's \"kb/s\" fall and its gain is 1 - after / before: they behave as time, {} and {} times less of it. Ours: clocks of the \
         machine's RTL ({}, {}). Allowed: the share of MixColumns or its inverse, products included, which Amdahl's law gives if the \
         unit took no time. MixColumns takes {} clocks of our encryption, {} of theirs: an in-order core with one ALU here, four \
         ALUs out of order there.\n",
        ratio(&study.paper.table1, 0),
        ratio(&study.paper.table1, 1),
        study.programs.compiler,
        study.programs.flags,
        study.mix_columns,
        study.paper.mix_columns_cycles
    );
}

/// Clocks by function of the reference form, in software alone and with the unit; products are those of MixColumns, its
/// inverse and, hardly any, the key.
pub fn profile(page: &mut Page, programs: &Programs) {
    say!(page, "## Profile of the reference form\n");
    say!(page, "| function | clocks (measured: RTL) | % | with the unit (measured: RTL) |");
    say!(page, "|---|--:|--:|--:|");
    let (Ok(software), Ok(accelerated)) = (run(programs, "reference", 1, 1), run(programs, "molen", 1, 1))
    else {
        return;
    };
    let all: u64 = software.clocks().iter().sum();
    for (function, clocks) in &software.profile {
        let share = 100.0 * *clocks as f64 / all as f64;
        say!(page, "| {function} | {clocks} | {share:.1} | {} |", accelerated.of(function));
    }
    say!(
        page,
        "\nEncryption and decryption together; clocks of the RTL while the program counter is in each.\n"
    );
}

fn ratio(table: &Table1, direction: usize) -> String {
    let of = |list: &[f64; 2]| list.get(direction).copied().unwrap_or(f64::NAN);
    format!("{:.2}", of(&table.software) / of(&table.xilinx))
}
