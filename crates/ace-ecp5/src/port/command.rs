// SPDX-License-Identifier: Apache-2.0
//! What the port does at each command.

use super::{ConfigPort, Frames, State, opcode as c};
use crate::crc;
use crate::device::{Device, EBR_IDS};
use crate::error::{BitstreamError, Reason};
use crate::inflate;
use crate::memory::ConfigMemory;

impl ConfigPort {
    pub(super) fn opcode(&mut self, opcode: u8) -> Result<(), BitstreamError> {
        let reason = match opcode {
            // Padding between commands; no CRC covers it.
            c::DUMMY => return Ok(()),
            c::RESET_CRC if self.unverified => Reason::Unverified,
            c::RESET_CRC | c::VERIFY_ID | c::SPI_MODE => {
                self.crc = crc::update(self.crc, &[opcode]);
                self.unverified |= opcode == c::VERIFY_ID;
                self.state = State::Information(opcode);
                return Ok(());
            }
            c::JUMP => Reason::Unsupported(opcode, "jump to another bitstream in flash"),
            c::PROGRAM_SED_CRC => Reason::Unsupported(opcode, "soft error detection"),
            c::WRITE_DICTIONARY
            | c::PROGRAM_CONTROL0
            | c::INIT_ADDRESS
            | c::WRITE_ADDRESS
            | c::PROGRAM_FRAMES
            | c::PROGRAM_COMPRESSED
            | c::PROGRAM_USERCODE
            | c::PROGRAM_SECURITY
            | c::EBR_ADDRESS
            | c::WRITE_EBR
            | c::PROGRAM_DONE => {
                if self.identified {
                    self.crc = crc::update(self.crc, &[opcode]);
                    // DONE writes nothing; whether all before it is verified is checked when it is complete.
                    self.unverified |= opcode != c::PROGRAM_DONE;
                    self.state = State::Information(opcode);
                    return Ok(());
                }
                Reason::NoIdcode(opcode)
            }
            _ => Reason::UnknownCommand(opcode),
        };
        Err(self.at(0, reason))
    }

    pub(super) fn information(&mut self, command: u8, info: [u8; 3]) -> Result<(), BitstreamError> {
        let value = u32::from_be_bytes([0, info[0], info[1], info[2]]);
        let refuse = Reason::Information { command, info: value };
        let (checked, rest) = (info[0] & 0x80 != 0, value & 0x7f_ffff);
        let len = match command {
            c::PROGRAM_FRAMES | c::PROGRAM_COMPRESSED => return self.start_frames(command, info),
            // One CRC at the end and no dummy bytes: the only way in which block RAM is ever written.
            c::WRITE_EBR if info[0] != 0xd0 => return Err(self.at(0, refuse)),
            c::WRITE_EBR => {
                let rows = u16::from_be_bytes([info[1], info[2]]);
                if self.ebr.is_none() {
                    return Err(self.at(0, Reason::NoEbrAddress));
                }
                self.state = if rows == 0 { State::EbrEnd } else { State::EbrRow(rows) };
                return Ok(());
            }
            c::SPI_MODE if value & 0xffff == 0 => {
                self.seen.spi_mode = Some(info[0]);
                self.state = State::Opcode;
                return Ok(());
            }
            c::RESET_CRC if value == 0 => {
                self.crc = 0;
                self.state = State::Opcode;
                return Ok(());
            }
            _ if command == c::SPI_MODE || command == c::RESET_CRC || rest != 0 => {
                return Err(self.at(0, refuse));
            }
            c::WRITE_DICTIONARY => 8,
            c::INIT_ADDRESS | c::PROGRAM_SECURITY | c::PROGRAM_DONE => 0,
            _ => 4,
        };
        self.state = State::Payload { command, len, checked };
        if len == 0 && !checked {
            // Nothing follows that would complete the command.
            self.payload(command, &[])?;
            self.state = State::Opcode;
            if command == c::PROGRAM_DONE {
                self.done()?;
            }
        }
        Ok(())
    }

