// SPDX-License-Identifier: Apache-2.0
//! Slots that work on several frames at a time: frame for frame they answer as the iterative slot of the same
//! algorithm does, and how long they take depends on lengths alone.

use crate::common::{Random, algorithms, built, cases};
use ace_board::board::SharedObjects;
use ace_board::frame::{self, KeySection, Status, flag};
use ace_board::model::{Frame, Options, SlotModel};
use ace_board::pass::{Pass, Task};
use ace_board::{Catalogue, Configuration, ModelSource, Models};
use ace_engine::Mode;

/// Pairs of an interleaved configuration and an iterative one that can do all that it can.
fn pairs(catalogue: &Catalogue) -> Vec<(&Configuration, &Configuration)> {
    let of = |several: &Configuration, one: &&Configuration| {
        one.in_flight == 1
            && several.can.iter().all(|c| {
                one.can.iter().any(|o| {
                    o.code == c.code
                        && o.algorithm == c.algorithm
                        && c.key_bytes.iter().all(|k| o.key_bytes.contains(k))
                        && c.modes.iter().all(|m| o.modes.contains(m))
                        && c.directions.iter().all(|d| o.directions.contains(d))
                        && c.operations.iter().all(|x| o.operations.contains(x))
                })
            })
    };
    let interleaved = catalogue.configurations.iter().filter(|c| c.in_flight > 1);
    let pair = |several| {
        let one = catalogue.configurations.iter().find(|one| of(several, one));
        if one.is_none() {
            // The CPU engine checks it, in agreement.rs.
            eprintln!("{}: nothing iterative is built to compare it with", several.name);
        }
        one.map(|one| (several, one))
    };
    interleaved.filter_map(pair).collect()
}

fn open(configuration: &Configuration) -> Box<dyn SlotModel> {
    SharedObjects.open(configuration, Models::Rtl).unwrap()
}

/// An operation that the configuration serves.
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

/// A frame: mostly with a key of its own, sometimes with the kept one, sometimes with *wipe*, sometimes damaged,
/// and of any length from nothing to more than a lane's buffer.
fn request(random: &mut Random, configuration: &Configuration, tag: u16) -> Vec<u8> {
    let longest = *random.pick(&[0, 16, 64, 300, 300, 1500, 1500, 5000]);
    let operation = operation(random, configuration, longest);
    let key = match operation.pass.key() {
        Some(key) if random.below(5) > 0 => KeySection::Fresh(key.as_bytes()),
        _ => KeySection::Kept,
    };
    let mut request = frame::request(&operation, key, tag).to_vec();
    match random.below(24) {
        0 => request[2] |= flag::WIPE,
        1 => {
            let beats = request.len() as u64 / 8;
            request.truncate(8 * (1 + random.below(beats) as usize));
        }
        2 => request.extend([0x5a; 16]),
        3 => request[6] ^= 8,
        _ => {}
    }
    request
}

/// Status and, if that is Ok, the result.
type Answer = (Status, Vec<u8>);

fn answers(model: &mut dyn SlotModel, requests: &[Vec<u8>], options: &Options, what: &str) -> Vec<Answer> {
    let mut frames: Vec<Frame> = requests.iter().map(|r| Frame::new(r.clone(), r.len() + 64)).collect();
    model.run(&mut frames, options).unwrap_or_else(|e| panic!("{what}: {e}"));
    let answer = |(tag, frame): (usize, &Frame)| {
        let answer = frame::response(&frame.response).unwrap_or_else(|e| panic!("{what}: frame {tag}: {e}"));
        assert_eq!(usize::from(answer.tag), tag, "{what}");
        // What precedes a status other than Ok means nothing.
        let result = if answer.status == Status::Ok { answer.result.to_vec() } else { Vec::new() };
        (answer.status, result)
    };
    frames.iter().enumerate().map(answer).collect()
}

#[test]
fn frame_for_frame_as_the_iterative_slot() {
    let catalogue = built();
    for (several, one) in pairs(&catalogue) {
        let mut random = Random(31);
        let (mut interleaved, mut iterative) = (open(several), open(one));
        let mut overtaken = 0;
        let stalls =
            [(0, 0, 0), (1, 30000, 0), (2, 0, 40000), (3, 60000, 0), (4, 20000, 60000), (5, 50000, 50000)];
        for (seed, in_stall, out_stall) in stalls.into_iter().step_by(cases(2, 1)) {
            let what = format!("{} against {}, stalls {in_stall}/{out_stall}", several.name, one.name);
            let requests: Vec<Vec<u8>> = (0..200).map(|tag| request(&mut random, several, tag)).collect();
            let options = Options { seed, in_stall, out_stall, ..Options::default() };
            let found = answers(interleaved.as_mut(), &requests, &options, &what);
            let expected = answers(iterative.as_mut(), &requests, &Options::default(), &what);
            for (tag, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{what}: frame {tag}, header {:02x?}", &requests[tag][..8]);
            }
            let good = expected.iter().filter(|(status, _)| *status == Status::Ok).count();
            assert!(good > 100, "{what}: only {good} good frames");
            // And that it is not the iterative slot in disguise.
            let mut frames: Vec<Frame> =
                requests.iter().map(|r| Frame::new(r.clone(), r.len() + 64)).collect();
            interleaved.run(&mut frames, &options).unwrap();
            overtaken += frames.windows(2).filter(|w| w[1].last_out < w[0].last_out).count();
        }
        assert!(overtaken > 0, "{}: no frame has ever overtaken another", several.name);
    }
}

#[test]
fn time_depends_on_lengths_alone() {
    let catalogue = built();
    for (several, _) in pairs(&catalogue) {
        let mut random = Random(32);
        let mut model = open(several);
        // What the frames look like from outside, and then twice the same with other keys and data.
        let shapes: Vec<Task> = (0..60).map(|_| operation(&mut random, several, 700)).collect();
        let mut times: Vec<Vec<(u64, u64)>> = Vec::new();
        for trial in 0..4 {
            let mut frames: Vec<Frame> = Vec::new();
            for (tag, shape) in shapes.iter().enumerate() {
                let mut operation = shape.clone();
                operation.data = match trial {
                    0 => vec![0; operation.data.len()],
                    1 => vec![0xff; operation.data.len()],
                    _ => random.bytes(operation.data.len()),
                };
                let section = match &mut operation.pass {
                    Pass::Cipher { mode, key, iv, .. } => {
                        *key = ace_engine::Secret::new(random.bytes(key.len()));
                        if *mode != Mode::Ecb {
                            *iv = random.bytes(iv.len());
                        }
                        key.clone()
                    }
                    Pass::Hmac { key, .. } => {
                        *key = ace_engine::Secret::new(random.bytes(key.len()));
                        key.clone()
                    }
                    Pass::Hash { .. } | Pass::Aead { .. } => ace_engine::Secret::new(Vec::new()),
                };
                let section = match &operation.pass {
                    Pass::Hash { .. } => KeySection::Kept,
                    _ => KeySection::Fresh(section.as_bytes()),
                };
                let request = frame::request(&operation, section, tag as u16).to_vec();
                let space = request.len() + 64;
                frames.push(Frame::new(request, space));
            }
            model.reset();
            model.run(&mut frames, &Options::default()).unwrap();
            times.push(frames.iter().map(|f| (f.first_in, f.last_out)).collect());
        }
        assert!(times.iter().all(|t| *t == times[0]), "{}: the time depends on values", several.name);
    }
}
