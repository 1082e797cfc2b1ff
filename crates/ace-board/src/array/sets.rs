// SPDX-License-Identifier: Apache-2.0
//! Context sets as configurations of slots that hold the array.

use std::path::Path;
use std::sync::Arc;

use ace_array::Named;
use ace_array::frontend::Program;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_engine::Direction;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::rates::Slot;
use super::setup::KeySet;
use super::slot::ArraySlot;
use super::{ArrayError, digests, signed};
use crate::capability::Capability;
use crate::catalogue::{BuildFolder, Catalogue, Unsigned};
use crate::config::{BoardConfig, KeySetup, SlotKind, hz};
use crate::folders::{ARRAY_MODEL, ours};
use crate::manifest::{Configuration, FileRef, ModelOf};
use crate::model::{Model, ModelError, SlotModel};
use crate::source::{ModelSource, Models};
use crate::store::Store;

/// What a build folder says of a set that `model`, of `slot`, runs.
pub fn manifest(named: &Named, set: &Set, slot: &Slot, (model, of): &(FileRef, ModelOf)) -> Value {
    let name = &named.name;
    let bytes = set.to_bytes();
    let sha256 = hex::encode(Sha256::digest(&bytes));
    // What sets keys up answers no frame of data, so that no board takes it for a cipher.
    let sets_up = named.setup.map(|_| named.served.variant(named.decrypt));
    let (can, rates) = match sets_up {
        Some(_) => (Vec::new(), Vec::new()),
        None => (
            signed::can(named.served, named.decrypt),
            vec![json!({"algorithm": named.served.algorithm, "mbps": slot.rate(name, set)})],
        ),
    };
    json!({
        "schema": 1,
        "name": name,
        "summary": format!("context set for {}: {} contexts, latency {}", named.goal, set.ii(), set.latency),
        "context_set": true,
        "made_for": named.goal.to_string(),
        "contexts": set.ii(),
        "clocks_alone": set.dependent_interval(),
        "load_clocks": set.load_clocks(),
        "device": BoardConfig::default().device,
        "fmax_mhz": slot.mhz,
        "in_flight": slot.lanes,
        "can": can,
        "sets_up": sets_up,
        "throughput_mbps": rates,
        "files": {
            "bitstream": {"path": format!("{name}.set"), "bytes": bytes.len(), "sha256": sha256},
            "model": {"path": model.path, "bytes": model.bytes, "sha256": hex::encode(model.sha256)},
        },
        "memory_sha256": sha256,
        "elaborated_sha256": of.elaborated_sha256,
        "generated_sha256": of.generated_sha256,
    })
}

/// Slots of the array, each with the set that the board has loaded: signed ones from the library, others from their files.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// The library.
    pub store: Option<Arc<Store>>,
    /// Sets with which slots expand keys, if they do. Whoever makes this has seen to it that they may be loaded.
    pub setups: Vec<Configuration>,
    /// Sets of hashes that take ciphertext from another tile. They may be loaded, too.
    pub hashes: Vec<Configuration>,
}

impl Sets {
    /// A set as a slot takes it: from the library, or from its file.
    pub(super) fn bytes(&self, set: &Configuration) -> Result<Vec<u8>, ModelError> {
        let file = &set.bitstream.path;
        let signed = self.store.as_deref().and_then(|store| store.set(set).ok());
        let bytes = match signed {
            Some(signed) => signed.bytes().to_vec(),
            None => ace_fs::read(file)
                .map_err(|e| ModelError::Io { file: file.clone(), reason: e.to_string() })?,
        };
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        if found != set.bitstream.sha256 {
            let (found, expected) = (hex::encode(found), hex::encode(set.bitstream.sha256));
            return Err(ModelError::Digest { file: file.clone(), found, expected });
        }
        Ok(bytes)
    }
}

impl Catalogue {
    /// The sets of hashes that take ciphertext from another tile, on a board whose slots do that.
    pub fn hash_sets(&self, config: &BoardConfig) -> Vec<Configuration> {
        let hash = |one: &&Configuration| one.can.iter().any(|can| !can.operations.is_empty());
        let wanted = |one: &&Configuration| config.slot.joint && self.source(one).is_ok();
        self.configurations.iter().filter(hash).filter(wanted).cloned().collect()
    }

    /// The sets with which the slots of a board expand keys: those that may be loaded, if the board wants it. Of other
    /// ciphers the host expands keys.
    pub fn key_sets(&self, config: &BoardConfig) -> Vec<Configuration> {
        let wanted = config.slot.key_setup == KeySetup::Slot;
        self.setups.iter().filter(|one| wanted && self.source(one).is_ok()).cloned().collect()
    }
}

