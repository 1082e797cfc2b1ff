// SPDX-License-Identifier: Apache-2.0
//! The one way to a board: from what describes it to slots that can be loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ace_library::file::Guard;
use ace_schedule::Policy;
use thiserror::Error;

use crate::array::{self, ArrayError, Sets};
use crate::board::{Board, BoardError};
use crate::catalogue::{Catalogue, Unsigned};
use crate::config::{BoardConfig, SlotKind};
use crate::source::{ModelSource, Models, OfBoth, SharedObjects};
use crate::store::{Store, StoreError};

/// All that says which board it is, but for what decides on it.
#[derive(Debug)]
pub struct Assembly {
    /// What the board is made of.
    pub config: BoardConfig,
    /// The folder of its description: the path of the library starts there.
    pub folder: Option<PathBuf>,
    /// Where the configurations are, or the context sets of slots that hold the array; without it, where they are built.
    pub configurations: Option<PathBuf>,
    /// Whose libraries are taken.
    pub guard: Guard,
    /// What becomes of what the library does not hold.
    pub unsigned: Unsigned,
    /// Nothing else is offered than what may be loaded. Else it is refused when it is needed.
    pub loadable: bool,
}

/// Why there is no such board.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The library is missing or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The context sets of slots with the array are missing or refused.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// Library and sets are there, but no board can be made of them.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// This folder, where configurations were to be looked for, is not there.
    #[error("{}: there is no such folder of configurations", .0.display())]
    Folder(PathBuf),
}

/// What a board can load, and what runs it.
pub struct Parts {
    /// What the board is made of, with the library's path made whole.
    pub config: BoardConfig,
    /// All that the board may load.
    pub catalogue: Catalogue,
    source: Box<dyn ModelSource>,
}

impl Assembly {
    /// Opens the library and reads what there is to load. A kind of slot is one arm of the match; what there is for slots of
    /// several kinds is in one catalogue.
    ///
    /// # Errors
    /// When the library is refused, or there is nothing for slots of a kind.
    pub fn parts(self) -> Result<Parts, OpenError> {
        let Self { config, folder, configurations, guard, unsigned, loadable } = self;
        let store = Store::open(&config.controller, folder.as_deref(), guard)?.map(Arc::new);
        if let Some(folder) = configurations.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(OpenError::Folder(folder.clone()));
        }
        let kinds = config.kinds();
        // A folder that has only what is for one kind leaves the other one to where that is found.
        let has = |kind: SlotKind| {
            let has = |folder: &PathBuf| {
                let found = Catalogue::read(folder).configurations;
                kinds.len() == 1 || found.iter().any(|one| one.context_set == (kind == SlotKind::Array))
            };
            configurations.as_ref().filter(|folder| has(folder)).map(PathBuf::as_path)
        };
        let mut catalogue: Option<Catalogue> = None;
        for kind in &kinds {
            let own = match kind {
                SlotKind::Fabric => {
                    let mut own = Catalogue::of(has(*kind));
                    own.configurations.retain(|one| kinds.len() == 1 || !one.context_set);
                    own
                }
                SlotKind::Array => array::catalogue(has(*kind), store.as_deref(), unsigned)?,
            };
            catalogue = Some(match catalogue {
                Some(others) => others.with(own),
                None => own,
            });
        }
        let mut catalogue = catalogue.unwrap_or_default();
        catalogue.store = store.clone();
        catalogue.unsigned = unsigned;
        let (setups, hashes) = (catalogue.key_sets(&config), catalogue.hash_sets(&config));
        let sets = Sets { store, setups, hashes };
        let source: Box<dyn ModelSource> = match kinds[..] {
            [SlotKind::Fabric] => Box::new(SharedObjects),
            [SlotKind::Array] => Box::new(sets),
            _ => Box::new(OfBoth { sets }),
        };
        if loadable {
            catalogue = catalogue.loadable();
        }
        Ok(Parts { config, catalogue, source })
    }
}

impl Parts {
    /// The board.
    ///
    /// # Errors
    /// As [`Board::with_source`].
    pub fn board(self, policy: Policy, models: Models) -> Result<Board, BoardError> {
        Board::with_source(self.config, self.catalogue, policy, models, self.source)
    }
}

/// Makes a board of what describes it.
///
/// # Errors
/// Why there is none, with the remedy.
pub fn open(assembly: Assembly, policy: Policy, models: Models) -> Result<Board, OpenError> {
    Ok(assembly.parts()?.board(policy, models)?)
}

/// For figures alone, as the default board loads them, whoever has signed its library: the configurations of a folder that is
/// named, else those that the library holds, so that no figure hangs on what is built; without a library those of the build
/// folder.
pub fn modelled(configurations: Option<&Path>, guard: Guard) -> Catalogue {
    let store = Store::open(&BoardConfig::default().controller, None, guard).ok().flatten().map(Arc::new);
    match (configurations, store) {
        (None, Some(store)) => Catalogue::signed(store),
        (folder, store) => Catalogue { store, ..Catalogue::of(folder) },
    }
}
