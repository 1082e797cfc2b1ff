// SPDX-License-Identifier: Apache-2.0
//! Text that no program prints.

use super::words::WORDS;
use super::*;

/// Words in any order, as `ip` or Wireshark would never print them: nothing panics, and no message has a key.
#[test]
fn disorder_is_named_without_its_keys() {
    const KEY: &str = "0x00112233445566778899aabbccddeeff00112233";
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..1_000 {
        let mut text =
            String::from(if round % 3 == 0 { "\"IPv4\",\"" } else { "src 192.0.2.1 dst 192.0.2.2\n\t" });
        for _ in 0..next(40) {
            text += match next(12) {
                0 | 1 => KEY,
                2 => "\n",
                3 => "\n\t",
                4 => "\",\"",
                5 => ["192.0.2.1", "0x1001(4097)", "tunnel", "esp", "128", "::/0", "(", "ä"][next(8)],
                6 => "proto esp spi 0x00001001 reqid 1 mode tunnel\n\t",
                _ => WORDS[next(WORDS.len())].word,
            };
            text.push_str([" ", " ", "", ", "][next(4)]);
        }
        let ours = ["192.0.2.1".parse().expect("an address")];
        let beside =
            Beside { local: &ours, policies: Some(Source { name: "p", text: &text }), ..Beside::default() };
        for beside in [Beside { policies: None, ..beside }, beside] {
            match import(Source { name: "state", text: &text }, &beside) {
                Ok(Imported { left_out, warnings, .. }) => {
                    let told = left_out.iter().chain(&warnings);
                    assert!(
                        told.clone().all(|message| !message.contains("112233445566")),
                        "{text}\n{left_out:?}"
                    );
                }
                Err(error) => assert!(!error.to_string().contains("112233445566"), "{text}\n{error}"),
            }
        }
    }
}
