// SPDX-License-Identifier: Apache-2.0
//! AES-CMAC and AES-XCBC-MAC on a board: passes of a slot that does AES in CBC, alone and behind a cipher.

use ace_board::{Board, BoardConfig, Models, Policy};
use ace_engine::algorithm::AES;
use ace_engine::engine::run_one;
use ace_engine::{
    Action, Buffer, Direction, Engine, EngineError, Key, Mac, Mode, Operation, Suffix, Tag, compute,
};

use crate::common::Build;

fn board(build: &Build) -> Board {
    let source = Box::new(build.software.clone());
    Board::with_source(BoardConfig::default(), build.catalogue(), Policy::ALL[1], Models::Rtl, source)
        .unwrap()
}

#[test]
fn tags_are_the_cpu_engines_and_wrong_ones_are_noticed() {
    let build = Build::new();
    let mut board = board(&build);
    for (mac, key) in [(Mac::Cmac, &[0x3c; 16]), (Mac::Xcbc, &[0xa5; 16])] {
        for len in [1, 15, 16, 17, 64, 1000] {
            let message: Vec<u8> = (0..len).map(|i| (i * 5) as u8).collect();
            let whose = || Key::mac(mac, key).unwrap();
            assert!(board.capabilities().can(&whose().need(Direction::Encrypt)));
            let wanted = compute::mac(mac, key, &message, 12).unwrap();
            let written = run_one(&mut board, Operation::mac(whose(), &message, 12)).unwrap();
            assert_eq!(written[message.len()..], wanted, "{mac:?} {len}");
            let mut tag = wanted;
            assert!(run_one(&mut board, Operation::check_mac(whose(), &message, &tag)).is_ok());
            tag[11] ^= 1;
            let wrong = run_one(&mut board, Operation::check_mac(whose(), &message, &tag));
            assert!(matches!(wrong, Err(EngineError::Mismatch)), "{mac:?} {len}");
        }
    }
    // A wrong tag is the packet's fault and no slot's.
    let totals = board.report().totals;
    assert_eq!((totals.completed, totals.failed), (36, 0));
}

/// A packet of ESP: eight bytes in front of the ciphertext, the tag behind it.
fn packet(direction: Direction, mac: Mac, check: bool) -> Action {
    let cipher = Key::cipher(&AES, Mode::Cbc, &[7; 16]).unwrap();
    let (text, over, place) = ((8..72).into(), (0..72).into(), (72..84).into());
    let tag = if check { Tag::Check(place) } else { Tag::Write(place) };
    let (iv, mac) = ([9; 16].into(), Key::mac(mac, &[8; 16]).unwrap());
    Action::CipherMac { cipher, direction, iv, text, mac, over, suffix: Suffix::EMPTY, tag }
}

#[test]
fn a_packet_s_tag_is_of_its_ciphertext_and_is_checked_before_it_is_deciphered() {
    let build = Build::new();
    let mut board = board(&build);
    for mac in [Mac::Cmac, Mac::Xcbc] {
        let clear: Vec<u8> = (0..84).collect();
        let of = |action, bytes: &[u8]| Operation { action, buffer: Buffer::from_packet(bytes, 0, 0) };
        let sealed = of(packet(Direction::Encrypt, mac, false), &clear);
        let (here, there) = (run_one(&mut board, sealed.clone()).unwrap(), compute::run(sealed).unwrap());
        assert_eq!(here[..], there[..], "{mac:?}");
        let opened = run_one(&mut board, of(packet(Direction::Decrypt, mac, true), &here)).unwrap();
        assert_eq!(opened[..72], clear[..72]);
        let mut forged = here.to_vec();
        forged[20] ^= 1;
        let wrong = run_one(&mut board, of(packet(Direction::Decrypt, mac, true), &forged));
        assert!(matches!(wrong, Err(EngineError::Mismatch)));
    }
}
