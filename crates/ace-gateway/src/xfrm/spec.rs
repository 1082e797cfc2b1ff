// SPDX-License-Identifier: Apache-2.0
//! What an SA is, by `xfrm_usersa_info` and its attributes; what of them is kept to be told.

use ace_config::kernel;
use ace_engine::Secret;
use ace_ipsec::model::{Headers, KeyUse, MAX_WINDOW, Protocol, legacy_reasons};
use ace_ipsec::{Direction, SaMode, SaSpec};
use nix::libc::{EINVAL, ENOSYS, EOPNOTSUPP, EPROTONOSUPPORT};
use tracing::warn;

use super::Made;
use super::names::{self, EXTRA_FLAGS, MODES, SA_FLAGS};
use super::shapes::{self, Errno, attr};
use super::wire::{Messages, append, attribute, be16_at, u8_at, u16_at, u32_at, u64_at};

const NOECN: u8 = 1;
const DECAP_DSCP: u8 = 2;
const NOPMTUDISC: u8 = 4;
const ALIGN4: u8 = 64;
const ESN: u8 = 128;
const DONT_ENCAP_DSCP: u32 = 1;
/// In UDP, as RFC 3948 has it.
const ESP_IN_UDP: u16 = 2;
/// Bytes of `xfrm_encap_tmpl` and of the fixed part of `xfrm_replay_state_esn`.
const ENCAP: usize = 24;
const REPLAY_ESN: usize = 24;
/// Words of a bitmap: XFRMA_REPLAY_ESN_MAX bits.
const MOST_WORDS: u32 = MAX_WINDOW / 32;

const MARKS: &str = "it takes CAP_NET_ADMIN for each packet, and one mark for all leaves no other: leave out `user`, and \
                     `mark` of [outside]";

/// How an SA's numbers are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// `xfrm_replay_state`.
    #[default]
    Short,
    /// `xfrm_replay_state_esn`, with a bitmap of so many words.
    Long { words: u32, window: u32 },
}

/// What is told of an SA besides `xfrm_usersa_info`, and is no state.
pub struct Extras {
    /// Algorithms with keys, and encapsulation: attributes, each as long as it says it is.
    pub retained: Secret,
    pub replay: Replay,
    pub flags: u32,
    pub tfc_padding: u32,
    /// With its mask.
    pub mark: (u32, u32),
    pub if_id: u32,
}

impl Extras {
    /// Of an SPI without keys.
    pub fn none() -> Self {
        Self {
            retained: Secret::new(Vec::new()),
            replay: Replay::Short,
            flags: 0,
            tfc_padding: 0,
            mark: (0, 0),
            if_id: 0,
        }
    }

    /// Whether keys and all else are the same.
    pub fn same(&self, other: &Self) -> bool {
        self.retained == other.retained
            && (self.replay, self.flags, self.tfc_padding) == (other.replay, other.flags, other.tfc_padding)
            && (self.mark, self.if_id) == (other.mark, other.if_id)
    }
}

/// Numbers that attributes say have been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub sent: u64,
    pub seen: u64,
}

/// Ports of UDP encapsulation: of the source and of the destination.
pub fn encapsulation(attributes: &[u8]) -> Result<Option<(u16, u16)>, Errno> {
    let Some(value) = attribute(attributes, attr::ENCAP) else { return Ok(None) };
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

/// What is kept of attributes: whole, and no byte more than each says that it has.
fn retained(attributes: &[u8]) -> Result<Secret, Errno> {
    let mut retained = Messages::default();
    let algorithms = [
        (attr::ALG_AUTH, false),
        (attr::ALG_AUTH_TRUNC, true),
        (attr::ALG_CRYPT, false),
        (attr::ALG_AEAD, true),
    ];
    let mut keep = |kind: u16, value: &[u8]| -> Result<(), Errno> {
        let len = u16::try_from(value.len() + 4).map_err(|_| EINVAL)?;
        for part in [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), value] {
            append(&mut retained, part);
        }
        let over = retained.len().next_multiple_of(4) - retained.len();
        append(&mut retained, [0; 4].get(..over).unwrap_or_default());
        Ok(())
    };
    for (kind, with_number) in algorithms {
        let Some(value) = attribute(attributes, kind) else { continue };
        let (.., key) = algorithm(value, with_number)?;
        let whole = if with_number { 72 } else { 68 } + key.len();
        keep(kind, value.get(..whole).ok_or(EINVAL)?)?;
    }
    if let Some(value) = attribute(attributes, attr::ENCAP) {
        keep(attr::ENCAP, value.get(..ENCAP).ok_or(EINVAL)?)?;
    }
    Ok(Secret::from(retained))
}

