// SPDX-License-Identifier: Apache-2.0
//! Images of boards: bitstreams that somebody loads into a board of his own, with slots behind its Ethernet (docs/image.md).
//! They stand in a library beside configurations, and no board of this crate loads them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ace_ecp5::ConfigMemory;
use ace_library::file::is_name;
use ace_library::{Image, ImageError, Library};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::built::{BuiltError, read_memory};

/// What a manifest says of its kind, if it is one of an image.
const KIND: &str = "image";
/// The versions of manifest and record that this code reads (`flow/ace_flow/image/make.py`, `prove.py`).
const SCHEMA: u32 = 1;
const FORMAT: u64 = 1;

/// What the manifest of an image says of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct BoardImage {
    schema: u32,
    kind: String,
    /// The name that folders, libraries and commands use.
    pub name: String,
    /// One line on what it is, for people.
    pub summary: String,
    /// The folder of `boards/` that it is for.
    pub board: String,
    /// What openFPGALoader calls that board.
    pub loader: String,
    /// What whoever loads it has to know.
    pub warnings: Vec<String>,
    /// What is behind the link.
    pub slots: String,
    /// The part it is made for.
    pub device: String,
    /// Clocks by name.
    pub clocks: BTreeMap<String, Clock>,
    /// Cells of the netlist by kind.
    pub area: BTreeMap<String, u64>,
    /// Cells of the part by kind, of which the image uses some.
    pub available: BTreeMap<String, u64>,
    /// Seeds that were placed and routed; the image is that of one of them.
    pub seeds: Vec<Seed>,
    /// Digest of the configuration memory that it leaves.
    pub memory_sha256: String,
    /// Digest of the netlist that its bits are.
    pub netlist_sha256: String,
    files: Files,
}

/// A clock of an image, in MHz.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Clock {
    /// As it is.
    pub asked_mhz: f64,
    /// As it could be, by the placed and routed design.
    pub fmax_mhz: f64,
}

/// What came of a seed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Seed {
    /// Which.
    pub seed: u32,
    /// Clocks by name, in MHz.
    #[serde(flatten)]
    pub fmax_mhz: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Files {
    bitstream: File,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct File {
    path: PathBuf,
    sha256: String,
}

#[derive(Deserialize)]
struct Record {
    format: u64,
    kind: String,
    result: String,
    memory_sha256: String,
    netlist_sha256: String,
    bits: Bits,
    rtl: Rtl,
}

#[derive(Deserialize)]
struct Bits {
    memory_sha256: String,
    netlist_sha256: String,
    points: u64,
    control: Control,
}

#[derive(Deserialize)]
struct Control {
    points_refuted: u64,
}

#[derive(Deserialize)]
struct Rtl {
    result: String,
    netlist_sha256: String,
    points: u64,
    controls: Vec<Control>,
}

/// Why an image is not taken.
#[derive(Debug, Error)]
pub enum BoardImageError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}; `python -m ace_flow image BOARD` makes it", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The manifest or the record is not JSON of its form.
    #[error("{name}: its {what}: {source}")]
    Json {
        /// Of the image.
        name: String,
        /// `manifest` or `proof`.
        what: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The bitstream is none.
    #[error(transparent)]
    Bits(#[from] BuiltError),
    /// The library does not have it, or does not take it.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Manifest, record and bits do not belong together, or the record says too little.
    #[error("{name}: {why}; make it again: `python -m ace_flow image BOARD`")]
    Unsound {
        /// Of the image.
        name: String,
        /// What is wrong first.
        why: Unsound,
    },
}

/// What is wrong with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsound {
    /// The manifest is of another version, or of no image.
    #[error("its manifest is of another version, or of no image")]
    Manifest,
    /// Nothing may be called so.
    #[error("its name is no name for a folder")]
    Name,
    /// The bitstream is not the one of the manifest.
    #[error("its bitstream is not the one of its manifest")]
    Bitstream,
    /// The record is of another version, or does not say that it is proven.
    #[error("its record does not say that it is proven")]
    Unproven,
    /// The record is of other bits or of another netlist.
    #[error("its record is of other bits, or of another netlist")]
    Other,
    /// Nothing was refuted: a proof that refutes nothing proves nothing.
    #[error("its record names no control that was refuted")]
    NoControl,
    /// A clock is slower than it has to be.
    #[error("a clock of it is slower than it has to be")]
    Slow,
}

impl BoardImage {
    fn parse(name: &str, manifest: &[u8]) -> Result<Self, BoardImageError> {
        let wrong = |source| BoardImageError::Json { name: name.to_owned(), what: "manifest", source };
        let image: Self = serde_json::from_slice(manifest).map_err(wrong)?;
        let unsound = |why| Err(BoardImageError::Unsound { name: name.to_owned(), why });
        if image.schema != SCHEMA || image.kind != KIND {
            return unsound(Unsound::Manifest);
        }
        if !is_name(&image.name) {
            return unsound(Unsound::Name);
        }
        let slow = |clock: &Clock| clock.fmax_mhz.is_nan() || clock.fmax_mhz < clock.asked_mhz;
        if image.clocks.is_empty() || image.clocks.values().any(slow) {
            return unsound(Unsound::Slow);
        }
        Ok(image)
    }

