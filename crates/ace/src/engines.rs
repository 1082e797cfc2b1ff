// SPDX-License-Identifier: Apache-2.0
//! Which engine executes, chosen on the command line.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ace_board::array::{Loadable, loadables};
use ace_board::config::{Link, LinkKind, SlotKind};
use ace_board::open::Parts;
use ace_board::trace::BoardReport;
use ace_board::{Assembly, Board, BoardConfig, Catalogue, Models, Store, Unsigned};
use ace_engine::profile::Processor;
use ace_engine::{Action, Capabilities, Completion, Dispatch, Engine, EngineError, Job};
use ace_library::file::Guard;
use ace_library::{Seen, Trust};
use ace_schedule::{Policy, UnknownPolicy};
use ace_studies::processors::Stated;
use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::trust::TrustArgs;
use crate::values::{Slots, slots};

/// Look-ahead of the CPU engine, which does not plan: enough to keep packets flowing.
const CPU_WINDOW: usize = 256;

/// What `--engine` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// One that this program brings with it.
    Own(Own),
    /// The board behind a network interface.
    Link(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Own {
    /// Configurations loaded into simulated slots that run the RTL
    Board,
    /// The same board; its slots run the synthesised netlists
    Netlist,
    /// This processor
    Cpu,
    /// The board with a processor beside its slots: each operation goes where it is done earlier. What neither can do,
    /// this processor does
    Auto,
}

#[derive(clap::Args)]
pub struct EngineArgs {
    /// What computes
    #[arg(long, value_name = "ENGINE", default_value = "board", value_parser = Engines)]
    pub engine: EngineKind,
    /// With --engine auto, the processor beside the slots: a file as in studies/processors, which `ace bench profile`
    /// writes of this one; without it, the machine measured there
    #[arg(long, value_name = "FILE")]
    pub processor: Option<PathBuf>,
    #[command(flatten)]
    pub board: BoardArgs,
}

/// What decides when to load.
#[derive(clap::Args)]
pub struct PolicyArgs {
    /// What decides when to load configurations (docs/scheduling.md)
    #[arg(long, value_name = "POLICY", default_value = "double-buffer", value_parser = policy())]
    pub policy: Policy,
}

/// The same of a command that compares.
#[derive(clap::Args)]
pub struct PoliciesArgs {
    /// What decides when to load configurations (docs/scheduling.md), or `both`, which compares on-demand with
    /// double-buffer
    #[arg(long, value_name = "POLICY", default_value = "double-buffer", value_parser = policies())]
    pub policy: Policies,
}

/// What a board behind a network interface is called by, in front of the interface.
const LINK: &str = "link:";
/// Who would have both.
const AUTO: &str = "auto:";

/// Reads what `--engine` names.
#[derive(Clone, Copy)]
struct Engines;

impl TypedValueParser for Engines {
    type Value = EngineKind;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<EngineKind, clap::Error> {
        if let Some(interface) = value.to_str().and_then(|value| value.strip_prefix(LINK)) {
            return Ok(EngineKind::Link(interface.to_owned()));
        }
        if let Some(interface) = value.to_str().and_then(|value| value.strip_prefix(AUTO)) {
            let why = format!(
                "--engine auto:{interface}: this command does not choose between this processor and a board behind a \
                 cable; `--engine link:{interface}` is the board alone, and a gateway with `kind = \"auto\"` and \
                 `link = \"{interface}\"` under [engine] chooses by the time that each takes (docs/gateway.md)\n"
            );
            return Err(clap::Error::raw(clap::error::ErrorKind::InvalidValue, why).with_cmd(command));
        }
        EnumValueParser::<Own>::new().parse_ref(command, argument, value).map(EngineKind::Own)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let link =
            PossibleValue::new("link:IF").help("The board behind the network interface IF (docs/link.md)");
        let own = Own::value_variants().iter().filter_map(Own::to_possible_value);
        Some(Box::new(own.chain([link]).collect::<Vec<_>>().into_iter()))
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineKind::Own(own) => {
                f.write_str(own.to_possible_value().as_ref().map_or("", |it| it.get_name()))
            }
            EngineKind::Link(interface) => write!(f, "{LINK}{interface}"),
        }
    }
}

/// The processor that stands beside the slots when none is named.
const PROCESSOR: Stated = ace_studies::processors::THIS_MACHINE;

/// A stated processor, of a file or the one that comes with ace.
pub fn processor(file: Option<&Path>) -> Result<Processor> {
    let (text, name) = match file {
        Some(file) => {
            let name = file.display().to_string();
            (ace_fs::read_text(file).with_context(|| name.clone())?, name)
        }
        None => (PROCESSOR.text.to_owned(), PROCESSOR.file.to_owned()),
    };
    let processor: Processor = toml::from_str(&text).with_context(|| name.clone())?;
    if let Err(why) = processor.check() {
        bail!("{name}: {why}");
    }
    Ok(processor)
}

