// SPDX-License-Identifier: Apache-2.0
//! Every suite, mode and family, there and back.

mod common;

use ace_esp::suite::{AUTHS, CIPHERS};
use ace_esp::{Cause, How, wire};
use common::{End, SaText, fix_checksum, pair, send, udp4, udp6};
use proptest::prelude::*;

const A6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const B6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

/// An SA and a clear packet that it is for.
fn sa_and_packet(
    cipher: usize,
    auth: usize,
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
    let mut sa = SaText::new("out");
    (sa.cipher, sa.auth) = (&CIPHERS[cipher], &AUTHS[auth]);
    if esn && sa.auth.hash.is_some() {
        sa = sa.more("esn = true");
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
    for cipher in 0..CIPHERS.len() {
        for auth in 0..AUTHS.len() {
            for bits in 0..16 {
                let [tunnel, inner6, outer6, esn] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                let (sa, packet) = sa_and_packet(cipher, auth, tunnel, inner6, outer6, esn, b"some payload");
                let (mut out, mut into) = pair(&sa);
                for _ in 0..3 {
                    let End::Forwarded(How::Protected, sealed) = send(&mut out, &packet) else {
                        panic!("dropped: {sa:?}")
                    };
                    let ip = wire::ip::parse(&sealed).unwrap();
                    assert_eq!((ip.protocol, ip.total_len), (Some(wire::protocol::ESP), sealed.len()));
                    assert_eq!(
                        sealed.windows(12).any(|part| part == b"some payload"),
                        sa.cipher.pass.is_none()
                    );
                    assert_eq!(send(&mut into, &sealed), End::Forwarded(How::Decapsulated, packet.clone()));
                }
                assert_eq!(out.counters().protected.packets, 3);
                assert_eq!(into.counters().decapsulated.packets, 3);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_length_comes_back(
        cipher in 0..CIPHERS.len(),
        auth in 0..AUTHS.len(),
        [tunnel, inner6, outer6, esn]: [bool; 4],
        payload in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        let (sa, packet) = sa_and_packet(cipher, auth, tunnel, inner6, outer6, esn, &payload);
        let (mut out, mut into) = pair(&sa);
        let sealed = send(&mut out, &packet).packet();
        let esp_at = wire::ip::parse(&sealed).unwrap().upper.at;
        let encrypted = sealed.len() - esp_at - 8 - sa.cipher.iv_len - sa.auth.icv_len;
        prop_assert_eq!(encrypted % sa.cipher.alignment(), 0);
        let shortest = if tunnel { packet.len() } else { payload.len() + 8 } + 2;
        prop_assert!(encrypted >= shortest && encrypted < shortest + sa.cipher.alignment(), "least padding");
        prop_assert_eq!(send(&mut into, &sealed), End::Forwarded(How::Decapsulated, packet));
    }

    /// A changed bit never gets through an authenticated SA: the outer header has its checksum or, on IPv6, its
    /// addresses and length; what is left of it means nothing to the inner packet.
    #[test]
    fn any_flipped_bit_is_seen(
        cipher in 0..CIPHERS.len(),
        auth in 0..2usize,
        [tunnel, inner6, outer6, esn]: [bool; 4],
        place in any::<prop::sample::Index>(),
    ) {
        let (sa, packet) = sa_and_packet(cipher, auth, tunnel, inner6, outer6, esn, b"tamper with me");
        let (mut out, mut into) = pair(&sa);
        let mut sealed = send(&mut out, &packet).packet();
        let esp_at = wire::ip::parse(&sealed).unwrap().upper.at;
        let bit = place.index((sealed.len() - esp_at) * 8);
        sealed[esp_at + bit / 8] ^= 1 << (bit % 8);
        let End::Dropped(cause) = send(&mut into, &sealed) else { panic!("bit {bit} of ESP was not seen") };
        let expected = match bit / 8 {
            0..4 => cause == Cause::UnknownSpi,
            4..8 => matches!(cause, Cause::IcvMismatch | Cause::SequenceZero | Cause::TooOld),
            _ => cause == Cause::IcvMismatch,
        };
        prop_assert!(expected, "bit {bit}: {cause:?}");
        prop_assert_eq!(into.sas().next().unwrap().sequence, 0, "nothing unauthenticated moves the window");
    }
}

/// Every byte of the packet, headers and all: what comes out is dropped or is the original.
#[test]
fn every_byte_tampered_and_every_truncation() {
    for (auth, outer6, tunnel) in [(0, false, true), (0, true, true), (1, false, false), (1, true, false)] {
        let (sa, packet) = sa_and_packet(0, auth, tunnel, outer6, outer6, false, b"tamper with me");
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