impl ModelSource for Sets {
    fn runs(&self, kind: SlotKind) -> bool {
        kind == SlotKind::Array
    }

    fn open(&self, set: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        if models == Models::Netlist {
            return Err(ModelError::NoNetlist(set.name.clone()));
        }
        let io = |one: &Configuration, error: ArrayError| {
            let (file, reason) = (one.bitstream.path.clone(), error.to_string());
            ModelError::Io { file, reason }
        };
        let bytes = self.bytes(set)?;
        let model = Box::new(Model::open(&set.model, &[])?);
        let source = own_source(set).map_err(|error| io(set, error))?;
        let slot = ArraySlot::loaded_of(model, &set.name, bytes, source).map_err(|error| io(set, error))?;
        let variant = Named::find(&set.name).map(|named| named.variant);
        // What a manifest says of that, nobody has signed.
        let whose = |one: &Configuration| Named::find(&one.name).map(|it| it.served.variant(it.decrypt));
        let own = self.setups.iter().filter(|one| whose(one) == variant);
        let key_set =
            |one: &Configuration| KeySet::new(&one.name, self.bytes(one)?).map_err(|error| io(one, error));
        let key_sets: Vec<KeySet> = own.map(key_set).collect::<Result<_, _>>()?;
        let hash = |one: &Configuration| Ok((one.name.clone(), self.bytes(one)?));
        let encrypts =
            |can: &Capability| !can.modes.is_empty() && can.directions.contains(&Direction::Encrypt);
        let hashes = self.hashes.iter().filter(|_| set.can.iter().any(encrypts)).map(hash);
        let hashes = hashes.collect::<Result<_, ModelError>>()?;
        Ok(Box::new(slot.expanding(key_sets).joining(hashes)))
    }
}

/// Puts the files of a source beside a set that was made of it: it is not one that this was built with.
///
/// # Errors
/// Those of the file system.
pub fn put_source(folder: &Path, name: &str, program: &Program) -> std::io::Result<()> {
    for (number, (file, text)) in program.files().iter().enumerate() {
        let own = if number == 0 { format!("{name}.ace") } else { file.clone() };
        ace_fs::write(&folder.join(own), text.as_bytes())?;
    }
    Ok(())
}

/// The source that was put beside a set. It says how the host expands keys, so it is nothing to a set that this program knows
/// by its digest.
fn own_source(set: &Configuration) -> Result<Option<Program>, ArrayError> {
    let file = set.bitstream.path.with_extension("ace");
    if !file.is_file() || digests()?.values().any(|known| *known == set.bitstream.sha256) {
        return Ok(None);
    }
    let unread = |reason: String| ArrayError::Manifest { name: set.name.clone(), reason };
    let text = ace_fs::read_text(&file).map_err(|error| unread(format!("{}: {error}", file.display())))?;
    let beside = |name: &str| {
        let plain = Path::new(name).file_name().is_some_and(|own| own == name);
        plain.then(|| ace_fs::read_text(&file.with_file_name(name)).ok()).flatten()
    };
    let program = Program::parse(&file.display().to_string(), &text, &beside);
    program.map(Some).map_err(|error| ArrayError::set(&set.name, error))
}

/// The slot in the library: its bits are proven and signed.
const SIGNED: &str = "array";

/// Whether the model behind these sets is of the design that the library has signed, where it has one.
///
/// # Errors
/// The first set whose model is of something else.
pub fn check_model(catalogue: &Catalogue, store: &Store) -> Result<(), ArrayError> {
    let Some(signed) = store.offered(SIGNED) else { return Ok(()) };
    match catalogue.configurations.iter().find(|one| one.model_of != signed.model_of) {
        Some(other) => Err(ArrayError::OtherModel {
            path: other.bitstream.path.clone(),
            library: store.file().to_owned(),
            make: Slot::COMMAND.into(),
        }),
        None => Ok(()),
    }
}

/// The model of the slot in a build folder: what sets of the library run on. If nobody has named the folder, nobody else may
/// be able to change the model.
fn model(build: &BuildFolder) -> Result<(FileRef, ModelOf), ArrayError> {
    let path = build.path.join(ARRAY_MODEL);
    let about = path.with_extension("model.json");
    let missing =
        |reason: String| ArrayError::NoModel { path: path.clone(), reason, make: Slot::COMMAND.into() };
    let bytes = ace_fs::read(&path).map_err(|error| missing(error.to_string()))?;
    if !build.named {
        ours(&path).map_err(|why| missing(why.to_string()))?;
    }
    let text = ace_fs::read(&about).map_err(|error| missing(format!("{}: {error}", about.display())))?;
    let of =
        serde_json::from_slice(&text).map_err(|error| missing(format!("{}: {error}", about.display())))?;
    let sha256 = Sha256::digest(&bytes).into();
    Ok((FileRef { path, bytes: bytes.len() as u64, sha256 }, of))
}

