// SPDX-License-Identifier: Apache-2.0
//! `ace array table`: what the compiler makes of every algorithm, and how fast the slot's RTL runs it at the clock that was
//! routed.

use std::collections::BTreeMap;

use ace_array::schedule::{Effort, Goal};
use ace_array::shape::{Kind as Element, Shape};
use ace_array::variants::{Named, pays};
use ace_array::{Error, algorithms, compile};
use ace_board::array::{Proof, Rates, Routed, clock, rates, routed};
use ace_board::store::{Store, default_library};
use ace_board::{BoardConfig, Configuration};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Aead, Direction, Kind, Mode, Need, Table};
use ace_library::Trust;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Manifest;
use super::keys;
use crate::page::Output;
use crate::trust::{OlderArgs, TrustArgs};
use ace_report::{print_json, say};

const PAPER: &str = include_str!("../../../../studies/drp-2006/paper.toml");
/// The host link, over which a set comes.
pub const LINK_MHZ: f64 = 100.0;

#[derive(Deserialize)]
struct Paper {
    task: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    name: String,
    contexts: u32,
    mhz: f64,
    drp: f64,
    bits: u64,
}

pub fn print(page: &mut Output, names: &[String], shape: &Shape) -> Result<()> {
    let (routed, rates) = (routed()?, rates()?);
    let made = manifests(names, shape)?;
    compiled(page, &made);
    say!(page);
    keys::print(page, names, &made, shape)?;
    say!(page);
    alone(page, &made);
    say!(page);
    placed(page, &routed);
    say!(page);
    fast(page, &made, &rates, clock(&routed, &rates)?)
}

/// The manifests alone, by variant; of a variant that does not fit why not.
pub fn json(names: &[String], shape: &Shape) -> Result<()> {
    let mut all = BTreeMap::new();
    for (variant, made) in manifests(names, shape)? {
        let value = match made {
            Ok((many, stores, alone)) => json!({ "throughput": many, "latency": alone, "stores": stores }),
            Err(why) => json!({ "does_not_fit": why.to_string() }),
        };
        all.insert(variant, value);
    }
    Ok(print_json(&all)?)
}

/// A variant's manifest, what it stores, and its manifest when it is made for latency.
type Both = (Manifest, usize, Manifest);
/// Of every variant, or why there is none.
pub type Made = Vec<(String, std::result::Result<Both, Error>)>;

fn manifests(names: &[String], shape: &Shape) -> Result<Made> {
    let mut out = Vec::new();
    for file in algorithms::names() {
        if !names.is_empty() && !names.iter().any(|name| file.strip_suffix(".ace") == Some(name)) {
            continue;
        }
        let program = algorithms::program(file)?;
        for variant in program.variants.iter().filter(|variant| !program.sets_up_keys(variant)) {
            let both = [Goal::Throughput, Goal::Latency]
                .map(|goal| compile(&program, variant, shape, Effort::of(goal)));
            let made = match both {
                [Ok(many), Ok(alone)] => {
                    let stores = many.schedule.stores.len();
                    Ok((Manifest::of(&many, shape), stores, Manifest::of(&alone, shape)))
                }
                // What fits for many packets alone serves one packet as well.
                [Ok(many), Err(Error::Fit { .. })] => {
                    let stores = many.schedule.stores.len();
                    Ok((Manifest::of(&many, shape), stores, Manifest::of(&many, shape)))
                }
                [Err(error @ Error::Fit { .. }), _] => Err(error),
                [Err(error), _] | [_, Err(error)] => return Err(error.into()),
            };
            out.push((variant.clone(), made));
        }
    }
    Ok(out)
}

