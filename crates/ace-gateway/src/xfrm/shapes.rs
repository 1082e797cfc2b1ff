// SPDX-License-Identifier: Apache-2.0
//! What XFRM messages say: selectors, SAs, policies and their templates, as `linux/xfrm.h` lays them out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use ace_config::kernel;
use ace_engine::Secret;
use ace_ipsec::model::{KeyUse, MAX_WINDOW, Protocol, legacy_reasons};
use ace_ipsec::{Direction, Lifetime, SaMode, SaSpec, Selector};
use ipnet::IpNet;
use nix::libc::{EINVAL, ENOSYS, EOPNOTSUPP, EPROTONOSUPPORT};

use super::wire::{attribute, be16_at, be32_at, u8_at, u16_at, u32_at, u64_at};

/// Bytes of the fixed structures.
pub const USERSA: usize = 224;
pub const USERSA_ID: usize = 24;
pub const POLICY: usize = 168;
pub const POLICY_ID: usize = 64;
pub const TEMPLATE: usize = 64;

/// Attributes.
const ALG_AUTH: u16 = 1;
const ALG_CRYPT: u16 = 2;
const ALG_COMP: u16 = 3;
const ENCAP: u16 = 4;
const TMPL: u16 = 5;
pub const REPLAY_VAL: u16 = 10;
pub const POLICY_TYPE: u16 = 16;
const ALG_AEAD: u16 = 18;
const ALG_AUTH_TRUNC: u16 = 20;
const MARK: u16 = 21;
pub const REPLAY_ESN_VAL: u16 = 23;
pub const PROTO: u16 = 25;
const OFFLOAD_DEV: u16 = 28;
const IF_ID: u16 = 31;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const FLAG_ESN: u8 = 128;
/// In UDP, as RFC 3948 has it.
const ESP_IN_UDP: u16 = 2;

/// An errno of Linux.
pub type Errno = i32;

/// What tells SAs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SaKey {
    pub destination: IpAddr,
    pub protocol: u8,
    pub spi: u32,
}

/// What tells policies apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PolicyKey {
    pub way: u8,
    /// As it came, but for device and user, which have no meaning here.
    pub selector: [u8; 48],
}

/// For whose SAs a policy is.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    pub destination: Option<IpAddr>,
    pub source: Option<IpAddr>,
    pub protocol: u8,
    pub mode: u8,
    pub reqid: u32,
    /// Of the one SA that it is for; 0: of any.
    pub spi: u32,
}

