// SPDX-License-Identifier: Apache-2.0
//! The configuration port: bytes in, configuration memory out.

mod command;
mod data;
pub(crate) mod opcode;

use crate::crc;
use crate::device::Device;
use crate::error::{BitstreamError, Place, Reason, Stage};
use crate::inflate::{Codes, Inflate, MAX_FRAME};
use crate::memory::{ConfigMemory, EBR_ROW_BYTES};
use opcode as c;

/// Dummy bytes behind the last command whose clocks wake the device up.
pub const STARTUP_BYTES: usize = 4;
/// How much of what precedes the preamble is kept for [`ConfigPort::comment`].
const COMMENT_MAX: usize = 4096;
/// The longest piece that is handled as one: a frame, its CRC and up to 15 dummy bytes.
const PIECE_MAX: usize = MAX_FRAME + 2 + 15;
pub(crate) const PREAMBLE: u32 = 0xffff_bdb3;

/// What the port expects next.
#[derive(Clone, Debug)]
enum State {
    /// The preamble; the last four bytes.
    Hunt(u32),
    Opcode,
    /// The three bytes of information behind an opcode.
    Information(u8),
    /// The payload of a command and its CRC, if it has one.
    Payload {
        command: u8,
        len: usize,
        checked: bool,
    },
    Frame(Frames),
    /// A compressed frame that arrives in pieces.
    Inflate(Frames, Box<Inflate>),
    /// What follows a compressed frame.
    FrameEnd(Frames),
    EbrRow(u16),
    EbrEnd,
    /// DONE was there, and so many dummy bytes.
    Startup(usize),
    Failed(BitstreamError),
}

/// A running write of frames.
#[derive(Clone, Copy, Debug)]
struct Frames {
    compressed: bool,
    missing: usize,
    crc_each: bool,
    crc_last: bool,
    dummies: usize,
}

impl Frames {
    /// Bytes of CRC behind the frame that comes next.
    fn crc_len(&self) -> usize {
        if self.crc_each || self.crc_last && self.missing == 1 { 2 } else { 0 }
    }
}

/// What a port has seen, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Frames written, those written twice counted twice.
    pub frames: usize,
    /// Those of them that came compressed.
    pub compressed_frames: usize,
    /// Rows of block RAM written, 72 bits each.
    pub ebr_rows: usize,
    /// The security bit (no read-back) was programmed.
    pub security: bool,
    /// How a flash memory is to be read, if the stream says so.
    pub spi_mode: Option<u8>,
}

/// Consumes a bitstream as it arrives. See the crate's documentation for what it refuses.
///
/// After an error the port stays failed, and every call returns that error, until [`ConfigPort::reset`] or
/// [`ConfigPort::rearm`].
#[derive(Clone, Debug)]
pub struct ConfigPort {
    device: Option<&'static Device>,
    memory: Option<ConfigMemory>,
    state: State,
    /// Bytes of the stream consumed so far.
    offset: u64,
    /// The beginning of a piece that is not complete.
    carry: [u8; PIECE_MAX],
    carried: usize,
    crc: u16,
    /// Something was written that no CRC has covered yet.
    unverified: bool,
    identified: bool,
    /// Where the next frame goes, in the order of transmission.
    position: Option<usize>,
    /// Identity and row where block RAM data go.
    ebr: Option<(u16, usize)>,
    codes: Option<Codes>,
    comment: Vec<u8>,
    seen: Seen,
}

/// What a bitstream leaves in a blank device, of whichever kind it is for.
///
/// # Errors
/// What a configuration port refuses.
pub fn load(bytes: &[u8]) -> Result<ConfigMemory, BitstreamError> {
    let mut port = ConfigPort::for_any_device();
    port.push(bytes)?;
    Ok(port.finish()?.clone())
}

impl ConfigPort {
    /// The port of a device whose memory is blank.
    pub fn new(device: &'static Device) -> Self {
        Self { device: Some(device), ..Self::for_any_device() }
    }

