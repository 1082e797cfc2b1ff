// SPDX-License-Identifier: Apache-2.0
//! Configurations stored as what they change of another one, their base.

use ace_ecp5::{ConfigMemory, Device};

use crate::codec::{BLOCK_ENTRY_BYTES, Dictionary, compress};

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
pub(crate) struct Delta {
    pub(crate) runs: Vec<Run>,
    /// The stream of the frames of all runs.
    pub(crate) frames: Vec<u8>,
    /// Identities of the block RAMs that differ.
    pub(crate) blocks: Vec<u16>,
}

impl Delta {
    /// What makes `to` of `from`. `None` if a base cannot be made so: the devices differ, their frame addresses are
    /// not known, or the base writes a block RAM that `to` leaves alone.
    pub(crate) fn of(dictionary: &Dictionary, from: &ConfigMemory, to: &ConfigMemory) -> Option<Self> {
        let device = to.device();
        let kept = from.ebr().all(|(id, _)| to.ebr().any(|(other, _)| id == other));
        if from.device() != device || !kept {
            return None;
        }
        let changed: Vec<(usize, &[u8])> = from
            .frames()
            .zip(to.frames())
            .enumerate()
            .filter(|(_, (old, new))| old != new)
            .map(|(position, (_, new))| (position, new))
            .collect();
        let run = |run: &[(usize, &[u8])]| {
            Some(Run { address: device.address(run.first()?.0)?, frames: run.len() as u32 })
        };
        let runs = changed.chunk_by(|a, b| a.0 + 1 == b.0).map(run).collect::<Option<_>>()?;
        let frames = compress(dictionary, device, changed.iter().map(|(_, frame)| *frame));
        let same = |id: u16, bytes: &[u8]| from.ebr().any(|(i, b)| i == id && b == bytes);
        let blocks = to.ebr().filter(|(id, bytes)| !same(*id, bytes)).map(|(id, _)| id).collect();
        Some(Self { runs, frames, blocks })
    }

    /// Bytes of it in a library, contents of block RAMs and texts not counted.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.frames.len() + self.runs.len() * RUN_BYTES + self.blocks.len() * BLOCK_ENTRY_BYTES
    }
}

/// The places of the frames of some runs in the order of transmission. `None` if one of them is nowhere or they do not
/// go upwards.
pub(crate) fn positions(device: &Device, runs: &[Run]) -> Option<Vec<usize>> {
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
