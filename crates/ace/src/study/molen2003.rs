// SPDX-License-Identifier: Apache-2.0
//! The 2003 paper: AES on a core with a reconfigurable unit, from programs that ran on the machine's RTL.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::routed::Routed;
use crate::page::say;

/// Bits of the text.
const TEXT_BITS: f64 = 4096.0 * 8.0;
const DIRECTIONS: [&str; 2] = ["encryption", "decryption"];

#[derive(Deserialize, Serialize)]
struct Paper {
    core_ghz: f64,
    mix_columns_cycles: u64,
    table1: Table1,
    table2: Vec<Unit>,
}

/// Encryption and decryption.
#[derive(Deserialize, Serialize)]
struct Table1 {
    software: [f64; 2],
    xilinx: [f64; 2],
    altera: [f64; 2],
    gain: [f64; 2],
}

#[derive(Deserialize, Serialize)]
struct Unit {
    unit: String,
    altera_ns: f64,
    xilinx_ns: f64,
    altera_percent: f64,
    xilinx_percent: f64,
}

/// studies/molen-2003/programs.json.
#[derive(Deserialize, Serialize)]
struct Programs {
    written_by: String,
    compiler: String,
    flags: String,
    verilator: String,
    runs: Vec<Run>,
}

#[derive(Deserialize, Serialize)]
struct Run {
    form: String,
    run_clocks: u64,
    seed: u64,
    encrypt: u64,
    decrypt: u64,
    hits: u64,
    misses: u64,
    profile: BTreeMap<String, u64>,
}

impl Run {
    fn clocks(&self) -> [u64; 2] {
        [self.encrypt, self.decrypt]
    }

    fn of(&self, function: &str) -> u64 {
        self.profile.get(function).copied().unwrap_or(0)
    }
}

/// The reference form with the unit beside that without, in one direction.
#[derive(Serialize)]
struct Gain {
    direction: &'static str,
    /// Where the unit's delay is from, and its clocks.
    unit: &'static str,
    run_clocks: u64,
    software: u64,
    accelerated: u64,
    /// Part of the time saved, what the share of MixColumns allows, and the one over the other.
    saved: f64,
    allowed: f64,
    reached: f64,
    paper: Option<[f64; 3]>,
}

/// Table II, ours: nanoseconds and LUT4.
#[derive(Serialize)]
struct Placed {
    unit: &'static str,
    paper: Option<Unit>,
    ns: f64,
    lut4: u64,
}

#[derive(Serialize)]
struct Machine {
    device: String,
    lut_sites: u64,
    ff: u64,
    ebr: u64,
    mult18: u64,
    fmax_mhz: Vec<f64>,
    median_mhz: f64,
}

#[derive(Serialize)]
struct Goal {
    what: &'static str,
    figure: f64,
    limit: f64,
    met: bool,
}

#[derive(Serialize)]
pub struct Study {
    paper: Paper,
    programs: Programs,
    routed: String,
    gains: Vec<Gain>,
    /// Clocks of the encryption that MixColumns takes in the reference form.
    mix_columns: u64,
    table2: Vec<Placed>,
    machine: Machine,
    goals: Vec<Goal>,
}

fn paper() -> Result<Paper> {
    toml::from_str(include_str!("../../../../studies/molen-2003/paper.toml"))
        .context("studies/molen-2003/paper.toml")
}

fn programs() -> Result<Programs> {
    serde_json::from_str(include_str!("../../../../studies/molen-2003/programs.json"))
        .context("studies/molen-2003/programs.json: write it anew with python -m ace_flow.molen")
}

fn routed() -> Result<Routed> {
    Routed::read(
        include_str!("../../../../studies/molen-2003/results.json"),
        "studies/molen-2003/results.json",
    )
}

fn run<'a>(programs: &'a Programs, form: &str, run_clocks: u64, seed: u64) -> Result<&'a Run> {
    let is = |r: &&Run| r.form == form && r.run_clocks == run_clocks && r.seed == seed;
    programs.runs.iter().find(is).with_context(|| {
        format!(
            "studies/molen-2003/programs.json has no run of `{form}` with {run_clocks} clocks; run {}",
            programs.written_by
        )
    })
}

