// SPDX-License-Identifier: Apache-2.0
//! Expressions of nftables rules, as linux/netfilter/nf_tables.h has them.

use super::layers::Way;
use super::message::Attributes;

/// NFT_REG32_00, the first register of four bytes; a key of several fields stands in a row of them.
const FIRST: u32 = 8;
const ELEMENT: u16 = 1;
const NAME: u16 = 1;
const DATA: u16 = 2;
const VALUE: u16 = 1;
const VERDICT: u16 = 2;

/// NFT_META_*.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Meta {
    InputIndex = 4,
    OutputIndex = 5,
    InputName = 6,
    OutputName = 7,
    Family = 15,
    Protocol = 16,
}

/// NFT_PAYLOAD_*_HEADER.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Header {
    Network = 1,
    Transport = 2,
}

/// NFT_CMP_*.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Compare {
    Equal = 0,
    Not = 1,
    AtMost = 3,
    AtLeast = 5,
}

/// What becomes of the packet.
pub enum Then<'a> {
    Accept,
    Drop,
    Goto(&'a str),
    Jump(&'a str),
}

/// A rule's expressions, in order: the first one that does not hold ends it.
#[derive(Default)]
pub struct Rule(pub Attributes);

impl Rule {
    fn add(mut self, name: &str, inner: impl FnOnce(&mut Attributes)) -> Self {
        self.0.nest(ELEMENT, |expression| {
            expression.text(NAME, name).nest(DATA, inner);
        });
        self
    }

    fn load_meta(self, meta: Meta, register: u32) -> Self {
        self.add("meta", |it| {
            it.number(1, FIRST + register).number(2, meta as u32);
        })
    }

    fn load(self, header: Header, offset: u32, len: u32, register: u32) -> Self {
        self.add("payload", |it| {
            it.number(1, FIRST + register).number(2, header as u32).number(3, offset).number(4, len);
        })
    }

    fn compare(self, how: Compare, value: &[u8]) -> Self {
        self.add("cmp", |it| {
            it.number(1, FIRST).number(2, how as u32).nest(3, |data| {
                data.put(VALUE, value);
            });
        })
    }

    pub fn meta(self, meta: Meta, value: &[u8]) -> Self {
        self.load_meta(meta, 0).compare(Compare::Equal, value)
    }

    /// The device that a packet comes by, or leaves by.
    pub fn device(self, way: Way, name: &str) -> Self {
        let mut value = [0; 16];
        value.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
        self.meta(if way == Way::In { Meta::InputName } else { Meta::OutputName }, &value)
    }

    pub fn protocol(self, number: u8) -> Self {
        self.meta(Meta::Protocol, &[number])
    }

    pub fn bytes(self, header: Header, offset: u32, how: Compare, value: &[u8]) -> Self {
        self.load(header, offset, value.len() as u32, 0).compare(how, value)
    }

    /// The address that the packet goes to, or that it comes from, is one of this machine's.
    pub fn ours(self, way: Way) -> Self {
        const ADDRESS_TYPE: u32 = 3;
        const SOURCE: u32 = 1;
        const DESTINATION: u32 = 2;
        const LOCAL: u32 = 2;
        let end = if way == Way::In { DESTINATION } else { SOURCE };
        self.add("fib", |it| {
            it.number(1, FIRST).number(2, ADDRESS_TYPE).number(3, end);
        })
        .compare(Compare::Equal, &LOCAL.to_ne_bytes())
    }

    /// A later fragment of an IPv4 packet.
    pub fn later_fragment(self) -> Self {
        self.load(Header::Network, 6, 2, 0).masked(0x1fff)
    }

    /// The same of IPv6 (its fragment header is 44).
    pub fn later_fragment_v6(self) -> Self {
        self.add("exthdr", |it| {
            it.number(1, FIRST).put(2, &[44]).number(3, 2).number(4, 2);
        })
        .masked(0xfff8)
    }

    /// Some bit of these is set.
    fn masked(self, mask: u16) -> Self {
        self.add("bitwise", |it| {
            it.number(1, FIRST).number(2, FIRST).number(3, 2);
            it.nest(4, |data| {
                data.put(VALUE, &mask.to_be_bytes());
            });
            it.nest(5, |data| {
                data.put(VALUE, &[0; 2]);
            });
        })
        .compare(Compare::Not, &[0; 2])
    }

    /// Loads the fields of a set's key, one behind the other, and looks them up.
    pub fn look_up(mut self, set: &str, v6: bool, protocol: bool, ports: bool) -> Self {
        let words = if v6 { 4 } else { 1 };
        let (source, destination) = if v6 { (8, 24) } else { (12, 16) };
        self = self.load(Header::Network, source, words * 4, 0);
        self = self.load(Header::Network, destination, words * 4, words);
        if protocol {
            self = self.load_meta(Meta::Protocol, 2 * words);
        }
        if ports {
            self = self.load(Header::Transport, 0, 2, 2 * words + 1);
            self = self.load(Header::Transport, 2, 2, 2 * words + 2);
        }
        self.add("lookup", |it| {
            it.text(1, set).number(2, FIRST);
        })
    }

    /// Counts by a counter that has a name.
    pub fn count(self, counter: &str) -> Self {
        const COUNTER: u32 = 1;
        self.add("objref", |it| {
            it.number(1, COUNTER).text(2, counter);
        })
    }

    pub fn then(self, verdict: Then<'_>) -> Self {
        const TO_VERDICT: u32 = 0;
        let (code, chain) = match verdict {
            Then::Drop => (0, None),
            Then::Accept => (1, None),
            Then::Jump(chain) => (-3, Some(chain)),
            Then::Goto(chain) => (-4, Some(chain)),
        };
        self.add("immediate", |it| {
            it.number(1, TO_VERDICT).nest(2, |data| {
                data.nest(VERDICT, |verdict| {
                    verdict.put(1, &i32::to_be_bytes(code));
                    if let Some(chain) = chain {
                        verdict.text(2, chain);
                    }
                });
            });
        })
    }
}
