// SPDX-License-Identifier: Apache-2.0
//! What a security association is, before it is installed: no state, no prepared keys, no text format.

mod headers;
mod lifetime;
pub mod protocol;
mod selector;
mod suite;

use std::net::IpAddr;

use ace_engine::{Need, Secret};
use serde::Serialize;
use thiserror::Error;

pub use headers::Headers;
pub use lifetime::{Lifetime, Time};
pub use selector::{Flow, Match, Selector};
pub use suite::{AUTHS, AuthSuite, CIPHERS, CipherKind, CipherSuite, ForeignNames, IvKind, legacy_reasons};

/// The widest replay window, in packets.
pub const MAX_WINDOW: u32 = 4096;

/// Which packets an SA works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Outbound: the SA protects packets that leave.
    Out,
    /// Inbound: the SA takes the protection off packets that come in.
    In,
}

/// What is enclosed: a whole IP packet, or what follows the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SaMode {
    /// A whole IP packet, in a new IP packet between the two ends (RFC 4303, 3.1.2).
    Tunnel,
    /// What follows the IP header, which stays in front (RFC 4303, 3.1.1).
    Transport,
}

/// RFC 4303 or RFC 4302.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Encapsulating Security Payload (RFC 4303), IP protocol 50.
    Esp,
    /// Authentication Header (RFC 4302), IP protocol 51.
    Ah,
}

impl Protocol {
    /// The IP protocol number.
    pub fn number(self) -> u8 {
        match self {
            Protocol::Esp => protocol::ESP,
            Protocol::Ah => protocol::AH,
        }
    }
}

/// Whether anything may have been sealed with this key before. It decides where the counters of counter modes
/// start, because a counter that comes twice under one key gives the plaintext away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyUse {
    /// Negotiated for this SA and for nothing else: counters are sequence numbers.
    Fresh,
    /// Perhaps used by an earlier run: counters start at a random 64-bit number.
    Reused,
}

/// Everything that is known about an SA when it is installed.
#[derive(Clone, Debug)]
pub struct SaSpec {
    /// For people.
    pub name: String,
    /// The Security Parameters Index in the packets. 0 to 255 are reserved (RFC 4303, 2.1); SA files refuse them.
    pub spi: u32,
    /// Whether the SA protects packets or takes their protection off.
    pub direction: Direction,
    /// Which header its packets have.
    pub protocol: Protocol,
    /// What the SA encloses.
    pub mode: SaMode,
    /// Our end.
    pub local: IpAddr,
    /// The other end.
    pub remote: IpAddr,
    /// As the packet in clear stands: for an inbound SA the source is the remote side.
    pub selector: Selector,
    /// What encrypts; the suite `null` for AH and for authentication alone.
    pub cipher: &'static CipherSuite,
    /// What authenticates; the suite `none` with combined modes and for encryption alone.
    pub auth: &'static AuthSuite,
    /// Cipher key, and behind it the nonce of suites that have one.
    pub key: Secret,
    /// Key of the authentication, as long as its suite says; empty for `none`.
    pub auth_key: Secret,
    /// Whether counters may start at the sequence number.
    pub key_use: KeyUse,
    /// Extended sequence numbers: 64 bits are counted and 32 are sent (RFC 4303, 2.2.1).
    pub esn: bool,
    /// In packets; 0: replays are not looked for.
    pub replay_window: u32,
    /// Outbound: the first number sent; inbound: the lowest number taken.
    pub first_sequence: u64,
    /// Of several cores the one that this SA is for, where SAs are one core's each (RFC 9611).
    pub core: Option<u16>,
    /// The interface inside that its packets come from and go to, as Linux numbers XFRM interfaces; 0: the one without a
    /// number. Rules of other interfaces say nothing of its packets.
    pub if_id: u32,
    /// Outbound: what its packets carry for the kernel's routing, where that is to be had; 0: nothing.
    pub output_mark: u32,
    /// What becomes of headers in a tunnel, and how long its packets are at least.
    pub headers: Headers,
    /// When the SA has to be replaced, and when it ends.
    pub lifetime: Lifetime,
}