/// Which board, but for what decides on it.
#[derive(clap::Args)]
pub struct BoardArgs {
    /// The board's description; without it, the board of board.toml in the repository
    #[arg(long, value_name = "FILE")]
    pub board: Option<PathBuf>,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations); `array` says
    /// the same as --slots array
    #[arg(long, value_name = "DIR")]
    pub configurations: Option<PathBuf>,
    /// What the slots are, in place of what the board's description says: all fabric, all array (loaded with context sets),
    /// or so many of each, as in fabric=2,array=1
    #[arg(long, value_name = "KIND[=N],…", value_parser = slots)]
    pub slots: Option<Slots>,
    /// What is between host and slots, instead of what the board's description says: a bus, or a cable on which both ends
    /// speak as in docs/link.md. A link of another kind than the description's has its default figures
    #[arg(long, value_name = "KIND", value_parser = link())]
    pub link: Option<LinkKind>,
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

/// One policy, or several that are compared; the last one's packets are kept.
#[derive(Clone, Debug)]
pub struct Policies(pub Vec<Policy>);

const NO_PROCESSOR: &str = "--processor: only with --engine auto a processor stands beside the slots";

/// Instead of a folder: slots that hold the array.
const ARRAY: &str = "array";

/// The kinds of links, by name.
fn link() -> impl TypedValueParser<Value = LinkKind> {
    PossibleValuesParser::new(LinkKind::ALL.map(LinkKind::name))
        .map(|name| LinkKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or_default())
}

/// Clap says which one was meant.
fn policy() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.iter().map(Policy::name))
        .try_map(|name| -> Result<Policy, UnknownPolicy> { name.parse() })
}

fn policies() -> impl TypedValueParser<Value = Policies> {
    let names = Policy::ALL.iter().map(Policy::name).chain(["both"]);
    PossibleValuesParser::new(names).try_map(|name| -> Result<Policies, UnknownPolicy> {
        let names = if name == "both" { "on-demand double-buffer" } else { &name };
        names.split(' ').map(str::parse).collect::<Result<_, _>>().map(Policies)
    })
}

impl BoardArgs {
    /// The board's description. What the command line says of its slots goes before what the file says.
    pub fn config(&self) -> Result<BoardConfig> {
        let mut config = Self::config_of(self.board.as_deref())?;
        let named = self.configurations.as_deref() == Some(Path::new(ARRAY));
        let array = Slots::All(SlotKind::Array);
        let wanted = match self.slots {
            Some(other) if named && other != array => {
                bail!(
                    "--configurations array makes all slots the array, and --slots says something else: leave one of them out"
                )
            }
            None if named => Some(array),
            wanted => wanted,
        };
        let all = config.slots + config.array_slots;
        match wanted {
            Some(Slots::All(SlotKind::Fabric)) => config.set_slots(all, 0),
            Some(Slots::All(SlotKind::Array)) => config.set_slots(0, all),
            Some(Slots::Of(fabric, array)) => config.set_slots(fabric, array),
            None => {}
        }
        if let Some(kind) = self.link.filter(|kind| *kind != config.host_link.kind) {
            config.host_link = Link { kind, ..Link::default() };
            config.check().map_err(|(key, why)| anyhow!("--link {}: `{key}`: {why}", kind.name()))?;
        }
        Ok(config)
    }

    /// The board of a file, or the default one.
    pub fn config_of(file: Option<&Path>) -> Result<BoardConfig> {
        Ok(match file {
            Some(file) => BoardConfig::from_file(file)?,
            None => BoardConfig::default(),
        })
    }

    /// The board, whose slots run the RTL.
    pub fn rtl(&self, policy: Policy) -> Result<Board> {
        self.open(policy, Models::Rtl)
    }

    pub fn open(&self, policy: Policy, models: Models) -> Result<Board> {
        Ok(self.parts()?.board(policy, models)?)
    }

    /// What the board is, and what it can load.
    pub fn parts(&self) -> Result<Parts> {
        let parts = self.assembly()?.parts()?;
        if let Some(warning) = parts.catalogue.store.as_ref().and_then(|store| store.warning.as_ref()) {
            eprintln!("ace: warning: {warning}");
        }
        Ok(parts)
    }

    fn assembly(&self) -> Result<Assembly> {
        Ok(Assembly {
            config: self.config()?,
            folder: self.board.as_deref().and_then(Path::parent).map(Path::to_owned),
            configurations: self.configurations.clone().filter(|folder| *folder != Path::new(ARRAY)),
            guard: self.trust.guard(Trust::ANYBODY)?,
            unsigned: self.unsigned(),
            loadable: false,
        })
    }

    /// The context sets for a board behind a network interface: the library's, and what is unsigned only where it is taken.
    pub fn loadables(&self) -> Result<Vec<Loadable>> {
        Ok(self.behind_a_cable()?.0)
    }

