// SPDX-License-Identifier: Apache-2.0
//! Captures of all kinds, whole and damaged.

use std::io::{Cursor, Write};
use std::time::Duration;

use ace_pcap::read::MAX_BLOCK;
use ace_pcap::{Capture, CaptureWriter, DataLink, Format, Item, Lost, TsResolution, WriteError};
use proptest::prelude::*;

const ETHERNET: DataLink = DataLink::ETHERNET;

/// A pcapng block of the byte order.
fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
    let padding = body.len().next_multiple_of(4) - body.len();
    let len = word((12 + body.len() + padding) as u32);
    [&word(kind)[..], &len, body, &[0; 3][..padding], &len].concat()
}

struct Ng {
    big: bool,
    bytes: Vec<u8>,
}

impl Ng {
    fn new(big: bool) -> Self {
        let mut file = Self { big, bytes: Vec::new() };
        file.section();
        file
    }

    fn words(&self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| if self.big { w.to_be_bytes() } else { w.to_le_bytes() }).collect()
    }

    fn section(&mut self) {
        let version = if self.big { 0x0001_0000 } else { 0x0000_0001 };
        let body = self.words(&[0x1a2b_3c4d, version, u32::MAX, u32::MAX]);
        self.bytes.extend(block(self.big, 0x0a0d_0d0a, &body));
    }

    /// Options: a code and its bytes; no end of options, as the specification allows.
    fn interface(&mut self, link: u16, options: &[(u16, &[u8])]) {
        let short = |n: u16| if self.big { n.to_be_bytes() } else { n.to_le_bytes() };
        let mut body = [&short(link)[..], &[0; 6]].concat();
        for (code, value) in options {
            body.extend([&short(*code)[..], &short(value.len() as u16), value].concat());
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.bytes.extend(block(self.big, 1, &body));
    }

    fn packet(&mut self, interface: u32, ticks: u64, bytes: &[u8], wire: u32) {
        let head = [interface, (ticks >> 32) as u32, ticks as u32, bytes.len() as u32, wire];
        let body = [&self.words(&head)[..], bytes].concat();
        self.bytes.extend(block(self.big, 6, &body));
    }

    fn integer(&self, value: i64) -> [u8; 8] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// Time, link type, bytes, and whether it is cut; or why it cannot be read.
type Found = Result<(Duration, u32, Vec<u8>, bool), &'static str>;

/// What a capture holds, and how it ends.
fn all(bytes: &[u8]) -> (Vec<Found>, Option<String>) {
    let mut capture = Capture::read("a", Box::new(Cursor::new(bytes.to_vec())), None).expect("a header");
    let (mut found, mut damage) = (Vec::new(), None);
    while let Some(next) = capture.next_item() {
        match next {
            Ok(Item::Frame(f)) => found.push(Ok((f.time, f.link.into(), f.bytes.to_vec(), f.is_cut()))),
            Ok(Item::Unreadable { why, .. }) => found.push(Err(why)),
            Err(error) => damage = Some(error.to_string()),
        }
    }
    (found, damage)
}

#[test]
fn resolution_and_offset_are_those_of_each_interface() {
    for big in [false, true] {
        let mut file = Ng::new(big);
        let offset = file.integer(-5);
        file.interface(1, &[]);
        file.interface(1, &[(9, &[9]), (1, b"a remark that is no UTF-8: \xff")]);
        file.interface(1, &[(9, &[0x80 | 10]), (14, &offset)]);
        file.interface(1, &[(9, &[0])]);
        file.interface(1, &[(9, &[0xff])]);
        file.interface(1, &[(9, &[12])]);
        for (interface, ticks) in [
            (0, 1_500_000),
            (1, 1_500_000_000),
            (2, 6 * 1024 + 512),
            (3, 7),
            (4, 1 << 60),
            (5, 1_500_000_000_123),
        ] {
            file.packet(interface, ticks, b"x", 1);
        }
        let (found, damage) = all(&file.bytes);
        let times: Vec<Duration> = found.iter().map(|f| f.as_ref().expect("a frame").0).collect();
        let second = Duration::from_millis(1500);
        assert_eq!(times, [second, second, second, Duration::from_secs(7), Duration::ZERO, second], "{big}");
        assert_eq!(damage, None);
    }
}

#[test]
fn a_frame_before_1970_or_of_nobody_is_lost_and_no_other() {
    let mut file = Ng::new(false);
    let offset = file.integer(-5);
    file.interface(1, &[(14, &offset)]);
    file.packet(0, 4_999_999, b"early", 5);
    file.packet(7, 6_000_000, b"whose", 5);
    file.packet(0, 6_000_000, b"right", 5);
    let (found, damage) = all(&file.bytes);
    assert_eq!(found[0], Err("of a time before 1970"));
    assert_eq!(found[1], Err("of an interface that is not described"));
    assert_eq!(found[2].as_ref().expect("a frame").2, b"right");
    assert_eq!((found.len(), damage), (3, None));
}

#[test]
fn a_section_has_its_own_interfaces_and_byte_order() {
    let mut file = Ng::new(false);
    file.interface(1, &[]);
    file.packet(0, 1, b"a", 1);
    let mut second = Ng::new(true);
    second.interface(101, &[]);
    second.packet(0, 1, b"b", 1);
    // Of the first section's, and not of this one's.
    second.packet(1, 1, b"c", 1);
    let (found, damage) = all(&[file.bytes, second.bytes].concat());
    let links: Vec<u32> = found.iter().flatten().map(|f| f.1).collect();
    assert_eq!((links, found.len(), damage), (vec![1, 101], 3, None));
}

#[test]
fn obsolete_and_simple_packets_are_read() {
    let mut file = Ng::new(false);
    file.interface(1, &[]);
    let old = [&file.words(&[0, 0, 2_000_000, 3, 9])[..], b"old"].concat();
    file.bytes.extend(block(false, 2, &old));
    let simple = [&file.words(&[6])[..], b"simple"].concat();
    file.bytes.extend(block(false, 3, &simple));
    // Blocks of other kinds are passed over, however long.
    file.bytes.extend(block(false, 10, &vec![0; MAX_BLOCK + 4]));
    file.packet(0, 0, b"new", 3);
    let (found, damage) = all(&file.bytes);
    let frames: Vec<(&[u8], bool)> =
        found.iter().map(|f| f.as_ref().expect("a frame")).map(|f| (&f.2[..], f.3)).collect();
    assert_eq!(frames, [(&b"old"[..], true), (b"simple", false), (b"new", false)]);
    assert_eq!(damage, None);
}

/// A pcap file of these records: captured bytes and length on the wire.
fn pcap(snapshot_len: u32, records: &[(&[u8], u32)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, snapshot_len, 1]);
    for (bytes, wire) in records {
        file.extend(words(&[3, 500_000, bytes.len() as u32, *wire]));
        file.extend_from_slice(bytes);
    }
    file
}

