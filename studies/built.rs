// SPDX-License-Identifier: Apache-2.0
//! What configurations there are to study: those that a signed library holds, or those of a folder.

use std::path::Path;

use ace_board::library::{manifest, read_memory};
use ace_board::{BoardConfig, Catalogue};
use ace_ecp5::ConfigMemory;
use serde_json::Value;

use crate::error::{Context, Result};

/// The bits of a configuration.
pub struct Image {
    /// Of the configuration, or of the file.
    pub name: String,
    /// Of the core, where a manifest says it.
    pub lut4: Option<u64>,
    /// It differs from another one in contents of LUTs alone.
    pub variant: bool,
    /// At the port of the default board; of a file nothing is known.
    pub load_ms: Option<f64>,
    /// Its frames and contents of block RAMs.
    pub memory: ConfigMemory,
}

/// The manifests of a catalogue, in the order of its configurations: of a library as it has them, of a folder as they stand
/// in their files.
///
/// # Errors
/// A file cannot be read, or is no JSON.
pub fn manifests(catalogue: &Catalogue) -> Result<Vec<Value>> {
    let of = |name: &str| -> Result<Value> {
        if let Some(store) = catalogue.library() {
            return Ok(manifest(store.library().get(name)?));
        }
        let path = catalogue.folder.join(name).join("manifest.json");
        let file = || path.display().to_string();
        serde_json::from_slice(&ace_fs::read(&path).with_context(file)?).with_context(file)
    };
    catalogue.configurations.iter().map(|it| of(&it.name)).collect()
}

/// The bits of a catalogue's configurations of these names, of all without any.
///
/// # Errors
/// Bits cannot be read.
pub fn images(catalogue: &Catalogue, names: &[String]) -> Result<Vec<Image>> {
    let (mut all, board) = (Vec::new(), BoardConfig::default());
    for (it, manifest) in catalogue.configurations.iter().zip(manifests(catalogue)?) {
        if !names.is_empty() && !names.contains(&it.name) {
            continue;
        }
        let memory = match catalogue.library() {
            Some(store) => store.library().memory(&it.name)?,
            None => read_memory(&it.bitstream.path)?,
        };
        let (lut4, variant) = (manifest["area"]["lut4"].as_u64(), manifest["variant_of"].is_string());
        let load_ms = Some(catalogue.load_time(&board, it) as f64 / 1e9);
        all.push(Image { name: it.name.clone(), lut4, variant, load_ms, memory });
    }
    Ok(all)
}

/// The bits of a file.
///
/// # Errors
/// It is no bitstream.
pub fn image(path: &Path) -> Result<Image> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Image { name, lut4: None, variant: false, load_ms: None, memory: read_memory(path)? })
}