/// The model of the slot that was built before, or installed.
///
/// # Errors
/// Why there is none, and what makes one.
pub fn installed_model() -> Result<(FileRef, ModelOf), ArrayError> {
    model(&BuildFolder::find(None))
}

/// The sets of a library, to be run on this model: what a build folder would say of them. First those that serve frames, then
/// those that expand keys.
fn of_library(
    store: &Store,
    slot: &Slot,
    model: &(FileRef, ModelOf),
) -> Result<[Vec<Configuration>; 2], ArrayError> {
    let shape = Shape::standard();
    let mut found = [Vec::new(), Vec::new()];
    for signed in store.library().sets() {
        // Another `ace` may have made sets that this one knows nothing of.
        let Some(named) = Named::find(signed.name()) else { continue };
        let set = Set::from_bytes(signed.bytes(), &shape).map_err(|e| ArrayError::set(&named.name, e))?;
        let unread = |reason: String| ArrayError::Manifest { name: named.name.clone(), reason };
        let text = manifest(&named, &set, slot, model).to_string();
        let one = Configuration::from_json(text.as_bytes(), store.file());
        let kind = usize::from(named.setup.is_some());
        found[kind].push(one.map_err(|error| unread(error.to_string()))?);
    }
    Ok(found)
}

/// Signed sets and those that are built: of one name the signed one, but where what is unsigned is taken.
fn of_both(signed: Vec<Configuration>, built: Vec<Configuration>, unsigned: Unsigned) -> Vec<Configuration> {
    let (first, rest) = match unsigned {
        Unsigned::Refused => (signed, built),
        Unsigned::Proven | Unsigned::Unproven => (built, signed),
    };
    let other = |one: &Configuration| first.iter().all(|known| known.name != one.name);
    let rest: Vec<_> = rest.into_iter().filter(other).collect();
    first.into_iter().chain(rest).collect()
}

/// The sets of a folder. Without one, those of the library, and those that `ace array build` has put where it puts them: of
/// one name the library's, but where what is unsigned is taken. Those count as proven whose digests this program knows.
///
/// # Errors
/// When there are none, they were made for another slot, or the slot has no model.
pub fn catalogue(
    folder: Option<&Path>,
    store: Option<&Store>,
    unsigned: Unsigned,
) -> Result<Catalogue, ArrayError> {
    let slot = Slot::standard()?;
    let build = BuildFolder::find(None);
    let built = || Catalogue::within(&build, Path::new(Slot::FOLDER));
    let mut catalogue = folder.map_or_else(built, Catalogue::read);
    catalogue.configurations.retain(|one| one.context_set);
    catalogue.setups.retain(|one| one.context_set);
    if let Some(store) = store.filter(|store| folder.is_none() && !store.library().sets().is_empty()) {
        match model(&build).and_then(|model| of_library(store, &slot, &model)) {
            Ok([serving, expanding]) => {
                let built = std::mem::take(&mut catalogue.configurations).into_iter().collect();
                catalogue.configurations = of_both(serving, built, unsigned).into();
                let built = std::mem::take(&mut catalogue.setups);
                catalogue.setups = of_both(expanding, built, unsigned);
            }
            Err(why) if catalogue.configurations.is_empty() => return Err(why),
            // What is built has its own.
            Err(_) => {}
        }
    }
    if catalogue.configurations.is_empty() {
        let folder = catalogue.folder;
        return Err(ArrayError::NoSets { folder, make: Slot::COMMAND.into() });
    }
    // One order, wherever they are from.
    let mut all: Vec<_> = std::mem::take(&mut catalogue.configurations).into_iter().collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    catalogue.configurations = all.into();
    // A manifest in a build folder is signed by nobody: how fast the slot is this program knows itself.
    let wanted = (slot.lanes, hz(slot.mhz));
    if let Some(other) = catalogue.configurations.iter().find(|one| (one.in_flight, one.clock_hz) != wanted) {
        return Err(ArrayError::OtherSlot {
            path: other.bitstream.path.clone(),
            found: (other.in_flight, other.clock_hz as f64 / 1e6),
            wanted: (slot.lanes, slot.mhz),
            make: Slot::COMMAND.into(),
        });
    }
    catalogue.sets = digests()?.into_values().collect();
    if let Some(store) = store.filter(|_| unsigned == Unsigned::Refused) {
        check_model(&catalogue, store)?;
    }
    Ok(catalogue)
}
