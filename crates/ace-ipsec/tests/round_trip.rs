// SPDX-License-Identifier: Apache-2.0
//! Every suite, mode and family, there and back.

use crate::common::{End, SaText, fix_checksum, pair, send, udp4, udp6};
use ace_ipsec::model::{AUTHS, CIPHERS};
use ace_ipsec::{Cause, How, packet as wire};
use proptest::prelude::*;

const A6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const B6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

/// What protects: AH with an authentication, or ESP with a legal pair.
#[derive(Clone, Copy, Debug)]
struct Suite {
    ah: bool,
    cipher: usize,
    auth: usize,
}

/// Every legal choice, or the diagonal of ciphers and authentications that a short run takes.
fn suites(all: bool) -> Vec<Suite> {
    let null = CIPHERS.len() - 1;
    let none = AUTHS.len() - 1;
    let mut suites = Vec::new();
    for (cipher, suite) in CIPHERS.iter().enumerate() {
        for auth in 0..=none {
            let legal = !suite.combined() || auth == none;
            if legal && (all || cipher == 0 || cipher == null || auth == 0 || auth == none) {
                suites.push(Suite { ah: false, cipher, auth });
            }
        }
    }
    suites.extend((0..none).map(|auth| Suite { ah: true, cipher: null, auth }));
    suites
}

fn all_tests() -> bool {
    std::env::var("ACE_TESTS").is_ok_and(|tests| tests == "all")
}

/// An SA and a clear packet that it is for.
fn sa_and_packet(
    suite: Suite,
    tunnel: bool,
    inner6: bool,
    outer6: bool,
    esn: bool,
    payload: &[u8],
) -> (SaText, Vec<u8>) {
    let packet = if inner6 {
        udp6(A6, B6, (7, 8), payload)
    } else {
        udp4([10, 0, 0, 1], [10, 0, 0, 2], (7, 8), payload)
    };
    let mut sa = SaText::new("out").more("fresh_key = true");
    (sa.cipher, sa.auth) = (&CIPHERS[suite.cipher], &AUTHS[suite.auth]);
    sa.protocol = if suite.ah { "ah" } else { "esp" };
    if esn && (sa.auth.mac.is_some() || sa.cipher.combined()) {
        sa = sa.more("esn = true\nfirst_sequence = 0xffff_fffe");
    }
    sa = match (tunnel, inner6, outer6) {
        (true, _, true) => sa.ends("2001:db8::1", "2001:db8::2"),
        (true, _, false) => sa,
        (false, true, _) => sa.transport().ends("fd00::1", "fd00::2"),
        (false, false, _) => sa.transport().ends("10.0.0.1", "10.0.0.2"),
    };
    (sa, packet)
}

#[test]
fn every_suite_mode_and_family() {
    for suite in suites(all_tests()) {
        for bits in 0..16 {
            let [tunnel, inner6, outer6, esn] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let (sa, packet) = sa_and_packet(suite, tunnel, inner6, outer6, esn, b"some payload");
            let (mut out, mut into) = pair(&sa);
            for _ in 0..3 {
                let End::Forwarded(How::Protected, sealed) = send(&mut out, &packet) else {
                    panic!("dropped: {sa:?}")
                };
                let ip = wire::ip::parse(&sealed).unwrap();
                let protocol = if suite.ah { wire::protocol::AH } else { wire::protocol::ESP };
                assert_eq!((ip.protocol, ip.total_len), (Some(protocol), sealed.len()));
                let shown = sealed.windows(12).any(|part| part == b"some payload");
                assert_eq!(shown, !sa.cipher.encrypts(), "{sa:?}");
                let end = send(&mut into, &sealed);
                assert_eq!(end, End::Forwarded(How::Decapsulated, packet.clone()), "{sa:?}");
            }
            assert_eq!(out.counters().protected.packets, 3);
            assert_eq!(into.counters().decapsulated.packets, 3);
        }
    }
}

fn any_suite() -> impl Strategy<Value = Suite> {
    proptest::sample::select(suites(true))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if all_tests() { 3000 } else { 500 }))]

    #[test]
    fn any_length_comes_back(
        suite in any_suite(),
        [tunnel, inner6, outer6, esn]: [bool; 4],
        payload in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        let (sa, packet) = sa_and_packet(suite, tunnel, inner6, outer6, esn, &payload);
        let (mut out, mut into) = pair(&sa);
        let sealed = send(&mut out, &packet).packet();
        let at = wire::ip::parse(&sealed).unwrap().upper.at;
        let enclosed = if tunnel { packet.len() } else { payload.len() + 8 };
        if suite.ah {
            let unit = if at == 40 { 8 } else { 4 };
            prop_assert_eq!(sealed.len() - at - enclosed, (12 + sa.auth.icv_len).next_multiple_of(unit));
        } else {
            let encrypted = sealed.len() - at - 8 - sa.cipher.iv_len - sa.auth.icv_len - sa.cipher.icv_len;
            prop_assert_eq!(encrypted % sa.cipher.alignment(), 0);
            let shortest = enclosed + 2;
            prop_assert!(encrypted >= shortest && encrypted < shortest + sa.cipher.alignment(), "least padding");
        }
        prop_assert_eq!(send(&mut into, &sealed), End::Forwarded(How::Decapsulated, packet));
    }

    /// A changed bit never gets through an authenticated SA: the outer header has its checksum or, on IPv6, its
    /// addresses and length; what is left of it means nothing to the inner packet.
    #[test]
    fn any_flipped_bit_is_seen(
        suite in any_suite(),
        [tunnel, inner6, outer6, esn]: [bool; 4],
        place in any::<prop::sample::Index>(),
    ) {
        let (sa, packet) = sa_and_packet(suite, tunnel, inner6, outer6, esn, b"tamper with me");
        prop_assume!(sa.auth.mac.is_some() || sa.cipher.combined());
        let (mut out, mut into) = pair(&sa);
        let before = into.sas().next().unwrap().sequence;
        let mut sealed = send(&mut out, &packet).packet();
        let at = wire::ip::parse(&sealed).unwrap().upper.at;
        let bit = place.index((sealed.len() - at) * 8);
        sealed[at + bit / 8] ^= 1 << (bit % 8);
        let End::Dropped(cause) = send(&mut into, &sealed) else { panic!("bit {bit} was not seen") };
        // AH's SPI lies behind four bytes more.
        let expected = match (bit / 8, suite.ah) {
            (0..4, false) | (4..8, true) => cause == Cause::UnknownSpi,
            (4..8, false) | (8..12, true) => {
                matches!(cause, Cause::IcvMismatch | Cause::SequenceZero | Cause::TooOld | Cause::Replayed)
            }
            (1, true) => matches!(cause, Cause::BadAh | Cause::IcvMismatch),
            _ => cause == Cause::IcvMismatch,
        };
        prop_assert!(expected, "bit {bit}: {cause:?}");
        prop_assert_eq!(into.sas().next().unwrap().sequence, before, "nothing unauthenticated moves the window");
    }
}