    /// The port of whatever known device the bitstream is made for.
    pub fn for_any_device() -> Self {
        Self {
            device: None,
            memory: None,
            state: State::Hunt(0),
            offset: 0,
            carry: [0; PIECE_MAX],
            carried: 0,
            crc: 0,
            unverified: false,
            identified: false,
            position: None,
            ebr: None,
            codes: None,
            comment: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// As PROGRAMN does: memory and port are blank, ready for a new bitstream. Allocations stay.
    pub fn reset(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.reset();
        }
        self.rearm();
    }

    /// Ready for a bitstream that writes over the present memory (background configuration, single frames).
    /// After a failed bitstream the memory holds a part of it: use [`ConfigPort::reset`] then.
    pub fn rearm(&mut self) {
        let mut comment = std::mem::take(&mut self.comment);
        comment.clear();
        *self = Self { device: self.device, memory: self.memory.take(), comment, ..Self::for_any_device() };
    }

    /// Takes the next bytes of the stream. Where the stream is cut into pieces makes no difference.
    ///
    /// # Errors
    /// The first thing that silicon would refuse.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), BitstreamError> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        let mut input = bytes;
        while !input.is_empty() {
            if let Err(error) = self.step(&mut input) {
                self.state = State::Failed(error.clone());
                return Err(error);
            }
        }
        Ok(())
    }

    /// The stream has ended: the memory, if the device would have started.
    ///
    /// # Errors
    /// The error of an earlier call, or how far the bitstream came.
    pub fn finish(&self) -> Result<&ConfigMemory, BitstreamError> {
        let stage = match &self.state {
            State::Failed(error) => return Err(error.clone()),
            State::Hunt(_) => return Err(self.at(0, Reason::NoPreamble)),
            State::Frame(f) | State::Inflate(f, _) | State::FrameEnd(f) => {
                Stage::Frames { missing: f.missing }
            }
            State::EbrRow(missing) => Stage::EbrRows { missing: usize::from(*missing) },
            State::Startup(n) if *n < STARTUP_BYTES => Stage::Startup { missing: STARTUP_BYTES - n },
            State::Startup(_) => {
                return self.memory.as_ref().ok_or_else(|| self.at(0, Reason::NoIdcode(c::PROGRAM_DONE)));
            }
            _ => Stage::Commands,
        };
        Err(self.at(self.carried, Reason::Truncated(stage)))
    }

    /// The last command was there, and all dummies behind it: the device starts, and what follows is not looked at.
    pub fn started(&self) -> bool {
        matches!(self.state, State::Startup(STARTUP_BYTES))
    }

    /// The memory, however far the bitstream came; `None` before a bitstream has named its device. What a
    /// device computes is decided by [`ConfigPort::finish`] alone.
    pub fn memory(&self) -> Option<&ConfigMemory> {
        self.memory.as_ref()
    }

    /// What precedes the preamble, at most 4 KiB of it, without the marks around it: no device looks at it.
    pub fn comment(&self) -> &[u8] {
        let inside = self.comment.strip_prefix(&[0xff, 0]).unwrap_or(&self.comment);
        &inside[..inside.iter().position(|byte| *byte == 0xff).unwrap_or(inside.len())]
    }

    /// Bytes of the stream taken so far.
    pub fn bytes(&self) -> u64 {
        self.offset + self.carried as u64
    }

    /// What was in the stream so far.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// The command that the stream is in.
    pub(crate) fn command(&self) -> Option<u8> {
        match self.state {
            State::Information(command) | State::Payload { command, .. } => Some(command),
            State::Frame(Frames { compressed, .. })
            | State::Inflate(Frames { compressed, .. }, _)
            | State::FrameEnd(Frames { compressed, .. }) => {
                Some(if compressed { c::PROGRAM_COMPRESSED } else { c::PROGRAM_FRAMES })
            }
            State::EbrRow(_) | State::EbrEnd => Some(c::WRITE_EBR),
            State::Startup(_) => Some(c::PROGRAM_DONE),
            State::Hunt(_) | State::Opcode | State::Failed(_) => None,
        }
    }

    fn at(&self, ahead: usize, reason: Reason) -> BitstreamError {
        BitstreamError { offset: self.offset + ahead as u64, reason }
    }

