// SPDX-License-Identifier: Apache-2.0
//! `ace study`: a paper's tables beside ours.

use std::path::PathBuf;

use ace_board::Catalogue;
use ace_report::Page;
use ace_studies::measured::Software;
use ace_studies::{ace_2000, built, drp_2006, idea_2004, molen_2003, pilchard_2002, scheduling};
use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use crate::engines::BoardArgs;
use crate::library;
use crate::page::Output;
use crate::values::folder;
use crate::values::seconds;
use ace_report::{Outcome, print_json};

/// Print a paper's tables beside ours.
///
/// Hardware figures are modelled: cycles of the simulated RTL at the placed and routed clock (LFE5U-45F, speed 6; not tried
/// on silicon). The configurations are those of the signed library, or of --configurations. Software figures are wall time of the cpu engine's ciphers: as they stand in studies/software.json,
/// with date and machine, or measured now (--measure).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Subcommand)]
enum Paper {
    /// Dandalis, Prasanna, Rolim: An Adaptive Cryptographic Engine for IPSec Architectures (FCCM 2000)
    #[command(name = "ace-2000")]
    Ace2000(Ace2000),
    /// Hasegawa and others: An Adaptive Cryptographic Accelerator for IPsec on Dynamically Reconfigurable Processor
    /// (2006): its machine and the overhead of its reconfiguration
    #[command(name = "drp-2006")]
    Drp2006(Drp2006),
    /// Ashruf and others: Reconfigurable Implementation for the AES Algorithm (2003): a core with a reconfigurable unit
    #[command(name = "molen-2003")]
    Molen2003(Json),
    /// Granado and others: Improving the Performance of the IDEA Cryptographic Algorithm Using FPGAs (2004): three data
    /// paths, three ways in, and what its future work gives
    #[command(name = "idea-2004")]
    Idea2004(Idea2004),
    /// Cheung, Leong: Implementation of an FPGA Based Accelerator for Virtual Private Networks (2002): DES by rounds in a
    /// clock, triple DES behind a block interface, software against accelerator
    #[command(name = "pilchard-2002")]
    Pilchard2002(Pilchard2002),
    /// No paper: policies beside what no policy can beat (docs/scheduling.md)
    Scheduling(Scheduling),
}

#[derive(clap::Args)]
struct Json {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Configurations {
    /// Folder of built configurations, instead of those that the signed library holds
    #[arg(long, value_name = "DIR", value_parser = folder)]
    configurations: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Ace2000 {
    /// Only this table; 4 is printed only if asked for
    #[arg(long, value_enum)]
    table: Option<Table>,
    /// Bitstreams to compress besides the configurations (table 4)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    also: Vec<PathBuf>,
    #[command(flatten)]
    software: Measure,
    #[command(flatten)]
    from: Configurations,
    #[command(flatten)]
    out: Json,
}

#[derive(clap::Args)]
struct Measure {
    /// Measure software now, so many seconds for each figure (default: as it was measured for studies/software.json)
    #[arg(long, value_name = "SECONDS", value_parser = seconds::<600>)]
    measure: Option<f64>,
}

#[derive(clap::Args)]
struct Drp2006 {
    #[command(flatten)]
    from: Configurations,
    #[command(flatten)]
    out: Json,
}

#[derive(clap::Args)]
struct Idea2004 {
    #[command(flatten)]
    software: Measure,
    #[command(flatten)]
    out: Json,
}

#[derive(clap::Args)]
struct Pilchard2002 {
    #[command(flatten)]
    software: Measure,
    #[command(flatten)]
    from: Configurations,
    #[command(flatten)]
    out: Json,
}

#[derive(clap::Args)]
struct Scheduling {
    /// Few traces
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    from: Configurations,
    #[command(flatten)]
    out: Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// Key-setup latency of the AES finalists
    #[value(name = "1")]
    KeySetup,
    /// Throughput of the AES finalists
    #[value(name = "2")]
    Throughput,
    /// Compression of the finalists' configurations, dictionary counted (Tables 3 and 4 as there)
    #[value(name = "3")]
    Finalists,
    /// The same of every configuration, beside other ways to compress
    #[value(name = "4")]
    Compression,
    /// p rounds in hardware, p times the throughput (section 4.2)
    Rounds,
}

/// Prints a study, on a page or as JSON.
fn show<S: Serialize>(
    page: &mut Output,
    json: bool,
    study: &S,
    print: impl FnOnce(&mut Page, &S),
) -> Result<()> {
    if json {
        print_json(study)?;
    } else {
        print(page, study);
    }
    Ok(())
}

impl Measure {
    /// Software's figures, measured now if that was asked for.
    fn software(&self) -> Result<Software> {
        Ok(self.measure.map_or_else(Software::recorded, Software::measure)?)
    }
}

impl Configurations {
    fn catalogue(&self) -> Catalogue {
        let catalogue = BoardArgs::modelled_in(self.configurations.as_deref());
        for problem in &catalogue.problems {
            eprintln!("ace: {problem}");
        }
        catalogue
    }

