// SPDX-License-Identifier: Apache-2.0
//! Configurations stored as what they change of another one, their base.

use ace_ecp5::{ConfigMemory, Device};

use crate::codec::Tables;

/// A block RAM that is to be written: its identity and the number of its contents.
pub const BLOCK_ENTRY_BYTES: usize = 4;
/// Bytes of a run of frames in a library.
pub const RUN_BYTES: usize = 8;

/// Frames that follow one another in the order of transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Address of the first one, as the configuration port takes it.
    pub address: u32,
    /// How many there are; never 0.
    pub frames: u32,
}

/// What a base lacks.
pub(super) struct Delta {
    pub(super) frames: Frames,
    /// Identities of the block RAMs that differ.
    pub(super) blocks: Vec<u16>,
}

impl Delta {
    /// What makes `to` of `from`. `None` if a base cannot be made so: the devices differ, their frame addresses are
    /// not known, or the base writes a block RAM that `to` leaves alone.
    pub(super) fn of(tables: &Tables, from: &ConfigMemory, to: &ConfigMemory) -> Option<Self> {
        let kept = from.ebr().all(|(id, _)| to.ebr().any(|(other, _)| id == other));
        if from.device() != to.device() || !kept {
            return None;
        }
        let frames = Frames::of(tables, to, &changed(from, to))?;
        let same = |id: u16, bytes: &[u8]| from.ebr().any(|(i, b)| i == id && b == bytes);
        let blocks = to.ebr().filter(|(id, bytes)| !same(*id, bytes)).map(|(id, _)| id).collect();
        Some(Self { frames, blocks })
    }

    /// Bytes of it in a library, contents of block RAMs and texts not counted.
    pub(super) fn stored_bytes(&self) -> usize {
        self.frames.stored_bytes() + self.blocks.len() * BLOCK_ENTRY_BYTES
    }
}

/// Some frames of a configuration.
pub(super) struct Frames {
    pub(super) runs: Vec<Run>,
    /// The stream of the frames of all runs.
    pub(super) stream: Vec<u8>,
}

impl Frames {
    /// Those at these places in the order of transmission, which go upwards. `None` if they have no addresses.
    pub(super) fn of(tables: &Tables, memory: &ConfigMemory, positions: &[usize]) -> Option<Self> {
        let device = memory.device();
        let run =
            |run: &[usize]| Some(Run { address: device.address(*run.first()?)?, frames: run.len() as u32 });
        let runs = positions.chunk_by(|a, b| a + 1 == *b).map(run).collect::<Option<_>>()?;
        let frames = positions.iter().filter_map(|at| Some((*at, memory.frame(number(device, *at)?)?)));
        Some(Self { runs, stream: tables.compress(device, frames) })
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.stream.len() + self.runs.len() * RUN_BYTES
    }
}

/// The number of the frame at a place in the order of transmission.
pub(super) fn number(device: &Device, position: usize) -> Option<usize> {
    device.frames.checked_sub(position + 1)
}

/// The places in the order of transmission at which the frames of two configurations of one device differ.
pub(super) fn changed(from: &ConfigMemory, to: &ConfigMemory) -> Vec<usize> {
    let pairs = from.frames().zip(to.frames()).enumerate();
    pairs.filter(|(_, (old, new))| old != new).map(|(position, _)| position).collect()
}

/// The places of the frames of some runs in the order of transmission. `None` if one of them is nowhere or they do not
/// go upwards.
pub(super) fn positions(device: &Device, runs: &[Run]) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for run in runs {
        let first = device.position(run.address)?;
        let end = first.checked_add(run.frames as usize).filter(|end| *end <= device.frames)?;
        if run.frames == 0 || all.last().is_some_and(|last| first <= *last) {
            return None;
        }
        all.extend(first..end);
    }
    Some(all)
}