fn compiled(page: &mut Output, made: &Made) {
    say!(
        page,
        "| variant | ALU | rotator | quad | multiplier | in | out | keys | bound | contexts | latency | in flight | stores | key words | set, bytes | of them contexts | load, µs |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (variant, made) in made {
        let (manifest, stores, _) = match made {
            Ok(made) => made,
            Err(why) => {
                say!(page, "| {variant} | {why} |");
                continue;
            }
        };
        let of = |kind: Element| manifest.operations[kind as usize];
        say!(
            page,
            "| {variant} | {} | {} | {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {stores} | {} | {} | {} | {:.1} |",
            of(Element::Alu),
            of(Element::Rotator),
            of(Element::Quad),
            of(Element::Multiplier),
            of(Element::Input),
            of(Element::Output),
            manifest.key_operands,
            manifest.bound,
            manifest.bound_by,
            manifest.contexts,
            manifest.latency,
            manifest.in_flight,
            manifest.key_words,
            manifest.bytes,
            manifest.context_bytes,
            manifest.load_clocks as f64 / LINK_MHZ,
        );
    }
}

/// Sets for throughput beside sets for latency, as one packet alone sees them.
fn alone(page: &mut Output, made: &Made) {
    say!(
        page,
        "| variant | least latency | for throughput: contexts | latency | clocks a block alone | for latency: contexts | latency | clocks a block alone | % less | set, bytes | in the library |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for (variant, made) in made {
        let Ok((many, _, alone)) = made else { continue };
        let in_library = if pays(many.alone, alone.alone) { "both" } else { "for throughput" };
        say!(
            page,
            "| {variant} | {} | {} | {} | {} | {} | {} | {} | {:.0} | {} | {in_library} |",
            alone.latency_bound,
            many.contexts,
            many.latency,
            many.alone,
            alone.contexts,
            alone.latency,
            alone.alone,
            100.0 * (1.0 - alone.alone as f64 / many.alone as f64),
            alone.bytes,
        );
    }
}

/// What was placed and routed.
fn placed(page: &mut Output, routed: &BTreeMap<String, Routed>) {
    say!(
        page,
        "| | asked MHz | MHz by seed | median | LUT sites | flip-flops | block RAM | longest path | bits are the netlist |"
    );
    say!(page, "|---|--:|---|--:|--:|--:|--:|---|---|");
    for (name, it) in routed {
        let share = |cell: &str| {
            let (used, of) = (it.used.get(cell).copied().unwrap_or(0), it.available.get(cell).copied());
            of.map_or(String::new(), |of| format!("{used} ({:.0} %)", 100.0 * used as f64 / of.max(1) as f64))
        };
        let seeds: Vec<String> = it.seeds.iter().map(|(seed, mhz)| format!("{seed}: {mhz:.1}")).collect();
        let lanes = if it.lanes > 0 {
            format!(
                ", {}, {} and {} lanes each",
                counted(it.tiles, "tile"),
                counted(it.ways, "way"),
                it.lanes
            )
        } else {
            String::new()
        };
        let bits = it.proof.as_ref().map_or("not made".into(), |proof| {
            let Proof { points, by_structure, control_points_refuted } = proof;
            format!("proven at {points} points, {by_structure} by structure; control refuted at {control_points_refuted}")
        });
        // Of several numbers of lanes each has an entry.
        let what = name.split('-').next().unwrap_or(name);
        let path = &it.critical_path;
        say!(
            page,
            "| {what}{lanes}, {} | {} | {} | {:.2} | {} | {} | {} | {} to {}: {:.1} ns logic, {:.1} ns wire | {bits} |",
            it.device,
            it.asked_mhz,
            seeds.join(", "),
            it.fmax_mhz,
            share("TRELLIS_COMB"),
            share("TRELLIS_FF"),
            share("DP16KD"),
            path.from,
            path.to,
            path.logic_ns,
            path.routing_ns,
        );
    }
}

