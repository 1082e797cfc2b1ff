// SPDX-License-Identifier: Apache-2.0
//! Request and response frames at the slot boundary: `rtl/slot/slot_pkg.sv` and `docs/slot.md` in Rust.

use std::fmt;

use ace_engine::{Direction, Mode};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::pass::{Pass, Task};

/// Bytes of a beat.
pub const BEAT: usize = 8;
/// Bytes of a request header.
pub const HEADER: usize = 16;
/// The longest HMAC key that a frame carries as it is; longer ones are hashed first.
pub const HMAC_KEY_MAX: usize = 64;

/// Byte 1 of a request.
pub mod op {
    pub const ECB: u8 = 0x11;
    pub const CBC: u8 = 0x12;
    pub const CTR: u8 = 0x13;
    pub const CFB: u8 = 0x14;
    pub const CFB8: u8 = 0x15;
    pub const OFB: u8 = 0x16;
    pub const HASH: u8 = 0x21;
    pub const HMAC_STATES: u8 = 0x31;
    pub const HMAC_KEY: u8 = 0x32;
    pub const AEAD: u8 = 0x41;
}

/// Byte 2 of a request.
pub mod flag {
    pub const DECRYPT: u8 = 1 << 0;
    pub const FRESH_KEY: u8 = 1 << 1;
    pub const WIPE: u8 = 1 << 2;
    pub const RESUME: u8 = 1 << 3;
    pub const PARTIAL: u8 = 1 << 4;
}

/// Why a frame has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    Ok = 0,
    UnknownAlgorithm = 1,
    UnknownOperation = 2,
    BadKeyLength = 3,
    MissingKey = 4,
    BadIvLength = 5,
    BadLength = 6,
    FrameShort = 7,
    FrameLong = 8,
    Reserved = 9,
    /// Of the array alone, as the next two: a context set contradicts itself.
    BadSet = 10,
    /// A context set was compiled for another array.
    OtherArray = 11,
    BadCrc = 12,
}

impl Status {
    const ALL: [Status; 13] = [
        Status::Ok,
        Status::UnknownAlgorithm,
        Status::UnknownOperation,
        Status::BadKeyLength,
        Status::MissingKey,
        Status::BadIvLength,
        Status::BadLength,
        Status::FrameShort,
        Status::FrameLong,
        Status::Reserved,
        Status::BadSet,
        Status::OtherArray,
        Status::BadCrc,
    ];

    /// By its code in a response.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Ok => "ok",
            Status::UnknownAlgorithm => "unknown algorithm",
            Status::UnknownOperation => "unknown operation",
            Status::BadKeyLength => "bad key length",
            Status::MissingKey => "missing key",
            Status::BadIvLength => "bad IV length",
            Status::BadLength => "bad length",
            Status::FrameShort => "frame too short",
            Status::FrameLong => "frame too long",
            Status::Reserved => "reserved field not zero",
            Status::BadSet => "context set damaged or of another format",
            Status::OtherArray => "context set for another array",
            Status::BadCrc => "context set's CRC is wrong",
        })
    }
}

/// The first 16 bytes of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub algorithm: u8,
    pub op: u8,
    pub flags: u8,
    pub key_len: u8,
    pub tag: u16,
    pub iv_len: u8,
    pub result_len: u8,
    pub payload_len: u32,
    pub aad_len: u16,
    pub reserved: u16,
}

impl Header {
    pub fn to_bytes(self) -> [u8; HEADER] {
        let mut b = [0; HEADER];
        (b[0], b[1], b[2], b[3]) = (self.algorithm, self.op, self.flags, self.key_len);
        b[4..6].copy_from_slice(&self.tag.to_le_bytes());
        (b[6], b[7]) = (self.iv_len, self.result_len);
        b[8..12].copy_from_slice(&self.payload_len.to_le_bytes());
        b[12..14].copy_from_slice(&self.aad_len.to_le_bytes());
        b[14..16].copy_from_slice(&self.reserved.to_le_bytes());
        b
    }

    /// From the first 16 bytes of a frame; `None` if there are fewer.
    pub fn from_bytes(frame: &[u8]) -> Option<Self> {
        let b = frame.first_chunk::<HEADER>()?;
        Some(Self {
            algorithm: b[0],
            op: b[1],
            flags: b[2],
            key_len: b[3],
            tag: u16::from_le_bytes([b[4], b[5]]),
            iv_len: b[6],
            result_len: b[7],
            payload_len: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            aad_len: u16::from_le_bytes([b[12], b[13]]),
            reserved: u16::from_le_bytes([b[14], b[15]]),
        })
    }
}

/// `len` rounded up to whole beats.
pub const fn padded(len: usize) -> usize {
    len.next_multiple_of(BEAT)
}

