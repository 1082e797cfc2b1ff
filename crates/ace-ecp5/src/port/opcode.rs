// SPDX-License-Identifier: Apache-2.0
//! The commands of a bitstream, as Project Trellis names them.

pub(crate) const WRITE_DICTIONARY: u8 = 0x02;
pub(crate) const PROGRAM_CONTROL0: u8 = 0x22;
pub(crate) const RESET_CRC: u8 = 0x3b;
pub(crate) const INIT_ADDRESS: u8 = 0x46;
pub(crate) const PROGRAM_DONE: u8 = 0x5e;
pub(crate) const SPI_MODE: u8 = 0x79;
pub(crate) const JUMP: u8 = 0x7e;
pub(crate) const PROGRAM_FRAMES: u8 = 0x82;
pub(crate) const PROGRAM_SED_CRC: u8 = 0xa2;
pub(crate) const WRITE_EBR: u8 = 0xb2;
pub(crate) const WRITE_ADDRESS: u8 = 0xb4;
pub(crate) const PROGRAM_COMPRESSED: u8 = 0xb8;
pub(crate) const PROGRAM_USERCODE: u8 = 0xc2;
pub(crate) const PROGRAM_SECURITY: u8 = 0xce;
pub(crate) const VERIFY_ID: u8 = 0xe2;
pub(crate) const EBR_ADDRESS: u8 = 0xf6;
pub(crate) const DUMMY: u8 = 0xff;

/// Every command, and what it does, for people.
pub(crate) const NAMES: [(u8, &str); 17] = [
    (WRITE_DICTIONARY, "the dictionary of compressed frames"),
    (PROGRAM_CONTROL0, "control register 0"),
    (RESET_CRC, "a new CRC"),
    (INIT_ADDRESS, "the address of the first frame"),
    (PROGRAM_DONE, "the end"),
    (SPI_MODE, "how a flash memory is read"),
    (JUMP, "a jump to another bitstream"),
    (PROGRAM_FRAMES, "frames"),
    (PROGRAM_SED_CRC, "the CRC of soft error detection"),
    (WRITE_EBR, "contents of block RAM"),
    (WRITE_ADDRESS, "the address of a frame"),
    (PROGRAM_COMPRESSED, "compressed frames"),
    (PROGRAM_USERCODE, "USERCODE"),
    (PROGRAM_SECURITY, "the security bit"),
    (VERIFY_ID, "the IDCODE"),
    (EBR_ADDRESS, "the address of block RAM"),
    (DUMMY, "padding"),
];
