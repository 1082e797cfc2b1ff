// SPDX-License-Identifier: Apache-2.0
//! What a run did: for a terminal, as a page with a picture, and as a trace for Perfetto.

mod boards;
mod html;
mod perfetto;
pub mod text;
mod timeline;
mod work;

use std::path::Path;

use ace_board::trace::Picos;
use anyhow::{Context, Result};

use crate::summary::Summary;

/// Writes `report.html` and, for a run on the board, `trace.json`.
pub fn write(folder: &Path, summary: &Summary) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let page = folder.join("report.html");
    ace_fs::write(&page, html::page(summary).as_bytes())
        .with_context(|| format!("cannot write {}", page.display()))?;
    if let Some(board) = &summary.board {
        let trace = folder.join("trace.json");
        let text = serde_json::to_string(&perfetto::trace(board, &boards::all(summary), summary))?;
        ace_fs::write(&trace, text.as_bytes())
            .with_context(|| format!("cannot write {}", trace.display()))?;
    }
    Ok(())
}

/// A modelled duration for people: 3 significant digits and a unit.
pub fn duration(picos: Picos) -> String {
    let value = picos as f64;
    let (scaled, unit) = match picos {
        0 => return "0 s".to_owned(),
        1..1_000_000 => (value / 1e3, "ns"),
        1_000_000..1_000_000_000 => (value / 1e6, "µs"),
        1_000_000_000..1_000_000_000_000 => (value / 1e9, "ms"),
        _ => (value / 1e12, "s"),
    };
    let digits = if scaled >= 100.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {unit}")
}

/// A share in per cent, 0 when there is no whole.
pub fn percent(part: Picos, whole: Picos) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        assert_eq!(duration(0), "0 s");
        assert_eq!(duration(1_234), "1.23 ns");
        assert_eq!(duration(12_345_678), "12.3 µs");
        assert_eq!(duration(999_000_000_000), "999 ms");
        assert_eq!(duration(2_500_000_000_000), "2.50 s");
        assert_eq!(percent(1, 0), 0.0);
    }
}
