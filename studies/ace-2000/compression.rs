// SPDX-License-Identifier: Apache-2.0
//! Table 4: what configurations take when index and dictionary both count.

use std::io::Write;

use ace_ecp5::{ConfigMemory, Emit};
use ace_library::codec::{Contexts, Dictionary, Tables};
use ace_library::file::Stored;
use ace_report::{Page, Table, say};
use serde::{Deserialize, Serialize};

use super::scheme;
use crate::built::Image;
use crate::error::Result;
use crate::marks::range;

/// A row of the paper's Tables 3 and 4.
#[derive(Deserialize, Serialize)]
pub struct Published {
    pub name: String,
    pub bits: u64,
    pub redundancy: f64,
    pub lzw: Sizes,
    pub phase1: Sizes,
    pub phase2: Sizes,
}

/// Bits of index and dictionary, and both over the bitstream.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub struct Sizes {
    pub index: u64,
    pub dictionary: u64,
    pub percent: f64,
}

impl Sizes {
    pub fn of(way: &scheme::Compressed, bytes: usize) -> Self {
        let (index, dictionary) = (way.index_bits(), way.dictionary_bits());
        Self { index, dictionary, percent: 100.0 * (index + dictionary) as f64 / (bytes.max(1) * 8) as f64 }
    }
}

/// The same of a bitstream of ours, and others beside it, in percent of its frames and block RAM contents.
#[derive(Serialize)]
pub struct ImageSizes {
    name: String,
    lut4: Option<u64>,
    bits: u64,
    lzw: Sizes,
    phase1: Sizes,
    phase2: Sizes,
    gzip_percent: f64,
    xz_percent: f64,
    zstd_percent: f64,
    device_percent: f64,
    /// The library's own, with pointers and the whole of the dictionary that all share.
    library_bits: u64,
    library_percent: f64,
    /// Compressed frames over frames.
    frames_percent: f64,
    /// The same in small streams, the tables not counted.
    frames_small_percent: f64,
    /// What gzip, xz and zstd make of the frames alone.
    frames_gzip_percent: f64,
    frames_xz_percent: f64,
    frames_zstd_percent: f64,
}

/// Table 4: the paper's rows, and ours.
#[derive(Serialize)]
pub struct Compressed {
    paper: Vec<Published>,
    rows: Vec<ImageSizes>,
}

/// `images`: what is compressed; `also`: bitstreams besides, which come last and have no part in the dictionary.
///
/// # Errors
/// A bitstream cannot be compressed.
pub fn compressed(images: &[Image], also: &[Image]) -> Result<Compressed> {
    Ok(Compressed { paper: super::figures()?.compressed, rows: rows(images, also)? })
}

fn rows(images: &[Image], also: &[Image]) -> Result<Vec<ImageSizes>> {
    let dictionary = Dictionary::train(images.iter().map(|image| &image.memory));
    // As `ace library build --format small` does.
    let bases = images.iter().filter(|image| !image.variant);
    let contexts = Contexts::train(bases.map(|image| &image.memory));
    let small = Tables { dictionary: dictionary.clone(), contexts: Some(Box::new(contexts)) };
    let fast = Tables::from(dictionary);
    let all = images.iter().chain(also);
    all.map(|image| row(&image.name, image.lut4, &image.memory, (&fast, &small))).collect()
}

/// Frames and contents of block RAMs: what is compressed.
pub fn data(memory: &ConfigMemory) -> Vec<u8> {
    let mut data: Vec<u8> = memory.frames().flatten().copied().collect();
    memory.ebr().for_each(|(_, bytes)| data.extend_from_slice(bytes));
    data
}

fn row(
    name: &str,
    lut4: Option<u64>,
    image: &ConfigMemory,
    (fast, small): (&Tables, &Tables),
) -> Result<ImageSizes> {
    let frames: Vec<u8> = image.frames().flatten().copied().collect();
    let data = data(image);
    let percent = |bytes: usize, of: &[u8]| 100.0 * bytes as f64 / of.len() as f64;
    let sizes = |c: &scheme::Compressed| Sizes::of(c, data.len());
    let scheme = scheme::compress(&data);
    let stored = Stored::of(fast, image);
    let native = Emit { compress: true, ..Emit::default() }.whole(image).len();
    Ok(ImageSizes {
        name: name.to_owned(),
        lut4,
        bits: data.len() as u64 * 8,
        lzw: sizes(&scheme.lzw),
        phase1: sizes(&scheme.phase1),
        phase2: sizes(&scheme.phase2),
        gzip_percent: percent(gzip(&data)?, &data),
        xz_percent: percent(xz(&data)?, &data),
        zstd_percent: percent(zstd(&data)?, &data),
        device_percent: percent(native, &data),
        library_bits: stored.alone() as u64 * 8,
        library_percent: percent(stored.alone(), &data),
        frames_percent: percent(stored.frames, &frames),
        frames_small_percent: percent(Stored::of(small, image).frames, &frames),
        frames_gzip_percent: percent(gzip(&frames)?, &frames),
        frames_xz_percent: percent(xz(&frames)?, &frames),
        frames_zstd_percent: percent(zstd(&frames)?, &frames),
    })
}

