// SPDX-License-Identifier: Apache-2.0
//! `ace array check`: whether a source compiles, or a set could be loaded, and whether fewer contexts would do.

use std::path::PathBuf;
use std::time::Duration;

use ace_array::exact::{Verdict, below};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Compiled, algorithms, compile};
use anyhow::{Context, Result, bail};

use ace_report::{Outcome, print_json};
use serde::Serialize;

#[derive(clap::Args)]
pub struct Args {
    /// A source, the name of one that comes with this (aes, des, …), or a set
    file: PathBuf,
    /// Say of every variant whether fewer contexts are impossible, where need be by a SAT solver that has so many seconds
    /// for each
    #[arg(long, value_name = "SECONDS")]
    exact: Option<u64>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What is known of a variant, or of a set.
#[derive(Serialize)]
struct Row {
    name: String,
    contexts: Option<usize>,
    /// Slots to the result, of a set.
    latency: Option<u16>,
    /// Whether fewer contexts would do, where that was asked.
    remark: Option<String>,
    error: Option<String>,
}

pub fn run(args: &Args, shape: &Shape) -> Result<Outcome> {
    let file = &args.file;
    let known = !file.exists() && algorithms::file(&format!("{}.ace", file.display())).is_some();
    if !known {
        let bytes = ace_fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        if bytes.starts_with(&ace_array::set::MAGIC) {
            if args.exact.is_some() {
                bail!("--exact is for sources: {} is a set, which has no graph", file.display());
            }
            let set = Set::from_bytes(&bytes, shape).with_context(|| file.display().to_string())?;
            if args.json {
                let name = file.display().to_string();
                let (contexts, latency) = (Some(set.ii()), Some(set.latency));
                print_json(&[Row { name, contexts, latency, remark: None, error: None }])?;
                return Ok(Outcome::Well);
            }
            println!("{}: {} contexts, {} slots to the result", file.display(), set.ii(), set.latency);
            return Ok(Outcome::Well);
        }
    }
    let program = super::program(file)?;
    let (mut outcome, mut rows) = (Outcome::Well, Vec::new());
    for variant in &program.variants {
        match compile(&program, variant, shape, Effort::default()) {
            Ok(compiled) => {
                let least = args.exact.map(|seconds| least(&compiled, shape, Duration::from_secs(seconds)));
                let remark = least.transpose()?;
                if !args.json {
                    println!(
                        "{variant}: {} contexts{}",
                        compiled.set.ii(),
                        remark.as_deref().unwrap_or_default()
                    );
                }
                let remark = remark.map(|text| text.trim_start_matches([',', ';', ' ']).to_owned());
                let contexts = Some(compiled.set.ii());
                rows.push(Row { name: variant.clone(), contexts, latency: None, remark, error: None });
            }
            Err(error) => {
                if !args.json {
                    println!("{variant}: {error}");
                }
                let (name, error) = (variant.clone(), Some(error.to_string()));
                rows.push(Row { name, contexts: None, latency: None, remark: None, error });
                outcome = Outcome::Wrong;
            }
        }
    }
    if args.json {
        print_json(&rows)?;
    }
    Ok(outcome)
}

/// What is known of fewer contexts.
fn least(compiled: &Compiled, shape: &Shape, time: Duration) -> Result<String> {
    let (bound, by) = compiled.bound(shape);
    let found = compiled.set.ii();
    if found == bound {
        return Ok(format!(", the least: its {}s alone take {bound}", by.name()));
    }
    if found == compiled.graph.least_contexts() {
        return Ok(format!(", the least: the source gives an operation context {}", found - 1));
    }
    let verdicts = below(&compiled.graph, shape, found, time)?;
    let worded = |verdict: &Verdict| match verdict {
        Verdict::Impossible => "impossible (SAT)".to_owned(),
        Verdict::Possible(_) => "possible, which the iterative scheduler has not found".to_owned(),
        Verdict::Undecided(why) => format!("not decided: {why}"),
    };
    let proven = verdicts.iter().all(|(_, verdict)| matches!(verdict, Verdict::Impossible));
    let mut parts: Vec<(usize, usize, String)> = Vec::new();
    for (ii, verdict) in &verdicts {
        match parts.last_mut() {
            Some((_, last, what)) if *what == worded(verdict) => *last = *ii,
            _ => parts.push((*ii, *ii, worded(verdict))),
        }
    }
    let part = |(first, last, what): &(usize, usize, String)| match first == last {
        true => format!("{first} is {what}"),
        false => format!("{first} to {last} are {what}"),
    };
    let all = parts.iter().map(part).collect::<Vec<_>>().join(", ");
    Ok(format!("{}{all}", if proven { ", the least: " } else { "; " }))
}