/// Why an SA cannot be installed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SpecError {
    /// A key does not fit its suite.
    #[error("the key has {found} bytes and the suite wants {wanted}")]
    KeyLength {
        /// Bytes that the suite wants; with the nonce, where it has one.
        wanted: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// One end is an IPv4 address and the other one an IPv6 address.
    #[error("both ends must be of one address family")]
    Families,
    /// AH was given a cipher, or no authentication.
    #[error("AH takes no cipher and needs authentication (RFC 4302)")]
    AhSuite,
    /// An AEAD was given an authentication suite besides.
    #[error("a combined mode takes no second authentication (RFC 4303, 3.2)")]
    TwiceAuthenticated,
    /// Extended sequence numbers could not be guessed right without both.
    #[error("extended sequence numbers need authentication and, inbound, a window (RFC 4303, 2.2.1, 3.4.3)")]
    Esn,
    /// The replay window is too wide.
    #[error("the replay window is wider than {MAX_WINDOW} packets")]
    Window,
    /// The first sequence number is one that no packet may have.
    #[error("the first sequence number is 0 or beyond the last one")]
    FirstSequence,
    /// The same sequence number under a key in use again would be the same IV again.
    #[error("an implicit IV is the sequence number, so the key must be fresh (RFC 8750)")]
    ImplicitIv,
    /// Only a tunnel has a second header, and a packet inside that says itself where it ends.
    #[error(
        "the fields of an outer header and padding for confidentiality of traffic flow are a tunnel's, of ESP (RFC 4303, 2.7)"
    )]
    Headers,
    /// The engine has no such key.
    #[error("the engine refuses the key")]
    Engine,
}

impl SaSpec {
    /// Whether packets carry an ICV.
    pub fn authenticates(&self) -> bool {
        self.auth.mac.is_some() || self.cipher.combined()
    }

    /// The last sequence number there is.
    pub fn last_sequence(&self) -> u64 {
        if self.esn { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// What an engine has to be able to do for its packets.
    pub fn needs(&self) -> Vec<Need> {
        use ace_engine::Direction as Way;
        let direction = if self.direction == Direction::Out { Way::Encrypt } else { Way::Decrypt };
        self.cipher.need(direction).into_iter().chain(self.auth.need()).collect()
    }

    /// What every SA has to be, wherever it comes from; whether its suite is wise is another matter
    /// ([`legacy_reasons`]).
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), SpecError> {
        for (wanted, key) in [(self.cipher.keymat_len(), &self.key), (self.auth.key_len, &self.auth_key)] {
            if key.len() != wanted {
                return Err(SpecError::KeyLength { wanted, found: key.len() });
            }
        }
        let ah = self.protocol == Protocol::Ah;
        let inbound = self.direction == Direction::In;
        let implicit = self.cipher.iv == IvKind::Implicit && self.key_use == KeyUse::Reused;
        if self.local.is_ipv4() != self.remote.is_ipv4() {
            Err(SpecError::Families)
        } else if ah && (self.cipher.kind != CipherKind::Null || self.auth.mac.is_none()) {
            Err(SpecError::AhSuite)
        } else if self.cipher.combined() && self.auth.mac.is_some() {
            Err(SpecError::TwiceAuthenticated)
        } else if self.esn && (!self.authenticates() || inbound && self.replay_window == 0) {
            Err(SpecError::Esn)
        } else if self.replay_window > MAX_WINDOW {
            Err(SpecError::Window)
        } else if self.first_sequence == 0 || self.first_sequence > self.last_sequence() {
            Err(SpecError::FirstSequence)
        } else if !self.headers.fit(self.direction, self.mode, self.protocol) {
            Err(SpecError::Headers)
        } else if !inbound && implicit {
            Err(SpecError::ImplicitIv)
        } else {
            Ok(())
        }
    }
}
