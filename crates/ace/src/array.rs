// SPDX-License-Identifier: Apache-2.0
//! `ace array`: the multi-context array's compiler and its simulator.

mod build;
mod check;
mod explore;
mod graph;
mod keys;
mod table;
mod validate;
mod verify;

pub use table::dedicated;

use std::path::{Path, PathBuf};

use ace_array::draw::Drawing;
use ace_array::frontend::Program;
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::{Effort, Goal};
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Compiled, Error, algorithms, compile, rtl, trace};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use sha2::Digest;

use crate::page::Output;
use ace_report::{Outcome, print_json};

/// Compile algorithms for the multi-context array, look at their schedules, and run them in the simulated tile.
#[derive(clap::Args)]
pub struct Args {
    /// The array's shape, instead of the one that this was built with
    #[arg(long, global = true, value_name = "FILE")]
    shape: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a variant's context set, and say what it is
    Compile {
        #[command(flatten)]
        source: Source,
        /// Where the set goes; its manifest goes beside it
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Draw a variant's schedule as SVG: elements by contexts
    Show {
        #[command(flatten)]
        source: Source,
        /// Where the picture goes
        #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
        output: Option<PathBuf>,
        /// Print the schedule as JSON: which element does what in which slot, and what it takes
        #[arg(long)]
        json: bool,
    },
    /// Run blocks through a variant in the simulated tile
    Run {
        #[command(flatten)]
        source: Source,
        /// The key, in hexadecimal digits
        #[arg(long, default_value = "", value_name = "HEX")]
        key: String,
        /// Blocks, in hexadecimal digits; a hash's state stands in front of its block's words, or is the first one
        #[arg(required = true, value_name = "HEX")]
        blocks: Vec<String>,
    },
    /// Run random blocks through the simulated tile and compare them with the CPU engine's: a million a variant
    Verify(verify::Args),
    /// Say whether a source compiles, or whether a set could be loaded; with --exact, whether fewer contexts would do
    Check(check::Args),
    /// Prove that context sets are what their sources say, for all keys and blocks
    Validate(validate::Args),
    /// Print what sources say as graphs of words, in JSON by variant (flow/ace_flow/equiv/sets.py)
    Graph {
        /// Sources, or names of those that come with this; all of these if none is named
        sources: Vec<PathBuf>,
    },
    /// What every algorithm takes: operations, contexts, latency, bytes, load; and its rates beside those of the 2006 paper
    /// and of the library's configurations
    Table {
        /// Files of array/, all if none is named
        names: Vec<String>,
        /// Print what every set is, for either goal, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write what the simulated tile does clock by clock, for the RTL to do the same (flow/ace_flow/array/model.py)
    Trace {
        /// A source; random contexts without one
        source: Option<PathBuf>,
        #[arg(long, value_name = "NAME")]
        variant: Option<String>,
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// Blocks of a source, or clocks of random contexts
        #[arg(long, default_value_t = 20, value_name = "N")]
        count: usize,
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Shapes against each other: what tiles of them take, what algorithms get of them, and which no other one beats
    Explore(explore::Args),
    /// Make what a board whose slots hold the array loads: all context sets, and the slot's model. Variants are compiled for
    /// throughput, and for latency as well where a packet alone gains a fifth
    Build {
        /// Variants, or single sets of them; all if none is named
        names: Vec<String>,
        /// Where they go (default: build/array/sets)
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
        /// Compile a source of one's own instead, for an algorithm that there is, with the same names of variants. `ace run` and `ace kat` load it with --slots array --configurations DIR --unproven
        #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "digests"], requires = "output")]
        source: Option<PathBuf>,
        /// Print the sets' digests, as the sets.toml of the algorithms have them, and make no model
        #[arg(long)]
        digests: bool,
    },
    /// Print the shape as the RTL's package
    Rtl,
}

#[derive(clap::Args)]
struct Source {
    /// A source, or the name of one that comes with this (aes, des, …)
    source: PathBuf,
    /// Which of its variants, if it has several
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// throughput: the least interval, for many packets at once; latency: the least time of a block of a packet alone
    #[arg(long = "for", value_name = "GOAL", default_value_t)]
    goal: Goal,
}

/// What is known of a set.
#[derive(Serialize)]
struct Manifest {
    algorithm: String,
    variant: String,
    array: String,
    /// What the schedule is for: throughput or latency.
    made_for: String,
    contexts: usize,
    bound: usize,
    bound_by: &'static str,
    latency: usize,
    /// What operations on each other's results take, had the tile elements without end.
    latency_bound: usize,
    /// Clocks from a block to the next one of its packet, if they wait for each other and no other packet is there.
    alone: usize,
    in_flight: usize,
    operations: [usize; 7],
    key_operands: usize,
    key_words: u16,
    key_setup: &'static str,
    /// The variant that it sets the keys up for.
    #[serde(skip_serializing_if = "Option::is_none")]
    sets_up: Option<String>,
    bytes: usize,
    context_bytes: usize,
    load_clocks: usize,
    sha256: String,
}

impl Manifest {
    fn of(compiled: &Compiled, shape: &Shape) -> Manifest {
        let bytes = compiled.set.to_bytes();
        let (bound, by) = compiled.bound(shape);
        let set = &compiled.set;
        Manifest {
            algorithm: compiled.built.algorithm.clone(),
            variant: compiled.built.variant.clone(),
            array: format!("{:08x}", set.version),
            made_for: compiled.goal.to_string(),
            contexts: set.ii(),
            bound,
            bound_by: by.name(),
            latency: usize::from(set.latency),
            latency_bound: compiled.latency_bound(),
            alone: compiled.schedule.dependent_interval(&compiled.graph),
            in_flight: compiled.schedule.in_flight(&compiled.graph),
            operations: compiled.counts(),
            key_operands: compiled.key_operands(),
            key_words: set.key_words,
            key_setup: if set.key_words > 0 { "host" } else { "none" },
            sets_up: set.keys.then(|| keys::cipher(&compiled.built.variant)),
            context_bytes: set.contexts.iter().map(|context| 8 * context.0.len()).sum(),
            load_clocks: set.load_clocks(),
            sha256: hex::encode(sha2::Sha256::digest(&bytes)),
            bytes: bytes.len(),
        }
    }
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    let shape = match &args.shape {
        Some(path) => Shape::parse(&read(path)?).with_context(|| path.display().to_string())?,
        None => Shape::standard(),
    };
    match &args.command {
        Command::Compile { source, output } => {
            let compiled = source.compile(&shape)?;
            let manifest = Manifest::of(&compiled, &shape);
            write(output, &compiled.set.to_bytes())?;
            write(
                &output.with_extension("json"),
                (serde_json::to_string_pretty(&manifest)? + "\n").as_bytes(),
            )?;
            print_json(&manifest)?;
        }
        Command::Show { source, output, json } => {
            let drawing = Drawing::new(&source.compile(&shape)?, &shape);
            if let Some(output) = output {
                write(output, drawing.svg().as_bytes())?;
            }
            if *json {
                print_json(&drawing)?;
            }
        }
        Command::Run { source, key, blocks } => simulate(source, &shape, key, blocks)?,
        Command::Verify(args) => return verify::run(args, &shape),
        Command::Check(args) => return check::run(args, &shape),
        Command::Validate(args) => return validate::run(page, args, &shape),
        Command::Graph { sources } => graph::print(sources)?,
        Command::Table { names, json: true } => table::json(names, &shape)?,
        Command::Table { names, .. } => table::print(page, names, &shape)?,
        Command::Trace { source, variant, seed, count, output } => {
            let trace = match source {
                Some(source) => {
                    let source =
                        Source { source: source.clone(), variant: variant.clone(), goal: Goal::default() };
                    trace::of_set(&shape, &source.compile(&shape)?.set, *seed, *count)?
                }
                None => trace::random(&shape, *seed, *count),
            };
            write(output, trace.text.as_bytes())?;
        }
        Command::Explore(args) => explore::run(page, args, &shape)?,
        Command::Build { source: Some(source), output: Some(output), .. } => {
            build::own(source, output, &shape)?;
        }
        Command::Build { names, output, digests, .. } => {
            build::run(names, output.as_deref(), *digests, &shape)?;
        }
        Command::Rtl => print!("{}", rtl::package(&shape)),
    }
    Ok(Outcome::Well)
}

fn read(path: &Path) -> Result<String> {
    ace_fs::read_text(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    ace_fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// What is wrong with a source, or does not fit the array, is shown in its line.
fn shown(error: Error) -> anyhow::Error {
    match error {
        Error::Source(diagnostic) | Error::Fit(diagnostic) => {
            anyhow::anyhow!("{diagnostic}\n{}", diagnostic.drawn())
        }
        other => other.into(),
    }
}

/// A source from a file, or by its name in `array/`.
fn program(path: &Path) -> Result<Program> {
    let name = format!("{}.ace", path.display());
    if !path.exists() && algorithms::file(&name).is_some() {
        return algorithms::program(&name).map_err(shown);
    }
    let text = read(path)?;
    let beside = |name: &str| {
        // Nothing outside of the source's own folder is read.
        let plain = Path::new(name).file_name().is_some_and(|file| file == name);
        plain.then(|| ace_fs::read_text(&path.with_file_name(name)).ok()).flatten()
    };
    Program::parse(&path.display().to_string(), &text, &beside).map_err(shown)
}

impl Source {
    fn compile(&self, shape: &Shape) -> Result<Compiled> {
        Ok(self.build(shape)?.1)
    }

    fn build(&self, shape: &Shape) -> Result<(Program, Compiled)> {
        let program = program(&self.source)?;
        let variant = match (&self.variant, program.variants.as_slice()) {
            (Some(variant), _) => variant.clone(),
            (None, [only]) => only.clone(),
            (None, several) => bail!("--variant says which one: {}", several.join(", ")),
        };
        let compiled = compile(&program, &variant, shape, Effort::of(self.goal)).map_err(shown)?;
        Ok((program, compiled))
    }
}

fn simulate(source: &Source, shape: &Shape, key: &str, blocks: &[String]) -> Result<()> {
    let (program, mut compiled) = source.build(shape)?;
    let set = Set::from_bytes(&compiled.set.to_bytes(), shape)?;
    let mut runner = Runner::new(shape, &set);
    let secret = hex::decode(key).context("--key")?;
    let words = program.expand(&mut compiled.built, &secret)?;
    let key = if words.is_empty() { 0 } else { runner.key(&words)? };
    let mut all = Vec::new();
    for block in blocks {
        let bytes = hex::decode(block).with_context(|| format!("block {block}"))?;
        let mut words = to_words(set.input, &bytes);
        if words.len() + set.chain.len() == usize::from(set.input_words) {
            words.splice(0..0, set.chain.iter().copied());
        }
        if !bytes.len().is_multiple_of(4) || words.len() != usize::from(set.input_words) {
            bail!(
                "a block of {} bytes, and {} has {} words",
                bytes.len(),
                compiled.built.variant,
                set.input_words
            );
        }
        all.push(Block { words, key });
    }
    let ran = runner.run(&all)?;
    for result in &ran.results {
        println!("{}", hex::encode(to_bytes(set.output, result)));
    }
    eprintln!("{} blocks in {} clocks, load {} clocks", all.len(), ran.clocks, set.load_clocks());
    Ok(())
}
