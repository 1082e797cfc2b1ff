// SPDX-License-Identifier: Apache-2.0
//! Any packets through a data plane with SAs of every kind, their operations through the CPU engine. Nothing
//! panics, every packet is counted once, and nothing that an outbound SA covers leaves in clear.
#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use ace_config::SaFile;
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Engine};
use ace_ipsec::packet::{ip, protocol};
use ace_ipsec::{Fate, How, Packet, SeededIvs};
use libfuzzer_sys::fuzz_target;

/// Tunnel and transport, both families, both directions; with `null` and `none` arbitrary bytes reach the
/// innermost checks.
const SAS: &str = r#"
default_policy = "bypass"
allow_legacy = true
[[sa]]
name = "bare tunnel"
spi = 0x100
direction = "in"
mode = "tunnel"
local = "1.1.1.1"
remote = "2.2.2.2"
selector = { src = "10.0.0.0/8" }
cipher = "null"
auth = "none"
[[sa]]
name = "bare transport"
spi = 0x101
direction = "in"
mode = "transport"
local = "1.1.1.1"
remote = "2.2.2.2"
cipher = "null"
auth = "none"
[[sa]]
name = "bare transport over IPv6"
spi = 0x102
direction = "in"
mode = "transport"
local = "101:101:101:101:101:101:101:101"
remote = "202:202:202:202:202:202:202:202"
cipher = "null"
auth = "none"
[[sa]]
name = "unauthenticated"
spi = 0x103
direction = "in"
mode = "tunnel"
local = "101:101:101:101:101:101:101:101"
remote = "202:202:202:202:202:202:202:202"
selector = { dst = "::/0" }
cipher = "aes-128-ctr"
key = "000102030405060708090a0b0c0d0e0f10111213"
auth = "none"
[[sa]]
name = "authenticated"
spi = 0x104
direction = "in"
mode = "tunnel"
local = "1.1.1.1"
remote = "2.2.2.2"
selector = { src = "10.0.0.0/8" }
cipher = "3des-cbc"
key = "000102030405060708090a0b0c0d0e0f1011121314151617"
auth = "hmac-md5-96"
auth_key = "000102030405060708090a0b0c0d0e0f"
esn = true
[[sa]]
name = "combined"
spi = 0x105
direction = "in"
mode = "transport"
local = "1.1.1.1"
remote = "2.2.2.2"
cipher = "aes-128-gcm-8"
key = "000102030405060708090a0b0c0d0e0f10111213"
esn = true
[[sa]]
name = "GMAC"
spi = 0x106
direction = "in"
mode = "tunnel"
local = "101:101:101:101:101:101:101:101"
remote = "202:202:202:202:202:202:202:202"
selector = { dst = "::/0" }
cipher = "aes-128-gmac"
key = "000102030405060708090a0b0c0d0e0f10111213"
esn = true
[[sa]]
name = "AH"
spi = 0x100
direction = "in"
protocol = "ah"
mode = "transport"
local = "1.1.1.1"
remote = "2.2.2.2"
auth = "hmac-sha256-128"
auth_key = "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f"
[[sa]]
name = "AH over IPv6"
spi = 0x101
direction = "in"
protocol = "ah"
mode = "tunnel"
local = "101:101:101:101:101:101:101:101"
remote = "202:202:202:202:202:202:202:202"
selector = { dst = "::/0" }
auth = "aes-cmac-96"
auth_key = "000102030405060708090a0b0c0d0e0f"
[[sa]]
name = "AH out"
spi = 0x300
direction = "out"
protocol = "ah"
mode = "transport"
local = "6.6.6.6"
remote = "7.7.7.7"
auth = "hmac-sha1-96"
auth_key = "000102030405060708090a0b0c0d0e0f10111213"
[[sa]]
name = "AH out over IPv6"
spi = 0x301
direction = "out"
protocol = "ah"
mode = "transport"
local = "606:606:606:606:606:606:606:606"
remote = "707:707:707:707:707:707:707:707"
auth = "aes-xcbc-96"
auth_key = "000102030405060708090a0b0c0d0e0f"
[[sa]]
name = "out with ports"
spi = 0x200
direction = "out"
mode = "tunnel"
local = "1.1.1.1"
remote = "2.2.2.2"
selector = { src = "3.3.0.0/16", protocol = "udp", dst_port = "0-32767" }
cipher = "aes-128-cbc"
key = "000102030405060708090a0b0c0d0e0f"
auth = "hmac-sha1-96"
auth_key = "000102030405060708090a0b0c0d0e0f10111213"
[[sa]]
name = "out transport"
spi = 0x201
direction = "out"
mode = "transport"
local = "4.4.4.4"
remote = "5.5.5.5"
cipher = "null"
auth = "hmac-sha1-96"
auth_key = "000102030405060708090a0b0c0d0e0f10111213"
[[sa]]
name = "out transport over IPv6"
spi = 0x202
direction = "out"
mode = "transport"
local = "404:404:404:404:404:404:404:404"
remote = "505:505:505:505:505:505:505:505"
cipher = "aes-128-ctr"
key = "000102030405060708090a0b0c0d0e0f10111213"
auth = "none"
"#;

