// SPDX-License-Identifier: Apache-2.0
//! `ace bench dataplane`, the data plane's part: whole packets through a shard and the engine, each direction on its
//! own, the flow cache warm; looking up rules; parsing an SA file. CPU time of this thread alone.

use std::fmt::Write;
use std::time::Duration;

use ace_config::SaFile;
use ace_engine::{Buffer, Completion, Engine};
use ace_esp::model::{Flow, Selector};
use ace_esp::spd::Spd;
use ace_esp::{
    Fate, HEADROOM, Inside, OsIvs, Outside, Packet, Policy, Rule, Shard, Side, TAILROOM, Treatment,
};
use anyhow::{Result, bail};
use serde::Serialize;

use super::engine::BATCH;
use crate::engines;

/// Security associations that a batch goes over.
const ASSOCIATIONS: usize = 16;
/// Rules of the look-up and SAs of the file.
const MANY: usize = 10_000;

/// Names as in SA files.
const SUITES: &[(&str, &str)] = &[
    ("aes-128-gcm-16", "none"),
    ("aes-256-gcm-16", "none"),
    ("chacha20-poly1305", "none"),
    ("aes-128-ccm-16", "none"),
    ("aes-128-cbc", "hmac-sha1-96"),
    ("aes-128-cbc", "hmac-sha256-128"),
    ("camellia-128-cbc", "hmac-sha256-128"),
    ("3des-cbc", "hmac-sha1-96"),
    ("serpent-128-cbc", "hmac-sha1-96"),
    ("twofish-128-cbc", "hmac-sha1-96"),
];

/// One line of the table: a tunnel, one thread.
#[derive(Serialize)]
pub struct Row {
    suite: String,
    direction: &'static str,
    /// Of the clear IP packet.
    bytes: usize,
    nanoseconds: f64,
    mpps: f64,
    gbit_per_second: f64,
    /// Heap allocations of all measured packets.
    allocations: usize,
}

/// What does not depend on a suite.
#[derive(Serialize)]
pub struct Policies {
    /// Rules, and SAs of the file.
    rules: usize,
    /// A look-up that the flow cache answers, and one past it.
    cached_nanoseconds: f64,
    uncached_nanoseconds: f64,
    /// Text to checked SAs, and those into a shard.
    parse_seconds: f64,
    install_seconds: f64,
    file_bytes: usize,
}

/// An SA file of one end: tunnels between two gateways, one for each host behind them.
fn file(count: usize, direction: &str, (cipher, auth): (&str, &str)) -> String {
    let (local, remote) = if direction == "out" { (1, 2) } else { (2, 1) };
    let suite = ace_config::suites::cipher(cipher);
    let key = "7a".repeat(suite.map_or(0, |suite| suite.keymat_len()));
    let auth_key = "3c".repeat(ace_config::suites::auth(auth).map_or(0, |suite| suite.key_len));
    let mut text = String::from("allow_legacy = true\n");
    for n in 0..count {
        let (high, low) = (n / 250, n % 250 + 1);
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "[[sa]]\nname = \"tunnel-{n}\"\nspi = {}\ndirection = \"{direction}\"\nmode = \"tunnel\"\n\
             local = \"192.0.2.{local}\"\nremote = \"192.0.2.{remote}\"\n\
             selector = {{ src = \"10.1.{high}.{low}\", dst = \"10.2.{high}.{low}\" }}\n\
             cipher = \"{cipher}\"\nkey = \"{key}\"\nauth = \"{auth}\"\nauth_key = \"{auth_key}\"\n\n",
            0x1000 + n
        );
    }
    text
}

fn shard(text: &str) -> Result<Shard> {
    Ok(SaFile::parse("bench", text)?.shard(Duration::ZERO, Box::new(OsIvs::default()))?)
}

/// A packet of that many bytes for one of the tunnels.
fn packet(n: usize, bytes: usize) -> Vec<u8> {
    let (high, low) = ((n / 250) as u8, (n % 250 + 1) as u8);
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, high, low, 10, 2, high, low];
    packet.resize(bytes.max(28), 0x5a);
    let len = packet.len() as u16;
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    packet
}

/// A batch through a shard: how long it took. The buffers come back in `packets`.
fn pass<S: Side>(
    shard: &mut Shard,
    side: S,
    engine: &mut dyn Engine,
    done: &mut Vec<Completion>,
    packets: &mut Vec<Packet>,
) -> Result<Duration> {
    let start = super::cpu_time();
    shard.ingest(Duration::ZERO, side, packets.drain(..));
    while shard.in_flight() > 0 {
        engine.try_submit(shard.jobs());
        engine.wait(done);
        shard.complete(Duration::ZERO, done);
    }
    while let Some(exit) = shard.poll_exit() {
        if let Fate::Dropped(cause) = exit.fate {
            bail!("a packet was dropped: {cause}");
        }
        packets.push(Packet { token: exit.token, buffer: exit.buffer });
    }
    Ok(super::cpu_time() - start)
}

