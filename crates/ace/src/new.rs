// SPDX-License-Identifier: Apache-2.0
//! `ace new`: the files and rows that a new algorithm begins with.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ace_engine::algorithm::{ALGORITHMS, Algorithm};
use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::Outcome;
use crate::flow::Flow;

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

/// A block cipher: package, core and slot in RTL, its rows in the tables, a file of known answers
///
/// What is generated is complete but for the cipher: it can be simulated, and its tests fail until rounds and known
/// answers are those of the standard. docs/adding-an-algorithm.md goes the way. Hashes have another boundary;
/// rtl/hash/md5 is the example.
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

/// What is written, and from what.
const FILES: [(&str, &str); 4] = [
    ("rtl/cipher/@ID@/@ID@_pkg.sv", include_str!("../templates/pkg.sv")),
    ("rtl/cipher/@ID@/@ID@_core.sv", include_str!("../templates/core.sv")),
    ("rtl/top/@ID@_slot.sv", include_str!("../templates/slot.sv")),
    ("crates/ace-engine/kat/@NAME@.csv", "source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex\n"),
];
const ROWS: &str = "flow/configurations.toml";
const ROW: &str = include_str!("../templates/row.toml");
const TABLE: &str = "crates/ace-engine/src/algorithm.rs";
/// In the table, what a new static and a new entry of the list stand in front of.
const STATIC_BEFORE: &str = "/// Every algorithm, in the order of listings.\n";
const ENTRY_BEFORE: &str = "&MD5,";

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
    if Algorithm::by_name(name).is_some() {
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
    let read = |path: &str| {
        let path = root.join(path);
        ace_fs::read_text(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let (rows, table) = (read(ROWS)?, read(TABLE)?);
    let taken = |code: &u8| {
        ALGORITHMS.iter().any(|a| a.code == *code) || rows.contains(&format!("code = 0x{code:02x}"))
    };
    // Codes of ciphers (docs/slot.md).
    let Some(code) = (1..0x40).find(|code| !taken(code)) else { bail!("every code of a cipher is taken") };
    let mut keys = new.keys.clone();
    keys.sort_unstable();
    keys.dedup();
    let longest = keys.last().copied().unwrap_or_default();
    let list = keys.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let id = name.replace('-', "_");
    let fill = |text: &str| {
        [
            ("@NAME@", name.clone()),
            ("@ID@", id.clone()),
            ("@CODE@", format!("{code:02x}")),
            ("@BLOCK@", new.block.to_string()),
            ("@BLOCK_TOP@", (8 * new.block - 1).to_string()),
            ("@KEY_TOP@", (8 * longest - 1).to_string()),
            ("@KEYS@", list.clone()),
            ("@LENGTHS@", format!("{:x}", keys.iter().fold(0_u64, |bits, n| bits | 1 << n))),
            ("@ROUNDS@", new.rounds.to_string()),
            ("@BLOCK_CYCLES@", (new.rounds + 1).to_string()),
            ("@CLEAR@", (new.rounds + 1).to_string()),
        ]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let (Some(at), Some(_)) = (table.find(STATIC_BEFORE), table.find(ENTRY_BEFORE)) else {
        bail!("{TABLE} is not as it was when this ace was built: build it again, from here (make ace)");
    };
    let constant = id.to_uppercase();
    let row = format!(
        "/// Name the standard here.\npub static {constant}: Algorithm =\n    Algorithm {{ name: \"{name}\", code: \
         {code:#04x}, kind: Kind::Cipher {{ block: {}, keys: &[{list}] }} }};\n\n",
        new.block
    );
    let (before, behind) = table.split_at(at);
    let behind = behind.replacen(ENTRY_BEFORE, &format!("&{constant}, {ENTRY_BEFORE}"), 1);
    let table = format!("{before}{row}{behind}");

    // Nothing is overwritten, and nothing is written before all of it can be.
    let files: Vec<(PathBuf, String)> =
        FILES.iter().map(|(path, text)| (root.join(fill(path)), fill(text))).collect();
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
    for (path, text) in [(ROWS, rows + &fill(ROW)), (TABLE, table)] {
        ace_fs::write(&root.join(path), text.as_bytes()).with_context(|| format!("cannot write {path}"))?;
        println!("changed  {path}");
    }
    // The list may be a line too long now; where there is no rustfmt, `make fmt` says so.
    let _ = Command::new("rustfmt").args(["--edition", "2024"]).arg(root.join(TABLE)).status();
    let kat = format!("crates/ace-engine/kat/{name}.csv");
    println!(
        "
What is left, in this order:
  1. {kat}: type the answers of the standard, a row each.
  2. make ace: once, so that it knows the row. Then, after every edit of the RTL:
       ace kat {name} {kat} --rtl
     and where it goes wrong, all signals: --wave {name}.fst
  3. rtl/cipher/{id}/{id}_pkg.sv: the rounds and the key schedule.
  4. crates/ace-engine/src/software/table.rs: what the CPU runs for it.
  5. flow/faults.toml: three changes of the RTL that the known answers catch.
Until then `make test` fails. docs/adding-an-algorithm.md says more."
    );
    Ok(Outcome::Well)
}
