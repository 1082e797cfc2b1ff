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
    #[error("no preamble FFFFBDB3: this is not an unencrypted ECP5 bitstream")]
    NoPreamble,
    #[error("made for {} (IDCODE {found:08X}), but the device is {expected} ({:08X})", Device::name_of(*found), expected.idcode)]
    WrongDevice { expected: &'static Device, found: u32 },
    #[error("made for {} (IDCODE {found:08X}), which this port does not know", Device::name_of(*found))]
    UnknownDevice { found: u32 },
    #[error("command {0:02X} before the IDCODE check")]
    NoIdcode(u8),
    #[error("CRC mismatch in {place}: {computed:04X} computed, {stored:04X} stored")]
    Crc { place: Place, computed: u16, stored: u16 },
    #[error("no CRC covers what was written before")]
    Unverified,
    #[error("{count} frames announced, {room} fit")]
    FrameCount { count: usize, room: usize },
    #[error("no frame address was set")]
    NoAddress,
    #[error("frame address {address:08X} is outside of {device}")]
    FrameAddress { address: u32, device: &'static Device },
    #[error("how {0} addresses single frames is not known")]
    AddressFormat(&'static Device),
    #[error("block RAM address {0:08X} is out of range or not at a row")]
    EbrAddress(u32),
    #[error("block RAM data without an address")]
    NoEbrAddress,
    #[error("compressed frames without a dictionary")]
    NoDictionary,
    #[error("unknown command {0:02X}")]
    UnknownCommand(u8),
    #[error("command {0:02X} ({1}) is not supported")]
    Unsupported(u8, &'static str),
    #[error("command {command:02X} with information {info:06X}")]
    Information { command: u8, info: u32 },
    #[error("dummy byte {0:02X} is not FF")]
    Dummy(u8),
    #[error("byte {0:02X} behind the last command")]
    BehindDone(u8),
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
    Frames { missing: usize },
    /// Rows of the running block RAM write that are missing.
    EbrRows { missing: usize },
    /// DONE is there, dummy bytes for the start-up are missing.
    Startup { missing: usize },
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
