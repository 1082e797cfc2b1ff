// SPDX-License-Identifier: Apache-2.0
//! Tables 3 and 4: what went through a gateway, as somebody measured it.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::page::say;

/// Mb/s of one protocol at one side.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    protocol: String,
    side: String,
    clear: f64,
    software: f64,
    accelerated: f64,
}

impl Throughput {
    /// Percent lost by encryption in software, and won back by the accelerator.
    fn changes(&self) -> (f64, f64) {
        (100.0 * (1.0 - self.software / self.clear), 100.0 * (self.accelerated / self.software - 1.0))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    ttcp: Vec<Throughput>,
}

/// A result, in TOML as the `[[ttcp]]` of studies/pilchard-2002/paper.toml.
pub fn read(file: &Path) -> Result<Vec<Throughput>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    let File { ttcp } = toml::from_str(&text).with_context(|| {
        format!(
            "{}: [[ttcp]] with protocol, side, clear, software and accelerated (Mb/s) is wanted",
            file.display()
        )
    })?;
    let positive = |x: f64| x.is_finite() && x > 0.0;
    if let Some(of) = ttcp.iter().find(|t| ![t.clear, t.software, t.accelerated].into_iter().all(positive)) {
        bail!("{}: {} {}: Mb/s must be positive", file.display(), of.protocol, of.side);
    }
    Ok(ttcp)
}

pub fn print(paper: &[Throughput], ours: Option<&[Throughput]>) {
    say!("## Tables 3 and 4: through the VPN, Mb/s\n");
    say!("| | protocol | side | clear | software | lost % | accelerated | won % |");
    say!("|---|---|---|--:|--:|--:|--:|--:|");
    let ours = ours.map(|rows| ("ours", rows));
    for (whose, rows) in [("paper", paper)].into_iter().chain(ours) {
        for t in rows {
            let (lost, won) = t.changes();
            say!(
                "| {whose} | {} | {} | {:.2} | {:.2} | {lost:.1} | {:.2} | {won:.1} |",
                t.protocol,
                t.side,
                t.clear,
                t.software,
                t.accelerated
            );
        }
    }
    if ours.is_none() {
        say!("\nOurs: no result of a gateway's run was given (`--vpn FILE`), so there is none here.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_and_a_wrong_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result.toml");
        let row = "[[ttcp]]\nprotocol = \"TCP\"\nside = \"sender\"\nclear = 200.0\nsoftware = 50.0\naccelerated = 75.0\n";
        std::fs::write(&file, row).unwrap();
        let rows = read(&file).unwrap();
        assert_eq!(rows[0].changes(), (75.0, 50.0));
        for (wrong, why) in
            [(row.replace("75.0", "0.0"), "must be positive"), (row.replace("side", "end"), "wanted")]
        {
            std::fs::write(&file, wrong).unwrap();
            let error = read(&file).err().unwrap().to_string();
            assert!(error.contains(why) && error.contains("result.toml"), "{error}");
        }
    }
}
