// SPDX-License-Identifier: Apache-2.0
//! When hardware as modelled beats a processor alone, by algorithm and processor.

use ace_board::{BoardConfig, Catalogue};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Direction, Kind, Mode, Need};
use ace_report::{Page, say};
use serde::Serialize;

use crate::error::Result;
use crate::processors::{CORTEX_A53, THIS_MACHINE, VR5500};

/// Data of a full-sized packet.
const BYTES: usize = 1424;

/// An algorithm on a processor and in the fastest slot that is built.
#[derive(Serialize)]
pub struct Pays {
    pub algorithm: String,
    pub processor: String,
    pub configuration: Option<String>,
    pub processor_us: Option<f64>,
    /// Rate of the slot with as many packets as it works on, and one packet through it with host and link.
    pub slot_us: Option<f64>,
    pub through_us: Option<f64>,
    /// The processor's time over the slot's.
    pub faster: Option<f64>,
    /// Waiting packets that repay a load; none: never.
    pub from_packets: Option<u64>,
}

pub fn rows(catalogue: &Catalogue) -> Result<Vec<Pays>> {
    let board = BoardConfig::default();
    let mut rows = Vec::new();
    for stated in [VR5500, CORTEX_A53, THIS_MACHINE] {
        let processor = stated.read()?;
        for algorithm in ALGORITHMS.iter().copied() {
            let need = match algorithm.kind {
                Kind::Cipher { keys, .. } => {
                    let longest = algorithm.name == "3des";
                    let key_len = if longest { keys.last() } else { keys.first() };
                    let (mode, direction) = (Mode::Cbc, Direction::Encrypt);
                    Need::Cipher { algorithm, mode, direction, key_len: key_len.copied().unwrap_or(0) }
                }
                Kind::Hash { .. } => Need::Hmac { algorithm },
            };
            let processor_us = processor.time_ns(&need, BYTES).map(|ns| ns / 1e3);
            let found = catalogue.candidates(&need, &board.device);
            let best = found.first().map(|c| &catalogue.configurations[*c]);
            if processor_us.is_none() || best.is_none() {
                continue;
            }
            let slot_us = best.map(|c| c.estimate(&need, BYTES) as f64 / 1e6);
            let besides = (board.host.send_ns + board.host.notice_ns) / 1e3
                + 2.0 * board.link_time(BYTES as u64) as f64 / 1e6;
            let load_us = best.map(|c| catalogue.load_time(&board, c) as f64 / 1e6);
            let saved = processor_us.zip(slot_us).map(|(cpu, slot)| cpu - slot);
            let repaid = saved.zip(load_us).filter(|(saved, _)| *saved > 0.0);
            rows.push(Pays {
                algorithm: algorithm.name.into(),
                processor: processor.name.clone(),
                configuration: best.map(|c| c.name.clone()),
                processor_us,
                slot_us,
                through_us: slot_us.map(|slot| slot + besides),
                faster: processor_us.zip(slot_us).map(|(cpu, slot)| cpu / slot.max(1e-9)),
                from_packets: repaid.map(|(saved, load)| (load / saved).ceil() as u64),
            });
        }
    }
    Ok(rows)
}

pub fn print(page: &mut Page, rows: &[Pays]) {
    say!(
        page,
        "\n## When a slot beats the processor: {BYTES} bytes, the fastest configuration that is built\n"
    );
    say!(
        page,
        "| processor | algorithm | configuration | processor µs | slot µs | with host and link µs | processor ÷ slot | a load pays from |"
    );
    say!(page, "|---|---|---|--:|--:|--:|--:|--:|");
    let one = |figure: Option<f64>| figure.map_or(String::new(), |figure| format!("{figure:.2}"));
    for r in rows {
        let pays = match (r.from_packets, r.faster) {
            (Some(packets), _) => format!("{packets} packets"),
            (None, Some(_)) => "never".into(),
            (None, None) => String::new(),
        };
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {pays} |",
            r.processor,
            r.algorithm,
            r.configuration.as_deref().unwrap_or(""),
            one(r.processor_us),
            one(r.slot_us),
            one(r.through_us),
            one(r.faster)
        );
    }
    let wins: Vec<&str> = rows
        .iter()
        .filter(|r| r.processor.contains("EPYC") && r.from_packets.is_some())
        .map(|r| r.algorithm.as_str())
        .collect();
    say!(
        page,
        "\nSlots: modelled; a ring's time is that with as many packets as it works on. Of what is built, these are faster in a \
         slot than on the machine measured: {}.",
        if wins.is_empty() { "none".into() } else { wins.join(", ") }
    );
}
