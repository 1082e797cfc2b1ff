// SPDX-License-Identifier: Apache-2.0
//! The programs for the array, what they serve and the digests of their sets, from the folders of `algorithms/`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use ace_algorithms::{Algorithm, Error};

fn main() {
    let folder = ace_algorithms::folder();
    let made = ace_algorithms::load(&folder).and_then(|all| {
        print!("{}", ace_algorithms::watched(&all)?);
        tables(&all)
    });
    let made = made.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(1);
    });
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("algorithms.rs"), made).expect("cargo's folder can be written");
}

fn tables(all: &[Algorithm]) -> Result<String, Error> {
    let absolute =
        |path: &Path| fs::canonicalize(path).map_err(|error| Error::Io { path: path.to_owned(), error });
    let (mut programs, mut sets) = (BTreeMap::new(), Vec::new());
    let (mut served, mut aeads, mut setups) = (String::new(), String::new(), String::new());
    for algorithm in all {
        for path in algorithm.programs()? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            programs.insert(name, absolute(&path)?);
        }
        if let Some(path) = algorithm.sets() {
            sets.push((&algorithm.name, absolute(&path)?));
        }
        for variant in algorithm.served() {
            let _ = writeln!(
                if variant.aead.is_some() { &mut aeads } else { &mut served },
                "    Served {{ code: {:#04x}, algorithm: {:?}, file: {:?}, stem: {:?}, keys: &{:?}, aead: {:?} }},",
                algorithm.code().unwrap_or_default(),
                algorithm.name,
                variant.file,
                variant.stem,
                variant.keys,
                variant.aead
            );
        }
        for setup in &algorithm.setups {
            let _ = writeln!(
                setups,
                "    KeySetup {{ file: {:?}, stem: {:?}, bits: {:?}, bytes: {} }},",
                setup.file, setup.stem, setup.bits, setup.bytes
            );
        }
    }
    let listed = |rows: &mut dyn Iterator<Item = (&String, &Path)>| {
        let mut text = String::new();
        for (name, path) in rows {
            let _ = writeln!(text, "    ({name:?}, include_str!({path:?})),");
        }
        text
    };
    let files = listed(&mut programs.iter().map(|(name, path)| (name, path.as_path())));
    let sets = listed(&mut sets.iter().map(|(name, path)| (*name, path.as_path())));
    Ok(format!(
        "/// Every program, by the name of its file.\npub const FILES: &[(&str, &str)] = &[\n{files}];\n\n\
         /// Every algorithm whose sets fit the tile.\npub const SERVED: &[Served] = &[\n{served}];\n\n\
         /// Every AEAD whose sets fit the tile.\npub const AEADS: &[Served] = &[\n{aeads}];\n\n\
         /// Every key set-up that fits the tile.\npub const SETUPS: &[KeySetup] = &[\n{setups}];\n\n\
         /// The digests of context sets, a text of TOML for each algorithm.\npub const SETS: &[(&str, &str)] = &[\n{sets}];\n"
    ))
}
