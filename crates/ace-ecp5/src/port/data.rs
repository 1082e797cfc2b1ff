// SPDX-License-Identifier: Apache-2.0
//! What the port does with frames and block RAM.

use super::{ConfigPort, Frames, State, opcode as c};
use crate::crc;
use crate::device::EBR_IDS;
use crate::error::{BitstreamError, Place, Reason};
use crate::inflate::{self, FAST_INPUT, Inflate, MAX_FRAME};
use crate::memory::EBR_ROWS;

impl ConfigPort {
    pub(super) fn write_frame(&mut self, frame: &[u8]) {
        if let (Some(memory), Some(position)) = (&mut self.memory, self.position) {
            memory.write_frame(position, frame);
        }
        self.seen.frames += 1;
    }

    /// CRC and dummy bytes behind a frame; `ahead` bytes of the present piece precede them.
    pub(super) fn frame_end(
        &mut self,
        mut frames: Frames,
        ahead: usize,
        end: &[u8],
    ) -> Result<(), BitstreamError> {
        let (stored, dummies) = end.split_at(frames.crc_len());
        let position = self.position.unwrap_or(0);
        if !stored.is_empty() {
            let last = self.memory.as_ref().map_or(0, |memory| memory.device().frames - 1);
            self.check(ahead, stored, Place::Frame(last - position))?;
        }
        if let Some(at) = dummies.iter().position(|byte| *byte != c::DUMMY) {
            return Err(self.at(ahead + stored.len() + at, Reason::Dummy(dummies[at])));
        }
        // Unlike padding between commands, these enter the next CRC.
        self.crc = crc::update(self.crc, dummies);
        self.position = Some(position + 1);
        frames.missing -= 1;
        self.state = if frames.missing == 0 { State::Opcode } else { State::Frame(frames) };
        Ok(())
    }

    pub(super) fn compressed_frame(
        &mut self,
        frames: Frames,
        input: &mut &[u8],
    ) -> Result<(), BitstreamError> {
        if input.len() < FAST_INPUT {
            self.state = State::Inflate(frames, Box::new(Inflate::new()));
            return Ok(());
        }
        let Some(codes) = &self.codes else {
            return Err(self.at(0, Reason::NoDictionary));
        };
        let mut out = [0; MAX_FRAME];
        let frame_bytes = self.frame_bytes();
        let out = &mut out[..inflate::filled_len(frame_bytes)];
        let taken = inflate::frame(codes, input, out);
        let (packed, rest) = input.split_at(taken);
        *input = rest;
        self.inflated(frames, packed.len(), crc::update(self.crc, packed), &out[out.len() - frame_bytes..]);
        Ok(())
    }

    pub(super) fn inflate(&mut self, input: &mut &[u8]) -> Result<(), BitstreamError> {
        let frame_bytes = self.frame_bytes();
        let len = inflate::filled_len(frame_bytes);
        let (State::Inflate(frames, inflate), Some(codes)) = (&mut self.state, &self.codes) else {
            return Ok(());
        };
        let frames = *frames;
        while let Some((byte, rest)) = input.split_first() {
            *input = rest;
            self.crc = crc::update(self.crc, &[*byte]);
            self.offset += 1;
            if let Some(out) = inflate.push(codes, *byte, len) {
                let mut frame = [0; MAX_FRAME];
                let frame = &mut frame[..frame_bytes];
                frame.copy_from_slice(&out[len - frame_bytes..]);
                self.inflated(frames, 0, self.crc, frame);
                break;
            }
        }
        Ok(())
    }

    fn inflated(&mut self, frames: Frames, taken: usize, crc: u16, frame: &[u8]) {
        self.offset += taken as u64;
        self.crc = crc;
        self.write_frame(frame);
        self.seen.compressed_frames += 1;
        self.state = State::FrameEnd(frames);
    }

    pub(super) fn ebr_row(&mut self, missing: u16, row: &[u8]) -> Result<(), BitstreamError> {
        self.crc = crc::update(self.crc, row);
        if let (Some((mut id, mut at)), Some(memory)) = (self.ebr, &mut self.memory) {
            if at == EBR_ROWS {
                (id, at) = (id + 1, 0);
            }
            if id >= EBR_IDS {
                return Err(self.at(0, Reason::EbrAddress(u32::from(id) << 11)));
            }
            memory.write_ebr_row(id, at, row);
            self.ebr = Some((id, at + 1));
        }
        self.seen.ebr_rows += 1;
        self.state = if missing == 1 { State::EbrEnd } else { State::EbrRow(missing - 1) };
        Ok(())
    }
}