#[test]
fn a_cut_frame_is_not_the_end() {
    let (found, damage) =
        all(&pcap(4, &[(b"abcd", 1500), (b"abcd", 4), (b"longer than the header says", 27)]));
    let cut: Vec<bool> = found.iter().map(|f| f.as_ref().expect("a frame").3).collect();
    assert_eq!((cut, damage), (vec![true, false, false], None));
}

#[test]
fn a_record_that_is_too_long_is_passed_over() {
    let long = vec![0; MAX_BLOCK + 1];
    let (found, damage) = all(&pcap(0, &[(&long, long.len() as u32), (b"next", 4)]));
    assert_eq!((found[0].clone(), found.len(), damage), (Err("longer than any frame"), 2, None));
    assert_eq!(found[1].as_ref().expect("a frame").2, b"next");
}

#[test]
fn what_gzip_has_packed_is_read_and_a_cut_is_damage() {
    let file = pcap(65_535, &[(b"one", 3), (b"two", 3)]);
    let pack = |bytes: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).and_then(|()| out.finish()).expect("a Vec takes all")
    };
    // Of two members as of one.
    let packed = [pack(&file[..50]), pack(&file[50..])].concat();
    assert_eq!(all(&packed), all(&file));
    let (found, damage) = all(&packed[..packed.len() - 9]);
    assert!(found.len() < 2 || damage.is_some(), "{found:?}");
}

