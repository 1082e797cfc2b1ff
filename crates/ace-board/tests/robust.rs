// SPDX-License-Identifier: Apache-2.0
//! Every built configuration under back-pressure, resets, changing keys and malformed frames; frame by frame on
//! its model, without the board around it.

use std::collections::BTreeMap;

use crate::common::{Random, algorithms, built, cases, compute};
use ace_board::board::SharedObjects;
use ace_board::capability::Capability;
use ace_board::frame::{self, BEAT, HEADER, KeySection, Status, flag, op};
use ace_board::model::{Frame, Options, RunError, SlotModel};
use ace_board::pass::{Pass, Task};
use ace_board::{Configuration, ModelSource, Models};
use ace_engine::{Direction, Kind, Mode, Secret};

/// A request, and the answer that it must have.
struct Case {
    request: Vec<u8>,
    tag: u16,
    expected: Result<Vec<u8>, Option<Status>>,
}

/// An operation that the configuration serves and that fits one frame.
fn operation(random: &mut Random, configuration: &Configuration, longest: u64) -> Task {
    loop {
        let algorithm = *random.pick(&algorithms(configuration));
        let operation = random.operation(algorithm, longest);
        let long_key = matches!(&operation.pass, Pass::Hmac { key, .. } if key.len() > 64);
        if configuration.serves(&operation.pass.need()) && !long_key {
            return operation;
        }
    }
}

fn key(operation: &Task) -> KeySection<'_> {
    operation.pass.key().map_or(KeySection::Kept, |key| KeySection::Fresh(key.as_bytes()))
}

/// The same key for another operation of the same sort.
fn with_key_of(mut operation: Task, other: &Task) -> Option<Task> {
    match (&mut operation.pass, &other.pass) {
        (Pass::Cipher { algorithm, key, .. }, Pass::Cipher { algorithm: a, key: k, .. })
            if algorithm.code == a.code =>
        {
            // A kept triple DES key makes the next frame triple DES.
            (*algorithm, *key) = (a, k.clone());
        }
        (Pass::Hmac { key, .. }, Pass::Hmac { key: k, .. }) => *key = k.clone(),
        (Pass::Hash { .. }, _) => {}
        _ => return None,
    }
    Some(operation)
}

fn good(operation: &Task, key: KeySection<'_>, tag: u16) -> Case {
    let request = frame::request(operation, key, tag).to_vec();
    Case { request, tag, expected: Ok(compute(operation.clone()).unwrap()) }
}

/// Sends all cases in one go and compares the answers. Tags tell them apart where a slot works on several frames.
/// The clocks in which they ended.
fn run(model: &mut dyn SlotModel, cases: &[Case], options: &Options, what: &str) -> Vec<u64> {
    let space = |c: &Case| c.request.len() + 64;
    let mut frames: Vec<Frame> = cases.iter().map(|c| Frame::new(c.request.clone(), space(c))).collect();
    model.run(&mut frames, options).unwrap_or_else(|e| panic!("{what}: {e}"));
    for (at, (case, frame)) in cases.iter().zip(&frames).enumerate() {
        let what = format!("{what}: frame {at} {:02x?}", &case.request[..case.request.len().min(HEADER)]);
        let answer = frame::response(&frame.response).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(answer.tag, case.tag, "{what}");
        match &case.expected {
            Ok(result) => {
                assert_eq!(answer.status, Status::Ok, "{what}");
                assert_eq!(answer.result, &result[..], "{what}");
            }
            Err(Some(status)) => assert_eq!(answer.status, *status, "{what}"),
            Err(None) => assert_ne!(answer.status, Status::Ok, "{what}"),
        }
    }
    frames.iter().map(|f| f.last_out).collect()
}

/// Calls `test` with a fresh slot of every configuration, variants only if all is tested: they have their base's model.
fn each(test: impl Fn(&Configuration, &mut dyn SlotModel)) {
    for configuration in built().configurations.iter().filter(|c| cases(c.variant_of.is_none(), true)) {
        let mut model = SharedObjects.open(configuration, Models::Rtl).unwrap();
        test(configuration, model.as_mut());
    }
}

