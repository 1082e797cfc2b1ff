// SPDX-License-Identifier: Apache-2.0
//! The live board and the trace simulator take the same decisions, at the same instants, on the same input: random packets,
//! every policy, with and without a processor beside the slots.

use std::collections::{HashMap, VecDeque};

use crate::common::{Build, Random};
use ace_board::config::{Controller, Host, Link, PolicyLimits};
use ace_board::trace::{Picos, What};
use ace_board::{BoardConfig, DecisionRecord, Policy, Step};
use ace_engine::ConfigurationId;
use ace_engine::algorithm::{AES, DES, MD5, SHA1};
use ace_engine::profile::{Processor, Rate};
use ace_engine::{
    Action, Algorithm, Buffer, Direction, Engine, Iv, Job, Key, Mac, Mode, Need, Operation, Suffix, Tag,
};
use ace_schedule::simulate::{NEVER, PASSES, Packet, Setup, Trace, simulate};
use ace_schedule::{Costs, Terms};
use proptest::prelude::*;

/// So much data that a frame with key and IV is one word of the link below.
const LONGEST: u64 = 20;

/// What a flow's packets need: a cipher, a hash, or both.
#[derive(Clone, Copy, Debug)]
struct Suite {
    cipher: Option<bool>,
    hash: Option<bool>,
}

#[derive(Clone, Debug)]
struct Case {
    slots: usize,
    window: usize,
    port_mhz: f64,
    latency_ms: f64,
    policy: Policy,
    flows: Vec<Suite>,
    /// Flow and blocks of data.
    packets: Vec<(usize, u64)>,
    /// Mb/s of AES, DES, MD5 and SHA-1 on the processor, if there is one; 0: it cannot.
    processor: Option<[u32; 4]>,
}

const ALGORITHMS: [&Algorithm; 4] = [&AES, &DES, &MD5, &SHA1];

fn suites() -> impl Strategy<Value = Suite> {
    let one = prop::option::of(any::<bool>());
    (one.clone(), one).prop_map(|(cipher, hash)| match (cipher, hash) {
        (None, None) => Suite { cipher, hash: Some(true) },
        _ => Suite { cipher, hash },
    })
}

prop_compose! {
    fn cases()(
        slots in 1usize..4, window in 1usize..24, port in 0usize..3, latency in 0usize..3,
        policy in prop::sample::select(Policy::ALL.to_vec()), flows in prop::collection::vec(suites(), 1..5),
        packets in prop::collection::vec((any::<prop::sample::Index>(), 1..LONGEST), 1..60),
        processor in prop::option::of(prop::array::uniform4(0u32..600)),
    ) -> Case {
        Case {
            slots, window, port_mhz: [50.0, 400.0, 5000.0][port], latency_ms: [0.05, 1.0, 50.0][latency], policy,
            packets: packets.into_iter().map(|(flow, blocks)| (flow.index(flows.len()), blocks)).collect(),
            flows, processor,
        }
    }
}

fn operation(random: &mut Random, suite: Suite, flow: usize, blocks: u64) -> Operation {
    let len = 16 * blocks as usize;
    let cipher = suite.cipher.map(|des| {
        let (algorithm, key): (_, &[u8]) = if des { (&DES, &[3; 8]) } else { (&AES, &[1; 16]) };
        Key::cipher(algorithm, Mode::Cbc, key).unwrap()
    });
    let mac = suite.hash.map(|sha| {
        let algorithm = if sha { &SHA1 } else { &MD5 };
        Key::mac(Mac::Hmac(algorithm), &[flow as u8; 16]).unwrap()
    });
    let data = random.bytes(len);
    let iv = |key: &Key| Iv::new(&vec![9; key.iv_len()]).unwrap();
    match (cipher, mac) {
        (Some(cipher), Some(mac)) => {
            let mut buffer = Buffer::from_packet(&data, 0, 12);
            buffer.push_back(12);
            let (iv, span) = (iv(&cipher), (0..len).into());
            let tag = Tag::Write((len..len + 12).into());
            let direction = Direction::Encrypt;
            let suffix = Suffix::EMPTY;
            let action =
                Action::CipherMac { cipher, iv, direction, text: span, mac, over: span, suffix, tag };
            Operation { action, buffer }
        }
        (Some(key), None) => {
            let iv = vec![9; key.iv_len()];
            Operation::cipher(key, Direction::Encrypt, &iv, &data).unwrap()
        }
        (None, mac) => Operation::mac(mac.unwrap(), &data, 12),
    }
}

