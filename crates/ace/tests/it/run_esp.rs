// SPDX-License-Identifier: Apache-2.0
//! ESP in captures: what should have come out of it, lengths that packets do not say, and ESP in UDP.

use std::fs;

use serde_json::Value;

use crate::common::{ace, stderr, stdout};
use crate::run::{ethernet, packet, pcap, pcap_header, record, run_bytes, sas};

/// ESP with this SPI for 10.0.0.`to`: nothing about it is right but its headers, of which the checksum is left out.
fn esp(to: u8, fragment: [u8; 2], len: u16) -> Vec<u8> {
    let mut packet = packet(to, len);
    packet[6..8].copy_from_slice(&fragment);
    packet[9] = 50;
    packet[20..28].copy_from_slice(&[0, 0, 0x10, 1, 0, 0, 0, 1]);
    packet
}

/// An IPv6 packet of TCP whose length field says 0.
fn without_length(len: usize) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 0, 6, 64];
    packet.resize(len, 0x5a);
    packet
}

#[test]
fn a_packet_that_says_no_length_passes_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let giant = ethernet(&[0x86, 0xdd], &without_length(80_040));
    let mut covered = packet(2, 9000);
    covered[2..4].fill(0);
    let frames = [giant.clone(), ethernet(&[8, 0], &covered)];
    let (out, summary) = run_bytes(folder.path(), "bypass", &pcap(&frames), &[]);
    // The header of this capture says that no frame is so long, and it is none of the giant's.
    assert_eq!(out.status.code(), Some(1), "{}{}", stdout(&out), stderr(&out));
    assert_eq!((&summary["offloaded"]["length"], &summary["written"]), (&2.into(), &1.into()), "{summary}");
    let wide = [pcap_header(262_144, 1), pcap(&frames)[24..].to_vec()].concat();
    let (out, summary) = run_bytes(folder.path(), "bypass", &wide, &[]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    assert_eq!(summary["packets"]["bypassed"]["bytes"], 80_040, "{summary}");
    assert_eq!(summary["packets"]["protected"]["packets"], 1, "{summary}");
    let left = fs::read(folder.path().join("out.pcap")).expect("an output");
    assert!(left.windows(giant.len()).any(|window| window == giant), "as it came");
    // What is covered and longer than a packet can be goes nowhere, and that is wrong.
    let mut covered = packet(2, 100);
    covered[2..4].fill(0);
    covered.resize(80_000, 0x5a);
    let (out, summary) = run_bytes(folder.path(), "bypass", &pcap(&[ethernet(&[8, 0], &covered)]), &[]);
    assert_eq!((out.status.code(), &summary["packets"]["dropped"]["too_big"]), (Some(1), &1.into()));
}

#[test]
fn whatever_should_have_come_out_of_esp_and_did_not_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let inbound = fs::read_to_string(sas(folder.path(), "bypass")).expect("an SA file");
    let inbound = inbound.replace("\"out\"", "\"in\"").replace("10.0.0.1", "10.0.0.9");
    let (file, input) = (folder.path().join("in.toml"), folder.path().join("in"));
    let output = folder.path().join("out.pcap");
    fs::write(&file, inbound.replace("10.0.0.2", "10.0.0.1").replace("10.0.0.9", "10.0.0.2"))
        .expect("written");
    let run = |capture: &[u8]| {
        fs::write(&input, capture).expect("written");
        let out =
            ace(&["run", "--engine", "cpu", "--json", "--sas"], &[&file, &input, "-o".as_ref(), &output]);
        let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
        (out.status.code(), summary)
    };
    let text = fs::read_to_string(&file).expect("an SA file");
    assert!(text.contains("local = \"10.0.0.2\""), "{text}");
    // Its checksum is filled in, and it is looked at further.
    let (code, summary) = run(&pcap(&[ethernet(&[8, 0], &esp(2, [0, 0], 100))]));
    assert_eq!((code, &summary["offloaded"]["checksum"]), (Some(1), &1.into()), "{summary}");
    assert_eq!(summary["packets"]["dropped"]["bad_ip_checksum"], Value::Null, "{summary}");
    let (code, summary) = run(&pcap(&[ethernet(&[8, 0], &esp(2, [0, 0], 30))]));
    assert_eq!((code, &summary["packets"]["dropped"]["esp_too_short"]), (Some(1), &1.into()), "{summary}");
    for fragment in [[0x20, 0], [0, 4]] {
        let (code, summary) = run(&pcap(&[ethernet(&[8, 0], &esp(2, fragment, 100))]));
        assert_eq!((code, summary["unassembled"].to_string().contains("ESP")), (Some(1), true), "{summary}");
    }
    // The rest of a frame that a snapshot length cut would have been ESP of ours, or somebody else's.
    for (to, code) in [(2, 1), (7, 0)] {
        let frame = ethernet(&[8, 0], &esp(to, [0, 0], 100));
        let (found, summary) = run(&[pcap_header(65_535, 1), record(&frame[..60], frame.len())].concat());
        assert_eq!((found, &summary["cut_short_missing"]), (Some(code), &code.into()), "{summary}");
    }
}