#[test]
fn stalls_on_both_streams_change_nothing_but_time() {
    each(|configuration, model| {
        let mut random = Random(11);
        for (seed, in_stall, out_stall) in
            [(1, 0, 0), (2, 32768, 0), (3, 0, 32768), (4, 20000, 45000), (5, 60000, 60000)]
        {
            let mut cases = Vec::new();
            for tag in 0..60 {
                let operation = operation(&mut random, configuration, 300);
                cases.push(good(&operation, key(&operation), tag));
                // And one more with the key that the slot has.
                let next = crate::common::Random(random.below(u64::MAX - 1) + 1)
                    .operation(operation.pass.algorithm(), 100);
                if !matches!(operation.pass, Pass::Hash { .. })
                    && let Some(next) = with_key_of(next, &operation)
                    && configuration.serves(&next.pass.need())
                {
                    cases.push(good(&next, KeySection::Kept, tag + 1000));
                }
            }
            let options = Options { seed, in_stall, out_stall, ..Options::default() };
            let what = format!("{} stalled {in_stall}/{out_stall}", configuration.name);
            let ends = run(model, &cases, &options, &what);
            assert!(configuration.in_flight > 1 || ends.is_sorted(), "{what}: not in the order of requests");
        }
    });
}

#[test]
fn a_new_key_on_every_frame() {
    each(|configuration, model| {
        let mut random = Random(12);
        let mut cases = Vec::new();
        for tag in 0..400 {
            let operation = operation(&mut random, configuration, 64);
            cases.push(good(&operation, key(&operation), tag));
        }
        run(model, &cases, &Options::default(), &configuration.name);
    });
}

#[test]
fn a_reset_in_the_middle_of_a_frame_is_forgotten() {
    each(|configuration, model| {
        let mut random = Random(13);
        for round in 0..60 {
            let victim = operation(&mut random, configuration, 400);
            let request = frame::request(&victim, key(&victim), 7).to_vec();
            let mut frames = vec![Frame::new(request.clone(), request.len() + 64); 3];
            let options = Options {
                seed: round,
                in_stall: (round as u32 % 3) * 20000,
                out_stall: (round as u32 % 2) * 30000,
                // Three frames take at least a clock per beat.
                reset_after: 1 + random.below(request.len() as u64 / 8 * 3 - 1),
                ..Options::default()
            };
            assert_eq!(model.run(&mut frames, &options), Err(RunError::Reset), "{}", configuration.name);
            let mut cases = Vec::new();
            // The key is gone.
            if !matches!(victim.pass, Pass::Hash { .. }) {
                let request = frame::request(&victim, KeySection::Kept, 1).to_vec();
                cases.push(Case { request, tag: 1, expected: Err(Some(Status::MissingKey)) });
            }
            for tag in 2..6 {
                let operation = operation(&mut random, configuration, 100);
                cases.push(good(&operation, key(&operation), tag));
            }
            run(model, &cases, &Options::default(), &format!("{} after reset {round}", configuration.name));
        }
    });
}

/// A good frame with one thing wrong, and the status that says so.
fn spoil(random: &mut Random, configuration: &Configuration, tag: u16) -> Case {
    let operation = operation(random, configuration, 80);
    let mut request = frame::request(&operation, key(&operation), tag).to_vec();
    let Kind::Cipher { block, .. } = (match &operation.pass {
        Pass::Cipher { algorithm, .. } => &algorithm.kind,
        _ => &Kind::Cipher { block: 0, keys: &[] },
    }) else {
        unreachable!()
    };
    let cipher = *block > 0;
    let hash = matches!(operation.pass, Pass::Hash { .. });
    let whole_blocks = [op::ECB, op::CBC].contains(&request[1]);
    let status = match random.below(13) {
        0 => {
            // A code that nobody has, or that of another algorithm.
            request[0] ^= *random.pick(&[0x40, 0x03, 0x80, 0x0c]);
            Some(Status::UnknownAlgorithm)
        }
        1 => {
            request[1] =
                *random.pick(&[0, 0xff, op::AEAD, 0x17, 0x10, if cipher { op::HASH } else { op::CBC }]);
            Some(Status::UnknownOperation)
        }
        2 => {
            request[2] |= if cipher { *random.pick(&[flag::RESUME, flag::PARTIAL]) } else { flag::DECRYPT };
            Some(Status::UnknownOperation)
        }
        3 => {
            request[2] |= 1 << (5 + random.below(3));
            Some(Status::Reserved)
        }
        4 => {
            request[14 + random.below(2) as usize] = 1 + random.below(255) as u8;
            Some(Status::Reserved)
        }
        5 => {
            request[12 + random.below(2) as usize] = 1 + random.below(255) as u8;
            Some(Status::BadLength)
        }
        6 if hash => {
            request[2] |= flag::FRESH_KEY;
            request[3] = 16;
            Some(Status::BadKeyLength)
        }
        6 => {
            // None of the lengths that the algorithm of this code has.
            let lengths: &[u8] =
                if cipher { &[0, 1, 4, 7, 9, 15, 17, 25, 33, 57, 255] } else { &[65, 66, 128, 255] };
            let legal = |len: &u8| {
                let keys = |c: &Capability| c.code == request[0] && c.key_bytes.contains(&usize::from(*len));
                configuration.can.iter().any(keys)
            };
            let illegal: Vec<u8> = lengths.iter().copied().filter(|len| !legal(len)).collect();
            request[3] = *random.pick(&illegal);
            Some(Status::BadKeyLength)
        }
        7 => {
            request[6] = request[6].wrapping_add(1 + random.below(255) as u8);
            Some(Status::BadIvLength)
        }
        8 if whole_blocks => {
            let odd = 1 + random.below(*block as u64 - 1) as u32;
            let len = operation.data.len() as u32 + odd;
            request[8..12].copy_from_slice(&len.to_le_bytes());
            Some(Status::BadLength)
        }
        8 => {
            // More than there is, up to the largest number.
            let len = (operation.data.len() as u32).next_multiple_of(8) + 1;
            let len = if random.below(2) == 0 { len } else { len.max(random.below(1 << 32) as u32) };
            request[8..12].copy_from_slice(&len.to_le_bytes());
            Some(Status::FrameShort)
        }
        9 => {
            request[7] = if cipher { 1 + random.below(255) as u8 } else { *random.pick(&[0, 65, 255]) };
            Some(Status::BadLength)
        }
        10 => {
            let beats = request.len() / 8;
            request.truncate(8 * (1 + random.below(beats as u64 - 1) as usize));
            Some(Status::FrameShort)
        }
        11 => {
            let extra = 8 * (1 + random.below(6) as usize);
            let extra = random.bytes(extra);
            request.extend(extra);
            Some(Status::FrameLong)
        }
        _ => {
            // Noise; an algorithm that is nobody's keeps it from being right by accident.
            let len = 8 * (1 + random.below(12) as usize);
            request = random.bytes(len);
            request[0] = 0xee;
            request[4..6].copy_from_slice(&tag.to_le_bytes());
            None
        }
    };
    let tag = u16::from_le_bytes([request[4], request[5]]);
    Case { request, tag, expected: Err(status) }
}

