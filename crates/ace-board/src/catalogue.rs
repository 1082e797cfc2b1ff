// SPDX-License-Identifier: Apache-2.0
//! The configurations that the flow has built.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ace_engine::{ConfigurationId, Need, Table};

use ace_library::ContextSet;
use thiserror::Error;

use crate::config::{BoardConfig, Loads};
use crate::folders::ours;
pub use crate::folders::{BUILD_VARIABLE, BuildFolder};
use crate::manifest::{Configuration, FileRef, ManifestError};
use crate::record::RecordError;
use crate::store::{NotSigned, Store};
use crate::trace::Picos;

/// What becomes of configurations that nobody has signed: those of a build folder of which the library does not hold the
/// very bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsigned {
    /// They are not loaded.
    #[default]
    Refused,
    /// They are, if their own record says that the bits are proven. Whoever can write into the folder can write a
    /// record: this is for what one has built oneself.
    Proven,
    /// They are, proven or not: to develop configurations.
    Unproven,
}

/// Where the bits of a configuration come from.
pub(crate) enum Source<'a> {
    Library(&'a Store),
    Build,
    /// A context set, of the library or of the build folder.
    Set(Option<&'a ContextSet>),
}

/// Why a configuration is not loaded.
#[derive(Debug, Error)]
pub(crate) enum SourceError {
    /// Unsigned ones are, and this one's own record does not say that its bits are proven.
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(
        "{why}, and what lies in {} is signed by nobody (--unsigned loads what you have built yourself, if its record \
         says proven)",
        folder.display()
    )]
    Unsigned { why: NotSigned, folder: PathBuf },
    #[error(
        "no signed library names the context set {} (SHA-256 {}): {why} (--unsigned loads what the compiler of this ace \
         makes)",
        file.display(),
        hex::encode(sha256)
    )]
    UnsignedSet { why: NotSigned, file: PathBuf, sha256: [u8; 32] },
}

/// Every configuration in a build folder, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Where they were looked for.
    pub folder: PathBuf,
    /// Of a board with slots of both kinds, where the context sets were looked for.
    pub sets_folder: Option<PathBuf>,
    /// Those that can be used, by name; a [`crate::trace`] names them by their place here.
    pub configurations: Table<Configuration>,
    /// Sets that expand the keys of those, where slots do that.
    pub setups: Vec<Configuration>,
    /// Manifests that could not be used. They are not fatal: what they would serve is refused when needed.
    pub problems: Vec<String>,
    /// Where the bits of those configurations come from that it holds as they are.
    pub store: Option<Arc<Store>>,
    /// What becomes of the others.
    pub unsigned: Unsigned,
    /// SHA-256 of context sets that count as proven where nobody has signed them.
    pub sets: HashSet<[u8; 32]>,
}

impl Catalogue {
    /// Looks in `build`, or in `$ACE_BUILD`, or where [`BuildFolder::find`] finds one. A folder without configurations makes an
    /// empty catalogue.
    pub fn find(build: Option<&Path>) -> Self {
        Self::within(&BuildFolder::find(build), Path::new("configurations"))
    }

    /// The configurations of a folder in a build folder. Where nobody has named that, those count alone whose model nobody
    /// else can change.
    pub(crate) fn within(build: &BuildFolder, name: &Path) -> Self {
        let mut catalogue = Self::read(&build.path.join(name));
        if !build.named {
            let problems = &mut catalogue.problems;
            catalogue.configurations.retain(|one| match ours(&one.model.path) {
                Ok(()) => true,
                Err(why) => {
                    problems.push(format!("{} is not loaded: {why}", one.model.path.display()));
                    false
                }
            });
            catalogue.setups.retain(|one| ours(&one.model.path).is_ok());
        }
        catalogue
    }

