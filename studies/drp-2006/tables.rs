// SPDX-License-Identifier: Apache-2.0
//! Tables 1 and 2 on the page, ours beside the paper's.

use ace_report::{Page, say};

use super::ours::{InSlot, Ours};
use super::paper::{Paper, Task, load_us};
use crate::array::Tile;
use crate::error::Result;
use crate::marks::{By, Mark, cell, heads, range};
use crate::processors::THIS_MACHINE;

/// A figure of ours over one of the paper's, of all tasks that have both.
pub fn over(
    paper: &Paper,
    ours: &[Ours],
    of: impl Fn(&Ours) -> Option<f64>,
    by: impl Fn(&Task) -> f64,
) -> Vec<f64> {
    paper.task.iter().zip(ours).filter_map(|(t, o)| Some(of(o)? / by(t))).collect()
}

/// Mb/s in a slot.
pub fn slot_mbps(of: &Option<InSlot>) -> Option<f64> {
    of.as_ref().map(|slot| slot.mbps)
}

fn key(bits: Option<usize>) -> String {
    bits.map_or("–".into(), |bits| bits.to_string())
}

pub fn print(page: &mut Page, paper: &Paper, ours: &[Ours]) -> Result<()> {
    let tile = Tile::read()?;
    resources(page, paper, ours, &tile);
    throughput(page, paper, ours, &tile);
    loads(page, paper, ours);
    Ok(())
}

fn resources(page: &mut Page, paper: &Paper, ours: &[Ours], tile: &Tile) {
    use Mark::{Measured, Published};
    say!(page, "## Table 1: resources\n");
    let bits = Measured(By::Bits);
    let heads = heads(
        &["task"],
        &[
            ("contexts", Published),
            ("Max PEs", Published),
            ("All PEs", Published),
            ("VMEMs", Published),
            ("our array: contexts", bits),
            ("Max elements", bits),
            ("All elements", bits),
            ("memories", bits),
        ],
    );
    say!(page, "{heads}");
    for (t, o) in paper.task.iter().zip(ours) {
        let used = o.array.used;
        let (task, contexts) = (&t.name, o.array.contexts);
        say!(
            page,
            "| {task} | {} | {} | {} | {} | {contexts} | {} | {} | {} |",
            t.contexts,
            t.max_pes,
            t.all_pes,
            t.vmems,
            used.most,
            used.all,
            used.memories
        );
    }
    say!(
        page,
        "\nA PE of DRP-1 has 8 bits and 16 contexts, a tile 64 of them and eight VMEMs of 256 bytes. An element of our array has \
         32 bits and {} contexts. {} A set is compiled for one way. *Max*: elements at work in the context that has most of \
         them. *All*: in all contexts together. *Memories*: those of look-ups that hold a table, and memory elements that keep a \
         value. They are counted in the sets that are built; the slot itself is placed and routed once, for all of them.\n",
        tile.contexts(),
        tile.elements()
    );
}

