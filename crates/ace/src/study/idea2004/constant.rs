// SPDX-License-Identifier: Apache-2.0
//! The key in the contents of LUTs, as far as `python -m ace_flow.constant_key` has it: synthesised, not placed.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::Substages;
use crate::page::say;

/// studies/idea-2004/constant.json.
#[derive(Deserialize, Serialize)]
pub struct Constant {
    written_by: String,
    area: Area,
    /// Under which the netlist was looked at; of which the contents were compared with the RTL's; blocks of each.
    keys: u64,
    elaborated: u64,
    blocks: u64,
    /// Clocks from a block to its result.
    latency: u64,
}

#[derive(Deserialize, Serialize)]
struct Area {
    lut4: u64,
    ccu2c: u64,
    ff: u64,
    mult18: u64,
    /// LUTs of the key, which lut4 counts too.
    kept: u64,
}

pub fn read() -> Result<Constant> {
    serde_json::from_str(include_str!("../../../../../studies/idea-2004/constant.json"))
        .context("studies/idea-2004/constant.json: write it anew with python -m ace_flow.constant_key")
}

impl Constant {
    fn lut_sites(&self) -> u64 {
        self.area.lut4 + 2 * self.area.ccu2c
    }
}

pub fn print(constant: &Constant, general: &Substages) {
    let a = &constant.area;
    say!("\n## A key in the contents of LUTs, synthesised\n");
    say!("| | LUT4 | of them the key's | FF | MULT18 | clocks a block | until its result |");
    say!("|---|--:|--:|--:|--:|--:|--:|");
    say!(
        "| constant key | {} | {} | {} | {} | 1 | {} |",
        constant.lut_sites(),
        a.kept,
        a.ff,
        a.mult18,
        constant.latency
    );
    say!(
        "| any key, stages | {} | – | {} | {} | 1 | {} |",
        general.lut_sites,
        general.ff,
        general.mult18,
        general.stages
    );
    say!(
        "\nOne netlist for all keys: given what the key's LUTs hold, worked out from the key, it enciphers {} blocks as IDEA does under each of {} \
         keys, 0 and all ones among them; for {} of them the contents are also those that the RTL is elaborated to. It is not placed \
         and routed: there is no clock, and no delta of its bits.",
        constant.blocks,
        constant.keys,
        constant.elaborated
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_a_table_for_each_multiplication_and_sum() {
        let constant = read().unwrap();
        assert_eq!(constant.area.kept, 34 * (4 * 17 + 16) + 18 * 16);
        assert_eq!(constant.area.mult18, 0);
        assert!(constant.area.lut4 > constant.area.kept && constant.keys >= 16 && constant.elaborated >= 3);
    }
}
