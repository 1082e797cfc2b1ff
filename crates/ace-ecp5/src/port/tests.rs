// SPDX-License-Identifier: Apache-2.0
//! What is refused, one small stream each.

use super::*;
use crate::device::{LFE5U_25F, LFE5U_45F};

const FRAME_25F: usize = 74;
const FRAME_45F: usize = 106;

/// Writes a stream as an honest tool would, or not.
struct Stream {
    bytes: Vec<u8>,
    crc: u16,
}

impl Stream {
    fn new() -> Self {
        Self { bytes: vec![0xff, 0xff, 0xbd, 0xb3], crc: 0 }
    }

    /// Up to the frames of a device.
    fn of(device: &Device) -> Self {
        Self::new().add(&[0x3b, 0, 0, 0]).fresh().add(&[0xe2, 0, 0, 0]).add(&device.idcode.to_be_bytes())
    }

    fn add(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self.crc = crc::update(self.crc, bytes);
        self
    }

    /// Padding, which no CRC covers.
    fn pad(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn fresh(mut self) -> Self {
        self.crc = 0;
        self
    }

    fn crc(mut self) -> Self {
        self.bytes.extend(self.crc.to_be_bytes());
        self.fresh()
    }

    /// The end of every stream.
    fn done(self) -> Self {
        self.add(&[0x5e, 0, 0, 0]).pad(&[0xff; 4])
    }

    fn load(&self, device: &'static Device) -> Result<ConfigMemory, BitstreamError> {
        let mut port = ConfigPort::new(device);
        port.push(&self.bytes)?;
        port.finish().cloned()
    }

    fn refused(&self, device: &'static Device) -> Reason {
        self.load(device).expect_err("refused").reason
    }
}

/// Initial address and one frame of `fill`, with these options.
fn one_frame(options: u8, fill: u8, len: usize) -> Stream {
    let device = if len == FRAME_25F { &LFE5U_25F } else { &LFE5U_45F };
    Stream::of(device).add(&[0x46, 0, 0, 0]).add(&[0x82, options, 0, 1]).add(&vec![fill; len])
}

#[test]
fn frames_with_every_option() {
    // CRC after every frame or at the end, any number of dummy bytes.
    for options in [0x91, 0x80, 0x8f, 0xd1, 0xc0, 0xcf] {
        let dummies = vec![0xff; usize::from(options & 0x0f)];
        let two =
            Stream::of(&LFE5U_45F).add(&[0x46, 0, 0, 0]).add(&[0x82, options, 0, 2]).add(&[0x11; FRAME_45F]);
        let two = if options & 0x40 == 0 { two.crc() } else { two };
        let two = two.add(&dummies).add(&[0xf2; FRAME_45F]).crc().add(&dummies).done();
        let memory = two.load(&LFE5U_45F).unwrap_or_else(|error| panic!("{options:02x}: {error}"));
        assert_eq!(memory.frame(9469).map(|f| f[0]), Some(0x11));
        // Bits that fill the first byte are nobody's.
        assert_eq!(memory.frame(9468).map(|f| (f[0], f[1])), Some((0x32, 0xf2)));
    }
    // Without a CRC the frames come in, and DONE does not.
    let bare = one_frame(0x01, 7, FRAME_25F).add(&[0xff]);
    assert_eq!(bare.done().refused(&LFE5U_25F), Reason::Unverified);
    // A later CRC covers them.
    let later = one_frame(0x01, 7, FRAME_25F).add(&[0xff]).add(&[0xc2, 0x80, 0, 0, 1, 2, 3, 4]).crc().done();
    assert_eq!(later.load(&LFE5U_25F).map(|m| (m.usercode(), m.bit(7561, 0))), Ok((0x0102_0304, Some(true))));
    let bits = one_frame(0xb1, 7, FRAME_25F);
    assert_eq!(bits.refused(&LFE5U_25F), Reason::Information { command: 0x82, info: 0xb1_0001 });
}

#[test]
fn frames_that_do_not_fit() {
    let count = |start: Stream, n: u16| start.add(&[0x82, 0x91, (n >> 8) as u8, n as u8]);
    let start = || Stream::of(&LFE5U_25F).add(&[0x46, 0, 0, 0]);
    assert_eq!(count(start(), 7563).refused(&LFE5U_25F), Reason::FrameCount { count: 7563, room: 7562 });
    assert_eq!(count(start(), 0).refused(&LFE5U_25F), Reason::FrameCount { count: 0, room: 7562 });
    assert_eq!(count(Stream::of(&LFE5U_25F), 1).refused(&LFE5U_25F), Reason::NoAddress);
    // The room shrinks with every frame.
    let after = one_frame(0x91, 0, FRAME_25F).crc().add(&[0xff]);
    assert_eq!(count(after, 7562).refused(&LFE5U_25F), Reason::FrameCount { count: 7562, room: 7561 });

    let at = |address: u32| Stream::of(&LFE5U_45F).add(&[0xb4, 0, 0, 0]).add(&address.to_be_bytes());
    // The last frame of the device: column 89 is the 22nd of the region that starts at column 68.
    let last = 4 << 12 | 21 << 7 | 35;
    let reason = Reason::FrameCount { count: 2, room: 1 };
    assert_eq!(count(at(last), 2).refused(&LFE5U_45F), reason);
    for address in [last + 1, 106, 12 << 7, 0x5000, u32::MAX] {
        assert_eq!(at(address).refused(&LFE5U_45F), Reason::FrameAddress { address, device: &LFE5U_45F });
    }
    let unknown = Stream::of(&LFE5U_25F).add(&[0xb4, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(unknown.refused(&LFE5U_25F), Reason::AddressFormat(&LFE5U_25F));
}

#[test]
fn a_wrong_crc_names_what_it_covers() {
    let place = |stream: Stream| match stream.refused(&LFE5U_25F) {
        Reason::Crc { place, .. } => place,
        other => panic!("{other}"),
    };
    assert_eq!(place(one_frame(0x91, 1, FRAME_25F).pad(&[1, 2, 0xff])), Place::Frame(7561));
    let second = Stream::of(&LFE5U_25F)
        .add(&[0x46, 0, 0, 0])
        .add(&[0x82, 0x90, 0, 2])
        .add(&[9; FRAME_25F])
        .crc()
        .pad(&[9; FRAME_25F + 2]);
    assert_eq!(place(second), Place::Frame(7560));
    let usercode = Stream::of(&LFE5U_25F).add(&[0xc2, 0x80, 0, 0, 0, 0, 0, 0]).pad(&[0, 1]);
    assert_eq!(place(usercode), Place::Command(0xc2));
    let ebr = Stream::of(&LFE5U_25F).add(&[0xf6, 0, 0, 0, 0, 0, 0x28, 0]).add(&[0xb2, 0xd0, 0, 1]);
    assert_eq!(place(ebr.add(&[0; 9]).pad(&[0, 1])), Place::Ebr(5));
    let done = Stream::of(&LFE5U_25F).add(&[0x5e, 0x80, 0, 0]).pad(&[0, 1]);
    assert_eq!(place(done), Place::Command(0x5e));
    let text =
        one_frame(0x91, 1, FRAME_25F).pad(&[1, 2, 0xff]).load(&LFE5U_25F).expect_err("refused").to_string();
    assert!(text.starts_with("byte 98 of the bitstream: CRC mismatch in frame 7561: "), "{text}");
}

#[test]
fn block_ram() {
    let at = |address: u32| Stream::of(&LFE5U_25F).add(&[0xf6, 0, 0, 0]).add(&address.to_be_bytes());
    // The last row of one block and the first of the next.
    let stream = at(5 << 11 | 2040).add(&[0xb2, 0xd0, 0, 2]).add(&[0xff; 9]).add(&[0x80; 9]).crc().done();
    let memory = stream.load(&LFE5U_25F).expect("good");
    assert_eq!(memory.ebr().map(|(id, _)| id).collect::<Vec<_>>(), [5, 6]);
    assert_eq!((memory.ebr_word(5, 2039), memory.ebr_word(5, 2040)), (Some(0), Some(0x1ff)));
    assert_eq!(memory.ebr_word(6, 0), Some(0x101));
    for address in [1, 7, 512 << 11, u32::MAX] {
        assert_eq!(at(address).refused(&LFE5U_25F), Reason::EbrAddress(address));
    }
    let over = at(511 << 11 | 2040).add(&[0xb2, 0xd0, 0, 2]).add(&[0; 18]);
    assert_eq!(over.refused(&LFE5U_25F), Reason::EbrAddress(512 << 11));
    let lost = Stream::of(&LFE5U_25F).add(&[0xb2, 0xd0, 0, 1]);
    assert_eq!(lost.refused(&LFE5U_25F), Reason::NoEbrAddress);
    let options = at(0).add(&[0xb2, 0x91, 0, 1]);
    assert_eq!(options.refused(&LFE5U_25F), Reason::Information { command: 0xb2, info: 0x91_0001 });
    let missing = at(0).add(&[0xb2, 0xd0, 0, 3]).add(&[0; 10]);
    assert_eq!(missing.refused(&LFE5U_25F), Reason::Truncated(Stage::EbrRows { missing: 2 }));
}

#[test]
fn commands() {
    let new = Stream::new;
    for command in 0..=0xffu8 {
        let refused = new().add(&[command]).refused(&LFE5U_25F);
        match command {
            0x3b | 0x79 | 0xe2 | 0xff => assert_eq!(refused, Reason::Truncated(Stage::Commands)),
            0x7e | 0xa2 => assert!(matches!(refused, Reason::Unsupported(c, _) if c == command)),
            0x02 | 0x22 | 0x46 | 0x5e | 0x82 | 0xb2 | 0xb4 | 0xb8 | 0xc2 | 0xce | 0xf6 => {
                assert_eq!(refused, Reason::NoIdcode(command));
            }
            _ => assert_eq!(refused, Reason::UnknownCommand(command)),
        }
    }
    let info =
        |command: u8, info: [u8; 3]| Stream::of(&LFE5U_25F).add(&[command]).add(&info).refused(&LFE5U_25F);
    for command in [0x02, 0x22, 0x46, 0x5e, 0xb4, 0xc2, 0xce, 0xe2, 0xf6, 0x79] {
        assert_eq!(info(command, [0, 0, 1]), Reason::Information { command, info: 1 });
    }
    assert_eq!(
        Stream::new().add(&[0x3b, 0x80, 0, 0]).refused(&LFE5U_25F),
        Reason::Information { command: 0x3b, info: 0x80_0000 }
    );
    // A new CRC may not hide what the old one would have told.
    assert_eq!(info(0x3b, [0, 0, 0]), Reason::Unverified);
    let dictionary = Stream::of(&LFE5U_25F).add(&[0x46, 0, 0, 0]).add(&[0xb8, 0x91, 0, 1]);
    assert_eq!(dictionary.refused(&LFE5U_25F), Reason::NoDictionary);
    let unknown = Stream::new().add(&[0xe2, 0, 0, 0, 1, 2, 3, 4]);
    let mut any = ConfigPort::for_any_device();
    assert_eq!(
        any.push(&unknown.bytes).expect_err("refused").reason,
        Reason::UnknownDevice { found: 0x0102_0304 }
    );
    let dummy = one_frame(0x91, 1, FRAME_25F).crc().add(&[0xfe]);
    assert_eq!(dummy.refused(&LFE5U_25F), Reason::Dummy(0xfe));
}

#[test]
fn the_end() {
    let checked = || Stream::of(&LFE5U_25F).add(&[0xce, 0, 0, 0]).add(&[0xc2, 0x80, 0, 0, 0, 0, 0, 0]).crc();
    let mut port = ConfigPort::new(&LFE5U_25F);
    port.push(&checked().pad(&[0xff; 20]).done().pad(&[0xff; 100]).bytes).expect("padding anywhere");
    assert!(port.finish().is_ok() && port.seen().security);
    assert_eq!(checked().refused(&LFE5U_25F), Reason::Truncated(Stage::Commands));
    let cut = checked().add(&[0x5e, 0, 0, 0]).pad(&[0xff; 3]);
    assert_eq!(cut.refused(&LFE5U_25F), Reason::Truncated(Stage::Startup { missing: 1 }));
    for behind in [0x00, 0x5e, 0x7f] {
        assert_eq!(checked().done().pad(&[0xff, behind]).refused(&LFE5U_25F), Reason::BehindDone(behind));
    }
    // DONE may carry a CRC of its own.
    let with_crc = Stream::of(&LFE5U_25F).add(&[0x5e, 0x80, 0, 0]).crc().pad(&[0xff; 4]);
    assert!(with_crc.load(&LFE5U_25F).is_ok());
    assert_eq!(Stream::of(&LFE5U_25F).done().refused(&LFE5U_25F), Reason::Unverified);
    assert_eq!(Stream::new().done().refused(&LFE5U_25F), Reason::NoIdcode(0x5e));
}

#[test]
fn what_precedes_the_preamble_is_bounded() {
    let mut port = ConfigPort::for_any_device();
    for _ in 0..100 {
        port.push(&[0xaa; 1000]).expect("not a bitstream yet");
    }
    assert_eq!(port.finish().expect_err("nothing came").reason, Reason::NoPreamble);
    assert_eq!((port.comment().len(), port.bytes()), (COMMENT_MAX, 100_000));
    port.push(&Stream::of(&LFE5U_25F).bytes).expect("a start");
    assert!(port.memory().is_some());
}

#[test]
fn one_bitstream_is_for_one_device() {
    // The smaller device has fewer frames than the address that the larger one was given.
    let second = Stream::of(&LFE5U_45F)
        .add(&[0xb4, 0, 0, 0])
        .add(&0u32.to_be_bytes())
        .add(&[0xe2, 0, 0, 0])
        .add(&LFE5U_25F.idcode.to_be_bytes())
        .add(&[0x82, 0x91, 0, 1])
        .add(&[0; FRAME_25F]);
    let wrong = Reason::WrongDevice { expected: &LFE5U_45F, found: LFE5U_25F.idcode };
    let mut port = ConfigPort::for_any_device();
    assert_eq!(port.push(&second.bytes).expect_err("a second device").reason, wrong);
    // A new bitstream may be for another one.
    port.rearm();
    port.push(&Stream::of(&LFE5U_25F).bytes).expect("another bitstream");
    assert_eq!(port.memory().map(ConfigMemory::device), Some(&LFE5U_25F));
}
