// SPDX-License-Identifier: Apache-2.0
//! Equations 1 to 3: the time of a phase, from the timing reports of its parts, beside what was reached.

use crate::error::Result;
use serde::Serialize;

use super::built::{MULTIPLIERS, STEP, name};
use super::interface::{PATHS, Path};
use crate::routed::Routed;
use ace_report::{Page, say};

/// Equations 1 to 3, in nanoseconds.
#[derive(Serialize)]
pub struct Equation {
    pub what: String,
    pub multipliers: &'static str,
    pub mt: f64,
    pub at: f64,
    pub xt: f64,
    pub ct: f64,
    pub predicted: f64,
    pub reached: f64,
}

/// The equations' terms are the logic of one operation by its own timing report, ct is the routing of the design's
/// longest path, once for each clock of a phase.
pub fn equations(routed: &Routed) -> Result<Vec<Equation>> {
    let logic = |name: &str| -> Result<f64> { Ok(routed.design(name)?.median.critical_path.logic_ns) };
    let (at, xt) = (logic("addition")?, logic("exclusive-or")?);
    let mut all = Vec::new();
    for multipliers in MULTIPLIERS {
        let mt = logic(&format!("multiplication-{multipliers}"))?;
        let mut add = |what: String, design: String, operations: [u64; 3], steps: u64| -> Result<()> {
            let median = &routed.design(&design)?.median;
            let ct = steps as f64 * median.critical_path.routing_ns;
            let [m, a, x] = operations.map(|n| n as f64);
            all.push(Equation {
                what,
                multipliers,
                mt,
                at,
                xt,
                ct,
                predicted: m * mt + a * at + x * xt + ct,
                reached: steps as f64 * 1e3 / median.fmax_mhz,
            });
            Ok(())
        };
        for (n, path) in PATHS.into_iter().enumerate() {
            let what = format!("{} ({path:?}), a clock an operation", n + 1);
            add(what, format!("{}-{multipliers}", name(path)), path.operations(), path.phase(STEP))?;
        }
        add("2, the phase in one clock".into(), format!("phase-{multipliers}"), Path::SR.operations(), 1)?;
    }
    Ok(all)
}

pub fn print(page: &mut Page, equations: &[Equation]) {
    say!(page, "## Equations 1 to 3: the time of a phase, ns\n");
    say!(
        page,
        "| equation | multipliers | mt (measured: placed) | at (measured: placed) | xt (measured: placed) | ct (measured: placed) | phase (predicted) | reached (measured: placed) | error % |"
    );
    say!(page, "|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for e in equations {
        say!(
            page,
            "| {} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:+.0} |",
            e.what,
            e.multipliers,
            e.mt,
            e.at,
            e.xt,
            e.ct,
            e.predicted,
            e.reached,
            100.0 * (e.predicted / e.reached - 1.0)
        );
    }
    say!(
        page,
        "\nmt, at, xt: the logic of one operation between registers by its timing report, which counts a register's own delay each time; \
         ct: the routing of the design's longest path, once for each clock. With a clock an operation, every operation takes as \
         long as the longest."
    );
}
