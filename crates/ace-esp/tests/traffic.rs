// SPDX-License-Identifier: Apache-2.0
//! Traffic while SAs are rekeyed and removed and engines change: nothing is lost, nothing overtakes within an SA,
//! nothing leaves in clear. A million packets with ACE_TESTS=all.

mod common;

use std::collections::VecDeque;

use ace_engine::software::CpuEngine;
use ace_engine::{Completion, Engine, Job};
use ace_esp::{
    Cause, Exit, Fate, How, Inside, Outside, Policy, Rule, RuleId, SaId, SaSpec, SeededIvs, Shard, Treatment,
};
use common::{NOW, SaText, file, packet, udp4};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const FLOWS: usize = 20;
const SUITES: [(&str, &str); 6] = [
    ("null", "hmac-sha1-96"),
    ("aes-128-cbc", "hmac-sha1-96"),
    ("aes-128-ctr", "aes-cmac-96"),
    ("aes-256-cbc", "hmac-sha256-128"),
    ("aes-128-gcm-16", "none"),
    ("chacha20-poly1305", "none"),
];

/// Both ends of one flow.
struct Flow {
    rule: RuleId<Inside>,
    /// The SA in use, and those that are to be removed when what they carried has arrived.
    current: Option<(SaId, SaId)>,
    old: Vec<(SaId, SaId)>,
    /// Numbers of packets sent and not dropped for want of an SA.
    expected: VecDeque<u32>,
    next: u32,
}

/// Engines that hold jobs back and answer when they like.
struct Engines {
    rng: ChaCha20Rng,
    cpu: CpuEngine,
    held: Vec<Completion>,
}

impl Engines {
    fn below(&mut self, n: usize) -> usize {
        self.rng.next_u32() as usize % n
    }

    /// Executes, holds back, and gives answers in another order.
    fn work(&mut self, shard: &mut Shard, all: bool) -> Vec<Exit> {
        let mut jobs: VecDeque<Job> = shard.jobs().drain(..).collect();
        while !jobs.is_empty() {
            self.cpu.try_submit(&mut jobs);
            self.cpu.wait(&mut self.held);
        }
        let count = if all { self.held.len() } else { self.below(self.held.len() + 1) };
        let mut done: Vec<_> = (0..count)
            .map(|_| {
                let at = self.below(self.held.len());
                self.held.swap_remove(at)
            })
            .collect();
        shard.complete(NOW, &mut done);
        std::iter::from_fn(|| shard.poll_exit()).collect()
    }
}

fn specs(flow: usize, spi: u32) -> (SaSpec, SaSpec) {
    let (cipher, auth) = SUITES[spi as usize % SUITES.len()];
    let selector = format!("selector = {{ src = \"10.0.{flow}.1\", dst = \"10.1.{flow}.1\" }}");
    let of = |direction| {
        let sa = SaText { spi, ..SaText::new(direction) }.suites(cipher, auth);
        file(&sa.more(&selector).more("replay_window = 4096").toml()).sas()[0].clone()
    };
    (of("out"), of("in"))
}

#[test]
fn nothing_is_lost_nothing_overtakes_nothing_leaves_in_clear() {
    let all = std::env::var("ACE_TESTS").is_ok_and(|tests| tests == "all");
    let total = if all { 1_000_000 } else { 20_000 };
    let shard = |seed| Shard::new(Policy::Bypass, Box::new(SeededIvs::new(seed)));
    let (mut here, mut there) = (shard(1), shard(2));
    let engines =
        |seed| Engines { rng: ChaCha20Rng::seed_from_u64(seed), cpu: CpuEngine::new(), held: vec![] };
    let (mut sending, mut receiving) = (engines(3), engines(4));
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut spi = 0x100;
    let mut flows: Vec<Flow> = (0..FLOWS)
        .map(|flow| {
            let selector = specs(flow, spi).0.selector;
            let rule = here.add_inside(Rule { selector, treatment: Treatment::Protect, priority: 0 });
            Flow { rule, current: None, old: vec![], expected: VecDeque::new(), next: 0 }
        })
        .collect();
    let (mut sent, mut arrived, mut without_sa, mut rekeyed) = (0, 0, 0, 0);
    while sent < total || flows.iter().any(|flow| !flow.expected.is_empty()) {
        let last = sent >= total;
        for _ in 0..if last { 0 } else { 1 + rng.next_u32() % 32 } {
            let flow = rng.next_u32() as usize % FLOWS;
            match rng.next_u32() % 64 {
                0 | 1 => {
                    spi += 1;
                    let (out, into) = specs(flow, spi);
                    let pair = (
                        here.install_outbound(NOW, &out, flows[flow].rule).unwrap(),
                        there.install_inbound(NOW, &into).unwrap(),
                    );
                    let before = flows[flow].current.replace(pair);
                    // Outbound first and at once; inbound when nothing of it is on the way.
                    if let Some(old) = before {
                        here.remove(old.0).unwrap();
                        flows[flow].old.push(old);
                    }
                    rekeyed += 1;
                }
                2 => {
                    if let Some(old) = flows[flow].current.take() {
                        here.remove(old.0).unwrap();
                        flows[flow].old.push(old);
                    }
                }
                _ => {}
            }
            let number = flows[flow].next;
            flows[flow].next += 1;
            let name = flow as u8;
            let clear = udp4([10, 0, name, 1], [10, 1, name, 1], (1, 2), &number.to_be_bytes());
            match flows[flow].current {
                Some(_) => flows[flow].expected.push_back(number),
                None => without_sa += 1,
            }
            here.ingest(NOW, Inside, [packet(&clear)]);
            sent += 1;
        }
        for exit in sending.work(&mut here, last) {
            match exit.fate {
                Fate::ToOutside(How::Protected) => {
                    there.ingest(NOW, Outside, [packet(&exit.buffer)]);
                }
                Fate::Dropped(Cause::NoSa) => {}
                other => panic!("{other:?}"),
            }
        }
        for exit in receiving.work(&mut there, last) {
            assert_eq!(exit.fate, Fate::ToInside(How::Decapsulated));
            let flow = &mut flows[usize::from(exit.buffer[14])];
            let number = u32::from_be_bytes(exit.buffer[28..32].try_into().unwrap());
            let at = flow.expected.iter().position(|expected| *expected == number);
            // A packet of a new SA may overtake one of an old SA; of one SA none does (tests of the restorer).
            assert!(at.is_some(), "came twice or never was");
            flow.expected.remove(at.unwrap());
            arrived += 1;
        }
        for flow in &mut flows {
            if flow.expected.is_empty() {
                for (_, inbound) in flow.old.drain(..) {
                    there.remove(inbound).unwrap();
                }
            }
        }
    }
    assert_eq!(arrived + without_sa, sent);
    assert_eq!(here.counters().dropped.get(Cause::NoSa), without_sa);
    assert_eq!(here.counters().dropped.total(), without_sa);
    assert_eq!(here.counters().bypassed.packets, 0);
    assert_eq!(there.counters().dropped.total(), 0);
    assert!(rekeyed > 100 && without_sa > 0, "{rekeyed} {without_sa}");
    assert!(there.sas().count() <= 2 * FLOWS && here.sas().count() <= FLOWS);
}
