// SPDX-License-Identifier: Apache-2.0
//! What an SA runs out of: sequence numbers, extended or not, lifetimes, randomness.

use crate::common::{End, NOW, SaText, clear, pair, seal, send};
use ace_config::SaFile;
use ace_ipsec::{Cause, Event, IvError, IvSource, SeededIvs};

#[test]
fn sequence_numbers_end() {
    let (mut out, mut into) = pair(&SaText::new("out").more("first_sequence = 0xfffffffe"));
    let sealed = seal(&mut out, 2);
    assert_eq!(sealed[1][24..28], [0xff; 4]);
    for _ in 0..2 {
        assert_eq!(send(&mut out, &clear(b"x")), End::Dropped(Cause::SequenceExhausted));
    }
    let sa = out.sas().next().unwrap().id;
    assert_eq!(out.poll_event(), Some(Event::SequenceExhausted { sa }));
    assert_eq!(out.poll_event(), None);
    assert_eq!(out.sas().next().unwrap().sequence, u64::from(u32::MAX));
    for packet in &sealed {
        assert!(matches!(send(&mut into, packet), End::Forwarded(..)));
    }
}

#[test]
fn extended_numbers_go_on() {
    let sa = SaText::new("out").more("esn = true\nfirst_sequence = 0xfffffff0");
    let (mut out, mut into) = pair(&sa);
    let sealed = seal(&mut out, 40);
    let low = |packet: &[u8]| u32::from_be_bytes(packet[24..28].try_into().unwrap());
    assert_eq!((low(&sealed[15]), low(&sealed[16])), (u32::MAX, 0));
    // Out of order across the wrap.
    for n in [0, 17, 15, 16, 39, 14, 20] {
        assert!(matches!(send(&mut into, &sealed[n]), End::Forwarded(..)), "{n}");
        assert_eq!(send(&mut into, &sealed[n]), End::Dropped(Cause::Replayed), "{n}");
    }
    assert_eq!(into.sas().next().unwrap().sequence, (1 << 32) + 23);
    // Without ESN at the other end the high half is missing from the ICV.
    let plain = SaText { direction: "in", ..SaText::new("out") }.ends("192.0.2.2", "192.0.2.1");
    assert_eq!(send(&mut plain.plane(), &sealed[39]), End::Dropped(Cause::IcvMismatch));

    let last = SaText::new("out").more("esn = true\nfirst_sequence = 0xffff_ffff_ffff_ffff");
    let mut out = last.plane();
    seal(&mut out, 1);
    assert_eq!(send(&mut out, &clear(b"x")), End::Dropped(Cause::SequenceExhausted));
}

#[test]
fn lifetimes() {
    let (mut out, _) = pair(&SaText::new("out").more("lifetime = { soft_packets = 2, hard_packets = 3 }"));
    let sealed = seal(&mut out, 3);
    for _ in 0..2 {
        assert_eq!(send(&mut out, &clear(b"x")), End::Dropped(Cause::LifetimeExceeded));
    }
    let sa = out.sas().next().unwrap().id;
    let events: Vec<_> = std::iter::from_fn(|| out.poll_event()).collect();
    assert_eq!(events, [Event::SoftLifetime { sa }, Event::HardLifetime { sa }]);
    let status = out.sas().next().unwrap();
    assert!(status.soft_lifetime_over && status.hard_lifetime_over);
    assert_eq!(status.sequence, 3, "a refused packet takes no number");

    // Inbound only what is authentic counts.
    let mut into = SaText::new("in").more("lifetime = { hard_packets = 1 }").plane();
    let mut forged = sealed[0].clone();
    *forged.last_mut().unwrap() ^= 1;
    for _ in 0..5 {
        assert_eq!(send(&mut into, &forged), End::Dropped(Cause::IcvMismatch));
    }
    assert!(matches!(send(&mut into, &sealed[0]), End::Forwarded(..)));
    for n in [1, 2, 1] {
        assert_eq!(send(&mut into, &sealed[n]), End::Dropped(Cause::LifetimeExceeded));
    }

    // Bytes are those that the cipher works on, padding and all: both ends count the same and stop together.
    let enciphered = (clear(b"x").len() + 2).next_multiple_of(16);
    let limit = format!("lifetime = {{ hard_bytes = {} }}", 2 * enciphered + 15);
    let (mut out, mut into) = pair(&SaText::new("out").more(&limit));
    for _ in 0..2 {
        let sealed = send(&mut out, &clear(b"x")).packet();
        assert!(matches!(send(&mut into, &sealed), End::Forwarded(..)));
    }
    assert_eq!(send(&mut out, &clear(b"x")), End::Dropped(Cause::LifetimeExceeded));
    // What would still fit does not go either: the SA is over.
    let limit = format!("lifetime = {{ hard_bytes = {} }}", 3 * enciphered);
    let mut out = SaText::new("out").more(&limit).plane();
    assert_eq!(send(&mut out, &clear(&[0; 200])), End::Dropped(Cause::LifetimeExceeded));
    for _ in 0..4 {
        assert_eq!(send(&mut out, &clear(b"x")), End::Dropped(Cause::LifetimeExceeded));
    }
}

#[test]
fn ivs_differ_and_repeat_with_the_seed() {
    for (cipher, iv_len) in [("aes-128-cbc", 16), ("aes-128-ctr", 8), ("3des-cbc", 8)] {
        let sa = SaText::new("out").suites(cipher, "hmac-sha1-96");
        let ivs = |packets: &[Vec<u8>]| -> Vec<Vec<u8>> {
            packets.iter().map(|packet| packet[28..28 + iv_len].to_vec()).collect()
        };
        let (first, again) = (seal(&mut sa.plane(), 50), seal(&mut sa.plane(), 50));
        assert_eq!(first, again);
        let distinct: std::collections::HashSet<_> = ivs(&first).into_iter().collect();
        assert_eq!(distinct.len(), 50, "{cipher}");
        let file = SaFile::parse("x", &format!("allow_legacy = true\n{}", sa.toml())).unwrap();
        let mut reseeded = file.shard(NOW, Box::new(SeededIvs::new(8))).unwrap();
        assert!(ivs(&seal(&mut reseeded, 50)).iter().all(|iv| !distinct.contains(iv)), "{cipher}");
    }
}

struct NoIvs;

impl IvSource for NoIvs {
    fn fill(&mut self, _: &mut [u8]) -> Result<(), IvError> {
        Err(IvError("empty".into()))
    }
}

#[test]
fn without_randomness_nothing_is_sent() {
    for cipher in ["aes-128-cbc", "aes-128-ctr"] {
        let sa = SaText::new("out").suites(cipher, "hmac-sha1-96").toml();
        let mut out = SaFile::parse("x", &sa).unwrap().shard(NOW, Box::new(NoIvs)).unwrap();
        assert_eq!(send(&mut out, &clear(b"x")), End::Dropped(Cause::IvUnavailable));
        assert_eq!(out.sas().next().unwrap().sequence, 0);
    }
}
