// SPDX-License-Identifier: Apache-2.0
//! Traffic while SAs are rekeyed and removed, and while it moves between two engines, one of which delays and reorders:
//! every packet that had an SA arrives, as it was, next in its SA, and nothing leaves in clear. A million packets with
//! ACE_TESTS=all.

use std::collections::{HashMap, VecDeque};

use crate::common::{NOW, SaText, file, packet, udp4};
use ace_engine::software::CpuEngine;
use ace_engine::{Capabilities, Completion, Engine, Job};
use ace_ipsec::{
    Cause, Exit, Fate, How, Inside, Outside, Policy, Rule, RuleId, SaId, SaSpec, SeededIvs, Shard, Treatment,
};
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

/// Both ends of one flow: outbound here, inbound there.
struct Flow {
    rule: RuleId<Inside>,
    current: Option<(SaId, SaId)>,
    next: u32,
}

/// An engine that is slow and keeps no order: it works on whichever of its jobs it likes, on none of them at times,
/// and when its queue is full the rest has to go elsewhere.
struct Delaying {
    cpu: CpuEngine,
    rng: ChaCha20Rng,
    queue: VecDeque<Job>,
}

impl Delaying {
    const QUEUE: usize = 40;

    fn execute(&mut self, count: usize, done: &mut Vec<Completion>) -> usize {
        for _ in 0..count {
            let at = self.rng.next_u32() as usize % self.queue.len();
            let mut one = self.queue.swap_remove_back(at).into_iter().collect();
            self.cpu.try_submit(&mut one);
            self.cpu.wait(done);
        }
        self.queue.len()
    }
}

impl Engine for Delaying {
    fn name(&self) -> &'static str {
        "delaying"
    }

    fn capabilities(&self) -> &Capabilities {
        self.cpu.capabilities()
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        let room = (Self::QUEUE - self.queue.len()).min(jobs.len());
        self.queue.extend(jobs.drain(..room));
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        let count = self.rng.next_u32() as usize % (self.queue.len() + 1);
        self.execute(count, done)
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.execute(self.queue.len().min(1), done)
    }
}

/// Two engines of a data plane: jobs go to one of them, then to the other, while that one still has some.
struct Engines {
    rng: ChaCha20Rng,
    both: [Box<dyn Engine>; 2],
    in_use: usize,
    /// How often the engine changed while the one before had jobs.
    changes: u64,
    /// Jobs that each finished.
    finished: [u64; 2],
}

impl Engines {
    fn new(seed: u64) -> Self {
        let rng = |seed| ChaCha20Rng::seed_from_u64(seed);
        let delaying = Delaying { cpu: CpuEngine::new(), rng: rng(seed + 100), queue: VecDeque::new() };
        let both: [Box<dyn Engine>; 2] = [Box::new(CpuEngine::new()), Box::new(delaying)];
        Self { rng: rng(seed), both, in_use: 0, changes: 0, finished: [0; 2] }
    }

    /// Submits to the engine in use, sometimes to the other from now on, and takes what either has finished.
    fn work(&mut self, shard: &mut Shard, all: bool) -> Vec<Exit> {
        let change = self.rng.next_u32().is_multiple_of(4);
        loop {
            if change || all {
                let mut none = Vec::new();
                self.changes += u64::from(self.both[self.in_use].drain(&mut none) > 0);
                self.finish(shard, self.in_use, none);
                self.in_use = 1 - self.in_use;
            }
            self.both[self.in_use].try_submit(shard.jobs());
            for engine in 0..2 {
                let mut done = Vec::new();
                if all {
                    self.both[engine].wait(&mut done);
                } else {
                    self.both[engine].drain(&mut done);
                }
                self.finish(shard, engine, done);
            }
            if !all || shard.in_flight() == 0 {
                return std::iter::from_fn(|| shard.poll_exit()).collect();
            }
        }
    }

    fn finish(&mut self, shard: &mut Shard, engine: usize, mut done: Vec<Completion>) {
        self.finished[engine] += done.len() as u64;
        shard.complete(NOW, &mut done);
    }
}