/// How many words a bitmap has and how wide the window is, as Linux takes them.
fn long(state: &[u8]) -> Result<Replay, Errno> {
    let (words, window) = (u32_at(state, 0).ok_or(EINVAL)?, u32_at(state, 20).ok_or(EINVAL)?);
    let whole = REPLAY_ESN + 4 * words.min(MOST_WORDS) as usize;
    // The fixed part alone is allowed, and a bitmap that is cut short is not.
    let cut = state.len() < whole && state.len() != REPLAY_ESN;
    if words > MOST_WORDS || cut || window > 32 * words {
        return Err(EINVAL);
    }
    Ok(Replay::Long { words, window })
}

/// The numbers that attributes say have been used; `None` if they say nothing.
///
/// # Errors
/// A state that is too short.
pub fn numbers(attributes: &[u8]) -> Result<Option<Numbers>, Errno> {
    let word = |value: &[u8], at| u32_at(value, at).map(u64::from).ok_or(EINVAL);
    Ok(match (attribute(attributes, attr::REPLAY_ESN_VAL), attribute(attributes, attr::REPLAY_VAL)) {
        (Some(state), _) => Some(Numbers {
            sent: word(state, 4)? | word(state, 12)? << 32,
            seen: word(state, 8)? | word(state, 16)? << 32,
        }),
        (None, Some(state)) => Some(Numbers { sent: word(state, 0)?, seen: word(state, 4)? }),
        (None, None) => None,
    })
}

/// The first number that a new SA sends, or takes: behind those that attributes say have been used.
///
/// # Errors
/// A state that is too short, or says that there is no number any more.
pub fn first_sequence(attributes: &[u8], inbound: bool) -> Result<u64, Errno> {
    let Numbers { sent, seen } = numbers(attributes)?.unwrap_or_default();
    if inbound { seen } else { sent }.checked_add(1).ok_or(EINVAL)
}

/// Bytes and packets that attributes say were carried.
pub fn carried(attributes: &[u8]) -> Option<(u64, u64)> {
    let value = attribute(attributes, attr::LTIME_VAL)?;
    Some((u64_at(value, 0)?, u64_at(value, 8)?))
}

/// The mark that attributes give to packets, and the mask, as Linux takes them.
fn marked(attributes: &[u8]) -> (u32, u32) {
    let word = |kind| attribute(attributes, kind).and_then(|value| u32_at(value, 0));
    match word(attr::SET_MARK) {
        Some(mark) => (mark, word(attr::SET_MARK_MASK).unwrap_or(u32::MAX)),
        None => (0, 0),
    }
}

