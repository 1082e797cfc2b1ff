// SPDX-License-Identifier: Apache-2.0
//! What is told of SAs and policies: made of how they stand, and of what was kept of requests, never of their bytes as they
//! came. Layouts of `linux/xfrm.h`.

use std::net::SocketAddr;

use ace_ipsec::{Cause, Direction, Flow, Shard};
use nix::libc::{EINVAL, ESRCH};

use super::database::{Installed, Policy, State};
use super::kind;
use super::shapes::{self, Errno, SaKey, attr};
use super::spec::Replay;
use super::wire::{Messages, Reply, put};

/// Bytes of `xfrm_aevent_id`, and in it the address of the other end.
pub const AEVENT_ID: usize = 48;
const OTHER: usize = 24;
const FLAGS: usize = 40;
const REQID: usize = 44;
/// XFRM_AE_RVAL and XFRM_AE_LVAL: what is in every answer.
const VALUES: u32 = 2 | 4;
/// XFRM_AE_CR, an update: why a notice comes.
pub const UPDATED: u32 = 16;

/// Bitmap of Linux's shorter form.
const SHORT: u32 = 32;

/// An SA with what it carried.
pub fn current(plane: &Shard, state: &State) -> [u8; shapes::USERSA] {
    let mut info = state.info;
    let (mut bytes, mut packets) = state.before;
    let status = state.installed.as_ref().and_then(|installed| plane.sa(installed.id));
    if let Some(status) = &status {
        bytes = bytes.saturating_add(status.counters.forwarded.bytes);
        packets = packets.saturating_add(status.counters.forwarded.packets);
    }
    put(&mut info, 160, &bytes.to_ne_bytes());
    put(&mut info, 168, &packets.to_ne_bytes());
    put(&mut info, 176, &state.added.to_ne_bytes());
    // What was dropped, by the three causes that Linux counts.
    let dropped = |causes: &[Cause]| {
        let dropped = status
            .as_ref()
            .map_or(0, |status| causes.iter().map(|cause| status.counters.dropped.get(*cause)).sum());
        u32::try_from(dropped).unwrap_or(u32::MAX).to_ne_bytes()
    };
    put(&mut info, 192, &dropped(&[Cause::TooOld]));
    put(&mut info, 196, &dropped(&[Cause::Replayed]));
    put(&mut info, 200, &dropped(&[Cause::IcvMismatch]));
    info
}

/// An SA, with its keys.
pub fn sa(plane: &Shard, state: &State, kind: u16, flags: u16, sequence: u32) -> Messages {
    let mut reply = Reply::new(kind, flags, sequence, &current(plane, state))
        .attributes(state.extras.retained.as_bytes());
    if state.extras.flags != 0 {
        reply = reply.attribute(attr::SA_EXTRA_FLAGS, &state.extras.flags.to_ne_bytes());
    }
    if state.extras.tfc_padding != 0 {
        reply = reply.attribute(attr::TFCPAD, &state.extras.tfc_padding.to_ne_bytes());
    }
    if state.extras.mark != (0, 0) {
        let (mark, mask) = state.extras.mark;
        reply = reply.attribute(attr::SET_MARK, &mark.to_ne_bytes());
        reply = reply.attribute(attr::SET_MARK_MASK, &mask.to_ne_bytes());
    }
    reply = with_interface(reply, state.extras.if_id);
    if let Some(installed) = &state.installed {
        reply = numbers(plane, state, installed, reply);
    }
    reply.done()
}

/// And the device inside that it is of, if that has a number.
fn with_interface(reply: Reply, if_id: u32) -> Reply {
    if if_id == 0 { reply } else { reply.attribute(attr::IF_ID, &if_id.to_ne_bytes()) }
}

/// The state of an SA's numbers, in the form in which it was given.
fn numbers(plane: &Shard, state: &State, installed: &Installed, reply: Reply) -> Reply {
    let used = plane.sa(installed.id).map_or(0, |status| status.sequence);
    let (out, seen) = match installed.direction {
        Direction::Out => (used, 0),
        Direction::In => (0, used),
    };
    let [out_low, seen_low] = [out, seen].map(|number: u64| number as u32);
    let [out_high, seen_high] = [out, seen].map(|number| (number >> 32) as u32);
    let received = |number: u64| number != 0 && plane.was_received(installed.id, number);
    let words = |all: &[u32]| all.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    match state.extras.replay {
        Replay::Long { words: count, window } => {
            let mut all = vec![count, out_low, seen_low, out_high, seen_high, window];
            let mut bitmap = vec![0; count as usize];
            // A ring: bit n modulo the window, from 0, is number n + 1.
            for number in seen.saturating_sub(u64::from(window)).saturating_add(1)..=seen {
                let bit = ((number - 1) % u64::from(window.max(1))) as usize;
                if let Some(word) = bitmap.get_mut(bit / 32) {
                    *word |= u32::from(received(number)) << (bit % 32);
                }
            }
            all.append(&mut bitmap);
            reply.attribute(attr::REPLAY_ESN_VAL, &words(&all))
        }
        Replay::Short => {
            // Bit n is the number n below the highest.
            let bit = |n: u32| u32::from(seen.checked_sub(n.into()).is_some_and(received)) << n;
            let bitmap = (0..SHORT).map(bit).fold(0, |all, bit| all | bit);
            reply.attribute(attr::REPLAY_VAL, &words(&[out_low, seen_low, bitmap]))
        }
    }
}