#[test]
fn thousands_of_malformed_frames_and_good_ones_between() {
    each(|configuration, model| {
        let mut random = Random(14);
        let mut malformed = 0;
        let mut seen: BTreeMap<Option<Status>, u32> = BTreeMap::new();
        let rounds = cases(20, 100);
        for round in 0..rounds {
            let mut cases = Vec::new();
            for at in 0..115 {
                let tag = round as u16 * 256 + at;
                if at % 8 == 7 {
                    let operation = operation(&mut random, configuration, 100);
                    cases.push(good(&operation, key(&operation), tag));
                } else {
                    let case = spoil(&mut random, configuration, tag);
                    if let Err(status) = case.expected {
                        *seen.entry(status).or_default() += 1;
                    }
                    cases.push(case);
                    malformed += 1;
                }
            }
            let stall = (round % 4) * 15000;
            let options =
                Options { seed: u64::from(round), in_stall: stall, out_stall: stall, ..Options::default() };
            run(model, &cases, &options, &format!("{} round {round}", configuration.name));
        }
        assert!(malformed >= 100 * rounds && seen.len() >= 8, "{malformed} {seen:?}");
    });
}

#[test]
fn a_key_survives_malformed_frames_without_one() {
    each(|configuration, model| {
        let mut random = Random(15);
        for round in 0..cases(20, 100) {
            let first = operation(&mut random, configuration, 50);
            let mut cases = vec![good(&first, key(&first), 1)];
            for tag in 2..8 {
                let mut case = spoil(&mut random, configuration, tag);
                // Without a key section of its own, and not asked to forget.
                while case.request[2] & (flag::FRESH_KEY | flag::WIPE) != 0 {
                    case = spoil(&mut random, configuration, tag);
                }
                case.expected = Err(None);
                cases.push(case);
            }
            if !matches!(first.pass, Pass::Hash { .. }) {
                cases.push(good(&first, KeySection::Kept, 9));
            }
            run(model, &cases, &Options::default(), &format!("{} round {round}", configuration.name));
        }
    });
}

