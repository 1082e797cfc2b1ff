// SPDX-License-Identifier: Apache-2.0
//! Which frames of a whole configuration are in its stream.

use ace_ecp5::{ConfigMemory, Device};

use crate::codec::Tables;

/// Runs of frames in the order of transmission: the place of the first one, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used(Vec<(usize, usize)>);

impl Used {
    /// The frames that are not blank. Of a device whose frame addresses are not known all, as the port can be given no
    /// others.
    pub(crate) fn of(memory: &ConfigMemory) -> Self {
        if memory.device().address(0).is_none() {
            return Self::all(memory.device());
        }
        let frames = memory.frames().enumerate();
        let used = frames.filter(|(_, frame)| frame.iter().any(|byte| *byte != 0)).map(|(at, _)| at);
        let used: Vec<usize> = used.collect();
        Self(used.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run.len())).collect())
    }

    /// The stream of these frames.
    pub(crate) fn stream(&self, tables: &Tables, memory: &ConfigMemory) -> Vec<u8> {
        let all: Vec<&[u8]> = memory.frames().collect();
        tables.compress(memory.device(), self.positions().into_iter().map(|at| (at, all[at])))
    }

    pub(crate) fn all(device: &Device) -> Self {
        Self(vec![(0, device.frames)])
    }

    pub(crate) fn is_all(&self, device: &Device) -> bool {
        self.0 == [(0, device.frames)]
    }

    pub(crate) fn runs(&self) -> &[(usize, usize)] {
        &self.0
    }

    /// The places of the frames, which go upwards.
    pub(crate) fn positions(&self) -> Vec<usize> {
        self.0.iter().flat_map(|(first, count)| *first..first + count).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// As a file holds them: how many runs there are, and of each how many frames lie between it and the one before,
    /// less one but for the first, and how many it has, less one. Each number is seven bits a byte, the lowest first;
    /// bit 7 says that more follow.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.0.len());
        let mut next = 0;
        for (first, count) in &self.0 {
            put(&mut out, first - next);
            put(&mut out, count - 1);
            next = first + count + 1;
        }
        out
    }

    /// From the front of what a file holds, with what follows. `None` if it is nothing that [`Used::to_bytes`] writes of
    /// what [`Used::of`] finds on this device.
    pub(crate) fn split<'a>(device: &Device, mut bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut runs = Vec::new();
        let mut next = 0;
        for _ in 0..take(&mut bytes)? {
            let first = next + take(&mut bytes)?;
            let count = take(&mut bytes)? + 1;
            if first + count > device.frames {
                return None;
            }
            runs.push((first, count));
            next = first + count + 1;
        }
        let used = Self(runs);
        let loadable = device.address(0).is_some() || used.is_all(device);
        loadable.then_some((used, bytes))
    }
}

fn put(out: &mut Vec<u8>, mut number: usize) {
    while number >> 7 != 0 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A number of at most three bytes, and no more of them than it needs.
fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for place in 0..3 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return (place == 0 || *byte != 0).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};

    #[test]
    fn runs_come_back_and_nothing_else_is_taken() {
        let mut memory = ConfigMemory::new(&LFE5U_45F);
        for number in [0, 1, 2, 4, 500, 9469] {
            memory.set_frame(number, &[1; 106]);
        }
        let used = Used::of(&memory);
        assert_eq!(used.runs(), [(0, 1), (8969, 1), (9465, 1), (9467, 3)]);
        assert_eq!((used.count(), used.positions().len(), used.is_all(&LFE5U_45F)), (6, 6, false));
        let mut bytes = used.to_bytes();
        assert_eq!(bytes.len(), 1 + 2 + 3 + 3 + 2);
        bytes.push(9);
        assert_eq!(Used::split(&LFE5U_45F, &bytes), Some((used, &[9][..])));
        // Cut short; one frame further than there are; a number that is longer than it has to be; a number without end.
        assert_eq!(Used::split(&LFE5U_45F, &bytes[..10]), None);
        bytes[10] += 1;
        assert_eq!(Used::split(&LFE5U_45F, &bytes), None);
        assert_eq!(Used::split(&LFE5U_45F, &[0x81, 0x00, 0, 0]), None);
        assert_eq!(Used::split(&LFE5U_45F, &[0xff; 9]), None);
        let none = Used::of(&ConfigMemory::new(&LFE5U_45F));
        assert_eq!((none.count(), none.to_bytes()), (0, vec![0]));
        let all = Used::of(&ConfigMemory::new(&LFE5U_25F));
        assert!(all.is_all(&LFE5U_25F) && all.count() == 7562);
    }
}