/// Every byte of the packet, headers and all: what comes out is dropped or is the original.
#[test]
fn every_byte_tampered_and_every_truncation() {
    for (auth, outer6, tunnel) in [(0, false, true), (0, true, true), (1, false, false), (1, true, false)] {
        let suite = Suite { ah: false, cipher: 0, auth };
        let (sa, packet) = sa_and_packet(suite, tunnel, outer6, outer6, false, b"tamper with me");
        for at in 0..200 {
            let (mut out, mut into) = pair(&sa);
            let mut sealed = send(&mut out, &packet).packet();
            let whole = sealed.clone();
            let Some(byte) = sealed.get_mut(at) else { break };
            *byte ^= 0x55;
            let end = send(&mut into, &sealed);
            // Authentic ESP takes its number, whatever its header led to.
            let taken = matches!(end, End::Forwarded(..) | End::Dropped(Cause::SelectorMismatch));
            if let End::Forwarded(_, found) = end {
                // Only what IPv6 leaves unprotected and RFC 4301 does not compare: traffic class, flow label, hop
                // limit; of a tunnel the outer source.
                assert!(outer6 && (matches!(at, 0..4 | 7) || tunnel && (8..24).contains(&at)), "byte {at}");
                if tunnel {
                    assert_eq!(found[8..], packet[8..], "byte {at}");
                }
            }
            // Cut off here: with the old length it is no packet, with a new one no ESP of ours.
            let mut short = whole[..at].to_vec();
            assert!(matches!(send(&mut into, &short), End::Dropped(_)), "cut to {at}");
            let header = if outer6 { 40 } else { 20 };
            if at >= header {
                if outer6 {
                    short[4..6].copy_from_slice(&((at - 40) as u16).to_be_bytes());
                } else {
                    short[2..4].copy_from_slice(&(at as u16).to_be_bytes());
                    fix_checksum(&mut short);
                }
                let end = send(&mut into, &short);
                let legal = [Cause::EspTooShort, Cause::BadLength, Cause::IcvMismatch];
                assert!(legal.iter().any(|&cause| end == End::Dropped(cause)), "cut to {at}: {end:?}");
            }
            if taken {
                assert_eq!(send(&mut into, &whole), End::Dropped(Cause::Replayed));
            } else {
                assert_eq!(send(&mut into, &whole).packet(), packet, "the original still gets through");
            }
        }
    }
}

/// AH covers the addresses too: nothing but what routers change may differ.
#[test]
fn ah_covers_all_but_what_routers_change() {
    for (outer6, tunnel) in [(false, true), (true, true), (false, false), (true, false)] {
        let suite = Suite { ah: true, cipher: CIPHERS.len() - 1, auth: 0 };
        let (sa, packet) = sa_and_packet(suite, tunnel, outer6, outer6, false, b"tamper with me");
        let (mut out, mut into) = pair(&sa);
        let whole = send(&mut out, &packet).packet();
        // Type of service, flags and offset, time to live, checksum; traffic class and flow label, hop limit.
        let mutable: &[usize] = if outer6 { &[0, 1, 2, 3, 7] } else { &[1, 6, 7, 8, 10, 11] };
        for at in 0..if outer6 { 40 } else { 20 } {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            if !outer6 && at != 10 && at != 11 {
                fix_checksum(&mut changed);
            }
            let end = send(&mut into, &changed);
            if mutable.contains(&at) {
                // A fragment, a wrong checksum and a congestion mark have reasons of their own.
                let own = matches!(
                    end,
                    End::Dropped(Cause::EspFragment | Cause::BadIpChecksum | Cause::Congestion)
                );
                assert!(own || matches!(end, End::Forwarded(How::Decapsulated, _)), "byte {at}: {end:?}");
                (out, into) = pair(&sa);
                assert_eq!(send(&mut out, &packet).packet()[20..], whole[20..]);
            } else {
                assert!(!matches!(end, End::Forwarded(How::Decapsulated, _)), "byte {at} is covered");
            }
        }
    }
}
