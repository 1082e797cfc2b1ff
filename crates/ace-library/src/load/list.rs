// SPDX-License-Identifier: Apache-2.0
//! Lists of steps while they are made: the port's commands, and what the loader copies and decompresses between them.

use ace_ecp5::Device;
use ace_ecp5::memory::{EBR_BYTES, EBR_ROW_BYTES};

use super::memory::Memory;
use super::place::{Block, Delta, LoadError, MAX_FRAMES, Place, Registers, Run, Whole};
use super::step::Step;

/// Commands of the port with the three bytes behind their opcodes, as Project Trellis names them.
mod command {
    pub(super) const RESET_CRC: u8 = 0x3b;
    pub(super) const VERIFY_ID: u8 = 0xe2;
    pub(super) const CONTROL0: u8 = 0x22;
    pub(super) const INIT_ADDRESS: u8 = 0x46;
    /// A CRC and one dummy byte behind every frame.
    pub(super) const FRAMES: [u8; 2] = [0x82, 0x91];
    pub(super) const COMPRESSED: [u8; 2] = [0xb8, 0x91];
    pub(super) const WRITE_DICTIONARY: u8 = 0x02;
    /// A CRC behind the command.
    pub(super) const USERCODE: [u8; 4] = [0xc2, 0x80, 0, 0];
    pub(super) const EBR_ADDRESS: u8 = 0xf6;
    /// A CRC behind all rows.
    pub(super) const WRITE_EBR: [u8; 2] = [0xb2, 0xd0];
    pub(super) const DONE: u8 = 0x5e;
}

/// A list that is being made; the commands are stored as they come.
pub(super) struct List<'a> {
    memory: &'a mut Memory,
    pub(super) steps: Vec<Step>,
}

impl<'a> List<'a> {
    pub(super) fn new(memory: &'a mut Memory) -> Self {
        Self { memory, steps: Vec::new() }
    }

    /// Bytes that enter the CRC.
    fn covered(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let place = self.memory.push(bytes)?;
        self.steps.push(Step::copy(place, true));
        Ok(())
    }

    fn uncovered(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let place = self.memory.push(bytes)?;
        self.steps.push(Step::copy(place, false));
        Ok(())
    }

    pub(super) fn begin(&mut self, device: &Device) -> Result<(), LoadError> {
        // An empty comment, the preamble, four dummy bytes.
        let preamble = [0xff, 0x00, 0xff, 0xff, 0xff, 0xbd, 0xb3, 0xff, 0xff, 0xff, 0xff];
        self.uncovered(&[&preamble[..], &[command::RESET_CRC, 0, 0, 0]].concat())?;
        self.covered(&[&[command::VERIFY_ID, 0, 0, 0][..], &device.idcode.to_be_bytes()].concat())
    }

    pub(super) fn image(
        &mut self,
        to: Registers,
        Whole { stream, used, patterns }: Whole,
    ) -> Result<(), LoadError> {
        self.begin(to.device)?;
        self.control0(to)?;
        if used.is_none() {
            self.covered(&[command::INIT_ADDRESS, 0, 0, 0])?;
        }
        if let Some(mut patterns) = patterns {
            patterns.reverse();
            let place = self.memory.push(&[&[command::WRITE_DICTIONARY, 0, 0, 0][..], &patterns].concat())?;
            self.steps.push(Step::copy(place, true).packed());
        }
        match used {
            Some(runs) => self.runs(runs, stream, patterns.is_some()),
            None => {
                self.steps.push(Step::stream(stream, to.device.frames));
                self.frames(&[], to.device.frames, true, patterns.is_some())
            }
        }
    }

    pub(super) fn control0(&mut self, to: Registers) -> Result<(), LoadError> {
        self.covered(&[&[command::CONTROL0, 0, 0, 0][..], &to.control0.to_be_bytes()].concat())
    }

    pub(super) fn usercode(&mut self, to: Registers) -> Result<(), LoadError> {
        let place = self.memory.push(&[&command::USERCODE[..], &to.usercode.to_be_bytes()].concat())?;
        self.steps.push(Step::copy(place, true).sealed());
        Ok(())
    }

    /// The next frames of the stream behind the command that announces them, and that behind what is `ahead` of it.
    fn frames(&mut self, ahead: &[u8], frames: usize, finish: bool, packed: bool) -> Result<(), LoadError> {
        if !(1..=MAX_FRAMES).contains(&frames) {
            return Err(LoadError::Frames(frames));
        }
        let command = if packed { command::COMPRESSED } else { command::FRAMES };
        self.covered(&[ahead, &command, &(frames as u16).to_be_bytes()].concat())?;
        let step = Step::frames(frames, finish);
        self.steps.push(if packed { step.packed() } else { step });
        Ok(())
    }

    pub(super) fn delta(&mut self, delta: Delta) -> Result<(), LoadError> {
        self.runs(delta.runs, delta.stream, false)
    }

    /// All frames of a stream, run by run.
    fn runs(&mut self, runs: &[Run], stream: Place, packed: bool) -> Result<(), LoadError> {
        let total = runs.iter().map(|run| run.frames).sum();
        if total > MAX_FRAMES {
            return Err(LoadError::Frames(total));
        }
        if total > 0 {
            self.steps.push(Step::stream(stream, total));
        }
        for (number, run) in runs.iter().enumerate() {
            if !(1..=MAX_FRAMES).contains(&run.frames) {
                return Err(LoadError::Frames(run.frames));
            }
            let step = Step::run(run.address, run.frames, number + 1 == runs.len());
            self.steps.push(if packed { step.packed() } else { step });
        }
        Ok(())
    }

    /// What follows the frames of a whole image.
    pub(super) fn rest(&mut self, to: Registers, blocks: &[Block], cleared: bool) -> Result<(), LoadError> {
        self.uncovered(&[0xff; 12])?;
        self.usercode(to)?;
        self.blocks(blocks, cleared)
    }

    /// If `cleared`, those of zeros are there but for their first row.
    pub(super) fn blocks(&mut self, blocks: &[Block], cleared: bool) -> Result<(), LoadError> {
        for block in blocks {
            let address = (u32::from(block.id) << 11).to_be_bytes();
            let bytes = if cleared && block.contents.is_none() { EBR_ROW_BYTES } else { EBR_BYTES };
            let rows = ((bytes / EBR_ROW_BYTES) as u16).to_be_bytes();
            let ahead = [&[command::EBR_ADDRESS, 0, 0, 0][..], &address, &command::WRITE_EBR, &rows];
            self.covered(&ahead.concat())?;
            let step = match block.contents {
                Some(place) if place.length as usize == EBR_BYTES => Step::copy(place, true),
                Some(place) => return Err(LoadError::Block(place.length)),
                None => Step::copy(Place { address: 0, length: bytes as u32 }, true).blank(),
            };
            self.steps.push(step.sealed());
        }
        Ok(())
    }

    pub(super) fn done(mut self) -> Result<u32, LoadError> {
        self.uncovered(&[command::DONE, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])?;
        self.end()
    }

    pub(super) fn end(mut self) -> Result<u32, LoadError> {
        self.steps.push(Step::end());
        let bytes: Vec<u8> = self.steps.iter().flat_map(|step| step.to_bytes()).collect();
        Ok(self.memory.push(&bytes)?.address)
    }
}
