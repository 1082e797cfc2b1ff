// SPDX-License-Identifier: Apache-2.0
//! Which of two context sets for the same frames is loaded: the one for throughput or the one for latency, by the packets
//! that wait.

use crate::common::{Build, Random, SoftSlots, compute, run_all, run_one};
use ace_board::config::{SlotKind, SlotLimits};
use ace_board::manifest::Blocks;
use ace_board::model::{Frame, ModelError, Options, RunError, SlotModel, Stopped};
use ace_board::pass::{Pass, Task};
use ace_board::trace::What;
use ace_board::{Board, BoardConfig, Catalogue, Configuration, ModelSource, Models, Policy};
use ace_engine::Secret;
use ace_engine::algorithm::SHA1;

/// A set beside that of a name which does the same, with contexts and clocks of a block alone for either.
fn second(build: &Build, name: &str, paces: [(u32, u32); 2]) -> String {
    let other = format!("{name}_latency");
    let folder = |name: &str| build.at("configurations").join(name);
    std::fs::create_dir_all(folder(&other)).unwrap();
    std::fs::copy(build.bit_file(name), folder(&other).join(format!("{name}.bit"))).unwrap();
    let text = std::fs::read_to_string(folder(name).join("manifest.json")).unwrap();
    for (of, (contexts, alone)) in [name, &other].into_iter().zip(paces) {
        let more =
            format!(r#""context_set":true,"in_flight":16,"contexts":{contexts},"clocks_alone":{alone}"#);
        let text = text.replace(r#""unknown":1"#, &more);
        let text = text.replace(&format!(r#""name":"{name}""#), &format!(r#""name":"{of}""#));
        std::fs::write(folder(of).join("manifest.json"), text).unwrap();
    }
    other
}

/// The names of what a board has loaded.
fn loads(board: &Board) -> Vec<String> {
    let report = board.report();
    let load = |event: &ace_board::trace::Event| match event.what {
        What::Load { configuration, .. } => Some(report.configurations[configuration].name.clone()),
        _ => None,
    };
    report.events.iter().filter_map(load).collect()
}

#[test]
fn the_packets_that_wait_say_which_set_is_loaded() {
    let build = Build::new();
    let latency = second(&build, "sha1", [(112, 1008), (148, 740)]);
    for banks in [1, 2] {
        for policy in Policy::ALL {
            let slot = SlotLimits { kind: SlotKind::Array, banks, ..SlotLimits::default() };
            let config = BoardConfig { slots: 1, packet_buffer: 16, slot, ..BoardConfig::default() };
            let new = || {
                let source = Box::new(build.software.clone());
                Board::with_source(config.clone(), build.catalogue(), policy, Models::Rtl, source).unwrap()
            };
            let mut random = Random(5);
            let tasks: Vec<_> = (0..16).map(|_| random.operation(&SHA1, 1500)).collect();
            let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
            let (mut one, mut many) = (new(), new());
            let single = |board: &mut Board| -> Vec<_> {
                tasks.iter().map(|task| run_one(board, task.clone())).collect()
            };
            assert_eq!(single(&mut one), wanted);
            assert_eq!(loads(&one), [latency.as_str()], "{policy}");
            for flows in [1, 16] {
                many = new();
                assert_eq!(run_all(&mut many, &tasks, flows), wanted);
                // On-demand never runs two at once.
                let name = if policy == Policy::OnDemand { latency.as_str() } else { "sha1" };
                assert_eq!(loads(&many), [name], "{policy}");
            }
            // What is there is used, as the count alone does not pay a load.
            assert_eq!(run_all(&mut one, &tasks, 16), wanted);
            let first = tasks[0].clone();
            assert_eq!(run_one(&mut many, first), wanted[0]);
            assert_eq!((loads(&one).len(), loads(&many).len()), (1, 1), "{policy}");
        }
    }
}

/// Slots that compute in software, in the clocks of their set for as many packets as there are.
struct Paced(SoftSlots);

struct PacedSlot {
    inner: Box<dyn SlotModel>,
    blocks: Blocks,
    clocks: u64,
    /// Frames that joined, and how many of their blocks are left.
    joined: Vec<(u64, Frame, f64)>,
}

impl ModelSource for Paced {
    fn runs(&self, _: SlotKind) -> bool {
        true
    }

    fn open(&self, set: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        let (inner, blocks) = (self.0.open(set, models)?, set.blocks.unwrap());
        Ok(Box::new(PacedSlot { inner, blocks, clocks: 0, joined: Vec::new() }))
    }
}

impl SlotModel for PacedSlot {
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError> {
        self.inner.run(frames, options)?;
        let clocks = u64::from(self.blocks.alone.max(self.blocks.interval * frames.len() as u32));
        let start = self.clocks;
        for frame in frames {
            (frame.first_in, frame.last_out) = (start, start + frame.request.len() as u64 / 64 * clocks);
            self.clocks = self.clocks.max(frame.last_out + 1);
        }
        Ok(())
    }

    fn join(&mut self, number: u64, mut frame: Frame) -> u64 {
        self.inner.run(std::slice::from_mut(&mut frame), &Options::default()).unwrap();
        (frame.first_in, frame.last_out) = (self.clocks, 0);
        let blocks = frame.request.len() as u64 / 64;
        self.joined.push((number, frame, blocks as f64));
        self.clocks
    }

    fn go(&mut self, until: u64, _: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        let several = self.blocks.interval * self.joined.len() as u32;
        let pace = f64::from(self.blocks.alone.max(several));
        let least = |at: &usize| (self.joined[*at].2 * pace).ceil() as u64;
        let Some(next) = (0..self.joined.len()).min_by_key(least) else { return Ok(None) };
        let clocks = least(&next).max(1).min(until.saturating_sub(self.clocks));
        let answered = least(&next) <= clocks;
        self.clocks += clocks;
        self.joined.iter_mut().for_each(|(_, _, left)| *left -= clocks as f64 / pace);
        if !answered {
            return Ok(None);
        }
        let (number, mut frame, _) = self.joined.remove(next);
        frame.last_out = self.clocks - 1;
        Ok(Some((number, frame)))
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn clocks(&self) -> u64 {
        self.clocks
    }
}

/// When a board has done its work, and what it has loaded: packets alone, bursts of 16, and both again.
fn mixed(policy: Policy, sets: &[&str]) -> (u64, Vec<String>) {
    let build = Build::new();
    second(&build, "sha1", [(112, 1008), (148, 740)]);
    let mut catalogue = build.catalogue();
    catalogue.configurations.retain(|c| sets.contains(&c.name.as_str()));
    let slot = SlotLimits { kind: SlotKind::Array, ..SlotLimits::default() };
    let config = BoardConfig { slots: 1, packet_buffer: 16, slot, ..BoardConfig::default() };
    let source = Box::new(Paced(build.software.clone()));
    let mut board = Board::with_source(config, catalogue, policy, Models::Rtl, source).unwrap();
    let task = |n: u8| {
        let pass = Pass::Hmac { algorithm: &SHA1, key: Secret::new(vec![n; 20]), output_len: 12 };
        Task { pass, data: vec![n; 1472] }
    };
    let tasks: Vec<_> = (0..240).map(task).collect();
    for _ in 0..2 {
        for task in &tasks[..50] {
            assert_eq!(run_one(&mut board, task.clone()), compute(task.clone()));
        }
        for burst in tasks.chunks(16) {
            let wanted: Vec<_> = burst.iter().map(|task| compute(task.clone())).collect();
            assert_eq!(run_all(&mut board, burst, 64), wanted);
        }
    }
    (board.report().totals.total, loads(&board))
}

#[test]
fn a_set_that_is_missed_for_long_enough_is_loaded() {
    let [many, few] = ["sha1", "sha1_latency"];
    for policy in [Policy::DoubleBuffer, Policy::Landlord, Policy::Rotation, Policy::Adaptive] {
        let (time, loads) = mixed(policy, &[many, few]);
        assert_eq!(loads, [few, many, few, many], "{policy}");
        for one in [many, few] {
            let (alone, loads) = mixed(policy, &[one]);
            assert_eq!(loads, [one]);
            assert!(time < alone, "{policy}: {time}, with {one} alone {alone}");
        }
    }
}

#[test]
fn a_manifest_with_clocks_that_cannot_be_is_said() {
    for paces in [(0, 740), (148, 147)] {
        let build = Build::new();
        let other = second(&build, "sha1", [(112, 1008), paces]);
        let catalogue = Catalogue::find(Some(build.folder.path()));
        let [problem] = &catalogue.problems[..] else { panic!("{:?}", catalogue.problems) };
        assert!(problem.contains(&other) && problem.contains("clocks_alone make no sense"), "{problem}");
    }
}
