// SPDX-License-Identifier: Apache-2.0
//! What was answered over XFRM leaves no key in this process's memory, and neither do SAs that are gone.
//!
//! A program of one test: other threads would have memory of their own.
#![cfg(target_os = "linux")]

#[path = "../../ace-config/tests/marked/mod.rs"]
mod marked;

use std::net::IpAddr;
use std::time::Duration;

use ace_config::gateway::Encapsulation;
use ace_engine::software::CpuEngine;
use ace_gateway::{Core, Settings};
use ace_ipsec::SeededIvs;
use marked::{copies, marker};
use zeroize::Zeroizing;

/// One datagram a request, each behind its length, behind one byte; the first one makes an SA.
const SEED: &[u8] = include_bytes!("../../../tests/fuzz/seeds/xfrm/udp");
const SAS: u32 = 40;
/// Of a message and of `xfrm_usersa_info`; where in both the SPI stands.
const HEADER: usize = 16;
const INFO: usize = 224;
const SPI: usize = 88;
/// linux/xfrm.h: `struct xfrm_algo_aead`, and where its key begins.
const ALG_AEAD: u16 = 18;
const KEY: usize = 72;

/// Makes an SA with a key that can be found.
fn new_sa(n: u32) -> Zeroizing<Vec<u8>> {
    let len = usize::from(u16::from_le_bytes([SEED[1], SEED[2]]));
    let mut datagram = Zeroizing::new(SEED[3..3 + len].to_vec());
    datagram[SPI..SPI + 4].copy_from_slice(&(0x5000 + n).to_be_bytes());
    let mut at = HEADER + INFO;
    while at < datagram.len() {
        let word = |at: usize| u16::from_ne_bytes([datagram[at], datagram[at + 1]]);
        let (len, kind) = (usize::from(word(at)), word(at + 2));
        if kind == ALG_AEAD {
            let key = at + 4 + KEY;
            (0..at + len - key).for_each(|i| datagram[key + i] = marker(i));
            return datagram;
        }
        at += len.next_multiple_of(4);
    }
    panic!("the seed has a combined mode");
}

/// A request with flags and a body.
fn request(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let len = (HEADER + body.len()) as u32;
    [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 8], body].concat()
}

#[test]
fn answers_leave_no_key_behind() {
    let settings = Settings {
        encapsulation: Encapsulation::Udp,
        peers: Vec::new(),
        mtu: 1400,
        interfaces: ace_gateway::Interfaces::default(),
        marks: false,
        port: 4500,
        keepalive: None,
        xfrm: Some(true),
        keys: None,
    };
    let mut core = Core::new(settings, Box::new(CpuEngine::new()), Box::new(SeededIvs::new(1)));
    let mut ask = |datagram: &[u8]| {
        core.xfrm(Duration::ZERO, datagram, &|address| address == IpAddr::from([192, 0, 2, 1]))
    };
    assert_eq!(copies(), Vec::<String>::new(), "the test itself");
    for n in 0..SAS {
        let answers = ask(&new_sa(n));
        assert!(answers.iter().all(|answer| answer[HEADER..HEADER + 4] == [0; 4]), "{answers:02x?}");
    }
    let at_work = copies().len();
    assert!(at_work >= SAS as usize, "{at_work}");
    // GETSA, all.
    let dump = request(0x12, 0x301, &[]);
    let answers = ask(&dump);
    assert!(answers.len() > 1, "more than one datagram");
    assert!(
        copies().len() >= at_work + SAS as usize,
        "the search finds keys in answers while they are there"
    );
    drop(answers);
    for _ in 0..10 {
        ask(&dump);
    }
    assert_eq!(copies().len(), at_work, "after the answers were dropped");
    // FLUSHSA.
    ask(&request(0x1c, 1, &[0; 4]));
    assert_eq!(copies(), Vec::<String>::new(), "after the SAs are gone");
}