#[test]
fn a_file_cut_anywhere_gives_what_was_whole() {
    let frames: [&[u8]; 3] = [b"first", b"second", b"third"];
    let whole = pcap(65_535, &frames.map(|f| (f, f.len() as u32)));
    let mut ng = Ng::new(false);
    ng.interface(1, &[]);
    let head = ng.bytes.len();
    frames.iter().for_each(|f| ng.packet(0, 0, f, f.len() as u32));
    for (file, head) in [(whole, 24), (ng.bytes, head)] {
        let mut last = 0;
        for cut in head..=file.len() {
            let (found, damage) = all(&file[..cut]);
            assert!(found.len() >= last && found.iter().all(Result::is_ok));
            last = found.len();
            for (frame, wanted) in found.iter().flatten().zip(frames) {
                assert_eq!(frame.2, wanted);
            }
            let (again, _) = all(&[&file[..cut]].concat());
            assert_eq!(again, found);
            assert!(damage.is_none() || damage.is_some_and(|d| d.contains(&format!("packet {}", last + 1))));
        }
        assert_eq!(last, 3);
    }
}

fn written(format: Format, frames: &[(u32, Duration, &[u8])]) -> (Vec<u8>, Vec<Option<Lost>>) {
    let mut writer = CaptureWriter::new(Vec::new(), format, ETHERNET, TsResolution::MicroSecond, 65_535)
        .expect("a header");
    let lost =
        frames.iter().map(|(link, time, bytes)| match writer.write(DataLink::from(*link), *time, bytes) {
            Ok(()) => None,
            Err(WriteError::Frame(lost)) => Some(lost),
            Err(WriteError::Io(error)) => panic!("{error}"),
        });
    let lost = lost.collect();
    (writer.into_inner(), lost)
}

#[test]
fn a_frame_that_has_no_place_is_lost_and_no_other() {
    let long = vec![0; 65_536];
    let late = Duration::from_secs(1 << 32);
    let second = Duration::from_secs(1);
    let frames: [(u32, Duration, &[u8]); 5] =
        [(1, second, b"a"), (1, second, &long), (1, late, b"b"), (101, second, b"c"), (1, second, b"d")];
    let (pcap, lost) = written(Format::Pcap, &frames);
    assert_eq!(lost, [None, Some(Lost::TooLong), Some(Lost::Time), Some(Lost::OtherLink), None]);
    assert_eq!(all(&pcap).0.len(), 2);
    let (ng, lost) = written(Format::PcapNg, &frames);
    assert_eq!(lost, [None; 5]);
    let (found, damage) = all(&ng);
    let found: Vec<_> = found.into_iter().map(|f| f.expect("a frame")).collect();
    let wanted: Vec<_> = frames.iter().map(|(link, time, b)| (*time, *link, b.to_vec(), false)).collect();
    assert_eq!((found, damage), (wanted, None));
}

proptest! {
    #[test]
    fn no_file_is_too_odd(
        start in 0usize..3, flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        tail in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut file = match start {
            0 => pcap(65_535, &[(b"one", 3), (b"two", 3)]),
            n => {
                let mut file = Ng::new(n == 1);
                file.interface(1, &[(9, &[6])]);
                file.packet(0, 1, b"one", 3);
                file.bytes
            }
        };
        file.extend(tail);
        for (at, with) in flips {
            let at = at.index(file.len());
            file[at] ^= with;
        }
        if let Ok(mut capture) = Capture::read("a", Box::new(Cursor::new(file)), None) {
            while let Some(Ok(_)) = capture.next_item() {}
        }
    }
}

#[test]
fn a_note_stands_beside_a_frame_in_pcapng_alone() {
    use ace_pcap::{CaptureWriter, DataLink, Format, Lost, Note, TsResolution, WriteError};
    let note = Note { comment: "dropped: \u{e9}".repeat(9000).leak(), outbound: true, original_len: 99 };
    for (format, taken) in [(Format::PcapNg, true), (Format::Pcap, false)] {
        let mut writer = CaptureWriter::new(Vec::new(), format, DataLink::RAW, TsResolution::NanoSecond, 0)
            .expect("memory");
        let wrote = writer.write_noted(DataLink::RAW, std::time::Duration::from_secs(1), &[0x45; 20], note);
        assert_eq!(wrote.is_ok(), taken);
        assert!(taken || matches!(wrote, Err(WriteError::Frame(Lost::Note))));
        let written = writer.into_inner();
        // As much of it as an option holds, and whole characters.
        let found = written.windows(8).filter(|part| *part == b"dropped:").count();
        assert_eq!(found > 5000, taken, "{found}");
    }
}