/// An address of a family; `None` if it is of none.
pub fn address(bytes: &[u8], at: usize, family: u16) -> Option<IpAddr> {
    let bytes: [u8; 16] = bytes.get(at..at.checked_add(16)?)?.try_into().ok()?;
    match family {
        AF_INET => Some(Ipv4Addr::from(be32_at(&bytes, 0)?).into()),
        AF_INET6 => Some(Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

fn specified(address: Option<IpAddr>) -> Option<IpAddr> {
    address.filter(|address| !address.is_unspecified())
}

/// A selector; one that selects everything is the default one.
pub fn selector(bytes: &[u8]) -> Result<Selector, Errno> {
    let (family, lengths) = (u16_at(bytes, 40).ok_or(EINVAL)?, bytes.get(42..44).ok_or(EINVAL)?);
    let net = |at, len: u8| -> Result<Option<IpNet>, Errno> {
        if len == 0 {
            return Ok(None);
        }
        let address = address(bytes, at, family).ok_or(EINVAL)?;
        IpNet::new(address, len).map(|net| Some(net.trunc())).map_err(|_| EINVAL)
    };
    let ports = |at| -> Result<Option<RangeInclusive<u16>>, Errno> {
        let (port, mask) = (be16_at(bytes, at).ok_or(EINVAL)?, be16_at(bytes, at + 2).ok_or(EINVAL)?);
        match mask {
            0 => Ok(None),
            // A mask of leading ones is a range.
            mask if mask.leading_ones() + mask.trailing_zeros() == 16 => Ok(Some(port & mask..=port | !mask)),
            _ => Err(EOPNOTSUPP),
        }
    };
    let (destination, source) = (lengths.first().ok_or(EINVAL)?, lengths.get(1).ok_or(EINVAL)?);
    Ok(Selector {
        source: net(16, *source)?,
        destination: net(0, *destination)?,
        protocol: Some(u8_at(bytes, 44).ok_or(EINVAL)?).filter(|number| *number != 0),
        source_ports: ports(36)?,
        destination_ports: ports(32)?,
    })
}

pub fn policy_key(way: u8, bytes: &[u8]) -> Option<PolicyKey> {
    Some(PolicyKey { way, selector: bytes.get(..48)?.try_into().ok()? })
}

/// Of `xfrm_usersa_info`.
pub fn sa_key(info: &[u8]) -> Result<SaKey, Errno> {
    let family = u16_at(info, 212).ok_or(EINVAL)?;
    Ok(SaKey {
        destination: address(info, 56, family).ok_or(EINVAL)?,
        spi: be32_at(info, 72).ok_or(EINVAL)?,
        protocol: u8_at(info, 76).ok_or(EINVAL)?,
    })
}

/// Of `xfrm_usersa_id`.
pub fn sa_id(id: &[u8]) -> Result<SaKey, Errno> {
    Ok(SaKey {
        destination: address(id, 0, u16_at(id, 20).ok_or(EINVAL)?).ok_or(EINVAL)?,
        spi: be32_at(id, 16).ok_or(EINVAL)?,
        protocol: u8_at(id, 22).ok_or(EINVAL)?,
    })
}

pub fn sa_source(info: &[u8]) -> Result<IpAddr, Errno> {
    address(info, 80, u16_at(info, 212).ok_or(EINVAL)?).ok_or(EINVAL)
}

pub fn sa_reqid(info: &[u8]) -> u32 {
    u32_at(info, 208).unwrap_or(0)
}

pub fn sa_mode(info: &[u8]) -> u8 {
    u8_at(info, 214).unwrap_or(0)
}

/// Limits; `XFRM_INF` and, of seconds, 0 are none.
pub fn lifetime(info: &[u8]) -> Result<Lifetime, Errno> {
    let limit = |n: usize| -> Result<Option<u64>, Errno> {
        let value = u64_at(info, 96 + 8 * n).ok_or(EINVAL)?;
        Ok(Some(value).filter(|value| *value != u64::MAX && *value != 0))
    };
    Ok(Lifetime {
        soft_bytes: limit(0)?,
        hard_bytes: limit(1)?,
        soft_packets: limit(2)?,
        hard_packets: limit(3)?,
        soft_seconds: limit(4)?,
        hard_seconds: limit(5)?,
        soft_use_seconds: limit(6)?,
        hard_use_seconds: limit(7)?,
    })
}

/// Takes limits over.
pub fn put_lifetime(info: &mut [u8; USERSA], from: &[u8]) {
    if let (Some(place), Some(limits)) = (info.get_mut(96..160), from.get(96..160)) {
        place.copy_from_slice(limits);
    }
}

/// Ports of UDP encapsulation: of the source and of the destination.
pub fn encapsulation(attributes: &[u8]) -> Result<Option<(u16, u16)>, Errno> {
    let Some(value) = attribute(attributes, ENCAP) else { return Ok(None) };
    if u16_at(value, 0) != Some(ESP_IN_UDP) {
        return Err(EOPNOTSUPP);
    }
    Ok(Some((be16_at(value, 2).ok_or(EINVAL)?, be16_at(value, 4).ok_or(EINVAL)?)))
}

/// One algorithm: name, bits, one more number where the structure has it, key.
fn algorithm(value: &[u8], with_number: bool) -> Result<(&str, usize, usize, &[u8]), Errno> {
    let name = value.get(..64).ok_or(EINVAL)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let bits = usize::try_from(u32_at(value, 64).ok_or(EINVAL)?).map_err(|_| EINVAL)?;
    let number = if with_number { u32_at(value, 68).ok_or(EINVAL)? as usize } else { 0 };
    let at = if with_number { 72 } else { 68 };
    let key = value.get(at..at + bits.div_ceil(8)).ok_or(EINVAL)?;
    Ok((std::str::from_utf8(name).map_err(|_| EINVAL)?, bits, number, key))
}

/// The first number that a new SA sends, or takes: behind those that attributes say have been used.
///
/// # Errors
/// A state that is too short.
pub fn first_sequence(attributes: &[u8], inbound: bool) -> Result<u64, Errno> {
    let word = |value: &[u8], at| u32_at(value, at).map(u64::from).ok_or(EINVAL);
    let used = match (attribute(attributes, REPLAY_ESN_VAL), attribute(attributes, REPLAY_VAL)) {
        (Some(state), _) if inbound => word(state, 8)? | word(state, 16)? << 32,
        (Some(state), _) => word(state, 4)? | word(state, 12)? << 32,
        (None, Some(state)) => word(state, if inbound { 4 } else { 0 })?,
        (None, None) => 0,
    };
    used.checked_add(1).ok_or(EINVAL)
}

/// What an SA is.
///
/// # Errors
/// ENOSYS for algorithms that are not here or are not for use today, EOPNOTSUPP for modes and properties that are not
/// here, EINVAL for what makes no sense.
pub fn spec(info: &[u8], attributes: &[u8], inbound: bool, allow_legacy: bool) -> Result<SaSpec, Errno> {
    let (key, source) = (sa_key(info)?, sa_source(info)?);
    let protocol = match key.protocol {
        50 => Protocol::Esp,
        51 => Protocol::Ah,
        _ => return Err(EPROTONOSUPPORT),
    };
    let mode = match sa_mode(info) {
        0 => SaMode::Transport,
        1 => SaMode::Tunnel,
        // BEET and route optimisation.
        _ => return Err(EOPNOTSUPP),
    };
    for absent in [ALG_COMP, OFFLOAD_DEV] {
        if attribute(attributes, absent).is_some() {
            return Err(EOPNOTSUPP);
        }
    }
    if attribute(attributes, MARK).is_some_and(|mark| mark.iter().any(|byte| *byte != 0))
        || attribute(attributes, IF_ID).is_some_and(|id| id.iter().any(|byte| *byte != 0))
    {
        return Err(EOPNOTSUPP);
    }
    let none = kernel::auth("digest_null", 0).ok_or(ENOSYS)?;
    let null = kernel::cipher("cipher_null", 0).ok_or(ENOSYS)?;
    let (mut cipher, mut cipher_key) = (null, &[][..]);
    let (mut auth, mut auth_key) = (none, &[][..]);
    if let Some(value) = attribute(attributes, ALG_AEAD) {
        let (name, bits, icv, found) = algorithm(value, true)?;
        (cipher, cipher_key) = (kernel::aead(name, bits, icv).ok_or(ENOSYS)?, found);
    } else {
        if let Some(value) = attribute(attributes, ALG_CRYPT) {
            let (name, bits, _, found) = algorithm(value, false)?;
            (cipher, cipher_key) = (kernel::cipher(name, bits).ok_or(ENOSYS)?, found);
        }
        if let Some(value) = attribute(attributes, ALG_AUTH_TRUNC) {
            let (name, _, icv, found) = algorithm(value, true)?;
            (auth, auth_key) = (kernel::auth(name, icv).ok_or(ENOSYS)?, found);
        } else if let Some(value) = attribute(attributes, ALG_AUTH) {
            let (name, _, _, found) = algorithm(value, false)?;
            (auth, auth_key) = (kernel::auth(name, kernel::default_icv_bits(name)).ok_or(ENOSYS)?, found);
        }
    }
    if !allow_legacy && !legacy_reasons(cipher, auth).is_empty() {
        return Err(ENOSYS);
    }
    let esn_state = attribute(attributes, REPLAY_ESN_VAL);
    let esn = u8_at(info, 216).unwrap_or(0) & FLAG_ESN != 0;
    let window = match esn_state {
        Some(state) => u32_at(state, 20).ok_or(EINVAL)?,
        None => u32::from(u8_at(info, 215).unwrap_or(0)),
    };
    // The narrowest that there is; 0 stays 0.
    let window = if window == 0 { 0 } else { window.clamp(32, MAX_WINDOW) };
    let own = selector(info)?;
    let (local, remote) = if inbound { (key.destination, source) } else { (source, key.destination) };
    let spec = SaSpec {
        name: format!("{} {:#x}", key.destination, key.spi),
        spi: key.spi,
        direction: if inbound { Direction::In } else { Direction::Out },
        protocol,
        mode,
        local,
        remote,
        selector: own,
        cipher,
        auth,
        key: Secret::new(cipher_key.to_vec()),
        auth_key: Secret::new(auth_key.to_vec()),
        // Nothing says that they were never used: `ip xfrm` is given the same ones after every restart.
        key_use: KeyUse::Reused,
        esn,
        replay_window: window,
        first_sequence: first_sequence(attributes, inbound)?,
        lifetime: lifetime(info)?,
        headers: ace_ipsec::Headers::of(if inbound { Direction::In } else { Direction::Out }),
    };
    spec.check().map_err(|_| EINVAL)?;
    Ok(spec)
}

/// Templates of a policy, in order.
pub fn templates(attributes: &[u8]) -> Vec<Template> {
    let bytes = attribute(attributes, TMPL).unwrap_or_default();
    let one = |bytes: &[u8]| {
        let family = u16_at(bytes, 24)?;
        Some(Template {
            destination: specified(address(bytes, 0, family)),
            source: specified(address(bytes, 28, family)),
            protocol: u8_at(bytes, 20)?,
            mode: u8_at(bytes, 48)?,
            reqid: u32_at(bytes, 44)?,
            spi: be32_at(bytes, 16)?,
        })
    };
    bytes.chunks_exact(TEMPLATE).filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::wire::Reply;
    use super::*;

    /// Attributes alone.
    fn made(kind: u16, words: &[u32]) -> Vec<u8> {
        let value: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Reply::new(0, 0, 0, &[]).attribute(kind, &value).done()[16..].to_vec()
    }

    #[test]
    fn numbers_go_on_behind_those_that_were_used() {
        assert_eq!((first_sequence(&[], true), first_sequence(&[], false)), (Ok(1), Ok(1)));
        let short = made(REPLAY_VAL, &[41, 7, 0]);
        assert_eq!((first_sequence(&short, false), first_sequence(&short, true)), (Ok(42), Ok(8)));
        let long = made(REPLAY_ESN_VAL, &[1, 41, 7, 2, 3, 32, 0]);
        assert_eq!(first_sequence(&long, false), Ok((2 << 32) + 42));
        assert_eq!(first_sequence(&long, true), Ok((3 << 32) + 8));
        // What was copied from the old SA comes first, what is true now last.
        let both = [made(REPLAY_ESN_VAL, &[1, 0, 0, 0, 0, 32, 0]), long].concat();
        assert_eq!(first_sequence(&both, true), Ok((3 << 32) + 8));
        let last = made(REPLAY_ESN_VAL, &[1, u32::MAX, 0, u32::MAX, 0, 32, 0]);
        assert_eq!(first_sequence(&last, false), Err(EINVAL));
        assert_eq!(first_sequence(&made(REPLAY_VAL, &[1]), true), Err(EINVAL));
    }
}
