// SPDX-License-Identifier: Apache-2.0
//! What the tests share: SA files, packets, and a data plane that runs to the end.
#![allow(dead_code)]

use std::time::Duration;

use ace_config::SaFile;
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Completion, Engine};
use ace_ipsec::model::{AUTHS, AuthSuite, CIPHERS, CipherSuite};
use ace_ipsec::{Cause, Exit, Fate, HEADROOM, How, Packet, SeededIvs, Shard, TAILROOM, Time};

/// A clock that stands.
pub const NOW: Time = Duration::ZERO;

/// One SA of an SA file; the defaults are a tunnel with AES-CBC and HMAC-SHA-1.
#[derive(Clone, Debug)]
pub struct SaText {
    pub name: &'static str,
    pub spi: u32,
    pub direction: &'static str,
    pub protocol: &'static str,
    pub mode: &'static str,
    pub local: String,
    pub remote: String,
    pub cipher: &'static CipherSuite,
    pub auth: &'static AuthSuite,
    /// More lines.
    pub more: String,
}

impl SaText {
    pub fn new(direction: &'static str) -> Self {
        let (local, remote) =
            if direction == "out" { ("192.0.2.1", "192.0.2.2") } else { ("192.0.2.2", "192.0.2.1") };
        Self {
            name: if direction == "out" { "to-b" } else { "from-a" },
            spi: 0x1001,
            direction,
            protocol: "esp",
            mode: "tunnel",
            local: local.into(),
            remote: remote.into(),
            cipher: &CIPHERS[0],
            auth: &AUTHS[0],
            more: String::new(),
        }
    }

    pub fn suites(mut self, cipher: &str, auth: &str) -> Self {
        self.cipher = CipherSuite::by_name(cipher).unwrap();
        self.auth = AuthSuite::by_name(auth).unwrap();
        self
    }

    pub fn transport(mut self) -> Self {
        self.mode = "transport";
        self
    }

    pub fn ah(mut self, auth: &str) -> Self {
        self.protocol = "ah";
        self.suites("null", auth)
    }

    /// Our end and the other.
    pub fn ends(mut self, local: &str, remote: &str) -> Self {
        (self.local, self.remote) = (local.into(), remote.into());
        self
    }

    pub fn more(mut self, lines: &str) -> Self {
        self.more.push_str(lines);
        self.more.push('\n');
        self
    }

    pub fn toml(&self) -> String {
        let Self { name, spi, direction, protocol, mode, local, remote, cipher, auth, more } = self;
        format!(
            "[[sa]]\nname = \"{name}\"\nspi = {spi:#x}\ndirection = \"{direction}\"\n\
             protocol = \"{protocol}\"\nmode = \"{mode}\"\nlocal = \"{local}\"\n\
             remote = \"{remote}\"\ncipher = \"{}\"\nkey = \"{}\"\nauth = \"{}\"\n\
             auth_key = \"{}\"\n{more}\n",
            cipher.name,
            key(cipher.keymat_len(), 1),
            auth.name,
            key(auth.key_len, 2),
        )
    }

    /// A file with this SA alone.
    pub fn plane(&self) -> Shard {
        plane(&format!("allow_legacy = true\n{}", self.toml()))
    }
}

/// Both ends of one SA.
pub fn pair(out: &SaText) -> (Shard, Shard) {
    let mut into = SaText { direction: "in", name: "from-a", ..out.clone() };
    (into.local, into.remote) = (out.remote.clone(), out.local.clone());
    (out.plane(), into.plane())
}

pub fn plane(text: &str) -> Shard {
    file(text).shard(NOW, Box::new(SeededIvs::new(7))).unwrap()
}

pub fn file(text: &str) -> SaFile {
    SaFile::parse("test.toml", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Some key of that many bytes, in hex.
pub fn key(len: usize, salt: u8) -> String {
    (0..len).map(|i| format!("{:02x}", (i as u8).wrapping_mul(37).wrapping_add(salt))).collect()
}

/// What became of a packet in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Forwarded(How, Vec<u8>),
    Dropped(Cause),
}

impl End {
    pub fn packet(self) -> Vec<u8> {
        match self {
            End::Forwarded(_, packet) => packet,
            End::Dropped(cause) => panic!("dropped: {cause}"),
        }
    }
}

/// A packet with room.
pub fn packet(bytes: &[u8]) -> Packet {
    Packet { token: 0, buffer: Buffer::from_packet(bytes, HEADROOM, TAILROOM) }
}

/// Runs a packet of a capture through a data plane, its operations through the CPU engine.
pub fn send(plane: &mut Shard, bytes: &[u8]) -> End {
    plane.ingest_seen(NOW, packet(bytes));
    let mut ends = finish(plane);
    assert_eq!(ends.len(), 1, "one packet in, one out");
    ends.remove(0)
}

/// Executes what is left to do and takes all that leaves.
pub fn finish(plane: &mut Shard) -> Vec<End> {
    let done = execute(plane);
    complete(plane, done)
}

/// Executes every job, in an engine of its own.
pub fn execute(plane: &mut Shard) -> Vec<Completion> {
    let (mut engine, mut done) = (CpuEngine::new(), Vec::new());
    while !plane.jobs().is_empty() {
        engine.try_submit(plane.jobs());
        engine.wait(&mut done);
    }
    done
}

pub fn complete(plane: &mut Shard, mut done: Vec<Completion>) -> Vec<End> {
    plane.complete(NOW, &mut done);
    ends(plane)
}

pub fn ends(plane: &mut Shard) -> Vec<End> {
    std::iter::from_fn(|| plane.poll_exit()).map(End::from).collect()
}

impl From<Exit> for End {
    fn from(exit: Exit) -> Self {
        match exit.fate {
            Fate::Dropped(cause) => End::Dropped(cause),
            Fate::ToInside(how) | Fate::ToOutside(how) => End::Forwarded(how, exit.buffer.to_vec()),
        }
    }
}

/// A UDP packet, by another crate's hands.
pub fn udp4(source: [u8; 4], destination: [u8; 4], ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ipv4(source, destination, 61).udp(ports.0, ports.1);
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

/// As [`udp4`].
pub fn udp6(source: [u8; 16], destination: [u8; 16], ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ipv6(source, destination, 61).udp(ports.0, ports.1);
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

/// From 10.0.0.1 to 10.0.0.2.
pub fn clear(payload: &[u8]) -> Vec<u8> {
    udp4([10, 0, 0, 1], [10, 0, 0, 2], (1000, 2000), payload)
}

/// Puts a correct checksum into an IPv4 header.
pub fn fix_checksum(packet: &mut [u8]) {
    let len = usize::from(packet[0] & 15) * 4;
    packet[10..12].fill(0);
    let sum = ace_ipsec::packet::ip::checksum(&packet[..len]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Seals so many packets.
pub fn seal(out: &mut Shard, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|i| send(out, &clear(format!("packet {i}").as_bytes())).packet()).collect()
}
