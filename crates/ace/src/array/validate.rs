// SPDX-License-Identifier: Apache-2.0
//! `ace array validate`: whether context sets are what their sources say, for all keys and blocks.

use std::path::{Path, PathBuf};

use ace_array::Named;
use ace_array::frontend::Built;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::validate::{turned, validate};
use ace_library::ContextSet;
use ace_report::{Outcome, print_json, say};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::library::{ReadArgs, warned};
use crate::page::Output;

#[derive(clap::Args)]
pub struct Args {
    /// Sets of the library by their names, or files of sets; all of the library if none is named
    names: Vec<String>,
    /// The source that files are compared with, instead of the one that has the file's name
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// Which of its variants, if it has several
    #[arg(long, value_name = "NAME", requires = "source")]
    variant: Option<String>,
    /// Turn every bit of the contexts, one at a time, and count what is refused and what is the same
    #[arg(long)]
    controls: bool,
    #[command(flatten)]
    read: ReadArgs,
}

/// A set's bytes under a name.
struct One {
    name: String,
    bytes: Vec<u8>,
    file: bool,
}

pub fn run(page: &mut Output, args: &Args, shape: &Shape) -> Result<Outcome> {
    let sets = sets(args)?;
    let (mut rows, mut same) = (Vec::new(), 0);
    for one in &sets {
        let row = match built(args, one) {
            Ok(Some(built)) => compared(one, &built, args.controls, shape),
            Ok(None) => {
                json!({"error": "its source is not known, so nothing is said of it; --source names one"})
            }
            Err(error) => return Err(error),
        };
        same += usize::from(row["error"].is_null());
        if !args.read.file.json {
            line(page, &one.name, &row);
        }
        rows.push((one.name.clone(), row));
    }
    let all = sets.len();
    if args.read.file.json {
        let rows: serde_json::Map<String, Value> = rows.into_iter().collect();
        print_json(&json!({"sets": all, "as_sources": same, "by_name": rows}))?;
    } else {
        say!(page, "{same} of {all} sets are what their sources say, for all keys and blocks");
    }
    Ok(Outcome::well_if(same == all))
}

/// The files that are named, or the library's sets.
fn sets(args: &Args) -> Result<Vec<One>> {
    let names = &args.names;
    let file = |name: &&String| Path::new(name).is_file();
    if !names.is_empty() && names.iter().all(|name| file(&name)) {
        let read = |name: &String| {
            let bytes = ace_fs::read(Path::new(name)).with_context(|| format!("cannot read {name}"))?;
            Ok(One { name: name.clone(), bytes, file: true })
        };
        return names.iter().map(read).collect();
    }
    if let Some(name) = names.iter().find(file) {
        bail!("{name} is a file, and other names are not: name either files or sets of the library");
    }
    let path = args.read.file.existing()?;
    let library = warned(args.read.guard()?.open(&path)?).library;
    names.iter().try_for_each(|name| library.set(name).map(drop))?;
    let wanted =
        library.sets().iter().filter(|set| names.is_empty() || names.iter().any(|of| of == set.name()));
    let one =
        |set: &ContextSet| One { name: set.name().to_owned(), bytes: set.bytes().to_vec(), file: false };
    Ok(wanted.map(one).collect())
}

/// What a set's source says, if it is known.
fn built(args: &Args, one: &One) -> Result<Option<Built>> {
    if let Some(source) = args.source.as_ref().filter(|_| one.file) {
        let program = super::program(source)?;
        let variant = match (&args.variant, program.variants.as_slice()) {
            (Some(variant), _) => variant.clone(),
            (None, [only]) => only.clone(),
            (None, several) => bail!("--variant says which one: {}", several.join(", ")),
        };
        return Ok(Some(program.build(&variant)?));
    }
    let stem = Path::new(&one.name).file_stem().unwrap_or_default().to_string_lossy();
    Ok(Named::find(&stem).map(|named| named.built()).transpose()?)
}

/// What was found of one set: figures, or an error.
fn compared(one: &One, built: &Built, controls: bool, shape: &Shape) -> Value {
    let set = match Set::from_bytes(&one.bytes, shape) {
        Ok(set) => set,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let found = match validate(&set, built, shape) {
        Ok(found) => found,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let mut row = json!({"words": found.words, "terms": found.terms, "by_values": found.solved});
    if controls {
        row["controls"] = match turned(&set, built, shape, 1) {
            Ok(found) => json!({
                "bits": found.bits(), "beyond": found.beyond, "different": found.different,
                "foreign": found.foreign, "open": found.open, "equal": found.equal,
                "simulated": found.simulated, "wrong": found.wrong,
            }),
            Err(error) => return json!({"error": error.to_string()}),
        };
        if row["controls"]["wrong"] != 0 {
            row["error"] = "a set that was taken for the same answers something else".into();
        }
    }
    row
}

fn line(page: &mut Output, name: &str, row: &Value) {
    if let Some(error) = row["error"].as_str() {
        say!(page, "{name}: {error}");
        return;
    }
    let (words, terms, solved) = (&row["words"], &row["terms"], &row["by_values"]);
    let words = format!("{words} word{}", if *words == 1 { "" } else { "s" });
    say!(
        page,
        "{name}: {words}, {terms} terms, {solved} of them by trying all values, the others by structure"
    );
    let of = &row["controls"];
    if let Some(bits) = of["bits"].as_u64() {
        let refused = format!("{} beyond its own, {} different", of["beyond"], of["different"]);
        let rest = format!("{} another's, {} not shown, {} equal", of["foreign"], of["open"], of["equal"]);
        say!(
            page,
            "{name}: {bits} bits turned: {refused}, {rest}; {} of these simulated, {} wrong",
            of["simulated"],
            of["wrong"]
        );
    }
}