/// Rates at the routed clock beside the paper's and those of slots of one algorithm.
fn fast(page: &mut Output, made: &Made, rates: &Rates, clock: f64) -> Result<()> {
    let paper: Paper = toml::from_str(PAPER).context("studies/drp-2006/paper.toml")?;
    let dedicated = dedicated();
    say!(
        page,
        "| {}, {} ways and {} lanes each, {clock:.2} MHz | contexts alone, Mb/s | 1 packet | 4 | 8 | 16 | 64 | DRP-1 | its MHz | its contexts | its bytes | set ÷ its bytes | slot of its own, one frame | several |",
        counted(rates.tiles, "tile"),
        rates.ways,
        rates.lanes
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let sets = made.iter().flat_map(|(name, made)| {
        let Ok((many, _, alone)) = made else { return Vec::new() };
        let second = Named::find(name).filter(|_| pays(many.alone, alone.alone)).map(|it| it.second().name);
        [(name.clone(), many)].into_iter().chain(second.map(|name| (name, alone))).collect()
    });
    for (name, manifest) in sets.filter(|(name, _)| rates.clocks.contains_key(name)) {
        let variant = &manifest.variant;
        let Some((need, block)) = need(variant) else { continue };
        let most = 8.0 * (block * rates.tiles * rates.ways) as f64 * clock / manifest.contexts as f64;
        let at = |frames| rates.mbps(&name, frames, clock).map_or(String::new(), |m| format!("{m:.0}"));
        let task = paper.task.iter().find(|task| Some(task.name.as_str()) == task_of(variant));
        let [mhz, drp] = [task.map(|t| t.mhz), task.map(|t| t.drp)]
            .map(|x| x.map_or(String::new(), |x| format!("{x:.1}")));
        let contexts = task.map_or(String::new(), |t| t.contexts.to_string());
        let bytes = task.map_or(String::new(), |t| (t.bits / 8).to_string());
        let share =
            task.map_or(String::new(), |t| format!("{:.2}", 8.0 * manifest.bytes as f64 / t.bits as f64));
        let own = [false, true].map(|several| {
            let fits = |c: &&Configuration| c.serves(&need) && (c.in_flight > 1) == several;
            let best = dedicated.iter().filter(fits).map(|c| c.estimate(&need, DATA)).min();
            best.map_or(String::new(), |time| format!("{:.0}", DATA as f64 * 8e6 / time.max(1) as f64))
        });
        say!(
            page,
            "| {name} | {most:.0} | {} | {} | {} | {} | {} | {drp} | {mhz} | {contexts} | {bytes} | {share} | {} | {} |",
            at(1),
            at(4),
            at(8),
            at(16),
            at(64),
            own[0],
            own[1],
        );
    }
    Ok(())
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Over which a slot's rate is stated.
const DATA: usize = 160_000;

/// The paper's name of a variant.
fn task_of(variant: &str) -> Option<&'static str> {
    Some(match variant {
        "des_encrypt" => "DES",
        "cast128_encrypt" => "CAST128",
        "aes128_encrypt" => "AES",
        "cast256_encrypt" => "CAST256",
        "rc6_encrypt" => "RC6",
        "md5" => "MD5",
        "sha1" => "SHA-1",
        _ => return None,
    })
}

/// What a configuration has to serve to be compared with a variant, and the bytes of a block.
fn need(variant: &str) -> Option<(Need, usize)> {
    let mut all = algorithms::SERVED.iter().chain(algorithms::AEADS);
    let served = all.find(|served| served.variant(false) == variant)?;
    let algorithm = ALGORITHMS.iter().copied().find(|a| a.name == served.algorithm)?;
    Some(match algorithm.kind {
        Kind::Cipher { block, .. } => {
            let key_len = served.keys.iter().copied().filter(|bytes| *bytes <= 32).max().unwrap_or_default();
            if let Some(aead) = served.aead.and_then(Aead::by_name) {
                return Some((Need::Aead { aead, direction: Direction::Encrypt, key_len }, block));
            }
            (Need::Cipher { algorithm, mode: Mode::Cbc, direction: Direction::Encrypt, key_len }, block)
        }
        Kind::Hash { block, .. } => (Need::Hmac { algorithm }, block),
    })
}

/// The configurations of the library, as far as there is one that can be read.
pub fn dedicated() -> Table<Configuration> {
    let open = || -> Option<Table<Configuration>> {
        default_library()?;
        let guard =
            TrustArgs { key: None, older: OlderArgs { allow_older: true } }.guard(Trust::ANYBODY).ok()?;
        let store = Store::open(&BoardConfig::default().controller, None, guard).ok()??;
        Some(store.configurations())
    };
    open().unwrap_or_default()
}
