// SPDX-License-Identifier: Apache-2.0
//! The 2004 paper: IDEA by three data paths and three ways in, its equations, and part of its future work.

mod built;
mod constant;
mod equations;
mod future;
mod interface;
mod opening;
pub mod rekey;
pub(crate) mod software;
mod ways;

use crate::error::{Context, Result};
use ace_ecp5::device::LFE5U_45F;
use serde::{Deserialize, Serialize};

use crate::marks::Opening;
use crate::measured::Software;
use crate::routed::Routed;
use ace_report::{Page, say};
use built::{Built, STEP, Substages, built};
use constant::Constant;
use equations::{Equation, equations};
use future::{Copies, Feedback, Ways};
use interface::{Clocks, PATHS, Path, fit, fitted_us};
use software::Speed;

/// Stages: rtl/idea_substages.sv.
const STAGES: u64 = 8 * 13 + 4;
/// A block a clock where the multipliers allow it: 5 Gb/s.
const GOAL_MBPS: f64 = 5000.0;

#[derive(Deserialize, Serialize)]
struct Paper {
    software_mbps: f64,
    slices: u64,
    clock_mhz: f64,
    characters: u64,
    ratio: f64,
    interface: Interface,
    cell: Vec<Cell>,
    rival: Vec<Rival>,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
struct Interface {
    memory_accesses: u64,
    port_accesses: u64,
    array_characters: [u64; 3],
}

#[derive(Deserialize, Serialize)]
struct Cell {
    path: Path,
    interface: String,
    slices: u64,
    mhz: f64,
    mbps: f64,
}

#[derive(Deserialize, Serialize)]
struct Rival {
    name: String,
    mbps: f64,
}

/// A cell of Table 2 beside what the model makes of it, and of ours.
#[derive(Serialize)]
struct PathComparison {
    paper: Cell,
    model_mbps: f64,
    /// LUT4 of our data path alone, without a way in: with MULT18X18D, and with multipliers in LUTs.
    lut_sites: u64,
    lut_sites_alone: u64,
    /// It in the same place, at the paper's clock and at its own.
    at_20_mhz: f64,
    at_ours: f64,
}

/// The paper's tables and equations, and what its future work gives.
#[derive(Serialize)]
pub struct Study {
    opening: Opening,
    /// Where software's figures are from.
    about: String,
    routed: String,
    software: Vec<Speed>,
    /// The CPU engine's, in CBC and in ECB.
    engine: [f64; 2],
    paper_software: f64,
    /// Of the paper's part.
    slices: u64,
    clocks: Clocks,
    errors: [f64; 3],
    within: usize,
    memory_us: f64,
    port_us: f64,
    table2: Vec<PathComparison>,
    /// The ways in as RTL.
    simulated: Vec<ways::WayResult>,
    ways: Vec<ways::Placed>,
    paper_mhz: f64,
    built: Vec<Built>,
    equations: Vec<Equation>,
    /// What feedback costs each path through each way in, and what copies of a path give.
    future: Vec<Feedback>,
    copies: Vec<Copies>,
    substages: Substages,
    constant: Constant,
    rivals: Vec<Rival>,
    ratio_paper: f64,
    /// Over the fastest software here: P through the array, and stages.
    ratio_p: f64,
    ratio_substages: f64,
}

fn paper() -> Result<Paper> {
    toml::from_str(include_str!("paper.toml")).context("studies/idea-2004/paper.toml")
}

fn routed() -> Result<Routed> {
    Routed::read(include_str!("results.json"), "studies/idea-2004/results.json")
}

/// The paper's board as a model, and what was placed and routed, beside this software.
///
/// # Errors
/// A file of studies/idea-2004 is not what it should be: a fault of this repository.
pub fn study(measured: &Software) -> Result<Study> {
    let paper = paper()?;
    let routed = routed()?;
    let software = measured.values.idea.clone();
    let engine = measured.cipher("idea")?;

    let Interface { memory_accesses, port_accesses, array_characters, .. } = paper.interface;
    let published = |interface: &str| -> Result<[f64; 3]> {
        let of =
            |path| paper.cell.iter().find(|c| c.path == path && c.interface == interface).map(|c| c.mbps);
        let all: Option<Vec<f64>> = PATHS.into_iter().map(of).collect();
        all.and_then(|a| a.try_into().ok())
            .with_context(|| format!("studies/idea-2004/paper.toml: three cells of `{interface}` are wanted"))
    };
    let array = |path: Path, clocks: Clocks, mhz: f64| {
        path.array_mbps(clocks, memory_accesses, array_characters[path as usize], paper.characters, mhz)
    };
    let (clocks, errors, within) =
        fit(published("array")?, |path, clocks| array(path, clocks, paper.clock_mhz));
    let memory_us = fitted_us(published("memory")?[0], memory_accesses);
    let port_us = fitted_us(published("port")?[0], port_accesses);
    let mbps = |interface: &str, path: Path, clocks: Clocks, mhz: f64| match interface {
        "memory" => path.link_mbps(clocks, memory_accesses, memory_us, paper.characters, mhz),
        "port" => path.link_mbps(clocks, port_accesses, port_us, paper.characters, mhz),
        _ => array(path, clocks, mhz),
    };
    let built = built(&routed)?;
    // A clock for each operation, and for each access as there.
    let ours = Clocks { access: clocks.access, ..STEP };
    let mut table2 = Vec::new();
    for cell in paper.cell {
        let own = built.iter().find(|b| b.path == cell.path && b.multipliers == "mult18");
        let own = own.context("studies/idea-2004/results.json: a path with MULT18X18D is missing")?;
        let alone = built.iter().find(|b| b.path == cell.path && b.multipliers == "lut");
        let alone =
            alone.context("studies/idea-2004/results.json: a path with multipliers in LUTs is missing")?;
        let mhz = own.median_mhz;
        table2.push(PathComparison {
            lut_sites: own.lut_sites,
            lut_sites_alone: alone.lut_sites,
            model_mbps: mbps(&cell.interface, cell.path, clocks, paper.clock_mhz),
            at_20_mhz: mbps(&cell.interface, cell.path, ours, paper.clock_mhz),
            at_ours: mbps(&cell.interface, cell.path, ours, mhz),
            paper: cell,
        });
    }
    let ways = Ways {
        accesses: [paper.interface.memory_accesses, paper.interface.port_accesses],
        access_us: [memory_us, port_us],
        array_characters,
        array_access: clocks.access,
        characters: paper.characters,
    };
    let (future, copies) = (future::feedback(&built, &ways), future::copies(&built, &ways));
    let stages = routed.design("substages-mult18")?;
    let substages = Substages {
        lut_sites: stages.area.lut_sites(),
        ff: stages.area.ff,
        mult18: stages.area.mult18,
        device: stages.device.clone(),
        fmax_mhz: stages.routes.iter().map(|r| r.fmax_mhz).collect(),
        median_mhz: stages.median.fmax_mhz,
        stages: STAGES,
        mbps: 64.0 * stages.median.fmax_mhz,
    };
    let fastest = software.iter().map(|s| s.mbps).fold(engine.parallel_mbps, f64::max);
    let p = table2.iter().filter(|r| r.paper.path == Path::P).map(|r| r.at_ours).fold(0.0, f64::max);
    let mut study = Study {
        opening: Opening::default(),
        routed: routed.about(),
        about: measured.about(),
        software,
        engine: [engine.feedback_mbps, engine.parallel_mbps],
        paper_software: paper.software_mbps,
        slices: paper.slices,
        clocks,
        errors,
        within,
        memory_us,
        port_us,
        table2,
        simulated: ways::read()?,
        ways: ways::placed(&routed)?,
        paper_mhz: paper.clock_mhz,
        equations: equations(&routed)?,
        built,
        future,
        copies,
        ratio_p: p / fastest,
        ratio_substages: substages.mbps / fastest,
        substages,
        constant: constant::read()?,
        rivals: paper.rival,
        ratio_paper: paper.ratio,
    };
    study.opening = opening::opening(&study);
    Ok(study)
}

/// Puts the study on a page.
pub fn print(page: &mut Page, study: &Study) {
    study.opening.print(page);
    say!(page, "## Table 1: software\n");
    say!(page, "| | Mb/s |");
    say!(page, "|---|--:|");
    say!(page, "| Pentium IV 1.7 GHz (paper) | {:.3} |", study.paper_software);
    for s in &study.software {
        say!(page, "| here, {} (measured: wall clock) | {:.0} |", s.name, s.mbps);
    }
    say!(
        page,
        "| here, the CPU engine, CBC (ECB) (measured: wall clock) | {:.0} ({:.0}) |",
        study.engine[0],
        study.engine[1]
    );
    say!(page, "\nHere: {}, one core.\n", study.about);

    let c = study.clocks;
    say!(page, "## Table 2: three paths, three ways in\n");
    say!(
        page,
        "| | slices (paper) | of the part % (paper) | MHz (paper) | period ns (paper) | Mb/s (paper) | model (fitted) | error % | LUT4, our path, multipliers in LUTs (measured: placed) | of the part % (measured: placed) | with MULT18 (measured: placed) | Mb/s of our path at 20 MHz (predicted) | at its clock (predicted) |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for r in &study.table2 {
        let p = &r.paper;
        say!(
            page,
            "| {:?}, {} | {} | {:.0} | {:.3} | {:.3} | {:.3} | {:.3} | {:+.1} | {} | {:.1} | {} | {:.3} | {:.3} |",
            p.path,
            p.interface,
            p.slices,
            100.0 * p.slices as f64 / study.slices as f64,
            p.mhz,
            1e3 / p.mhz,
            p.mbps,
            r.model_mbps,
            100.0 * (r.model_mbps / p.mbps - 1.0),
            r.lut_sites_alone,
            100.0 * r.lut_sites_alone as f64 / LFE5U_45F.lut4 as f64,
            r.lut_sites,
            r.at_20_mhz,
            r.at_ours
        );
    }
    say!(
        page,
        "\nModelled time. Four whole clocks are fitted to the three cells of the array: multiplication {}, addition {}, exclusive-or {}, \
         access {} (of {} sets within 10 % the nearest). One access to the memory ({:.2} µs) and one to the ports ({:.2} µs) are fitted \
         to one cell each. So six figures are fitted for five values that differ, and the column is no test of the equations. What \
         could have come out otherwise is that the three algorithms are equal through memory and through ports: it holds only if link \
         and path overlap. Our paths: a clock for every operation, the same accesses. Slices of two LUTs and LUT4 are not the same \
         thing; the part is the paper's XCV2000E or an LFE5U-45F.\n",
        c.mt,
        c.at,
        c.xt,
        c.access,
        study.within,
        study.memory_us,
        study.port_us
    );

    ways::print(page, &study.simulated, &study.built, study.paper_mhz);
    ways::print_placed(page, &study.ways);
    say!(page, "## The data paths, placed and routed\n");
    say!(
        page,
        "| path | multipliers | LUT4 (measured: placed) | FF (measured: placed) | MULT18 (measured: placed) | MHz by seed (measured: placed) | median (measured: placed) | clocks a block (measured: RTL) | Mb/s, ECB (measured: RTL) | clocks with feedback (measured: RTL) | Mb/s, CBC, CFB, OFB (measured: RTL) |"
    );
    say!(page, "|---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|");
    let seeds = |all: &[f64]| all.iter().map(|mhz| format!("{mhz:.1}")).collect::<Vec<_>>().join(", ");
    for b in &study.built {
        say!(
            page,
            "| {:?} | {} | {} | {} | {} | {} | {:.1} | {} | {:.1} | {} | {:.1} |",
            b.path,
            b.multipliers,
            b.lut_sites,
            b.ff,
            b.mult18,
            seeds(&b.fmax_mhz),
            b.median_mhz,
            b.clocks,
            b.mbps,
            b.feedback_clocks,
            b.feedback_mbps
        );
    }
    let s = &study.substages;
    say!(
        page,
        "| stages, {} | mult18 | {} | {} | {} | {} | {:.1} | 1 | {:.0} | {} | {:.1} |",
        s.device,
        s.lut_sites,
        s.ff,
        s.mult18,
        seeds(&s.fmax_mhz),
        s.median_mhz,
        s.mbps,
        s.stages,
        64.0 * s.median_mhz / s.stages as f64
    );
    say!(
        page,
        "\nOurs: {}. LUT4 count places of LUTs, carry cells and distributed memory included; the paths alone, without modes or a way in. \
         With feedback one text alone: {} texts at a time fill the stages again.\n",
        study.routed,
        s.stages
    );

    constant::print(page, &study.constant, &study.substages);
    say!(page);
    equations::print(page, &study.equations);
    future::print(page, &study.future, &study.copies);
    let met = if study.substages.mbps >= GOAL_MBPS { "yes" } else { "**no**" };
    say!(page, "\n## Goal\n");
    say!(page, "| goal | limit | figure | met |");
    say!(page, "|---|--:|--:|---|");
    say!(page, "| stages, ECB or CTR, Mb/s, at least | {GOAL_MBPS} | {:.0} | {met} |", study.substages.mbps);

    say!(page, "\n## Others, and the ratio to software\n");
    say!(page, "| | Mb/s (paper) |");
    say!(page, "|---|--:|");
    for r in &study.rivals {
        say!(page, "| {} | {:.3} |", r.name, r.mbps);
    }
    say!(page, "\n| ratio to software | |");
    say!(page, "|---|--:|");
    say!(page, "| P through the array (paper) | {:.3} |", study.ratio_paper);
    say!(
        page,
        "| ours, P through the array, its clock, to the fastest software here (predicted) | {:.3} |",
        study.ratio_p
    );
    say!(page, "| ours, stages, ECB (measured: RTL) | {:.3} |", study.ratio_substages);
}

#[cfg(test)]
mod tests {
    use super::built::{MULTIPLIERS, clocks};
    use super::*;

