// SPDX-License-Identifier: Apache-2.0
//! Keys that can be found in memory, and the search for them in the process's own.
#![allow(dead_code)] // each test program uses a part

use std::fs::{File, read_to_string};
use std::hint::black_box;
use std::io::{Read, Seek, SeekFrom};

/// Byte `i` of every key: computed, so that no copy of it lies about. No byte is like its neighbours.
pub fn marker(i: usize) -> u8 {
    black_box(0x6b_u8).wrapping_add((i as u8).wrapping_mul(black_box(151))) ^ black_box(0x5c)
}

pub fn digit(i: usize) -> u8 {
    let nibble = if i.is_multiple_of(2) { marker(i / 2) >> 4 } else { marker(i / 2) & 15 };
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// The end of each inner and outer key block of HMAC is as good as the key.
fn inner(i: usize) -> u8 {
    marker(i) ^ 0x36
}

fn outer(i: usize) -> u8 {
    marker(i) ^ 0x5c
}

/// A byte of what is looked for.
type Byte = fn(usize) -> u8;

/// So many bytes of a key, or of its text, are a copy.
pub const PIECE: usize = 8;
/// What is looked for: pieces from each multiple of a step, which is how far the longest key goes in eight of them.
const KINDS: [(&str, Byte, usize); 4] = [
    ("key", marker, 8),
    ("text", digit, 16),
    ("HMAC's inner block", inner, 8),
    ("HMAC's outer block", outer, 8),
];

/// Where in writable memory pieces of keys are.
pub fn copies() -> Vec<String> {
    let mut memory = File::open("/proc/self/mem").expect("own memory");
    let mut found = Vec::new();
    let mut window = vec![0; 1 << 16];
    for line in read_to_string("/proc/self/maps").expect("own maps").lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let name = words.nth(3).unwrap_or("anonymous");
        let (low, high) = range.split_once('-').expect("a range");
        let at = |hex| u64::from_str_radix(hex, 16).expect("an address");
        let (mut from, end) = (at(low), at(high));
        if !rights.starts_with("rw") {
            continue;
        }
        while from < end {
            let len = window.len().min((end - from) as usize);
            let read = memory.seek(SeekFrom::Start(from)).and_then(|_| memory.read(&mut window[..len]));
            let Ok(read @ 1..) = read else { break };
            for (place, eight) in window[..read].windows(PIECE).enumerate() {
                for (kind, byte, step) in KINDS {
                    for start in (0..8).map(|n| n * step) {
                        if eight.iter().enumerate().all(|(i, found)| *found == byte(start + i)) {
                            let address = from + place as u64;
                            found.push(format!("{kind} from {start} at {address:x} ({name})"));
                        }
                    }
                }
            }
            window.fill(0);
            from += if read == len && from + (len as u64) < end { len - (PIECE - 1) } else { read } as u64;
        }
    }
    found
}
