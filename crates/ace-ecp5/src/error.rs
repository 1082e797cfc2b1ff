// SPDX-License-Identifier: Apache-2.0
//! Why a configuration port refuses a bitstream.

use thiserror::Error;

use crate::device::Device;

/// A refusal and where it happened.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("byte {offset} of the bitstream: {reason}")]
pub struct BitstreamError {
    /// Bytes before the one that was refused, or the length of a stream that ends too early.
    pub offset: u64,
    /// What was refused.
    pub reason: Reason,
}

/// What was refused; the messages explain each. Numbers are as in the stream, lengths in frames or bytes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Reason {
    /// The stream has no preamble `FFFFBDB3` where one has to be.
    #[error("no preamble FFFFBDB3: this is not an unencrypted ECP5 bitstream")]
    NoPreamble,
    /// The stream's IDCODE is that of another device than this port's.
    #[error("made for {} (IDCODE {found:08X}), but the device is {expected} ({:08X})", Device::name_of(*found), expected.idcode)]
    WrongDevice {
        /// The device that this port belongs to.
        expected: &'static Device,
        /// The IDCODE that the stream asks for.
        found: u32,
    },
    /// The stream's IDCODE belongs to no device in [`crate::device`], and the port was not told its device.
    #[error("made for {} (IDCODE {found:08X}), which this port does not know", Device::name_of(*found))]
    UnknownDevice {
        /// The IDCODE that the stream asks for.
        found: u32,
    },
    /// This command, by its opcode, comes before the stream has proven which device it was made for.
    #[error("command {0:02X} before the IDCODE check")]
    NoIdcode(u8),
    /// The CRC-16 that the stream stores is not the one of its bytes.
    #[error("CRC mismatch in {place}: {computed:04X} computed, {stored:04X} stored")]
    Crc {
        /// What the CRC covers.
        place: Place,
        /// The CRC of the bytes that came.
        computed: u16,
        /// The CRC that the stream stores.
        stored: u16,
    },
    /// The CRC is reset, or DONE comes, while bytes that reached the memory are covered by no CRC.
    #[error("no CRC covers what was written before")]
    Unverified,
    /// A write announces no frames, or more than there is room for behind the frame address.
    #[error("{count} frames announced, {room} fit")]
    FrameCount {
        /// Frames that the command announces.
        count: usize,
        /// Frames from the address to the end of the device, or 1 where the address is that of a single frame.
        room: usize,
    },
    /// A write of frames comes before any command that sets a frame address.
    #[error("no frame address was set")]
    NoAddress,
    /// The device has no frame of this address.
    #[error("frame address {address:08X} is outside of {device}")]
    FrameAddress {
        /// The address as the stream writes it.
        address: u32,
        /// The device that this port belongs to.
        device: &'static Device,
    },
    /// Nobody has documented how this device addresses single frames, so the port refuses the address.
    #[error("how {0} addresses single frames is not known")]
    AddressFormat(&'static Device),
    /// The address of block RAM data is beyond the last block or not at the beginning of a row.
    #[error("block RAM address {0:08X} is out of range or not at a row")]
    EbrAddress(u32),
    /// Block RAM data come before any command that sets their address.
    #[error("block RAM data without an address")]
    NoEbrAddress,
    /// Compressed frames come before the command that writes their dictionary.
    #[error("compressed frames without a dictionary")]
    NoDictionary,
    /// No command of ECP5 devices has this opcode.
    #[error("unknown command {0:02X}")]
    UnknownCommand(u8),
    /// The device knows this command, by opcode and by what it does, and this port does not carry it out.
    #[error("command {0:02X} ({1}) is not supported")]
    Unsupported(u8, &'static str),
    /// The 24 bits of information behind an opcode are reserved ones that are not 0, or ask for what the port does not
    /// carry out.
    #[error("command {command:02X} with information {info:06X}")]
    Information {
        /// The command's opcode.
        command: u8,
        /// The 24 bits behind it.
        info: u32,
    },
    /// A byte that has to be `FF`, behind frames or between commands, has this value.
    #[error("dummy byte {0:02X} is not FF")]
    Dummy(u8),
    /// This byte, not `FF`, follows the last command.
    #[error("byte {0:02X} behind the last command")]
    BehindDone(u8),
    /// The stream ends before it is complete.
    #[error("the bitstream ends {0}")]
    Truncated(Stage),
}

/// What a CRC covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By its number in the device: the highest is sent first.
    Frame(usize),
    /// By the identity of the block in which the data end.
    Ebr(u16),
    /// By its opcode.
    Command(u8),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Frame(frame) => write!(f, "frame {frame}"),
            Place::Ebr(id) => write!(f, "block RAM {id}"),
            Place::Command(command) => write!(f, "command {command:02X}"),
        }
    }
}

/// How far a bitstream came before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Inside a command or before DONE.
    Commands,
    /// Frames of the running write that are missing.
    Frames {
        /// Frames that were announced and did not come.
        missing: usize,
    },
    /// Rows of the running block RAM write that are missing.
    EbrRows {
        /// Rows that were announced and did not come.
        missing: usize,
    },
    /// DONE is there, dummy bytes for the start-up are missing.
    Startup {
        /// Dummy bytes that are missing; there have to be [`crate::STARTUP_BYTES`].
        missing: usize,
    },
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stage::Commands => f.write_str("before DONE"),
            Stage::Frames { missing } => write!(f, "with {missing} frames missing"),
            Stage::EbrRows { missing } => write!(f, "with {missing} rows of block RAM missing"),
            Stage::Startup { missing } => write!(f, "{missing} dummy bytes before the start-up is complete"),
        }
    }
}
