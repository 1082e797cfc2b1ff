// SPDX-License-Identifier: Apache-2.0
//! A board behind a cable, in modelled time: what a packet's rate is, by hand, and that both directions of the cable carry at
//! once. Slots run the RTL, where it is built.

use ace_board::board::Board;
use ace_board::config::{Link, LinkKind, SlotKind, SlotLimits};
use ace_board::pass::{Pass, Task};
use ace_board::trace::{BoardReport, What};
use ace_board::{Assembly, BoardConfig, Models, Policy, Unsigned};
use ace_engine::algorithm::AES;
use ace_engine::{Aead, Direction, Secret};
use ace_library::file::Guard;
use ace_library::{Seen, Trust};

use crate::common::{Random, compute, run_all};

/// Of a packet: its text, and the most that ESP has beside it.
const TEXT: usize = 1424;
const AAD: usize = 8;

/// One tile behind a link, with the signed library's sets. `None`, and it says so, where the model is not built.
fn board(host_link: Link) -> Option<Board> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("build/array/slot-1x8.so").is_file() {
        eprintln!(
            "skipped, nothing was checked: the array's slot is not built (`python -m ace_flow array-slot`)"
        );
        return None;
    }
    let slot = SlotLimits { kind: SlotKind::Array, tiles: 1, ..SlotLimits::default() };
    let mut config = BoardConfig { slots: 1, host_link, slot, ..BoardConfig::default() };
    config.controller.library = root.join("library/ace.lib");
    let guard = Guard { trust: Trust::ANYBODY, seen: Seen::of_user(), allow_older: true };
    let assembly = Assembly {
        config,
        folder: None,
        configurations: None,
        guard,
        unsigned: Unsigned::Refused,
        loadable: false,
    };
    let mut parts = assembly.parts().expect("the repository's library");
    // With its other set, for few packets at a time, a policy would change over when a slow cable brings few.
    parts.catalogue.configurations.retain(|set| set.name == "aes128_gcm_encrypt");
    let mut board = parts.board(Policy::DoubleBuffer, Models::Rtl).expect("a board");
    board.keep_events(1 << 14);
    Some(board)
}

/// So many packets in AES-128-GCM, and the report of them. Each is as the CPU has it.
fn sealed(board: &mut Board, packets: usize) -> BoardReport {
    let mut random = Random(11);
    let key = random.bytes(16);
    let tasks: Vec<Task> = (0..packets)
        .map(|_| {
            let pass = Pass::Aead {
                aead: Aead::Gcm,
                algorithm: &AES,
                direction: Direction::Encrypt,
                key: Secret::new(key.clone()),
                nonce: random.bytes(12),
                aad: random.bytes(AAD),
                tag_len: 16,
            };
            Task { pass, data: random.bytes(TEXT) }
        })
        .collect();
    let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone()).expect("it computes")).collect();
    let got: Vec<_> =
        run_all(board, &tasks, 16).into_iter().map(|result| result.expect("the board computes")).collect();
    assert_eq!(got, wanted);
    board.report()
}

/// Mb/s of payload between the answers of a quarter and of all packets: without the beginning, when the slot fills.
fn rate(report: &BoardReport, packets: usize) -> f64 {
    let ends = report.events.iter().filter(|event| matches!(event.what, What::Response { .. }));
    let ends: Vec<u64> = ends.map(|event| event.end).collect();
    assert_eq!(ends.len(), packets);
    let cut = packets / 4;
    (8 * TEXT * (packets - cut)) as f64 * 1e6 / (ends[packets - 1] - ends[cut - 1]) as f64
}

/// The payload that a cable of so many Mb/s carries: a request is one segment, of header, nonce, AAD and text, and so is a
/// response, of text, tag and trailer; 48 bytes of a frame are none of its beats.
fn cable(mbps: f64) -> f64 {
    let (request, response) = (16 + 16 + AAD + TEXT, TEXT + 16 + 8);
    mbps * TEXT as f64 / (48 + request.max(response)) as f64
}

#[test]
fn the_rate_of_aes_gcm_is_the_lesser_one_of_slot_and_cable() {
    let packets = 64;
    let of = |link: Link| {
        let mut board = board(link)?;
        Some(rate(&sealed(&mut board, packets), packets))
    };
    // What a slot computes shows where the link is no matter.
    let wide = Link { width: 4096, clock_mhz: 10_000.0, ..Link::default() };
    let Some(slot) = of(wide) else { return };
    for mbps in [1000.0, 200.0, 100.0] {
        let got = of(Link { mbps, ..Link::ethernet() }).expect("as above");
        let least = slot.min(cable(mbps));
        println!("{mbps} Mb/s: {got:.1} of {least:.1} (slot {slot:.1}, cable {:.1})", cable(mbps));
        assert!((0.97..1.03).contains(&(got / least)), "{mbps} Mb/s: {got:.1}, and {least:.1} by hand");
    }
    // One way at a time a cable of 200 Mb/s would carry half of it.
    assert!(cable(1000.0) > slot && cable(200.0) < slot && cable(200.0) > 1.9 * cable(100.0));
}

#[test]
fn a_board_says_which_link_it_has() {
    let Some(mut board) = board(Link::ethernet()) else { return };
    assert_eq!(board.config().host_link.kind, LinkKind::Ethernet);
    let report = sealed(&mut board, 8);
    assert!(report.host_link.starts_with("Ethernet, 1000 Mb/s each way"), "{}", report.host_link);
    // A set of 2,648 bytes is two segments; the goal of a load is 35 us.
    let load =
        report.events.iter().find(|event| matches!(event.what, What::Load { .. })).expect("it was loaded");
    let us = (load.end - load.start) as f64 / 1e6;
    assert!((23.0..35.0).contains(&us), "{us} us");
}
