// SPDX-License-Identifier: Apache-2.0
//! Requests as programs make them.

use super::*;
use shapes::put_address;
use wire::put;

pub const THEIRS: [u8; 4] = [192, 0, 2, 2];

/// An SA of AES-GCM in a tunnel.
pub struct Sa {
    pub spi: u32,
    pub inbound: bool,
    pub reqid: u32,
    pub protocol: u8,
    pub mode: u8,
    pub flags: u8,
    pub window: u8,
    pub key: u8,
    /// Attributes besides the algorithm.
    pub more: Vec<(u16, Vec<u8>)>,
}

impl Sa {
    pub fn new(spi: u32, inbound: bool) -> Self {
        let key = spi as u8;
        Self { spi, inbound, reqid: 7, protocol: 50, mode: 1, flags: 0, window: 0, key, more: Vec::new() }
    }

    pub fn with(mut self, kind: u16, value: Vec<u8>) -> Self {
        self.more.push((kind, value));
        self
    }

    pub fn ends(&self) -> ([u8; 4], [u8; 4]) {
        if self.inbound { (THEIRS, OURS) } else { (OURS, THEIRS) }
    }

    pub fn info(&self) -> Vec<u8> {
        let mut info = vec![0; shapes::USERSA];
        let (source, destination) = self.ends();
        put(&mut info, 40, &2_u16.to_ne_bytes());
        put_address(&mut info, 56, destination.into());
        put(&mut info, 72, &self.spi.to_be_bytes());
        put(&mut info, 76, &[self.protocol]);
        put_address(&mut info, 80, source.into());
        put(&mut info, 96, &[0xff; 32]);
        put(&mut info, 208, &self.reqid.to_ne_bytes());
        put(&mut info, 212, &2_u16.to_ne_bytes());
        put(&mut info, 214, &[self.mode, self.window, self.flags]);
        info
    }

    fn algorithm(&self) -> (u16, Vec<u8>) {
        let (kind, name, key, icv) = match self.protocol {
            51 => (attr::ALG_AUTH_TRUNC, "hmac(sha256)", 32, 128_u32),
            _ => (attr::ALG_AEAD, "rfc4106(gcm(aes))", 20, 128),
        };
        let mut value = vec![0; 72];
        put(&mut value, 0, name.as_bytes());
        put(&mut value, 64, &(8 * key as u32).to_ne_bytes());
        put(&mut value, 68, &icv.to_ne_bytes());
        value.extend(vec![self.key; key]);
        (kind, value)
    }

    pub fn message(&self, kind: u16) -> Messages {
        let (of, value) = self.algorithm();
        let reply = Reply::new(kind, F_ACK, 1, &self.info()).attribute(of, &value);
        let add = |reply: Reply, (kind, value): &(u16, Vec<u8>)| reply.attribute(*kind, value);
        self.more.iter().fold(reply, add).done()
    }

    pub fn add(&self) -> Messages {
        self.message(kind::NEWSA)
    }

    pub fn id(&self) -> Vec<u8> {
        let destination = self.ends().1.into();
        shapes::usersa_id(SaKey { destination, protocol: self.protocol, spi: self.spi }).to_vec()
    }

    /// A request that names it.
    pub fn named(&self, kind: u16, more: &[(u16, Vec<u8>)]) -> Messages {
        let mut body = self.id();
        if matches!(kind, kind::GETAE | kind::NEWAE) {
            body.resize(told::AEVENT_ID, 0);
        }
        let flags = if kind == kind::NEWAE { F_REPLACE } else { 0 };
        let reply = Reply::new(kind, F_ACK | flags, 1, &body);
        more.iter().fold(reply, |reply, (kind, value)| reply.attribute(*kind, value)).done()
    }
}

/// A policy for the SAs above.
pub struct Policy {
    pub way: u8,
    pub net: u8,
    pub reqid: u32,
    pub more: Vec<(u16, Vec<u8>)>,
    /// Bytes of the fixed part.
    pub edits: Vec<(usize, Vec<u8>)>,
}

impl Policy {
    pub fn new(way: u8, net: u8) -> Self {
        Self { way, net, reqid: 7, more: Vec::new(), edits: Vec::new() }
    }

    pub fn template(&self) -> Vec<u8> {
        let mut template = vec![0; shapes::TEMPLATE];
        let (source, destination) = if self.way == 1 { (OURS, THEIRS) } else { (THEIRS, OURS) };
        put_address(&mut template, 0, destination.into());
        put(&mut template, 20, &[50]);
        put(&mut template, 24, &2_u16.to_ne_bytes());
        put_address(&mut template, 28, source.into());
        put(&mut template, 44, &self.reqid.to_ne_bytes());
        put(&mut template, 48, &[1]);
        put(&mut template, 52, &[0xff; 12]);
        template
    }

    /// From 10.0.1.0/24 to the net, or, inbound, the other way.
    pub fn selector(&self) -> Vec<u8> {
        let mut selector = vec![0; shapes::SELECTOR];
        let (ours, theirs) = ([10, 0, 1, 0], [10, 0, self.net, 0]);
        let (source, destination) = if self.way == 1 { (ours, theirs) } else { (theirs, ours) };
        put_address(&mut selector, 0, destination.into());
        put_address(&mut selector, 16, source.into());
        put(&mut selector, 40, &2_u16.to_ne_bytes());
        put(&mut selector, 42, &[24, 24]);
        selector
    }

    pub fn info(&self) -> Vec<u8> {
        let mut info = self.selector();
        info.resize(shapes::POLICY, 0);
        put(&mut info, 56, &[0xff; 32]);
        put(&mut info, 160, &[self.way]);
        self.edits.iter().for_each(|(at, bytes)| put(&mut info, *at, bytes));
        info
    }

    pub fn message(&self, kind: u16) -> Messages {
        let reply = Reply::new(kind, F_ACK, 1, &self.info()).attribute(attr::TMPL, &self.template());
        self.more.iter().fold(reply, |reply, (kind, value)| reply.attribute(*kind, value)).done()
    }

    pub fn add(&self) -> Messages {
        self.message(kind::NEWPOLICY)
    }

    /// A request that names it.
    pub fn named(&self, kind: u16, more: &[(u16, Vec<u8>)]) -> Messages {
        let mut body = self.selector();
        body.resize(shapes::POLICY_ID, 0);
        put(&mut body, 60, &[self.way]);
        let reply = Reply::new(kind, F_ACK, 1, &body);
        more.iter().fold(reply, |reply, (kind, value)| reply.attribute(*kind, value)).done()
    }
}

pub fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
