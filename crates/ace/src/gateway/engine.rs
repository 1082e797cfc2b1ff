// SPDX-License-Identifier: Apache-2.0
//! `[engine]` of a gateway's configuration made into what computes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ace_board::{Board, BoardConfig, Catalogue, Models, Store};
use ace_config::gateway::{Engine as Wanted, EngineKind};
use ace_ecp5::Device;
use ace_engine::{Algorithm, Engine};
use ace_gateway::engines::Slots;
use ace_gateway::{Live, OpenBoard, Remote};
use ace_library::file::Guard;
use ace_library::{Seen, Trust};
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
    let config = engines::BoardArgs::config_of(wanted.board.as_deref())?;
    let device = Device::by_name(&config.device);
    let keys = trust::keys(wanted.library_key.as_deref())?;
    let configurations = absolute(wanted.configurations.as_deref())?;
    if let Some(folder) = configurations.as_deref().filter(|folder| !folder.is_dir()) {
        bail!("`configurations` of [engine]: {} is no folder", folder.display());
    }
    let folder = absolute(wanted.board.as_deref().and_then(Path::parent))?;
    Ok(Box::new(move |library| {
        let trust = Trust { keys: Some(keys.clone()), device, ..Trust::ANYBODY };
        let guard = Guard { trust, seen: Seen::of_user(), allow_older: false };
        board(&config, folder.as_deref(), configurations.as_deref(), policy, guard, library)
            .map(|board| Box::new(board) as Box<dyn Slots>)
            .map_err(|error| format!("{error:#}"))
    }))
}

/// The gateway's own folder is another one when a library comes.
fn absolute(path: Option<&Path>) -> Result<Option<PathBuf>> {
    path.map(|path| std::path::absolute(path).with_context(|| path.display().to_string())).transpose()
}

fn board(
    config: &BoardConfig,
    folder: Option<&Path>,
    configurations: Option<&Path>,
    policy: Policy,
    guard: Guard,
    library: Option<&Path>,
) -> Result<Board> {
    let mut config = config.clone();
    if let Some(library) = library {
        config.controller.library = library.to_owned();
    }
    let store = Store::open(&config.controller, folder, guard)?;
    let mut catalogue = engines::BoardArgs::catalogue_in(configurations);
    let Some(store) = store else {
        bail!("there is no library; `library` under [controller] of the board's description names one");
    };
    if let Some(warning) = &store.warning {
        tracing::warn!("{warning}");
    }
    catalogue.store = Some(Arc::new(store));
    Ok(Board::new(config, Catalogue::loadable(catalogue), policy, Models::Rtl)?)
}