    fn frame_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.device().frame_bytes())
    }

    /// Handles the next piece of the stream, or keeps its beginning.
    fn step(&mut self, input: &mut &[u8]) -> Result<(), BitstreamError> {
        let len = match &self.state {
            State::Failed(error) => return Err(error.clone()),
            State::Hunt(window) => {
                let window = *window;
                self.hunt(window, input);
                return Ok(());
            }
            State::Frame(frames) if frames.compressed => {
                let frames = *frames;
                return self.compressed_frame(frames, input);
            }
            State::Inflate(..) => return self.inflate(input),
            State::Opcode | State::Startup(_) => 1,
            State::Information(_) => 3,
            State::Payload { len, checked, .. } => len + if *checked { 2 } else { 0 },
            State::Frame(frames) => self.frame_bytes() + frames.crc_len() + frames.dummies,
            State::FrameEnd(frames) => frames.crc_len() + frames.dummies,
            State::EbrRow(_) => EBR_ROW_BYTES,
            State::EbrEnd => 2,
        };
        if self.carried == 0 && input.len() >= len {
            let (piece, rest) = input.split_at(len);
            *input = rest;
            return self.piece(piece);
        }
        let (taken, rest) = input.split_at(input.len().min(len - self.carried));
        *input = rest;
        self.carry[self.carried..self.carried + taken.len()].copy_from_slice(taken);
        self.carried += taken.len();
        if self.carried == len {
            self.carried = 0;
            let carry = self.carry;
            return self.piece(&carry[..len]);
        }
        Ok(())
    }

    fn hunt(&mut self, mut window: u32, input: &mut &[u8]) {
        while let Some((byte, rest)) = input.split_first() {
            *input = rest;
            self.offset += 1;
            if self.comment.len() < COMMENT_MAX {
                self.comment.push(*byte);
            }
            window = window << 8 | u32::from(*byte);
            if window == PREAMBLE {
                self.state = State::Opcode;
                return;
            }
        }
        self.state = State::Hunt(window);
    }

    /// Handles a whole piece.
    fn piece(&mut self, piece: &[u8]) -> Result<(), BitstreamError> {
        match self.state {
            State::Opcode => self.opcode(piece[0])?,
            State::Startup(n) => {
                if piece[0] != c::DUMMY {
                    return Err(self.at(0, Reason::BehindDone(piece[0])));
                }
                self.state = State::Startup((n + 1).min(STARTUP_BYTES));
            }
            State::Information(command) => {
                self.crc = crc::update(self.crc, piece);
                self.information(command, [piece[0], piece[1], piece[2]])?;
            }
            State::Payload { command, len, checked } => {
                let (payload, stored) = piece.split_at(len);
                self.crc = crc::update(self.crc, payload);
                self.payload(command, payload)?;
                if checked {
                    self.check(len, stored, Place::Command(command))?;
                }
                self.state = State::Opcode;
                if command == c::PROGRAM_DONE {
                    self.done()?;
                }
            }
            State::Frame(frames) => {
                let (frame, end) = piece.split_at(self.frame_bytes());
                self.crc = crc::update(self.crc, frame);
                self.write_frame(frame);
                self.frame_end(frames, frame.len(), end)?;
            }
            State::FrameEnd(frames) => self.frame_end(frames, 0, piece)?,
            State::EbrRow(missing) => self.ebr_row(missing, piece)?,
            State::EbrEnd => {
                let id = self.ebr.map_or(0, |(id, _)| id);
                self.check(0, piece, Place::Ebr(id))?;
                self.state = State::Opcode;
            }
            State::Hunt(_) | State::Inflate(..) | State::Failed(_) => {}
        }
        self.offset += piece.len() as u64;
        Ok(())
    }

    /// Compares the CRC at `ahead` in the present piece and starts a new one.
    fn check(&mut self, ahead: usize, stored: &[u8], place: Place) -> Result<(), BitstreamError> {
        let stored = stored.first_chunk::<2>().map_or(0, |b| u16::from_be_bytes(*b));
        let computed = std::mem::take(&mut self.crc);
        self.unverified = false;
        if stored == computed {
            return Ok(());
        }
        Err(self.at(ahead, Reason::Crc { place, computed, stored }))
    }
}

#[cfg(test)]
mod tests;
