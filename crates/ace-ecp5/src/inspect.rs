// SPDX-License-Identifier: Apache-2.0
//! A description of a bitstream file.

use serde::Serialize;

use crate::error::BitstreamError;
use crate::port::ConfigPort;
use crate::untold::untold;

/// What a bitstream says and what it makes of a blank device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// For example `LFE5U-45F`.
    pub device: &'static str,
    /// The device's IDCODE, in hexadecimal.
    pub idcode: String,
    /// Length of the bitstream in bytes.
    pub bytes: u64,
    /// At least one frame was compressed.
    pub compressed: bool,
    /// Frames that the bitstream writes.
    pub frames: usize,
    /// Frames that the device has.
    pub device_frames: usize,
    /// Bytes of one frame.
    pub frame_bytes: usize,
    /// Frames of which at least one bit is set.
    pub frames_used: usize,
    /// Bits that are set in all frames.
    pub bits_set: u64,
    /// Block RAMs with initial contents, by identity.
    pub ebr_blocks: Vec<u16>,
    /// In hexadecimal.
    pub usercode: String,
    /// Control register 0, in hexadecimal.
    pub control0: String,
    /// The clock mode for flash memories, in hexadecimal, if the bitstream sets it.
    pub spi_mode: Option<String>,
    /// Read-back is to be locked.
    pub security: bool,
    /// What it does beyond what the memory shows, and where.
    pub untold: Option<String>,
    /// The lines before the preamble.
    pub comment: Vec<String>,
    /// [`crate::ConfigMemory::digest`] of a blank device after this bitstream, in hexadecimal.
    pub memory_sha256: String,
}

/// Describes a whole bitstream for any known device.
///
/// # Errors
/// What a configuration port would refuse.
pub fn inspect(bytes: &[u8]) -> Result<Inspection, BitstreamError> {
    let mut port = ConfigPort::for_any_device();
    port.push(bytes)?;
    let memory = port.finish()?;
    let device = memory.device();
    let seen = port.seen();
    let ones = |frame: &[u8]| frame.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    Ok(Inspection {
        device: device.name,
        idcode: format!("{:08X}", device.idcode),
        bytes: port.bytes(),
        compressed: seen.compressed_frames > 0,
        frames: seen.frames,
        device_frames: device.frames,
        frame_bytes: device.frame_bytes(),
        frames_used: memory.frames().filter(|frame| ones(frame) > 0).count(),
        bits_set: memory.frames().map(ones).sum(),
        ebr_blocks: memory.ebr().map(|(id, _)| id).collect(),
        usercode: format!("{:08X}", memory.usercode()),
        control0: format!("{:08X}", memory.control0()),
        spi_mode: seen.spi_mode.map(|mode| format!("{mode:02X}")),
        security: seen.security,
        untold: untold(bytes, memory).map(|untold| untold.to_string()),
        comment: port
            .comment()
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect(),
        memory_sha256: hex::encode(memory.digest()),
    })
}
