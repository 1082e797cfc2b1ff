// SPDX-License-Identifier: Apache-2.0
//! Tables 3 and 4: through the VPN. Ours are of `tests/bench/vpn.sh --study`: what IPsec costs is measured there, wall time; what
//! the accelerator gains is one replay over another, modelled time. The two never meet in one figure.

use std::path::Path;

use crate::error::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use ace_report::{Page, say};

/// The run that the page shows.
const COMMITTED: &str = include_str!("vpn.toml");

/// Mb/s of one protocol at one side, as the paper has them: all of it was measured.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    protocol: String,
    side: String,
    clear: f64,
    software: f64,
    accelerated: f64,
    /// Percent as the paper's tables state them.
    lost: f64,
    won: f64,
}

/// Mb/s without IPsec and with it, measured.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    protocol: String,
    side: String,
    clear: f64,
    software: f64,
}

/// Mb/s of a recording on the virtual clock: a stated processor alone, and with the board.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Replayed {
    machine: String,
    protocol: String,
    side: String,
    /// What a packet takes of the processor besides cipher and hash.
    packet_us: f64,
    software: f64,
    accelerated: f64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    measured: Vec<Measured>,
    replayed: Vec<Replayed>,
}

/// Percent lost from one to the other, and won.
fn lost(clear: f64, software: f64) -> f64 {
    100.0 * (1.0 - software / clear)
}

fn won(software: f64, accelerated: f64) -> f64 {
    100.0 * (accelerated / software - 1.0)
}

/// A result of `tests/bench/vpn.sh --study`; without a file the one of studies/pilchard-2002/vpn.toml.
pub fn read(file: Option<&Path>) -> Result<Run> {
    let (text, name) = match file {
        Some(file) => {
            let name = file.display().to_string();
            (ace_fs::read_text(file).with_context(|| name.clone())?, name)
        }
        None => (COMMITTED.to_owned(), "studies/pilchard-2002/vpn.toml".to_owned()),
    };
    let run: Run = toml::from_str(&text)
        .with_context(|| format!("{name}: tests/bench/vpn.sh --study writes such files"))?;
    let positive = |x: &f64| x.is_finite() && *x > 0.0;
    let measured = run.measured.iter().map(|m| (&m.protocol, &m.side, [m.clear, m.software]));
    let replayed = run.replayed.iter().map(|r| (&r.protocol, &r.side, [r.software, r.accelerated]));
    for (protocol, side, figures) in measured.chain(replayed) {
        if !figures.iter().all(positive) {
            bail!("{name}: {protocol} {side}: Mb/s must be positive");
        }
    }
    Ok(run)
}

pub fn print(page: &mut Page, paper: &[Throughput], ours: &Run) {
    say!(page, "## Table 3: through the VPN, measured, Mb/s\n");
    say!(page, "| | protocol | side | no encryption | encryption in software | lost % | lost %, as stated |");
    say!(page, "|---|---|---|--:|--:|--:|--:|");
    for t in paper {
        let of = lost(t.clear, t.software);
        let Throughput { protocol, side, clear, software, lost: stated, .. } = t;
        say!(page, "| paper | {protocol} | {side} | {clear:.2} | {software:.2} | {of:.1} | {stated:.2} |");
    }
    for Measured { protocol, side, clear, software } in &ours.measured {
        let of = lost(*clear, *software);
        say!(page, "| ours | {protocol} | {side} | {clear:.2} | {software:.2} | {of:.1} | |");
    }
    say!(
        page,
        "\nOurs: two gateways on one machine, wall time, `tests/bench/vpn.sh --study`; sender, receiver, both gateways and iperf3 share its \
         cores. 3DES in CBC, HMAC-MD5-96. Of UDP the sender's is what its gateway sent.\n"
    );
    say!(page, "## Table 4: with the accelerator, Mb/s\n");
    say!(
        page,
        "| | protocol | side | a packet takes µs besides | in software | with the accelerator | won % | won %, as stated |"
    );
    say!(page, "|---|---|---|--:|--:|--:|--:|--:|");
    for t in paper {
        let of = won(t.software, t.accelerated);
        let Throughput { protocol, side, software, accelerated, won: stated, .. } = t;
        say!(
            page,
            "| paper, measured | {protocol} | {side} | | {software:.2} | {accelerated:.2} | {of:.1} | {stated:.1} |"
        );
    }
    for r in &ours.replayed {
        let of = won(r.software, r.accelerated);
        let Replayed { machine, protocol, side, packet_us, software, accelerated } = r;
        say!(
            page,
            "| {machine}, modelled | {protocol} | {side} | {packet_us:.2} | {software:.2} | {accelerated:.2} | {of:.1} | |"
        );
    }
    say!(
        page,
        "\nOurs: what the gateways of that run recorded, played on the virtual clock (`ace gateway replay --greedy`), with a processor \
         alone and with today's slots beside it, dispatch by modelled cost, TCP as a closed loop, UDP from a sender that waits. \"This \
         machine\" takes what it took in the run; the Pentium is LibDES and as much again for everything else, which is how the paper \
         explains its result (its own throughput is above what LibDES alone allows, so its rows and this one cannot agree)."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_and_a_wrong_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result.toml");
        let rows = "[[measured]]\nprotocol = \"TCP\"\nside = \"sender\"\nclear = 200.0\nsoftware = 50.0\n\
                    [[replayed]]\nmachine = \"x\"\nprotocol = \"TCP\"\nside = \"sender\"\npacket_us = 4.0\n\
                    software = 50.0\naccelerated = 75.0\n";
        std::fs::write(&file, rows).unwrap();
        let run = read(Some(&file)).unwrap();
        let (m, r) = (&run.measured[0], &run.replayed[0]);
        assert_eq!((lost(m.clear, m.software), won(r.software, r.accelerated)), (75.0, 50.0));
        for (wrong, why) in [
            (rows.replace("75.0", "0.0"), "must be positive"),
            (rows.replace("side", "end"), "tests/bench/vpn.sh"),
        ] {
            std::fs::write(&file, wrong).unwrap();
            let error = read(Some(&file)).err().unwrap().to_string();
            assert!(error.contains(why) && error.contains("result.toml"), "{error}");
        }
    }

    #[test]
    fn the_committed_run_has_both_protocols_at_both_ends() {
        let run = read(None).unwrap();
        let rows: Vec<_> = run.measured.iter().map(|m| (m.protocol.as_str(), m.side.as_str())).collect();
        let wanted = [("TCP", "sender"), ("TCP", "receiver"), ("UDP", "sender"), ("UDP", "receiver")];
        assert_eq!(rows, wanted);
        for of in run.replayed.chunk_by(|a, b| a.machine == b.machine) {
            assert!(
                of.iter().map(|r| (r.protocol.as_str(), r.side.as_str())).eq(wanted),
                "{}",
                of[0].machine
            );
        }
    }
}