/// Behind a reset a slot may still be wiping itself when the first frame comes, for a fixed time; so one frame
/// goes ahead of those that are measured.
#[test]
fn a_hash_is_taken_up_again_at_a_whole_block_only() {
    each(|configuration, model| {
        let mut cases = Vec::new();
        for algorithm in algorithms(configuration) {
            let Kind::Hash { block, digest } = algorithm.kind else { continue };
            // As they should be; whole; one beat short; with a beat too many. The number comes first, and is at fault.
            for (so_far, change) in [1, block - 1, block, block + 1, 2 * block - 1]
                .into_iter()
                .flat_map(|so_far| [(so_far, 0_i32), (so_far, -1), (so_far, 1)])
            {
                let iv_len = BEAT + digest;
                let tag = cases.len() as u16;
                let mut request = vec![algorithm.code, op::HASH, flag::RESUME | flag::PARTIAL, 0];
                request.extend(tag.to_le_bytes());
                request.extend([iv_len as u8, digest as u8]);
                request.extend((block as u32).to_le_bytes());
                request.resize(HEADER, 0);
                request.extend((so_far as u64).to_le_bytes());
                request.resize(request.len() + digest.next_multiple_of(BEAT) + block, 0x5a);
                let length = request.len() as i32 + change * BEAT as i32;
                request.resize(length as usize, 0);
                let expected = match (so_far % block, change) {
                    (0, 0) => None,
                    (0, -1) => Some(Status::FrameShort),
                    (0, _) => Some(Status::FrameLong),
                    _ => Some(Status::BadLength),
                };
                cases.push((request, tag, expected));
            }
        }
        let mut frames: Vec<Frame> =
            cases.iter().map(|(r, ..)| Frame::new(r.clone(), r.len() + 64)).collect();
        model.run(&mut frames, &Options::default()).unwrap();
        for ((request, tag, expected), frame) in cases.iter().zip(&frames) {
            let what = format!("{}: {request:02x?}", configuration.name);
            let answer = frame::response(&frame.response).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(answer.tag, *tag, "{what}");
            assert_eq!(answer.status, expected.unwrap_or(Status::Ok), "{what}");
            assert_eq!(answer.result.is_empty(), expected.is_some(), "{what}");
        }
    });
}

#[test]
fn cycles_depend_on_lengths_alone() {
    each(|configuration, model| {
        // In a ring a frame also waits for its turn, which depends on the clock in which it comes: those slots are
        // measured from a reset on, in interleaved.rs.
        if configuration.in_flight > 1 {
            return;
        }
        let mut random = Random(16);
        let ahead = operation(&mut random, configuration, 100);
        run(model, &[good(&ahead, key(&ahead), 0)], &Options::default(), &configuration.name);
        let mut lengths: Vec<usize> = vec![0, 8, 16, 24, 48, 55, 56, 63, 64, 65, 100, 128, 160, 400];
        lengths.extend([1, 7, 9, 119, 120]);
        let mut kinds: Vec<Pass> = Vec::new();
        for algorithm in algorithms(configuration) {
            match algorithm.kind {
                Kind::Cipher { keys, .. } => {
                    for key in keys {
                        for mode in Mode::ALL {
                            for direction in [Direction::Encrypt, Direction::Decrypt] {
                                let (key, iv) = (Secret::new(vec![0; *key]), Vec::new());
                                kinds.push(Pass::Cipher { algorithm, mode, direction, key, iv });
                            }
                        }
                    }
                }
                Kind::Hash { .. } => {
                    kinds.push(Pass::Hash { algorithm });
                    for key in [1, 20, 64] {
                        kinds.push(Pass::Hmac { algorithm, key: Secret::new(vec![0; key]), output_len: 12 });
                    }
                }
            }
        }
        for kind in kinds.iter().filter(|k| configuration.serves(&k.need())) {
            for len in &lengths {
                let mut cycles = None;
                for trial in 0..6 {
                    let mut operation = Task { pass: kind.clone(), data: random.bytes(*len) };
                    match &mut operation.pass {
                        Pass::Cipher { algorithm, mode, key, iv, .. } => {
                            *key = Secret::new(random.bytes(key.len()));
                            let Kind::Cipher { block, .. } = algorithm.kind else { continue };
                            *iv = random.bytes(if *mode == Mode::Ecb { 0 } else { block });
                        }
                        Pass::Hmac { key, .. } => *key = Secret::new(random.bytes(key.len())),
                        Pass::Hash { .. } | Pass::Aead { .. } => {}
                    }
                    // The extremes too: all zeros and all ones.
                    match trial {
                        0 => operation.data.fill(0),
                        1 => operation.data.fill(0xff),
                        _ => {}
                    }
                    if operation.operation().is_err() {
                        continue;
                    }
                    let mut both = Vec::new();
                    for section in [key(&operation), KeySection::Kept] {
                        let request = frame::request(&operation, section, trial).to_vec();
                        let mut frames = [Frame::new(request, len + 64)];
                        model.run(&mut frames, &Options::default()).unwrap();
                        assert_eq!(frame::response(&frames[0].response).unwrap().status, Status::Ok);
                        both.push(frames[0].cycles());
                    }
                    let first = cycles.get_or_insert_with(|| both.clone());
                    assert_eq!(*first, both, "{}: {:?}, {len} bytes", configuration.name, kind.need());
                }
            }
        }
    });
}
