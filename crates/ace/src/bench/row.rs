// SPDX-License-Identifier: Apache-2.0
//! A line of the tables of `ace bench dataplane`: one thread, one direction.

use ace_report::Table;
use serde::Serialize;

use crate::page::{self, say};

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
    let table = Table::of(rows).left("suite", |r| &r.suite).left("", |r| r.direction);
    let table = table.right("bytes", |r| r.bytes).right("ns", |r| format!("{:.0}", r.nanoseconds));
    let table = table.right("Mpps", |r| format!("{:.2}", r.mpps));
    let table = table.right("Gbit/s", |r| format!("{:.2}", r.gbit_per_second));
    let table = table.right("of bare", |r| beside(r.bare_nanoseconds, r.nanoseconds).0);
    let table = table.right("bare, ns", |r| beside(r.bare_nanoseconds, r.nanoseconds).1);
    let table = table.right("portable, ns", |r| format!("{:.0}", r.portable_nanoseconds));
    page::table(&table.right("allocations", |r| r.allocations));
}

/// How much of the bare library's speed there is, and its own nanoseconds, for a table.
fn beside(bare: Option<f64>, ours: f64) -> (String, String) {
    bare.map_or(("-".into(), "-".into()), |bare| (format!("{:.2}", bare / ours), format!("{bare:.0}")))
}
