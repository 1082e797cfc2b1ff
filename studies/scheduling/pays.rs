// SPDX-License-Identifier: Apache-2.0
//! When hardware as modelled beats a processor alone, by algorithm and processor.

use ace_board::{BoardConfig, Catalogue};
use ace_engine::Need;
use ace_engine::algorithm::ALGORITHMS;
use ace_report::{Page, say};
use serde::Serialize;

use crate::error::Result;
use crate::marks::{By, Mark, cell, heads};
use crate::processors::{CORTEX_A53, THIS_MACHINE, VR5500};

/// Data of a full-sized packet.
const BYTES: usize = 1424;

/// An algorithm on a processor and in the fastest slot that is built.
#[derive(Serialize)]
pub struct Pays {
    pub algorithm: String,
    /// Of processor and slot; none of a hash.
    pub key_bits: Option<usize>,
    pub processor: String,
    /// How the processor's figure came about.
    pub mark: Mark,
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
    let wall = Mark::Measured(By::Wall);
    for (stated, mark) in [(VR5500, Mark::Published), (CORTEX_A53, Mark::Published), (THIS_MACHINE, wall)] {
        let processor = stated.read()?;
        for algorithm in ALGORITHMS.iter().copied() {
            let need = Need::stated(algorithm);
            // A rate under a key of another length is none of this row.
            let rate = processor.rate.iter().find(|r| r.algorithm == algorithm.name);
            if rate.is_some_and(|r| r.key_bits.is_some_and(|bits| Some(bits) != need.key_bits())) {
                continue;
            }
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
                key_bits: need.key_bits(),
                processor: processor.name.clone(),
                mark,
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

/// Algorithms that are faster in a slot than on the machine that was measured.
pub fn faster(rows: &[Pays]) -> Vec<&str> {
    let measured = rows.iter().filter(|r| r.mark == Mark::Measured(By::Wall));
    measured.filter(|r| r.from_packets.is_some()).map(|r| r.algorithm.as_str()).collect()
}

pub fn print(page: &mut Page, rows: &[Pays]) {
    say!(
        page,
        "\n## When a slot beats the processor: {BYTES} bytes, the fastest configuration of the library\n"
    );
    let (rtl, predicted) = (Mark::Measured(By::Rtl), Mark::Predicted);
    let columns = [
        ("slot µs", rtl),
        ("with host and link µs", predicted),
        ("processor ÷ slot", predicted),
        ("a load pays from, packets", predicted),
    ];
    let words = ["processor", "algorithm", "key, bits", "configuration", "processor µs", "which is"];
    say!(page, "{}", heads(&words, &columns));
    for r in rows {
        let pays = match (r.from_packets, r.faster) {
            (Some(packets), _) => packets.to_string(),
            (None, Some(_)) => "never".into(),
            (None, None) => String::new(),
        };
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {pays} |",
            r.processor,
            r.algorithm,
            r.key_bits.map_or("–".into(), |bits| bits.to_string()),
            r.configuration.as_deref().unwrap_or(""),
            cell(r.processor_us, 2),
            r.mark,
            cell(r.slot_us, 2),
            cell(r.through_us, 2),
            cell(r.faster, 2)
        );
    }
    let wins = faster(rows);
    say!(
        page,
        "\nA ring's time is that with as many packets as it works on. Published rates name no key. In a slot these are faster \
         than on the machine measured: {}.",
        if wins.is_empty() { "none".into() } else { wins.join(", ") }
    );
}
