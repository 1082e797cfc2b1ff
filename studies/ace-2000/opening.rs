// SPDX-License-Identifier: Apache-2.0
//! The first lines of the page: what the paper claims, and what of it stands.

use super::finalists::FinalistComparison;
use super::layouts::Layout;
use super::{Study, domains};
use crate::marks::{Opening, range};

/// Part of p that more rounds have to bring to count as p times the throughput.
const ENOUGH: f64 = 0.9;

/// What more rounds bring.
struct Gain<'a> {
    what: &'a str,
    rounds: u64,
    gain: f64,
    per_round: f64,
}

impl<'a> Gain<'a> {
    fn of(l: &'a Layout) -> Self {
        Self { what: &l.algorithm, rounds: l.rounds, gain: l.gain, per_round: l.gain_per_round }
    }
}

pub fn opening(study: &Study) -> Opening {
    let Study { finalists, rounds, placed, published, compression, .. } = study;
    let ratios = |of: fn(&FinalistComparison) -> Option<f64>| finalists.iter().filter_map(of);
    let faster = |of: fn(&FinalistComparison) -> Option<f64>| {
        let names = finalists.iter().filter(|row| of(row).is_some_and(|ratio| ratio > 1.0));
        let names: Vec<&str> = names.map(|row| row.cipher.as_str()).collect();
        if names.is_empty() { "no cipher".into() } else { names.join(", ") }
    };
    let placed = placed.layouts.iter().filter_map(|l| {
        Some(Gain { what: &l.finalist, rounds: l.rounds, gain: l.gain?, per_round: l.gain_per_round? })
    });
    let built = rounds.iter().map(Gain::of);
    let all: Vec<Gain<'_>> = placed.chain(built).filter(|l| l.rounds > 1).collect();
    let best = all.iter().max_by(|a, b| a.per_round.total_cmp(&b.per_round));
    let worst = all.iter().min_by(|a, b| a.per_round.total_cmp(&b.per_round));
    let worded = |l: &Gain<'_>| format!("{:.1} times for p = {} of {}", l.gain, l.rounds, l.what);
    let mut holds = vec![
        "all five finalists fit one device with their key schedules, are exchanged on the fly and take any key.".into(),
        format!("key set-up is faster in hardware than in software for {}.", faster(FinalistComparison::setup_ratio)),
    ];
    if let Some(best) = best {
        holds.push(format!(
            "p rounds as stages of a ring bring p times the throughput: {} layouts have {ENOUGH} of p or more, {} at best.",
            all.iter().filter(|l| l.per_round >= ENOUGH).count(),
            worded(best)
        ));
    }
    holds.extend(study.negotiation.as_ref().map(|negotiation| {
        format!(
            "a load is paid by the association: it takes {} % of one negotiation by IKE that was measured here.",
            negotiation.percents()
        )
    }));
    let mut fails = vec![format!(
        "hardware against one core of today: key set-up {} times as fast, throughput {} times with one packet and {} times with \
         many; faster with many: {}.",
        range(ratios(FinalistComparison::setup_ratio), 1),
        range(ratios(FinalistComparison::one), 2),
        range(ratios(FinalistComparison::many), 3),
        faster(FinalistComparison::many)
    )];
    if let Some(worst) = worst {
        fails.push(format!("p rounds in one clock do not bring p times: {}.", worded(worst)));
    }
    fails.extend(compression.as_ref().map(|compression| {
        format!(
        "compression of our images to {} % says little of the paper's {} %: they are nearly empty. One dictionary for all five \
         saves {:.1} %. {}",
        range(compression.phase2(), 1),
        range(published.iter().map(|p| p.phase2.percent), 1),
        compression.saved(),
        study.decoders.as_ref().map_or(String::new(), |decoders| {
            let ([reads, stream], [reads_clocks, stream_clocks]) = (decoders.lut4(), decoders.clocks());
            format!(
                "Memory reads alone take {reads} LUT4 and {reads_clocks} clocks a byte; the library's decoder takes {stream} LUT4 and \
                 {stream_clocks} clocks, and all configurations share its dictionary."
            )
        })
    )}));
    fails.push(
        "the controller stands outside of the slots: nothing reconfigures itself, and no library is active."
            .into(),
    );
    let slips = domains::slips(published).len();
    Opening {
        claimed: vec![format!(
            "against software the five AES finalists gain 4 to 20 times in throughput and {:.0} to {:.0} times in key set-up, p \
             rounds in hardware p times more; configurations are compressed to {} % without hardware.",
            finalists.iter().map(FinalistComparison::paper_setup_ratio).fold(f64::INFINITY, f64::min),
            finalists.iter().map(FinalistComparison::paper_setup_ratio).fold(0.0, f64::max),
            range(published.iter().map(|p| p.phase2.percent), 0)
        )],
        built: vec![
            "the five finalists as configurations of an ECP5, one round and several, in a signed library; the paper's \
             compression, written from its text and the sizes in its tables."
                .into(),
        ],
        holds,
        fails,
        fitted: vec![format!(
            "nothing. {} figures of the paper do not follow from those beside them, and are named below their tables.",
            slips + finalists.iter().filter(|row| row.paper_hardware.is_off()).count()
        )],
    }
}
