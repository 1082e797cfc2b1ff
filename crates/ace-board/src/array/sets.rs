// SPDX-License-Identifier: Apache-2.0
//! Context sets as configurations of slots that hold the array.

use std::path::Path;
use std::sync::Arc;

use ace_array::{Compiled, Named};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::rates::Slot;
use super::slot::ArraySlot;
use super::{ArrayError, digests, signed};
use crate::catalogue::{BuildFolder, Catalogue};
use crate::config::{BoardConfig, SlotKind, hz};
use crate::manifest::{Configuration, FileRef, ModelOf};
use crate::model::{Model, ModelError, SlotModel};
use crate::source::{ModelSource, Models};
use crate::store::Store;

/// What a build folder says of a set that `model`, of `slot`, runs.
pub fn manifest(named: &Named, compiled: &Compiled, slot: &Slot, (model, of): &(FileRef, ModelOf)) -> Value {
    let (name, set) = (&named.name, &compiled.set);
    let bytes = set.to_bytes();
    let sha256 = hex::encode(Sha256::digest(&bytes));
    // What sets keys up answers no frame of data, so that no board takes it for a cipher.
    let sets_up = named.setup.map(|_| named.served.variant(named.decrypt));
    let (can, rates) = match sets_up {
        Some(_) => (Vec::new(), Vec::new()),
        None => (
            vec![signed::can(named.served, named.decrypt)],
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
}

impl ModelSource for Sets {
    fn runs(&self, kind: SlotKind) -> bool {
        kind == SlotKind::Array
    }

    fn open(&self, set: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        if models == Models::Netlist {
            return Err(ModelError::NoNetlist(set.name.clone()));
        }
        let file = &set.bitstream.path;
        let io = |reason: String| ModelError::Io { file: file.clone(), reason };
        let signed = self.store.as_deref().and_then(|store| store.set(set).ok());
        let bytes = match signed {
            Some(signed) => signed.bytes().to_vec(),
            None => ace_fs::read(file).map_err(|e| io(e.to_string()))?,
        };
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        if found != set.bitstream.sha256 {
            let (found, expected) = (hex::encode(found), hex::encode(set.bitstream.sha256));
            return Err(ModelError::Digest { file: file.clone(), found, expected });
        }
        let model = Box::new(Model::open(&set.model, &[])?);
        ArraySlot::loaded(model, &set.name, bytes)
            .map(|slot| Box::new(slot) as Box<dyn SlotModel>)
            .map_err(|error| io(error.to_string()))
    }
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

/// The sets of a folder, or of the one where `ace array build` puts them. Those count as proven
/// whose digests this program knows.
///
/// # Errors
/// When there are none, or they were made for another slot.
pub fn catalogue(folder: Option<&Path>) -> Result<Catalogue, ArrayError> {
    let slot = Slot::standard()?;
    let built = || Catalogue::within(&BuildFolder::find(None), Path::new(Slot::FOLDER));
    let mut catalogue = folder.map_or_else(built, Catalogue::read);
    if catalogue.configurations.is_empty() {
        let folder = catalogue.folder;
        return Err(ArrayError::NoSets { folder, make: Slot::COMMAND.into() });
    }
    catalogue.configurations.retain(|one| one.context_set);
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
    let sets_up = |name: &str| Named::find(name).is_some_and(|it| it.setup.is_some());
    let known = digests()?.into_iter().filter(|(name, _)| !sets_up(name));
    catalogue.sets = known.map(|(_, digest)| digest).collect();
    Ok(catalogue)
}
