// SPDX-License-Identifier: Apache-2.0
//! A packet's cipher and HMAC as one task over two tiles of a slot: the ciphertext goes to the hash and does not come back to
//! it over the host's link.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::board::Board;
use crate::frame::{self, BEAT, HEADER, KeySection};
use crate::pass::{self, Pass, Task};
use crate::slot::{Flight, HeldKey, Stage};
use crate::trace::{Picos, What};
use crate::worker::Request;

/// Byte of a header that says how many beats are passed on.
const PASSED_ON: usize = 7;

/// The pass that takes the result of another one in the slot.
pub struct Then {
    /// HMAC.
    pub pass: Pass,
    /// What it covers in front of the result.
    pub front: Vec<u8>,
    /// The key goes with the frame.
    pub fresh_key: bool,
    /// The context set in the other tile.
    pub set: Arc<str>,
}

/// The frame for a request whose result is `then`'s. The array's slot ([`crate::array::ArraySlot`]) takes the hash's key out.
pub fn frame(request: &Request, then: &Then) -> Zeroizing<Vec<u8>> {
    let section = |pass: &'_ Pass, fresh: bool| match pass.key() {
        Some(key) if fresh => Zeroizing::new(key.as_bytes().to_vec()),
        _ => Zeroizing::default(),
    };
    let text = request.task.data.len();
    let covered = Task { pass: then.pass.clone(), data: [&then.front[..], &vec![0; text]].concat() };
    let key = section(&then.pass, then.fresh_key);
    let key = if then.fresh_key { KeySection::Fresh(&key) } else { KeySection::Kept };
    let inner = frame::request(&covered, key, request.tag);
    let head = inner.len() - frame::padded(covered.data.len()) + then.front.len();
    let mut task = Task { data: [&inner[..head], &request.task.data].concat(), ..request.task.clone() };
    if let Pass::Cipher { mode: ace_engine::Mode::Cbc, iv, .. } = &mut task.pass {
        iv.clear();
    }
    let key = section(&task.pass, request.fresh_key);
    let key = if request.fresh_key { KeySection::Fresh(&key) } else { KeySection::Kept };
    let mut frame = frame::request(&task, key, request.tag);
    frame[PASSED_ON] = ((HEADER + then.front.len()) / BEAT) as u8;
    drop(Zeroizing::new(task.data));
    frame
}

impl Board {
    /// What may take the result of an operation's first pass in the slot, and in which place: the other tile has the set, and
    /// nothing else to do.
    pub(crate) fn follows(&self, slot: usize, op: u64) -> Option<(usize, Then)> {
        let limits = &self.config.slot;
        let pending = self.jobs.get(&op).filter(|pending| !pending.second)?;
        // Whoever decides between slots and a processor knows passes alone.
        if !limits.joint || (limits.tiles, limits.banks) != (2, 1) || self.coprocessor.is_some() {
            return None;
        }
        let operation = &pending.job.operation;
        let (pass, front) = pass::follows(&operation.action, &operation.buffer)?;
        let need = pass::needs(&operation.action).1?;
        let place = self.config.slot(slot).find(|place| *place != slot)?;
        let other = &self.slots[place];
        let set = &self.catalogue.configurations[other.configuration()?];
        let from = &self.slots[slot];
        let takes = set.serves(&need) && from.passes_to.contains(&set.name);
        if !takes || !other.flights.iter().all(|flight| flight.takes_result) {
            return None;
        }
        let key = HeldKey::of(&pass);
        let fresh_key = key.is_some() && key != from.other_key;
        Some((place, Then { pass, front, fresh_key, set: set.name.as_str().into() }))
    }

    /// The tile at `place` takes the result of an operation in `slot`. Bytes that the frame has more than that of the cipher
    /// alone.
    pub(crate) fn join_tiles(&mut self, slot: usize, place: usize, op: u64, task: &Task, then: &Then) -> u64 {
        if let Some(pending) = self.jobs.get_mut(&op) {
            pending.joint = Some(place);
        }
        let now = self.agenda.now;
        let other = &mut self.slots[place];
        let mut bytes = (HEADER + then.front.len()) as u64;
        if then.fresh_key {
            bytes += other.keys.expanded.unwrap_or(0);
            other.key = None;
        }
        other.flights.push_back(Flight {
            op,
            request: None,
            handover: 0,
            stage: Stage::Running,
            handed: now,
            waited: 0,
            expected: now,
            fresh_key: then.fresh_key,
            expanded: None,
            takes_result: true,
            joint: false,
        });
        self.slots[slot].other_key = HeldKey::of(&then.pass);
        match &task.pass {
            Pass::Cipher { mode: ace_engine::Mode::Cbc, iv, .. } => bytes - frame::padded(iv.len()) as u64,
            _ => bytes,
        }
    }

    /// What other tiles have brought to this one as a key is not there any more.
    pub(crate) fn forget_other_keys(&mut self, slot: usize) {
        let tiles: Vec<usize> = self.config.slot(slot).filter(|place| *place != slot).collect();
        tiles.into_iter().for_each(|place| self.slots[place].other_key = None);
    }

    /// The other tile has nothing to do with an operation any more; its place, and whether it got a key for it.
    pub(crate) fn part_tiles(&mut self, op: u64) -> Option<(usize, bool)> {
        let place = self.jobs.get(&op)?.joint?;
        let now = self.agenda.now;
        let other = &mut self.slots[place];
        other.last_used = now;
        let fresh_key = other.take(op).is_some_and(|flight| flight.fresh_key);
        Some((place, fresh_key))
    }

    /// The second pass of an operation ran in the other tile from `start` on, for so many clocks.
    pub(crate) fn log_joint(&mut self, place: usize, op: u64, start: Picos, cycles: u64, fresh_key: bool) {
        let (Some(configuration), Some(pending)) = (self.slots[place].configuration(), self.jobs.get(&op))
        else {
            return;
        };
        let operation = &pending.job.operation;
        let what = What::Execute {
            configuration,
            job: pending.job.id,
            flow: pending.job.flow,
            packet: pending.job.packet,
            operation: pass::needs(&operation.action).1.map_or(String::new(), |need| need.to_string()),
            data_bytes: pass::data_len(&operation.action, true) as u64,
            cycles,
            queued: start,
            fresh_key,
            error: None,
        };
        self.log(start, self.agenda.now, place, what);
    }
}
