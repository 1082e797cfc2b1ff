// SPDX-License-Identifier: Apache-2.0
//! Messages of nftables by netlink: linux/netfilter/nfnetlink.h and nf_tables.h have the numbers. No crate under a free
//! licence speaks sets of several ranges, and `nft` reads a whole set before it adds to it.

use nix::libc;

const HEADER: usize = 16;
/// linux/netfilter/nfnetlink.h: a batch is done whole or not at all.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const SUBSYSTEM: u16 = 10;
const NESTED: u16 = 0x8000;
/// NFPROTO_INET: both families of IP.
const INET: u8 = 1;

/// Commands of nf_tables.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Command {
    NewTable = 0,
    DelTable = 2,
    NewChain = 3,
    NewRule = 6,
    NewSet = 9,
    NewElements = 12,
    DelElements = 14,
    GetGeneration = 16,
    NewObject = 18,
    GetObject = 19,
}

/// Attributes, one behind the other.
#[derive(Debug, Default)]
pub struct Attributes(pub Vec<u8>);

impl Attributes {
    pub fn put(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        // Whoever writes long ones divides them.
        let len = (4 + value.len()) as u16;
        self.0.extend_from_slice(&len.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    pub fn text(&mut self, kind: u16, text: &str) -> &mut Self {
        self.put(kind, &[text.as_bytes(), &[0]].concat())
    }

    pub fn number(&mut self, kind: u16, number: u32) -> &mut Self {
        self.put(kind, &number.to_be_bytes())
    }

    pub fn nest(&mut self, kind: u16, inner: impl FnOnce(&mut Self)) -> &mut Self {
        let mut nested = Self::default();
        inner(&mut nested);
        self.put(kind | NESTED, &nested.0)
    }
}

/// A batch, or a single question.
pub struct Messages {
    pub bytes: Vec<u8>,
    sequence: u32,
}

impl Messages {
    /// What is done whole or not at all, from [`Messages::end`] on.
    pub fn begin(sequence: u32) -> Self {
        let mut batch = Self { bytes: Vec::new(), sequence };
        batch.header(BATCH_BEGIN, libc::NLM_F_REQUEST as u16, SUBSYSTEM, 0, |_| {});
        batch
    }

    /// A question.
    pub fn question(
        sequence: u32,
        command: Command,
        flags: i32,
        inner: impl FnOnce(&mut Attributes),
    ) -> Self {
        let mut one = Self { bytes: Vec::new(), sequence };
        one.message(command, flags, inner);
        one
    }

    pub fn message(&mut self, command: Command, flags: i32, inner: impl FnOnce(&mut Attributes)) {
        let flags = (libc::NLM_F_REQUEST | flags) as u16;
        self.header(SUBSYSTEM << 8 | command as u16, flags, 0, INET, inner);
    }

    /// The last number in it, which the kernel says that it has done.
    pub fn end(mut self, last: impl FnOnce(&mut Self)) -> (Vec<u8>, u32) {
        last(&mut self);
        let done = self.sequence.wrapping_sub(1);
        self.header(BATCH_END, libc::NLM_F_REQUEST as u16, SUBSYSTEM, 0, |_| {});
        (self.bytes, done)
    }

    fn header(
        &mut self,
        kind: u16,
        flags: u16,
        resource: u16,
        family: u8,
        inner: impl FnOnce(&mut Attributes),
    ) {
        let mut attributes = Attributes::default();
        inner(&mut attributes);
        let len = (HEADER + 4 + attributes.0.len()) as u32;
        self.bytes.extend_from_slice(&len.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(&flags.to_ne_bytes());
        self.bytes.extend_from_slice(&self.sequence.to_ne_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend_from_slice(&[family, 0]);
        self.bytes.extend_from_slice(&resource.to_be_bytes());
        self.bytes.extend_from_slice(&attributes.0);
        self.sequence = self.sequence.wrapping_add(1);
    }
}

/// What the kernel says.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub kind: u16,
    pub sequence: u32,
    /// Who has asked for what is told here.
    pub port: u32,
    pub payload: &'a [u8],
}

impl<'a> Answer<'a> {
    /// Those in a datagram; what is cut off is left out.
    pub fn all(mut bytes: &'a [u8]) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let word = |at: usize| {
                let word = bytes.get(at..at + 4).and_then(|word| word.first_chunk());
                word.map(|word| u32::from_ne_bytes(*word))
            };
            let len = word(0)? as usize;
            let payload = bytes.get(HEADER..len)?;
            let answer = Self {
                kind: u16::from_ne_bytes([*bytes.get(4)?, *bytes.get(5)?]),
                sequence: word(8)?,
                port: word(12)?,
                payload,
            };
            bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
            Some(answer)
        })
    }

    /// Whether a command was done (0) or not.
    pub fn error(&self) -> Option<i32> {
        let is_error = self.kind == libc::NLMSG_ERROR as u16;
        self.payload.first_chunk().filter(|_| is_error).map(|code| i32::from_ne_bytes(*code))
    }

    /// An attribute, whose parts in turn [`attribute`] finds.
    pub fn attribute(&self, kind: u16) -> Option<&'a [u8]> {
        attribute(self.payload.get(4..)?, kind)
    }
}

/// The value of an attribute among others.
pub fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let kind = u16::from_ne_bytes([*bytes.get(2)?, *bytes.get(3)?]) & !NESTED;
        let value = bytes.get(4..len)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(len.next_multiple_of(4)..)?;
    }
}
