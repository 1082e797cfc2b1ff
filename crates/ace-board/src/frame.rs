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

/// Bytes of an AEAD's nonce.
pub const AEAD_NONCE: usize = 12;
/// Bytes that an AEAD's tag may have.
pub const AEAD_TAGS: [usize; 3] = [8, 12, 16];
/// The longest AAD.
pub const AEAD_AAD_MAX: usize = 255;
/// AAD and text begin with such a block each.
pub const AEAD_BLOCK: usize = 16;
/// Of a lane's buffer, what AAD, in whole blocks, and text may be together.
pub const AEAD_ROOM: usize = 2032;

/// Beats that a cipher's frame passes on in front of its result at most.
pub const PASSED_ON_MAX: usize = 31;
/// Bytes of payload of a frame whose result is a frame at most.
pub const JOINT_MAX: usize = 2031;

/// Byte 1 of a request.
pub mod op {
    /// A cipher in ECB mode; no IV.
    pub const ECB: u8 = 0x11;
    /// A cipher in CBC mode.
    pub const CBC: u8 = 0x12;
    /// A cipher in CTR mode; the IV section is the first counter block.
    pub const CTR: u8 = 0x13;
    /// A cipher in CFB mode with segments of a whole block.
    pub const CFB: u8 = 0x14;
    /// A cipher in CFB mode with segments of 8 bits.
    pub const CFB8: u8 = 0x15;
    /// A cipher in OFB mode.
    pub const OFB: u8 = 0x16;
    /// A hash over the payload.
    pub const HASH: u8 = 0x21;
    /// HMAC, whose key section is the two chaining states behind the inner and the outer key block.
    pub const HMAC_STATES: u8 = 0x31;
    /// HMAC, whose key section is the key itself, at most [`HMAC_KEY_MAX`](super::HMAC_KEY_MAX) bytes.
    pub const HMAC_KEY: u8 = 0x32;
    /// Authenticated encryption: the array alone has it.
    pub const AEAD: u8 = 0x41;
}

/// Byte 2 of a request.
pub mod flag {
    /// A cipher decrypts; without it, it encrypts.
    pub const DECRYPT: u8 = 1 << 0;
    /// The frame carries a key, which the slot keeps.
    pub const FRESH_KEY: u8 = 1 << 1;
    /// The slot forgets its key and its state when the frame is answered.
    pub const WIPE: u8 = 1 << 2;
    /// A hash goes on from the chaining state in the IV section.
    pub const RESUME: u8 = 1 << 3;
    /// A hash takes whole blocks, pads nothing and returns the chaining state.
    pub const PARTIAL: u8 = 1 << 4;
}

/// Why a frame has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// The frame has its result.
    Ok = 0,
    /// The slot holds another algorithm than the header asks for.
    UnknownAlgorithm = 1,
    /// The slot has no such operation, mode, direction or flag.
    UnknownOperation = 2,
    /// The algorithm takes no key of this length.
    BadKeyLength = 3,
    /// The frame brings no key, and the slot keeps none.
    MissingKey = 4,
    /// The IV section is not as long as the operation wants it.
    BadIvLength = 5,
    /// The payload is not whole blocks where it has to be, or no result can have the length that is asked for.
    BadLength = 6,
    /// The frame ends before its sections do.
    FrameShort = 7,
    /// The frame goes on behind its sections.
    FrameLong = 8,
    /// A field or flag that has to be zero is not.
    Reserved = 9,
    /// Of the array alone, as the next two: a context set contradicts itself.
    BadSet = 10,
    /// A context set was compiled for another array.
    OtherArray = 11,
    /// A context set's CRC is not that of its bytes.
    BadCrc = 12,
    /// The result is a frame that no tile takes.
    NoTile = 13,
    /// An AEAD's tag is another one than that of the text.
    BadTag = 16,
}

impl Status {
    const ALL: [Status; 15] = [
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
        Status::NoTile,
        Status::BadTag,
    ];

    /// By its code in a response.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as u8 == code)
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
            Status::NoTile => "no tile takes the frame that is the result",
            Status::BadTag => "the tag is not that of the text",
        })
    }
}

