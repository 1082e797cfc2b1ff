// SPDX-License-Identifier: Apache-2.0
//! `ace library domains`: what the configurations of an algorithm share, and what switching between them takes.

use ace_board::library::{Between, Domain, Load, Member, Switch, domains as found};
use ace_library::file::Opened;
use ace_report::{Table, or_dash, say};
use anyhow::Result;

use super::args::ReadArgs;
use crate::page::Output;
use ace_report::{Outcome, print_json};

#[derive(clap::Args)]
pub struct Domains {
    #[command(flatten)]
    read: ReadArgs,
}

pub fn domains(page: &mut Output, args: &Domains) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    let found = found(&library)?;
    if args.read.file.json {
        print_json(&found)?;
        return Ok(Outcome::Well);
    }
    switches(page, &found.domains);
    if !found.members.is_empty() {
        say!(page);
        members(page, &found.members);
    }
    if !found.between.is_empty() {
        say!(page);
        between(page, &found.between);
    }
    Ok(Outcome::Well)
}

fn ms(value: f64) -> String {
    format!("{value:.2}")
}

fn switches(page: &mut Output, domains: &[Domain]) {
    let all: Vec<(&Domain, &Switch)> =
        domains.iter().flat_map(|d| d.switches.iter().map(move |s| (d, s))).collect();
    let table = Table::of(&all).left("algorithm", |(d, _)| &d.algorithm);
    let table = table.left("from", |(_, s)| &s.from).left("to", |(_, s)| &s.to);
    let table = table.right("frames in common, not blank", |(d, _)| d.frames_shared_used);
    let table = table.right("bits in common %", |(d, _)| format!("{:.1}", d.bits_shared_percent));
    let table = table.right("frames changed", |(_, s)| s.frames).right("block RAMs", |(_, s)| s.block_rams);
    let table =
        table.right("stored bytes", |(_, s)| s.stored_bytes).right("port bytes", |(_, s)| s.port_bytes);
    let table = table.left("load", |(_, s)| if s.partial { "partial" } else { "whole" });
    page.table(&table.right("SPI ms", |(_, s)| ms(s.spi_ms)).right("8-bit ms", |(_, s)| ms(s.parallel_ms)));
}

fn members(page: &mut Output, members: &[Member]) {
    let part =
        |of: fn(&Load) -> f64, digits: usize| move |m: &Member| or_dash(m.partial.as_ref().map(of), digits);
    let table = Table::of(members).left("member", |m| &m.name);
    let table = table.left("of", |m| m.skeleton.as_deref().unwrap_or("–"));
    let table = table.right("frames changed", |m| m.frames_changed).right("bits", |m| m.bits);
    let table = table.right("block RAMs", |m| m.block_rams).right("frames written", |m| m.frames);
    let others = |m: &Member| m.partial_over.len() + m.whole_over.len();
    let table = table.right("over", move |m| format!("{} of {}", m.partial_over.len(), others(m)));
    let table = table.right("stored bytes", |m| m.stored_bytes);
    let table = table.right("port bytes", part(|load| load.port_bytes as f64, 0));
    let table = table.right("loader clocks", part(|load| load.loader_clocks as f64, 0));
    let table = table.right("SPI ms", part(|load| load.spi_ms, 3));
    let table = table.right("8-bit ms", part(|load| load.parallel_ms, 3));
    let table = table.right("whole: SPI ms", |m| ms(m.whole.spi_ms));
    let table = table.right("8-bit ms", |m| ms(m.whole.parallel_ms));
    let table = table.right("MHz", |m| or_dash(m.fmax_mhz, 1));
    page.table(&table.right("clock lost %", |m| or_dash(m.fmax_cost_percent, 1)));
}

fn between(page: &mut Output, found: &[Between]) {
    let table = Table::of(found).left("to", |b| &b.name).right("frames used", |b| b.frames_used);
    let table = table.right("the same in all others", |b| b.frames_the_same);
    let table = table.left("over: least", |b| &b.over[0].from).right("frames", |b| b.over[0].frames);
    let table = table.right("port ms", |b| ms(b.over[0].port_ms));
    let table =
        table.right("middle: frames", |b| b.over[1].frames).right("port ms", |b| ms(b.over[1].port_ms));
    let table = table.right("most: frames", |b| b.over[2].frames).right("port ms", |b| ms(b.over[2].port_ms));
    page.table(&table.right("cleared: port ms", |b| ms(b.cleared_port_ms)));
}