/// Every suite that starts with one of `names`, or every one.
pub fn rows(names: &[String], seconds: f64, mut tell: impl FnMut(&Row)) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    for &(cipher, auth) in SUITES.iter().filter(|(cipher, _)| chosen(cipher)) {
        let suite = if auth == "none" { cipher.to_owned() } else { format!("{cipher} + {auth}") };
        for bytes in [64, 1424] {
            let mut out = shard(&file(ASSOCIATIONS, "out", (cipher, auth)))?;
            let mut into = shard(&file(ASSOCIATIONS, "in", (cipher, auth)))?;
            let mut engine = engines::cpu();
            let mut done = Vec::with_capacity(BATCH);
            let mut packets: Vec<Packet> = (0..BATCH)
                .map(|n| {
                    let bytes = packet(n % ASSOCIATIONS, bytes);
                    Packet { token: n as u64, buffer: Buffer::from_packet(&bytes, HEADROOM, TAILROOM) }
                })
                .collect();
            let mut best = [Duration::MAX; 2];
            let mut allocations = [0; 2];
            let (mut spent, mut round) = (0.0, 0);
            while spent < seconds {
                let before = super::allocations();
                let sealing = pass(&mut out, Inside, engine.as_mut(), &mut done, &mut packets)?;
                let between = super::allocations();
                let opening = pass(&mut into, Outside, engine.as_mut(), &mut done, &mut packets)?;
                // The first rounds expand keys and give everything its size.
                if round >= 4 {
                    best = [best[0].min(sealing), best[1].min(opening)];
                    allocations[0] += between - before;
                    allocations[1] += super::allocations() - between;
                    spent += (sealing + opening).as_secs_f64();
                }
                round += 1;
            }
            for (index, direction) in ["seal", "open"].into_iter().enumerate() {
                let nanoseconds = best[index].as_nanos() as f64 / BATCH as f64;
                let row = Row {
                    suite: suite.clone(),
                    direction,
                    bytes,
                    nanoseconds,
                    mpps: 1e3 / nanoseconds,
                    gbit_per_second: bytes as f64 * 8.0 / nanoseconds,
                    allocations: allocations[index],
                };
                tell(&row);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Rules and files of ten thousand.
pub fn policies() -> Result<Policies> {
    let text = file(MANY, "out", ("aes-128-gcm-16", "none"));
    let start = super::cpu_time();
    let sas = SaFile::parse("bench", &text)?;
    let parsed = super::cpu_time();
    sas.shard(Duration::ZERO, Box::new(OsIvs::default()))?;
    let installed = super::cpu_time();

    let mut rules: Spd<Inside> = Spd::new(Policy::Discard);
    for sa in sas.sas() {
        let selector: Selector = sa.selector.clone();
        rules.add(Rule { selector, treatment: Treatment::Protect, priority: 0 });
    }
    let flow = |n: usize| {
        let packet = packet(n, 64);
        ace_esp::packet::ip::parse(&packet).map(|ip| Flow::of(&ip, &packet))
    };
    // In an order that no prefetcher follows; 7919 and 10,000 have no common divisor.
    let all: Vec<Flow> = (0..MANY).filter_map(|n| flow(n * 7919 % MANY)).collect();
    let time = |flows: &[Flow], mut decide: Box<dyn FnMut(&Flow) + '_>| {
        let mut best = Duration::MAX;
        for _ in 0..50 {
            let start = super::cpu_time();
            flows.iter().for_each(&mut decide);
            best = best.min(super::cpu_time() - start);
        }
        best.as_nanos() as f64 / flows.len() as f64
    };
    let uncached = time(&all, Box::new(|flow| _ = std::hint::black_box(rules.decide_uncached(flow))));
    let few = all.get(..64).unwrap_or_default();
    let cached = time(few, Box::new(|flow| _ = std::hint::black_box(rules.decide(flow))));
    Ok(Policies {
        rules: MANY,
        cached_nanoseconds: cached,
        uncached_nanoseconds: uncached,
        parse_seconds: (parsed - start).as_secs_f64(),
        install_seconds: (installed - parsed).as_secs_f64(),
        file_bytes: text.len(),
    })
}

/// The head of the table.
pub fn print_head() {
    println!(
        "\ndata plane and engine: CPU time of one thread, tunnels, batches of {BATCH} packets of {ASSOCIATIONS} security associations"
    );
    println!(
        "{:34} {:4} {:>6} {:>9} {:>8} {:>8} {:>12}",
        "suite", "", "bytes", "ns", "Mpps", "Gbit/s", "allocations"
    );
}

pub fn print(row: &Row) {
    println!(
        "{:34} {:4} {:>6} {:>9.1} {:>8.2} {:>8.2} {:>12}",
        row.suite, row.direction, row.bytes, row.nanoseconds, row.mpps, row.gbit_per_second, row.allocations
    );
}

pub fn print_policies(policies: &Policies) {
    println!(
        "\n{} rules: {:.0} ns a look-up past the flow cache, {:.0} ns from it",
        policies.rules, policies.uncached_nanoseconds, policies.cached_nanoseconds
    );
    println!(
        "{} security associations: {:.3} s to parse {:.1} MB of SA file, {:.3} s to install",
        policies.rules,
        policies.parse_seconds,
        policies.file_bytes as f64 / 1e6,
        policies.install_seconds
    );
}
