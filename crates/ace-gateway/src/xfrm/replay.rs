// SPDX-License-Identifier: Apache-2.0
//! Where an SA stands: sequence numbers that are asked for (GETAE) and given back when the same SA is made anew, as IKE
//! daemons do when an end's address changes (RFC 4555). Layouts of `linux/xfrm.h`.

use std::net::IpAddr;

use ace_ipsec::{Direction, Shard};
use nix::libc::{EINVAL, ESRCH};

use super::database::State;
use super::shapes::{self, Errno};
use super::wire::{Reply, attribute, u32_at};

const LIFETIME: u16 = 9;
const REPLAY: u16 = 10;
const REPLAY_ESN: u16 = 23;
/// Bytes of `xfrm_aevent_id`, and in it the address of the other end.
pub const AEVENT_ID: usize = 48;
const OTHER: usize = 24;
const FLAGS: usize = 40;
const REQID: usize = 44;
pub const NEWAE: u16 = 0x1e;

/// The first number that a new SA sends, or takes: behind those that attributes say have been used.
///
/// # Errors
/// A state that is too short.
pub fn first_sequence(attributes: &[u8], inbound: bool) -> Result<u64, Errno> {
    let word = |value: &[u8], at| u32_at(value, at).map(u64::from).ok_or(EINVAL);
    let used = match (attribute(attributes, REPLAY_ESN), attribute(attributes, REPLAY)) {
        (Some(state), _) if inbound => word(state, 8)? | word(state, 16)? << 32,
        (Some(state), _) => word(state, 4)? | word(state, 12)? << 32,
        (None, Some(state)) => word(state, if inbound { 4 } else { 0 })?,
        (None, None) => 0,
    };
    used.checked_add(1).ok_or(EINVAL)
}

/// The answer to GETAE.
///
/// # Errors
/// ESRCH for an SA without keys.
pub fn told(plane: &Shard, state: &State, id: &[u8], sequence: u32) -> Result<Vec<u8>, Errno> {
    let installed = state.installed.as_ref().ok_or(ESRCH)?;
    let ids = installed.shares.iter().map(|(_, id)| *id).chain([installed.id]);
    let stands = ids.filter_map(|id| plane.sa(id));
    let (mut used, mut window, mut esn) = (installed.sent, 0, false);
    for status in stands {
        used = used.max(status.sequence);
        (window, esn) = (status.replay_window, status.esn);
    }
    let (out, seen) = match installed.direction {
        Direction::Out => (used, 0),
        Direction::In => (0, used),
    };
    let mut body = id.get(..AEVENT_ID).ok_or(EINVAL)?.to_vec();
    let other = match shapes::sa_source(&state.info)? {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    body[OTHER..FLAGS].fill(0);
    body[OTHER..OTHER + other.len()].copy_from_slice(&other);
    body[REQID..].copy_from_slice(&shapes::sa_reqid(&state.info).to_ne_bytes());
    let [out_low, seen_low] = [out, seen].map(|number: u64| number as u32);
    let [out_high, seen_high] = [out, seen].map(|number| (number >> 32) as u32);
    // What is in the window counts as seen: whoever restores this takes none of it a second time.
    let words = |all: &[u32]| all.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let reply = Reply::new(NEWAE, 0, sequence, &body);
    let reply = if esn {
        let bitmap = window.div_ceil(32);
        let mut state = vec![bitmap, out_low, seen_low, out_high, seen_high, window];
        state.resize(state.len() + bitmap as usize, u32::MAX);
        reply.attribute(REPLAY_ESN, &words(&state))
    } else {
        reply.attribute(REPLAY, &words(&[out_low, seen_low, u32::MAX]))
    };
    let current = super::current(plane, state);
    // `xfrm_lifetime_cur` is laid out as in the SA.
    Ok(reply.attribute(LIFETIME, &current[160..192]).done())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attributes alone.
    fn made(kind: u16, words: &[u32]) -> Vec<u8> {
        let value: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Reply::new(0, 0, 0, &[]).attribute(kind, &value).done()[16..].to_vec()
    }

    #[test]
    fn numbers_go_on_behind_those_that_were_used() {
        assert_eq!((first_sequence(&[], true), first_sequence(&[], false)), (Ok(1), Ok(1)));
        let short = made(REPLAY, &[41, 7, 0]);
        assert_eq!((first_sequence(&short, false), first_sequence(&short, true)), (Ok(42), Ok(8)));
        let long = made(REPLAY_ESN, &[1, 41, 7, 2, 3, 32, 0]);
        assert_eq!(first_sequence(&long, false), Ok((2 << 32) + 42));
        assert_eq!(first_sequence(&long, true), Ok((3 << 32) + 8));
        // What was copied from the old SA comes first, what is true now last.
        let both = [made(REPLAY_ESN, &[1, 0, 0, 0, 0, 32, 0]), long].concat();
        assert_eq!(first_sequence(&both, true), Ok((3 << 32) + 8));
        let last = made(REPLAY_ESN, &[1, u32::MAX, 0, u32::MAX, 0, 32, 0]);
        assert_eq!(first_sequence(&last, false), Err(EINVAL));
        assert_eq!(first_sequence(&made(REPLAY, &[1]), true), Err(EINVAL));
    }
}
