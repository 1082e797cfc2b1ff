// SPDX-License-Identifier: Apache-2.0
//! Tables 3 and 4: through the VPN. What IPsec costs is measured, wall time (`tests/bench/vpn.sh --study`: vpn.json); what
//! the accelerator gains is one replay of a recording over another, modelled time (`python -m ace_flow vpn-replay`:
//! replay.json). The two never meet in one figure.

use std::collections::BTreeMap;

use crate::error::{Context, Result};
use crate::measured::{File, Recorded};
use ace_report::{Page, say};
use serde::{Deserialize, Serialize};

use super::enciphered;
use super::figure7::Fit;

/// Mb/s of one protocol at one side, as the paper has them: all of it was measured.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    pub protocol: String,
    side: String,
    clear: f64,
    software: f64,
    accelerated: f64,
    /// Percent as the paper's tables state them.
    lost: f64,
    won: f64,
}

impl Throughput {
    /// Percent that the accelerator wins, as stated.
    pub fn won(&self) -> f64 {
        self.won
    }
}

/// Mb/s without IPsec and with it, measured: least, middle and greatest of the rounds.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Of writes: a packet each, or as ttcp has them.
    buffers: String,
    protocol: String,
    /// Or `offered`, which is what iperf3 makes of UDP.
    side: String,
    clear: Option<[f64; 3]>,
    software: Option<[f64; 3]>,
}

/// Bytes of a write.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Buffers {
    tcp: u64,
    udp: u64,
}

/// vpn.json.
#[derive(Deserialize, Serialize)]
struct Tunnel {
    rounds: u64,
    seconds: u64,
    buffers: BTreeMap<String, Buffers>,
    measured: Vec<Measured>,
    packet_us: BTreeMap<String, f64>,
}

/// Mb/s of a recording on the virtual clock.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replayed {
    pub machine: String,
    protocol: String,
    side: String,
    /// What a packet takes of the processor besides cipher and hash.
    packet_us: f64,
    mbps: BTreeMap<String, f64>,
}

impl Replayed {
    /// Of the better one alone, what both have: percent.
    pub fn share(&self) -> Option<f64> {
        let [alone, board, both] = [PROCESSOR, BOARD, BOTH].map(|who| self.mbps.get(who).copied());
        Some(100.0 * both? / alone?.max(board?))
    }

    fn of(&self, who: &str) -> Result<f64> {
        self.mbps.get(who).copied().with_context(|| format!("{REPLAY}: no row has `{who}`"))
    }
}

/// What went through one end: packets by way (`out`, `in`) and length.
#[derive(Deserialize, Serialize)]
struct Stream {
    protocol: String,
    side: String,
    packets: Vec<(String, usize, u64)>,
}

/// replay.json.
#[derive(Deserialize, Serialize)]
pub(super) struct Replays {
    streams: Vec<Stream>,
    pub replayed: Vec<Replayed>,
}

/// The paper's accelerator on its machine, predicted for what was recorded.
#[derive(Serialize)]
pub(super) struct Predicted {
    pub protocol: String,
    side: String,
    /// Packets that are quicker in software.
    in_software_percent: f64,
    pub won_percent: f64,
}

#[derive(Serialize)]
pub struct Vpn {
    recorded: Recorded,
    tunnel: Tunnel,
    pub(super) replays: Replays,
    pub(super) predicted: Vec<Predicted>,
}

const TUNNEL: &str = "studies/pilchard-2002/vpn.json";
const REPLAY: &str = "studies/pilchard-2002/replay.json";
/// As `ace gateway replay` calls who computes.
const PROCESSOR: &str = "processor";
const BOARD: &str = "board, which alone computes";
const BOTH: &str = "processor and board";

/// Percent lost from one to the other, and won.
fn lost(clear: f64, software: f64) -> f64 {
    100.0 * (1.0 - software / clear)
}

fn won(software: f64, accelerated: f64) -> f64 {
    100.0 * (accelerated / software - 1.0)
}