    /// The same, of which there has to be something.
    fn wanted(&self) -> Result<Catalogue> {
        let catalogue = self.catalogue();
        if catalogue.configurations.is_empty() {
            let folder = catalogue.folder.display();
            bail!("no configurations are in {folder}; build them with `make models`");
        }
        Ok(catalogue)
    }
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match &args.paper {
        Paper::Ace2000(args) => finalists(page, args)?,
        Paper::Drp2006(args) => {
            let study = drp_2006::study(&args.from.catalogue())?;
            let mut printed = Ok(());
            show(page, args.out.json, &study, |page, study| printed = drp_2006::print(page, study))?;
            printed?;
        }
        Paper::Molen2003(args) => {
            let library = library::for_figures().map_err(|error| molen_2003::NoSets(format!("{error:#}")));
            show(
                page,
                args.json,
                &molen_2003::study(library.as_ref().map_err(Clone::clone))?,
                molen_2003::print,
            )?;
        }
        Paper::Idea2004(args) => {
            show(page, args.out.json, &idea_2004::study(&args.software.software()?)?, idea_2004::print)?
        }
        Paper::Pilchard2002(args) => {
            // The study says what it has without any.
            let built = built::manifests(&args.from.catalogue())?;
            let study = pilchard_2002::study(&built, &args.software.software()?)?;
            show(page, args.out.json, &study, pilchard_2002::print)?;
        }
        Paper::Scheduling(args) => {
            let study = scheduling::study(&args.from.catalogue(), args.quick)?;
            show(page, args.out.json, &study, scheduling::print)?;
        }
    }
    Ok(Outcome::Well)
}

fn finalists(page: &mut Output, args: &Ace2000) -> Result<()> {
    let json = args.out.json;
    if !args.also.is_empty() && args.table != Some(Table::Compression) {
        bail!("ace-2000: --also adds bitstreams to table 4 alone; --table 4 prints it");
    }
    let catalogue = args.from.wanted()?;
    if args.table == Some(Table::Compression) {
        let also = args.also.iter().map(|path| built::image(path)).collect::<Result<Vec<_>, _>>()?;
        let rows = ace_2000::compressed(&built::images(&catalogue, &[])?, &also)?;
        return show_sorted(page, json, &rows, ace_2000::print_compressed);
    }
    let built = built::manifests(&catalogue)?;
    let tables = match args.table {
        Some(Table::KeySetup) => ace_2000::Tables::KeySetup,
        Some(Table::Throughput) => ace_2000::Tables::Throughput,
        Some(Table::Rounds) => ace_2000::Tables::Rounds,
        Some(Table::Finalists) => ace_2000::Tables::Compression,
        _ => ace_2000::Tables::All,
    };
    let images = match tables {
        ace_2000::Tables::All | ace_2000::Tables::Compression => {
            built::images(&catalogue, &ace_2000::compressible(&built)?)?
        }
        _ => Vec::new(),
    };
    let study = ace_2000::study(&built, &images, &args.software.software()?)?;
    if !json {
        for cipher in study.missing() {
            eprintln!("ace: there is no configuration of {cipher} in {}", catalogue.folder.display());
        }
    }
    show_sorted(page, json, &study, |page, study| ace_2000::print(page, study, tables))
}

/// The same with the names of JSON in order, as the tables of 2000 have always been.
fn show_sorted<S: Serialize>(
    page: &mut Output,
    json: bool,
    study: &S,
    print: impl FnOnce(&mut Page, &S),
) -> Result<()> {
    if json {
        return Ok(print_json(&serde_json::to_value(study)?)?);
    }
    show(page, json, study, print)
}
