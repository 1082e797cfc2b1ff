// SPDX-License-Identifier: Apache-2.0
//! What a study may have without which it still stands: results that somebody has still to measure.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const RESULTS: &str = "ace-2000/rounds.json";

fn main() -> io::Result<()> {
    let text = if Path::new(RESULTS).exists() { fs::read(RESULTS)? } else { Vec::new() };
    println!("cargo::rerun-if-changed=ace-2000");
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    fs::write(folder.join("ace-2000-rounds.json"), text)
}
