// SPDX-License-Identifier: Apache-2.0
//! The traffic of the 2006 paper's simulation (5.3.2) with algorithms that are built: two security associations,
//! AES-128-CBC with HMAC-MD5-96 and 3DES-CBC with HMAC-SHA-1-96, full-size packets of two downloads that
//! interleave. Prints where the modelled time goes under both policies, and the speed of the simulation.
//!
//! `cargo run --release -p ace-board --example two_associations [PACKETS] [BOARD.toml]`

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use ace_board::pass::{Pass, Task};
use ace_board::{Assembly, Board, BoardConfig, Models, Policy, Unsigned, bench, open};
use ace_engine::algorithm::{AES, MD5, SHA1, TDES};
use ace_engine::{
    Action, Algorithm, Buffer, Direction, Engine, EngineError, Iv, Job, Key, Mac, Mode, Operation, Secret,
    Suffix, Tag,
};
use ace_library::file::Guard;
use ace_library::{Seen, Trust};

const PACKET: usize = 1424;

/// What the packets of a flow need, of its two passes alone and together.
struct Association {
    passes: [Pass; 2],
    action: Action,
}

impl Association {
    fn new(
        (algorithm, key_len, block): (&'static Algorithm, u8, usize),
        (hash, hmac_len): (&'static Algorithm, usize),
    ) -> Result<Self, EngineError> {
        let (key, hmac_key) = ((0..key_len).collect::<Vec<_>>(), vec![7; hmac_len]);
        let iv = vec![9; block];
        let (mode, direction) = (Mode::Cbc, Direction::Encrypt);
        let action = Action::CipherMac {
            cipher: Key::cipher(algorithm, mode, &key)?,
            iv: Iv::new(&iv).unwrap_or_default(),
            direction,
            text: (0..PACKET).into(),
            mac: Key::mac(Mac::Hmac(hash), &hmac_key)?,
            over: (0..PACKET).into(),
            suffix: Suffix::EMPTY,
            tag: Tag::Write((PACKET..PACKET + 12).into()),
        };
        let cipher = Pass::Cipher { algorithm, mode, direction, key: Secret::new(key), iv };
        let hmac = Pass::Hmac { algorithm: hash, key: Secret::new(hmac_key), output_len: 12 };
        Ok(Self { passes: [cipher, hmac], action })
    }
}

/// TCP sends a few segments of one download, then a few of the other.
fn flows(packets: usize) -> Vec<u32> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut flows = Vec::new();
    while flows.len() < packets {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let flow = (state >> 20 & 1) as u32;
        flows.extend(std::iter::repeat_n(flow, 1 + (state >> 30) as usize % 4));
    }
    flows.truncate(packets);
    flows
}

fn run(
    board: &mut Board,
    associations: &[Association; 2],
    flows: &[u32],
    buffer: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut incoming = flows.iter().zip(0u64..);
    let (mut jobs, mut done) = (VecDeque::new(), Vec::new());
    let mut inside = 0;
    loop {
        while inside < buffer
            && let Some((&flow, packet)) = incoming.next()
        {
            let action = associations[flow as usize].action.clone();
            let operation = Operation { action, buffer: Buffer::with_room(0, PACKET + 12, 0) };
            jobs.push_back(Job { id: packet, flow, packet, operation });
            inside += 1;
        }
        board.try_submit(&mut jobs);
        board.wait(&mut done);
        if done.is_empty() {
            return Ok(());
        }
        inside -= done.len();
        for completion in done.drain(..) {
            completion.result?;
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
    let flows = flows(packets);
    let associations =
        [Association::new((&AES, 16, 16), (&MD5, 16))?, Association::new((&TDES, 24, 8), (&SHA1, 20))?];
    // On what is built here, signed or not.
    let assembly = || Assembly {
        config: config.clone(),
        folder: None,
        configurations: None,
        guard: Guard { trust: Trust::ANYBODY, seen: Seen::of_user(), allow_older: true },
        unsigned: Unsigned::Unproven,
        loadable: false,
    };
    println!("{packets} packets of {PACKET} bytes, port {}; modelled times in ms", config.port_words());
    println!(
        "policy          total  executing  link only  exposed load  idle | loads  kept | hidden load  overhead"
    );
    for policy in Policy::ALL {
        let mut board = open(assembly(), policy, Models::Rtl)?;
        let start = Instant::now();
        run(&mut board, &associations, &flows, config.packet_buffer)?;
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
    let catalogue = assembly().parts()?.catalogue;
    for pass in associations.into_iter().flat_map(|association| association.passes) {
        let task = Task { pass, data: vec![1; PACKET] };
        let s = bench::speed(&catalogue, &config.device, &task, Models::Rtl, Duration::from_secs(1))?;
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
