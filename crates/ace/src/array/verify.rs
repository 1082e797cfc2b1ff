// SPDX-License-Identifier: Apache-2.0
//! `ace array verify`: random blocks through the simulated tile and through the CPU engine.

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use ace_array::algorithms::{self, Served};
use ace_array::frontend::{Built, Order, Program};
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::{Effort, Goal};
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Compiled, compile};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Algorithm, Direction, Mode, compute};
use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::meant::meant;
use ace_array::variants::variants;
use ace_report::{Outcome, print_json};

/// Blocks for which a set is loaded anew, with new keys.
const OF_A_LOAD: usize = 8192;
/// Keys that are in a bank at once, at most: each block takes any one of them.
const KEYS: usize = 4;
/// Blocks of a message, at most.
const OF_A_MESSAGE: usize = 4;

#[derive(clap::Args)]
pub struct Args {
    /// Algorithms or variants, all if none is named
    names: Vec<String>,
    /// Random blocks of each variant
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// throughput: the sets with the least interval; latency: those with the least time of a block alone
    #[arg(long = "for", value_name = "GOAL", default_value_t)]
    goal: Goal,
    /// What keys and blocks follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Variants that run at once, as many as there are cores if not said
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What a variant did.
#[derive(Serialize)]
struct VariantResult {
    variant: String,
    made_for: String,
    contexts: usize,
    in_flight: usize,
    /// Blocks that were compared; of a hash those of all messages.
    blocks: usize,
    /// Keys; none of a hash.
    keys: usize,
    /// Clocks of the simulated tile.
    clocks: usize,
    cpu_seconds: f64,
    differs: Option<Difference>,
}

/// The first answer that is not the CPU engine's.
#[derive(Serialize)]
struct Difference {
    key: String,
    /// A block, or a message.
    input: String,
    expected: String,
    got: String,
}

pub fn run(args: &Args, shape: &Shape) -> Result<Outcome> {
    let named = |served: &Served, variant: &str| {
        let is = |name: &String| name == variant || name.eq_ignore_ascii_case(served.algorithm);
        args.names.is_empty() || args.names.iter().any(is)
    };
    for name in &args.names {
        if !variants().any(|(served, _, known)| known == *name || name.eq_ignore_ascii_case(served.algorithm))
        {
            let mut known: Vec<&str> = algorithms::SERVED.iter().map(|served| served.algorithm).collect();
            known.dedup();
            bail!(
                "no algorithm or variant is called {name};{} there are {}",
                meant(name, &known),
                known.join(", ")
            );
        }
    }
    let wanted: Vec<_> = variants().filter(|(served, _, name)| named(served, name)).collect();
    let blocks = usize::try_from(args.blocks).context("--blocks")?;
    let bar = if args.json || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        let style = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} blocks, {eta} left");
        ProgressBar::new(args.blocks.saturating_mul(wanted.len() as u64)).with_style(style?)
    };
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let rows: Mutex<Vec<(usize, VariantResult)>> = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        while !stop.load(Ordering::Relaxed)
            && let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some((served, decrypt, name)) = wanted.get(at)
        {
            let one = Variant::new(served, *decrypt, name, args.goal, shape);
            let row = one.and_then(|one| one.run(blocks, args.seed, &bar));
            let row =
                row.inspect_err(|_| stop.store(true, Ordering::Relaxed)).with_context(|| name.clone())?;
            if !args.json {
                bar.suspend(|| print(&row));
            }
            rows.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((at, row));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.get().min(wanted.len())).map(|_| scope.spawn(work)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Result<()>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect::<Result<Vec<()>>>()
    })?;
    bar.finish_and_clear();
    let mut rows = rows.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    rows.sort_by_key(|(at, _)| *at);
    let rows: Vec<VariantResult> = rows.into_iter().map(|(_, row)| row).collect();
    let wrong = rows.iter().filter(|row| row.differs.is_some()).count();
    if args.json {
        print_json(&rows)?;
    } else {
        let all: usize = rows.iter().map(|row| row.blocks).sum();
        let seconds: f64 = rows.iter().map(|row| row.cpu_seconds).sum();
        println!("{} variants, {all} blocks, {seconds:.1} s of CPU time, {wrong} differ", rows.len());
    }
    Ok(if wrong == 0 { Outcome::Well } else { Outcome::Wrong })
}

