// SPDX-License-Identifier: Apache-2.0
//! temporary
#[cfg(target_os = "linux")]
pub mod sim;
#[derive(clap::Args)]
pub struct Args { #[command(subcommand)] c: C }
#[derive(clap::Subcommand)]
enum C { Sim(sim::Args) }
pub fn run(a: &Args) -> anyhow::Result<ace_report::Outcome> { match &a.c { C::Sim(s) => sim::run(s) } }