    #[test]
    fn the_model_gives_the_papers_cells_within_a_tenth() {
        let study = study(&Software::recorded().unwrap()).unwrap();
        assert_eq!(study.table2.len(), 9);
        for row in &study.table2 {
            let error = row.model_mbps / row.paper.mbps - 1.0;
            assert!(error.abs() <= 0.1, "{:?} {}: {error}", row.paper.path, row.paper.interface);
        }
        assert!(study.within > 0);
        // A headline that its own tables give.
        let p = study.table2.iter().map(|r| r.paper.mbps).fold(0.0, f64::max);
        assert!((p / study.paper_software / study.ratio_paper - 1.0).abs() < 0.001);
    }

    #[test]
    fn what_was_placed_has_the_papers_shape() {
        let study = study(&Software::recorded().unwrap()).unwrap();
        for multipliers in MULTIPLIERS {
            let of: Vec<&Built> = study.built.iter().filter(|b| b.multipliers == multipliers).collect();
            assert_eq!(of.len(), 3);
            assert!(of[0].mbps < of[1].mbps && of[1].mbps < of[2].mbps);
            assert_eq!(of.iter().all(|b| b.mult18 == 0), multipliers == "lut");
            assert!(of[2].feedback_mbps < of[2].mbps / 8.0);
        }
        assert_eq!(clocks(Path::S), (117, 117));
        assert_eq!(clocks(Path::SR), (58, 58));
        assert_eq!(clocks(Path::P), (8, 73));
        assert!(study.substages.mbps > study.built.iter().map(|b| b.mbps).fold(0.0, f64::max));
        assert_eq!(study.equations.len(), 8);
    }
}
