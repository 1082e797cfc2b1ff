// SPDX-License-Identifier: Apache-2.0
//! `[engine]` of a gateway's configuration made into what computes.

use std::path::{Path, PathBuf};

use ace_board::{Assembly, Board, BoardConfig, Models, Store, Unsigned};
use ace_config::gateway::{Engine as Wanted, EngineKind};
use ace_engine::{Algorithm, Engine};
use ace_gateway::engines::Slots;
use ace_gateway::{Live, NoBoard, OpenBoard, Remote};
use ace_library::file::Guard;
use ace_library::{KeySet, Seen, Trust};
use ace_schedule::Policy;
use anyhow::{Context, Result, anyhow, bail};

use crate::{engines, trust};

/// Loads are ahead of the packets that need them.
const POLICY: &str = "double-buffer";

/// One for each core.
type Engines = Vec<Box<dyn Engine + Send>>;

/// Engines, and what belongs to a board.
pub fn open(wanted: &Wanted) -> Result<(Engines, Option<Remote>)> {
    let cpu = match wanted.kind {
        EngineKind::Cpu => {
            let cores = wanted.cores.unwrap_or(1);
            return Ok(((0..cores).map(|_| engines::cpu()).collect(), None));
        }
        EngineKind::Board => None,
        EngineKind::Auto => Some(engines::cpu()),
    };
    for name in &wanted.on_board {
        if Algorithm::by_name(name).is_none_or(|algorithm| algorithm.name != name) {
            bail!(
                "`on_board` of [engine] names `{name}`, and there is no such algorithm; `ace kat --list` has them"
            );
        }
    }
    let (live, remote) = Live::open(cpu, maker(wanted)?, wanted.on_board.clone())
        .map_err(|why| anyhow!("cannot make the board of [engine]: {why}"))?;
    Ok((vec![Box::new(live)], Some(remote)))
}

/// Makes boards that differ in their library. What could be wrong with the configuration is wrong now.
fn maker(wanted: &Wanted) -> Result<OpenBoard> {
    let policy: Policy =
        wanted.policy.as_deref().unwrap_or(POLICY).parse().map_err(|why| anyhow!("[engine]: {why}"))?;
    let like = Like::of(wanted)?;
    if let Some(interface) = &wanted.link {
        return super::link::maker(interface.clone(), move |library| like.store(library));
    }
    Ok(Box::new(move |library| {
        board(like.assembly(library), policy)
            .map(|board| Box::new(board) as Box<dyn Slots>)
            .map_err(|error| NoBoard::Open(error.to_string()))
    }))
}

/// What boards of one gateway have in common.
struct Like {
    config: BoardConfig,
    folder: Option<PathBuf>,
    configurations: Option<PathBuf>,
    keys: KeySet,
}

impl Like {
    fn of(wanted: &Wanted) -> Result<Self> {
        let configurations = absolute(wanted.configurations.as_deref())?;
        if let Some(folder) = configurations.as_deref().filter(|folder| !folder.is_dir()) {
            bail!("`configurations` of [engine]: {} is no folder", folder.display());
        }
        Ok(Self {
            config: engines::BoardArgs::config_of(wanted.board.as_deref())?,
            folder: absolute(wanted.board.as_deref().and_then(Path::parent))?,
            configurations,
            keys: trust::keys(wanted.library_key.as_deref())?,
        })
    }

    /// A board with a library, or with the one that its description names.
    fn assembly(&self, library: Option<&Path>) -> Assembly {
        let mut config = self.config.clone();
        if let Some(library) = library {
            config.controller.library = library.to_owned();
        }
        let trust = Trust { keys: Some(self.keys.clone()), ..Trust::ANYBODY };
        Assembly {
            config,
            folder: self.folder.clone(),
            configurations: self.configurations.clone(),
            guard: Guard { trust, seen: Seen::of_user(), allow_older: false },
            unsigned: Unsigned::Refused,
            loadable: true,
        }
    }
}

impl Like {
    /// The library alone: what a board behind a network interface takes its context sets from.
    fn store(&self, library: Option<&Path>) -> Result<Store> {
        let Assembly { config, folder, guard, .. } = self.assembly(library);
        let store = Store::open(&config.controller, folder.as_deref(), guard)?;
        let store = store.ok_or_else(|| anyhow!(NO_LIBRARY))?;
        if let Some(warning) = &store.warning {
            tracing::warn!("{warning}");
        }
        Ok(store)
    }
}

const NO_LIBRARY: &str =
    "there is no library; `library` under [controller] of the board's description names one";

/// The gateway's own folder is another one when a library comes.
fn absolute(path: Option<&Path>) -> Result<Option<PathBuf>> {
    // The folder of a file that is named without one.
    let named = |path| if path == Path::new("") { Path::new(".") } else { path };
    path.map(named)
        .map(|path| std::path::absolute(path).with_context(|| path.display().to_string()))
        .transpose()
}

