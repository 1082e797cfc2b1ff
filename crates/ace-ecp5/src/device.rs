// SPDX-License-Identifier: Apache-2.0
//! The table of devices: one row each, from the Project Trellis database.

use std::fmt;

/// The shape of a device's configuration memory.
#[derive(Debug)]
pub struct Device {
    /// As Lattice writes it, without speed and package.
    pub name: &'static str,
    /// The JTAG IDCODE that a bitstream must name.
    pub idcode: u32,
    /// Frames of configuration memory; the highest is sent first.
    pub frames: usize,
    /// Bits of one frame that mean something.
    pub frame_bits: usize,
    /// Bits of a frame, counted from the last one sent, at which rows of tiles begin that are two bits high instead of
    /// twelve. The lowest bit and the highest stand alone.
    pub narrow_rows: &'static [usize],
    /// LUTs of four inputs.
    pub lut4: u64,
    /// Embedded block RAMs of 18 kbit.
    pub ebr_blocks: usize,
    /// How the address of a single frame is written: the first column of every region of the device.
    /// `None` where nobody has documented it.
    pub(crate) regions: Option<&'static [usize]>,
}

/// Frames in one column of tiles.
pub const COLUMN_FRAMES: usize = 106;

/// Block RAM contents are addressed by a 9-bit identity, which the frames give to every block RAM.
pub const EBR_IDS: u16 = 512;

/// 24k LUTs.
pub static LFE5U_25F: Device = SMALL;
const SMALL: Device = Device {
    name: "LFE5U-25F",
    idcode: 0x4111_1043,
    frames: 7562,
    frame_bits: 592,
    narrow_rows: &[157],
    lut4: 24_288,
    ebr_blocks: 56,
    regions: None,
};
/// 44k LUTs; the device of a slot.
pub static LFE5U_45F: Device = MIDDLE;
const MIDDLE: Device = Device {
    name: "LFE5U-45F",
    idcode: 0x4111_2043,
    frames: 9470,
    frame_bits: 846,
    narrow_rows: &[265, 555],
    lut4: 43_848,
    ebr_blocks: 108,
    regions: Some(&[0, 12, 30, 49, 68]),
};
/// 84k LUTs.
pub static LFE5U_85F: Device = LARGE;
const LARGE: Device = Device {
    name: "LFE5U-85F",
    idcode: 0x4111_3043,
    frames: 13294,
    frame_bits: 1136,
    narrow_rows: &[121, 411, 701],
    lut4: 83_640,
    ebr_blocks: 208,
    regions: None,
};