/// A board whose link takes a tenth of a nanosecond a frame, whose host takes nothing, and whose slots hold one frame.
fn config(case: &Case) -> BoardConfig {
    let mut config = BoardConfig {
        slots: case.slots,
        packet_buffer: case.window,
        frame_buffers: 1,
        controller: Controller { library: "".into(), ..Controller::default() },
        host_link: Link { width: 4096, clock_mhz: 10_000.0, ..Link::default() },
        host: Host { send_ns: 0.0, notice_ns: 0.0, ..Host::default() },
        policy: PolicyLimits {
            latency_ms: case.latency_ms,
            starvation_ms: 2.0 * case.latency_ms,
            ..PolicyLimits::default()
        },
        ..BoardConfig::default()
    };
    config.configuration_port.clock_mhz = case.port_mhz;
    config
}

fn profile(mbps: [u32; 4]) -> Processor {
    let known = ALGORITHMS.iter().zip(mbps).filter(|(_, mbps)| *mbps > 0);
    let rate = |(algorithm, mbps): (&&Algorithm, u32)| Rate {
        algorithm: algorithm.name.into(),
        key_bits: None,
        mbps: f64::from(mbps),
        fixed_ns: 37.0,
    };
    Processor { name: "made up".into(), source: "a test".into(), rate: known.map(rate).collect() }
}

/// What the board did, and the times that its slots took, by packet and pass.
fn live(case: &Case, operations: &[Operation]) -> (Vec<DecisionRecord>, HashMap<(u64, bool), Picos>) {
    let build = Build::new();
    let mut board = build.board_of(config(case), case.policy);
    board.keep_decisions();
    if let Some(mbps) = case.processor {
        board.set_processor(profile(mbps));
    }
    let job = |(at, operation): (usize, &Operation)| Job {
        id: at as u64,
        flow: case.packets[at].0 as u32,
        packet: at as u64,
        operation: operation.clone(),
    };
    let mut jobs: VecDeque<Job> = operations.iter().enumerate().map(job).collect();
    let mut done = Vec::new();
    while done.len() < operations.len() {
        let before = done.len();
        board.try_submit(&mut jobs);
        board.wait(&mut done);
        assert!(done.len() > before, "the board stands still");
    }
    assert!(done.iter().all(|done| done.result.is_ok()));
    let report = board.report();
    assert_eq!(report.events_left_out, 0);
    // The first response of a job is that of the first of its passes that went through a slot.
    let mut given: HashMap<u64, VecDeque<(bool, Picos)>> = HashMap::new();
    for DecisionRecord { at, slot, what } in board.decisions() {
        if let (Step::Pass { packet, second }, true) = (what, *slot < case.slots) {
            given.entry(*packet).or_default().push_back((*second, *at));
        }
    }
    let mut took = HashMap::new();
    for event in &report.events {
        if let What::Response { job, .. } = event.what {
            let (second, at) = given.get_mut(&job).and_then(VecDeque::pop_front).expect("it was given");
            took.insert((job, second), event.end - at);
        }
    }
    (board.decisions().to_vec(), took)
}

