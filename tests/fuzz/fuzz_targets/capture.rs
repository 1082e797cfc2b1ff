// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a capture, pcap or pcapng. Nothing panics; whatever is read can be written as pcapng and reads the same;
//! an IP packet is inside of its frame, and the frame is made again around it.
#![no_main]

use std::io::Cursor;

use ace_pcap::read::secrets_from;
use ace_pcap::{Capture, CaptureWriter, Content, DataLink, Format, Item, LinkType, TsResolution};
use libfuzzer_sys::fuzz_target;

fn frames(bytes: Vec<u8>) -> Vec<(std::time::Duration, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let Ok(mut capture) = Capture::read("fuzz", Box::new(Cursor::new(bytes)), None) else { return found };
    while let Some(Ok(item)) = capture.next_item() {
        if let Item::Frame(frame) = item {
            found.push((frame.time, frame.link.into(), frame.bytes.to_vec()));
        }
    }
    found
}

fuzz_target!(|bytes: &[u8]| {
    // What is found is inside of the file.
    if let Ok(found) = secrets_from("fuzz", Box::new(Cursor::new(bytes.to_vec()))) {
        let unpacked = bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]);
        assert!(!unpacked || found.iter().map(|secrets| secrets.bytes.len()).sum::<usize>() <= bytes.len());
    }
    let mut read = frames(bytes.to_vec());
    let mut writer =
        CaptureWriter::new(Vec::new(), Format::PcapNg, DataLink::ETHERNET, TsResolution::NanoSecond, 0)
            .expect("a Vec takes all");
    read.retain(|(time, link, frame)| writer.write(DataLink::from(*link), *time, frame).is_ok());
    assert_eq!(frames(writer.into_inner()), read, "written and read again");
    for (_, link, frame) in &read {
        let Some(Content::Ip(place)) = LinkType::of(DataLink::from(*link)).map(|l| l.content(frame)) else {
            continue;
        };
        let (header, packet) = frame.split_at(place.at);
        let mut again = Vec::new();
        if place.wrap(header, packet, &mut again).is_ok() {
            // Some frames end on a multiple of four bytes.
            let wanted = [frame.len(), frame.len().next_multiple_of(4)];
            assert!(wanted.contains(&again.len()));
            assert_eq!(&again[place.at..frame.len()], packet);
        }
    }
});
