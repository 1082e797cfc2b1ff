// SPDX-License-Identifier: Apache-2.0
//! Frames in both directions, on any bytes whatever.

use crate::common::Random;
use ace_board::frame::{
    Header, KeySection, ResponseError, Status, assemble, padded, request, response, result_len,
};
use ace_board::pass::Pass;
use ace_engine::algorithm;
use ace_engine::algorithm::ALGORITHMS;
use proptest::prelude::*;

proptest! {
    #[test]
    fn nothing_makes_a_response_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(r) = response(&bytes) {
            prop_assert!(r.result.len() <= bytes.len());
            prop_assert!(r.status == Status::Ok || r.result.is_empty());
        }
    }

    #[test]
    fn a_response_survives_the_way(result in prop::collection::vec(any::<u8>(), 0..80), tag: u16) {
        let mut bytes = result.clone();
        bytes.resize(padded(result.len()), 0);
        bytes.extend((result.len() as u32).to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend([0, 0]);
        let parsed = response(&bytes).unwrap();
        prop_assert_eq!((parsed.tag, parsed.status, parsed.result), (tag, Status::Ok, &result[..]));
        // One beat more or less is noticed.
        prop_assert!(response(&bytes[8..]).is_err() || result.is_empty());
        let longer = [&[0; 8], &bytes[..]].concat();
        prop_assert!(response(&longer).is_err());
    }

    #[test]
    fn a_header_survives_the_way(bytes: [u8; 16]) {
        prop_assert_eq!(Header::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn requests_have_the_layout_of_the_boundary(seed in 1u64.., which in 0..ALGORITHMS.len(), tag: u16, fresh: bool) {
        let operation = Random(seed).operation(ALGORITHMS[which], 300);
        let (key, iv) = match &operation.pass {
            Pass::Cipher { key, iv, .. } => (key.as_bytes(), &iv[..]),
            Pass::Hash { .. } | Pass::Aead { .. } => (&[][..], &[][..]),
            Pass::Hmac { key, .. } => (&key.as_bytes()[..key.len().min(64)], &[][..]),
        };
        let is_hash = matches!(operation.pass, Pass::Hash { .. });
        let section = if fresh { KeySection::Fresh(key) } else { KeySection::Kept };
        let frame = request(&operation, section, tag);
        let header = Header::from_bytes(&frame).unwrap();
        // An empty HMAC key is a key of one zero byte.
        let key_len = if fresh && !is_hash { key.len().max(1) } else { 0 };
        prop_assert_eq!(usize::from(header.key_len), key_len);
        prop_assert_eq!(header.flags & 2 != 0, key_len > 0);
        prop_assert_eq!(header.flags & !3, 0);
        prop_assert_eq!((header.tag, header.aad_len, header.reserved), (tag, 0, 0));
        prop_assert_eq!(usize::from(header.iv_len), iv.len());
        let is_cipher = matches!(operation.pass, Pass::Cipher { .. });
        prop_assert_eq!(usize::from(header.result_len), if is_cipher { 0 } else { result_len(&operation) });
        prop_assert_eq!(header.payload_len as usize, operation.data.len());
        let whole = 16 + padded(key_len) + padded(iv.len()) + padded(operation.data.len());
        prop_assert_eq!(frame.len(), whole);
        let at = 16 + padded(key_len);
        prop_assert_eq!(&frame[at..at + iv.len()], iv);
        let at = at + padded(iv.len());
        prop_assert_eq!(&frame[at..at + operation.data.len()], &operation.data[..]);
    }
}

#[test]
fn bad_responses_are_told_apart() {
    let trailer = |len: u8, status: u8, zero: u8| [len, 0, 0, 0, 1, 2, status, zero];
    assert_eq!(response(&[]), Err(ResponseError::Beats(0)));
    assert_eq!(response(&[0; 9]), Err(ResponseError::Beats(9)));
    assert_eq!(response(&trailer(0, 14, 0)), Err(ResponseError::Status(14)));
    assert_eq!(response(&trailer(0, 0, 1)), Err(ResponseError::Reserved(1)));
    assert_eq!(response(&trailer(1, 0, 0)), Err(ResponseError::Length { announced: 1, beats: 0 }));
    assert_eq!(response(&trailer(1, 4, 0)), Err(ResponseError::Length { announced: 1, beats: 0 }));
    let long = [&[0, 0, 0, 0, 0, 0, 0, 1][..], &trailer(7, 0, 0)].concat();
    assert_eq!(response(&long), Err(ResponseError::Padding));
    // What precedes an error status is ignored.
    let partial = [&[9; 8][..], &trailer(0, 6, 0)].concat();
    let parsed = response(&partial).unwrap();
    assert_eq!((parsed.status, parsed.result.len(), parsed.tag), (Status::BadLength, 0, 0x0201));
    assert_eq!(Status::BadLength.to_string(), "bad length");
}

#[test]
fn the_codes_are_those_of_the_boundary() {
    let text = std::fs::read_to_string(crate::common::repository("rtl/slot/slot_pkg.sv")).unwrap();
    let value = |name: &str| {
        let line = text
            .lines()
            .find(|l| l.trim_start().trim_start_matches("localparam logic [7:0] ").starts_with(name));
        let digits = line.unwrap_or_else(|| panic!("no {name}")).split(['\'', ',', ';', ' ']).find(|w| {
            (w.starts_with('d') || w.starts_with('h'))
                && w.len() > 1
                && w[1..].chars().all(|c| c.is_ascii_hexdigit())
        });
        let digits = digits.unwrap();
        u8::from_str_radix(&digits[1..], if digits.starts_with('h') { 16 } else { 10 }).unwrap()
    };
    use ace_board::frame::op;
    for (name, code) in [
        ("OpEcb", op::ECB),
        ("OpCbc", op::CBC),
        ("OpCtr", op::CTR),
        ("OpCfb", op::CFB),
        ("OpCfb8", op::CFB8),
        ("OpOfb", op::OFB),
        ("OpHash", op::HASH),
        ("OpHmacStates", op::HMAC_STATES),
        ("OpHmacKey", op::HMAC_KEY),
        ("OpAead", op::AEAD),
        ("StatusUnknownAlgorithm", Status::UnknownAlgorithm as u8),
        ("StatusUnknownOperation", Status::UnknownOperation as u8),
        ("StatusBadKeyLength", Status::BadKeyLength as u8),
        ("StatusMissingKey", Status::MissingKey as u8),
        ("StatusBadIvLength", Status::BadIvLength as u8),
        ("StatusBadLength", Status::BadLength as u8),
        ("StatusFrameShort", Status::FrameShort as u8),
        ("StatusFrameLong", Status::FrameLong as u8),
        ("StatusReserved", Status::Reserved as u8),
        ("AlgAes", algorithm::AES.code),
        ("AlgDes", algorithm::TDES.code),
        ("AlgMd5", algorithm::MD5.code),
        ("AlgSha1", algorithm::SHA1.code),
    ] {
        assert_eq!(value(name), code, "{name}");
    }
    assert_eq!(assemble(Header::default(), &[&[1], &[], &[2; 9]]).len(), 16 + 8 + 16);
}
