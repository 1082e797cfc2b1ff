// SPDX-License-Identifier: Apache-2.0
//! A line of the tables of `ace bench dataplane`: one thread, one direction.

use serde::Serialize;

use crate::page::say;

/// Times are of one operation, or of one packet.
#[derive(Serialize)]
pub struct Row {
    pub suite: String,
    pub direction: &'static str,
    /// Of the text, or of the clear IP packet.
    pub bytes: usize,
    pub nanoseconds: f64,
    pub mpps: f64,
    pub gbit_per_second: f64,
    /// Heap allocations of all that was measured.
    pub allocations: usize,
    /// With the portable software as engine.
    pub portable_nanoseconds: f64,
    /// The library alone, on a text of so many bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bare_nanoseconds: Option<f64>,
}

pub fn print(title: &str, rows: &[Row]) {
    say!("{title}\n");
    say!("| suite | | bytes | ns | Mpps | Gbit/s | of bare | bare, ns | portable, ns | allocations |");
    say!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for row in rows {
        let (ratio, bare) = beside(row.bare_nanoseconds, row.nanoseconds);
        say!(
            "| {} | {} | {} | {:.0} | {:.2} | {:.2} | {ratio} | {bare} | {:.0} | {} |",
            row.suite,
            row.direction,
            row.bytes,
            row.nanoseconds,
            row.mpps,
            row.gbit_per_second,
            row.portable_nanoseconds,
            row.allocations
        );
    }
}

/// How much of the bare library's speed there is, and its own nanoseconds, for a table.
fn beside(bare: Option<f64>, ours: f64) -> (String, String) {
    bare.map_or(("-".into(), "-".into()), |bare| (format!("{:.2}", bare / ours), format!("{bare:.0}")))
}
