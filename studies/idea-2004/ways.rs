// SPDX-License-Identifier: Apache-2.0
//! The three ways in as RTL around the three paths, simulated: `python -m ace_flow idea-ways`.

use std::collections::BTreeMap;

use crate::error::{Context, Result};
use crate::measured::File;
use ace_report::{Page, Table, or_dash, say};
use serde::{Deserialize, Serialize};

use super::built::Built;
use super::interface::Path;

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

/// Puts them on a page.
pub fn print(page: &mut Page, rows: &[WayResult], built: &[Built], paper_mhz: f64) {
    say!(page, "## The three ways in, simulated\n");
    let clock: BTreeMap<String, f64> =
        built.iter().filter(|b| b.mult18 > 0).map(|b| (format!("{:?}", b.path), b.median_mhz)).collect();
    let each = |r: &WayResult| r.clocks as f64 / r.blocks as f64;
    let accesses = |r: &WayResult| r.accesses.iter().sum::<u64>() as f64 / r.blocks as f64;
    let at = |r: &WayResult, mhz: f64| 64.0 * mhz / each(r);
    let own = |r: &WayResult| clock.get(&format!("{:?}", r.path)).map(|mhz| at(r, *mhz));
    let table = Table::of(rows).left("path", |r| format!("{:?}", r.path)).left("way in", |r| &r.way);
    let table = table.left("mode", |r| &r.mode).right("copies", |r| r.copies);
    let table = table.right("accesses a block (measured: RTL)", |r| format!("{:.0}", accesses(r)));
    let table = table.right("clocks a block (measured: RTL)", |r| format!("{:.2}", each(r)));
    let table = table.right(format!("Mb/s at {paper_mhz:.0} MHz"), |r| format!("{:.2}", at(r, paper_mhz)));
    page.table(&table.right("at the path's clock", |r| or_dash(own(r), 1)));
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
