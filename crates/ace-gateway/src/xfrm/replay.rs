// SPDX-License-Identifier: Apache-2.0
//! Where an SA stands: sequence numbers that are asked for (GETAE). They are given back when the same SA is made anew, as
//! IKE daemons do when an end's address changes (RFC 4555): `shapes.rs`. Layouts of `linux/xfrm.h`.

use std::net::IpAddr;

use ace_ipsec::{Direction, Shard};
use nix::libc::{EINVAL, ESRCH};

use super::database::State;
use super::shapes::{self, Errno, REPLAY_ESN_VAL, REPLAY_VAL};
use super::wire::{Messages, Reply};

const LIFETIME: u16 = 9;
/// Bytes of `xfrm_aevent_id`, and in it the address of the other end.
pub const AEVENT_ID: usize = 48;
const OTHER: usize = 24;
const FLAGS: usize = 40;
const REQID: usize = 44;
pub const NEWAE: u16 = 0x1e;

/// The answer to GETAE.
///
/// # Errors
/// ESRCH for an SA without keys.
pub fn told(plane: &Shard, state: &State, id: &[u8], sequence: u32) -> Result<Messages, Errno> {
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
        reply.attribute(REPLAY_ESN_VAL, &words(&state))
    } else {
        reply.attribute(REPLAY_VAL, &words(&[out_low, seen_low, u32::MAX]))
    };
    let current = super::current(plane, state);
    // `xfrm_lifetime_cur` is laid out as in the SA.
    Ok(reply.attribute(LIFETIME, &current[160..192]).done())
}
