// SPDX-License-Identifier: Apache-2.0
//! Table II: MixColumns, its inverse and both in one, by family.

use crate::error::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::routed::Routed;
use ace_report::{Page, say};

/// A unit of the paper.
#[derive(Clone, Deserialize, Serialize)]
pub struct Unit {
    pub unit: String,
    pub altera_ns: f64,
    pub xilinx_ns: f64,
    pub altera_percent: f64,
    pub xilinx_percent: f64,
}

/// Ours: nanoseconds and LUT4.
#[derive(Serialize)]
pub struct Placed {
    pub unit: &'static str,
    pub paper: Option<Unit>,
    pub ns: f64,
    pub lut4: u64,
}

/// studies/molen-2003/families.json.
#[derive(Deserialize, Serialize)]
pub struct Families {
    pub written_by: String,
    pub units: Vec<Synthesised>,
}

/// A unit on a family on which nothing is placed.
#[derive(Deserialize, Serialize)]
pub struct Synthesised {
    pub family: String,
    pub unit: String,
    pub luts: u64,
    pub logic_ns: f64,
}

pub fn families() -> Result<Families> {
    serde_json::from_str(include_str!("families.json"))
        .context("studies/molen-2003/families.json: write it anew with python -m ace_flow families")
}

pub fn placed(paper: &[Unit], routed: &Routed) -> Result<Vec<Placed>> {
    let mut paper = paper.iter().cloned();
    let mut all = Vec::new();
    for (unit, name) in [
        ("MixColumns", "mix-columns"),
        ("InvMixColumns", "inverse-mix-columns"),
        ("both, shared", "both-mix-columns"),
    ] {
        let design = routed.design(name)?;
        let ns = 1e3 / design.median.fmax_mhz;
        all.push(Placed { unit, paper: paper.next(), ns, lut4: design.area.lut4 });
    }
    Ok(all)
}

pub fn print(page: &mut Page, placed: &[Placed], families: &Families) {
    say!(page, "## Table II: the units\n");
    say!(
        page,
        "| | Altera ns (paper) | Xilinx ns (paper) | ECP5 ns, ours (measured: placed) | Altera % (paper) | Xilinx % (paper) | LUT4, ours (measured: placed) |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|");
    for p in placed {
        let of = |value: Option<f64>| value.map_or("–".into(), |v| format!("{v:.2}"));
        let paper = p.paper.as_ref();
        say!(
            page,
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
    say!(page, "\n| synthesised for | unit | LUTs (measured: placed) | ns of its cells (predicted) |");
    say!(page, "|---|---|--:|--:|");
    for u in &families.units {
        say!(page, "| {} | {} | {} | {:.2} |", u.family, u.unit, u.luts, u.logic_ns);
    }
    say!(
        page,
        "\nECP5: placed and routed, whole clocks between registers. The other families: Yosys's synthesis and its delays of cells, without \
         routing, which is most of a delay: they are to be compared within a family only."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_slower_on_every_family_and_sharing_is_less_than_two() {
        let families = families().unwrap().units;
        assert_eq!(families.len(), 9);
        for of in families.chunks(3) {
            assert!(of.iter().all(|u| u.family == of[0].family));
            assert!(of[1].logic_ns > of[0].logic_ns, "{}", of[0].family);
            assert!(of[2].luts < of[0].luts + of[1].luts, "{}", of[0].family);
        }
    }
}
