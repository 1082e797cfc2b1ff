// SPDX-License-Identifier: Apache-2.0
//! `ace proof records`: what the records in a library say, a row for each configuration.

use ace_board::library::{configurations, manifest, tie_of};
use ace_library::Image;
use ace_library::file::Opened;
use ace_report::{Outcome, Table, print_json, say};
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use crate::library::args::ReadArgs;
use crate::page::Output;

/// Print what the records of proofs in a library say; `ace library prove` and `python -m ace_flow equiv` make them again
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    read: ReadArgs,
}

/// A record, as far as it is a matter of numbers.
#[derive(Serialize)]
struct Row {
    name: String,
    /// Signals compared between bits and netlist, and those that are one node.
    points: u64,
    by_structure: u64,
    registers: u64,
    points_refuted: u64,
    /// `equivalence` or `simulation`.
    tied_to_rtl_by: String,
    rtl_points: u64,
    rtl_by_structure: u64,
    rtl_by_certificate: u64,
    faults_refuted: u64,
    cpu_seconds: f64,
    elaborated_sha256: String,
}

fn row(image: &Image) -> Result<Row> {
    let proof: Value = serde_json::from_slice(&image.proof()?).context("the record is no JSON")?;
    let (rtl, number) =
        (&proof["tied_to_rtl_by"], |value: &Value, key: &str| value[key].as_u64().unwrap_or(0));
    let seconds = |value: &Value| value["cpu_seconds"].as_f64().unwrap_or(0.0);
    Ok(Row {
        name: image.name().to_owned(),
        points: number(&proof, "points"),
        by_structure: number(&proof, "by_structure"),
        registers: number(&proof, "registers"),
        points_refuted: number(&proof["control"], "points_refuted"),
        tied_to_rtl_by: tie_of(image, &manifest(image)).to_string(),
        rtl_points: number(rtl, "points"),
        rtl_by_structure: number(rtl, "by_structure"),
        rtl_by_certificate: number(rtl, "by_certificate"),
        faults_refuted: number(rtl, "faults_refuted"),
        cpu_seconds: seconds(&proof) + seconds(rtl),
        elaborated_sha256: rtl["elaborated_sha256"].as_str().unwrap_or_default().to_owned(),
    })
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    let rows = configurations(&library)
        .map(|image| row(image).with_context(|| image.name().to_owned()))
        .collect::<Result<Vec<_>>>()?;
    if args.read.file.json {
        print_json(&rows)?;
        return Ok(Outcome::Well);
    }
    let table = Table::of(&rows).left("configuration", |r| &r.name);
    let table = table.right("points, bits = netlist", |r| r.points);
    let table = table.right("by structure", |r| r.by_structure);
    let table = table.right("registers", |r| r.registers);
    let table = table.right("control: points refuted", |r| r.points_refuted);
    let table = table.left("netlist = RTL by", |r| &r.tied_to_rtl_by);
    let table = table.right("points", |r| r.rtl_points);
    let table = table.right("by structure ", |r| r.rtl_by_structure);
    let table = table.right("by certificate", |r| r.rtl_by_certificate);
    let table = table.right("faults refuted", |r| r.faults_refuted);
    page.table(&table.right("CPU s", |r| format!("{:.1}", r.cpu_seconds)));
    let sum = |of: fn(&Row) -> u64| rows.iter().map(of).sum::<u64>();
    say!(
        page,
        "\n{} of {} are proven from the bits to the RTL: {} points, {} of them by certificate; {} faults refuted; {:.0} CPU \
         seconds",
        rows.iter().filter(|row| row.tied_to_rtl_by == "equivalence").count(),
        rows.len(),
        sum(|row| row.points + row.rtl_points),
        sum(|row| row.rtl_by_certificate),
        sum(|row| row.faults_refuted),
        rows.iter().map(|row| row.cpu_seconds).sum::<f64>()
    );
    Ok(Outcome::Well)
}