static FILE: LazyLock<SaFile> =
    LazyLock::new(|| SaFile::parse("fuzz", SAS).unwrap_or_else(|errors| panic!("{errors}")));

/// The input is a list of packets, each behind its length in one byte.
fn packets(mut input: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    std::iter::from_fn(move || {
        let (&len, rest) = input.split_first()?;
        let (packet, rest) = rest.split_at(rest.len().min(usize::from(len)));
        input = rest;
        Some(packet.to_vec())
    })
}

/// Makes the lengths and the checksum of a packet right, as a sender would: mutations seldom do.
fn mend(packet: &mut [u8]) {
    let len = packet.len();
    match packet.first().map(|first| first >> 4) {
        Some(4) if len >= 20 => {
            packet[2..4].copy_from_slice(&(len as u16).to_be_bytes());
            let header = usize::from(packet[0] & 15) * 4;
            if (20..=len).contains(&header) {
                packet[10..12].fill(0);
                let sum = ip::checksum(&packet[..header]);
                packet[10..12].copy_from_slice(&sum.to_be_bytes());
            }
        }
        Some(6) if len >= 40 => packet[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes()),
        _ => {}
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&mended, input)) = input.split_first() else { return };
    let mut plane = FILE.shard(Duration::ZERO, Box::new(SeededIvs::new(0))).expect("the file is legal");
    let (mut engine, mut done) = (CpuEngine::new(), Vec::new());
    let mut count = 0;
    for mut packet in packets(input) {
        if mended & 1 != 0 {
            mend(&mut packet);
        }
        count += 1;
        let clear = packet.clone();
        plane
            .ingest_seen(Duration::ZERO, Packet { token: count, buffer: Buffer::from_packet(&packet, 0, 0) });
        engine.try_submit(plane.jobs());
        engine.wait(&mut done);
        plane.complete(Duration::ZERO, &mut done);
        let exit = plane.poll_exit().expect("what comes in comes out");
        assert_eq!(exit.token, count);
        let (Fate::ToInside(how) | Fate::ToOutside(how)) = exit.fate else { continue };
        let packet = &*exit.buffer;
        let parsed = ip::parse(packet).expect("what leaves is a packet");
        assert_eq!(parsed.total_len, packet.len());
        match how {
            How::Protected => assert!(matches!(parsed.protocol, Some(protocol::ESP | protocol::AH))),
            How::Bypassed => {
                assert!(clear.starts_with(packet));
                let ends = (parsed.source.to_string(), parsed.destination.to_string());
                assert_ne!(ends, ("4.4.4.4".to_owned(), "5.5.5.5".to_owned()));
                assert_ne!(ends, ("6.6.6.6".to_owned(), "7.7.7.7".to_owned()));
            }
            How::Decapsulated => {}
        }
    }
    assert!(plane.poll_exit().is_none());
    assert_eq!(plane.in_flight(), 0);
    let counters = plane.counters();
    let settled = counters.protected.packets + counters.decapsulated.packets + counters.bypassed.packets;
    assert_eq!((counters.accepted.packets, settled + counters.dropped.total()), (count, count));
});