/// A frame of header and sections, each padded to whole beats. The lengths in `header` are taken as they are.
pub fn assemble(header: Header, sections: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let len = HEADER + sections.iter().map(|s| padded(s.len())).sum::<usize>();
    let mut frame = Zeroizing::new(Vec::with_capacity(len));
    frame.extend_from_slice(&header.to_bytes());
    for section in sections {
        frame.extend_from_slice(section);
        let padding = padded(section.len()) - section.len();
        frame.extend_from_slice(&[0; BEAT][..padding]);
    }
    frame
}

/// What a request carries as its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySection<'a> {
    /// The slot still has it.
    Kept,
    Fresh(&'a [u8]),
}

/// The frame for a legal task ([`Task::operation`]), with at most `u32::MAX` bytes of data. For HMAC a
/// fresh key is at most [`HMAC_KEY_MAX`] bytes: the key itself or its digest.
pub fn request(task: &Task, key: KeySection<'_>, tag: u16) -> Zeroizing<Vec<u8>> {
    let mut header = Header { tag, payload_len: low(task.data.len()), ..Header::default() };
    let mut iv: &[u8] = &[];
    let key: &[u8] = match key {
        KeySection::Kept => &[],
        // HMAC pads keys with zeros, so an empty key is a key of one zero byte.
        KeySection::Fresh([]) => &[0],
        KeySection::Fresh(key) => key,
    };
    match &task.pass {
        Pass::Cipher { algorithm, mode, direction, iv: bytes, .. } => {
            header.algorithm = algorithm.code;
            header.op = match mode {
                Mode::Ecb => op::ECB,
                Mode::Cbc => op::CBC,
                Mode::Ctr => op::CTR,
                Mode::Cfb => op::CFB,
                Mode::Cfb8 => op::CFB8,
                Mode::Ofb => op::OFB,
            };
            if *direction == Direction::Decrypt && mode.has_direction() {
                header.flags |= flag::DECRYPT;
            }
            iv = bytes;
        }
        Pass::Hash { algorithm } => {
            header.algorithm = algorithm.code;
            header.op = op::HASH;
            header.result_len = low(result_len(task));
            return assemble(header, &[&task.data]);
        }
        Pass::Hmac { algorithm, .. } => {
            header.algorithm = algorithm.code;
            header.op = op::HMAC_KEY;
            header.result_len = low(result_len(task));
        }
    }
    if !key.is_empty() {
        header.flags |= flag::FRESH_KEY;
        header.key_len = low(key.len());
    }
    header.iv_len = low(iv.len());
    assemble(header, &[key, iv, &task.data])
}

/// Bytes that the result of a task has.
pub fn result_len(task: &Task) -> usize {
    task.pass.result_len(task.data.len())
}

/// Narrows a length that was checked before; what does not fit becomes the largest value, which no slot accepts.
fn low<T: TryFrom<usize> + Bounded>(len: usize) -> T {
    T::try_from(len).unwrap_or(T::LARGEST)
}

trait Bounded {
    const LARGEST: Self;
}

impl Bounded for u8 {
    const LARGEST: u8 = u8::MAX;
}

impl Bounded for u32 {
    const LARGEST: u32 = u32::MAX;
}

/// A response that is well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    pub tag: u16,
    pub status: Status,
    /// Empty unless the status is Ok.
    pub result: &'a [u8],
}

/// A response that breaks the rules of the boundary.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResponseError {
    #[error("a response of {0} bytes is not whole beats")]
    Beats(usize),
    #[error("unknown status {0}")]
    Status(u8),
    #[error("the reserved byte of the response is {0:#04x}")]
    Reserved(u8),
    #[error("{announced} bytes of result announced, {beats} bytes of beats sent")]
    Length { announced: usize, beats: usize },
    #[error("the padding of the result is not zero")]
    Padding,
}

/// Takes a response apart.
pub fn response(bytes: &[u8]) -> Result<Response<'_>, ResponseError> {
    let (beats, trailer) = match bytes.split_last_chunk::<BEAT>() {
        Some(split) if bytes.len().is_multiple_of(BEAT) => split,
        _ => return Err(ResponseError::Beats(bytes.len())),
    };
    let announced = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]) as usize;
    let tag = u16::from_le_bytes([trailer[4], trailer[5]]);
    let status = Status::from_code(trailer[6]).ok_or(ResponseError::Status(trailer[6]))?;
    if trailer[7] != 0 {
        return Err(ResponseError::Reserved(trailer[7]));
    }
    let length = ResponseError::Length { announced, beats: beats.len() };
    if status != Status::Ok {
        // Nothing before such a status may be used.
        return if announced == 0 { Ok(Response { tag, status, result: &[] }) } else { Err(length) };
    }
    if announced > beats.len() || padded(announced) != beats.len() {
        return Err(length);
    }
    let (result, padding) = beats.split_at(announced);
    if padding.iter().any(|b| *b != 0) {
        return Err(ResponseError::Padding);
    }
    Ok(Response { tag, status, result })
}
