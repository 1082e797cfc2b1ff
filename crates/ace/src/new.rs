// SPDX-License-Identifier: Apache-2.0
//! `ace new`: the folder that a new algorithm begins with.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::flow::Flow;
use ace_report::Outcome;

/// Begin something new in the repository.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Algorithm(NewAlgorithm),
}

/// A block cipher: one folder, with package, core and slot in RTL, what the CPU runs, and a file of known answers
///
/// What is generated is complete but for the cipher, and can be simulated and proven. Its tests fail until rounds and known
/// answers are those of the standard. docs/adding-an-algorithm.md goes the way. Hashes have another boundary;
/// algorithms/md5 is the example.
#[derive(clap::Args)]
struct NewAlgorithm {
    /// Small letters, digits and hyphens
    name: String,
    /// Bytes of a block: 8 or 16
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    block: u32,
    /// Legal key lengths in bytes, multiples of 8 up to 56
    #[arg(long, value_name = "BYTES", default_value = "16", value_delimiter = ',')]
    keys: Vec<u32>,
    /// Rounds, 2 to 64
    #[arg(long, default_value_t = 16)]
    rounds: u32,
}

/// Where the folder goes, and what is in it.
const FOLDER: &str = "algorithms";
const FILES: [(&str, &str); 8] = [
    ("algorithm.toml", include_str!("../templates/algorithm.toml")),
    ("rtl/@ID@_pkg.sv", include_str!("../templates/pkg.sv")),
    ("rtl/@ID@_core.sv", include_str!("../templates/core.sv")),
    ("rtl/@ID@_slot.sv", include_str!("../templates/slot.sv")),
    ("cpu.rs", include_str!("../templates/cpu.rs")),
    ("kat.csv", "source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex\n"),
    ("faults.toml", include_str!("../templates/faults.toml")),
    ("README.md", include_str!("../templates/README.md")),
];
/// The build scripts that read the folders, which have to be run again.
const READERS: [&str; 2] = ["crates/ace-engine/build.rs", "crates/ace-array/build.rs"];

pub fn run(args: &Args) -> Result<Outcome> {
    let What::Algorithm(new) = &args.what;
    algorithm(new, &Flow::root()?)
}

fn algorithm(new: &NewAlgorithm, root: &Path) -> Result<Outcome> {
    let name = &new.name;
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letters) || name.len() > 32 {
        bail!("`{name}`: a letter, and then small letters, digits and hyphens are wanted");
    }
    let all = ace_algorithms::load(&root.join(FOLDER))?;
    if all.iter().any(|known| known.name == *name || known.aliases.contains(name)) {
        bail!("there is an algorithm `{name}` already");
    }
    if ![8, 16].contains(&new.block) {
        bail!("--block {}: 8 or 16", new.block);
    }
    if let Some(wrong) = new.keys.iter().find(|n| !(8..=56).contains(*n) || !n.is_multiple_of(8)) {
        bail!("--keys {wrong}: multiples of 8 from 8 to 56");
    }
    if !(2..=64).contains(&new.rounds) {
        bail!("--rounds {}: 2 to 64", new.rounds);
    }
    // Codes of ciphers (docs/slot.md).
    let taken = |code: &u8| all.iter().any(|known| known.code() == Some(*code));
    let Some(code) = (1..0x40).find(|code| !taken(code)) else { bail!("every code of a cipher is taken") };
    let mut keys = new.keys.clone();
    keys.sort_unstable();
    keys.dedup();
    let longest = keys.last().copied().unwrap_or_default();
    let list = keys.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let id = name.replace('-', "_");
    let of_rust: String = name.split('-').map(capital).collect();
    let fill = |text: &str| {
        [
            ("@NAME@", name.clone()),
            ("@ID@", id.clone()),
            ("@CODE@", format!("{code:02x}")),
            ("@BLOCK@", new.block.to_string()),
            ("@BLOCK_TOP@", (8 * new.block - 1).to_string()),
            ("@KEY_TOP@", (8 * longest - 1).to_string()),
            ("@KEYS@", list.clone()),
            ("@KEY@", longest.to_string()),
            ("@TYPE@", of_rust.clone()),
            ("@LENGTHS@", format!("{:x}", keys.iter().fold(0_u64, |bits, n| bits | 1 << n))),
            ("@ROUNDS@", new.rounds.to_string()),
            ("@BLOCK_CYCLES@", (new.rounds + 1).to_string()),
            ("@CLEAR@", (new.rounds + 1).to_string()),
        ]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    // Nothing is overwritten, and nothing is written before all of it can be.
    let room = root.join(FOLDER).join(name);
    let files: Vec<(PathBuf, String)> =
        FILES.iter().map(|(path, text)| (room.join(fill(path)), fill(text))).collect();
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        bail!("{} is there already", path.display());
    }
    for (path, text) in &files {
        let written = || format!("cannot write {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(root)).with_context(written)?;
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).with_context(written)?;
        println!("made     {}", path.strip_prefix(root).unwrap_or(path).display());
    }
    // Cargo watches the files of the folders that it knows.
    for path in READERS {
        let touched = fs::File::options().append(true).open(root.join(path));
        touched
            .and_then(|file| file.set_modified(SystemTime::now()))
            .with_context(|| format!("cannot touch {path}"))?;
    }
    let room = format!("{FOLDER}/{name}");
    println!(
        "
What is left, in this order:
  1. {room}/kat.csv: type the answers of the standard, a row each.
  2. make ace: once, so that it knows the name. Then, after every edit of the RTL:
       ace kat {name} {room}/kat.csv --rtl
     and where it goes wrong, all signals: --wave {name}.fst
  3. {room}/rtl/{id}_pkg.sv: the rounds and the key schedule.
  4. {room}/cpu.rs: the same for the CPU; or name a crate's type as `cpu` in {room}/algorithm.toml.
  5. {room}/faults.toml: three changes of the RTL that the known answers catch.
Until then `make test` fails. docs/adding-an-algorithm.md says more."
    );
    Ok(Outcome::Well)
}

/// A word with a large first letter.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or(String::new(), |first| format!("{}{}", first.to_ascii_uppercase(), letters.as_str()))
}
