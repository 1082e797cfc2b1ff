// SPDX-License-Identifier: Apache-2.0
//! The 2003 paper: AES on a core with a reconfigurable unit, from programs that ran on the machine's RTL.

mod beyond;
mod opening;
mod rijndael;
mod table1;
mod units;

use std::collections::BTreeMap;

use ace_library::Library;

use crate::error::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::marks::Opening;
use crate::routed::Routed;
use ace_report::{Page, say};
use beyond::{Change, Keys, Loaded, Mix, Sha1, changes};
use table1::{Gain, gains, taken_over};
use units::{Families, Placed, Unit};

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

/// studies/molen-2003/programs.json.
#[derive(Deserialize, Serialize)]
struct Programs {
    written_by: String,
    compiler: String,
    flags: String,
    verilator: String,
    runs: Vec<Run>,
    mix: Vec<Mix>,
    /// With sets that the loader carries out.
    loaded: Option<Loaded>,
    keys: Vec<Keys>,
    sha1: Sha1,
    rijndael: Vec<rijndael::Block>,
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
    /// Encryption and decryption on the model of the paper's processor, clocks.
    outorder: Vec<u64>,
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
    figure: Option<f64>,
    limit: f64,
    met: bool,
}

/// Why there are no sets to load: there is no library, or it does not hold them.
#[derive(Clone, Debug, Serialize, thiserror::Error)]
#[error("{0}")]
pub struct NoSets(pub String);

/// The paper's tables and what it leaves to its future.
#[derive(Serialize)]
pub struct Study {
    opening: Opening,
    paper: Paper,
    programs: Programs,
    routed: String,
    gains: Vec<Gain>,
    predicted: Vec<Gain>,
    /// Clocks of the encryption that MixColumns takes in the reference form.
    mix_columns: u64,
    table2: Vec<Placed>,
    families: Families,
    /// If it has been placed and routed.
    machine: Option<Machine>,
    /// To another size of the key; or why there is none.
    changes: Result<Vec<Change>, NoSets>,
    goals: Vec<Goal>,
}

fn paper() -> Result<Paper> {
    toml::from_str(include_str!("paper.toml")).context("studies/molen-2003/paper.toml")
}

fn programs() -> Result<Programs> {
    serde_json::from_str(include_str!("programs.json"))
        .context("studies/molen-2003/programs.json: write it anew with python -m ace_flow molen")
}

