// SPDX-License-Identifier: Apache-2.0
//! Mutated packets through a thousand SAs: no panic, each counted once, nothing that is not authentic gets in and
//! nothing that is authentic is kept out by it. A million with ACE_TESTS=all.

use crate::common::{End, NOW, SaText, file, finish, fix_checksum, packet, udp4, udp6};
use ace_ipsec::{Cause, Outside, Shard, packet as wire};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const SAS: u32 = 1000;
const NAMES: [&str; 7] = ["esp", "esp", "esp", "ah", "esp", "esp", "esp"];
const SUITES: [(&str, &str); 7] = [
    ("aes-128-gcm-16", "none"),
    ("aes-128-cbc", "hmac-sha1-96"),
    ("null", "aes-xcbc-96"),
    ("null", "hmac-sha256-128"),
    ("aes-128-ctr", "hmac-sha1-96"),
    ("chacha20-poly1305", "none"),
    ("aes-256-gmac", "none"),
];

/// The file of one end: every second SA over IPv6, every third in transport mode, every fifth with ESN.
fn sas(direction: &'static str) -> String {
    let mut text = String::from("default_policy = \"discard\"\n");
    for n in 0..SAS {
        let kind = n as usize % SUITES.len();
        let (cipher, auth) = SUITES[kind];
        let mut sa = SaText { spi: 0x1000 + n, protocol: NAMES[kind], ..SaText::new(direction) };
        sa = sa.suites(cipher, auth).more(if n % 5 == 0 { "esn = true" } else { "" });
        let (a, b) = if n % 2 == 0 {
            (format!("10.1.{}.{}", n / 250, n % 250 + 1), "10.2.0.1".to_owned())
        } else {
            (format!("fd00::1:{n:x}"), "fd00::2".to_owned())
        };
        sa = if direction == "out" { sa.ends(&a, &b) } else { sa.ends(&b, &a) };
        if n % 3 == 0 {
            sa = sa.transport();
        } else {
            let net = format!("10.{}.{}.0/24", 100 + n / 250, n % 250);
            let (src, dst) = (net, "10.99.0.1");
            sa = sa.more(&format!("selector = {{ src = \"{src}\", dst = \"{dst}\" }}"));
        }
        let line = format!("name = \"{n}\"");
        text.push_str(&sa.toml().replace(&format!("name = \"{}\"", sa.name), &line));
    }
    text
}

fn clear(n: u32) -> Vec<u8> {
    let payload = format!("packet {n}");
    let (high, low) = ((n / 250) as u8, (n % 250) as u8);
    match (n % 3, n % 2) {
        (0, 0) => udp4([10, 1, high, low + 1], [10, 2, 0, 1], (7, 8), payload.as_bytes()),
        (0, _) => {
            let (mut a, mut b) = ([0; 16], [0; 16]);
            (a[0], b[0], b[15]) = (0xfd, 0xfd, 2);
            a[12..].copy_from_slice(&(0x1_0000 + n).to_be_bytes());
            udp6(a, b, (7, 8), payload.as_bytes())
        }
        _ => udp4([10, 100 + high, low, 5], [10, 99, 0, 1], (7, 8), payload.as_bytes()),
    }
}

fn mutate(rng: &mut ChaCha20Rng, packet: &mut Vec<u8>) {
    let mut below = |n: usize| rng.next_u32() as usize % n.max(1);
    for _ in 0..1 + below(4) {
        let at = below(packet.len());
        match below(6) {
            0 => packet.truncate(at),
            1 => packet.extend((0..below(40)).map(|n| n as u8)),
            2 => packet.insert(at, 0x32),
            _ => {
                if let Some(byte) = packet.get_mut(at) {
                    *byte ^= 1 << below(8);
                }
            }
        }
    }
    // Half of them with lengths and checksum as a sender would have them: the rest is seen at once.
    if below(2) == 0 && packet.len() >= 40 {
        if packet[0] >> 4 == 6 {
            let length = (packet.len() - 40) as u16;
            packet[4..6].copy_from_slice(&length.to_be_bytes());
        } else {
            packet[0] = 0x45;
            let length = packet.len() as u16;
            packet[2..4].copy_from_slice(&length.to_be_bytes());
            fix_checksum(packet);
        }
    }
}

fn gate(direction: &'static str) -> Shard {
    file(&sas(direction)).shard(NOW, Box::new(ace_ipsec::SeededIvs::new(3))).unwrap()
}

#[test]
fn mutated_packets_through_a_thousand_sas() {
    let all = std::env::var("ACE_TESTS").is_ok_and(|tests| tests == "all");
    let total = if all { 1_000_000 } else { 20_000 };
    let (mut out, mut into) = (gate("out"), gate("in"));
    assert_eq!((out.sas().count(), into.sas().count()), (1000, 1000));
    let originals: Vec<_> = (0..SAS).map(clear).collect();
    let mut sealed: Vec<_> =
        originals.iter().map(|clear| crate::common::send(&mut out, clear).packet()).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut taken = vec![false; SAS as usize];
    for _ in 0..total {
        let n = rng.next_u32() as usize % sealed.len();
        // A number that was taken would hide all that comes behind the replay window.
        if std::mem::take(&mut taken[n]) {
            sealed[n] = crate::common::send(&mut out, &originals[n]).packet();
        }
        let mut mutated = sealed[n].clone();
        mutate(&mut rng, &mut mutated);
        into.ingest(NOW, Outside, [packet(&mutated)]);
        let ends = finish(&mut into);
        assert_eq!(ends.len(), 1);
        match &ends[0] {
            // What is authentic and was changed where nothing is covered, or not at all.
            End::Forwarded(_, found) => {
                assert!(!std::mem::replace(&mut taken[n], true), "a replay");
                let at = wire::ip::parse(found).unwrap().upper.at;
                assert_eq!(found[at..], originals[n][at..], "packet {n}");
            }
            // Authentic, and its header led to something that is refused: the number is taken.
            End::Dropped(Cause::SelectorMismatch | Cause::Congestion | Cause::BadInnerPacket) => {
                taken[n] = true
            }
            End::Dropped(_) => {}
        }
    }
    let counters = into.counters();
    println!("{:?}", counters.dropped);
    let settled = counters.decapsulated.packets + counters.bypassed.packets + counters.dropped.total();
    assert_eq!((counters.accepted.packets, settled), (total, total));
    assert_eq!(counters.bypassed.packets, 0);
    assert!(counters.dropped.get(Cause::IcvMismatch) > total / 10);
    for (n, (sealed, original)) in sealed.iter().zip(&originals).enumerate() {
        let end = crate::common::send(&mut into, sealed);
        if taken[n] {
            assert_eq!(end, End::Dropped(Cause::Replayed));
        } else {
            assert_eq!(end.packet(), *original, "nothing that is forged keeps packet {n} out");
        }
    }
}
