// SPDX-License-Identifier: Apache-2.0
//! The state file, byte by byte: a header, two copies of the role ([`super::role`]), and two copies of a record for each
//! key, written in turns, so that a write that is cut short leaves the other copy.
//!
//! | bytes | header | | bytes | copy of a record |
//! |---|---|---|---|---|
//! | 0–7 | `ACEKEYS2` | | 0–15 | of the key: SHA-256 of salt and key, its beginning |
//! | 8–39 | salt | | 16–31 | the other end's address, IPv4 as `::ffff:…` |
//! | 40–59 | zeros | | 32–35 | SPI |
//! | 60–63 | CRC-32 of 0–59 | | 36 | bit 0: inbound, bit 1: AH, bit 2: with IVs drawn at random |
//! | | | | 37–39 | zeros |
//! | | | | 40–47 | how often it was written |
//! | | | | 48–55 | the highest number that may be used |
//! | | | | 56–59 | zeros |
//! | | | | 60–63 | CRC-32 of 0–59 |
//!
//! Integers are little endian. All of a record's bytes zero: it was never written. Files of version 1 (`ACEKEYS1`) have no
//! role.

use std::net::{IpAddr, Ipv6Addr};

use ace_engine::Secret;
use ace_ipsec::model::KeyUse;
use ace_ipsec::{Direction, Protocol, SaSpec};
use sha2::{Digest, Sha256};

/// Bytes of a header, and of a copy.
pub const PART: usize = 64;
/// Where the records begin: behind header and role.
pub const RECORDS: usize = 3 * PART;
const MAGIC: &[u8; 8] = b"ACEKEYS2";
/// Of files without a role.
const FIRST: &[u8; 8] = b"ACEKEYS1";

/// What tells one key from another; nobody can tell the key by it.
pub type KeyDigest = [u8; 16];

/// What an SA is to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub key: KeyDigest,
    pub peer: IpAddr,
    pub spi: u32,
    pub inbound: bool,
    pub ah: bool,
}

impl Identity {
    pub fn of(salt: &[u8; 32], spec: &SaSpec) -> Self {
        let inbound = spec.direction == Direction::In;
        let ah = spec.protocol == Protocol::Ah;
        Self {
            key: key_digest(salt, &spec.key, &spec.auth_key),
            peer: spec.remote,
            spi: spec.spi,
            inbound,
            ah,
        }
    }
}

fn key_digest(salt: &[u8; 32], key: &Secret, auth_key: &Secret) -> KeyDigest {
    let mut hash = Sha256::new();
    hash.update(salt);
    // A cipher's key is what must not be used again; the other one counts where there is none.
    let key = if key.as_bytes().is_empty() { auth_key } else { key };
    hash.update(key.as_bytes());
    let mut digest = KeyDigest::default();
    digest.copy_from_slice(&hash.finalize()[..16]);
    digest
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub identity: Identity,
    /// Counter modes began at a random IV.
    pub random: bool,
    /// How often it was written.
    pub serial: u64,
    /// The highest number that may be used.
    pub reached: u64,
}

/// Whether counter modes begin at a random IV under this SA.
pub fn random(spec: &SaSpec) -> bool {
    spec.key_use == KeyUse::Reused
}