/// What a flow sends as its packet of this number.
fn clear(flow: usize, number: u32) -> Vec<u8> {
    let name = flow as u8;
    udp4([10, 0, name, 1], [10, 1, name, 1], (1, 2), &number.to_be_bytes())
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
    let (mut sending, mut receiving) = (Engines::new(3), Engines::new(4));
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut spi = 0x100;
    let mut flows: Vec<Flow> = (0..FLOWS)
        .map(|flow| {
            let selector = specs(flow, spi).0.selector;
            let rule =
                here.add_inside(Rule { selector, treatment: Treatment::Protect, priority: 0, if_id: 0 });
            Flow { rule, current: None, next: 0 }
        })
        .collect();
    // Of each SA its last sequence number at the sender, and what has to arrive, in this order: flow and number.
    let mut newest: HashMap<SaId, u32> = HashMap::new();
    let mut expected: HashMap<SaId, VecDeque<(usize, u32)>> = HashMap::new();
    // Inbound SAs without a sender.
    let mut old: Vec<SaId> = Vec::new();
    let (mut sent, mut arrived, mut without_sa, mut rekeyed, mut removed) = (0, 0, 0, 0, 0);
    while sent < total || !expected.values().all(VecDeque::is_empty) {
        let last = sent >= total;
        for _ in 0..if last { 0 } else { 1 + rng.next_u32() % 32 } {
            let flow = rng.next_u32() as usize % FLOWS;
            let before = match rng.next_u32() % 64 {
                0 | 1 => {
                    spi += 1;
                    let (out, into) = specs(flow, spi);
                    let into = there.install_inbound(NOW, &into).unwrap();
                    let out = here.install_outbound(NOW, &out, flows[flow].rule).unwrap();
                    rekeyed += 1;
                    flows[flow].current.replace((out, into))
                }
                2 => flows[flow].current.take(),
                _ => None,
            };
            // The sender's end at once, with packets under way; the receiver's when nothing of it is on the way.
            if let Some((out, into)) = before {
                here.remove(out).unwrap();
                old.push(into);
                removed += 1;
            }
            let number = flows[flow].next;
            flows[flow].next += 1;
            match flows[flow].current {
                Some((_, into)) => expected.entry(into).or_default().push_back((flow, number)),
                None => without_sa += 1,
            }
            here.ingest(NOW, Inside, [packet(&clear(flow, number))]);
            sent += 1;
        }
        for exit in sending.work(&mut here, last) {
            match exit.fate {
                Fate::ToOutside(How::Protected) => {
                    let newest = newest.entry(exit.sa.unwrap()).or_default();
                    let sequence = u32::from_be_bytes(exit.buffer[24..28].try_into().unwrap());
                    assert_eq!(sequence, *newest + 1, "an SA's packets leave in order, none is left out");
                    *newest = sequence;
                    there.ingest(NOW, Outside, [packet(&exit.buffer)]);
                }
                Fate::Dropped(Cause::NoSa) => {}
                other => panic!("{other:?}"),
            }
        }
        for exit in receiving.work(&mut there, last) {
            assert_eq!(exit.fate, Fate::ToInside(How::Decapsulated));
            let next = expected.get_mut(&exit.sa.unwrap()).and_then(VecDeque::pop_front);
            let (flow, number) = next.expect("came twice or never was");
            assert_eq!(*exit.buffer, clear(flow, number), "another packet than the next one of its SA");
            arrived += 1;
        }
        old.retain(|&into| {
            let arrived = expected.get(&into).is_none_or(VecDeque::is_empty);
            if arrived {
                there.remove(into).unwrap();
                expected.remove(&into);
            }
            !arrived
        });
    }
    assert_eq!(arrived + without_sa, sent);
    assert_eq!(here.counters().dropped.get(Cause::NoSa), without_sa);
    assert_eq!(here.counters().dropped.total(), without_sa);
    assert_eq!(here.counters().bypassed.packets, 0);
    assert_eq!(there.counters().dropped.total(), 0);
    assert!(rekeyed > 100 && removed > 100 && without_sa > 0, "{rekeyed} {removed} {without_sa}");
    assert!(old.is_empty() && there.sas().count() <= FLOWS && here.sas().count() <= FLOWS);
    for engines in [&sending, &receiving] {
        let share = engines.finished.map(|finished| finished * 10 / total);
        assert!(share[0] > 0 && share[1] > 0, "both engines work: {:?}", engines.finished);
        assert!(engines.changes > total / 1000, "{} changes with jobs under way", engines.changes);
    }
    println!(
        "{sent} packets, {arrived} arrived, {without_sa} without SA, {rekeyed} SAs made, {removed} removed, \
         engines changed {} and {} times with jobs under way, jobs {:?} and {:?}",
        sending.changes, receiving.changes, sending.finished, receiving.finished
    );
}
