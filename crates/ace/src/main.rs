// SPDX-License-Identifier: Apache-2.0
//! The command line of ACE: arguments, wiring, printing.
//!
//! Exit codes: [`ace_report::EXIT_CODES`].

mod array;
mod bench;
mod certificate;
mod compare;
mod configurations;
mod dispatch;
mod engines;
mod examples;
mod flow;
#[cfg(target_os = "linux")]
mod gateway;
mod image;
mod inspect;
mod kat;
mod library;
mod link;
mod manual;
mod meant;
mod netlist;
mod new;
mod page;
mod proof;
mod prove;
mod rekey;
mod run;
mod sas;
mod study;
mod trust;
mod values;
#[cfg(target_os = "linux")]
mod xfrm;

use std::io::Write;
use std::process::ExitCode;

use ace_report::{FAILED, Style};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Counts allocations, so that `ace bench` can say that a data plane makes none.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// Adaptive cryptographic engine for IPsec: packets through reconfigurable hardware that becomes whichever
/// cipher their security association asks for.
#[derive(Parser)]
#[command(name = "ace", version, max_term_width = 100)]
struct Cli {
    /// How tables are printed
    #[arg(long, global = true, value_parser = ["text", "md"], default_value = "text", value_name = "FORMAT")]
    format: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Array(array::Args),
    Kat(kat::Args),
    Configurations(configurations::Args),
    Inspect(inspect::Args),
    Netlist(netlist::Args),
    Prove(prove::Args),
    Certificate(certificate::Args),
    Proof(proof::Args),
    #[command(hide = true)]
    Rekey(rekey::Args),
    Compare(compare::Args),
    Bench(bench::Args),
    Dispatch(dispatch::Args),
    Study(study::Args),
    Library(library::Args),
    Image(image::Args),
    Sas(sas::Args),
    #[cfg(target_os = "linux")]
    Gateway(gateway::Args),
    #[cfg(target_os = "linux")]
    Xfrm(xfrm::Args),
    New(new::Args),
    #[command(hide = true)]
    Manual(manual::Args),
}

impl Command {
    /// Whether it goes on without whoever reads its words.
    fn stays(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Command::Gateway(args) => args.stays(),
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let matches = examples::with_examples(Cli::command()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if !cli.command.stays() {
        // `ace … | head` ends quietly.
        sigpipe::reset();
    }
    let style = if cli.format == "md" { Style::Md } else { Style::Text };
    let mut page = page::Output::new(style);
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Array(args) => array::run(&mut page, &args),
        Command::Kat(args) => kat::run(&args),
        Command::Configurations(args) => configurations::run(&mut page, &args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Netlist(args) => netlist::run(&args),
        Command::Prove(args) => match prove::run(&args) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Certificate(args) => certificate::run(&args),
        Command::Proof(args) => proof::run(&mut page, &args),
        Command::Rekey(args) => rekey::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Bench(args) => bench::run(&mut page, &args),
        Command::Dispatch(args) => dispatch::run(&mut page, &args),
        Command::Study(args) => study::run(&mut page, &args),
        Command::Library(args) => library::run(&mut page, &args),
        Command::Image(args) => image::run(&mut page, &args),
        Command::Sas(args) => sas::run(&mut page, &args),
        #[cfg(target_os = "linux")]
        Command::Gateway(args) => gateway::run(&mut page, &args),
        #[cfg(target_os = "linux")]
        Command::Xfrm(args) => match xfrm::run(args) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::New(args) => new::run(&args),
        Command::Manual(args) => manual::run(&args),
    };
    let outcome = page.print().map_err(Into::into).and(outcome);
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            // The exit code says it too, where nobody takes the words.
            let _ = writeln!(std::io::stderr(), "ace: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}
