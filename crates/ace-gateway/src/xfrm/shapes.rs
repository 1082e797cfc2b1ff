// SPDX-License-Identifier: Apache-2.0
//! What XFRM messages say: selectors, SAs, policies and their templates, as `linux/xfrm.h` lays them out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use ace_ipsec::packet::protocol;
use ace_ipsec::{Flow, Lifetime, Selector};
use ipnet::IpNet;
use nix::libc::{EINVAL, EOPNOTSUPP};

use super::names::{self, MODES};
use super::wire::{attribute, be16_at, be32_at, put, u8_at, u16_at, u32_at, u64_at};

/// Bytes of the fixed structures.
pub const USERSA: usize = 224;
pub const USERSA_ID: usize = 24;
pub const POLICY: usize = 168;
pub const POLICY_ID: usize = 64;
pub const TEMPLATE: usize = 64;
pub const USERSPI: usize = 232;
pub const SELECTOR: usize = 56;

/// Attributes, by their numbers.
pub mod attr {
    pub const ALG_AUTH: u16 = 1;
    pub const ALG_CRYPT: u16 = 2;
    pub const ENCAP: u16 = 4;
    pub const TMPL: u16 = 5;
    pub const SA: u16 = 6;
    pub const POLICY: u16 = 7;
    pub const LTIME_VAL: u16 = 9;
    pub const REPLAY_VAL: u16 = 10;
    pub const SRCADDR: u16 = 13;
    pub const POLICY_TYPE: u16 = 16;
    pub const ALG_AEAD: u16 = 18;
    pub const ALG_AUTH_TRUNC: u16 = 20;
    pub const TFCPAD: u16 = 22;
    pub const REPLAY_ESN_VAL: u16 = 23;
    pub const SA_EXTRA_FLAGS: u16 = 24;
    pub const PROTO: u16 = 25;
    pub const ADDRESS_FILTER: u16 = 26;
    pub const SET_MARK: u16 = 29;
    pub const SET_MARK_MASK: u16 = 30;
    pub const IF_ID: u16 = 31;
}

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

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
    /// As it came, without device and user, which are refused.
    pub selector: [u8; 48],
    pub if_id: u32,
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
///
/// # Errors
/// EINVAL for what is no selector, EOPNOTSUPP for devices, users, and ports of protocols that show none.
pub fn selector(bytes: &[u8]) -> Result<Selector, Errno> {
    let (family, lengths) = (u16_at(bytes, 40).ok_or(EINVAL)?, bytes.get(42..44).ok_or(EINVAL)?);
    if bytes.get(48..56).ok_or(EINVAL)?.iter().any(|byte| *byte != 0) {
        return Err(EOPNOTSUPP);
    }
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
    let selector = Selector {
        source: net(16, *source)?,
        destination: net(0, *destination)?,
        protocol: Some(u8_at(bytes, 44).ok_or(EINVAL)?).filter(|number| *number != 0),
        // Of ICMP type and code (RFC 4301, 4.4.1.1).
        source_ports: ports(36)?,
        destination_ports: ports(32)?,
    };
    let asks = selector.source_ports.is_some() || selector.destination_ports.is_some();
    let shows = |number| protocol::has_ports(number) || protocol::has_types(number);
    if asks && !selector.protocol.is_none_or(shows) {
        return Err(EOPNOTSUPP);
    }
    Ok(selector)
}

pub fn policy_key(way: u8, if_id: u32, bytes: &[u8]) -> Option<PolicyKey> {
    Some(PolicyKey { way, selector: bytes.get(..48)?.try_into().ok()?, if_id })
}