fn routed() -> Result<Routed> {
    Routed::read(include_str!("results.json"), "studies/molen-2003/results.json")
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

/// The paper's tables, from programs that ran on the machine's RTL. `library`: what sets are loaded from, or why there is none.
///
/// # Errors
/// A file of studies/molen-2003 is not what it should be: a fault of this repository.
pub fn study(library: Result<&Library, NoSets>) -> Result<Study> {
    let (paper, programs, routed) = (paper()?, programs()?, routed()?);
    let gains = gains(&paper, &programs)?;
    let predicted = rijndael::predicted(&paper, &programs)?;
    let mix_columns = taken_over(run(&programs, "reference", 1, 1)?, run(&programs, "molen", 1, 1)?)[0];
    let table2 = units::placed(&paper.table2, &routed)?;
    let machine = routed.design("machine").ok().map(|design| Machine {
        device: design.device.clone(),
        lut_sites: design.area.lut_sites(),
        ff: design.area.ff,
        ebr: design.area.ebr,
        mult18: design.area.mult18,
        fmax_mhz: design.routes.iter().map(|r| r.fmax_mhz).collect(),
        median_mhz: design.median.fmax_mhz,
    });
    let mhz = machine.as_ref().map(|machine| machine.median_mhz);
    let goal =
        |what, figure: f64, limit: f64| Goal { what, figure: Some(figure), limit, met: figure >= limit };
    let least = gains.iter().filter(|g| g.paper.is_some()).map(|g| g.reached).fold(f64::INFINITY, f64::min);
    // In both directions, the less of the two.
    let times = |form: &str| -> Result<f64> {
        let (slow, quick) = (run(&programs, form, 1, 1)?.clocks(), run(&programs, "block", 1, 1)?.clocks());
        Ok((0..2).map(|d| slow[d] as f64 / quick[d] as f64).fold(f64::INFINITY, f64::min))
    };
    let hits = programs.mix.iter().map(Mix::hit_rate).fold(f64::INFINITY, f64::min);
    let goals = vec![
        goal("of what Amdahl's law allows, at the paper's units, the least, %", 100.0 * least, 95.0),
        goal("a block in the unit, × over T-tables", times("tables")?, 20.0),
        goal("a block in the unit, × over the reference", times("reference")?, 200.0),
        goal("hits of the residence table over four algorithms, %", 100.0 * hits, 95.0),
        Goal {
            what: "the machine on a 25F, AES in its unit, MHz",
            figure: mhz,
            limit: 50.0,
            met: mhz.is_some_and(|mhz| mhz >= 50.0),
        },
    ];
    let changes =
        library.and_then(|library| changes(library, mhz).map_err(|error| NoSets(error.to_string())));
    let families = units::families()?;
    let mut study = Study {
        opening: Opening::default(),
        routed: routed.about(),
        gains,
        predicted,
        mix_columns,
        table2,
        families,
        machine,
        changes,
        goals,
        paper,
        programs,
    };
    study.opening = opening::opening(&study)?;
    Ok(study)
}

/// Puts the study on a page.
pub fn print(page: &mut Page, study: &Study) {
    let mhz = study.machine.as_ref().map(|machine| machine.median_mhz);
    study.opening.print(page);
    table1::print(page, study);
    rijndael::print_predicted(page, &study.predicted);
    table1::profile(page, &study.programs);
    say!(page, "## Forms of the program\n");
    say!(
        page,
        "| form | text | clocks, encryption (measured: RTL) | decryption (measured: RTL) | kb/s at the machine's clock (measured: RTL) | decryption (measured: RTL) | × over reference | × over T-tables | residence table, hits (measured: RTL) | misses (measured: RTL) |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let times = |r: &Run, form: &str| {
        run(&study.programs, form, 1, r.seed)
            .map_or("–".into(), |slow| format!("{:.1}", slow.encrypt as f64 / r.encrypt as f64))
    };
    for r in study.programs.runs.iter().filter(|r| r.run_clocks == 1) {
        let of = |clocks: u64| if clocks == 0 { "–".into() } else { clocks.to_string() };
        let kbps = r.clocks().map(|clocks| match mhz {
            Some(mhz) if clocks > 0 => format!("{:.0}", TEXT_BITS * mhz * 1e3 / clocks as f64),
            _ => "–".into(),
        });
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            r.form,
            r.seed,
            of(r.encrypt),
            of(r.decrypt),
            kbps[0],
            kbps[1],
            times(r, "reference"),
            times(r, "tables"),
            r.hits,
            r.misses
        );
    }
    say!(
        page,
        "\nreference, tables: software. molen: the reference with MixColumns in the unit; block: AES in the unit, an execution a block; \
         text: the text in one execution; cbc: the same in CBC, in which nothing is deciphered; round: a round in the unit, an execution \
         for each. × of encryption. Two texts: where their clocks differ, they \
         depend on the data.\n"
    );
    beyond::print_sha1(page, &study.programs.sha1, TEXT_BITS, mhz);
    rijndael::print_blocks(page, &study.programs.rijndael);
    beyond::print(page, &study.programs.mix, mhz);
    let loaded = study.programs.loaded.as_ref();
    beyond::print_loaded(page, loaded);
    beyond::print_changes(page, &study.programs.keys, &study.changes, loaded, mhz);
    say!(page);

    units::print(page, &study.table2, &study.families);
    say!(page, "\n## The machine\n");
    if let Some(m) = &study.machine {
        let seeds: Vec<String> = m.fmax_mhz.iter().map(|mhz| format!("{mhz:.1}")).collect();
        say!(
            page,
            "| part | LUT4 (measured: placed) | FF | EBR | MULT18 | MHz by seed (measured: placed) | median (measured: placed) |"
        );
        say!(page, "|---|--:|--:|--:|--:|---|--:|");
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {:.1} |",
            m.device,
            m.lut_sites,
            m.ff,
            m.ebr,
            m.mult18,
            seeds.join(", "),
            m.median_mhz
        );
    } else {
        say!(page, "It is not placed and routed, so nothing here is in time.");
    }
    say!(page, "\nOurs: {}.\n", study.routed);
    say!(page, "## Goals\n");
    say!(page, "| goal | at least | figure | met |");
    say!(page, "|---|--:|--:|---|");
    for g in &study.goals {
        let figure = g.figure.map_or("none".into(), |figure| format!("{figure:.1}"));
        say!(page, "| {} | {} | {figure} | {} |", g.what, g.limit, if g.met { "yes" } else { "**no**" });
    }
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
        let study = study(Err(NoSets("none".into()))).unwrap();
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
        for (form, depends) in [
            ("reference", true),
            ("tables", false),
            ("molen", false),
            ("round", false),
            ("block", false),
            ("text", false),
        ] {
            let clocks = [1, 2].map(|seed| run(&programs, form, 1, seed).unwrap().clocks());
            assert_eq!(clocks[0] != clocks[1], depends, "{form}");
        }
    }

    #[test]
    fn the_inverse_is_larger_and_slower_and_both_are_less_than_two() {
        let table = study(Err(NoSets("none".into()))).unwrap().table2;
        assert!(table[1].ns > table[0].ns && table[1].lut4 > table[0].lut4);
        assert!(table[2].lut4 < table[0].lut4 + table[1].lut4);
    }
}
