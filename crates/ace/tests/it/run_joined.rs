// SPDX-License-Identifier: Apache-2.0
//! ESP that lies in several frames: fragments, and segments of TCP. And a capture that has its own keys.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::common::{TRAFFIC, ace, stderr};
use crate::run::{ethernet, packet, pcap, record, run_bytes, sas};

/// ESP of clear packets of so many bytes from 10.0.0.1 to 10.0.0.2.
fn sealed(folder: &Path, lens: &[u16]) -> Vec<Vec<u8>> {
    let clear: Vec<Vec<u8>> = lens.iter().map(|len| ethernet(&[8, 0], &packet(2, *len))).collect();
    let (out, summary) = run_bytes(folder, "bypass", &pcap(&clear), &[]);
    assert_eq!(summary["packets"]["protected"]["packets"], lens.len(), "{}{summary}", stderr(&out));
    let written = fs::read(folder.join("out.pcap")).expect("an output");
    let (mut rest, mut all) = (&written[24..], Vec::new());
    while let Some(len) = rest.get(8..12) {
        let len = u32::from_le_bytes(len.try_into().expect("four bytes")) as usize;
        all.push(rest[16 + 14..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    all
}

/// Runs frames with the SA at its other end; exit code, summary and output.
fn open(folder: &Path, policy: &str, capture: &[u8], more: &[&str]) -> (Option<i32>, Value, Vec<u8>) {
    let text = fs::read_to_string(sas(folder, policy)).expect("an SA file").replace("\"out\"", "\"in\"");
    let text = text.replace("10.0.0.1", "?").replace("10.0.0.2", "10.0.0.1").replace('?', "10.0.0.2");
    let (file, input, output) = (folder.join("in.toml"), folder.join("esp"), folder.join("back.pcap"));
    fs::write(&file, text).expect("written");
    fs::write(&input, capture).expect("written");
    let args = [&["run", "--engine", "cpu", "--json"], more, &["--sas"]].concat();
    let out = ace(&args, &[&file, &input, "-o".as_ref(), &output]);
    let summary = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", stderr(&out)));
    (out.status.code(), summary, fs::read(&output).expect("an output"))
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// An IPv4 packet's checksum left to a network card.
fn fragment(whole: &[u8], from: usize, to: usize) -> Vec<u8> {
    let mut made = [&whole[..20], &whole[20 + from..20 + to]].concat();
    let (len, more) = (made.len() as u16, 20 + to < whole.len());
    made[2..4].copy_from_slice(&len.to_be_bytes());
    made[6..8].copy_from_slice(&((from as u16 / 8) | if more { 0x2000 } else { 0 }).to_be_bytes());
    made[10..12].fill(0);
    ethernet(&[8, 0], &made)
}

/// In UDP from and to port 4500.
fn in_udp(esp: &[u8]) -> Vec<u8> {
    let mut made = [&esp[..20], &[0x11, 0x94, 0x11, 0x94, 0, 0, 0, 0], &esp[20..]].concat();
    let len = made.len() as u16;
    made[2..4].copy_from_slice(&len.to_be_bytes());
    made[24..26].copy_from_slice(&(len - 20).to_be_bytes());
    made[9] = 17;
    made
}

#[test]
fn fragments_of_esp_are_put_together_and_what_is_missing_is_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    let esp = &sealed(folder.path(), &[1400])[0];
    let clear = &packet(2, 1400)[20..];
    for whole in [esp.clone(), in_udp(esp)] {
        let last = whole.len() - 20;
        let parts = [(0, 496), (496, 1000), (1000, last)].map(|(from, to)| fragment(&whole, from, to));
        let [a, b, c] = parts.clone();
        let frames = pcap(&[b.clone(), a.clone(), ethernet(&[8, 0], &packet(9, 60)), a.clone(), c.clone()]);
        let (code, summary, back) = open(folder.path(), "bypass", &frames, &["--fail-on-drop"]);
        assert_eq!(code, Some(0), "{summary}");
        assert_eq!((&summary["reassembled"], &summary["fragments"]), (&1.into(), &4.into()), "{summary}");
        assert_eq!((&summary["written"], holds(&back, clear)), (&2.into(), true), "{summary}");
        let (code, summary, _) = open(folder.path(), "bypass", &pcap(&[a.clone(), c.clone()]), &[]);
        let lost: u64 =
            summary["unassembled"].as_object().expect("whys").values().filter_map(Value::as_u64).sum();
        assert_eq!((code, lost, &summary["written"]), (Some(1), 2, &0.into()), "{summary}");
        let overlap = pcap(&[a, fragment(&whole, 488, 1000), c]);
        let (code, summary, _) = open(folder.path(), "bypass", &overlap, &[]);
        assert_eq!(code, Some(1), "{summary}");
        assert!(summary["unassembled"].to_string().contains("overlap"), "{summary}");
    }
    // IKE beside it is as long as it likes.
    let mut ike = in_udp(esp);
    ike[28..32].fill(0);
    let frames = [fragment(&ike, 496, ike.len() - 20), fragment(&ike, 0, 496)];
    let (code, summary, back) = open(folder.path(), "bypass", &pcap(&frames), &[]);
    assert_eq!(
        (code, &summary["beside_esp"], &summary["written"]),
        (Some(0), &2.into(), &2.into()),
        "{summary}"
    );
    assert!(frames.iter().all(|frame| holds(&back, frame)), "as they came");
}

fn segment(sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let len = (40 + payload.len()) as u16;
    let mut made = packet(2, len);
    made[9] = 6;
    made[20..24].copy_from_slice(&[0x30, 0, 0x11, 0x94]);
    made[24..28].copy_from_slice(&sequence.to_be_bytes());
    made[28..32].fill(0);
    made[32..40].copy_from_slice(&[0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    made.splice(40.., payload.iter().copied());
    ethernet(&[8, 0], &made)
}

#[test]
fn esp_in_tcp_comes_out_and_what_does_not_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let packets = sealed(folder.path(), &[100, 300, 1000]);
    let message = |body: &[u8]| [&(body.len() as u16 + 2).to_be_bytes()[..], body].concat();
    let mut stream = [&b"IKETCP"[..], &message(&[0; 40])].concat();
    packets.iter().for_each(|packet| stream.extend(message(&packet[20..])));
    let at = |from: usize, to: usize| segment(101 + from as u32, 0x18, &stream[from..to]);
    let (syn, fin) = (segment(100, 2, &[]), segment(101 + stream.len() as u32, 0x11, &[]));
    let whole = stream.len();
    // The prefix, IKE and acknowledgements beside it; out of order, and one twice.
    let frames =
        [syn.clone(), at(0, 48), at(600, 900), at(48, 600), at(48, 200), at(900, whole), fin.clone()];
    let (code, summary, back) = open(folder.path(), "bypass", &pcap(&frames), &["--fail-on-drop"]);
    assert_eq!(code, Some(0), "{summary}");
    assert_eq!((&summary["esp_in_tcp"], &summary["tcp_segments"]), (&3.into(), &3.into()), "{summary}");
    assert_eq!((&summary["beside_esp"], &summary["written"]), (&4.into(), &7.into()), "{summary}");
    for len in [100, 300, 1000] {
        assert!(holds(&back, &packet(2, len)[20..]), "{len}");
    }
    let lost = |frames: &[Vec<u8>], why: &str| {
        let (code, summary, _) = open(folder.path(), "discard", &pcap(frames), &[]);
        assert_eq!(code, Some(1), "{why}: {summary}");
        assert!(summary["lost_in_tcp"].to_string().contains(why), "{why}: {summary}");
    };
    lost(&[syn.clone(), at(0, 48), at(600, whole)], "behind one that is missing");
    lost(&[syn.clone(), at(0, 600)], "do not end");
    lost(&[at(48, whole)], "begins before the capture");
    let mut other = at(600, 900);
    *other.last_mut().expect("a byte") ^= 1;
    lost(&[syn.clone(), at(0, 48), at(600, 900), other], "overlap with other bytes");
    // A snapshot length took the end of the only segment with ESP.
    let cut = at(48, whole);
    let frames = [pcap(&[syn, at(0, 48)]), record(&cut[..80], cut.len())].concat();
    let (code, summary, _) = open(folder.path(), "discard", &frames, &[]);
    assert_eq!((code, &summary["cut_short_missing"]), (Some(1), &1.into()), "{summary}");
}

#[test]
fn a_capture_with_its_keys_is_decrypted_without_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (esp, plain, keys, clear) =
        (path("esp.pcapng"), path("plain.pcapng"), path("keys.toml"), path("clear.pcap"));
    let sas = Path::new("tests/demo/protect.toml");
    let protect = ["run", TRAFFIC, "--engine", "cpu", "--iv-seed", "1", "--with-keys", "--sas"];
    let out = ace(&protect, &[sas, "-o".as_ref(), &esp]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert_eq!(fs::metadata(&esp).expect("it is there").permissions().mode() & 0o777, 0o600);
    let imported = ace(&["sas", "import", "--inbound", "-o"], &[&keys, &esp]);
    assert_eq!(imported.status.code(), Some(0), "{}", stderr(&imported));
    let out = ace(&["run", "--engine", "cpu", "--json", "--sas"], &[&keys, &esp, "-o".as_ref(), &clear]);
    let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
    assert_eq!((out.status.code(), &summary["packets"]["decapsulated"]["packets"]), (Some(0), &277.into()));
    // Without the option no key is in it, and that is said.
    let out = ace(&[&protect[..6], &["--sas"]].concat(), &[sas, "-o".as_ref(), &plain]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let none = ace(&["sas", "import", "--inbound"], &[&plain]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("no SAs of ESP among its decryption secrets"), "{}", stderr(&none));
    let with = fs::read(&esp).expect("a capture");
    let without = fs::read(&plain).expect("a capture");
    assert_eq!(with[..28], without[..28], "a section");
    assert!(with.ends_with(&without[28..]), "and the same packets");
    // A kind that is not known is named, and the rest is read.
    let mut others = with.clone();
    let at = others.windows(4).position(|word| word == b"SPSE").expect("the kind");
    others[at] ^= 0x20;
    fs::write(&esp, &others).expect("written");
    let named = ace(&["sas", "import", "--inbound"], &[&esp]);
    assert!(stderr(&named).contains("passed over: secrets that are not known here"), "{}", stderr(&named));
    let out = ace(&protect, &[sas, "-o".as_ref(), &clear]);
    assert_eq!(out.status.code(), Some(2), "pcap has no place for keys");
}
