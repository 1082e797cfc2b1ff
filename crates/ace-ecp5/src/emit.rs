// SPDX-License-Identifier: Apache-2.0
//! Writes bitstreams, bit for bit as `ecppack` does.

use crate::crc;
use crate::device::Device;
use crate::memory::{ConfigMemory, EBR_ROW_BYTES, EBR_ROWS};
use crate::port::{STARTUP_BYTES, opcode as c};

/// CRC after every frame, one dummy byte behind it.
const FRAME_OPTIONS: u8 = 0x91;
/// One CRC at the end, no dummy bytes.
const EBR_OPTIONS: u8 = 0xd0;
/// Dummy bytes behind the frames, where a security command and an error detection CRC would be.
const GAP: usize = 12;
/// Bytes that have a code of their own because [`patterns`] says so.
pub const PATTERNS: usize = 8;

/// How a bitstream is to be written.
#[derive(Clone, Debug, Default)]
pub struct Emit {
    /// Frames in the device's own compression.
    pub compress: bool,
    /// Lines for the comment before the preamble.
    pub comment: Vec<String>,
}

impl Emit {
    /// A bitstream that makes a blank device hold `memory`.
    pub fn whole(&self, memory: &ConfigMemory) -> Vec<u8> {
        let mut out = self.begin(memory);
        out.command(c::PROGRAM_CONTROL0, &memory.control0().to_be_bytes());
        out.command(c::INIT_ADDRESS, &[]);
        let frames: Vec<&[u8]> = memory.frames().collect();
        if self.compress {
            let codes = out.dictionary(patterns(frames.iter().copied()));
            out.compressed(&frames, &codes);
        } else {
            out.plain(&frames);
        }
        self.rest(out, memory, false)
    }

    /// What follows the frames of a whole bitstream. If `cleared`, block RAMs of zeros are there but for their first row.
    fn rest(&self, mut out: Writer, memory: &ConfigMemory, cleared: bool) -> Vec<u8> {
        out.dummies(GAP);
        out.usercode(memory);
        for (id, block) in memory.ebr() {
            out.command(c::EBR_ADDRESS, &(u32::from(id) << 11).to_be_bytes());
            let blank = cleared && block.iter().all(|byte| *byte == 0);
            let rows = if blank { 1 } else { EBR_ROWS };
            let [high, low] = (rows as u16).to_be_bytes();
            out.bytes(&[c::WRITE_EBR, EBR_OPTIONS, high, low]);
            out.bytes(&block[..rows * EBR_ROW_BYTES]);
            out.crc();
        }
        out.end()
    }

    /// A bitstream that makes a blank device hold `memory` as well, without the frames that are blank: runs of the
    /// others, each behind its address. Of a block RAM of zeros only the first row is written, as that makes the block.
    /// All else is what PROGRAMN leaves; that silicon clears it has not been tried. `None` if the device's frame
    /// addresses are not known.
    pub fn used(&self, memory: &ConfigMemory) -> Option<Vec<u8>> {
        let all: Vec<&[u8]> = memory.frames().collect();
        let used: Vec<usize> = (0..all.len()).filter(|at| all[*at].iter().any(|byte| *byte != 0)).collect();
        // Without a frame nothing else asks for an address.
        memory.device().address(0)?;
        let mut out = self.begin(memory);
        out.command(c::PROGRAM_CONTROL0, &memory.control0().to_be_bytes());
        let codes = self.compress.then(|| out.dictionary(patterns(used.iter().map(|at| all[*at]))));
        out.runs(memory, &used, codes.as_ref())?;
        Some(self.rest(out, memory, true))
    }

    /// A bitstream that writes only some frames of `memory`, given by their numbers in any order, over what
    /// a device holds; neighbours share one command. `None` if the device's frame addresses are not known
    /// or a number is out of range. Without frames nothing of it is covered by a CRC, and the port
    /// refuses it: see [`Emit::over`].
    pub fn frames(&self, memory: &ConfigMemory, numbers: &[usize]) -> Option<Vec<u8>> {
        self.some(memory, numbers, false)
    }

    /// As [`Emit::frames`], with the registers of `memory`; USERCODE comes last, with a CRC behind it, as in a whole
    /// bitstream. So something is covered by a CRC also where there are no frames.
    pub fn over(&self, memory: &ConfigMemory, numbers: &[usize]) -> Option<Vec<u8>> {
        self.some(memory, numbers, true)
    }

    fn some(&self, memory: &ConfigMemory, numbers: &[usize], registers: bool) -> Option<Vec<u8>> {
        let device = memory.device();
        let mut positions: Vec<usize> =
            numbers.iter().map(|number| device.frames.checked_sub(number + 1)).collect::<Option<_>>()?;
        positions.sort_unstable();
        positions.dedup();
        let mut out = self.begin(memory);
        if registers {
            out.command(c::PROGRAM_CONTROL0, &memory.control0().to_be_bytes());
        }
        let all: Vec<&[u8]> = memory.frames().collect();
        let compress = self.compress && !positions.is_empty();
        let codes = compress.then(|| out.dictionary(patterns(positions.iter().map(|at| all[*at]))));
        out.runs(memory, &positions, codes.as_ref())?;
        if registers {
            out.usercode(memory);
        }
        // The dummy byte behind the last frame is in no CRC; nothing after it is, either.
        Some(out.end())
    }

