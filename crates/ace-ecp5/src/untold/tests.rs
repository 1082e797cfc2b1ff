// SPDX-License-Identifier: Apache-2.0
//! Every command at every place of a stream: only the order that `Emit` writes is nothing but the memory.

use super::*;
use crate::crc;
use crate::device::LFE5U_25F;
use crate::load;

/// A memory with something in each of its parts.
fn memory() -> ConfigMemory {
    let mut memory = ConfigMemory::new(&LFE5U_25F);
    assert!(memory.set_bit(0, 3, true) && memory.set_bit(LFE5U_25F.frames - 1, 5, true));
    memory.set_control0(0x4000_0000);
    memory.set_usercode(0x1234_5678);
    memory
}

/// The stream of a memory in pieces: up to its frames, the frames, what follows them up to USERCODE's CRC, and the end.
fn pieces(memory: &ConfigMemory) -> [Vec<u8>; 4] {
    let bytes = Emit::default().whole(memory);
    let frames = bytes.windows(2).position(|pair| pair == [opcode::PROGRAM_FRAMES, 0x91]).expect("frames");
    let device = memory.device();
    let behind = frames + 4 + device.frames * (device.frame_bytes() + 3);
    let user =
        behind + bytes[behind..].iter().position(|byte| *byte == opcode::PROGRAM_USERCODE).expect("it");
    let (head, rest) = bytes.split_at(frames);
    let (middle, rest) = rest.split_at(user - frames);
    let (usercode, end) = rest.split_at(8);
    [head.to_vec(), middle.to_vec(), usercode.to_vec(), end[2..].to_vec()]
}

/// The stream with a command in front of USERCODE, and CRCs that are right.
fn with(memory: &ConfigMemory, command: &[u8]) -> Vec<u8> {
    let [head, middle, usercode, end] = pieces(memory);
    // The dummy byte behind the last frame is in the CRC.
    let covered = [&[0xff], command, &usercode].concat();
    let crc = crc::update(0, &covered).to_be_bytes();
    [&head[..], &middle, command, &usercode, &crc, &end].concat()
}

#[test]
fn what_emit_writes_is_nothing_but_the_memory() {
    let memory = memory();
    for compress in [false, true] {
        let comment = vec!["a comment".to_owned()];
        let mut bytes = Emit { compress, comment }.whole(&memory);
        assert_eq!(untold(&bytes, &memory), None);
        bytes.extend([0xff; 9]);
        assert_eq!(untold(&bytes, &load(&bytes).expect("good")), None);
    }
    let plain = with(&memory, &[]);
    assert_eq!((plain.len(), untold(&plain, &memory)), (Emit::default().whole(&memory).len(), None));
}

#[test]
fn every_command_more_is_named_or_refused() {
    let memory = memory();
    let id = LFE5U_25F.idcode.to_be_bytes();
    let at = with(&memory, &[]).len() - pieces(&memory)[3].len() - 10;
    let mut named = 0;
    for (code, name) in opcode::NAMES {
        let payload: &[u8] = match code {
            opcode::VERIFY_ID => &id,
            opcode::PROGRAM_CONTROL0 => &[0x40, 0, 0, 0],
            opcode::PROGRAM_USERCODE | opcode::EBR_ADDRESS => &[0; 4],
            opcode::WRITE_DICTIONARY => &[0; 8],
            _ => &[],
        };
        let command = if code == opcode::DUMMY { vec![code] } else { [&[code, 0, 0, 0], payload].concat() };
        let bytes = with(&memory, &command);
        let Ok(read) = load(&bytes) else { continue };
        // It leaves the same memory, and is told from a stream that does nothing else.
        assert_eq!(read, memory, "{name}");
        let found = untold(&bytes, &memory).unwrap_or_else(|| panic!("{name} is passed over"));
        // Where the command is one that comes next anyway, its payload is the first difference.
        assert!((at as u64..at as u64 + 9).contains(&found.offset), "{name}: {found}");
        if !matches!(code, opcode::DUMMY | opcode::PROGRAM_USERCODE) {
            assert_eq!(found.command, Some(code), "{name}: {found}");
            assert!(found.to_string().contains(name), "{found}");
            named += 1;
        }
    }
    // Those that a port refuses there: a jump, error detection, what has no address, dictionary or CRC, DONE itself.
    assert_eq!(named, 7, "commands that leave no trace");
}

#[test]
fn values_that_are_set_and_set_back_and_frames_written_twice_are_named() {
    let memory = memory();
    let set = |value: [u8; 4]| [&[opcode::PROGRAM_CONTROL0, 0, 0, 0], &value[..]].concat();
    let bytes = with(&memory, &[set([0; 4]), set([0x40, 0, 0, 0])].concat());
    assert_eq!(load(&bytes).expect("good"), memory);
    assert_eq!(untold(&bytes, &memory).and_then(|found| found.command), Some(opcode::PROGRAM_CONTROL0));
    // All frames a second time, as they are.
    let [head, middle, usercode, end] = pieces(&memory);
    let start = [opcode::INIT_ADDRESS, 0, 0, 0];
    let again = [&start[..], &middle].concat();
    let covered = [&[0xff][..], &usercode].concat();
    let first = LFE5U_25F.frame_bytes();
    // The first frame's CRC covers the command in front of it.
    let mut again = again;
    let crc = crc::update(0, &[&[0xff][..], &again[..8 + first]].concat()).to_be_bytes();
    again[8 + first..10 + first].copy_from_slice(&crc);
    let crc = crc::update(0, &covered).to_be_bytes();
    let bytes = [&head[..], &middle[..middle.len() - 12], &again, &usercode, &crc, &end].concat();
    assert_eq!(load(&bytes).expect("good"), memory);
    assert_eq!(untold(&bytes, &memory).and_then(|found| found.command), Some(opcode::INIT_ADDRESS));
}
