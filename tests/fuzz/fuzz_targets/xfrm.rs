// SPDX-License-Identifier: Apache-2.0
//! Any bytes as datagrams of XFRM, each behind its length in two bytes: every request is answered or not, nothing
//! panics, every answer is a whole number of messages, and a gateway that was flushed has no SAs.
#![no_main]

use std::net::IpAddr;
use std::time::Duration;

use ace_config::gateway::Encapsulation;
use ace_engine::software::CpuEngine;
use ace_gateway::{Core, Interface, Settings};
use ace_ipsec::SeededIvs;
use libfuzzer_sys::fuzz_target;

fn whole(mut datagram: &[u8]) -> bool {
    while let Some(len) = datagram.first_chunk().map(|len| u32::from_ne_bytes(*len) as usize) {
        if len < 16 || len > datagram.len() {
            return false;
        }
        datagram = &datagram[len.next_multiple_of(4).min(datagram.len())..];
    }
    datagram.is_empty()
}

fuzz_target!(|bytes: &[u8]| {
    let (encapsulation, mut rest) = match bytes.split_first() {
        Some((first, rest)) if first & 1 == 1 => (Encapsulation::Udp, rest),
        Some((_, rest)) => (Encapsulation::None, rest),
        None => return,
    };
    let settings = Settings {
        encapsulation,
        peers: Vec::new(),
        mtu: 1400,
        interfaces: [Interface { if_id: 7, mtu: 1300, apart: false }].into_iter().collect(),
        marks: true,
        port: 4500,
        keepalive: None,
        xfrm: Some(true),
        keys: None,
    };
    let mut core = Core::new(settings, Box::new(CpuEngine::new()), Box::new(SeededIvs::new(0)));
    // 127.0.0.0/8 and odd addresses are this machine's.
    let is_local = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets()[3] & 1 == 1,
        IpAddr::V6(address) => address.octets()[15] & 1 == 1,
    };
    while let Some((len, tail)) = rest.split_first_chunk() {
        let (datagram, tail) = tail.split_at(usize::from(u16::from_le_bytes(*len)).min(tail.len()));
        rest = tail;
        for answer in core.xfrm(Duration::ZERO, datagram, &is_local) {
            assert!(whole(&answer), "{answer:02x?}");
        }
        core.tick(Duration::ZERO);
    }
    let mut flush = vec![20, 0, 0, 0, 0x1c, 0, 1, 0];
    flush.extend_from_slice(&[0; 12]);
    core.xfrm(Duration::ZERO, &flush, &is_local);
    assert_eq!(core.sa_count(), 0);
});