/// Clocks of MixColumns, or of its inverse, in the reference form: all that is not in the same program with the unit.
fn taken_over(software: &Run, accelerated: &Run) -> [u64; 2] {
    let functions = ["mix_columns", "inverse_mix_columns"];
    [0, 1].map(|d| {
        let rest = accelerated.clocks()[d].saturating_sub(accelerated.of(functions[d]));
        software.clocks()[d].saturating_sub(rest)
    })
}

/// The paper's clocks of a unit at its core's clock.
fn clocks_of(ns: f64, ghz: f64) -> u64 {
    (ns * ghz).ceil() as u64
}

fn gains(paper: &Paper, programs: &Programs) -> Result<Vec<Gain>> {
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

pub fn study() -> Result<Study> {
    let (mut paper, programs, routed) = (paper()?, programs()?, routed()?);
    let gains = gains(&paper, &programs)?;
    let mix_columns = taken_over(run(&programs, "reference", 1, 1)?, run(&programs, "molen", 1, 1)?)[0];
    let mut table2 = Vec::new();
    let mut units = std::mem::take(&mut paper.table2).into_iter();
    for (unit, name) in [
        ("MixColumns", "mix-columns"),
        ("InvMixColumns", "inverse-mix-columns"),
        ("both, shared", "both-mix-columns"),
    ] {
        let design = routed.design(name)?;
        let ns = 1e3 / design.median.fmax_mhz;
        table2.push(Placed { unit, paper: units.next(), ns, lut4: design.area.lut4 });
    }
    let design = routed.design("machine")?;
    let machine = Machine {
        device: design.device.clone(),
        lut_sites: design.area.lut_sites(),
        ff: design.area.ff,
        ebr: design.area.ebr,
        mult18: design.area.mult18,
        fmax_mhz: design.routes.iter().map(|r| r.fmax_mhz).collect(),
        median_mhz: design.median.fmax_mhz,
    };
    let goal = |what, figure: f64, limit: f64| Goal { what, figure, limit, met: figure >= limit };
    let least = gains.iter().filter(|g| g.paper.is_some()).map(|g| g.reached).fold(f64::INFINITY, f64::min);
    let goals = vec![
        goal("of what Amdahl's law allows, at the paper's units, the least, %", 100.0 * least, 95.0),
        goal("the machine on a 25F, MHz", machine.median_mhz, 50.0),
    ];
    Ok(Study { routed: routed.about(), gains, mix_columns, table2, machine, goals, paper, programs })
}

pub fn print(study: &Study) {
    say!("## Table I: AES-128 in ECB, a text of 4 KB\n");
    say!(
        "| | unit | clocks of the unit | \"kb/s\", paper | with the unit | gain %, paper | clocks, ours | with the unit | saved % | allowed % | reached of it % | × |"
    );
    say!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for g in &study.gains {
        let of = |at: usize, digits: usize, by: f64| {
            g.paper
                .map_or("–".into(), |p| p.get(at).map_or(String::new(), |v| format!("{:.digits$}", v * by)))
        };
        say!(
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

    say!("## Forms of the program\n");
    say!(
        "| form | text | clocks, encryption | decryption | kb/s at the machine's clock | | residence table, hits | misses |"
    );
    say!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for r in study.programs.runs.iter().filter(|r| r.run_clocks == 1) {
        let kbps = r.clocks().map(|clocks| TEXT_BITS * study.machine.median_mhz * 1e3 / clocks as f64);
        say!(
            "| {} | {} | {} | {} | {:.0} | {:.0} | {} | {} |",
            r.form,
            r.seed,
            r.encrypt,
            r.decrypt,
            kbps[0],
            kbps[1],
            r.hits,
            r.misses
        );
    }
    say!("\nTwo texts: where their clocks differ, they depend on the data.\n");

    say!("## Table II: the units\n");
    say!("| | Altera ns | Xilinx ns | ECP5 ns, ours | Altera % | Xilinx % | LUT4, ours |");
    say!("|---|--:|--:|--:|--:|--:|--:|");
    for p in &study.table2 {
        let of = |value: Option<f64>| value.map_or("–".into(), |v| format!("{v:.2}"));
        let paper = p.paper.as_ref();
        say!(
            "| {} | {} | {} | {:.2} | {} | {} | {} |",
            p.unit,
            of(paper.map(|u| u.altera_ns)),
            of(paper.map(|u| u.xilinx_ns)),
            p.ns,
            of(paper.map(|u| u.altera_percent)),
            of(paper.map(|u| u.xilinx_percent)),
            p.lut4
        );
    }
    let m = &study.machine;
    let seeds: Vec<String> = m.fmax_mhz.iter().map(|mhz| format!("{mhz:.1}")).collect();
    say!("\n## The machine\n");
    say!("| part | LUT4 | FF | EBR | MULT18 | MHz by seed | median |");
    say!("|---|--:|--:|--:|--:|---|--:|");
    say!(
        "| {} | {} | {} | {} | {} | {} | {:.1} |",
        m.device,
        m.lut_sites,
        m.ff,
        m.ebr,
        m.mult18,
        seeds.join(", "),
        m.median_mhz
    );
    say!("\nOurs: {}. Delays are whole clocks between registers.\n", study.routed);
    say!("## Goals\n");
    say!("| goal | at least | figure | met |");
    say!("|---|--:|--:|---|");
    for g in &study.goals {
        say!("| {} | {} | {:.1} | {} |", g.what, g.limit, g.figure, if g.met { "yes" } else { "**no**" });
    }
}

fn ratio(table: &Table1, direction: usize) -> String {
    let of = |list: &[f64; 2]| list.get(direction).copied().unwrap_or(f64::NAN);
    format!("{:.2}", of(&table.software) / of(&table.xilinx))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_gains_are_those_of_times() {
        let table = paper().unwrap().table1;
        for d in 0..2 {
            for after in [table.xilinx[d], table.altera[d]] {
                let gain = 100.0 * (1.0 - after / table.software[d]);
                assert!((gain - table.gain[d]).abs() < 0.5, "{gain}");
            }
        }
    }

    #[test]
    fn the_unit_saves_what_its_share_allows() {
        let study = study().unwrap();
        assert_eq!(study.gains.len(), 6);
        // 256 blocks of nine rounds, each longer by what the unit takes longer.
        let executions = 256 * 9;
        for pair in study.gains.chunks(3) {
            for g in pair {
                assert_eq!(g.accelerated - pair[2].accelerated, executions * (g.run_clocks - 1));
                assert!(g.reached > 0.5 && g.reached < 1.0 && g.saved < g.allowed);
            }
        }
        // The profile agrees: products and both transformations are what the unit took over.
        let software = run(&study.programs, "reference", 1, 1).unwrap();
        let taken: u64 = taken_over(software, run(&study.programs, "molen", 1, 1).unwrap()).iter().sum();
        let profile: u64 =
            ["product", "mix_columns", "inverse_mix_columns"].map(|f| software.of(f)).iter().sum();
        assert!((taken as f64 / profile as f64 - 1.0).abs() < 0.02, "{taken} {profile}");
    }

    #[test]
    fn only_the_reference_depends_on_the_text() {
        let programs = programs().unwrap();
        for (form, depends) in [("reference", true), ("tables", false), ("molen", false)] {
            let clocks = [1, 2].map(|seed| run(&programs, form, 1, seed).unwrap().clocks());
            assert_eq!(clocks[0] != clocks[1], depends, "{form}");
        }
    }

    #[test]
    fn the_inverse_is_larger_and_slower_and_both_are_less_than_two() {
        let table = study().unwrap().table2;
        assert!(table[1].ns > table[0].ns && table[1].lut4 > table[0].lut4);
        assert!(table[2].lut4 < table[0].lut4 + table[1].lut4);
    }
}