    fn begin(&self, memory: &ConfigMemory) -> Writer {
        let mut out = Writer { bytes: vec![0xff, 0x00], crc: 0 };
        for line in &self.comment {
            // The comment ends at FF and its lines at 0.
            out.bytes.extend(line.bytes().filter(|byte| !matches!(byte, 0 | 0xff)));
            out.bytes.push(0);
        }
        out.bytes.extend([0xff, 0xff, 0xff, 0xbd, 0xb3]);
        out.dummies(4);
        out.command(c::RESET_CRC, &[]);
        out.crc = 0;
        let Device { idcode, .. } = memory.device();
        out.command(c::VERIFY_ID, &idcode.to_be_bytes());
        out
    }
}

/// The bytes of these frames that get short codes in the device's own compression, pattern 0 first: the most frequent
/// ones but zero and single bits, which have codes of their own. Of equally frequent ones the greater comes first.
pub fn patterns<'a>(frames: impl IntoIterator<Item = &'a [u8]>) -> [u8; PATTERNS] {
    let mut counts: [(usize, u8); 256] = std::array::from_fn(|byte| (0, byte as u8));
    for byte in frames.into_iter().flatten() {
        counts[usize::from(*byte)].0 += 1;
    }
    let mut choice: Vec<_> = counts.into_iter().filter(|(_, byte)| byte.count_ones() > 1).collect();
    choice.sort_unstable_by(|a, b| b.cmp(a));
    // More than eight bytes have more than one bit.
    std::array::from_fn(|place| choice[place].1)
}

/// The device's own compression: the code of each byte, and how many bits it has.
type Codes = [(u32, u32); 256];

struct Writer {
    bytes: Vec<u8>,
    crc: u16,
}

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.crc = crc::update(self.crc, bytes);
    }

    fn command(&mut self, command: u8, payload: &[u8]) {
        self.bytes(&[command, 0, 0, 0]);
        self.bytes(payload);
    }

    fn dummies(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, c::DUMMY);
    }

    fn crc(&mut self) {
        self.bytes.extend(self.crc.to_be_bytes());
        self.crc = 0;
    }

    fn usercode(&mut self, memory: &ConfigMemory) {
        self.bytes(&[c::PROGRAM_USERCODE, 0x80, 0, 0]);
        self.bytes(&memory.usercode().to_be_bytes());
        self.crc();
    }

    fn start(&mut self, command: u8, frames: &[&[u8]]) {
        // No device has more frames than fit into 16 bits.
        let [high, low] = (frames.len() as u16).to_be_bytes();
        self.bytes(&[command, FRAME_OPTIONS, high, low]);
    }

    fn plain(&mut self, frames: &[&[u8]]) {
        self.start(c::PROGRAM_FRAMES, frames);
        for frame in frames {
            self.bytes(frame);
            self.crc();
            self.bytes(&[c::DUMMY]);
        }
    }

    /// The runs of the frames at these places in the order of transmission, which go upwards, each behind its address.
    fn runs(&mut self, memory: &ConfigMemory, positions: &[usize], codes: Option<&Codes>) -> Option<()> {
        let all: Vec<&[u8]> = memory.frames().collect();
        for run in positions.chunk_by(|a, b| a + 1 == *b) {
            self.command(c::WRITE_ADDRESS, &memory.device().address(run[0])?.to_be_bytes());
            let frames = &all[run[0]..run[0] + run.len()];
            match codes {
                Some(codes) => self.compressed(frames, codes),
                None => self.plain(frames),
            }
        }
        Some(())
    }

    /// Writes the patterns of the device's compression, and says what codes bytes have then.
    fn dictionary(&mut self, patterns: [u8; PATTERNS]) -> Codes {
        let mut reversed = patterns;
        reversed.reverse();
        self.command(c::WRITE_DICTIONARY, &reversed);
        let code = |byte: u8| match (byte, patterns.iter().position(|p| *p == byte)) {
            (0, _) => (0, 1),
            (b, _) if b.is_power_of_two() => (0b100_000 | b.trailing_zeros(), 6),
            (_, Some(entry)) => (0b101_000 | entry as u32, 6),
            (b, None) => (0b11 << 8 | u32::from(b), 10),
        };
        std::array::from_fn(|byte| code(byte as u8))
    }

    fn compressed(&mut self, frames: &[&[u8]], codes: &Codes) {
        self.start(c::PROGRAM_COMPRESSED, frames);
        for frame in frames {
            let fill = frame.len().next_multiple_of(8) - frame.len();
            let (mut bits, mut held) = (0u64, fill as u32);
            let mut packed = Vec::with_capacity(frame.len() * 10 / 8 + 2);
            for byte in *frame {
                let (code, len) = codes[usize::from(*byte)];
                bits = bits << len | u64::from(code);
                held += len;
                while held >= 8 {
                    held -= 8;
                    packed.push((bits >> held) as u8);
                }
            }
            if held > 0 {
                packed.push((bits << (8 - held)) as u8);
            }
            self.bytes(&packed);
            self.crc();
            self.bytes(&[c::DUMMY]);
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.command(c::PROGRAM_DONE, &[]);
        self.dummies(STARTUP_BYTES);
        self.bytes
    }
}
