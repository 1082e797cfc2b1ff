// SPDX-License-Identifier: Apache-2.0
//! Section 5: decompression by memory reads alone, beside the decoder of the library's streams. What both take is of
//! `python -m ace_flow study ace-2000`; tests simulate that a codeword and a byte are a read each, and a row a clock.

use ace_library::codec::{Dictionary, Tables};
use ace_report::{Page, say};
use serde::Serialize;

use super::domains::Domains;
use crate::built::Image;
use crate::error::{Context, Result};
use crate::marks::{By, Mark, heads, range};
use crate::routed::{Area, Routed};

const FILE: &str = "studies/ace-2000/results.json";

/// A way to decompress: what it takes, and its clocks a byte of each bitstream.
#[derive(Serialize)]
struct Decoder {
    what: &'static str,
    area: Area,
    median_mhz: f64,
    clocks_a_byte: Vec<f64>,
}

/// Both ways.
#[derive(Serialize)]
pub struct Decoders {
    about: String,
    rows: [Decoder; 2],
}

/// Both ways, of the bitstreams that `domains` was made of.
///
/// # Errors
/// The results file is not what it should be, or a stream of ours cannot be read back: a fault of this repository.
pub fn decoders(images: &[Image], domains: &Domains) -> Result<Decoders> {
    let routed = Routed::read(include_str!("results.json"), FILE)?;
    let tables = Tables::from(Dictionary::train(images.iter().map(|image| &image.memory)));
    let stream = images.iter().map(|image| clocks_a_byte(&tables, image)).collect::<Result<_>>()?;
    let row = |what, name, clocks_a_byte| -> Result<Decoder> {
        let design = routed.design(name)?;
        Ok(Decoder { what, area: design.area, median_mhz: design.median.fmax_mhz, clocks_a_byte })
    };
    let reads = domains.alone.iter().map(super::domains::Way::reads_a_byte).collect();
    Ok(Decoders {
        about: routed.about(),
        rows: [
            row("memory reads alone, phase II", "phrase-reader", reads)?,
            row("decoder of the library's streams", "stream-decoder", stream)?,
        ],
    })
}

/// Of all frames of an image, as a stream.
fn clocks_a_byte(tables: &Tables, image: &Image) -> Result<f64> {
    let device = image.memory.device();
    let frames: Vec<&[u8]> = image.memory.frames().collect();
    let stream = tables.compress(device, frames.iter().copied().enumerate());
    let mut out = vec![0; frames.iter().map(|frame| frame.len()).sum()];
    let decoded = tables
        .decompress(device, &stream, 0..frames.len(), &mut out)
        .with_context(|| format!("the stream of {}", image.name))?;
    Ok(decoded.clocks() as f64 / out.len() as f64)
}

impl Decoders {
    /// LUT4 of both.
    pub fn lut4(&self) -> [u64; 2] {
        [0, 1].map(|at| self.rows[at].area.lut4)
    }

    /// Clocks a byte of both.
    pub fn clocks(&self) -> [String; 2] {
        [0, 1].map(|at| range(self.rows[at].clocks_a_byte.iter().copied(), 2))
    }
}

/// Puts both on a page.
pub fn print(page: &mut Page, decoders: &Decoders) {
    let (placed, rtl) = (Mark::Measured(By::Placed), Mark::Measured(By::Rtl));
    say!(page, "### Decompression by memory reads alone (section 5)\n");
    let columns = [
        ("LUT4", placed),
        ("FF", placed),
        ("EBR", placed),
        ("MHz", placed),
        ("clocks a byte", rtl),
        ("MB/s, slowest", rtl),
    ];
    say!(page, "{}", heads(&["loader"], &columns));
    for (row, clocks) in decoders.rows.iter().zip(decoders.clocks()) {
        let slowest = row.clocks_a_byte.iter().copied().fold(0.0, f64::max);
        say!(
            page,
            "| {} | {} | {} | {} | {:.1} | {clocks} | {:.0} |",
            row.what,
            row.area.lut4,
            row.area.ff,
            row.area.ebr,
            row.median_mhz,
            row.median_mhz / slowest
        );
    }
    say!(
        page,
        "\nThe paper's scheme as a loader (`rtl/phrase_reader.sv`): a read for each codeword and one for each node, nothing else. It needs \
         index and dictionary of each configuration in a memory that answers in one clock; the library's decoder needs one dictionary \
         for all, in a block memory, and takes a stream from any memory. Placed: {}.\n",
        decoders.about
    );
}
