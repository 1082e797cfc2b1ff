// SPDX-License-Identifier: Apache-2.0
//! Tables 1 and 2 with this project's columns: the stated processor, the array, the slots.

use crate::error::{Context, Result};
use ace_array::schedule::Effort;
use ace_array::shape::Shape;
use ace_array::{algorithms, compile};
use ace_board::{BoardConfig, Catalogue};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Algorithm, Direction, Kind, Mode, Need};
use ace_report::{Page, say};
use serde::{Deserialize, Serialize};

use super::paper::{Paper, load_us};
use crate::processors::THIS_MACHINE;

/// A task of the paper, the algorithm here, and the array's source and variant.
const TASKS: [(&str, &str, &str); 7] = [
    ("DES", "des", "des_encrypt"),
    ("CAST128", "cast128", "cast128_encrypt"),
    ("AES", "aes", "aes128_encrypt"),
    ("CAST256", "cast256", "cast256_encrypt"),
    ("RC6", "rc6", "rc6_encrypt"),
    ("MD5", "md5", "md5"),
    ("SHA-1", "sha1", "sha1"),
];

/// The host link of the default board, over which a context set comes.
const LINK_MHZ: f64 = 100.0;
/// Data over which a slot's rate is stated: the paper's 10,000 blocks, of AES.
const BYTES: usize = 160_000;

/// Of one task. What is not built, or left out, is none.
#[derive(Clone, Serialize)]
pub struct Ours {
    pub task: String,
    pub algorithm: String,
    pub processor_mbps: Option<f64>,
    pub array: Option<OnArray>,
    /// One frame at a time, and many.
    pub slot: Option<InSlot>,
    pub ring: Option<InSlot>,
}

#[derive(Clone, Serialize)]
pub struct OnArray {
    /// Blocks of many packets, one behind the other.
    pub mbps: f64,
    /// Each block waits for the one before: CBC encryption or a hash of one packet.
    pub chained_mbps: f64,
    pub set_bits: usize,
    pub load_us: f64,
    /// With the words that the host makes of the key.
    pub load_with_keys_us: f64,
}

#[derive(Clone, Serialize)]
pub struct InSlot {
    pub configuration: String,
    pub mbps: f64,
    pub image_bits: u64,
    pub load_us: f64,
}

#[derive(Deserialize)]
struct Clock {
    mhz: f64,
}

/// MHz of the array, as studies/scheduling/array.toml has it.
pub fn array_mhz() -> Result<f64> {
    let text = include_str!("../scheduling/array.toml");
    let clock: Clock = toml::from_str(text).context("studies/scheduling/array.toml")?;
    Ok(clock.mhz)
}

/// The columns. `quick`: without the array, whose compiler needs seconds.
pub fn columns(catalogue: &Catalogue, quick: bool) -> Result<Vec<Ours>> {
    let processor = THIS_MACHINE.read()?;
    let mhz = array_mhz()?;
    let mut all = Vec::new();
    for (task, name, variant) in TASKS {
        let Some(algorithm) = ALGORITHMS.iter().copied().find(|a| a.name == name) else { continue };
        let rate = processor.rate.iter().find(|rate| rate.algorithm == name);
        let [slot, ring] = in_slots(algorithm, catalogue);
        all.push(Ours {
            task: task.into(),
            algorithm: name.into(),
            processor_mbps: rate.map(|rate| rate.mbps),
            array: if quick { None } else { Some(on_array(algorithm, variant, mhz)?) },
            slot,
            ring,
        });
    }
    Ok(all)
}

fn on_array(algorithm: &Algorithm, variant: &str, mhz: f64) -> Result<OnArray> {
    let program = algorithms::program(&format!("{}.ace", algorithm.name)).context(variant)?;
    let compiled = compile(&program, variant, &Shape::standard(), Effort::default()).context(variant)?;
    let (Kind::Cipher { block, .. } | Kind::Hash { block, .. }) = algorithm.kind;
    let (set, bits) = (&compiled.set, 8.0 * block as f64);
    let bytes = set.to_bytes();
    let clocks = set.load_clocks() as f64;
    Ok(OnArray {
        mbps: bits * mhz / set.ii() as f64,
        chained_mbps: bits * mhz / f64::from(set.latency),
        set_bits: 8 * bytes.len(),
        load_us: clocks / LINK_MHZ,
        // Two words a clock of the link.
        load_with_keys_us: (clocks + f64::from(set.key_words.div_ceil(2))) / LINK_MHZ,
    })
}

