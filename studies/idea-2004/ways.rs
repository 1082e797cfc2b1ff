// SPDX-License-Identifier: Apache-2.0
//! The three ways in as RTL around the three paths, simulated: `python -m ace_flow idea-ways`.

use std::collections::BTreeMap;

use crate::error::{Context, Result};
use crate::measured::File;
use ace_report::{Page, Table, or_dash, say};
use serde::{Deserialize, Serialize};

use super::built::{Built, name};
use super::interface::{PATHS, Path};
use crate::marks::{By, Mark, heads, range};
use crate::routed::{Area, Routed};

const FILE: &str = "studies/idea-2004/ways.json";

/// The paper's text through one way in, path and mode.
#[derive(Clone, Deserialize, Serialize)]
pub struct WayResult {
    path: Path,
    way: String,
    mode: String,
    copies: u64,
    /// Of an access.
    access_clocks: u64,
    blocks: u64,
    clocks: u64,
    /// Read and written.
    accesses: [u64; 2],
}

impl WayResult {
    /// Whether it is this path by itself.
    pub fn is(&self, path: Path, way: &str, mode: &str) -> bool {
        self.path == path && self.way == way && self.mode == mode && self.copies == 1
    }

    /// From one block to the next.
    pub fn clocks_a_block(&self) -> f64 {
        self.clocks as f64 / self.blocks as f64
    }
}

#[derive(Deserialize)]
struct Rows {
    rows: Vec<WayResult>,
}

/// What is recorded.
pub fn read() -> Result<Vec<WayResult>> {
    let file: File<Rows> = serde_json::from_str(include_str!("ways.json"))
        .with_context(|| format!("{FILE}: write it anew with python -m ace_flow measure {FILE}"))?;
    Ok(file.values.rows)
}

/// A path behind a way in, or copies of it, placed and routed.
#[derive(Serialize)]
pub struct Placed {
    path: Path,
    way: &'static str,
    copies: u64,
    area: Area,
    fmax_mhz: Vec<f64>,
    median_mhz: f64,
}

/// Each path behind each way in, and two copies of S and SR behind the memory.
///
/// # Errors
/// One of them was not placed.
pub fn placed(routed: &Routed) -> Result<Vec<Placed>> {
    let mut all = Vec::new();
    for path in PATHS {
        let ways = [("memory", 1), ("port", 1), ("array", 1), ("memory", 2)];
        // Two copies of P, a quarter of a part, were not placed.
        for (way, copies) in ways.into_iter().filter(|(_, copies)| *copies == 1 || path != Path::P) {
            let design = routed.design(&format!("{}-{way}-{copies}", name(path)))?;
            let fmax_mhz = design.routes.iter().map(|route| route.fmax_mhz).collect();
            let (area, median_mhz) = (design.area, design.median.fmax_mhz);
            all.push(Placed { path, way, copies, area, fmax_mhz, median_mhz });
        }
    }
    Ok(all)
}

/// The clock of two copies over that of one, of each path.
pub fn copies_clock(placed: &[Placed]) -> Vec<f64> {
    let mhz = |path, copies| {
        placed
            .iter()
            .find(|p| p.path == path && p.way == "memory" && p.copies == copies)
            .map(|p| p.median_mhz)
    };
    PATHS.into_iter().filter_map(|path| Some(mhz(path, 2)? / mhz(path, 1)?)).collect()
}

/// Puts what was placed on a page.
pub fn print_placed(page: &mut Page, placed: &[Placed]) {
    let mark = Mark::Measured(By::Placed);
    say!(page, "## The three ways in, placed and routed\n");
    let columns = ["copies", "LUT4", "FF", "EBR", "MULT18", "MHz by seed", "median"].map(|head| (head, mark));
    say!(page, "{}", heads(&["path", "way in"], &columns));
    for p in placed {
        let seeds: Vec<String> = p.fmax_mhz.iter().map(|mhz| format!("{mhz:.1}")).collect();
        say!(
            page,
            "| {:?} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            p.path,
            p.way,
            p.copies,
            p.area.lut_sites(),
            p.area.ff,
            p.area.ebr,
            p.area.mult18,
            seeds.join(", "),
            p.median_mhz
        );
    }
    say!(
        page,
        "\nECB, with MULT18X18D. Two copies of S and SR behind one way in have {} of the clock of one.\n",
        range(copies_clock(placed), 2)
    );
}

/// Puts them on a page.
pub fn print(page: &mut Page, rows: &[WayResult], built: &[Built], paper_mhz: f64) {
    say!(page, "## The three ways in, simulated\n");
    let clock: BTreeMap<String, f64> =
        built.iter().filter(|b| b.mult18 > 0).map(|b| (format!("{:?}", b.path), b.median_mhz)).collect();
    let accesses = |r: &WayResult| r.accesses.iter().sum::<u64>() as f64 / r.blocks as f64;
    let at = |r: &WayResult, mhz: f64| 64.0 * mhz / r.clocks_a_block();
    let own = |r: &WayResult| clock.get(&format!("{:?}", r.path)).map(|mhz| at(r, *mhz));
    let table = Table::of(rows).left("path", |r| format!("{:?}", r.path)).left("way in", |r| &r.way);
    let table = table.left("mode", |r| &r.mode).right("copies", |r| r.copies);
    let table = table.right("accesses a block (measured: RTL)", |r| format!("{:.0}", accesses(r)));
    let table = table.right("clocks a block (measured: RTL)", |r| format!("{:.2}", r.clocks_a_block()));
    let table = table
        .right(format!("Mb/s at {paper_mhz:.0} MHz (measured: RTL)"), |r| format!("{:.2}", at(r, paper_mhz)));
    page.table(&table.right("at the path's clock (measured: RTL)", |r| or_dash(own(r), 1)));
    let accesses = rows.first().map_or(1, |r| r.access_clocks);
    say!(
        page,
        "\nThe paper's text of {} blocks; every block is compared with IDEA as its definition has it. An access takes {accesses} clock: \
         what the paper's board takes for one is not known, and is fitted above. Through memory and ports accesses overlap with the \
         path's work, through the array they do not.\n",
        rows.first().map_or(0, |r| r.blocks)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_as_the_paper_counts_them() {
        let rows = read().unwrap();
        for r in &rows {
            let each = r.accesses.iter().sum::<u64>() / r.blocks;
            assert_eq!(each, if r.way == "port" { 16 } else { 4 }, "{:?} {}", r.path, r.way);
        }
        // Feedback costs the pipelined path what it gains.
        let of = |path: Path, mode: &str| {
            rows.iter()
                .find(|r| r.path == path && r.way == "memory" && r.mode == mode && r.copies == 1)
                .unwrap()
        };
        assert!(of(Path::P, "ecb").clocks * 4 < of(Path::SR, "ecb").clocks);
        assert!(of(Path::P, "cbc").clocks > of(Path::SR, "cbc").clocks);
        assert_eq!(of(Path::S, "ofb").clocks, of(Path::S, "cfb").clocks);
    }
}