/// The first 16 bytes of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Code of the algorithm (`rtl/slot/slot_pkg.sv`); byte 0.
    pub algorithm: u8,
    /// What to do, one of [`op`]; byte 1.
    pub op: u8,
    /// Bits of [`flag`]; byte 2.
    pub flags: u8,
    /// Bytes of the key section, 0 without [`flag::FRESH_KEY`]; byte 3.
    pub key_len: u8,
    /// The host's number of the frame, which comes back in the response; bytes 4 and 5.
    pub tag: u16,
    /// Bytes of the IV section; byte 6.
    pub iv_len: u8,
    /// Bytes of digest to return, 0 for ciphers; byte 7.
    pub result_len: u8,
    /// Bytes of the payload; bytes 8 to 11.
    pub payload_len: u32,
    /// Bytes of associated data, 0 but for AEAD; bytes 12 and 13.
    pub aad_len: u16,
    /// Zero; bytes 14 and 15.
    pub reserved: u16,
}

impl Header {
    /// The header as it goes over the boundary: two beats, every field with its lowest byte first.
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
    /// The frame brings this key, which the slot keeps from then on.
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
        Pass::Aead { algorithm, direction, nonce, tag_len, .. } => {
            header.algorithm = algorithm.code;
            header.op = op::AEAD;
            header.result_len = low(*tag_len);
            if *direction == Direction::Decrypt {
                header.flags |= flag::DECRYPT;
                header.payload_len = low(result_len(task));
            }
            iv = nonce;
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
    let Pass::Aead { aad, .. } = &task.pass else { return assemble(header, &[key, iv, &task.data]) };
    header.aad_len = low(aad.len());
    let (text, tag) = task.data.split_at(task.data.len().min(header.payload_len as usize));
    assemble(header, &[key, iv, aad, text, tag])
}

/// Bytes that the result of a task has.
pub fn result_len(task: &Task) -> usize {
    task.pass.result_len(task.data.len())
}

/// Bytes at the end of the result that begin with a beat of their own: the tag of an AEAD that encrypts.
pub fn behind(task: &Task) -> usize {
    match &task.pass {
        Pass::Aead { direction: Direction::Encrypt, tag_len, .. } => *tag_len,
        _ => 0,
    }
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

impl Bounded for u16 {
    const LARGEST: u16 = u16::MAX;
}

impl Bounded for u32 {
    const LARGEST: u32 = u32::MAX;
}

/// A response that is well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The request's [`Header::tag`].
    pub tag: u16,
    /// Whether there is a result, and if not, why.
    pub status: Status,
    /// Empty unless the status is Ok.
    pub result: &'a [u8],
}

/// A response that breaks the rules of the boundary.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResponseError {
    /// The response has this many bytes, which are no beats of 8, or not one beat.
    #[error("a response of {0} bytes is not whole beats")]
    Beats(usize),
    /// The status is none of [`Status`].
    #[error("unknown status {0}")]
    Status(u8),
    /// The last byte of the response is this, and has to be zero.
    #[error("the reserved byte of the response is {0:#04x}")]
    Reserved(u8),
    /// The result that the last beat announces is not what came before it.
    #[error("{announced} bytes of result announced, {beats} bytes of beats sent")]
    Length {
        /// Bytes that the last beat announces.
        announced: usize,
        /// Bytes of the beats before it.
        beats: usize,
    },
    /// Bytes behind the result, up to a whole beat, are not zero.
    #[error("the padding of the result is not zero")]
    Padding,
}

/// Takes a response apart.
///
/// # Errors
/// What breaks the rules of the boundary.
pub fn response(bytes: &[u8]) -> Result<Response<'_>, ResponseError> {
    response_and(bytes, 0).map(|(response, _)| response)
}

/// The same of a result that ends with so many bytes on beats of their own ([`behind`]), and those bytes.
///
/// # Errors
/// What breaks the rules of the boundary.
pub fn response_and(bytes: &[u8], behind: usize) -> Result<(Response<'_>, &[u8]), ResponseError> {
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
        return match announced {
            0 => Ok((Response { tag, status, result: &[] }, &[])),
            _ => Err(length),
        };
    }
    let Some(len) = announced.checked_sub(behind) else { return Err(length) };
    if padded(len) + padded(behind) != beats.len() {
        return Err(length);
    }
    let (first, last) = beats.split_at(padded(len));
    let (result, padding) = first.split_at(len);
    let (last, more) = last.split_at(behind);
    if padding.iter().chain(more).any(|b| *b != 0) {
        return Err(ResponseError::Padding);
    }
    Ok((Response { tag, status, result }, last))
}
