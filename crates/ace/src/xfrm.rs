// SPDX-License-Identifier: Apache-2.0
//! `ace xfrm`: programs that configure the kernel's IPsec, on the gateway.

use std::ffi::OsString;
use std::path::PathBuf;

use ace_xfrm_run::{DEFAULT, Run};
use anyhow::Result;
use clap::Subcommand;

/// Programs that configure the kernel's IPsec, on the gateway instead (docs/gateway.md)
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program whose XFRM sockets, and those of all that descends from it, are connections to `ace gateway`
    ///
    /// For programs that no preload library reaches: static ones, and those of Go. Where no gateway answers, XFRM is
    /// refused to them; the kernel's they never reach. Ends when nothing of the program is left, with its exit code, or
    /// with 128 and the number of the signal that ended it.
    Run(RunArgs),
}

#[derive(clap::Args)]
struct RunArgs {
    /// The gateway's socket for XFRM, as its configuration has it [default: what `ACE_XFRM` says, or
    /// /run/ace/xfrm.sock]
    #[arg(long, value_name = "SOCKET")]
    gateway: Option<PathBuf>,
    /// The program, found as a shell finds it
    program: OsString,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs it; its exit code.
pub fn run(args: Args) -> Result<u8> {
    let Command::Run(RunArgs { gateway, program, arguments }) = args.command;
    let gateway = gateway.or_else(|| std::env::var_os("ACE_XFRM").map(PathBuf::from));
    let gateway = gateway.unwrap_or_else(|| PathBuf::from(DEFAULT));
    Ok(ace_xfrm_run::run(&Run { program, arguments, gateway })?)
}