fn print(row: &VariantResult) {
    let VariantResult { variant, contexts, in_flight, blocks, keys, clocks, cpu_seconds, .. } = row;
    print!(
        "{variant}: {blocks} blocks, {keys} keys, {in_flight} in flight, {contexts} contexts, {clocks} clocks, "
    );
    match &row.differs {
        None => println!("{cpu_seconds:.1} s: agrees"),
        Some(Difference { key, input, expected, got }) => {
            println!("{cpu_seconds:.1} s: DIFFERS");
            println!("  key      {key}\n  input    {input}\n  expected {expected}\n  got      {got}");
        }
    }
}

/// One variant with the set that is loaded for it.
struct Variant<'a> {
    served: &'a Served,
    decrypt: bool,
    algorithm: &'static Algorithm,
    program: Program,
    built: Built,
    set: Set,
    shape: &'a Shape,
    row: VariantResult,
}

impl<'a> Variant<'a> {
    fn new(
        served: &'a Served,
        decrypt: bool,
        name: &str,
        goal: Goal,
        shape: &'a Shape,
    ) -> Result<Variant<'a>> {
        let known = ALGORITHMS.iter().copied().find(|one| one.name == served.algorithm);
        let algorithm = known.ok_or_else(|| anyhow!("the CPU engine knows no {}", served.algorithm))?;
        let program = algorithms::program(served.file)?;
        let compiled = compile(&program, name, shape, Effort::of(goal))?;
        // What runs has been through its bytes.
        let set = Set::from_bytes(&compiled.set.to_bytes(), shape)?;
        let row = VariantResult {
            variant: name.to_owned(),
            made_for: goal.to_string(),
            contexts: set.ii(),
            in_flight: compiled.schedule.in_flight(&compiled.graph),
            blocks: 0,
            keys: 0,
            clocks: 0,
            cpu_seconds: 0.0,
            differs: None,
        };
        let Compiled { built, .. } = compiled;
        Ok(Variant { served, decrypt, algorithm, program, built, set, shape, row })
    }

    fn run(mut self, blocks: usize, seed: u64, bar: &ProgressBar) -> Result<VariantResult> {
        let begun = cpu_time();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        while self.row.blocks < blocks && self.row.differs.is_none() {
            let count = OF_A_LOAD.min(blocks - self.row.blocks);
            if self.served.keys.is_empty() {
                self.messages(count, &mut random)?;
            } else {
                self.blocks(count, &mut random)?;
            }
            self.row.blocks += count;
            bar.inc(count as u64);
        }
        self.row.cpu_seconds = cpu_time() - begun;
        Ok(self.row)
    }

    /// Random blocks, one behind the other, each under any of a few keys.
    fn blocks(&mut self, count: usize, random: &mut ChaCha8Rng) -> Result<()> {
        let mut runner = Runner::new(self.shape, &self.set);
        let size = 4 * usize::from(self.set.input_words);
        let mut keys = Vec::new();
        for _ in 0..KEYS.min(runner.key_room()) {
            let length = self.served.keys[random.next_u32() as usize % self.served.keys.len()];
            let key = bytes(random, length);
            runner.key(&self.program.expand(&mut self.built, &key)?)?;
            keys.push((key, Vec::new()));
        }
        let mut blocks = Vec::with_capacity(count);
        let mut of = Vec::with_capacity(count);
        for block in bytes(random, size * count).chunks(size) {
            let key = random.next_u32() as usize % keys.len();
            of.push((key, keys[key].1.len()));
            keys[key].1.extend_from_slice(block);
            blocks.push(Block { words: to_words(self.set.input, block), key });
        }
        let ran = runner.run(&blocks)?;
        let direction = if self.decrypt { Direction::Decrypt } else { Direction::Encrypt };
        let engine = |(key, text): &(Vec<u8>, Vec<u8>)| {
            compute::cipher(self.algorithm, Mode::Ecb, direction, key, &[], text)
        };
        let wanted = keys.iter().map(engine).collect::<Result<Vec<_>, _>>()?;
        self.row.keys += keys.len();
        self.row.clocks += ran.clocks;
        for (found, (key, at)) in ran.results.iter().zip(of) {
            let (got, expected) = (to_bytes(self.set.output, found), &wanted[key][at..at + size]);
            if got != expected {
                let (key, text) = &keys[key];
                self.row.differs = Some(Difference::of(key, &text[at..at + size], expected, &got));
                break;
            }
        }
        Ok(())
    }

    /// So many blocks of random messages: the first blocks of all of them one behind the other, then the second ones with
    /// the states that came of it, and so on.
    fn messages(&mut self, count: usize, random: &mut ChaCha8Rng) -> Result<()> {
        let mut runner = Runner::new(self.shape, &self.set);
        let size = 4 * (usize::from(self.set.input_words) - self.set.chain.len());
        let mut messages = Vec::new();
        let mut left = count;
        while left > 0 {
            let blocks = 1 + random.next_u32() as usize % OF_A_MESSAGE.min(left);
            left -= blocks;
            // Of so many blocks, with the byte and the length that the padding has at least.
            let length =
                (blocks * size - 9) - random.next_u32() as usize % if blocks == 1 { size - 8 } else { size };
            messages.push(Message {
                padded: Vec::new(),
                text: bytes(random, length),
                state: self.set.chain.clone(),
            });
            messages.last_mut().into_iter().for_each(|message| message.pad(size, self.set.input));
        }
        for from in (0..OF_A_MESSAGE).map(|at| at * size) {
            let mut going: Vec<&mut Message> =
                messages.iter_mut().filter(|message| message.padded.len() > from).collect();
            let block = |message: &&mut Message| {
                let block = to_words(self.set.input, &message.padded[from..from + size]);
                Block { words: [message.state.as_slice(), &block].concat(), key: 0 }
            };
            let ran = runner.run(&going.iter().map(block).collect::<Vec<_>>())?;
            self.row.clocks += ran.clocks;
            for (message, state) in going.iter_mut().zip(ran.results) {
                message.state = state;
            }
        }
        for message in &messages {
            let (got, expected) =
                (to_bytes(self.set.output, &message.state), compute::digest(self.algorithm, &message.text)?);
            if got != expected {
                self.row.differs = Some(Difference::of(&[], &message.text, &expected, &got));
                break;
            }
        }
        Ok(())
    }
}

