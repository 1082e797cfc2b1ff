// SPDX-License-Identifier: Apache-2.0
//! Context sets for whoever sends a slot its frames by himself: the frames that load them, key them and ask them.

use std::path::Path;

use ace_array::Named;
use ace_array::set::Set;
use ace_array::shape::Shape;
use zeroize::Zeroizing;

use super::pieces::key_frame;
use super::sets::Sets;
use super::slot::{LOAD, Variant};
use super::{ArrayError, Slot, digests, signed};
use crate::capability::Capability;
use crate::catalogue::{BuildFolder, Catalogue, Unsigned};
use crate::frame::{self, Header, KeySection, flag, op};
use crate::pass::Task;
use crate::store::Store;

/// A context set, and what goes to a slot for it.
pub struct Loadable {
    named: Named,
    set: Set,
    bytes: Vec<u8>,
    can: Vec<Capability>,
    /// What expands its keys, once there was one.
    variant: Option<Variant>,
}

impl Loadable {
    /// The set of this name.
    ///
    /// # Errors
    /// Why a slot would not take it, or frames of data are not for it.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, ArrayError> {
        let named = Named::find(name).ok_or_else(|| ArrayError::Unknown(name.to_owned()))?;
        let set =
            Set::from_bytes(&bytes, &Shape::standard()).map_err(|error| ArrayError::set(name, error))?;
        if set.keys || named.setup.is_some() {
            return Err(ArrayError::SetsUp(name.to_owned()));
        }
        let (code, decrypt, keys) = (set.algorithm, set.decrypt, set.keys);
        if (code, decrypt) != (named.served.code, named.decrypt) {
            return Err(ArrayError::Other { name: name.to_owned(), code, decrypt, keys });
        }
        let can = signed::can(named.served, named.decrypt);
        Ok(Self { named, set, bytes, can, variant: None })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.named.name
    }

    /// Whether it is its variant's set for throughput: of several for the same frames the first one.
    pub fn is_first(&self) -> bool {
        self.named.name == self.named.variant
    }

    /// What frames may ask of it.
    pub fn can(&self) -> &[Capability] {
        &self.can
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Mb/s of one tile of a slot, as its RTL was measured or its schedule says, at this clock.
    ///
    /// # Errors
    /// When what was measured cannot be read.
    pub fn rate(&self, khz: u32) -> Result<f64, ArrayError> {
        let slot = Slot::standard()?;
        Ok(slot.rate(&self.named.name, &self.set) * f64::from(khz) / 1e3 / slot.mhz)
    }

    /// Whether the same frames are for both.
    pub fn answers_like(&self, other: &Self) -> bool {
        self.can.iter().any(|can| other.can.iter().any(|other| can.answers_like(other)))
    }

    /// The frame that loads it into the bank that does not run, of the tile of this number.
    pub fn load(&self, tile: u8) -> Zeroizing<Vec<u8>> {
        let result_len = if tile == 0 { 0 } else { 1 << tile };
        let header = Header {
            op: LOAD,
            result_len,
            payload_len: u32::try_from(self.bytes.len()).unwrap_or(u32::MAX),
            ..Header::default()
        };
        frame::assemble(header, &[&self.bytes])
    }

    /// A frame without data, which lets a tile run the bank that holds this set, whether it has a key or not.
    pub fn run(&self) -> Vec<u8> {
        let served = self.named.served;
        let own = if served.aead.is_some() {
            op::AEAD
        } else if served.keys.is_empty() {
            op::HASH
        } else {
            op::ECB
        };
        let flags = if self.named.decrypt { flag::DECRYPT } else { 0 };
        let header = Header { algorithm: served.code, op: own, flags, ..Header::default() };
        frame::assemble(header, &[]).to_vec()
    }

    /// The frame that makes this its key: its words, or the two states of HMAC's. An HMAC key is of at most a block.
    pub fn key(&mut self, secret: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if self.variant.is_none() {
            let set = Set::from_bytes(&self.bytes, &Shape::standard()).ok()?;
            self.variant = Some(Variant::of(&self.named, set, Vec::new()).ok()?);
        }
        let header = Header { algorithm: self.named.served.code, ..Header::default() };
        let decrypt = self.named.decrypt;
        key_frame(header, decrypt, self.variant.as_mut()?, secret).ok()
    }

    /// The frame of a key that nothing is computed under.
    pub fn any_key(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let len = self.named.served.keys.first().copied()?;
        self.key(&vec![0x5a; len])
    }

    /// The frame of a task, under the key that the slot has.
    pub fn data(task: &Task) -> Vec<u8> {
        let mut frame = frame::request(task, KeySection::Kept, 0);
        if let Some(own) = frame.get_mut(1).filter(|own| **own == op::HMAC_KEY) {
            *own = op::HMAC_STATES;
        }
        // No key is in it.
        std::mem::take(&mut *frame)
    }
}

/// The sets that may go to a slot: the library's, and, where what is unsigned is taken, those of a build folder.
///
/// # Errors
/// When there are none, or one cannot be read.
pub fn loadables(
    folder: Option<&Path>,
    store: Option<std::sync::Arc<Store>>,
    unsigned: Unsigned,
) -> Result<Vec<Loadable>, ArrayError> {
    let built = || Catalogue::within(&BuildFolder::find(None), Path::new(Slot::FOLDER));
    let mut catalogue = match unsigned {
        Unsigned::Refused => {
            Catalogue { folder: folder.unwrap_or(Path::new("")).into(), ..Catalogue::default() }
        }
        _ => folder.map_or_else(built, Catalogue::read),
    };
    catalogue.store.clone_from(&store);
    (catalogue.unsigned, catalogue.sets) = (unsigned, digests()?.into_values().collect());
    let sets = Sets { store: store.clone(), ..Sets::default() };
    let mut all = Vec::new();
    for one in catalogue.configurations.iter().filter(|one| one.context_set) {
        if catalogue.source(one).is_ok() {
            let bytes = sets.bytes(one).map_err(|error| ArrayError::Manifest {
                name: one.name.clone(),
                reason: error.to_string(),
            })?;
            all.push(Loadable::new(&one.name, bytes)?);
        }
    }
    for signed in store.iter().flat_map(|store| store.library().sets()) {
        let known = Named::find(signed.name()).filter(|named| named.setup.is_none()).is_some();
        if known && all.iter().all(|one| one.name() != signed.name()) {
            all.push(Loadable::new(signed.name(), signed.bytes().to_vec())?);
        }
    }
    if all.is_empty() {
        return Err(ArrayError::NoSets { folder: catalogue.folder, make: Slot::COMMAND.into() });
    }
    all.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(all)
}
