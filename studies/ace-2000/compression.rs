// SPDX-License-Identifier: Apache-2.0
//! Table 4: what configurations take when index and dictionary both count.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use ace_board::Catalogue;
use ace_board::library::read_memory;
use ace_ecp5::{ConfigMemory, Emit};
use ace_library::codec::{Contexts, Dictionary, Tables};
use ace_library::file::Stored;
use ace_report::{Page, Table, say};
use serde::{Deserialize, Serialize};

use super::scheme;
use crate::error::{Context, Result};

/// A row of the paper's Tables 3 and 4.
#[derive(Deserialize, Serialize)]
pub struct Published {
    name: String,
    bits: u64,
    redundancy: f64,
    lzw: Sizes,
    phase1: Sizes,
    phase2: Sizes,
}

/// Bits of index and dictionary, and both over the bitstream.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Sizes {
    index: u64,
    dictionary: u64,
    percent: f64,
}

/// The same of a bitstream of ours, and others beside it, in percent of its frames and block RAM contents.
#[derive(Serialize)]
pub struct Row {
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
    rows: Vec<Row>,
}

/// `also`: bitstreams to compress besides what is built.
///
/// # Errors
/// A bitstream or a manifest cannot be read.
pub fn compressed(catalogue: &Catalogue, also: &[PathBuf]) -> Result<Compressed> {
    Ok(Compressed { paper: super::figures()?.compressed, rows: rows(catalogue, also)? })
}

/// The rows of what is built; those of `also` come last and have no part in the dictionary.
fn rows(catalogue: &Catalogue, also: &[PathBuf]) -> Result<Vec<Row>> {
    let mut images = Vec::new();
    let mut variants = BTreeSet::new();
    for configuration in &catalogue.configurations {
        let manifest = catalogue.folder.join(&configuration.name).join("manifest.json");
        let manifest: serde_json::Value =
            serde_json::from_slice(&ace_fs::read(&manifest)?).with_context(|| configuration.name.clone())?;
        let lut4 = manifest["area"]["lut4"].as_u64();
        if manifest["variant_of"].is_string() {
            variants.insert(configuration.name.clone());
        }
        images.push((configuration.name.clone(), lut4, read_memory(&configuration.bitstream.path)?));
    }
    let dictionary = Dictionary::train(images.iter().map(|(_, _, image)| image));
    // As `ace library build --format small` does.
    let bases = images.iter().filter(|(name, ..)| !variants.contains(name));
    let contexts = Contexts::train(bases.map(|(_, _, image)| image));
    let small = Tables { dictionary: dictionary.clone(), contexts: Some(Box::new(contexts)) };
    let fast = Tables::from(dictionary);
    for path in also {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        images.push((name, None, read_memory(path)?));
    }
    images.iter().map(|(name, lut4, image)| row(name, *lut4, image, (&fast, &small))).collect()
}

fn row(
    name: &str,
    lut4: Option<u64>,
    image: &ConfigMemory,
    (fast, small): (&Tables, &Tables),
) -> Result<Row> {
    let frames: Vec<u8> = image.frames().flatten().copied().collect();
    let mut data = frames.clone();
    image.ebr().for_each(|(_, bytes)| data.extend_from_slice(bytes));
    let percent = |bytes: usize, of: &[u8]| 100.0 * bytes as f64 / of.len() as f64;
    let sizes = |c: &scheme::Compressed| Sizes {
        index: c.index_bits(),
        dictionary: c.dictionary_bits(),
        percent: 100.0 * (c.index_bits() + c.dictionary_bits()) as f64 / (data.len() * 8) as f64,
    };
    let scheme = scheme::compress(&data);
    let stored = Stored::of(fast, image);
    let native = Emit { compress: true, ..Emit::default() }.whole(image).len();
    Ok(Row {
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
type Percent = (&'static str, fn(&Row) -> f64);

/// A bitstream by each way.
type Ways<'a> = (&'a str, u64, [Sizes; 3]);

/// Rows in the paper's columns.
fn print_ways(page: &mut Page, title: &str, rows: &[Ways<'_>]) {
    say!(page, "## {title}\n");
    let mut table = Table::of(rows).left("bitstream", |r| r.0).right("bits", |r| r.1);
    for (at, way) in ["LZW", "phase I", "phase II"].into_iter().enumerate() {
        table = table.right(format!("{way} index"), move |r| r.2[at].index);
        table = table.right("dictionary", move |r| r.2[at].dictionary);
        table = table.right("%", move |r| format!("{:.2}", r.2[at].percent));
    }
    page.table(&table);
}

/// Puts the paper's table, ours in the same columns, and ours beside other ways on a page.
pub fn print(page: &mut Page, Compressed { paper: published, rows }: &Compressed) {
    let theirs: Vec<Ways<'_>> =
        published.iter().map(|p| (&*p.name, p.bits, [p.lzw, p.phase1, p.phase2])).collect();
    print_ways(page, "Table 4 of the paper: Virtex bitstreams, sizes in bits", &theirs);
    say!(page);
    let ours: Vec<Ways<'_>> = rows.iter().map(|r| (&*r.name, r.bits, [r.lzw, r.phase1, r.phase2])).collect();
    let title = "The same ways with ours: frames and block RAM contents of ECP5 images, sizes in bits";
    print_ways(page, title, &ours);
    say!(
        page,
        "\nThe redundancy factor of Table 3 is LZW's index over the bitstream: {} in the paper, {} here.\n",
        range(published.iter().map(|p| p.redundancy)),
        range(rows.iter().map(|r| r.lzw.index as f64 / r.bits as f64)),
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

fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    format!("{low:.2} to {:.2}", values.fold(0.0, f64::max))
}