struct Message {
    text: Vec<u8>,
    padded: Vec<u8>,
    state: Vec<u32>,
}

impl Message {
    /// As MD5, SHA-1 and SHA-256 pad: a one, zeros, and the number of bits in the message's order of bytes.
    fn pad(&mut self, size: usize, order: Order) {
        let bits = 8 * self.text.len() as u64;
        self.padded.clone_from(&self.text);
        self.padded.push(0x80);
        self.padded.resize((self.padded.len() + 8).next_multiple_of(size) - 8, 0);
        self.padded.extend(if order == Order::Little { bits.to_le_bytes() } else { bits.to_be_bytes() });
    }
}

impl Difference {
    fn of(key: &[u8], input: &[u8], expected: &[u8], got: &[u8]) -> Difference {
        let [key, input, expected, got] = [key, input, expected, got].map(hex::encode);
        Difference { key, input, expected, got }
    }
}

fn bytes(random: &mut ChaCha8Rng, count: usize) -> Vec<u8> {
    let mut out = vec![0; count];
    random.fill_bytes(&mut out);
    out
}

/// Of this thread, in seconds.
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(name: &str, change: impl Fn(&mut Set)) -> bool {
        let shape = Shape::standard();
        let (served, decrypt, name) = variants().find(|(.., known)| known == name).unwrap();
        let mut variant = Variant::new(served, decrypt, &name, Goal::Throughput, &shape).unwrap();
        change(&mut variant.set);
        let row = variant.run(1000, 1, &ProgressBar::hidden()).unwrap();
        assert_eq!(row.blocks, 1000);
        row.differs.is_some()
    }

    #[test]
    fn one_bit_of_a_set_is_found() {
        assert!(!differs("aes128_encrypt", |_| ()));
        assert!(differs("aes128_encrypt", |set| set.tables[2][0][77] ^= 1 << 9));
        assert!(!differs("md5", |_| ()));
        assert!(differs("md5", |set| set.constants[0][0] ^= 1));
        assert!(differs("md5", |set| set.chain[3] ^= 1));
    }
}