pub fn sealed(mut bytes: [u8; PART]) -> [u8; PART] {
    let crc = crc32fast::hash(&bytes[..PART - 4]);
    bytes[PART - 4..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

pub fn whole(bytes: &[u8]) -> Option<&[u8; PART]> {
    let bytes: &[u8; PART] = bytes.try_into().ok()?;
    let crc = crc32fast::hash(&bytes[..PART - 4]);
    (bytes[PART - 4..] == crc.to_le_bytes()).then_some(bytes)
}

pub fn word(bytes: &[u8; PART], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

pub fn header(salt: &[u8; 32]) -> [u8; PART] {
    let mut bytes = [0; PART];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..40].copy_from_slice(salt);
    sealed(bytes)
}

/// The salt; `None`: it is no header, or a damaged one.
pub fn salt(bytes: &[u8]) -> Option<[u8; 32]> {
    salt_behind(MAGIC, bytes)
}

fn salt_behind(magic: &[u8; 8], bytes: &[u8]) -> Option<[u8; 32]> {
    let bytes = whole(bytes)?;
    (bytes[..8] == *magic).then(|| {
        let mut salt = [0; 32];
        salt.copy_from_slice(&bytes[8..40]);
        salt
    })
}

/// A file of version 1 as one of this version; `None`: it is none.
pub fn upgraded(bytes: &[u8]) -> Option<Vec<u8>> {
    let (head, records) = bytes.split_at_checked(PART)?;
    let salt = salt_behind(FIRST, head)?;
    Some([&header(&salt)[..], &[0; RECORDS - PART], records].concat())
}

impl Record {
    /// The copy that is written next, and which of the two it is.
    pub fn to_bytes(self) -> [u8; PART] {
        let Self { identity, random, serial, reached } = self;
        let peer = match identity.peer {
            IpAddr::V4(peer) => peer.to_ipv6_mapped(),
            IpAddr::V6(peer) => peer,
        };
        let mut bytes = [0; PART];
        bytes[..16].copy_from_slice(&identity.key);
        bytes[16..32].copy_from_slice(&peer.octets());
        bytes[32..36].copy_from_slice(&identity.spi.to_le_bytes());
        bytes[36] = u8::from(identity.inbound) | u8::from(identity.ah) << 1 | u8::from(random) << 2;
        bytes[40..48].copy_from_slice(&serial.to_le_bytes());
        bytes[48..56].copy_from_slice(&reached.to_le_bytes());
        sealed(bytes)
    }

    fn from_copy(bytes: &[u8]) -> Option<Self> {
        let bytes = whole(bytes)?;
        let (mut key, mut peer, mut spi) = (KeyDigest::default(), [0; 16], [0; 4]);
        key.copy_from_slice(&bytes[..16]);
        peer.copy_from_slice(&bytes[16..32]);
        spi.copy_from_slice(&bytes[32..36]);
        let peer = Ipv6Addr::from(peer).to_canonical();
        let flags = bytes[36];
        let identity =
            Identity { key, peer, spi: u32::from_le_bytes(spi), inbound: flags & 1 != 0, ah: flags & 2 != 0 };
        Some(Self { identity, random: flags & 4 != 0, serial: word(bytes, 40), reached: word(bytes, 48) })
    }

    /// Of both copies the newer one; `None`: neither was ever written whole.
    ///
    /// # Errors
    /// Both were written, and neither is whole: a write that is cut short leaves the other copy, so this is damage.
    pub fn from_copies(bytes: &[u8]) -> Result<Option<Self>, DamagedRecord> {
        let newer = bytes.chunks(PART).filter_map(Self::from_copy).max_by_key(|record| record.serial);
        let written = bytes.chunks(PART).filter(|copy| copy.iter().any(|byte| *byte != 0)).count();
        if newer.is_none() && written > 1 { Err(DamagedRecord) } else { Ok(newer) }
    }
}

/// Both copies of a record are damaged: nobody knows how far its key was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedRecord;

/// Where a record's copy stands.
pub fn place(record: usize, serial: u64) -> u64 {
    (RECORDS + 2 * PART * record) as u64 + (serial % 2) * PART as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(serial: u64, reached: u64) -> Record {
        let peer = IpAddr::from([192, 0, 2, 1]);
        let identity = Identity { key: [7; 16], peer, spi: 0x1234_5678, inbound: true, ah: false };
        Record { identity, random: true, serial, reached }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_the_newer_copy_counts() {
        let (old, new) = (record(4, 100), record(5, 200));
        let mut both = [old.to_bytes(), new.to_bytes()].concat();
        assert_eq!(Record::from_copies(&both), Ok(Some(new)));
        // One that was cut short is none.
        both[PART + 50] ^= 1;
        assert_eq!(Record::from_copies(&both), Ok(Some(old)));
        both[3] ^= 1;
        assert_eq!(Record::from_copies(&both), Err(DamagedRecord));
        // The first write of all was cut short: nothing was used.
        both[..PART].fill(0);
        assert_eq!(Record::from_copies(&both), Ok(None));
        assert_eq!(Record::from_copies(&[0; 2 * PART]), Ok(None));
        assert_eq!(place(0, 4), 192);
        assert_eq!(place(2, 5), 192 + 256 + 64);
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let mut bytes = header(&[9; 32]);
        assert_eq!(salt(&bytes), Some([9; 32]));
        bytes[20] ^= 1;
        assert_eq!(salt(&bytes), None);
        assert_eq!(salt(&bytes[1..]), None);
    }

    #[test]
    fn a_file_of_version_1_gets_a_role_between_header_and_records() {
        let mut head = header(&[9; 32]);
        head[..8].copy_from_slice(FIRST);
        let old = [&sealed(head)[..], &[5; 130]].concat();
        let new = upgraded(&old).unwrap();
        assert_eq!(
            (salt(&new[..PART]), &new[PART..RECORDS], &new[RECORDS..]),
            (Some([9; 32]), &[0; 128][..], &[5; 130][..])
        );
        assert_eq!((upgraded(&new), upgraded(&old[..60])), (None, None));
    }
}