fn board(assembly: Assembly, policy: Policy) -> Result<Board> {
    let parts = assembly.parts()?;
    let Some(store) = &parts.catalogue.store else {
        bail!(NO_LIBRARY);
    };
    if let Some(warning) = &store.warning {
        tracing::warn!("{warning}");
    }
    Ok(parts.board(policy, Models::Rtl)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ace_board::config::SlotKind;
    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::engines::{AnyEngine, EngineArgs};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        engine: EngineArgs,
    }

    /// A configuration, or a context set for slots as they are, of which nothing is opened before it is loaded.
    fn put(folder: &Path, name: &str, set: bool) {
        let slot = ace_board::array::Slot::standard().unwrap();
        let manifest = json!({
            "schema": 1, "name": name, "context_set": set, "device": "LFE5U-45F", "fmax_mhz": slot.mhz,
            "in_flight": if set { slot.lanes } else { 1 },
            "can": [{"algorithm": "aes", "code": 1, "key_bytes": [16], "directions": ["encrypt"], "modes": ["cbc"],
                "operations": []}],
            "throughput_mbps": [{"algorithm": "aes", "mbps": 100.0}],
            "files": {
                "bitstream": {"path": "bits", "bytes": 5000 + name.len(), "sha256": "11".repeat(32)},
                "model": {"path": "model", "bytes": 9, "sha256": "22".repeat(32)},
            },
            "memory_sha256": "33".repeat(32),
        });
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("manifest.json"), manifest.to_string()).unwrap();
    }

    /// What tells boards apart.
    fn told(board: &Board) -> (SlotKind, usize, Vec<(String, u64)>) {
        let (config, catalogue) = (board.config(), board.catalogue());
        let cost = |c: &ace_board::Configuration| (c.name.clone(), catalogue.load_time(config, c));
        (config.slot.kind, config.places(), catalogue.configurations.iter().map(cost).collect())
    }

    #[test]
    fn run_kat_and_gateway_make_the_same_board_of_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/ace.lib");
        for (kind, tiles, banks, places) in
            [(SlotKind::Fabric, 1, 1, 2), (SlotKind::Array, 1, 2, 4), (SlotKind::Array, 2, 2, 8)]
        {
            let sets = kind == SlotKind::Array;
            let configurations = folder.path().join(format!("{}-{tiles}", kind.name()));
            for name in ["aes128_encrypt", "other"] {
                put(&configurations, name, sets);
            }
            let file = folder.path().join("board.toml");
            let text = format!(
                "[controller]\nlibrary = {library:?}\n[slot]\nkind = \"{}\"\ntiles = {tiles}\nbanks = {banks}\n",
                kind.name()
            );
            fs::write(&file, text).unwrap();
            let paths = [file.as_path(), configurations.as_path()].map(|path| path.to_str().unwrap());
            let line =
                ["ace", "--unproven", "--allow-older", "--board", paths[0], "--configurations", paths[1]];
            let engine = Line::parse_from(line).engine;
            // `kat` opens the engine as `run` does, with one policy.
            let by_run = engine.board.open(Policy::DoubleBuffer, Models::Rtl).unwrap();
            let AnyEngine::Board(by_kat, _) = engines::open(&engine, Policy::DoubleBuffer, 0).unwrap() else {
                panic!("a board")
            };
            let wanted = Wanted {
                kind: EngineKind::Board,
                board: Some(file.clone()),
                configurations: Some(configurations.clone()),
                ..Wanted::default()
            };
            let mut assembly = Like::of(&wanted).unwrap().assembly(None);
            // What is made up here is in no library.
            (assembly.unsigned, assembly.guard.allow_older) = (Unsigned::Unproven, true);
            let by_gateway = board(assembly, Policy::DoubleBuffer).unwrap();
            let all = told(&by_run);
            assert_eq!((all.0, all.1, all.2.len()), (kind, places, 2));
            assert!(all.2.iter().all(|(_, cost)| *cost > 0) && all.2[0].1 != all.2[1].1, "{all:?}");
            assert_eq!((&told(&by_kat), &told(&by_gateway)), (&all, &all));
        }
    }

    #[test]
    fn a_board_without_the_means_for_its_slots_is_refused() {
        let mut config = BoardConfig::default();
        config.slot.kind = SlotKind::Array;
        let refused = Board::new(config, ace_board::Catalogue::default(), Policy::OnDemand, Models::Rtl);
        let why = refused.err().expect("it has no models of the array").to_string();
        assert!(why.contains("`[slot] kind` is \"array\"") && why.contains("ace_board::open"), "{why}");
    }
}