    pub(super) fn payload(&mut self, command: u8, payload: &[u8]) -> Result<(), BitstreamError> {
        let number = payload.first_chunk::<4>().map_or(0, |b| u32::from_be_bytes(*b));
        match command {
            c::VERIFY_ID => return self.verify_id(number),
            c::WRITE_DICTIONARY => self.codes = payload.first_chunk::<8>().map(inflate::codes),
            c::INIT_ADDRESS => self.position = Some(0),
            c::PROGRAM_SECURITY => self.seen.security = true,
            c::WRITE_ADDRESS => {
                if let Some(device) = self.memory.as_ref().map(ConfigMemory::device) {
                    if device.regions.is_none() {
                        return Err(self.at(0, Reason::AddressFormat(device)));
                    }
                    let outside = Reason::FrameAddress { address: number, device };
                    self.position = Some(device.position(number).ok_or_else(|| self.at(0, outside))?);
                }
            }
            c::EBR_ADDRESS => {
                // Bits 20:11 are the identity, bits 10:0 the word; a row is eight words.
                let (id, word) = (number >> 11, number & 0x7ff);
                let id = u16::try_from(id).ok().filter(|id| *id < EBR_IDS && word % 8 == 0);
                let id = id.ok_or_else(|| self.at(0, Reason::EbrAddress(number)))?;
                self.ebr = Some((id, word as usize / 8));
            }
            _ => {
                if let Some(memory) = &mut self.memory {
                    match command {
                        c::PROGRAM_CONTROL0 => memory.set_control0(number),
                        c::PROGRAM_USERCODE => memory.set_usercode(number),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn verify_id(&mut self, found: u32) -> Result<(), BitstreamError> {
        // A bitstream is for one device: what names another one behind the first would be written with the
        // addresses of the wrong one.
        let named = self.memory.as_ref().filter(|_| self.identified).map(ConfigMemory::device);
        let device = match (self.device.or(named), Device::by_idcode(found)) {
            (Some(expected), _) if expected.idcode != found => {
                return Err(self.at(0, Reason::WrongDevice { expected, found }));
            }
            (Some(device), _) | (None, Some(device)) => device,
            (None, None) => return Err(self.at(0, Reason::UnknownDevice { found })),
        };
        if self.memory.as_ref().is_none_or(|memory| memory.device() != device) {
            self.memory = Some(ConfigMemory::new(device));
        }
        self.identified = true;
        Ok(())
    }

    pub(super) fn done(&mut self) -> Result<(), BitstreamError> {
        if self.unverified {
            return Err(self.at(0, Reason::Unverified));
        }
        self.state = State::Startup(0);
        Ok(())
    }

    fn start_frames(&mut self, command: u8, info: [u8; 3]) -> Result<(), BitstreamError> {
        let options = info[0];
        let count = usize::from(u16::from_be_bytes([info[1], info[2]]));
        let Some(position) = self.position else {
            return Err(self.at(0, Reason::NoAddress));
        };
        // Bit 5: the stream leaves out the bits that fill a frame's first byte. Nobody does that.
        if options & 0x20 != 0 {
            let info = u32::from_be_bytes([0, info[0], info[1], info[2]]);
            return Err(self.at(0, Reason::Information { command, info }));
        }
        let room = self.memory.as_ref().map_or(0, |memory| memory.device().frames - position);
        if count == 0 || count > room {
            return Err(self.at(1, Reason::FrameCount { count, room }));
        }
        let compressed = command == c::PROGRAM_COMPRESSED;
        if compressed && self.codes.is_none() {
            return Err(self.at(0, Reason::NoDictionary));
        }
        let (crc, at_end) = (options & 0x80 != 0, options & 0x40 != 0);
        self.state = State::Frame(Frames {
            compressed,
            missing: count,
            crc_each: crc && !at_end,
            crc_last: crc && at_end,
            dummies: usize::from(options & 0x0f),
        });
        Ok(())
    }
}