/// A part that is made of another one's die: it differs in name and IDCODE.
macro_rules! same_die {
    ($($(#[$doc:meta])* $part:ident = $name:literal, $idcode:literal, $die:ident;)*) => {
        $($(#[$doc])*
        pub static $part: Device = Device { name: $name, idcode: $idcode, ..$die };)*
        /// Every device whose bitstreams a port takes.
        pub static DEVICES: &[&Device] = &[&LFE5U_25F, &LFE5U_45F, &LFE5U_85F, $(&$part),*];
    };
}

same_die! {
    /// Sold with 12k LUTs; the die has 24k, and tools use them.
    LFE5U_12F = "LFE5U-12F", 0x2111_1043, SMALL;
    /// With SERDES.
    LFE5UM_25F = "LFE5UM-25F", 0x0111_1043, SMALL;
    /// With SERDES.
    LFE5UM_45F = "LFE5UM-45F", 0x0111_2043, MIDDLE;
    /// With SERDES.
    LFE5UM_85F = "LFE5UM-85F", 0x0111_3043, LARGE;
    /// With SERDES of 5 Gbit/s.
    LFE5UM5G_25F = "LFE5UM5G-25F", 0x8111_1043, SMALL;
    /// With SERDES of 5 Gbit/s.
    LFE5UM5G_45F = "LFE5UM5G-45F", 0x8111_2043, MIDDLE;
    /// With SERDES of 5 Gbit/s.
    LFE5UM5G_85F = "LFE5UM5G-85F", 0x8111_3043, LARGE;
}

impl Device {
    /// By the full name, in any case, for example `LFE5U-45F`.
    pub fn by_name(name: &str) -> Option<&'static Device> {
        DEVICES.iter().copied().find(|d| d.name.eq_ignore_ascii_case(name))
    }

    /// By the JTAG IDCODE.
    pub fn by_idcode(idcode: u32) -> Option<&'static Device> {
        DEVICES.iter().copied().find(|d| d.idcode == idcode)
    }

    /// What an IDCODE is called.
    pub fn name_of(idcode: u32) -> &'static str {
        Self::by_idcode(idcode).map_or("an unknown device", |d| d.name)
    }

    /// The size of the die in thousands of LUTs, as Project Trellis writes it: `25`, `45` or `85`.
    pub const fn die(&self) -> &'static str {
        match self.frames {
            7562 => "25",
            9470 => "45",
            _ => "85",
        }
    }

    /// Bytes of one uncompressed frame in a bitstream, with the bits that fill its first byte.
    pub const fn frame_bytes(&self) -> usize {
        self.frame_bits.div_ceil(8)
    }

    /// What of a frame's first byte means something.
    pub(crate) const fn first_byte_mask(&self) -> u8 {
        0xff >> (self.frame_bytes() * 8 - self.frame_bits)
    }

    /// The place of an addressed frame in the order of transmission: 0 is sent first.
    pub fn position(&self, address: u32) -> Option<usize> {
        let regions = self.regions?;
        let address = usize::try_from(address).ok()?;
        let (region, column, frame) = (address >> 12, (address >> 7) & 0x1f, address & 0x7f);
        let start = *regions.get(region)?;
        let last = regions.get(region + 1).copied().unwrap_or(self.frames.div_ceil(COLUMN_FRAMES));
        let position = (start + column) * COLUMN_FRAMES + frame;
        (start + column < last && frame < COLUMN_FRAMES && position < self.frames).then_some(position)
    }

    /// The address of the frame at a place in the order of transmission; `None` where the address format
    /// is not known or the place is out of range.
    pub fn address(&self, position: usize) -> Option<u32> {
        let regions = self.regions?;
        let column = position / COLUMN_FRAMES;
        let region = regions.iter().rposition(|start| *start <= column)?;
        let address = (region << 12) | ((column - regions[region]) << 7) | (position % COLUMN_FRAMES);
        (position < self.frames).then_some(u32::try_from(address).ok()?)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.idcode == other.idcode
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_has_one_address() {
        for position in 0..LFE5U_45F.frames {
            let address = LFE5U_45F.address(position).expect("known for this device");
            assert_eq!(LFE5U_45F.position(address), Some(position));
        }
        let addressed = (0..0x1_0000).filter(|a| LFE5U_45F.position(*a).is_some()).count();
        assert_eq!(addressed, LFE5U_45F.frames);
        assert_eq!(LFE5U_45F.position(u32::MAX), None);
        assert_eq!(LFE5U_25F.position(0), None);
    }

    #[test]
    fn names_and_codes() {
        assert_eq!(Device::by_name("lfe5u-85f"), Some(&LFE5U_85F));
        assert_eq!(Device::by_name("LFE5U-85"), None);
        assert_eq!(Device::name_of(0x2111_1043), "LFE5U-12F");
        assert_eq!(Device::name_of(7), "an unknown device");
        assert_eq!((LFE5U_12F.die(), LFE5UM_45F.die(), LFE5UM5G_85F.die()), ("25", "45", "85"));
        for (number, device) in DEVICES.iter().enumerate() {
            assert_eq!(Device::by_idcode(device.idcode), Some(*device));
            assert!(DEVICES[..number].iter().all(|other| other.name != device.name));
        }
        assert_eq!((LFE5U_45F.frame_bytes(), LFE5U_45F.first_byte_mask()), (106, 0x3f));
        assert_eq!((LFE5U_25F.frame_bytes(), LFE5U_25F.first_byte_mask()), (74, 0xff));
    }
}
