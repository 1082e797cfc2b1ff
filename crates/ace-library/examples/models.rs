// SPDX-License-Identifier: Apache-2.0
//! What rows of frames could cost at best under several static models: the figures behind the choice of the codec.
//!
//! `cargo run --release -p ace-library --example models -- FILE.bit…`

use std::collections::HashMap;

use ace_ecp5::device::COLUMN_FRAMES;
use ace_ecp5::{ConfigMemory, ConfigPort};
use ace_library::codec::{Dictionary, compress};

/// Bits of a row.
const ROW: usize = 12;

/// Counts symbols by context.
#[derive(Default)]
struct Model {
    symbols: HashMap<(u64, u32), f64>,
    contexts: HashMap<u64, f64>,
}

impl Model {
    fn add(&mut self, context: u64, symbol: u32) {
        *self.symbols.entry((context, symbol)).or_default() += 1.0;
        *self.contexts.entry(context).or_default() += 1.0;
    }

    /// Entropy of all that was added, in bits.
    fn bits(&self) -> f64 {
        self.symbols.iter().map(|((context, _), n)| n * (self.contexts[context] / n).log2()).sum()
    }
}

/// The rows of every frame in the order of transmission, the highest first, cut so that the lowest has `low` bits.
fn rows(memory: &ConfigMemory, low: usize) -> Vec<Vec<u32>> {
    let device = memory.device();
    let bit = |frame: &[u8], at: usize| u32::from(frame[frame.len() - 1 - at / 8] >> (at % 8) & 1);
    let count = (device.frame_bits - low).div_ceil(ROW) + usize::from(low > 0);
    let first = |row: usize| (row * ROW + low).saturating_sub(if low > 0 { ROW } else { 0 });
    let ends = |row: usize| ((row + usize::from(low == 0)) * ROW + low).min(device.frame_bits);
    let row =
        |frame: &[u8], row: usize| (first(row)..ends(row)).rev().fold(0, |all, at| all << 1 | bit(frame, at));
    memory.frames().map(|frame| (0..count).rev().map(|r| row(frame, r)).collect()).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut images = Vec::new();
    for file in std::env::args().skip(1) {
        let mut port = ConfigPort::for_any_device();
        port.push(&std::fs::read(file)?)?;
        images.push(port.finish()?.clone());
    }
    let raw: usize = images.iter().map(|i| i.frames().map(<[u8]>::len).sum::<usize>()).sum();
    let percent = |bits: f64| 100.0 * bits / 8.0 / raw as f64;

    println!("| model | % of frames |\n|---|--:|");
    for window in [1, 4, 7] {
        let mut zero = Model::default();
        for image in &images {
            let frames = rows(image, 1);
            for (number, frame) in frames.iter().enumerate() {
                let mut above = false;
                for (row, value) in frame.iter().enumerate() {
                    let used = |back: usize| number >= back && frames[number - back][row] != 0;
                    let any = (1..=window).any(used);
                    let context = u64::from(any) << 2 | u64::from(used(1)) << 1 | u64::from(above);
                    zero.add(context, u32::from(*value != 0));
                    above = *value != 0;
                }
            }
        }
        println!(
            "| zero or not, given the row above, the frame before, and the last {window} | {:.2} |",
            percent(zero.bits())
        );
    }
    for low in [0, 1] {
        let (mut value, mut by_frame) = (Model::default(), Model::default());
        for image in &images {
            let last = image.device().frames - 1;
            for (number, frame) in rows(image, low).iter().enumerate() {
                for row in frame.iter().filter(|row| **row != 0) {
                    value.add(0, *row);
                    by_frame.add(((last - number) % COLUMN_FRAMES) as u64, *row);
                }
            }
        }
        println!("| values, the lowest row of {} | {:.2} |", bits(low), percent(value.bits()));
        println!("| the same, given the frame's number in its column | {:.2} |", percent(by_frame.bits()));
    }
    let dictionary = Dictionary::train(&images);
    let stored: usize = images.iter().map(|i| compress(&dictionary, i.device(), i.frames()).len()).sum();
    println!("| all of it, with the codes of the library | {:.2} |", percent(stored as f64 * 8.0));
    Ok(())
}

fn bits(low: usize) -> &'static str {
    if low == 0 { "12 bits" } else { "1 bit" }
}