/// A processor that waits for its accelerator (it polls), and takes for everything else what LibDES takes for a full
/// packet, so that encryption is half of its work, as the paper has it. Small packets stay in software.
fn predict(stream: &Stream, accelerator: &Fit, libdes_mbps: f64) -> Predicted {
    let largest = stream.packets.iter().map(|&(_, bytes, _)| bytes).max().unwrap_or(0);
    let software = |bytes: usize| enciphered(bytes) as f64 * 8e3 / libdes_mbps;
    let (mut before, mut after, mut small, mut all) = (0.0, 0.0, 0, 0);
    for &(_, bytes, count) in &stream.packets {
        let alone = software(bytes);
        let with = accelerator.time_ns(enciphered(bytes));
        before += count as f64 * (software(largest) + alone);
        after += count as f64 * (software(largest) + alone.min(with));
        small += if alone < with { count } else { 0 };
        all += count;
    }
    Predicted {
        protocol: stream.protocol.clone(),
        side: stream.side.clone(),
        in_software_percent: 100.0 * small as f64 / all.max(1) as f64,
        won_percent: won(after, before),
    }
}

/// What is recorded; `accelerator`: the paper's, beside the LibDES of so many Mb/s.
///
/// # Errors
/// A file is not what it should be: a fault of this repository.
pub fn read(accelerator: &Fit, libdes_mbps: f64) -> Result<Vpn> {
    let again = |file: &str| format!("{file}: write it anew with python -m ace_flow measure {file}");
    let tunnel: File<Tunnel> =
        serde_json::from_str(include_str!("vpn.json")).with_context(|| again(TUNNEL))?;
    let replays: File<Replays> =
        serde_json::from_str(include_str!("replay.json")).with_context(|| again(REPLAY))?;
    let (tunnel, recorded, replays) = (tunnel.values, tunnel.recorded, replays.values);
    for row in &replays.replayed {
        [PROCESSOR, BOARD, BOTH].iter().try_for_each(|who| row.of(who).map(drop))?;
    }
    let predicted = replays.streams.iter().map(|s| predict(s, accelerator, libdes_mbps)).collect();
    Ok(Vpn { recorded, tunnel, replays, predicted })
}

/// Puts both tables on a page.
pub fn print(page: &mut Page, paper: &[Throughput], ours: &Vpn) {
    table3(page, paper, &ours.tunnel, &ours.recorded);
    table4(page, paper, ours);
}

fn table3(page: &mut Page, paper: &[Throughput], ours: &Tunnel, recorded: &Recorded) {
    say!(page, "## Table 3: through the VPN, Mb/s\n");
    say!(
        page,
        "| | writes of bytes | protocol | side | no encryption | encryption in software | lost % | lost %, as stated (paper) |"
    );
    say!(page, "|---|--:|---|---|--:|--:|--:|--:|");
    for t in paper {
        let of = lost(t.clear, t.software);
        let Throughput { protocol, side, clear, software, lost: stated, .. } = t;
        say!(
            page,
            "| as published (paper) | | {protocol} | {side} | {clear:.2} | {software:.2} | {of:.1} | {stated:.2} |"
        );
    }
    let cell = |spread: Option<[f64; 3]>| {
        spread.map_or("–".into(), |[least, middle, greatest]| {
            format!("{middle:.0} ({least:.0} to {greatest:.0})")
        })
    };
    for Measured { buffers, protocol, side, clear, software } in &ours.measured {
        let bytes = ours.buffers.get(buffers).map(|b| if protocol == "TCP" { b.tcp } else { b.udp });
        let of = match (clear, software) {
            (Some(clear), Some(software)) if side != "offered" => {
                format!("{:.1}", lost(clear[1], software[1]))
            }
            _ => "–".into(),
        };
        say!(
            page,
            "| ours (measured: wall clock) | {} | {protocol} | {side} | {} | {} | {of} | |",
            bytes.map_or("–".into(), |b| b.to_string()),
            cell(*clear),
            cell(*software)
        );
    }
    say!(
        page,
        "\nOurs: two gateways on one machine, wall time, {}; the middle (least to greatest) of {} rounds of {} s. Sender, receiver, both \
         gateways and iperf3 share its cores. 3DES in CBC, HMAC-MD5-96, portable software. The wire between the gateways has no rate of \
         its own: without encryption UDP is as much as iperf3 makes, through the gateways more is offered than they carry. Of UDP the \
         sender's is what its gateway sent; of datagrams in fragments nobody counts that. ttcp's default are writes of {} bytes.\n",
        recorded.about(),
        ours.rounds,
        ours.seconds,
        ours.buffers.get("ttcp").map_or(0, |b| b.tcp)
    );
}