    /// What is in either catalogue. Folder and library are those of the first one, which also names what goes wrong with it.
    #[must_use]
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.sets_folder = Some(other.folder);
        for one in other.configurations {
            self.configurations.push(one);
        }
        self.setups.extend(other.setups);
        self.problems.extend(other.problems);
        self.sets.extend(other.sets);
        self
    }

    /// Those of this folder, or what [`Catalogue::find`] finds.
    pub fn of(folder: Option<&Path>) -> Self {
        folder.map_or_else(|| Self::find(None), Self::read)
    }

    /// Reads `folder/*/manifest.json`. What sets keys up is no configuration, as nothing asks for it by itself.
    pub fn read(folder: &Path) -> Self {
        let mut catalogue = Self { folder: folder.into(), ..Self::default() };
        let Ok(entries) = std::fs::read_dir(folder) else { return catalogue };
        let mut manifests: Vec<PathBuf> = entries
            .filter_map(|e| Some(e.ok()?.path().join("manifest.json")))
            .filter(|p| p.is_file())
            .collect();
        manifests.sort();
        for manifest in manifests {
            match Configuration::read(&manifest) {
                Ok(configuration) if configuration.sets_up.is_some() => catalogue.setups.push(configuration),
                Ok(configuration) => drop(catalogue.configurations.push(configuration)),
                Err(error @ ManifestError { .. }) => catalogue.problems.push(error.to_string()),
            }
        }
        catalogue
    }

    /// What a library says of its configurations, whatever is built: for figures. Nothing of it can be run.
    pub fn signed(store: Arc<Store>) -> Self {
        let mut configurations: Vec<_> = store.configurations().into_iter().collect();
        configurations.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            folder: store.file.clone(),
            configurations: configurations.into(),
            store: Some(store),
            ..Self::default()
        }
    }

    /// The library that all of its configurations are of, if it is [`Catalogue::signed`].
    pub fn library(&self) -> Option<&Store> {
        self.store.as_deref().filter(|store| store.file == self.folder)
    }

    /// The library that holds the very bits of a configuration.
    pub fn stored(&self, configuration: &Configuration) -> Option<&Store> {
        self.store.as_deref().filter(|store| match configuration.context_set {
            true => store.set(configuration).is_ok(),
            false => store.holds(configuration),
        })
    }

    /// Whether a configuration would be loaded although nobody has signed it and no record says that it is proven.
    pub(crate) fn unproven(&self, configuration: &Configuration) -> bool {
        self.unsigned == Unsigned::Unproven
            && self.stored(configuration).is_none()
            && match configuration.context_set {
                true => !self.sets.contains(&configuration.bitstream.sha256),
                false => configuration.proven(&configuration.memory_sha256).is_err(),
            }
    }

    /// Where the bits of a configuration come from.
    ///
    /// # Errors
    /// Why they are not loaded.
    pub(crate) fn source(&self, configuration: &Configuration) -> Result<Source<'_>, SourceError> {
        if configuration.context_set {
            return self.set(configuration).map(Source::Set);
        }
        let why = match self.store.as_deref() {
            None => NotSigned::NoLibrary,
            Some(store) => match store.offers(configuration) {
                Ok(()) => return Ok(Source::Library(store)),
                Err(why) => why,
            },
        };
        match self.unsigned {
            Unsigned::Unproven => Ok(Source::Build),
            Unsigned::Proven => {
                configuration.proven(&configuration.memory_sha256)?;
                Ok(Source::Build)
            }
            Unsigned::Refused => Err(SourceError::Unsigned { why, folder: self.folder.clone() }),
        }
    }

    /// The context set of the library, or `None` if that of the build folder may be loaded, too.
    fn set(&self, configuration: &Configuration) -> Result<Option<&ContextSet>, SourceError> {
        let why = match self.store.as_deref().map(|store| store.set(configuration)) {
            Some(Ok(set)) => return Ok(Some(set)),
            Some(Err(why)) => why,
            None => NotSigned::NoLibrary,
        };
        let known = self.sets.contains(&configuration.bitstream.sha256);
        match self.unsigned {
            Unsigned::Unproven => Ok(None),
            Unsigned::Proven if known => Ok(None),
            _ => {
                let FileRef { path, sha256, .. } = &configuration.bitstream;
                Err(SourceError::UnsignedSet { why, file: path.clone(), sha256: *sha256 })
            }
        }
    }

    /// What a load of a configuration takes into a slot that holds nothing of its domain, on a board where nothing else
    /// wants port, link or host. Of the library: what its loader makes of the stored image. Of the build folder, and of
    /// what would not be loaded: the file as it is.
    pub fn load_time(&self, config: &BoardConfig, configuration: &Configuration) -> Picos {
        self.load_time_over(config, None, configuration)
    }

    /// The same into a slot that holds a configuration, of which the load may need only a part of the image.
    pub(crate) fn load_time_over(
        &self,
        config: &BoardConfig,
        resident: Option<&Configuration>,
        configuration: &Configuration,
    ) -> Picos {
        let bytes = configuration.bitstream.bytes;
        if configuration.context_set {
            return config.set_time(bytes, configuration.load_clocks, configuration.clock_hz);
        }
        let stored = self.store.as_deref().filter(|store| store.holds(configuration));
        let load = stored.and_then(|store| {
            let over = self.remade(config, store, resident);
            store.load(over.map(|c| c.name.as_str()), &configuration.name).ok()
        });
        load.map_or_else(
            || config.loading(bytes, 0),
            |load| config.loading(load.bitstream.len() as u64, load.loader_clocks),
        )
    }

    /// What a load into a slot may build upon: what the slot holds, where the board does such loads and the library has it.
    pub(crate) fn remade<'a>(
        &self,
        config: &BoardConfig,
        store: &Store,
        resident: Option<&'a Configuration>,
    ) -> Option<&'a Configuration> {
        resident.filter(|c| config.controller.load == Loads::Partial && store.holds(c))
    }

    /// What loads cost that make one configuration of another one, where the board does such loads.
    pub fn switch_times(&self, config: &BoardConfig) -> BTreeMap<(ConfigurationId, ConfigurationId), Picos> {
        let mut switches = BTreeMap::new();
        if config.controller.load == Loads::Full {
            return switches;
        }
        let stored = |(at, c)| Some((at, c, self.stored(c)?));
        let all: Vec<_> = self.configurations.pairs().filter_map(stored).collect();
        for (from, old, store) in &all {
            for (to, new, _) in &all {
                if store.part(&old.name, &new.name).is_some() {
                    switches.insert((*from, *to), self.load_time_over(config, Some(old), new));
                }
            }
        }
        switches
    }

    /// Only what may be loaded: what is not signed or not proven is not offered in the first place.
    #[must_use]
    pub fn loadable(mut self) -> Self {
        let all = std::mem::take(&mut self.configurations);
        self.configurations = all.into_iter().filter(|one| self.source(one).is_ok()).collect();
        self
    }

    /// Configurations for `device` that compute `need`, the fastest first, and a variant behind what is as fast: it
    /// would soon have to make room again.
    pub fn candidates(&self, need: &Need, device: &str) -> Vec<ConfigurationId> {
        candidates(&self.configurations, need, device)
    }

    /// Configurations that do the same at another pace: context sets, and a core beside the ring of the same rounds.
    pub fn equivalents(&self) -> Vec<Vec<ConfigurationId>> {
        let mut groups: Vec<Vec<ConfigurationId>> = Vec::new();
        for (at, one) in self.configurations.pairs() {
            let same = |group: &&mut Vec<ConfigurationId>| {
                let first = group.first().map(|at| &self.configurations[*at]);
                first.is_some_and(|first| {
                    first.can == one.can && first.device == one.device && first.context_set == one.context_set
                })
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

pub(crate) fn candidates(
    configurations: &Table<Configuration>,
    need: &Need,
    device: &str,
) -> Vec<ConfigurationId> {
    let mut found: Vec<ConfigurationId> = configurations
        .ids()
        .filter(|c| configurations[*c].serves(need) && configurations[*c].device == device)
        .collect();
    found.sort_by_key(|c| {
        let configuration = &configurations[*c];
        (configuration.estimate(need, 1 << 12), configuration.variant_of.is_some())
    });
    found
}
