// SPDX-License-Identifier: Apache-2.0
//! The demo's capture and what is like the 2006 paper's traffic, on slots and on a modelled array.

use crate::error::{Context, Result, bail};
use ace_engine::{ConfigurationId, Table};
use ace_schedule::captured::{ITERATIVE, Pace, Suite, demo, demo_suites, mixed, trace};
use ace_schedule::in_order::in_order;
use ace_schedule::simulate::{Setup, Trace, simulate};
use ace_schedule::traffic::Random;
use ace_schedule::{Costs, Policy, Time};
use serde::{Deserialize, Serialize};

/// The policies' latency bound, as in board.toml.
const LATENCY: Time = 50_000_000;
/// Loads of the demo's four images, as `ace run` on the default board has them (172.8 ms for 38), and whole images before
/// the library left out frames that are not used.
const USED_FRAMES: Time = 4_550_000;
const WHOLE_IMAGES: Time = 7_700_000;

#[derive(Deserialize)]
struct Array {
    mhz: f64,
    set: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    block: u64,
    clocks: f64,
    drain: f64,
    load_us: f64,
}

/// One run, or several policies' worth of it.
#[derive(Serialize)]
pub struct Run {
    pub traffic: String,
    pub board: String,
    pub window: usize,
    pub policy: String,
    pub total_ms: f64,
    pub loads: usize,
    pub exposed_ms: f64,
    /// Of that, before a slot or bank had anything.
    pub first_ms: f64,
    pub hidden_ms: f64,
    pub overhead: f64,
    /// 1 − exposed ÷ exposed with one bank and a load at every change of task.
    pub removed: f64,
}

struct Board<'a> {
    name: &'a str,
    slots: usize,
    banks: usize,
    load: Vec<Time>,
}

fn run(traffic: &str, trace: &Trace, board: &Board<'_>, window: usize, policy: Policy) -> Run {
    let costs = Costs::whole(board.load.clone());
    let slots = board.slots * board.banks;
    let setup = Setup { buffer: window, banks: board.banks, ..Setup::new(slots, &costs, LATENCY) };
    let out = simulate(trace, &setup, policy);
    let naive = simulate(trace, &Setup { log: false, ..Setup::new(1, &costs, LATENCY) }, Policy::OnDemand);
    Run {
        traffic: traffic.into(),
        board: board.name.into(),
        window,
        policy: policy.to_string(),
        total_ms: out.total as f64 / 1e6,
        loads: out.load_count,
        exposed_ms: out.exposed_load as f64 / 1e6,
        first_ms: out.exposed_first as f64 / 1e6,
        hidden_ms: (out.load - out.exposed_load) as f64 / 1e6,
        overhead: out.exposed_load as f64 / out.total.max(1) as f64,
        removed: 1.0 - out.exposed_load as f64 / naive.exposed_load.max(1) as f64,
    }
}

/// What a board of `array.toml` is asked: the runs, and overheads strictly in order on one tile with two banks, of the demo
/// and of the paper's associations.
pub struct Boards {
    pub runs: Vec<Run>,
    pub demo_in_order: f64,
    pub paper_in_order: f64,
}

pub fn study(paper: &[(u32, u64)]) -> Result<Boards> {
    let array: Array = toml::from_str(include_str!("array.toml")).context("studies/scheduling/array.toml")?;
    let capture = demo(include_str!("demo.csv"));
    let paces: Table<Pace> =
        array.set.iter().map(|s| Pace { block: s.block, clocks: s.clocks, mhz: array.mhz }).collect();
    let load: Vec<Time> =
        array.set.iter().map(|s| ((s.load_us + s.drain / array.mhz) * 1e3) as Time).collect();
    let find = |name: &str| match array.set.iter().position(|s| s.name == name) {
        Some(at) => Ok(ConfigurationId::from_index(at)),
        None => bail!("studies/scheduling/array.toml: no set `{name}`"),
    };
    let (md5, sha1) = (find("md5")?, find("sha1")?);
    let (aes, rc6) = (find("aes-128")?, find("rc6")?);
    let outbound = |cipher, hash| Suite { cipher, hash, inbound: false };
    // Out: cipher, then hash; acknowledgements come in.
    let theirs = [(aes, md5), (rc6, sha1)]
        .map(|(c, h)| [outbound(c, h), Suite { inbound: true, ..outbound(c, h) }])
        .concat();
    let ciphers: Vec<ConfigurationId> = paces.ids().filter(|c| paces[*c].block < 64).collect();
    let twenty: Vec<Suite> = (0..20)
        .map(|at| outbound(ciphers[at % ciphers.len()], if at % 2 == 0 { md5 } else { sha1 }))
        .collect();

    let mut runs = Vec::new();
    for inbound in [false, true] {
        let name = if inbound { "the demo, taking back" } else { "the demo, protecting" };
        let trace = trace(&capture, &demo_suites(inbound), &ITERATIVE.into());
        for (words, load) in [("whole images", WHOLE_IMAGES), ("frames that are used", USED_FRAMES)] {
            let board = Board { name: &format!("2 slots, {words}"), slots: 2, banks: 1, load: vec![load; 4] };
            for window in [64, 256] {
                runs.extend(Policy::ALL.map(|policy| run(name, &trace, &board, window, policy)));
            }
        }
    }
    let array_board = |name, slots, banks| Board { name, slots, banks, load: load.clone() };
    let on_array = trace(&capture, &demo_suites(false), &paces);
    let two_tiles = array_board("array: 2 tiles of 2 banks", 2, 2);
    let one_tile = array_board("array: 1 tile of 2 banks", 1, 2);
    runs.push(run("the demo, protecting", &on_array, &two_tiles, 64, Policy::Adaptive));
    runs.push(run("the demo, protecting", &on_array, &one_tile, 64, Policy::Adaptive));
    let two = trace(paper, &theirs, &paces);
    runs.push(run("two associations as in 2006", &two, &one_tile, 16, Policy::Adaptive));
    let packets = mixed(&mut Random(1000), 20, 4000);
    let many = trace(&packets, &twenty, &paces);
    runs.push(run("20 SAs over 8 ciphers", &many, &two_tiles, 64, Policy::Adaptive));
    let overhead = |trace: &Trace| {
        let tasks: Vec<(usize, f64)> = trace
            .packets
            .iter()
            .flat_map(|p| {
                let passes = &trace.suites[p.suite as usize];
                passes.iter().zip(p.costs).map(|(pass, cost)| (pass[0].index(), cost as f64))
            })
            .collect();
        let load: Vec<f64> = load.iter().map(|l| *l as f64).collect();
        in_order(&tasks, &load, 2, true).overhead()
    };
    Ok(Boards { runs, demo_in_order: overhead(&on_array), paper_in_order: overhead(&two) })
}
