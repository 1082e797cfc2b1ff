// SPDX-License-Identifier: Apache-2.0
//! Sources and sets that somebody damaged: an error, or something that is whole; never a panic.

use ace_array::frontend::Program;
use ace_array::host::{Block, Runner};
use ace_array::schedule::{Effort, Goal};
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Error, algorithms, compile, passes};
use proptest::prelude::*;

/// Reads a source as far as a graph that fits or an error with a place.
fn read(text: &str) {
    let program = Program::parse("a.ace", text, &|name| algorithms::file(name).map(str::to_owned));
    let built = program.and_then(|program| program.build(&program.variants[0].clone()));
    match built {
        Ok(built) => drop(passes::all(&built.graph, &Shape::standard(), Goal::default())),
        Err(Error::Source(diagnostic)) => {
            let message = diagnostic.to_string();
            assert!(message.contains(".ace:"), "{message}");
            assert!(!diagnostic.drawn().is_empty());
        }
        Err(other) => panic!("{other}"),
    }
}

const SMALL: &str = "algorithm a;\nvariant v { n = 3 }\ninput x: word[4] big;\nkey k: word[n];\n\
    table t = [for i in 0..256 : i * 3 & 255];\nfn f(a: word, i: int) -> word { if i == 1 { return a <<< i; } return ~a; }\n\
    setup(s) { return [for i in 0..n : s[i]]; }\n\
    run -> word[2] big { let y = x; for i in 0..n { y[i] = f(y[i], i) ^ t[byte(y[i + 1], i)] + k[i]; }\n\
    return [y[0] >>> 3, y[1] & y[2]]; }\n";

/// What a line of a source may be made of.
const PIECES: [&str; 24] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "^",
    "<<<",
    "-",
    "~",
    "x",
    "0",
    "64",
    "for i in 0..9",
    "let",
    "return",
    "word",
    "byte(x[0], 1)",
    "t",
    "4294967295",
    "9223372036854775807",
    "run",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_damaged_source_is_read_or_refused(
        at in 0..SMALL.len(), gone in 0usize..12, piece in 0..PIECES.len(), again in 0..SMALL.len(),
    ) {
        let keep = |from: usize, to: usize| SMALL.get(from..to.max(from)).unwrap_or("");
        let end = (at + gone).min(SMALL.len());
        read(&format!("{}{}{}", keep(0, at), PIECES[piece], keep(end, SMALL.len())));
        read(&format!("{}{}{}", keep(0, at), keep(again, again + 40), keep(end, SMALL.len())));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        read(&text);
        read(&format!("algorithm a; variant v {{}} input x: word[1] big; run -> word[1] big {{ {text} }}"));
    }
}

/// A set with these bytes changed, under a length and a CRC that are right.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 8 * 8);
    if bytes.len() >= 24 {
        let words = (bytes.len() / 8) as u32;
        bytes[12..16].copy_from_slice(&words.to_le_bytes());
        let end = bytes.len() - 8;
        let crc = u64::from(crc32fast::hash(&bytes[..end]));
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
    }
    bytes
}

#[test]
fn a_set_that_is_wrong_under_a_right_crc_is_refused_or_whole() {
    let shape = Shape::standard();
    let program = algorithms::program("aes.ace").unwrap();
    let bytes = compile(&program, "aes128_encrypt", &shape, Effort::default()).unwrap().set.to_bytes();
    let mut taken = 0;
    for at in (16..bytes.len() - 8).step_by(3) {
        for change in [1, 0x80, 0xFF] {
            let mut wrong = bytes.clone();
            wrong[at] ^= change;
            let Ok(set) = Set::from_bytes(&signed(wrong), &shape) else { continue };
            // What is taken can be written again, loaded and run, whatever it computes.
            assert_eq!(Set::from_bytes(&set.to_bytes(), &shape).unwrap(), set, "byte {at}");
            taken += 1;
            if taken % 100 == 0 {
                let mut runner = Runner::new(&shape, &set);
                let words = vec![0; usize::from(set.key_words)];
                let key = if words.is_empty() { 0 } else { runner.key(&words).unwrap() };
                runner.run(&[Block { words: vec![1; usize::from(set.input_words)], key }]).unwrap();
            }
        }
    }
    assert!(taken > 100, "{taken} were taken");
    for length in 0..bytes.len() / 8 {
        let short = signed(bytes[..8 * length].to_vec());
        assert!(Set::from_bytes(&short, &shape).is_err(), "{length} words");
    }
}
