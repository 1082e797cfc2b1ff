// SPDX-License-Identifier: Apache-2.0
//! `ace bench dataplane`, the data plane's part: whole packets through a shard and the engine, each direction on its
//! own, the flow cache warm; looking up rules; parsing an SA file. CPU time of this thread alone.

use std::fmt::Write;
use std::time::Duration;

use ace_config::SaFile;
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Completion, Engine};
use ace_ipsec::model::{Flow, Selector};
use ace_ipsec::spd::Spd;
use ace_ipsec::{
    Fate, HEADROOM, Inside, OsIvs, Outside, Packet, Policy, Rule, Shard, Side, TAILROOM, Treatment,
};
use serde::Serialize;

use crate::bare::Bare;
use crate::measure::{ASSOCIATIONS, BATCH, Batch, allocations as allocated, cpu_time, in_turns};
use crate::{BenchError, SuiteTiming, engine};

/// Rules of the look-up and SAs of the file.
const MANY: usize = 10_000;

/// Names as in SA files, and that of the engine's table.
pub(crate) const SUITES: &[(&str, &str, &str)] = &[
    ("aes-128-gcm-16", "none", "aes-128-gcm"),
    ("aes-256-gcm-16", "none", "aes-256-gcm"),
    ("chacha20-poly1305", "none", "chacha20-poly1305"),
    ("aes-128-ccm-16", "none", "aes-128-ccm"),
    ("aes-128-cbc", "hmac-sha1-96", "aes-128-cbc + sha1"),
    ("aes-128-cbc", "hmac-sha256-128", "aes-128-cbc + sha256"),
    ("camellia-128-cbc", "hmac-sha256-128", "camellia-128-cbc + sha256"),
    ("3des-cbc", "hmac-sha1-96", "3des-cbc + sha1"),
    ("serpent-128-cbc", "hmac-sha1-96", "serpent-128-cbc + sha1"),
    ("twofish-128-cbc", "hmac-sha1-96", "twofish-128-cbc + sha1"),
];

