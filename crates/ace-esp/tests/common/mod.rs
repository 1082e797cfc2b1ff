// SPDX-License-Identifier: Apache-2.0
//! What the tests share: SA files, packets, and a data plane that runs to the end.
#![allow(dead_code)]

use ace_engine::cpu::CpuEngine;
use ace_engine::engine::run_one;
use ace_esp::suite::{AUTHS, AuthSuite, CIPHERS, CipherSuite};
use ace_esp::{Cause, DataPlane, How, SaFile, SeededIvs, Verdict};

/// One SA of an SA file; the defaults are a tunnel with AES-CBC and HMAC-SHA-1.
#[derive(Clone, Debug)]
pub struct SaText {
    pub name: &'static str,
    pub spi: u32,
    pub direction: &'static str,
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
        let Self { name, spi, direction, mode, local, remote, cipher, auth, more } = self;
        format!(
            "[[sa]]\nname = \"{name}\"\nspi = {spi:#x}\ndirection = \"{direction}\"\nmode = \"{mode}\"\n\
             local = \"{local}\"\nremote = \"{remote}\"\ncipher = \"{}\"\nkey = \"{}\"\nauth = \"{}\"\n\
             auth_key = \"{}\"\n{more}\n",
            cipher.name,
            key(cipher.keymat_len(), 1),
            auth.name,
            key(auth.key_len, 2),
        )
    }

    /// A file with this SA alone.
    pub fn plane(&self) -> DataPlane {
        plane(&format!("allow_legacy = true\n{}", self.toml()))
    }
}

/// Both ends of one SA.
pub fn pair(out: &SaText) -> (DataPlane, DataPlane) {
    let mut into = SaText { direction: "in", name: "from-a", ..out.clone() };
    (into.local, into.remote) = (out.remote.clone(), out.local.clone());
    (out.plane(), into.plane())
}

pub fn plane(text: &str) -> DataPlane {
    let file = SaFile::parse("test.toml", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    DataPlane::new(file, Box::new(SeededIvs::new(7)))
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

/// Runs a packet through a data plane, its operations through the CPU engine.
pub fn send(plane: &mut DataPlane, packet: &[u8]) -> End {
    let verdict = plane.accept(packet.to_vec());
    finish(plane, verdict)
}

/// Executes what is left to do.
pub fn finish(plane: &mut DataPlane, mut verdict: Verdict) -> End {
    let mut engine = CpuEngine::new();
    loop {
        match verdict {
            Verdict::Work(work) => {
                let result = run_one(&mut engine, work.operation);
                verdict = plane.advance(work.pending, result);
            }
            Verdict::Forward { packet, how, .. } => return End::Forwarded(how, packet),
            Verdict::Dropped { cause, .. } => return End::Dropped(cause),
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
    let sum = ace_esp::wire::ip::checksum(&packet[..len]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Seals so many packets.
pub fn seal(out: &mut DataPlane, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|i| send(out, &clear(format!("packet {i}").as_bytes())).packet()).collect()
}
