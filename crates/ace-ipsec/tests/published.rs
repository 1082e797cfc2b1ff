// SPDX-License-Identifier: Apache-2.0
//! Packets that others sealed: RFC 3602, section 4, and an independent implementation (vectors/make_scapy.py).

use std::path::{Path, PathBuf};

use crate::common::{End, SaText, send};
use ace_engine::software::CpuEngine;
use ace_ipsec::kat::{self, Outcome, Row};
use ace_ipsec::{How, packet};

/// RFC 3602, 4, cases 5 to 8: key, outer packet, what was inside, next header.
const RFC_3602: [(&str, &str, &str, u8); 4] = [
    (
        "90d382b410eeba7ad938c46cec1a82bf",
        "4500007c08f200004032f9a5c0a87b03c0a87b64\
         0000432100000001e96e8c08ab465763fd098d45dd3ff893\
         f663c25d325c18c6a9453e194e120849a4870b66cc6b9965330013b4898dc856\
         a4699e523a55db080b59ec3a8e4b7e52775b07d1db34ed9c538ab50c551b874a\
         a269add047ad2d5913ac19b7cfbad4a6",
        "08000ebda70a00008e9c083db95b070008090a0b0c0d0e0f1011121314151617\
         18191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637",
        1,
    ),
    (
        "90d382b410eeba7ad938c46cec1a82bf",
        "4500004c08fe00004032f9c9c0a87b03c0a87b64\
         000043210000000869d08df7d203329db093fc4924e5bd80\
         f51995881ec4e0c4488987ce742e8109689bb379d2d750c0d915dca346a89f75",
        "0800b5e8a80a0500a69c083d0b660e00777777777777777777777777",
        1,
    ),
    (
        "0123456789abcdef0123456789abcdef",
        "4500008c090500004032f91ec0a87b03c0a87bc8\
         0000876500000002f4e765244f6407adf13dc1380f673f37\
         773b5241a4c449225e4f3ce5ed611b0c237ca96cf74a93013c1b0ea1a0cf70f8\
         e4ecaec78ac53aad7a0f022b859243c647752e94a859352b8a4d4d2decd136e5\
         c177f132ad3fbfb2201ac9904c74ee0a109e0ca1e4dfe9d5a100b842f1c22f0d",
        "45000054090400004001f988c0a87b03c0a87bc8\
         08009f76a90a0100b49c083d02a2040008090a0b0c0d0e0f1011121314151617\
         18191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637",
        4,
    ),
    (
        "0123456789abcdef0123456789abcdef",
        "4500007c090d00004032f926c0a87b03c0a87bc8\
         000087650000000585d47224b5f3dd5d2101d4ea8dffab22\
         15b92683819596a8047232cc00f7048fe45318e11f8a0f62ede3c3fc61203bb5\
         0f980a08c9843fd3a1b06d5c07ff9639b7eb7dfb3512e5de435e7207ed971ef3\
         d2726d9b5ef6affc6d17a0decbb13892",
        "45000044090c00004001f990c0a87b03c0a87bc8\
         0800d63caa0a0200c69c083da3de0300ffffffffffffffffffffffffffffffff\
         ffffffffffffffffffffffffffffffff",
        4,
    ),
];

fn row(case: &(&str, &str, &str, u8)) -> Row {
    let &(key, outer, payload, next_header) = case;
    let esp = &outer[40..];
    Row {
        proto: "ESP".into(),
        enc_alg: "AES-CBC".into(),
        enc_key_hex: key.into(),
        auth_alg: "NULL".into(),
        icv_len: "0".into(),
        spi_hex: esp[..8].into(),
        seq_hex: esp[8..16].into(),
        iv_hex: esp[16..48].into(),
        payload_hex: payload.into(),
        next_header: next_header.to_string(),
        esp_hex: esp.into(),
        ..Row::default()
    }
}

#[test]
fn rfc_3602_packets_both_ways() {
    for case in &RFC_3602 {
        assert_eq!(kat::check(&row(case), &mut CpuEngine::new()), Outcome::Passed);
    }
}

#[test]
fn a_wrong_byte_anywhere_in_a_row_fails() {
    for field in 0..5 {
        let mut row = row(&RFC_3602[1]);
        let text =
            [&mut row.esp_hex, &mut row.payload_hex, &mut row.iv_hex, &mut row.enc_key_hex, &mut row.seq_hex]
                .into_iter()
                .nth(field)
                .unwrap();
        let last = text.pop().unwrap();
        text.push(if last == '0' { '1' } else { '0' });
        let outcome = kat::check(&row, &mut CpuEngine::new());
        assert!(matches!(outcome, Outcome::Failed(_)), "field {field}: {outcome:?}");
    }
}

#[test]
fn rows_of_other_suites_are_skipped() {
    for (cipher, auth, proto) in
        [("ROT13", "NULL", "ESP"), ("AES-CBC", "CRC32", "ESP"), ("AES-CBC", "NULL", "AH")]
    {
        let other =
            Row { enc_alg: cipher.into(), auth_alg: auth.into(), proto: proto.into(), ..row(&RFC_3602[0]) };
        assert!(matches!(kat::check(&other, &mut CpuEngine::new()), Outcome::Skipped(_)));
    }
}

