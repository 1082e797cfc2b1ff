// SPDX-License-Identifier: Apache-2.0
//! No packet allocates once everything has its size.

mod common;

use std::alloc::System;
use std::collections::VecDeque;

use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Completion, Engine};
use ace_ipsec::{Fate, HEADROOM, Inside, Outside, Packet, Shard, Side, TAILROOM};
use common::{NOW, SaText, clear, pair};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

/// It counts for the whole process, so this is one without a test harness, whose own thread allocates too.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const BATCH: usize = 32;

/// Buffers that go round: through one shard and its engine, and out again.
fn pass<S: Side>(
    shard: &mut Shard,
    side: S,
    engine: &mut CpuEngine,
    done: &mut Vec<Completion>,
    buffers: &mut VecDeque<Buffer>,
    at_once: bool,
) {
    let packets = buffers.drain(..).enumerate();
    let packets = packets.map(|(token, buffer)| Packet { token: token as u64, buffer });
    shard.ingest_by(NOW, side, packets, |action, packet| {
        at_once.then(|| engine.at_once(action, packet)).flatten()
    });
    while !shard.jobs().is_empty() {
        engine.try_submit(shard.jobs());
        engine.wait(done);
        shard.complete(NOW, done);
    }
    while let Some(exit) = shard.poll_exit() {
        assert!(!matches!(exit.fate, Fate::Dropped(_)), "{:?}", exit.fate);
        buffers.push_back(exit.buffer);
    }
}

fn main() {
    for (protocol, cipher, auth) in [
        ("esp", "aes-128-cbc", "hmac-sha1-96"),
        ("esp", "aes-128-ctr", "hmac-sha256-128"),
        ("esp", "3des-cbc", "hmac-md5-96"),
        ("esp", "aes-128-gcm-16", "none"),
        ("esp", "aes-256-ccm-8", "none"),
        ("esp", "chacha20-poly1305", "none"),
        ("esp", "aes-128-gmac", "none"),
        ("esp", "null", "none"),
        ("ah", "null", "hmac-sha512-256"),
    ] {
        for mode in ["tunnel", "transport"] {
            let mut sa = SaText { protocol, mode, ..SaText::new("out") }.suites(cipher, auth);
            if mode == "transport" {
                sa = sa.ends("10.0.0.1", "10.0.0.2");
            }
            let (mut out, mut into) = pair(&sa.more("replay_window = 128"));
            let (mut engine, mut done) = (CpuEngine::new(), Vec::with_capacity(BATCH));
            let inner = clear(&[7; 1300]);
            let mut buffers: VecDeque<_> =
                (0..BATCH).map(|_| Buffer::from_packet(&inner, HEADROOM, TAILROOM)).collect();
            let mut round = |buffers: &mut VecDeque<Buffer>, at_once| {
                pass(&mut out, Inside, &mut engine, &mut done, buffers, at_once);
                pass(&mut into, Outside, &mut engine, &mut done, buffers, at_once);
                for buffer in buffers {
                    assert_eq!(**buffer, inner);
                    // As a reader does that takes the next packet into it.
                    buffer.reset(HEADROOM);
                    buffer.extend_from_slice(&inner);
                }
            };
            for n in 0..4 {
                round(&mut buffers, n % 2 == 0);
            }
            let region = Region::new(ALLOCATOR);
            for n in 0..20 {
                round(&mut buffers, n % 2 == 0);
            }
            let counted = region.change();
            let all = counted.allocations + counted.reallocations;
            assert_eq!(all, 0, "{protocol} {cipher} {auth} {mode}: {counted:?}");
            println!("{protocol} {cipher} {auth} {mode}: no packet allocates");
        }
    }
}
