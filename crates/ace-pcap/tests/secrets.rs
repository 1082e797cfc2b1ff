// SPDX-License-Identifier: Apache-2.0
//! Decryption secrets of pcapng: written, read, passed over, and refused where they are not whole.

use std::io::Write;
use std::time::Duration;

use ace_pcap::read::{SecretsKind, is_pcapng, secrets};
use ace_pcap::{Capture, CaptureWriter, DataLink, Format, Item, Lost, TsResolution, WriteError};

const ROW: &str = "\"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0x1001\"\n";

fn writer(format: Format) -> CaptureWriter<Vec<u8>> {
    CaptureWriter::new(Vec::new(), format, DataLink::RAW, TsResolution::NanoSecond, 0)
        .expect("a Vec takes all")
}

/// Secrets of two kinds, with packets before, between and behind them.
fn capture() -> Vec<u8> {
    let mut out = writer(Format::PcapNg);
    let packet = |out: &mut CaptureWriter<Vec<u8>>| {
        out.write(DataLink::RAW, Duration::from_secs(1), &[0x45; 21]).expect("a Vec takes all");
    };
    packet(&mut out);
    for (kind, text) in
        [(SecretsKind::ESP, ROW), (SecretsKind(0x544c_534b), "CLIENT_RANDOM"), (SecretsKind(7), "")]
    {
        out.write_secrets(kind, text.as_bytes()).expect("a Vec takes all");
        packet(&mut out);
    }
    out.into_inner()
}

fn read(bytes: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, String> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    assert!(is_pcapng(file.path()).expect("it is there"));
    let found = secrets(file.path()).map_err(|error| error.to_string())?;
    Ok(found.iter().map(|secrets| (secrets.kind.0, secrets.bytes.to_vec())).collect())
}

#[test]
fn what_is_written_is_read_and_frames_are_as_before() {
    let bytes = capture();
    let wanted = [(0x4553_5053, ROW.into()), (0x544c_534b, b"CLIENT_RANDOM".to_vec()), (7, Vec::new())];
    assert_eq!(read(&bytes), Ok(wanted.to_vec()));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes).expect("a Vec takes all");
    assert_eq!(read(&packed.finish().expect("a Vec takes all")), Ok(wanted.to_vec()), "packed");
    let mut capture =
        Capture::read("memory", Box::new(std::io::Cursor::new(bytes)), None).expect("a capture");
    let mut frames = 0;
    while let Some(item) = capture.next_item() {
        assert!(matches!(item, Ok(Item::Frame(frame)) if frame.bytes == [0x45; 21]));
        frames += 1;
    }
    assert_eq!(frames, 4);
    assert_eq!(SecretsKind::ESP.name(), Some("SAs of ESP"));
    assert_eq!((SecretsKind(0x544c_534b).name(), SecretsKind(7).name()), (Some("keys of TLS"), None));
    let refused = writer(Format::Pcap).write_secrets(SecretsKind::ESP, b"");
    assert!(matches!(refused, Err(WriteError::Frame(Lost::Secrets))));
}

#[test]
fn secrets_of_either_byte_order_are_read_and_lengths_fit_the_block() {
    let section = [0x0a0d_0d0au32, 28, 0x1a2b_3c4d, 0x0001_0000, u32::MAX, u32::MAX, 28];
    let block = |len: u32| [10u32, 24, 0x4553_5053, len, 0x6162_6300, 24];
    let file =
        |len| section.iter().chain(&block(len)).flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    assert_eq!(read(&file(3)), Ok(vec![(0x4553_5053, b"abc".to_vec())]));
    for len in [5, u32::MAX] {
        assert!(read(&file(len)).expect_err("too long").contains("longer than their block"), "{len}");
    }
    // More of them than anybody has: they are not taken into memory.
    let big = [10u32, (20 << 20) + 20, 0x4553_5053, 20 << 20];
    let mut bytes: Vec<u8> = section.iter().chain(&big).flat_map(|word| word.to_be_bytes()).collect();
    bytes.resize(bytes.len() + (20 << 20), 0x61);
    bytes.extend(big[1].to_be_bytes());
    assert!(read(&bytes).expect_err("too many").contains("16 MiB"));
}
