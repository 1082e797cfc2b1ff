// SPDX-License-Identifier: Apache-2.0
//! The traffic of the 2006 paper's simulation (5.3.2) with algorithms that are built: two security associations,
//! AES-128-CBC with HMAC-MD5-96 and 3DES-CBC with HMAC-SHA-1-96, full-size packets of two downloads that
//! interleave. Prints where the modelled time goes under both policies, and the speed of the simulation.
//!
//! `cargo run --release -p ace-board --example two_associations [PACKETS] [BOARD.toml]`

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use ace_board::{Board, BoardConfig, Catalogue, Models, Policy, Unsigned, bench};
use ace_engine::algorithm::{AES, MD5, SHA1, TDES};
use ace_engine::{Algorithm, Direction, Engine, Job, Mode, Operation, Pass, Secret};

const PACKET: usize = 1424;

fn pass(lane: u32, step: usize) -> Pass {
    let cipher = |algorithm: &'static Algorithm, key: usize, block: usize| Pass::Cipher {
        algorithm,
        mode: Mode::Cbc,
        direction: Direction::Encrypt,
        key: Secret::new((0..key as u8).collect()),
        iv: vec![9; block],
    };
    let hmac =
        |algorithm, key: usize| Pass::Hmac { algorithm, key: Secret::new(vec![7; key]), output_len: 12 };
    match (lane, step) {
        (0, 0) => cipher(&AES, 16, 16),
        (0, _) => hmac(&MD5, 16),
        (_, 0) => cipher(&TDES, 24, 8),
        _ => hmac(&SHA1, 20),
    }
}

/// TCP sends a few segments of one download, then a few of the other.
fn lanes(packets: usize) -> Vec<u32> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut lanes = Vec::new();
    while lanes.len() < packets {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let lane = (state >> 20 & 1) as u32;
        lanes.extend(std::iter::repeat_n(lane, 1 + (state >> 30) as usize % 4));
    }
    lanes.truncate(packets);
    lanes
}

fn run(board: &mut Board, lanes: &[u32], buffer: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut incoming: VecDeque<usize> = (0..lanes.len()).collect();
    let submit = |board: &mut Board, packet: usize, step: usize| {
        let pass = pass(lanes[packet], step);
        let then = if step == 0 { vec![self::pass(lanes[packet], 1).need()] } else { Vec::new() };
        let (id, operation) =
            ((packet * 2 + step) as u64, Operation { pass, data: vec![packet as u8; PACKET] });
        board.submit(Job { id, lane: lanes[packet], packet: packet as u64, operation, then });
    };
    incoming.drain(..buffer.min(lanes.len())).for_each(|packet| submit(board, packet, 0));
    loop {
        let done = board.poll();
        if done.is_empty() {
            return Ok(());
        }
        for completion in done {
            completion.result?;
            if completion.id % 2 == 0 {
                submit(board, completion.id as usize / 2, 1);
            } else if let Some(packet) = incoming.pop_front() {
                submit(board, packet, 0);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let packets = arguments.next().map_or(Ok(400), |n| n.parse())?;
    let config = match arguments.next() {
        Some(file) => BoardConfig::from_file(Path::new(&file))?,
        None => BoardConfig::default(),
    };
    let lanes = lanes(packets);
    // On what is built here, signed or not.
    let catalogue = Catalogue { unsigned: Unsigned::Unproven, ..Catalogue::find(None) };
    println!("{packets} packets of {PACKET} bytes, port {}; modelled times in ms", config.port_words());
    println!(
        "policy          total  executing  link only  exposed load  idle | loads  kept | hidden load  overhead"
    );
    for policy in Policy::ALL {
        let mut board = Board::new(config.clone(), catalogue.clone(), policy, Models::Rtl)?;
        let start = Instant::now();
        run(&mut board, &lanes, config.packet_buffer)?;
        let wall = start.elapsed().as_secs_f64();
        let t = board.report().totals;
        let ms = |t: u64| t as f64 / 1e9;
        println!(
            "{:<13} {:>7.1} {:>10.2} {:>10.2} {:>13.1} {:>5.2} | {:>5} {:>4.0}% | {:>8.2} ms {:>8.1}%   ({wall:.2} s of wall time)",
            policy.name(),
            ms(t.total),
            ms(t.executing),
            ms(t.link_only),
            ms(t.exposed_load),
            ms(t.idle),
            t.loads,
            t.retained * 100.0,
            ms(t.hidden_load),
            t.overhead * 100.0
        );
    }
    println!("simulation of one slot, wall time:");
    for (lane, step) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let operation = Operation { pass: pass(lane, step), data: vec![1; PACKET] };
        let s = bench::speed(&catalogue, &config.device, &operation, Models::Rtl, Duration::from_secs(1))?;
        println!(
            "{:<20} {:>7.2} MB/s, {:>5.2} M clocks/s; modelled {:.0} Mb/s",
            s.operation,
            s.mb_per_second,
            s.clocks_per_second / 1e6,
            s.modelled_mbps
        );
    }
    Ok(())
}
