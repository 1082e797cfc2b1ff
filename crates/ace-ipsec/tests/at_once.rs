// SPDX-License-Identifier: Apache-2.0
//! What is computed at once comes out as what is queued: the same bytes, numbers, counters and order, also where some of it
//! is and some is not.

use ace_engine::software::execute;
use ace_ipsec::{Inside, Outside, Packet, Shard, Side};
use proptest::prelude::*;

use crate::common::{End, NOW, SaText, clear, ends, execute as run, packet, pair};

const SUITES: &[(&str, &str, &str)] = &[
    ("esp", "aes-128-gcm-16", "none"),
    ("esp", "aes-128-cbc", "hmac-sha1-96"),
    ("esp", "chacha20-poly1305", "none"),
    ("esp", "aes-128-gmac", "none"),
    ("esp", "null", "hmac-sha256-128"),
    ("esp", "aes-128-ctr", "none"),
    ("esp", "null", "none"),
    ("ah", "null", "hmac-sha512-256"),
];

/// Takes packets in, of which those are computed at once that `chosen` says; then all else: what is sealed the last one
/// first, what is opened in order, as the first of two copies is the one that is taken.
fn pass<S: Side>(plane: &mut Shard, side: S, packets: Vec<Packet>, chosen: &[bool]) -> Vec<End> {
    let mut asked = chosen.iter().copied().cycle();
    plane.ingest_by(NOW, side, packets, |action, packet| {
        asked.next().unwrap_or(false).then(|| execute(action, packet))
    });
    let mut done = run(plane);
    if S::INSIDE {
        done.reverse();
    }
    plane.complete(NOW, &mut done);
    assert_eq!(plane.in_flight(), 0);
    ends(plane)
}

/// Sealed, forged in places, and opened.
fn there_and_back(
    sa: &SaText,
    payloads: &[Vec<u8>],
    forged: &[bool],
    chosen: &[bool],
) -> (Vec<End>, Vec<End>, String) {
    let (mut out, mut into) = pair(sa);
    let packets = payloads.iter().map(|payload| packet(&clear(payload))).collect();
    let sealed = pass(&mut out, Inside, packets, chosen);
    let wire = sealed.iter().zip(forged.iter().cycle()).map(|(end, forged)| {
        let mut bytes = end.clone().packet();
        if *forged && let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        packet(&bytes)
    });
    // One of them comes twice.
    let wire: Vec<_> = wire.chain(sealed.first().map(|end| packet(&end.clone().packet()))).collect();
    let opened = pass(&mut into, Outside, wire, chosen);
    let counted = format!("{:?} {:?}", out.counters(), into.counters());
    (sealed, opened, counted)
}

proptest! {
    #[test]
    fn it_is_as_if_it_had_been_queued(
        suite in prop::sample::select(SUITES),
        esn: bool,
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..20),
        forged in prop::collection::vec(prop::bool::weighted(0.2), 1..20),
        chosen in prop::collection::vec(any::<bool>(), 1..20),
    ) {
        let (protocol, cipher, auth) = suite;
        let mut sa = SaText { protocol, ..SaText::new("out") }.suites(cipher, auth);
        if auth != "none" || cipher.contains("gcm") || cipher.contains("gmac") {
            sa = sa.more(&format!("esn = {esn}"));
        }
        let queued = there_and_back(&sa, &payloads, &forged, &[false]);
        prop_assert_eq!(&there_and_back(&sa, &payloads, &forged, &[true]), &queued);
        let (sealed, _, _) = there_and_back(&sa, &payloads, &forged, &chosen);
        // Which of two copies is opened first is a matter of who computes; what is sealed is not.
        prop_assert_eq!(&sealed, &queued.0);
    }
}