fn gzip(data: &[u8]) -> Result<usize> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data)?;
    Ok(encoder.finish()?.len())
}

fn xz(data: &[u8]) -> Result<usize> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 9);
    encoder.write_all(data)?;
    Ok(encoder.finish()?.len())
}

fn zstd(data: &[u8]) -> Result<usize> {
    Ok(zstd::bulk::compress(data, 19)?.len())
}

/// A column: its head and what it shows.
type Percent = (&'static str, fn(&ImageSizes) -> f64);

/// A bitstream, its bits and redundancy, by each way.
pub type Ways<'a> = (&'a str, u64, f64, [Sizes; 3]);

/// The redundancy factor of Table 3: LZW's index over the bitstream.
pub fn redundancy(lzw: &Sizes, bits: u64) -> f64 {
    lzw.index as f64 / bits.max(1) as f64
}

/// Rows in the paper's columns.
pub fn print_ways(page: &mut Page, title: &str, rows: &[Ways<'_>]) {
    say!(page, "## {title}\n");
    let mut table = Table::of(rows).left("bitstream", |r| r.0).right("bits", |r| r.1);
    table = table.right("redundancy", |r| format!("{:.4}", r.2));
    for (at, way) in ["LZW", "phase I", "phase II"].into_iter().enumerate() {
        table = table.right(format!("{way} index"), move |r| r.3[at].index);
        table = table.right("dictionary", move |r| r.3[at].dictionary);
        table = table.right("%", move |r| format!("{:.2}", r.3[at].percent));
    }
    page.table(&table);
}

/// Puts the paper's table, ours in the same columns, and ours beside other ways on a page.
pub fn print(page: &mut Page, Compressed { paper: published, rows }: &Compressed) {
    let theirs: Vec<Ways<'_>> =
        published.iter().map(|p| (&*p.name, p.bits, p.redundancy, [p.lzw, p.phase1, p.phase2])).collect();
    print_ways(page, "Table 4 of the paper: Virtex bitstreams, sizes in bits", &theirs);
    say!(page);
    let ours: Vec<Ways<'_>> = rows
        .iter()
        .map(|r| (&*r.name, r.bits, redundancy(&r.lzw, r.bits), [r.lzw, r.phase1, r.phase2]))
        .collect();
    let title = "The same ways with ours: frames and block RAM contents of ECP5 images, sizes in bits";
    print_ways(page, title, &ours);
    say!(
        page,
        "\nThe redundancy factor of Table 3 is LZW's index over the bitstream: {} in the paper, {} here.\n",
        range(published.iter().map(|p| p.redundancy), 2),
        range(rows.iter().map(|r| redundancy(&r.lzw, r.bits)), 2),
    );
    say!(page, "## Beside other ways, in % of frames and block RAM contents\n");
    let percents: [Percent; 13] = [
        ("LZW", |r| r.lzw.percent),
        ("phase I", |r| r.phase1.percent),
        ("phase II", |r| r.phase2.percent),
        ("gzip -9", |r| r.gzip_percent),
        ("xz -9", |r| r.xz_percent),
        ("zstd -19", |r| r.zstd_percent),
        ("the device's own", |r| r.device_percent),
        ("library", |r| r.library_percent),
        ("frames alone: gzip -9", |r| r.frames_gzip_percent),
        ("xz -9", |r| r.frames_xz_percent),
        ("zstd -19", |r| r.frames_zstd_percent),
        ("library", |r| r.frames_percent),
        ("library, small", |r| r.frames_small_percent),
    ];
    let mut table = Table::of(rows).left("bitstream", |r| &r.name);
    table = table.right("LUT4", |r| r.lut4.map_or("–".to_owned(), |n| n.to_string()));
    for (head, percent) in percents {
        table = table.right(head, move |r| format!("{:.2}", percent(r)));
    }
    page.table(&table);
    say!(
        page,
        "\nLZW, phases I and II, and the library count everything that has to be in memory for decompression: index or \
         stream, pointers, dictionary (of the library's, shared by all, the whole is counted in every row). gzip, xz \
         and zstd rebuild their dictionaries in memories of 32 KiB to 8 MiB. The device's own is a whole bitstream \
         with its CRCs."
    );
}
