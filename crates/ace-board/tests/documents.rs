// SPDX-License-Identifier: Apache-2.0
//! The worked examples of docs/slot.md, run on the slots that they are for.
//!
//! An example is a fenced block with the language `frame`. A line that begins with `request` or `response` opens a
//! frame; the lines behind it are its bytes in hexadecimal, spaces as one likes; `#` begins a comment. Several
//! pairs in one block go to the same slot, which is fresh out of reset.

use std::collections::BTreeSet;

use crate::common::{Build, built, repository};
use ace_board::board::SharedObjects;
use ace_board::capability::{Capability, HashOperation};
use ace_board::model::{Frame, Options};
use ace_board::{Configuration, ModelSource, Models};
use ace_engine::{Direction, Mode};

/// Requests and responses in turn.
fn parse(block: &str) -> Vec<Vec<u8>> {
    let mut frames: Vec<String> = Vec::new();
    let mut kinds = Vec::new();
    for line in block.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        match line.split_whitespace().next() {
            Some(kind @ ("request" | "response")) => {
                kinds.push(kind.to_string());
                frames.push(String::new());
            }
            Some(_) => frames.last_mut().expect("bytes before `request`").push_str(line),
            None => {}
        }
    }
    assert!(!kinds.is_empty() && kinds.len().is_multiple_of(2), "requests without responses");
    assert!(kinds.chunks(2).all(|pair| pair == ["request", "response"]), "{kinds:?}");
    let bytes = |text: &String| -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        assert!(digits.len().is_multiple_of(16), "not whole beats: {text}");
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    };
    frames.iter().map(bytes).collect()
}

/// Runs a block on every configuration that can do what it asks for; how many there were.
fn run(block: &str, configurations: &[Configuration], source: &dyn ModelSource) -> usize {
    let frames = parse(block);
    let mut count = 0;
    for configuration in configurations {
        // The algorithm and, for ciphers, the length of the first key; and whatever the requests ask for.
        let serves = |c: &Capability| {
            let key_len = usize::from(frames[0][3]);
            let asked = frames.iter().step_by(2).all(|request| {
                let back = request[2] & 1 == 1;
                let way = if back { Direction::Decrypt } else { Direction::Encrypt };
                let direction = c.directions.is_empty() || c.directions.contains(&way);
                let mode = |mode| c.modes.is_empty() || c.modes.contains(&mode);
                let operation = |one| c.operations.is_empty() || c.operations.contains(&one);
                match request[1] {
                    0x11 => mode(Mode::Ecb) && direction,
                    0x12 => mode(Mode::Cbc) && direction,
                    0x13 => mode(Mode::Ctr),
                    0x14 => mode(Mode::Cfb) && direction,
                    0x15 => mode(Mode::Cfb8) && direction,
                    0x16 => mode(Mode::Ofb),
                    0x21 => operation(HashOperation::Hash),
                    0x31 => operation(HashOperation::HmacStates),
                    0x32 => operation(HashOperation::HmacKey),
                    _ => direction,
                }
            });
            c.code == frames[0][0] && (c.key_bytes.is_empty() || c.key_bytes.contains(&key_len)) && asked
        };
        if !configuration.can.iter().any(serves) {
            continue;
        }
        count += 1;
        let mut model = source.open(configuration, Models::Rtl).unwrap();
        for pair in frames.chunks(2) {
            let mut frame = [Frame::new(pair[0].clone(), pair[1].len() + 64)];
            model.run(&mut frame, &Options::default()).unwrap();
            assert_eq!(frame[0].response, pair[1], "{}: {:02x?}", configuration.name, pair[0]);
        }
    }
    count
}

/// FIPS 197, appendix B, and the same block again with the key that the slot has kept.
const EXAMPLE: &str = "
request
01 11 02 10  34 12  00 00    # AES, ECB, fresh key of 16 bytes, tag 1234
10 00 00 00  00 00  00 00    # 16 bytes of payload
2b 7e 15 16 28 ae d2 a6  ab f7 15 88 09 cf 4f 3c
32 43 f6 a8 88 5a 30 8d  31 31 98 a2 e0 37 07 34
response
39 25 84 1d 02 dc 09 fb  dc 11 85 97 19 6a 0b 32
10 00 00 00  34 12  00  00   # 16 bytes, tag, Ok
request
0111000035120000 1000000000000000
3243f6a8885a308d 313198a2e0370734
response
3925841d02dc09fb dc118597196a0b32 1000000035120000
";

#[test]
fn an_example_runs() {
    assert_eq!(parse(EXAMPLE)[0].len(), 48);
    run(EXAMPLE, built().configurations.as_slice(), &SharedObjects);
}

/// The blocks of docs/slot.md.
fn blocks() -> Vec<String> {
    let text = std::fs::read_to_string(repository("docs/slot.md")).unwrap();
    let block = |rest: &str| {
        // What follows the language on its line is for people.
        let block = rest.split("```").next().and_then(|block| block.split_once('\n'));
        block.map_or("", |(_, block)| block).to_owned()
    };
    let blocks: Vec<String> = text.split("```frame").skip(1).map(block).collect();
    assert!(!blocks.is_empty(), "docs/slot.md has no examples");
    blocks
}

#[test]
fn the_examples_of_the_slot_boundary_are_right() {
    let built = built();
    for block in blocks() {
        run(&block, built.configurations.as_slice(), &SharedObjects);
    }
}

/// Every mode, too, that no built configuration has.
#[test]
fn software_agrees_with_the_examples_of_ciphers() {
    let build = Build::new();
    let catalogue = build.catalogue();
    let mut modes = BTreeSet::new();
    for block in blocks() {
        let frames = parse(&block);
        // Faults are the shell's business, which the software has none of.
        let good = frames
            .chunks(2)
            .all(|pair| (0x11..=0x16).contains(&pair[0][1]) && pair[1].iter().rev().nth(1) == Some(&0));
        if good {
            assert_eq!(run(&block, catalogue.configurations.as_slice(), &build.software), 1, "{block}");
            modes.extend(frames.iter().step_by(2).map(|request| request[1]));
        }
    }
    assert_eq!(modes.into_iter().collect::<Vec<_>>(), [0x11, 0x12, 0x13, 0x14, 0x15, 0x16]);
}