    /// The call of openFPGALoader that loads it.
    pub fn loader_command(&self, bitstream: &Path) -> Vec<String> {
        let file = bitstream.display().to_string();
        ["openFPGALoader", "-b", &self.loader, &file].map(str::to_owned).to_vec()
    }

    /// Whether bits are those of the manifest, and a record says that they are proven.
    fn proven(&self, memory: &ConfigMemory, record: &[u8]) -> Result<(), BoardImageError> {
        let name = || self.name.clone();
        let wrong = |source| BoardImageError::Json { name: name(), what: "proof", source };
        let record: Record = serde_json::from_slice(record).map_err(wrong)?;
        let unsound = |why| Err(BoardImageError::Unsound { name: name(), why });
        if hex::encode(memory.digest()) != self.memory_sha256 || memory.device().name != self.device {
            return unsound(Unsound::Bitstream);
        }
        let proven = record.result == "proven" && record.rtl.result == "proven";
        let all = record.format == FORMAT && record.kind == KIND;
        if !(proven && all && record.bits.points > 0 && record.rtl.points > 0) {
            return unsound(Unsound::Unproven);
        }
        let memories = [&record.memory_sha256, &record.bits.memory_sha256];
        let netlists = [&record.netlist_sha256, &record.bits.netlist_sha256, &record.rtl.netlist_sha256];
        if memories.iter().any(|digest| **digest != self.memory_sha256)
            || netlists.iter().any(|digest| **digest != self.netlist_sha256)
        {
            return unsound(Unsound::Other);
        }
        let refuted = |control: &Control| control.points_refuted > 0;
        if !refuted(&record.bits.control)
            || record.rtl.controls.is_empty()
            || !record.rtl.controls.iter().all(refuted)
        {
            return unsound(Unsound::NoControl);
        }
        Ok(())
    }
}

/// Whether an entry of a library is an image of a board, and no configuration.
pub fn is_board_image(image: &Image) -> bool {
    super::manifest(image)["kind"] == KIND
}

/// The configurations of a library: all that is no image of a board.
pub fn configurations(library: &Library) -> impl Iterator<Item = &Image> {
    library.images().iter().filter(|image| !is_board_image(image))
}

/// The images of a library, by their own manifests.
///
/// # Errors
/// One of which the manifest is damaged.
pub fn board_images(library: &Library) -> Result<Vec<BoardImage>, BoardImageError> {
    let images = library.images().iter().filter(|image| is_board_image(image));
    images.map(|image| BoardImage::parse(image.name(), &image.manifest()?)).collect()
}

/// Decompresses an image, compares its digest, and reads its manifest and its record.
///
/// # Errors
/// What is wrong first.
pub fn verify_board_image(library: &Library, image: &Image) -> Result<BoardImage, BoardImageError> {
    let about = BoardImage::parse(image.name(), &image.manifest()?)?;
    if about.name != image.name() {
        return Err(BoardImageError::Unsound { name: image.name().to_owned(), why: Unsound::Name });
    }
    about.proven(&library.memory(image.name())?, &image.proof()?)?;
    Ok(about)
}

/// An image that the flow has made.
pub struct BuiltImage {
    /// What its manifest says.
    pub about: BoardImage,
    memory: ConfigMemory,
    manifest: Vec<u8>,
    proof: Vec<u8>,
}

impl BuiltImage {
    /// Reads what `python -m ace_flow image` has left in a folder: manifest, proof and bitstream.
    ///
    /// # Errors
    /// A file is missing, or they do not belong together, or nothing says that the bits are proven.
    pub fn read(folder: &Path) -> Result<Self, BoardImageError> {
        let read = |name: &Path| {
            let path = folder.join(name);
            ace_fs::read(&path).map_err(|source| BoardImageError::Read { path, source })
        };
        let (manifest, proof) = (read(Path::new("manifest.json"))?, read(Path::new("proof.json"))?);
        let about = BoardImage::parse(&folder.display().to_string(), &manifest)?;
        let File { path, sha256 } = &about.files.bitstream;
        let unsound = |why| Err(BoardImageError::Unsound { name: about.name.clone(), why });
        // A manifest leads nowhere but into its own folder.
        if path.file_name() != Some(path.as_os_str()) {
            return unsound(Unsound::Bitstream);
        }
        if hex::encode(Sha256::digest(read(path)?)) != *sha256 {
            return unsound(Unsound::Bitstream);
        }
        let memory = read_memory(&folder.join(path))?;
        about.proven(&memory, &proof)?;
        Ok(Self { about, memory, manifest, proof })
    }

    /// Puts it into a library, in place of one of the same name.
    ///
    /// # Errors
    /// The library does not take it.
    pub fn put(&self, library: &mut Library) -> Result<(), ImageError> {
        library.add(&self.about.name, &self.memory, &self.manifest, &self.proof, &[])
    }
}