/// How far an SA has come: the answer to GETAE, and what is told of a NEWAE.
///
/// # Errors
/// ESRCH for an SA without keys.
pub fn event(plane: &Shard, key: SaKey, state: &State, why: u32, sequence: u32) -> Result<Messages, Errno> {
    let installed = state.installed.as_ref().ok_or(ESRCH)?;
    let mut body = [0; AEVENT_ID];
    put(&mut body, 0, &shapes::usersa_id(key));
    shapes::put_address(&mut body, OTHER, shapes::sa_source(&state.info).map_err(|_| EINVAL)?);
    put(&mut body, FLAGS, &(VALUES | why).to_ne_bytes());
    put(&mut body, REQID, &shapes::sa_reqid(&state.info).to_ne_bytes());
    let reply = numbers(plane, state, installed, Reply::new(kind::NEWAE, 0, sequence, &body));
    // `xfrm_lifetime_cur` is laid out as in the SA.
    let reply = reply.attribute(attr::LTIME_VAL, &current(plane, state)[160..192]);
    Ok(with_interface(reply, state.extras.if_id).done())
}

/// An SA that is gone.
pub fn sa_gone(plane: &Shard, key: SaKey, state: &State) -> Messages {
    let reply = Reply::new(kind::DELSA, 0, 0, &shapes::usersa_id(key));
    with_interface(reply.attribute(attr::SA, &current(plane, state)), state.extras.if_id).done()
}

/// An SA that is near its end or at it.
pub fn expire(plane: &Shard, state: &State, hard: bool) -> Messages {
    let mut body = current(plane, state).to_vec();
    body.extend_from_slice(&[u8::from(hard), 0, 0, 0, 0, 0, 0, 0]);
    with_interface(Reply::new(kind::EXPIRE, 0, 0, &body), state.extras.if_id).done()
}

pub fn policy(policy: &Policy, kind: u16, flags: u16, sequence: u32) -> Messages {
    with_template(Reply::new(kind, flags, sequence, &policy.info), policy).done()
}

/// And of which type it is, the main one, and of which device.
fn with_template(reply: Reply, policy: &Policy) -> Reply {
    let reply =
        if policy.template.is_empty() { reply } else { reply.attribute(attr::TMPL, &policy.template) };
    with_interface(reply.attribute(attr::POLICY_TYPE, &[0; 6]), policy.if_id)
}

/// A policy that is gone.
pub fn policy_gone(policy: &Policy) -> Messages {
    let mut id = [0; shapes::POLICY_ID];
    put(&mut id, 0, &policy.info[..shapes::SELECTOR]);
    put(&mut id, 56, &policy.info[156..161]);
    let reply = Reply::new(kind::DELPOLICY, 0, 0, &id).attribute(attr::POLICY, &policy.info);
    with_interface(reply, policy.if_id).done()
}

/// A packet needs an SA: `xfrm_user_acquire`, with its template.
pub fn acquire(policy: &Policy, flow: &Flow, sequence: u32) -> Option<Messages> {
    let template = &policy.template;
    let mut body = vec![0; 24 + 16 + shapes::SELECTOR];
    // The ends of the SA that is wanted, as the template names them, and which protocol it is of.
    put(&mut body, 0, template.get(..16)?);
    put(&mut body, 20, template.get(20..21)?);
    put(&mut body, 24, template.get(28..44)?);
    put(&mut body, 40, &shapes::selector_of(flow));
    body.extend_from_slice(&policy.info);
    // Any algorithms.
    body.extend_from_slice(&[0xff; 12]);
    body.extend_from_slice(&sequence.to_ne_bytes());
    Some(with_template(Reply::new(kind::ACQUIRE, 0, 0, &body), policy).done())
}

/// A peer's UDP endpoint is another one: `xfrm_user_mapping`.
pub fn mapping(key: SaKey, state: &State, old: SocketAddr, new: SocketAddr) -> Messages {
    let mut body = [0; 64];
    put(&mut body, 0, &shapes::usersa_id(key));
    put(&mut body, 24, &shapes::sa_reqid(&state.info).to_ne_bytes());
    shapes::put_address(&mut body, 28, old.ip());
    shapes::put_address(&mut body, 44, new.ip());
    put(&mut body, 60, &old.port().to_be_bytes());
    put(&mut body, 62, &new.port().to_be_bytes());
    Reply::new(kind::MAPPING, 0, 0, &body).done()
}