/// What does not depend on a suite.
#[derive(Serialize)]
pub struct Policies {
    /// Rules, and SAs of the file.
    pub rules: usize,
    /// A look-up that the flow cache answers.
    pub cached_nanoseconds: f64,
    /// A look-up past the flow cache.
    pub uncached_nanoseconds: f64,
    /// Text to checked SAs.
    pub parse_seconds: f64,
    /// SAs into a shard.
    pub install_seconds: f64,
    /// Length of the text.
    pub file_bytes: usize,
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

fn shard(text: &str) -> Result<Shard, BenchError> {
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

/// Both ends of the tunnels, and the packets that go through them and come back.
pub(crate) struct Gates {
    out: Shard,
    into: Shard,
    engine: Box<dyn Engine>,
    done: Vec<Completion>,
    packets: Vec<Packet>,
}

impl Gates {
    pub(crate) fn new(
        suites: (&str, &str),
        bytes: usize,
        engine: Box<dyn Engine>,
    ) -> Result<Self, BenchError> {
        let packets = (0..BATCH).map(|n| {
            let bytes = packet(n % ASSOCIATIONS, bytes);
            Packet { token: n as u64, buffer: Buffer::from_packet(&bytes, HEADROOM, TAILROOM) }
        });
        Ok(Self {
            out: shard(&file(ASSOCIATIONS, "out", suites))?,
            into: shard(&file(ASSOCIATIONS, "in", suites))?,
            engine,
            done: Vec::with_capacity(BATCH),
            packets: packets.collect(),
        })
    }

    /// How long a batch takes each way, and what it allocates.
    pub(crate) fn batch(&mut self) -> Result<[(Duration, usize); 2], BenchError> {
        let Self { out, into, engine, done, packets } = self;
        let sealing = pass(out, Inside, engine.as_mut(), done, packets)?;
        let opening = pass(into, Outside, engine.as_mut(), done, packets)?;
        Ok([sealing, opening])
    }
}

/// A batch through a shard: how long it took and what it allocated. The buffers come back in `packets`.
fn pass<S: Side>(
    shard: &mut Shard,
    side: S,
    engine: &mut dyn Engine,
    done: &mut Vec<Completion>,
    packets: &mut Vec<Packet>,
) -> Result<(Duration, usize), BenchError> {
    let (before, start) = (allocated(), cpu_time());
    shard.ingest_by(Duration::ZERO, side, packets.drain(..), |action, packet| engine.at_once(action, packet));
    while shard.in_flight() > 0 {
        engine.try_submit(shard.jobs());
        engine.wait(done);
        shard.complete(Duration::ZERO, done);
    }
    while let Some(exit) = shard.poll_exit() {
        if let Fate::Dropped(cause) = exit.fate {
            return Err(BenchError::Dropped(cause));
        }
        packets.push(Packet { token: exit.token, buffer: exit.buffer });
    }
    Ok((cpu_time() - start, allocated() - before))
}

/// Every suite that starts with one of `names`, or every one.
pub fn rows(names: &[String], seconds: f64) -> Result<Vec<SuiteTiming>, BenchError> {
    let mut rows = Vec::new();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    for &(cipher, auth, alone) in SUITES.iter().filter(|(cipher, ..)| chosen(cipher)) {
        let suite = if auth == "none" { cipher.to_owned() } else { format!("{cipher} + {auth}") };
        for bytes in [64, 1424] {
            let mut ours = Gates::new((cipher, auth), bytes, ace_ipsec_mb::cpu_engine())?;
            let mut portable = Gates::new((cipher, auth), bytes, Box::new(CpuEngine::new()))?;
            let mut bare = engine::protection(alone).and_then(|protection| Bare::new(protection, bytes));
            let mut allocations = [0; 2];
            let mut our_batch = |counts| {
                let batch = ours.batch()?;
                for (sum, (_, allocated)) in allocations.iter_mut().zip(batch) {
                    *sum += if counts { allocated } else { 0 };
                }
                Ok(batch.map(|(took, _)| took))
            };
            let mut their_batch = |_| Ok(portable.batch()?.map(|(took, _)| took));
            let mut bare_batch = bare.as_mut().map(|bare| |_| Ok([true, false].map(|way| bare.batch(way))));
            let mut things: Vec<Batch<'_, 2>> = vec![&mut our_batch, &mut their_batch];
            if let Some(bare) = &mut bare_batch {
                things.push(bare);
            }
            let times = in_turns(2.0 * seconds, &mut things)?;
            let &[ours, theirs, ref bare @ ..] = &times[..] else { return Err(BenchError::Nothing(suite)) };
            for (way, direction) in ["seal", "open"].into_iter().enumerate() {
                let (nanoseconds, portable_nanoseconds) = (ours[way], theirs[way]);
                rows.push(SuiteTiming {
                    suite: suite.clone(),
                    direction,
                    bytes,
                    nanoseconds,
                    mpps: 1e3 / nanoseconds,
                    gbit_per_second: bytes as f64 * 8.0 / nanoseconds,
                    allocations: allocations[way],
                    portable_nanoseconds,
                    bare_nanoseconds: bare.first().map(|bare| bare[way]),
                });
            }
        }
    }
    Ok(rows)
}

/// Rules and files of ten thousand.
pub fn policies() -> Result<Policies, BenchError> {
    let text = file(MANY, "out", ("aes-128-gcm-16", "none"));
    let start = cpu_time();
    let sas = SaFile::parse("bench", &text)?;
    let parsed = cpu_time();
    sas.shard(Duration::ZERO, Box::new(OsIvs::default()))?;
    let installed = cpu_time();

    let mut rules: Spd<Inside> = Spd::new(Policy::Discard);
    for sa in sas.sas() {
        let selector: Selector = sa.selector.clone();
        rules.add(Rule { selector, treatment: Treatment::Protect, priority: 0, if_id: 0 });
    }
    let flow = |n: usize| {
        let packet = packet(n, 64);
        ace_ipsec::packet::ip::parse(&packet).map(|ip| ip.flow(&packet))
    };
    // In an order that no prefetcher follows; 7919 and 10,000 have no common divisor.
    let all: Vec<Flow> = (0..MANY).filter_map(|n| flow(n * 7919 % MANY)).collect();
    let time = |flows: &[Flow], mut decide: Box<dyn FnMut(&Flow) + '_>| {
        let mut best = Duration::MAX;
        for _ in 0..50 {
            let start = cpu_time();
            flows.iter().for_each(&mut decide);
            best = best.min(cpu_time() - start);
        }
        best.as_nanos() as f64 / flows.len() as f64
    };
    let uncached = time(&all, Box::new(|flow| _ = std::hint::black_box(rules.decide_uncached(0, flow))));
    let few = all.get(..64).unwrap_or_default();
    let cached = time(few, Box::new(|flow| _ = std::hint::black_box(rules.decide(0, flow))));
    Ok(Policies {
        rules: MANY,
        cached_nanoseconds: cached,
        uncached_nanoseconds: uncached,
        parse_seconds: (parsed - start).as_secs_f64(),
        install_seconds: (installed - parsed).as_secs_f64(),
        file_bytes: text.len(),
    })
}
