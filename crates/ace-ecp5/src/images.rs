// SPDX-License-Identifier: Apache-2.0
//! Files with several bitstreams behind each other, as they stand in flash memories, and jumps to one of them.

use serde::Serialize;
use thiserror::Error;

use crate::device::Device;
use crate::error::{BitstreamError, Reason};
use crate::port::{ConfigPort, opcode};

/// What every bitstream begins with.
const PREAMBLE: [u8; 4] = [0xff, 0xff, 0xbd, 0xb3];
/// Commands, and what they mean, of a bitstream that jumps: dummies, and the command with its address.
const JUMP_MAX: usize = 64;

/// One bitstream of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Where it begins in the file: its comment, if there is one, else its preamble.
    pub begin: usize,
    /// Where what is not its own begins.
    pub end: usize,
    /// The device that it is made for, unless it is a jump, or damaged before it names one.
    pub device: Option<&'static str>,
    /// The address in flash memory to which it sends the device, if it is a jump and no circuit.
    pub jump: Option<u32>,
    /// What a port refuses in it.
    pub error: Option<String>,
}

/// Which bitstream of a file is meant is not clear.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ImageError {
    /// Several, and none was chosen.
    #[error("{count} bitstreams; --image N takes one of them: {list}")]
    Several {
        /// How many there are.
        count: usize,
        /// What they are.
        list: String,
    },
    /// None has this number, or it is a jump.
    #[error("no bitstream of a circuit has number {number}: {list}")]
    None {
        /// The number that was asked for.
        number: usize,
        /// What there is.
        list: String,
    },
}

/// The bitstreams of a file, in order. What does not begin with a preamble is no bitstream; a damaged one ends where the
/// next begins.
pub fn images(bytes: &[u8]) -> Vec<Image> {
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(begin) = find(bytes, from) {
        let start = comment(bytes, from, begin);
        let next = |at: usize| find(bytes, at).unwrap_or(bytes.len());
        if let Some((jump, end)) = jump(bytes, begin + PREAMBLE.len()) {
            all.push(Image { begin: start, end, device: None, jump: Some(jump), error: None });
            from = end;
            continue;
        }
        let (length, device, error) = one(&bytes[begin..]);
        let end = if error.is_none() { begin + length } else { next(begin + length.max(PREAMBLE.len())) };
        let error = error.map(|error| error.to_string());
        all.push(Image { begin: start, end, device, jump: None, error });
        from = end;
    }
    all
}

/// The bytes of the image of a number, for a port: the whole file where it has one bitstream only, and none is asked for.
///
/// # Errors
/// What to choose from.
pub fn choose(bytes: &[u8], number: Option<usize>) -> Result<&[u8], ImageError> {
    let all = images(bytes);
    let circuits = || {
        let said = all.iter().enumerate().map(|(number, image)| match (image.device, image.jump) {
            (_, Some(address)) => format!("{number}: a jump to {address:#08x}"),
            (device, _) => format!("{number}: {} at byte {}", device.unwrap_or("damaged"), image.begin),
        });
        said.collect::<Vec<_>>().join(", ")
    };
    match number {
        None if all.len() <= 1 => Ok(bytes),
        None => Err(ImageError::Several { count: all.len(), list: circuits() }),
        Some(number) => match all.get(number) {
            Some(Image { begin, end, jump: None, .. }) => Ok(&bytes[*begin..*end]),
            _ => Err(ImageError::None { number, list: circuits() }),
        },
    }
}

fn find(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(PREAMBLE.len()).position(|four| four == PREAMBLE).map(|at| from + at)
}

/// Where the comment before a preamble begins (`FF 00`, lines, `FF`), or the preamble itself.
fn comment(bytes: &[u8], from: usize, preamble: usize) -> usize {
    let before = &bytes[from..preamble];
    let text = |b: &u8| *b == 0 || b.is_ascii_graphic() || b.is_ascii_whitespace();
    // The dummies behind the comment belong to it.
    let end = before.iter().rposition(|b| *b != 0xff).map_or(0, |last| last + 1);
    let begin = before[..end].iter().rposition(|b| !text(b)).map_or(0, |last| last + 1);
    let begins = begin > 0 && before[begin - 1] == 0xff && before.get(begin) == Some(&0) && begin < end;
    if begins { from + begin - 1 } else { preamble }
}

