// SPDX-License-Identifier: Apache-2.0
//! After an SA file has been read, used and dropped, nothing that this process can write to holds a key, or the text
//! that it stood in. Looked for in the process's own memory, as a core file or a swapped page would show it.
//!
//! A program of one test: other threads would have memory of their own.
#![cfg(target_os = "linux")]

mod marked;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use ace_config::{SaFile, read_wiped};
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Engine};
use ace_ipsec::model::{AUTHS, CIPHERS, CipherKind, IvKind};
use ace_ipsec::{Fate, HEADROOM, Inside, Outside, Packet, SeededIvs, Shard, TAILROOM};
use marked::{PIECE, copies, digit};

/// An SA of every suite, out and in, written a byte at a time.
fn write_file(path: &Path) {
    let mut file = File::create(path).expect("a file");
    let mut line = |text: &str| file.write_all(text.as_bytes()).expect("written");
    line("allow_legacy = true\n");
    let mut spi = 0x1000;
    // Those with implicit IVs are the same ciphers, and take no key that another SA has.
    for cipher in CIPHERS.iter().filter(|cipher| cipher.iv != IvKind::Implicit) {
        for auth in AUTHS.iter().filter(|auth| cipher.combined() == (auth.name == "none")) {
            // One authentication does for a cipher, but for NULL all.
            if !cipher.combined() && cipher.kind != CipherKind::Null && auth.name != "hmac-sha256-128" {
                continue;
            }
            spi += 1;
            for direction in ["out", "in"] {
                let (a, b) = if direction == "out" { (1, 2) } else { (2, 1) };
                line(&format!(
                    "[[sa]]\nname = \"{direction}{spi}\"\nspi = {spi}\ndirection = \"{direction}\"\n\
                     mode = \"tunnel\"\nlocal = \"192.0.2.{a}\"\nremote = \"192.0.2.{b}\"\n\
                     selector = {{ src = \"10.0.{}.{}\" }}\ncipher = \"{}\"\nauth = \"{}\"\n",
                    spi >> 8,
                    spi & 255,
                    cipher.name,
                    auth.name
                ));
                for (name, len) in [("key", cipher.keymat_len()), ("auth_key", auth.key_len)] {
                    line(&format!("{name} = \""));
                    for i in 0..2 * len {
                        line((digit(i) as char).encode_utf8(&mut [0; 4]));
                    }
                    line("\"\n");
                }
            }
        }
    }
}

/// A packet through an SA and back.
fn use_all(file: &SaFile, here: &mut Shard, there: &mut Shard) -> usize {
    let (mut engine, mut used) = (CpuEngine::new(), 0);
    for sa in file.sas().iter().filter(|sa| sa.direction == ace_ipsec::Direction::Out) {
        let source = sa.selector.source.expect("one address").addr().to_string();
        let source: Vec<u8> = source.split('.').map(|n| n.parse().expect("a number")).collect();
        let mut clear = Vec::new();
        let builder = etherparse::PacketBuilder::ipv4(source.try_into().expect("four"), [10, 9, 9, 9], 9);
        builder.udp(1, 2).write(&mut clear, b"through and back").expect("a packet");
        let mut step = |shard: &mut Shard| {
            let mut done = Vec::new();
            engine.try_submit(shard.jobs());
            engine.wait(&mut done);
            shard.complete(Duration::ZERO, &mut done);
            shard.poll_exit().expect("one in, one out")
        };
        let buffer = Buffer::from_packet(&clear, HEADROOM, TAILROOM);
        here.ingest(Duration::ZERO, Inside, [Packet { token: 0, buffer }]);
        let exit = step(here);
        assert!(matches!(exit.fate, Fate::ToOutside(_)), "{}: {:?}", sa.cipher.name, exit.fate);
        there.ingest(Duration::ZERO, Outside, [Packet { token: 0, buffer: exit.buffer }]);
        let exit = step(there);
        assert!(matches!(exit.fate, Fate::ToInside(_)), "{}: {:?}", sa.cipher.name, exit.fate);
        assert_eq!(*exit.buffer, clear);
        used += 1;
    }
    used
}

#[test]
fn nothing_keeps_a_key_that_was_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sas.toml");
    write_file(&path);
    assert_eq!(copies(), Vec::<String>::new(), "the test itself");

    let text = read_wiped(&path).expect("read");
    let file = SaFile::parse("sas.toml", &text).unwrap_or_else(|errors| panic!("{}", errors.0[0]));
    let count = |kind: &str| copies().iter().filter(|copy| copy.starts_with(kind)).count();
    assert!(count("text from 0 ") >= file.sas().len(), "the search finds the text while it is there");
    drop(text);
    assert_eq!(count("text"), 0, "the text is wiped when it has been read: {:?}", copies());
    let keys = file.sas().iter().flat_map(|sa| [&sa.key, &sa.auth_key]).filter(|key| key.len() >= PIECE);
    assert_eq!(count("key from 0 "), keys.count(), "one copy of each key: {:?}", copies());

    let ivs = || Box::new(SeededIvs::new(1));
    let mut here = file.shard(Duration::ZERO, ivs()).expect("installed");
    let mut there = file.shard(Duration::ZERO, ivs()).expect("installed");
    assert!(use_all(&file, &mut here, &mut there) > 60);
    assert!(count("key") > 0);
    drop((file, here, there));
    assert_eq!(copies(), Vec::<String>::new(), "after all of it was dropped");
}
