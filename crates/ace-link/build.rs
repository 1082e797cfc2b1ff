// SPDX-License-Identifier: Apache-2.0
//! The known answers of `algorithms/`, so that a board is asked for them wherever this program is.

use std::path::Path;
use std::{env, fs};

use ace_algorithms::{Algorithm, Error};

fn main() {
    let folder = ace_algorithms::folder();
    let made = ace_algorithms::load(&folder).and_then(|all| {
        print!("{}", ace_algorithms::watched(&all)?);
        table(&all)
    });
    let made = made.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(1);
    });
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("known.rs"), made).expect("cargo's folder can be written");
}

fn table(all: &[Algorithm]) -> Result<String, Error> {
    let mut rows = String::new();
    for algorithm in all {
        for (subject, path) in algorithm.known_answers()? {
            let path = fs::canonicalize(&path).map_err(|error| Error::Io { path: path.clone(), error })?;
            let subject = subject.replace('_', "-");
            rows += &format!("    ({subject:?}, include_bytes!({:?})),\n", path.display().to_string());
        }
    }
    Ok(format!(
        "/// Files of known answers, by what they are of.\nconst KNOWN: &[(&str, &[u8])] = &[\n{rows}];\n"
    ))
}
