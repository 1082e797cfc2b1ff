// SPDX-License-Identifier: Apache-2.0
//! What a security association is, before it is installed: no state, no prepared keys, no text format.

mod lifetime;
pub mod protocol;
mod selector;
mod suite;

use std::net::IpAddr;

use ace_engine::{Aead, Mac, Need, Secret};
use serde::Serialize;
use thiserror::Error;

pub use lifetime::{Lifetime, Time};
pub use selector::{Flow, Match, Selector};
pub use suite::{AUTHS, AuthSuite, CIPHERS, CipherKind, CipherSuite, ForeignNames, IvKind, legacy_reasons};

/// The widest replay window, in packets.
pub const MAX_WINDOW: u32 = 4096;

/// Which packets an SA works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Out,
    In,
}

/// What is enclosed: a whole IP packet, or what follows the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SaMode {
    Tunnel,
    Transport,
}

/// RFC 4303 or RFC 4302.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Esp,
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
    pub spi: u32,
    pub direction: Direction,
    pub protocol: Protocol,
    pub mode: SaMode,
    /// Our end.
    pub local: IpAddr,
    /// The other end.
    pub remote: IpAddr,
    /// As the packet in clear stands: for an inbound SA the source is the remote side.
    pub selector: Selector,
    pub cipher: &'static CipherSuite,
    pub auth: &'static AuthSuite,
    /// Cipher key, and behind it the nonce of suites that have one.
    pub key: Secret,
    pub auth_key: Secret,
    pub key_use: KeyUse,
    pub esn: bool,
    /// In packets; 0: replays are not looked for.
    pub replay_window: u32,
    /// Outbound: the first number sent; inbound: the lowest number taken.
    pub first_sequence: u64,
    pub lifetime: Lifetime,
}

/// Why an SA cannot be installed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SpecError {
    #[error("the key has {found} bytes and the suite wants {wanted}")]
    KeyLength { wanted: usize, found: usize },
    #[error("both ends must be of one address family")]
    Families,
    #[error("AH takes no cipher and needs authentication (RFC 4302)")]
    AhSuite,
    #[error("a combined mode takes no second authentication (RFC 4303, 3.2)")]
    TwiceAuthenticated,
    #[error("extended sequence numbers need authentication and, inbound, a window (RFC 4303, 2.2.1, 3.4.3)")]
    Esn,
    #[error("the replay window is wider than {MAX_WINDOW} packets")]
    Window,
    #[error("the first sequence number is 0 or beyond the last one")]
    FirstSequence,
    #[error("an implicit IV is the sequence number, so the key must be fresh (RFC 8750)")]
    ImplicitIv,
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
        let key_len = self.cipher.key_len;
        let cipher = match self.cipher.kind {
            CipherKind::Null => None,
            CipherKind::Block(algorithm, mode) => Some(Need::Cipher { algorithm, mode, direction, key_len }),
            CipherKind::Aead(aead) => Some(Need::Aead { aead, direction, key_len }),
            CipherKind::Gmac => Some(Need::Aead { aead: Aead::Gcm, direction, key_len }),
        };
        let mac = self.auth.mac.map(|mac| match mac {
            Mac::Hmac(algorithm) => Need::Hmac { algorithm },
            Mac::Xcbc => Need::Xcbc,
            Mac::Cmac => Need::Cmac { key_len: self.auth.key_len },
        });
        cipher.into_iter().chain(mac).collect()
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
        } else if !inbound && implicit {
            Err(SpecError::ImplicitIv)
        } else {
            Ok(())
        }
    }
}