/// The address of a jump, if the commands at a place are one, and where it ends.
fn jump(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let rest = bytes.get(at..)?;
    let dummies = |at: usize| rest.iter().skip(at).take(JUMP_MAX).position(|byte| *byte != opcode::DUMMY);
    let mut first = dummies(0)?;
    // A control register of zeros comes first.
    if rest.get(first..first + 8)? == [opcode::PROGRAM_CONTROL0, 0, 0, 0, 0, 0, 0, 0] {
        first += 8;
        first += dummies(first)?;
    }
    let command = rest.get(first..first + 8)?;
    let [opcode::JUMP, _, _, _, address @ ..] = command else { return None };
    let address = u32::from_be_bytes(address.try_into().ok()?);
    let dummies = rest[first + 8..].iter().take_while(|byte| **byte == opcode::DUMMY);
    let dummies = dummies.take(crate::STARTUP_BYTES).count();
    // The lowest three bytes; the highest is the command with which the flash memory is read.
    Some((address & 0xff_ffff, at + first + 8 + dummies))
}

/// How many bytes a bitstream has, with what wakes the device up, its device, and what is wrong with it.
fn one(bytes: &[u8]) -> (usize, Option<&'static str>, Option<BitstreamError>) {
    let mut port = ConfigPort::for_any_device();
    let named = |port: &ConfigPort| port.memory().map(|memory| memory.device().name);
    for (at, byte) in bytes.iter().enumerate() {
        match port.push(std::slice::from_ref(byte)) {
            Ok(()) if port.started() => return (at + 1, named(&port), None),
            Ok(()) => {}
            Err(error) => {
                let device = match &error.reason {
                    Reason::UnknownDevice { found } => Some(Device::name_of(*found)),
                    _ => named(&port),
                };
                return (at + 1, device, Some(error));
            }
        }
    }
    (bytes.len(), named(&port), port.finish().err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{LFE5U_12F, LFE5UM5G_85F};
    use crate::emit::Emit;
    use crate::memory::ConfigMemory;

    fn bits(device: &'static Device, frame: usize) -> Vec<u8> {
        let mut memory = ConfigMemory::new(device);
        assert!(memory.set_bit(frame, 5, true));
        Emit::default().whole(&memory)
    }

    fn jump_to(address: u32) -> Vec<u8> {
        let mut jump = vec![0xff, 0xff, 0xbd, 0xb3, 0xff, 0xff, 0xff, 0xff, opcode::PROGRAM_CONTROL0];
        jump.extend([0, 0, 0, 0, 0, 0, 0, opcode::JUMP, 0, 0, 0]);
        jump.extend((0x0300_0000 | address).to_be_bytes());
        jump.extend([0xff; 18]);
        jump
    }

    #[test]
    fn bitstreams_behind_each_other_are_found() {
        let (one, other) = (bits(&LFE5U_12F, 3), bits(&LFE5UM5G_85F, 7));
        let mut file = vec![0xff; 256];
        file.extend(&one);
        file.resize(0x20_0000, 0xff);
        file.extend(&other);
        file.resize(0x40_0000, 0xff);
        file.extend(jump_to(0x20_0000));
        let found = images(&file);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!((found[0].device, found[1].device), (Some("LFE5U-12F"), Some("LFE5UM5G-85F")));
        assert_eq!((found[2].jump, found[2].device), (Some(0x20_0000), None));
        for (number, device) in [(0, &LFE5U_12F), (1, &LFE5UM5G_85F)] {
            let bytes = choose(&file, Some(number)).expect("there");
            assert_eq!(crate::load(bytes).expect("whole").device(), device);
        }
        assert!(choose(&file, None).is_err_and(|e| {
            let text = e.to_string();
            text.contains("0: LFE5U-12F") && text.contains("2: a jump")
        }));
        assert!(choose(&file, Some(2)).is_err() && choose(&file, Some(3)).is_err());
        assert_eq!(choose(&one, None).map(<[u8]>::len), Ok(one.len()));
    }

    #[test]
    fn a_damaged_one_ends_where_the_next_begins() {
        let (mut one, other) = (bits(&LFE5U_12F, 3), bits(&LFE5U_12F, 9));
        let middle = one.len() / 2;
        one[middle] ^= 1;
        let file = [one.clone(), other].concat();
        let found = images(&file);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].error.as_ref().is_some_and(|e| e.contains("CRC")));
        assert_eq!(found[1].error, None);
        assert!(choose(&file, Some(1)).is_ok_and(|bytes| crate::load(bytes).is_ok()));
        assert_eq!(images(b"no bitstream"), []);
    }
}