/// The same input for the simulator. Suites are numbered by their first packet, as the board meets them.
fn simulated(
    case: &Case,
    operations: &[Operation],
    took: &HashMap<(u64, bool), Picos>,
) -> Vec<DecisionRecord> {
    let build = Build::new();
    let (catalogue, config) = (build.catalogue(), config(case));
    let candidates = |need: &Need| catalogue.candidates(need, &config.device);
    let processor = case.processor.map(profile);
    let mut trace = Trace::default();
    let (mut cpu, mut really) = (Vec::new(), Vec::new());
    for (at, operation) in operations.iter().enumerate() {
        let (first, second) = operation.action.needs();
        let suite: Vec<_> = [Some(first), second].iter().flatten().map(candidates).collect();
        let known = trace.suites.iter().position(|s| *s == suite);
        let suite = known.unwrap_or_else(|| {
            trace.suites.push(suite);
            trace.suites.len() - 1
        });
        let (flow, blocks) = case.packets[at];
        let bytes = 16 * blocks as usize;
        let (mut costs, mut beside, mut real) = ([0; PASSES], [NEVER; PASSES], [0; PASSES]);
        for (pass, need) in [Some(first), second].iter().flatten().enumerate() {
            let preferred = candidates(need)[0];
            costs[pass] = catalogue.configurations[preferred].estimate(need, bytes);
            let ns = processor.as_ref().and_then(|p| p.time_ns(need, bytes));
            beside[pass] = ns.map_or(NEVER, |ns| (ns * 1e3) as Picos);
            real[pass] = took.get(&(at as u64, pass == 1)).copied().unwrap_or(costs[pass]);
        }
        let bytes = operation.buffer.len() as u32;
        trace.packets.push(Packet { arrival: 0, flow: flow as u32, suite: suite as u32, bytes, costs });
        cpu.push(beside);
        really.push(real);
    }
    let loads: Vec<Picos> =
        catalogue.configurations.iter().map(|c| config.port_time(c.bitstream.bytes)).collect();
    let (latency, starvation) = config.bounds();
    let longest = loads.iter().copied().max().unwrap();
    let terms = Terms { starvation, batch: config.batch(), ..Terms::new(latency, longest) };
    let costs = Costs::whole(loads);
    let setup = Setup {
        terms,
        buffer: case.window,
        cpu: case.processor.is_some().then_some(&cpu[..]),
        really: Some((&really, &cpu)),
        aside: 2 * config.link_time(16),
        ..Setup::new(case.slots, &costs, latency)
    };
    let out = simulate(&trace, &setup, case.policy);
    assert_eq!(out.unserved, 0);
    let load =
        |l: &(usize, ConfigurationId, u64, u64)| DecisionRecord { at: l.2, slot: l.0, what: Step::Load(l.1) };
    let pass = |s: &ace_schedule::simulate::Start| DecisionRecord {
        at: s.start,
        slot: s.slot,
        what: Step::Pass { packet: s.packet as u64, second: s.pass == 1 },
    };
    out.loads.iter().map(load).chain(out.starts.iter().map(pass)).collect()
}

/// Order within an instant, in which loads and passes are kept apart by the simulator.
fn sorted(mut all: Vec<DecisionRecord>) -> Vec<DecisionRecord> {
    all.sort_by_key(|taken| {
        let what = match taken.what {
            Step::Load(configuration) => (0, configuration.index() as u64, false),
            Step::Pass { packet, second } => (1, packet, second),
        };
        (taken.at, taken.slot, what)
    });
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(150, 1500), ..ProptestConfig::default() })]

    #[test]
    fn live_board_and_simulator_decide_alike(case in cases(), seed in 1u64..u64::MAX) {
        let mut random = Random(seed);
        let operations: Vec<Operation> = case
            .packets
            .iter()
            .map(|(flow, blocks)| operation(&mut random, case.flows[*flow], *flow, *blocks))
            .collect();
        let (live, took) = live(&case, &operations);
        let simulated = simulated(&case, &operations, &took);
        let (live, simulated) = (sorted(live), sorted(simulated));
        let first = live.iter().zip(&simulated).position(|(a, b)| a != b);
        prop_assert!(
            first.is_none() && live.len() == simulated.len(),
            "decision {first:?}: {:?} live, {:?} simulated, of {} and {}",
            first.map(|at| live[at]), first.map(|at| simulated[at]), live.len(), simulated.len()
        );
    }
}

#[test]
fn a_board_is_used() {
    // The made-up configurations are loaded and serve: the comparison above is not one of nothing with nothing.
    let case = Case {
        slots: 2,
        window: 8,
        port_mhz: 400.0,
        latency_ms: 1.0,
        policy: Policy::Adaptive,
        flows: vec![
            Suite { cipher: Some(true), hash: Some(true) },
            Suite { cipher: Some(false), hash: None },
        ],
        packets: (0..40).map(|at| (at % 2, 1 + at as u64 % 19)).collect(),
        processor: Some([20, 20, 0, 30]),
    };
    let mut random = Random(5);
    let operations: Vec<Operation> =
        case.packets.iter().map(|(l, b)| operation(&mut random, case.flows[*l], *l, *b)).collect();
    let (live, _) = live(&case, &operations);
    let count = |f: &dyn Fn(&DecisionRecord) -> bool| live.iter().filter(|t| f(t)).count();
    assert!(count(&|t| matches!(t.what, Step::Load(_))) >= 2);
    assert!(count(&|t| matches!(t.what, Step::Pass { .. }) && t.slot < 2) > 5);
    assert!(count(&|t| t.slot == 2) > 5);
    assert_eq!(count(&|t| matches!(t.what, Step::Pass { .. })), 60);
}