/// An IPv4 packet in which UDP from and to port 4500 carries what is behind the IP header of another.
fn in_udp(inner: &[u8]) -> Vec<u8> {
    let len = (inner.len() + 8) as u16;
    let udp =
        [&4500u16.to_be_bytes()[..], &4500u16.to_be_bytes(), &(len - 20).to_be_bytes(), &[0, 0]].concat();
    let mut packet = [&inner[..20], &udp, &inner[20..]].concat();
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    packet[9] = 17;
    // Left to a network card.
    packet[10..12].fill(0);
    packet
}

#[test]
fn esp_in_udp_is_taken_and_what_is_beside_it_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let outbound = fs::read_to_string(sas(folder.path(), "bypass")).expect("an SA file");
    let inbound = outbound.replace("\"out\"", "\"in\"");
    let ends = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).expect("an end").to_owned();
        line.split('"').nth(1).expect("an address").to_owned()
    };
    let (local, remote) = (ends(&outbound, "local"), ends(&outbound, "remote"));
    let inbound = inbound
        .replace(&format!("local = \"{local}\""), &format!("local = \"{remote}\""))
        .replace(&format!("remote = \"{remote}\""), &format!("remote = \"{local}\""));
    let (out, summary) =
        run_bytes(folder.path(), "bypass", &pcap(&[ethernet(&[8, 0], &packet(2, 100))]), &[]);
    assert_eq!(summary["packets"]["protected"]["packets"], 1, "{}{summary}", stderr(&out));
    let written = fs::read(folder.path().join("out.pcap")).expect("an output");
    let esp = &written[24 + 16 + 14..];
    let mut ike = esp.to_vec();
    ike[20..24].fill(0);
    let mut keepalive = esp[..21].to_vec();
    keepalive[2..4].copy_from_slice(&21u16.to_be_bytes());
    keepalive[20] = 0xff;
    let frames = [esp, &ike, &keepalive].map(|packet| ethernet(&[8, 0], &in_udp(packet)));
    let (file, input, output) =
        (folder.path().join("in.toml"), folder.path().join("udp"), folder.path().join("back.pcap"));
    fs::write(&file, inbound).expect("written");
    fs::write(&input, pcap(&frames)).expect("written");
    let out = ace(&["run", "--engine", "cpu", "--json", "--sas"], &[&file, &input, "-o".as_ref(), &output]);
    let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
    assert_eq!(out.status.code(), Some(0), "{summary}{}", stderr(&out));
    let count = |what: &str| summary[what].as_u64().expect("a number");
    assert_eq!((count("esp_in_udp"), count("beside_esp"), count("written")), (1, 2, 3), "{summary}");
    assert_eq!(summary["packets"]["decapsulated"]["packets"], 1, "{summary}");
    let back = fs::read(&output).expect("an output");
    let clear = packet(2, 100);
    assert!(back.windows(80).any(|window| window == &clear[20..]), "what was inside");
    assert!(back.windows(frames[1].len()).any(|window| window == frames[1]), "IKE as it came");
    // ESP of an SA that is not there is missed.
    let mut stranger = frames[0].clone();
    stranger[14 + 28] ^= 0x40;
    fs::write(&input, pcap(&[stranger])).expect("written");
    let out = ace(&["run", "--engine", "cpu", "--json", "--sas"], &[&file, &input, "-o".as_ref(), &output]);
    let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
    let dropped = &summary["packets"]["dropped"];
    assert_eq!((out.status.code(), &dropped["unknown_spi"]), (Some(1), &1.into()), "{summary}");
}
