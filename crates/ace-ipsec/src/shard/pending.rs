// SPDX-License-Identifier: Apache-2.0
//! Packets whose operation is under way.

use std::collections::VecDeque;

use ace_engine::{Action, Buffer, Job, JobId, Operation};

use crate::packet::envelope::Envelope;

/// What is to be done with a packet when its operation is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Everything is in its place but, for AH, headers and ICV.
    Seal,
    Open,
}

/// A packet whose buffer is with an engine.
#[derive(Clone, Copy, Debug)]
pub struct PendingPacket {
    pub token: u64,
    /// Among the packets of its SA.
    pub place: u64,
    pub sequence: u64,
    /// What its lifetime is charged with.
    pub bytes: usize,
    /// The headers in front of ESP or AH.
    pub envelope: Envelope,
    /// The place of its SA, which stays as long as the packet is under way.
    pub sa: u32,
    pub stage: Stage,
}

#[derive(Debug, Default)]
struct Entry {
    /// How often it was used, so that no completion is taken twice.
    generation: u32,
    packet: Option<PendingPacket>,
    /// Bytes to be put back. The memory stays with the entry.
    kept: Vec<u8>,
}

/// Entries are used again: a plane with so many packets under way allocates nothing.
#[derive(Debug, Default)]
pub struct PendingTable {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

impl PendingTable {
    /// `kept`, if there is anything, is swapped for memory to be used for the next packet.
    #[inline]
    pub fn insert(&mut self, packet: PendingPacket, kept: &mut Vec<u8>) -> JobId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            // 2^32 packets at once do not fit into memory.
            (self.entries.len() - 1) as u32
        });
        let Some(entry) = self.entries.get_mut(index as usize) else { return JobId::MAX };
        entry.packet = Some(packet);
        if !kept.is_empty() {
            std::mem::swap(&mut entry.kept, kept);
        }
        JobId::from(entry.generation) << 32 | JobId::from(index)
    }

    /// `None` if there is no such job, or its packet is complete already. `kept` gets what was kept.
    #[inline]
    pub fn remove(&mut self, id: JobId, kept: &mut Vec<u8>) -> Option<PendingPacket> {
        let (generation, index) = ((id >> 32) as u32, id as u32);
        let entry = self.entries.get_mut(index as usize).filter(|entry| entry.generation == generation)?;
        let packet = entry.packet?;
        entry.packet = None;
        kept.clear();
        if !entry.kept.is_empty() {
            std::mem::swap(&mut entry.kept, kept);
        }
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(index);
        Some(packet)
    }

    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

/// Packets that wait for an engine, and their jobs.
#[derive(Debug, Default)]
pub struct Pending {
    pub table: PendingTable,
    pub jobs: VecDeque<Job>,
    /// Of jobs, in the order in which packets came.
    serial: u64,
}

impl Pending {
    /// The buffer goes with its operation, and what was kept with the packet.
    // Inlined, the action is made in the queue: a copy of what was just written in parts waits for all of them.
    #[inline(always)]
    pub fn submit(&mut self, packet: PendingPacket, kept: &mut Vec<u8>, buffer: &mut Buffer, action: Action) {
        let id = self.table.insert(packet, kept);
        let operation = Operation { action, buffer: std::mem::take(buffer) };
        self.jobs.push_back(Job { id, flow: packet.sa, packet: self.serial, operation });
        self.serial += 1;
    }
}
