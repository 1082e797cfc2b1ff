// SPDX-License-Identifier: Apache-2.0
//! How long packets may be on their way to the other end (RFC 4301, 8.2).

use std::time::Duration;

use crate::common::{End, NOW, SaText, finish, packet};
use ace_ipsec::packet::ip;
use ace_ipsec::{Cause, Inside, Protocol, SaId, Shard};

/// A clear IPv4 packet of a length, with or without "don't fragment".
fn clear(len: u16, whole: bool) -> Vec<u8> {
    let mut packet = crate::common::clear(&vec![7; usize::from(len)]);
    packet.truncate(usize::from(len));
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    packet[6] = u8::from(whole) << 6;
    packet[10..12].fill(0);
    let sum = ip::checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

fn send(plane: &mut Shard, now: Duration, bytes: &[u8]) -> End {
    plane.ingest(now, Inside, [packet(bytes)]);
    finish(plane).remove(0)
}

fn only(plane: &Shard) -> SaId {
    let [(id, ..)] = plane.outbound(0x1001, Protocol::Esp)[..] else { panic!("one SA") };
    assert_eq!(plane.outbound(0x1002, Protocol::Esp), []);
    id
}

fn of(suite: (&str, &str), mode: &str) -> Shard {
    let text = SaText::new("out").suites(suite.0, suite.1);
    let text = if mode == "transport" { text.transport().ends("10.0.0.1", "10.0.0.2") } else { text };
    text.plane()
}

#[test]
fn what_fits_goes_and_what_does_not_is_dropped_whole() {
    for suite in [("aes-128-gcm-16", "none"), ("aes-128-cbc", "hmac-sha1-96"), ("3des-cbc", "hmac-md5-96")] {
        for mode in ["tunnel", "transport"] {
            let mut plane = of(suite, mode);
            send(&mut plane, NOW, &clear(100, true)).packet();
            let id = only(&plane);
            assert_eq!(plane.longest_inside(id, &clear(100, true)), None, "nothing is known");
            for most in [1399, 1280, 1007, 1001, 1000, 576] {
                let until = NOW + Duration::from_secs(600);
                assert!(plane.narrow(id, most, until));
                assert!(!plane.narrow(id, most, until), "as much as is known");
                let longest = plane.longest_inside(id, &clear(100, true)).unwrap();
                let sent = send(&mut plane, NOW, &clear(longest, true)).packet();
                assert!(
                    sent.len() <= usize::from(most) && usize::from(most) - sent.len() < 16,
                    "{}",
                    sent.len()
                );
                let sequence = plane.sa(id).unwrap().sequence;
                assert_eq!(send(&mut plane, NOW, &clear(longest + 1, true)), End::Dropped(Cause::PathMtu));
                assert_eq!(plane.sa(id).unwrap().sequence, sequence, "it takes no number");
                // What may be divided goes as it is.
                assert!(send(&mut plane, NOW, &clear(longest + 1, false)).packet().len() > usize::from(most));
            }
            // What was known grows old.
            assert!(
                send(&mut plane, NOW + Duration::from_secs(601), &clear(1300, true)).packet().len() > 1300
            );
            assert_eq!(plane.longest_inside(id, &clear(100, true)), None);
        }
    }
}

#[test]
fn padding_gives_way_before_packets_do() {
    let mut plane = SaText::new("out").suites("aes-128-gcm-16", "none").more("tfc_padding = 1400").plane();
    assert!(send(&mut plane, NOW, &clear(100, true)).packet().len() > 1400);
    let id = only(&plane);
    assert!(plane.narrow(id, 1000, NOW + Duration::from_secs(600)));
    assert!(send(&mut plane, NOW, &clear(100, true)).packet().len() < 1000);
    assert_eq!(send(&mut plane, NOW, &clear(1000, true)), End::Dropped(Cause::PathMtu));
}

#[test]
fn where_df_is_not_copied_everything_goes() {
    let mut plane = SaText::new("out").suites("aes-128-gcm-16", "none").more("copy_df = false").plane();
    let id = only(&plane);
    assert!(plane.narrow(id, 600, NOW + Duration::from_secs(600)));
    assert!(send(&mut plane, NOW, &clear(1000, true)).packet().len() > 1000);
}
