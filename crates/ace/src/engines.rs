// SPDX-License-Identifier: Apache-2.0
//! Which engine executes, chosen on the command line.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ace_board::trace::BoardReport;
use ace_board::{Board, BoardConfig, Catalogue, Models, Store, Unsigned};
use ace_engine::software::CpuEngine;
use ace_engine::{Capabilities, Completion, Engine, EngineError, Job};
use ace_library::Trust;
use ace_schedule::Policy;
use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::trust::TrustArgs;

/// Look-ahead of the CPU engine, which does not plan: enough to keep packets flowing.
const CPU_WINDOW: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// Configurations loaded into simulated slots that run the RTL
    Board,
    /// The same board; its slots run the synthesised netlists
    Netlist,
    /// This processor
    Cpu,
}

#[derive(clap::Args)]
pub struct EngineArgs {
    /// What computes
    #[arg(long, value_enum, default_value = "board")]
    pub engine: EngineKind,
    #[command(flatten)]
    pub board: BoardArgs,
}

#[derive(clap::Args)]
pub struct BoardArgs {
    /// The board's description; without it, the board of board.toml in the repository
    #[arg(long, value_name = "FILE")]
    pub board: Option<PathBuf>,
    /// What decides when to load configurations: `on-demand`, `double-buffer`, `landlord`, `rotation` or `adaptive`
    #[arg(long, value_name = "POLICY", default_value = "double-buffer", value_parser = policy)]
    pub policy: Policy,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR")]
    pub configurations: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Load what has been built here and the library does not hold, too, if its own record says that its bits are
    /// proven. Nobody has signed it: only for what you have built yourself
    #[arg(long)]
    pub unsigned: bool,
    /// The same without any record of a proof: to develop configurations
    #[arg(long, conflicts_with = "unsigned")]
    pub unproven: bool,
}

fn policy(name: &str) -> Result<Policy, String> {
    name.parse::<Policy>().map_err(|error| error.to_string())
}

impl BoardArgs {
    /// The configurations of a folder, or of the folder that is found without one.
    pub fn catalogue_in(folder: Option<&Path>) -> Catalogue {
        match folder {
            Some(folder) => Catalogue::read(folder),
            None => Catalogue::find(None),
        }
    }

    pub fn config(&self) -> Result<BoardConfig> {
        Ok(match &self.board {
            Some(file) => BoardConfig::from_file(file)?,
            None => BoardConfig::default(),
        })
    }

    pub fn open(&self, models: Models) -> Result<Board> {
        if let Some(folder) = self.configurations.as_deref().filter(|folder| !folder.is_dir()) {
            bail!("--configurations {}: there is no such folder", folder.display());
        }
        let (config, mut catalogue) = (self.config()?, Self::catalogue_in(self.configurations.as_deref()));
        let folder = self.board.as_deref().and_then(Path::parent);
        let guard = self.trust.guard(Trust::ANYBODY)?;
        let store = Store::open(&config.controller, folder, guard)?;
        if let Some(warning) = store.as_ref().and_then(|store| store.warning.as_ref()) {
            eprintln!("ace: warning: {warning}");
        }
        catalogue.store = store.map(Arc::new);
        catalogue.unsigned = match (self.unproven, self.unsigned) {
            (true, _) => Unsigned::Unproven,
            (_, true) => Unsigned::Proven,
            _ => Unsigned::Refused,
        };
        Ok(Board::new(config, catalogue, self.policy, models)?)
    }
}

pub enum AnyEngine {
    Board(Box<Board>, usize),
    Cpu(Box<dyn Engine>),
}

/// Opens an engine that keeps so many events for a report.
pub fn open(args: &EngineArgs, events: usize) -> Result<AnyEngine> {
    let models = match args.engine {
        EngineKind::Cpu => return Ok(AnyEngine::Cpu(cpu())),
        EngineKind::Board => Models::Rtl,
        EngineKind::Netlist => Models::Netlist,
    };
    let window = args.board.config()?.packet_buffer;
    let mut board = args.board.open(models)?;
    board.keep_events(events);
    Ok(AnyEngine::Board(Box::new(board), window))
}

/// The fastest that this processor has: intel-ipsec-mb where it is linked and knows the machine.
pub fn cpu() -> Box<dyn Engine> {
    #[cfg(feature = "ipsec-mb")]
    if let Some(engine) = ace_ipsec_mb::MbEngine::new() {
        return Box::new(engine);
    }
    Box::new(CpuEngine::new())
}

impl AnyEngine {
    /// Packets that may be in flight at once.
    pub fn packet_buffer(&self) -> usize {
        match self {
            AnyEngine::Board(_, window) => *window,
            AnyEngine::Cpu(_) => CPU_WINDOW,
        }
    }

    pub fn report(&self) -> Option<BoardReport> {
        match self {
            AnyEngine::Board(board, _) => Some(board.report()),
            AnyEngine::Cpu(_) => None,
        }
    }
}

impl AnyEngine {
    fn engine(&self) -> &dyn Engine {
        match self {
            AnyEngine::Board(board, _) => board.as_ref(),
            AnyEngine::Cpu(cpu) => cpu.as_ref(),
        }
    }

    fn engine_mut(&mut self) -> &mut dyn Engine {
        match self {
            AnyEngine::Board(board, _) => board.as_mut(),
            AnyEngine::Cpu(cpu) => cpu.as_mut(),
        }
    }
}

impl Engine for AnyEngine {
    fn name(&self) -> &'static str {
        self.engine().name()
    }

    fn capabilities(&self) -> &Capabilities {
        self.engine().capabilities()
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        self.engine_mut().try_submit(jobs);
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.engine_mut().drain(done)
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.engine_mut().wait(done)
    }

    fn explain(&self, error: &EngineError) -> String {
        self.engine().explain(error)
    }
}
