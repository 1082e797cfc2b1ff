// SPDX-License-Identifier: Apache-2.0
//! What somebody who can read the memory of a running `ace run` finds of the SA file: the keys that it works with, and
//! neither the file's text nor more copies than are worked with.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{TRAFFIC, command, root};

const KEY: &str = "5ec3a70f91d24b68cd317e0a96f85b24";
const AUTH_KEY: &str = "c91e5d83a2f0467b1d68b53f0ea7924cd35817e6";
/// Parts of a key that count as a copy.
const PIECE: usize = 8;

/// How many copies of a needle the writable memory of a process holds.
fn copies(pid: u32, needles: &[&[u8]]) -> Vec<usize> {
    let mut counts = vec![0; needles.len()];
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("it runs");
    let mut memory = File::open(format!("/proc/{pid}/mem")).expect("a child's memory can be read");
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (low, high) = range.split_once('-').expect("a range");
        let at = |hex| u64::from_str_radix(hex, 16).expect("an address");
        let mut bytes = Vec::new();
        if rights.starts_with("rw") && memory.seek(SeekFrom::Start(at(low))).is_ok() {
            // Some mappings cannot be read; what was read until then counts.
            let _ = (&mut memory).take(at(high) - at(low)).read_to_end(&mut bytes);
        }
        for (count, needle) in counts.iter_mut().zip(needles) {
            *count += bytes.windows(needle.len()).filter(|window| window == needle).count();
        }
    }
    counts
}

#[test]
fn a_running_ace_holds_only_the_keys_that_it_works_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (sas, capture, output) = (at("sas.toml"), at("in.pcap"), at("out.pcap"));
    let text = format!(
        "[[sa]]\nname = \"a\"\nspi = 0x1001\ndirection = \"out\"\nmode = \"tunnel\"\nlocal = \"192.0.2.1\"\n\
         remote = \"192.0.2.2\"\ncipher = \"aes-128-cbc\"\nkey = \"{KEY}\"\nauth = \"hmac-sha1-96\"\n\
         auth_key = \"{AUTH_KEY}\"\n"
    );
    fs::write(&sas, text).expect("written");
    let made = Command::new("mkfifo").arg(&capture).status().expect("mkfifo is there");
    assert!(made.success());
    let mut run = command();
    run.arg("run").arg(&capture).arg("--sas").arg(&sas).arg("-o").arg(&output).args(["--engine", "cpu"]);
    let mut child = run.stdout(Stdio::null()).spawn().expect("ace starts");
    // Packets, and then it waits for more.
    let mut pipe = OpenOptions::new().write(true).open(&capture).expect("ace opens the other end");
    pipe.write_all(&fs::read(root().join(TRAFFIC)).expect("the demo's capture")).expect("ace reads");

    let raw: Vec<Vec<u8>> = [KEY, AUTH_KEY].map(|key| hex::decode(key).expect("hex")).to_vec();
    let needles = [
        &KEY.as_bytes()[..2 * PIECE],
        &KEY.as_bytes()[2 * PIECE..],
        &AUTH_KEY.as_bytes()[..2 * PIECE],
        &AUTH_KEY.as_bytes()[2 * PIECE..],
        &raw[0][..PIECE],
        &raw[0][PIECE..],
        &raw[1][..PIECE],
        &raw[1][PIECE..],
    ];
    // It is busy at first.
    let mut found = Vec::new();
    for _ in 0..100 {
        let before = std::mem::replace(&mut found, copies(child.id(), &needles));
        if found[4] > 0 && before == found {
            break;
        }
        sleep(Duration::from_millis(200));
    }
    drop(pipe);
    assert!(child.wait().expect("it ends").success());
    assert!(found[4] > 0, "the search finds the key that is in use");
    assert_eq!(found[..4], [0; 4], "the text of the file: {found:?}");
    // The key itself, and the first round's of its schedules.
    assert!(found[4..].iter().all(|count| *count <= 4), "copies of keys: {found:?}");
    println!("copies: {found:?}");
}