fn throughput(page: &mut Page, paper: &Paper, ours: &[Ours], tile: &Tile) {
    use Mark::{Measured, Published};
    let rtl = Measured(By::Rtl);
    say!(page, "## Table 1: throughput, Mb/s\n");
    let heads = heads(
        &["task", "our key, bits"],
        &[
            ("DRP-1 MHz", Published),
            ("DSP", Published),
            ("VR5500", Published),
            ("DRP-1", Published),
            ("DRP-1 ÷ VR5500", Published),
            ("DRP-1 ÷ DSP", Published),
            ("this CPU", Measured(By::Wall)),
            ("array, 1 packet in flight", rtl),
            ("16", rtl),
            ("64", rtl),
            ("slot, 1 packet", rtl),
            ("slot, many", rtl),
            ("packets for that", rtl),
        ],
    );
    say!(page, "{heads}");
    for (t, o) in paper.task.iter().zip(ours) {
        let figures = [
            (Some(t.mhz), 1),
            (Some(t.dsp), 1),
            (Some(t.mips), 1),
            (Some(t.drp), 1),
            (Some(t.drp / t.mips), 1),
            (Some(t.drp / t.dsp), 1),
            (o.processor_mbps, 0),
            (Some(o.array.mbps(1)), 0),
            (Some(o.array.mbps(16)), 0),
            (Some(o.array.mbps(64)), 0),
            (slot_mbps(&o.slot), 0),
            (slot_mbps(&o.ring), 0),
            (o.ring.as_ref().map(|ring| ring.in_flight as f64), 0),
        ];
        let cells: Vec<String> = figures.iter().map(|(of, digits)| cell(*of, *digits)).collect();
        say!(page, "| {} | {} | {} |", t.name, key(o.key_bits), cells.join(" | "));
    }
    type Column = (&'static str, fn(&Ours) -> Option<f64>);
    let columns: [Column; 4] = [
        ("the array with 1 packet", |o| Some(o.array.mbps(1))),
        ("with 64", |o| Some(o.array.mbps(64))),
        ("slots with 1 packet", |o| slot_mbps(&o.slot)),
        ("with many", |o| slot_mbps(&o.ring)),
    ];
    let against = |name: &str, by: fn(&Task) -> f64| {
        let drp = range(paper.task.iter().map(|t| t.drp / by(t)), 1);
        let ours = columns.map(|(what, of)| format!("{what} {}", range(over(paper, ours, of, by), 1)));
        format!("Against the {name}: DRP-1 {drp} times as fast, {}.", ours.join(", "))
    };
    say!(
        page,
        "\nThe paper's are its own, over 10,000 blocks; it names no key. Ours are CBC encryption with the key that is named, and \
         HMAC. This CPU: one core of {}. The array: whole frames of {} bytes in the RTL of its slot, whose tiles are {} with {} lanes each, \
         at its placed clock of {:.2} MHz, with so many packets in flight and the faster of the variant's two sets; \
         `python -m ace_flow array-rates` measures it. A slot with one packet: each block waits for the one before it.\n\n{}\n\n{}\n",
        THIS_MACHINE.file,
        tile.frame_bytes(),
        tile.tiles,
        tile.lanes,
        tile.mhz,
        against("VR5500", |t| t.mips),
        against("DSP", |t| t.dsp),
    );
}

fn loads(page: &mut Page, paper: &Paper, ours: &[Ours]) {
    use Mark::{Measured, Predicted, Published};
    let bits = Measured(By::Bits);
    say!(page, "## Table 2: configurations, bits and load times\n");
    let heads = heads(
        &["task", "key schedule in DRP-1's"],
        &[
            ("DRP-1 bits", Published),
            ("DRP-1 load µs", Predicted),
            ("array: set, bits", bits),
            ("load µs", Predicted),
            ("set that expands keys, bits", bits),
            ("its load µs", Predicted),
            ("like DRP-1's, bits", bits),
            ("load µs", Predicted),
            ("bits ÷ DRP-1's", bits),
            ("expanded key from the host µs", Predicted),
            ("slot: port bits", bits),
            ("load µs", Predicted),
            ("load ÷ DRP-1's", Predicted),
        ],
    );
    say!(page, "{heads}");
    for (t, o) in paper.task.iter().zip(ours) {
        let schedule = match t.key_schedule {
            Some(true) => "yes",
            Some(false) => "no",
            None => "–",
        };
        let (set, keys, like) = (o.array.set, o.array.keys, o.array.loaded(t.key_schedule == Some(true)));
        let (theirs, slot) = (load_us(paper, t), o.slot.as_ref());
        let figures = [
            (Some(t.bits as f64), 0),
            (Some(theirs), 1),
            (Some(set.bits as f64), 0),
            (Some(set.us), 1),
            (keys.map(|keys| keys.bits as f64), 0),
            (keys.map(|keys| keys.us), 1),
            (Some(like.bits as f64), 0),
            (Some(like.us), 1),
            (Some(like.bits as f64 / t.bits as f64), 2),
            (Some(o.array.key_us).filter(|us| *us > 0.0), 1),
            (slot.map(|s| s.image_bits as f64), 0),
            (slot.map(|s| s.load_us), 0),
            (slot.map(|s| s.load_us / theirs), 0),
        ];
        let cells: Vec<String> = figures.iter().map(|(of, digits)| cell(*of, *digits)).collect();
        say!(page, "| {} | {schedule} | {} |", t.name, cells.join(" | "));
    }
    say!(
        page,
        "\nDRP-1: over its bus of {} bits at {} MHz. All of ours are loads as the default board makes them: a set is a frame from the \
         host, and link and slot work at once; a slot's image is what the library's loader sends into the port, the frames \
         that are used, key schedule included. *Like DRP-1's*: with the set that expands keys where DRP-1's configuration has \
         the key schedule in it, else without. A slot's load takes {} times as long as DRP-1's, a set's {} times.\n\nA store of sets beside the slots, the paper's cache of configurations, would leave of a set's load \
         the slot's own clocks: {} % of it. A board has none. What a faster one would do is below Figure 9.\n",
        paper.machine.bus_bits,
        paper.machine.bus_mhz,
        range(slot_loads(paper, ours), 0),
        range(set_loads(paper, ours), 1),
        range(ours.iter().map(|o| 100.0 * o.array.set.slot_us / o.array.set.us), 0),
    );
}

/// Loads of slots over the paper's.
pub fn slot_loads(paper: &Paper, ours: &[Ours]) -> Vec<f64> {
    over(paper, ours, |o| Some(o.slot.as_ref()?.load_us), |t| load_us(paper, t))
}

/// Loads of sets over the paper's, with a key schedule where those have one.
pub fn set_loads(paper: &Paper, ours: &[Ours]) -> Vec<f64> {
    let pairs = paper.task.iter().zip(ours);
    pairs.map(|(t, o)| o.array.loaded(t.key_schedule == Some(true)).us / load_us(paper, t)).collect()
}