/// What an SA is, and what is told of it. A padded packet is no longer than what the device inside carries.
///
/// # Errors
/// ENOSYS for algorithms that are not here or are not for use today, EOPNOTSUPP for modes and properties that are not
/// here, EINVAL for what makes no sense.
pub fn spec(
    (info, attributes): (&[u8], &[u8]),
    inbound: bool,
    made: &Made,
) -> Result<(SaSpec, Extras), Errno> {
    let (if_id, mark) = (shapes::if_id(attributes), marked(attributes));
    let output_mark = mark.0 & mark.1;
    if output_mark != 0 && (inbound || !made.can.marks) {
        let why = if inbound { "packets to the inside carry none" } else { MARKS };
        warn!(mark = output_mark, why, "refused: an SA with a mark of its own");
        return Err(EOPNOTSUPP);
    }
    let mtu = made.can.interfaces.mtu(if_id).unwrap_or(made.mtu);
    let (key, source) = (shapes::sa_key(info)?, shapes::sa_source(info)?);
    let protocol = match key.protocol {
        50 => Protocol::Esp,
        51 => Protocol::Ah,
        _ => return Err(EPROTONOSUPPORT),
    };
    names::value(MODES, shapes::sa_mode(info).into(), EINVAL)?;
    let mode = if shapes::sa_mode(info) == 0 { SaMode::Transport } else { SaMode::Tunnel };
    let flags = u8_at(info, 216).ok_or(EINVAL)?;
    names::bits(SA_FLAGS, flags.into())?;
    if flags & ALIGN4 != 0 && protocol == Protocol::Ah && source.is_ipv6() {
        return Err(EOPNOTSUPP);
    }
    let word = |kind| attribute(attributes, kind).map_or(Ok(0), |value| u32_at(value, 0).ok_or(EINVAL));
    let (extra_flags, tfc_padding) = (word(attr::SA_EXTRA_FLAGS)?, word(attr::TFCPAD)?);
    names::bits(EXTRA_FLAGS, extra_flags)?;
    let none = kernel::auth("digest_null", 0).ok_or(ENOSYS)?;
    let null = kernel::cipher("cipher_null", 0).ok_or(ENOSYS)?;
    let (mut cipher, mut cipher_key) = (null, &[][..]);
    let (mut auth, mut auth_key) = (none, &[][..]);
    if let Some(value) = attribute(attributes, attr::ALG_AEAD) {
        let (name, bits, icv, found) = algorithm(value, true)?;
        (cipher, cipher_key) = (kernel::aead(name, bits, icv).ok_or(ENOSYS)?, found);
        // As Linux has it: a combined mode is all there is.
        if [attr::ALG_CRYPT, attr::ALG_AUTH, attr::ALG_AUTH_TRUNC]
            .iter()
            .any(|kind| attribute(attributes, *kind).is_some())
        {
            return Err(EINVAL);
        }
    } else {
        if let Some(value) = attribute(attributes, attr::ALG_CRYPT) {
            let (name, bits, _, found) = algorithm(value, false)?;
            (cipher, cipher_key) = (kernel::cipher(name, bits).ok_or(ENOSYS)?, found);
        }
        if let Some(value) = attribute(attributes, attr::ALG_AUTH_TRUNC) {
            let (name, _, icv, found) = algorithm(value, true)?;
            (auth, auth_key) = (kernel::auth(name, icv).ok_or(ENOSYS)?, found);
        } else if let Some(value) = attribute(attributes, attr::ALG_AUTH) {
            let (name, _, _, found) = algorithm(value, false)?;
            (auth, auth_key) = (kernel::auth(name, kernel::default_icv_bits(name)).ok_or(ENOSYS)?, found);
        }
    }
    if !made.allow_legacy && !legacy_reasons(cipher, auth).is_empty() {
        return Err(ENOSYS);
    }
    let esn = flags & ESN != 0;
    let own_window = u32::from(u8_at(info, 215).ok_or(EINVAL)?);
    let replay = match attribute(attributes, attr::REPLAY_ESN_VAL) {
        // Two windows at once are one too many.
        Some(_) if own_window != 0 => return Err(EINVAL),
        Some(state) => long(state)?,
        None if esn => return Err(EINVAL),
        None => Replay::Short,
    };
    let window = match replay {
        Replay::Long { window, .. } => window,
        Replay::Short => own_window,
    };
    // The narrowest that there is; 0 stays 0.
    let window = if window == 0 { 0 } else { window.clamp(32, MAX_WINDOW) };
    let (local, remote) = if inbound { (key.destination, source) } else { (source, key.destination) };
    let direction = if inbound { Direction::In } else { Direction::Out };
    let tunnel = mode == SaMode::Tunnel;
    if tfc_padding != 0 && (!tunnel || protocol != Protocol::Esp) {
        return Err(EINVAL);
    }
    let mut headers = Headers::of(direction);
    if tunnel {
        headers.ecn = flags & NOECN == 0;
        headers.dscp = if inbound { flags & DECAP_DSCP != 0 } else { extra_flags & DONT_ENCAP_DSCP == 0 };
        headers.dont_fragment = inbound || flags & NOPMTUDISC == 0;
        headers.tfc_padding = if inbound { 0 } else { tfc_padding.min(mtu.into()) as u16 };
    }
    let spec = SaSpec {
        name: format!("{} {:#x}", key.destination, key.spi),
        spi: key.spi,
        direction,
        protocol,
        mode,
        local,
        remote,
        selector: shapes::selector(info)?,
        cipher,
        auth,
        key: Secret::new(cipher_key.to_vec()),
        auth_key: Secret::new(auth_key.to_vec()),
        // Nothing says that they were never used: `ip xfrm` is given the same ones after every restart.
        key_use: KeyUse::Reused,
        esn,
        replay_window: window,
        first_sequence: first_sequence(attributes, inbound)?,
        core: None,
        if_id,
        output_mark,
        headers,
        lifetime: shapes::lifetime(info)?,
    };
    spec.check().map_err(|_| EINVAL)?;
    let retained = retained(attributes)?;
    Ok((spec, Extras { retained, replay, flags: extra_flags, tfc_padding, mark, if_id }))
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
        let short = made(attr::REPLAY_VAL, &[41, 7, 0]);
        assert_eq!((first_sequence(&short, false), first_sequence(&short, true)), (Ok(42), Ok(8)));
        let state = made(attr::REPLAY_ESN_VAL, &[1, 41, 7, 2, 3, 32, 0]);
        assert_eq!(first_sequence(&state, false), Ok((2 << 32) + 42));
        assert_eq!(first_sequence(&state, true), Ok((3 << 32) + 8));
        // What was copied from the old SA comes first, what is true now last.
        let both = [made(attr::REPLAY_ESN_VAL, &[1, 0, 0, 0, 0, 32, 0]), state].concat();
        assert_eq!(first_sequence(&both, true), Ok((3 << 32) + 8));
        let last = made(attr::REPLAY_ESN_VAL, &[1, u32::MAX, 0, u32::MAX, 0, 32, 0]);
        assert_eq!(first_sequence(&last, false), Err(EINVAL));
        assert_eq!(first_sequence(&made(attr::REPLAY_VAL, &[1]), true), Err(EINVAL));
    }

    #[test]
    fn a_long_state_is_as_long_as_it_says_or_has_no_bitmap() {
        let state = |words: u32, window: u32, len: usize| {
            let mut bytes = [words, 0, 0, 0, 0, window].map(u32::to_ne_bytes).concat();
            bytes.resize(24 + len, 0);
            long(&bytes)
        };
        let whole = Ok(Replay::Long { words: 2, window: 64 });
        assert_eq!((state(2, 64, 8), state(2, 64, 0), state(2, 64, 12)), (whole, whole, whole));
        assert_eq!(state(128, 4096, 0), Ok(Replay::Long { words: 128, window: 4096 }));
        for (words, window, len) in [(2, 64, 4), (2, 64, 7), (2, 65, 8), (129, 64, 0), (u32::MAX, 0, 0)] {
            assert_eq!(state(words, window, len), Err(EINVAL), "{words} words, {window} wide, {len} bytes");
        }
    }
}