#[test]
fn rfc_3602_packets_through_the_data_plane() {
    for (key, outer, payload, next_header) in &RFC_3602 {
        let packet = hex::decode(outer).unwrap();
        let ip = packet::ip::parse(&packet).unwrap();
        let text = format!(
            "allow_legacy = true\n[[sa]]\nname = \"a\"\nspi = 0x{}\ndirection = \"in\"\nmode = \"{}\"\n\
             local = \"{}\"\nremote = \"{}\"\ncipher = \"aes-128-cbc\"\nkey = \"{key}\"\nauth = \"none\"\n",
            &outer[40..48],
            if *next_header == 4 { "tunnel" } else { "transport" },
            ip.destination,
            ip.source,
        );
        let End::Forwarded(How::Decapsulated, found) = send(&mut crate::common::plane(&text), &packet) else {
            panic!("dropped")
        };
        if *next_header == 4 {
            assert_eq!(hex::encode(&found), *payload);
        } else {
            assert_eq!(hex::encode(&found[20..]), *payload);
            let ip = packet::ip::parse(&found).unwrap();
            assert_eq!((ip.protocol, ip.total_len), (Some(1), found.len()));
            assert_eq!(packet::ip::checksum(&found[..20]), 0);
        }
    }
}

/// Every published ESP packet, where the shared vectors are: RFC 3602, RFC 7634 and the GCM draft.
#[test]
fn every_row_of_the_shared_vectors() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("ACE_VECTORS").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        return eprintln!("no {}: the shared vectors are not here", folder.display());
    }
    let mut reader = csv::Reader::from_path(folder.join("esp.csv")).unwrap();
    let rows: Vec<Row> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    assert!(rows.len() >= 19);
    for row in rows {
        let outcome = kat::check(&row, &mut CpuEngine::new());
        assert_eq!(outcome, Outcome::Passed, "{} {}", row.source, row.case);
    }
}

/// A packet that scapy sealed.
#[derive(Debug, serde::Deserialize)]
struct Scapy {
    shape: String,
    mode: String,
    local: String,
    remote: String,
    cipher: String,
    key: String,
    auth: String,
    auth_key: String,
    spi: u32,
    esn: bool,
    sequence: u64,
    clear: String,
    esp: String,
}

fn scapy() -> Vec<Scapy> {
    let mut reader =
        csv::Reader::from_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/scapy.csv")).unwrap();
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

impl Scapy {
    fn sa_file(&self, direction: &str) -> String {
        let Self { mode, local, remote, cipher, key, auth, auth_key, spi, esn, sequence, .. } = self;
        let (local, remote) = if direction == "out" { (local, remote) } else { (remote, local) };
        format!(
            "allow_legacy = true\n[[sa]]\nname = \"a\"\nspi = {spi}\ndirection = \"{direction}\"\n\
             mode = \"{mode}\"\nlocal = \"{local}\"\nremote = \"{remote}\"\ncipher = \"{cipher}\"\n\
             key = \"{key}\"\nauth = \"{auth}\"\nauth_key = \"{auth_key}\"\nesn = {esn}\n\
             first_sequence = {sequence}\n",
        )
    }
}

#[test]
fn what_scapy_sealed_is_opened() {
    let rows = scapy();
    assert_eq!(rows.len(), 162, "9 ciphers, 3 authentications, 6 shapes");
    for row in rows {
        let mut plane = crate::common::plane(&row.sa_file("in"));
        let end = send(&mut plane, &hex::decode(&row.esp).unwrap());
        let expected = End::Forwarded(How::Decapsulated, hex::decode(&row.clear).unwrap());
        assert_eq!(end, expected, "{row:?}");
    }
}

/// Headers byte for byte, except what is chosen freely: IV (and with it ciphertext and ICV), and of outer headers
/// the identification, traffic class, flow label and hop limit.
#[test]
fn our_packets_look_like_scapys() {
    for row in scapy() {
        let mut plane = crate::common::plane(&row.sa_file("out"));
        let (clear, theirs) = (hex::decode(&row.clear).unwrap(), hex::decode(&row.esp).unwrap());
        let ours = send(&mut plane, &clear).packet();
        let (ip, their_ip) = (packet::ip::parse(&ours).unwrap(), packet::ip::parse(&theirs).unwrap());
        assert_eq!(ip.protocol, Some(packet::protocol::ESP));
        assert_eq!((ip.source, ip.destination), (their_ip.source, their_ip.destination));
        if row.shape == "dest6" && row.mode == "transport" {
            // Scapy leaves destination options in front of ESP; RFC 4303, 3.1.1 wants them behind it.
            assert!(ip.upper.at < their_ip.upper.at);
        } else if row.mode == "transport" {
            assert_eq!(ours[..ip.upper.at], theirs[..ip.upper.at], "{row:?}");
            assert_eq!(ours[ip.upper.at..][..8], theirs[ip.upper.at..][..8], "SPI and sequence number");
            assert_eq!(ours.len(), theirs.len(), "{row:?}");
        } else {
            assert_eq!(ours.len(), theirs.len(), "{row:?}");
            assert_eq!(ours[ip.upper.at..][..8], theirs[ip.upper.at..][..8], "SPI and sequence number");
        }
        let mut other_end = crate::common::plane(&row.sa_file("in"));
        assert_eq!(send(&mut other_end, &ours), End::Forwarded(How::Decapsulated, clear));
    }
}

#[test]
fn suites_are_not_mixed_up() {
    // The same packet under the wrong suite is refused, not misread.
    let mut sealed = SaText::new("out").suites("aes-128-cbc", "hmac-sha1-96").plane();
    let esp = send(&mut sealed, &crate::common::clear(b"payload")).packet();
    let mut other = SaText::new("in").suites("aes-128-cbc", "hmac-md5-96").plane();
    assert_eq!(send(&mut other, &esp), End::Dropped(ace_ipsec::Cause::IcvMismatch));
}