/// The fastest configuration that works on one frame at a time, and the fastest that works on several.
fn in_slots(algorithm: &'static Algorithm, catalogue: &Catalogue) -> [Option<InSlot>; 2] {
    let board = BoardConfig::default();
    let need = match algorithm.kind {
        Kind::Cipher { keys, .. } => Need::Cipher {
            algorithm,
            mode: Mode::Cbc,
            direction: Direction::Encrypt,
            key_len: keys.first().copied().unwrap_or_default(),
        },
        Kind::Hash { .. } => Need::Hmac { algorithm },
    };
    let candidates = catalogue.candidates(&need, &board.device);
    [false, true].map(|several| {
        let found = candidates.iter().map(|c| &catalogue.configurations[*c]);
        let found = found.filter(|c| (c.in_flight > 1) == several && c.variant_of.is_none());
        let best = found.min_by_key(|c| c.estimate(&need, BYTES))?;
        Some(InSlot {
            configuration: best.name.clone(),
            mbps: BYTES as f64 * 8e6 / best.estimate(&need, BYTES).max(1) as f64,
            image_bits: 8 * best.bitstream.bytes,
            load_us: catalogue.load_time(&board, best) as f64 / 1e6,
        })
    })
}

fn one(figure: Option<f64>, digits: usize) -> String {
    figure.map_or(String::new(), |figure| format!("{figure:.digits$}"))
}

pub fn print(page: &mut Page, paper: &Paper, ours: &[Ours]) {
    say!(page, "## Table 1: throughput, Mb/s\n");
    say!(
        page,
        "| task | contexts, DRP-1 | MHz, DRP-1 | DSP | VR5500 | DRP-1 | DRP-1 ÷ VR5500 | this CPU | array, one packet | array, many | slot, one packet | slot, many |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (t, o) in paper.task.iter().zip(ours) {
        say!(
            page,
            "| {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} | {} | {} | {} |",
            t.name,
            t.contexts,
            t.mhz,
            t.dsp,
            t.mips,
            t.drp,
            t.drp / t.mips,
            one(o.processor_mbps, 0),
            one(o.array.as_ref().map(|a| a.chained_mbps), 0),
            one(o.array.as_ref().map(|a| a.mbps), 0),
            one(o.slot.as_ref().map(|s| s.mbps), 0),
            one(o.ring.as_ref().map(|s| s.mbps), 0),
        );
    }
    let against = |of: &dyn Fn(&Ours) -> Option<f64>| {
        let ratios = paper.task.iter().zip(ours).filter_map(|(t, o)| Some(of(o)? / t.mips));
        let (low, high) = ratios.fold((f64::MAX, 0.0_f64), |(low, high), r| (low.min(r), high.max(r)));
        if high > 0.0 { format!("{low:.1} to {high:.1}") } else { "not built".into() }
    };
    say!(
        page,
        "\nThe paper's first three are its own, over 10,000 blocks. This CPU: one core of studies/processors/this-machine.toml, \
         wall time, measured. Array and slots: modelled; the array at {} MHz with the sets that its compiler makes, without \
         its front end; *one packet*: each block waits for the one before it. Against the VR5500: \
         DRP-1 1.6 to 7.8, the array {} (one packet) and {} (many), slots {} and {}. Not tried on silicon.\n",
        array_mhz().unwrap_or_default(),
        against(&|o| o.array.as_ref().map(|a| a.chained_mbps)),
        against(&|o| o.array.as_ref().map(|a| a.mbps)),
        against(&|o| o.slot.as_ref().map(|s| s.mbps)),
        against(&|o| o.ring.as_ref().map(|s| s.mbps)),
    );
    say!(page, "## Table 2: configurations, bits and load times\n");
    say!(
        page,
        "| task | DRP-1 bits | load µs | key schedule in it | array's set, bits | load µs | with the keys' words µs | slot's image, bits | load µs |"
    );
    say!(page, "|---|--:|--:|---|--:|--:|--:|--:|--:|");
    for (t, o) in paper.task.iter().zip(ours) {
        let schedule = match t.key_schedule {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        say!(
            page,
            "| {} | {} | {:.1} | {schedule} | {} | {} | {} | {} | {} |",
            t.name,
            t.bits,
            load_us(paper, t),
            o.array.as_ref().map_or(String::new(), |a| a.set_bits.to_string()),
            one(o.array.as_ref().map(|a| a.load_us), 1),
            one(o.array.as_ref().map(|a| a.load_with_keys_us), 1),
            o.slot.as_ref().map_or(String::new(), |s| s.image_bits.to_string()),
            one(o.slot.as_ref().map(|s| s.load_us), 0),
        );
    }
    say!(
        page,
        "\nDRP-1: over its bus of {} bits at {} MHz. A set comes over the host link of 64 bits at {LINK_MHZ} MHz, and none has a \
         key schedule in it: the host makes the words of the key. A slot's image, whole and with the key schedule, comes \
         over the configuration port of 8 bits at 50 MHz.\n",
        paper.machine.bus_bits,
        paper.machine.bus_mhz
    );
}