/// The interface that attributes name; 0: none.
pub fn if_id(attributes: &[u8]) -> u32 {
    attribute(attributes, attr::IF_ID).and_then(|value| u32_at(value, 0)).unwrap_or(0)
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

/// The template of a policy that is to protect.
///
/// # Errors
/// EINVAL for what is none, EOPNOTSUPP for several, and for one that is not for all SAs of its kind.
pub fn template(attributes: &[u8]) -> Result<Option<Template>, Errno> {
    let bytes = attribute(attributes, attr::TMPL).unwrap_or_default();
    // Nested policies are not there.
    if bytes.len() >= 2 * TEMPLATE {
        return Err(EOPNOTSUPP);
    }
    let Some(bytes) = bytes.get(..TEMPLATE) else { return Ok(None) };
    let family = u16_at(bytes, 24).ok_or(EINVAL)?;
    let mode = u8_at(bytes, 48).ok_or(EINVAL)?;
    names::value(MODES, mode.into(), EINVAL)?;
    // Share, optional, and masks of algorithms: all are every one of them.
    let (any, all) = (bytes.get(49..51).ok_or(EINVAL)?, bytes.get(52..64).ok_or(EINVAL)?);
    if any != [0, 0] || all != [0xff; 12] {
        return Err(EOPNOTSUPP);
    }
    Ok(Some(Template {
        destination: specified(address(bytes, 0, family)),
        source: specified(address(bytes, 28, family)),
        protocol: u8_at(bytes, 20).ok_or(EINVAL)?,
        mode,
        reqid: u32_at(bytes, 44).ok_or(EINVAL)?,
        spi: be32_at(bytes, 16).ok_or(EINVAL)?,
    }))
}

/// The selector of one packet, as `xfrm_selector`.
pub fn selector_of(flow: &Flow) -> [u8; SELECTOR] {
    let mut bytes = [0; SELECTOR];
    let (family, width) = if flow.source.is_ipv4() { (AF_INET, 32) } else { (AF_INET6, 128) };
    put_address(&mut bytes, 0, flow.destination);
    put_address(&mut bytes, 16, flow.source);
    if let Some((source, destination)) = flow.ports {
        put(&mut bytes, 32, &destination.to_be_bytes());
        put(&mut bytes, 36, &source.to_be_bytes());
        put(&mut bytes, 34, &[0xff; 2]);
        put(&mut bytes, 38, &[0xff; 2]);
    }
    put(&mut bytes, 40, &family.to_ne_bytes());
    put(&mut bytes, 42, &[width, width, flow.protocol.unwrap_or(0)]);
    bytes
}

/// Writes an `xfrm_address_t`.
pub fn put_address(bytes: &mut [u8], at: usize, address: IpAddr) {
    match address {
        IpAddr::V4(address) => put(bytes, at, &address.octets()),
        IpAddr::V6(address) => put(bytes, at, &address.octets()),
    }
}

/// `xfrm_usersa_id` of an SA.
pub fn usersa_id(key: SaKey) -> [u8; USERSA_ID] {
    let mut id = [0; USERSA_ID];
    put_address(&mut id, 0, key.destination);
    put(&mut id, 16, &key.spi.to_be_bytes());
    put(&mut id, 20, &if key.destination.is_ipv4() { AF_INET } else { AF_INET6 }.to_ne_bytes());
    put(&mut id, 22, &[key.protocol]);
    id
}

/// Whether two SAs differ at most in lifetimes and in what is not theirs to say.
pub fn same_sa(one: &[u8], other: &[u8]) -> bool {
    // Selector, identity and source; request id, family, mode, window, flags.
    let parts = [0..77, 80..96, 208..217];
    parts.into_iter().all(|part| one.get(part.clone()) == other.get(part))
}

/// Policies do not end by themselves.
///
/// # Errors
/// EOPNOTSUPP for one that is to.
pub fn endless(policy: &[u8]) -> Result<(), Errno> {
    let limits = (56..120).step_by(8).map(|at| u64_at(policy, at));
    match limits.into_iter().all(|limit| matches!(limit, Some(0 | u64::MAX))) {
        true => Ok(()),
        false => Err(EOPNOTSUPP),
    }
}
