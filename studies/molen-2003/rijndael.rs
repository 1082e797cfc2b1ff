// SPDX-License-Identifier: Apache-2.0
//! Rijndael's larger blocks (section II of the paper), and Table I on a timing model of the paper's processor.

use crate::error::{Context, Result};
use ace_report::{Page, say};
use serde::{Deserialize, Serialize};

use super::table1::{Gain, clocks_of};
use super::{DIRECTIONS, Paper, Programs, run};

/// A block of so many bits under a key of 128: clocks of encryption and decryption, in software and with MixColumns and
/// its inverse in the unit.
#[derive(Deserialize, Serialize)]
pub struct Block {
    block_bits: u64,
    software: [u64; 2],
    unit: [u64; 2],
    cipher: String,
}

/// Puts them on a page.
pub fn print_blocks(page: &mut Page, blocks: &[Block]) {
    say!(page, "## Rijndael's blocks\n");
    say!(
        page,
        "| block, bits | encryption, software (measured: RTL) | with the unit (measured: RTL) | saved % | decryption, software (measured: RTL) | with the unit (measured: RTL) | saved % |"
    );
    say!(page, "|--:|--:|--:|--:|--:|--:|--:|");
    for Block { block_bits, software, unit, .. } in blocks {
        let saved = |d: usize| 100.0 * (1.0 - unit[d] as f64 / software[d] as f64);
        say!(
            page,
            "| {block_bits} | {} | {} | {:.1} | {} | {} | {:.1} |",
            software[0],
            unit[0],
            saved(0),
            software[1],
            unit[1],
            saved(1)
        );
    }
    say!(
        page,
        "\nMeasured: clocks of the machine's RTL for one block under a key of 128 bits (`c/rijndael.c`). The unit takes four columns at a \
         time, so a block of 192 bits costs as many executions as one of 256.\n"
    );
}

/// What the paper's processor would gain, as `test/outorder.h` models it.
pub fn predicted(paper: &Paper, programs: &Programs) -> Result<Vec<Gain>> {
    let clocks = |form: &str, unit: u64, d: usize| -> Result<u64> {
        let model = &run(programs, form, unit, 1)?.outorder;
        model.get(d).copied().with_context(|| {
            format!(
                "studies/molen-2003/programs.json: `{form}` was not modelled; run {}",
                programs.written_by
            )
        })
    };
    let mut all = Vec::new();
    for (d, direction) in DIRECTIONS.into_iter().enumerate() {
        let unit =
            paper.table2.get(d).context("studies/molen-2003/paper.toml: two rows of table2 are wanted")?;
        let (table, software) = (&paper.table1, clocks("reference", 1, d)?);
        let allowed = 1.0 - clocks("molen", 1, d)? as f64 / software as f64;
        for (name, ns, after) in [
            ("Xilinx, the paper's ns", unit.xilinx_ns, table.xilinx[d]),
            ("Altera, the paper's ns", unit.altera_ns, table.altera[d]),
        ] {
            let run_clocks = clocks_of(ns, paper.core_ghz);
            let accelerated = clocks("molen", run_clocks, d)?;
            let saved = 1.0 - accelerated as f64 / software as f64;
            let before = table.software[d];
            all.push(Gain {
                direction,
                unit: name,
                run_clocks,
                software,
                accelerated,
                saved,
                allowed,
                reached: saved / allowed,
                paper: Some([before, after, 1.0 - after / before]),
            });
        }
    }
    Ok(all)
}

/// Puts the prediction on a page.
pub fn print_predicted(page: &mut Page, gains: &[Gain]) {
    say!(page, "## Table I on a model of the paper's processor\n");
    say!(
        page,
        "| | unit | clocks of the unit | software (predicted) | with the unit (predicted) | saved % (predicted) | gain % (paper) |"
    );
    say!(page, "|---|---|--:|--:|--:|--:|--:|");
    for g in gains {
        say!(
            page,
            "| {} | {} | {} | {} | {} | {:.1} | {:.0} |",
            g.direction,
            g.unit,
            g.run_clocks,
            g.software,
            g.accelerated,
            100.0 * g.saved,
            100.0 * g.paper.map_or(f64::NAN, |p| p[2])
        );
    }
    let least =
        gains.iter().map(|g| 100.0 * (g.saved - g.paper.map_or(0.0, |p| p[2]))).fold(f64::INFINITY, f64::min);
    let most = gains.iter().map(|g| 100.0 * (g.saved - g.paper.map_or(0.0, |p| p[2]))).fold(0.0, f64::max);
    say!(
        page,
        "\nThe instructions that our core retires, with the times that the paper's processor would give them: out of order, four ALUs, one \
         multiplier, two memory ports (section IV), all else as sim-outorder has it by default; nothing is fitted. The model predicts \
         {least:.0} to {most:.0} points more than the paper has. So the processor does not explain the difference: in the paper's program, \
         which is not published, MixColumns is a smaller part of the work than in this reference.\n"
    );
}

#[cfg(test)]
mod tests {
    use super::super::{paper, programs};
    use super::*;

    #[test]
    fn the_model_is_faster_than_the_core_and_gains_what_the_unit_allows() {
        let programs = programs().unwrap();
        for g in predicted(&paper().unwrap(), &programs).unwrap() {
            assert!(g.saved > 0.5 && g.saved < g.allowed, "{} {}", g.saved, g.allowed);
        }
        // Four ALUs against one: faster, and not more than four times as many instructions a clock.
        for r in programs.runs.iter().filter(|r| r.form == "tables") {
            assert!(r.outorder[0] < r.encrypt && 4 * r.outorder[0] > r.encrypt / 2);
        }
        assert_eq!(programs.rijndael.iter().map(|b| b.block_bits).collect::<Vec<_>>(), [128, 192, 256]);
    }
}