    /// The same, with the library.
    pub fn behind_a_cable(&self) -> Result<(Vec<Loadable>, Option<Arc<Store>>)> {
        let (config, guard) = (self.config()?, self.trust.guard(Trust::ANYBODY)?);
        let folder = self.board.as_deref().and_then(Path::parent);
        let store = Store::open(&config.controller, folder, guard)?;
        if let Some(warning) = store.as_ref().and_then(|store| store.warning.as_ref()) {
            eprintln!("ace: warning: {warning}");
        }
        let sets = self.configurations.as_deref().filter(|folder| *folder != Path::new(ARRAY));
        let store = store.map(Arc::new);
        Ok((loadables(sets, store.clone(), self.unsigned())?, store))
    }

    /// The configurations of a folder, or of the folder that is found without one.
    pub fn catalogue_in(folder: Option<&Path>) -> Catalogue {
        Catalogue::of(folder)
    }

    /// Those of a folder as the default board loads them: for figures.
    pub fn modelled_in(folder: Option<&Path>) -> Catalogue {
        let guard = Guard { trust: Trust::ANYBODY, seen: Seen::of_user(), allow_older: true };
        ace_board::open::modelled(folder, guard)
    }

    fn unsigned(&self) -> Unsigned {
        match (self.unproven, self.unsigned) {
            (true, _) => Unsigned::Unproven,
            (_, true) => Unsigned::Proven,
            _ => Unsigned::Refused,
        }
    }
}

pub enum AnyEngine {
    Board(Box<Board>, usize),
    /// One that plans nothing: this processor, or the simulation of a slot on its own.
    Plain(Box<dyn Engine>),
    Auto(Dispatch<AnyEngine>),
}

/// Opens the engine that the command line names, with a policy. It keeps so many events for a report.
pub fn open(args: &EngineArgs, policy: Policy, events: usize) -> Result<AnyEngine> {
    let own = match &args.engine {
        EngineKind::Own(own) => *own,
        EngineKind::Link(_) if args.processor.is_some() => bail!(NO_PROCESSOR),
        EngineKind::Link(interface) => {
            return Ok(AnyEngine::Plain(crate::link::engine(interface, args.board.loadables()?)?));
        }
    };
    let models = match own {
        Own::Cpu => return Ok(AnyEngine::Plain(cpu())),
        Own::Board | Own::Auto => Models::Rtl,
        Own::Netlist => Models::Netlist,
    };
    let window = args.board.config()?.packet_buffer;
    let mut board = args.board.open(policy, models)?;
    board.keep_events(events);
    match (own, &args.processor) {
        (Own::Auto, file) => board.set_processor(processor(file.as_deref())?),
        (_, Some(_)) => bail!(NO_PROCESSOR),
        _ => {}
    }
    let board = AnyEngine::Board(Box::new(board), window);
    Ok(match own {
        Own::Auto => AnyEngine::Auto(Dispatch::new(vec![board, AnyEngine::Plain(cpu())])),
        _ => board,
    })
}

/// The fastest that this processor has: intel-ipsec-mb where it is linked and knows the machine.
pub fn cpu() -> Box<dyn Engine + Send> {
    ace_ipsec_mb::cpu_engine()
}

impl AnyEngine {
    /// Packets that may be in flight at once.
    pub fn packet_buffer(&self) -> usize {
        match self {
            AnyEngine::Board(_, window) => *window,
            AnyEngine::Plain(_) => CPU_WINDOW,
            AnyEngine::Auto(all) => all.engines().map(Self::packet_buffer).sum(),
        }
    }

    /// The board, where there is a processor that does what the board cannot do.
    pub fn board_beside_processor(&self) -> Option<&dyn Engine> {
        let AnyEngine::Auto(all) = self else { return None };
        all.engines().find(|one| matches!(one, AnyEngine::Board(..))).map(AnyEngine::engine)
    }

    pub fn report(&self) -> Option<BoardReport> {
        match self {
            AnyEngine::Board(board, _) => Some(board.report()),
            AnyEngine::Plain(_) => None,
            AnyEngine::Auto(all) => all.engines().find_map(Self::report),
        }
    }
}

impl AnyEngine {
    fn engine(&self) -> &dyn Engine {
        match self {
            AnyEngine::Board(board, _) => board.as_ref(),
            AnyEngine::Plain(engine) => engine.as_ref(),
            AnyEngine::Auto(all) => all,
        }
    }

    fn engine_mut(&mut self) -> &mut dyn Engine {
        match self {
            AnyEngine::Board(board, _) => board.as_mut(),
            AnyEngine::Plain(engine) => engine.as_mut(),
            AnyEngine::Auto(all) => all,
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

    fn takes(&self, action: &Action) -> bool {
        self.engine().takes(action)
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
