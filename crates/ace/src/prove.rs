// SPDX-License-Identifier: Apache-2.0
//! `ace prove`: anybody's bitstream is its RTL.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::flow::Flow;

/// Prove that an ECP5 bitstream of anybody's design does what its RTL says. The bits are read back into a circuit and
/// compared with the RTL as slang reads it; nothing is placed or routed. Exit codes: 0 proven, 1 refuted (with values that
/// show it), 2 open, or an input that cannot be used. See docs/open-designs.md.
#[derive(clap::Args)]
pub struct Args {
    /// Bitstream (.bit)
    file: PathBuf,
    /// Verilog or SystemVerilog files
    #[arg(long, required = true, num_args = 1.., value_name = "FILES")]
    rtl: Vec<PathBuf>,
    /// The top module
    #[arg(long, value_name = "NAME")]
    top: String,
    /// File of pins (LPF): where ports are, and how their pads have to be set
    #[arg(long, value_name = "PINS")]
    lpf: Option<PathBuf>,
    /// Package of the device
    #[arg(long, default_value = "CABGA381")]
    package: String,
    /// The device that the bitstream has to be for, such as LFE5U-25F; default: whichever it is for
    #[arg(long)]
    device: Option<String>,
    /// Of a file with several bitstreams, the one of this number, from 0
    #[arg(long, value_name = "N")]
    image: Option<usize>,
    /// A parameter of the top module, as Verilog writes its value
    #[arg(long, value_name = "NAME=VALUE")]
    parameter: Vec<String>,
    /// A macro
    #[arg(long, value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Where included files are
    #[arg(long, value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Options of synth_ecp5 with which the design was made: a hint that helps to find registers, and is not believed
    #[arg(long, default_value = "", value_name = "OPTIONS", allow_hyphen_values = true)]
    synth: String,
    /// Print the whole record as JSON
    #[arg(long)]
    json: bool,
}

/// The exit code.
pub fn run(args: &Args) -> Result<u8> {
    let flow = Flow::find("import pysat, z3")?;
    let mut command = flow.command();
    command.args(["-m", "ace_flow", "prove-design"]).arg(&args.file).arg("--rtl").args(&args.rtl);
    command.args(["--top", &args.top, "--package", &args.package]);
    command.arg(format!("--synth={}", args.synth));
    let paths = [("--lpf", &args.lpf)];
    for (name, path) in paths.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?))) {
        command.arg(name).arg(path);
    }
    for folder in &args.include {
        command.arg("--include").arg(folder);
    }
    let told = args.parameter.iter().map(|one| format!("--parameter={one}"));
    command.args(told.chain(args.define.iter().map(|one| format!("--define={one}"))));
    command.args(args.device.iter().map(|device| format!("--device={device}")));
    command.args(args.image.iter().map(|image| format!("--image={image}")));
    if args.json {
        command.arg("--json");
    }
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot run {command:?}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2))
}