fn table4(page: &mut Page, paper: &[Throughput], ours: &Vpn) {
    say!(page, "## Table 4: with the accelerator, Mb/s\n");
    say!(
        page,
        "| | protocol | side | a packet takes µs besides | in software | board alone | with the accelerator | won % | of the better one alone % | won %, as stated (paper) |"
    );
    say!(page, "|---|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for t in paper {
        let of = won(t.software, t.accelerated);
        let Throughput { protocol, side, software, accelerated, won: stated, .. } = t;
        say!(
            page,
            "| as published (paper) | {protocol} | {side} | | {software:.2} | | {accelerated:.2} | {of:.1} | | {stated:.1} |"
        );
    }
    for p in &ours.predicted {
        say!(
            page,
            "| P-III 866 with the paper's accelerator (predicted) | {} | {} | | | | | {:.1} | | |",
            p.protocol,
            p.side,
            p.won_percent
        );
    }
    for r in &ours.replays.replayed {
        let [alone, board, both] =
            [PROCESSOR, BOARD, BOTH].map(|who| r.mbps.get(who).copied().unwrap_or_default());
        let Replayed { machine, protocol, side, packet_us, .. } = r;
        say!(
            page,
            "| {machine} (predicted) | {protocol} | {side} | {packet_us:.2} | {alone:.2} | {board:.2} | {both:.2} | {:.1} | {:.1} | |",
            won(alone, both),
            r.share().unwrap_or(f64::NAN)
        );
    }
    let small =
        ours.predicted.iter().map(|p| format!("{} {}: {:.0} %", p.protocol, p.side, p.in_software_percent));
    say!(
        page,
        "\nPredicted: the processor polls and so waits for its accelerator, which costs as Figure 7's first fit has it; everything else \
         takes as long as LibDES takes for a full packet (Section 5.3: half of the time); small packets stay in software ({}). No figure of \
         Table 4 is in it. The paper's own throughput with UDP is above what LibDES alone allows, so its rows and this half cannot \
         both be exact.\n\n\
         Modelled: what the gateways recorded, played on the virtual clock (`ace gateway replay --greedy`), TCP as a closed loop, UDP \
         from a sender that waits: a processor alone, today's slots alone, and both, dispatch by modelled cost. \"This machine\" takes what \
         it took in the run.",
        small.collect::<Vec<_>>().join(", ")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_has_both_protocols_at_both_ends() {
        let tunnel: File<Tunnel> = serde_json::from_str(include_str!("vpn.json")).unwrap();
        let replays: File<Replays> = serde_json::from_str(include_str!("replay.json")).unwrap();
        let wanted = [("TCP", "sender"), ("TCP", "receiver"), ("UDP", "sender"), ("UDP", "receiver")];
        let rows: Vec<_> = tunnel.values.measured.iter().filter(|m| m.side != "offered").collect();
        assert!(
            rows.chunk_by(|a, b| a.buffers == b.buffers)
                .all(|of| { of.iter().map(|m| (m.protocol.as_str(), m.side.as_str())).eq(wanted) })
        );
        for (protocol, side) in wanted {
            let of = |r: &&Replayed| r.protocol == protocol && r.side == side;
            assert_eq!(replays.values.replayed.iter().filter(of).count(), 3);
            assert!(replays.values.streams.iter().any(|s| s.protocol == protocol && s.side == side));
        }
        // Both together are never below the better one alone by more than 4 %.
        for row in &replays.values.replayed {
            let [alone, board, both] = [PROCESSOR, BOARD, BOTH].map(|who| row.of(who).unwrap());
            assert!(
                both >= 0.96 * alone.max(board),
                "{}, {} {}: {both}",
                row.machine,
                row.protocol,
                row.side
            );
        }
        assert_eq!((lost(200.0, 50.0), won(50.0, 75.0)), (75.0, 50.0));
    }
}
