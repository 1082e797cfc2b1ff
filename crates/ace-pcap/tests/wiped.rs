// SPDX-License-Identifier: Apache-2.0
//! When decryption secrets of a capture were read and dropped, or passed over, nothing that this process can write to
//! holds one.
//!
//! A program of one test: other threads would have memory of their own.
#![cfg(target_os = "linux")]

#[path = "../../ace-config/tests/marked/mod.rs"]
mod marked;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use ace_pcap::Capture;
use ace_pcap::read::secrets;
use marked::{copies, digit};

/// Bytes of secrets in each block.
const LEN: u32 = 400;

/// A capture with secrets in front of a packet and behind it, written a byte at a time.
fn write_file(path: &Path) {
    let mut file = File::create(path).expect("a file");
    let mut words = |words: &[u32]| {
        words.iter().for_each(|word| file.write_all(&word.to_le_bytes()).expect("written"));
        file.try_clone().expect("the same file")
    };
    words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
    words(&[1, 20, 101, 0, 20]);
    for _ in 0..2 {
        let mut file = words(&[10, LEN + 20, 0x4553_5053, LEN]);
        (0..LEN as usize).for_each(|at| file.write_all(&[digit(at)]).expect("written"));
        words(&[LEN + 20]);
        words(&[6, 36, 0, 0, 0, 4, 4, 0x45, 36]);
    }
}

#[test]
fn nothing_that_was_read_or_passed_over_stays() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    write_file(file.path());
    let before = copies();
    assert!(before.is_empty(), "of whoever wrote the file: {before:#?}");
    let found = secrets(file.path()).expect("a capture");
    assert_eq!((found.len(), found[0].bytes.len()), (2, LEN as usize));
    assert!(!copies().is_empty(), "they are found where they are");
    drop(found);
    assert_eq!(copies(), Vec::<String>::new(), "read");
    let mut capture = Capture::open(file.path()).expect("a capture");
    let mut frames = 0;
    while let Some(item) = capture.next_item() {
        item.expect("no damage");
        frames += 1;
    }
    drop(capture);
    assert_eq!((frames, copies()), (2, Vec::new()), "passed over");
}
