// SPDX-License-Identifier: Apache-2.0
//! `ace study`: a paper's tables beside ours.

use std::path::PathBuf;

use ace_report::Page;
use ace_studies::measured::Software;
use ace_studies::{ace_2000, drp_2006, idea_2004, molen_2003, pilchard_2002, scheduling};
use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;

use crate::configurations::manifests;
use crate::engines::BoardArgs;
use crate::library;
use crate::page;
use ace_report::{Outcome, print_json};

/// Print a paper's tables beside ours.
///
/// Hardware figures are modelled: cycles counted in the simulated RTL at the placed and routed clock of the built
/// configurations (LFE5U-45F, speed 6; not tried on silicon). Software figures are wall time of the cpu engine's
/// ciphers: as they stand in studies/software.json, with date and machine, or measured now (--measure).
#[derive(clap::Args)]
pub struct Args {
    /// Which paper
    #[arg(value_enum)]
    paper: Paper,
    /// Only this table; 4 is printed only if asked for
    #[arg(long, value_enum)]
    table: Option<Table>,
    /// Bitstreams to compress besides what is built (table 4)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    also: Vec<PathBuf>,
    /// Measure software now, so many seconds for each figure (default: as it was measured for studies/software.json)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    measure: Option<f64>,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR")]
    configurations: Option<PathBuf>,
    /// Few traces (scheduling); without the array's columns (drp-2006)
    #[arg(long)]
    quick: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// Dandalis, Prasanna, Rolim: An Adaptive Cryptographic Engine for IPSec Architectures (FCCM 2000)
    #[value(name = "ace-2000")]
    Ace2000,
    /// Hasegawa and others: An Adaptive Cryptographic Accelerator for IPsec on Dynamically Reconfigurable Processor
    /// (2006): its machine and the overhead of its reconfiguration
    #[value(name = "drp-2006")]
    Drp2006,
    /// Ashruf and others: Reconfigurable Implementation for the AES Algorithm (2003): a core with a reconfigurable unit
    #[value(name = "molen-2003")]
    Molen2003,
    /// Granado and others: Improving the Performance of the IDEA Cryptographic Algorithm Using FPGAs (2004): three data
    /// paths, three ways in, and what its future work gives
    #[value(name = "idea-2004")]
    Idea2004,
    /// Cheung, Leong: Implementation of an FPGA Based Accelerator for Virtual Private Networks (2002): DES by rounds in a
    /// clock, triple DES behind a block interface, software against accelerator
    #[value(name = "pilchard-2002")]
    Pilchard2002,
    /// No paper: policies beside what no policy can beat (docs/scheduling.md)
    Scheduling,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// Key-setup latency of the AES finalists
    #[value(name = "1")]
    KeySetup,
    /// Throughput of the AES finalists
    #[value(name = "2")]
    Throughput,
    /// Compression of configurations, dictionary counted (with Table 3)
    #[value(name = "4")]
    Compression,
    /// p rounds in hardware, p times the throughput (section 4.2)
    Rounds,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.001..=600.0).contains(&value) => Ok(value),
        _ => Err("a number from 0.001 to 600 is wanted".into()),
    }
}

/// Software's figures, measured now if that was asked for.
fn software(args: &Args) -> Result<Software> {
    Ok(args.measure.map_or_else(Software::recorded, Software::measure)?)
}

/// Prints a study, on a page or as JSON.
fn show<S: Serialize>(json: bool, study: &S, print: impl FnOnce(&mut Page, &S)) -> Result<()> {
    if json {
        print_json(study)?;
    } else {
        page::with(|page| print(page, study));
    }
    Ok(())
}

pub fn run(args: &Args) -> Result<Outcome> {
    let catalogue = || BoardArgs::modelled_in(args.configurations.as_deref());
    let json = args.json;
    match args.paper {
        Paper::Ace2000 => finalists(args)?,
        Paper::Drp2006 => show(json, &drp_2006::study(&catalogue(), args.quick)?, drp_2006::print)?,
        Paper::Molen2003 => {
            let library = library::for_figures().map_err(|error| molen_2003::NoSets(format!("{error:#}")));
            show(json, &molen_2003::study(library.as_ref().map_err(Clone::clone))?, molen_2003::print)?;
        }
        Paper::Idea2004 => show(json, &idea_2004::study(&software(args)?)?, idea_2004::print)?,
        Paper::Pilchard2002 => {
            let catalogue = catalogue();
            // The study says what it has without any.
            let built = if catalogue.configurations.is_empty() { Vec::new() } else { manifests(&catalogue)? };
            let study = pilchard_2002::study(&built, &software(args)?)?;
            show(json, &study, pilchard_2002::print)?;
        }
        Paper::Scheduling => show(json, &scheduling::study(&catalogue(), args.quick)?, scheduling::print)?,
    }
    Ok(Outcome::Well)
}

fn finalists(args: &Args) -> Result<()> {
    let catalogue = BoardArgs::catalogue_in(args.configurations.as_deref());
    let built = manifests(&catalogue)?;
    if args.table == Some(Table::Compression) {
        let rows = ace_2000::compressed(&catalogue, &args.also)?;
        return show_sorted(args.json, &rows, ace_2000::print_compressed);
    }
    let wants = |table| args.table.is_none_or(|t| t == table);
    let tables = ace_2000::Tables {
        key_setup: wants(Table::KeySetup),
        throughput: wants(Table::Throughput),
        rounds: wants(Table::Rounds),
    };
    let study = ace_2000::study(&built, tables, &software(args)?)?;
    if !args.json {
        for cipher in study.missing() {
            eprintln!("ace: no configuration of {cipher} is built; `make models` builds them");
        }
    }
    show_sorted(args.json, &study, ace_2000::print)
}

/// The same with the names of JSON in order, as the tables of 2000 have always been.
fn show_sorted<S: Serialize>(json: bool, study: &S, print: impl FnOnce(&mut Page, &S)) -> Result<()> {
    if json {
        return Ok(print_json(&serde_json::to_value(study)?)?);
    }
    show(json, study, print)
}
