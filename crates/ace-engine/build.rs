// SPDX-License-Identifier: Apache-2.0
//! The table of algorithms and what the CPU runs for each, from `algorithms/*/algorithm.toml`.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use ace_algorithms::{Algorithm, Kind};

fn main() {
    let folder = ace_algorithms::folder();
    let read = ace_algorithms::load(&folder).and_then(|all| Ok((ace_algorithms::watched(&all)?, all)));
    let (watched, mut all) = read.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(1);
    });
    print!("{watched}");
    all.retain(|algorithm| algorithm.kind != Kind::Aead);
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("algorithms.rs"), table(&all)).expect("cargo's folder can be written");
    fs::write(Path::new(&out).join("cpu.rs"), cpu(&all)).expect("cargo's folder can be written");
}

/// A static for each algorithm, the list of all, and their other names.
fn table(all: &[Algorithm]) -> String {
    let mut text = String::new();
    for a in all {
        let kind = match &a.kind {
            Kind::Cipher { block, keys, .. } => format!("Cipher {{ block: {block}, keys: &{keys:?} }}"),
            Kind::Hash { block, digest, .. } => format!("Hash {{ block: {block}, digest: {digest} }}"),
            Kind::Aead => continue,
        };
        let _ = writeln!(
            text,
            "/// {}: {}\npub static {}: Algorithm = Algorithm {{ name: {:?}, code: {:#04x}, kind: Kind::{kind}, title: {:?}, source: {:?} }};\n",
            a.source,
            a.about,
            a.identifier,
            a.name,
            a.code().unwrap_or_default(),
            a.title,
            a.source,
        );
    }
    let list: Vec<String> = all.iter().map(|a| format!("&{}", a.identifier)).collect();
    let aliases: Vec<String> = all
        .iter()
        .flat_map(|a| a.aliases.iter().map(|alias| format!("({alias:?}, &{})", a.identifier)))
        .collect();
    let _ = writeln!(
        text,
        "/// Every algorithm, in the order of listings.\npub static ALGORITHMS: &[&Algorithm] = &[{}];\n\n\
         /// Other names of some.\nstatic ALIASES: &[(&str, &Algorithm)] = &[{}];",
        list.join(", "),
        aliases.join(", ")
    );
    text
}

/// What the CPU runs, for a cipher by length of the key.
fn cpu(all: &[Algorithm]) -> String {
    let (mut ciphers, mut hashes, mut modules) = (String::new(), String::new(), String::new());
    for a in all {
        // A kept crate's type, or one of the algorithm's own file.
        let (mut from, own) = ("", a.folder.join("cpu.rs"));
        if let Ok(own) = fs::canonicalize(own) {
            from = "super::own::own";
            let module = a.name.replace('-', "_");
            println!("cargo::rerun-if-changed={}", own.display());
            let _ = writeln!(modules, "#[path = {own:?}]\nmod {module};");
        }
        match &a.kind {
            Kind::Cipher { block, keys, .. } => {
                let types =
                    keys.iter().enumerate().filter_map(|(at, n)| Some((n, a.cpu.get(at).or(a.cpu.first())?)));
                let from = if from.is_empty() { "block" } else { from };
                let rows: Vec<String> =
                    types.map(|(n, of)| format!("({n}, {from}{}::<{of}>())", 8 * block)).collect();
                let _ = writeln!(ciphers, "    (&algorithm::{}, &[{}]),", a.identifier, rows.join(", "));
            }
            Kind::Hash { .. } => {
                let rows =
                    a.cpu.iter().map(|of| format!("    (&algorithm::{}, hash::<{of}>()),\n", a.identifier));
                hashes.extend(rows);
            }
            Kind::Aead => {}
        }
    }
    format!(
        "{modules}\n/// The implementation of each cipher, by key length in bytes.\n\
         static CIPHERS: &[(&Algorithm, &[(usize, Cipher)])] = &[\n{ciphers}];\n\n\
         /// The implementation of each hash.\nstatic HASHES: &[(&Algorithm, Hash)] = &[\n{hashes}];\n"
    )
}
