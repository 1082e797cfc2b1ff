// SPDX-License-Identifier: Apache-2.0
//! Domains: configurations of one algorithm on one device, what they share, and what switching between them takes.
//!
//! The paper's skeleton is the intersection of a domain's configurations, a sub-domain what one adds to it.

use ace_ecp5::{ConfigMemory, Emit};

use crate::codec::Tables;
use crate::file::{BLOCK_ENTRY_BYTES, RUN_BYTES};

/// What all configurations of a domain have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skeleton {
    /// Bits that are set in every one.
    pub bits_shared: u64,
    /// Bits that are set in at least one.
    pub bits_used: u64,
    /// Frames that are the same in every one.
    pub frames_shared: usize,
    /// Those of them that are not blank.
    pub frames_shared_used: usize,
}

/// What makes one configuration of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Numbers of the frames that differ.
    pub frames: Vec<usize>,
    /// Bits that differ.
    pub bits: u64,
    /// Block RAMs whose contents differ or that only one of them writes.
    pub blocks: usize,
    /// Bytes of the changed frames, compressed, with their runs, and of the list of changed block RAMs.
    pub stored_bytes: usize,
    /// Bytes of the partial bitstream of the changed frames. `None` if the device's frame addresses are not known.
    pub port_bytes: Option<usize>,
}

/// The intersection of images, all of one device. `None` if there are none or the devices differ.
pub fn skeleton(images: &[&ConfigMemory]) -> Option<Skeleton> {
    let (first, others) = images.split_first()?;
    if others.iter().any(|other| other.device() != first.device()) {
        return None;
    }
    let mut skeleton = Skeleton::default();
    for number in 0..first.device().frames {
        let frames: Vec<&[u8]> = images.iter().filter_map(|image| image.frame(number)).collect();
        for at in 0..first.device().frame_bytes() {
            let bytes = frames.iter().map(|frame| frame[at]);
            skeleton.bits_shared += u64::from(bytes.clone().fold(0xff, |all, b| all & b).count_ones());
            skeleton.bits_used += u64::from(bytes.fold(0, |all, b| all | b).count_ones());
        }
        if frames.windows(2).all(|two| two[0] == two[1]) {
            skeleton.frames_shared += 1;
            skeleton.frames_shared_used += usize::from(frames[0].iter().any(|byte| *byte != 0));
        }
    }
    Some(skeleton)
}

/// What has to be written over `from` to make it `to`; `None` if the devices differ.
pub fn delta(tables: &Tables, from: &ConfigMemory, to: &ConfigMemory) -> Option<Delta> {
    let device = to.device();
    if from.device() != device {
        return None;
    }
    let changed = |number: &usize| from.frame(*number) != to.frame(*number);
    // As they are sent: the highest first.
    let frames: Vec<usize> = (0..device.frames).rev().filter(changed).collect();
    let pairs = frames.iter().filter_map(|number| from.frame(*number).zip(to.frame(*number)));
    let bits = pairs.flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| u64::from((a ^ b).count_ones())).sum();
    let runs = frames.chunk_by(|a, b| *a == b + 1).count();
    let stream = tables.compress(
        device,
        frames.iter().filter_map(|number| Some((device.frames - 1 - number, to.frame(*number)?))),
    );
    let has = |image: &ConfigMemory, id: u16, bytes: &[u8]| image.ebr().any(|(i, b)| i == id && b == bytes);
    let new = to.ebr().filter(|(id, bytes)| !has(from, *id, bytes)).count();
    let gone = from.ebr().filter(|(id, _)| !to.ebr().any(|(i, _)| i == *id)).count();
    let blocks = new + gone;
    let port_bytes = Emit::default().frames(to, &frames).map(|bytes| bytes.len());
    let stored_bytes = stream.len() + runs * RUN_BYTES + blocks * BLOCK_ENTRY_BYTES;
    Some(Delta { frames, bits, blocks, stored_bytes, port_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Dictionary;
    use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};
    use ace_ecp5::memory::EBR_BYTES;

    #[test]
    fn one_changed_frame_is_one_frame() {
        let mut from = ConfigMemory::new(&LFE5U_45F);
        let frame = |byte: u8| [&[0; 50][..], &[byte; 56]].concat();
        for number in 100..200 {
            from.set_frame(number, &frame(0x55));
        }
        let mut to = from.clone();
        to.set_frame(150, &frame(0x54));
        to.set_frame(151, &frame(0x54));
        to.set_frame(7, &frame(1));
        to.set_ebr(3, &[1; EBR_BYTES]);
        let tables = Dictionary::train([&from, &to]).into();
        let delta = delta(&tables, &from, &to).expect("the same device");
        assert_eq!((&delta.frames[..], delta.bits, delta.blocks), (&[151, 150, 7][..], 168, 1));
        assert!(delta.stored_bytes < 300, "{delta:?}");
        assert!(delta.port_bytes.is_some_and(|bytes| (327..400).contains(&bytes)), "{delta:?}");
        // The partial bitstream does what it says.
        let bits = Emit::default().frames(&to, &delta.frames).expect("addresses are known");
        assert_eq!(Some(bits.len()), delta.port_bytes);

        let skeleton = skeleton(&[&from, &to]).expect("the same device");
        assert_eq!((skeleton.frames_shared, skeleton.frames_shared_used), (9467, 98));
        assert_eq!((skeleton.bits_shared, skeleton.bits_used), (98 * 56 * 4 + 2 * 56 * 3, 100 * 56 * 4 + 56));
        assert_eq!(super::delta(&tables, &from, &ConfigMemory::new(&LFE5U_25F)), None);
        assert_eq!(super::skeleton(&[&from, &ConfigMemory::new(&LFE5U_25F)]), None);
    }
}
