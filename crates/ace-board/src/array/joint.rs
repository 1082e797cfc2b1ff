// SPDX-License-Identifier: Apache-2.0
//! A cipher's frame whose result is the frame of a hash in the slot's other tile.

use std::sync::Arc;

use ace_array::Named;
use ace_array::set::Set;
use zeroize::Zeroizing;

use super::pieces::{Piece, What, key_frame};
use super::slot::{ArraySlot, LOAD, Strange, Variant};
use crate::frame::{self, HEADER, Header, Status, flag, op, padded};

/// In a load, the second tile.
const OTHER_TILE: u8 = 2;

impl ArraySlot {
    /// Gives the slot these sets of hashes, by name, for its other tile.
    #[must_use]
    pub fn joining(mut self, hashes: Vec<(String, Vec<u8>)>) -> Self {
        self.hashes = hashes;
        self
    }

    /// The frames of one that asks for a cipher and, of the result, for HMAC: what is passed on in front of it is the header of
    /// a frame with its key, and what it covers. `set` is the hash's.
    pub(super) fn translate_joint(&mut self, request: &[u8], set: &Arc<str>) -> Result<Vec<Piece>, Strange> {
        let header = Header::from_bytes(request).ok_or(Strange)?;
        let front = HEADER + padded(header.key_len.into()) + padded(header.iv_len.into());
        let sections = request.get(HEADER..front).ok_or(Strange)?;
        let inner = request.get(front..).and_then(Header::from_bytes).ok_or(Strange)?;
        let key = usize::from(inner.key_len);
        let secret = request.get(front + HEADER..front + HEADER + key).ok_or(Strange)?;
        let rest = request.get(front + HEADER + padded(key)..).ok_or(Strange)?;
        let mut pieces = Vec::new();
        let variant = self.hash(set)?;
        if self.beside.as_ref() != Some(set) {
            pieces.extend(self.load_other(header.tag, &variant)?);
            self.beside = Some(Arc::clone(set));
        }
        if inner.flags & flag::FRESH_KEY != 0 {
            let own = Header { algorithm: inner.algorithm, tag: header.tag, ..Header::default() };
            let variant = self.variants.get_mut(&variant).ok_or(Strange)?;
            pieces.push(Piece(What::Prepares, key_frame(own, false, variant, secret)?));
        }
        let flags = inner.flags & !flag::FRESH_KEY;
        let inner = Header { op: op::HMAC_STATES, flags, key_len: 0, ..inner };
        let payload_len = header.payload_len.checked_sub(padded(key) as u32).ok_or(Strange)?;
        let outer = Header { payload_len, ..header };
        let plain = [&outer.to_bytes()[..], sections, &inner.to_bytes(), rest].concat();
        let mut cipher = self.translate(&Zeroizing::new(plain), true)?;
        if let Some(Piece(what, _)) = cipher.last_mut() {
            *what = What::Joins;
        }
        pieces.extend(cipher);
        Ok(pieces)
    }

    /// Reads the set of a hash, if it was not; its variant.
    fn hash(&mut self, set: &str) -> Result<String, Strange> {
        let (name, bytes) = self.hashes.iter().find(|(name, _)| name == set).ok_or(Strange)?;
        let named = Named::find(name).ok_or(Strange)?;
        if self.beside.as_deref() != Some(set) {
            let read = Set::from_bytes(bytes, &self.shape).map_err(|_| Strange)?;
            let variant = Variant::of(&named, read, bytes.clone()).map_err(|_| Strange)?;
            self.variants.insert(named.variant.clone(), variant);
        }
        Ok(named.variant)
    }

    /// Brings a set into the other tile, which on the board has it already: that takes no time of this one, if nothing is
    /// under way here.
    fn load_other(&mut self, tag: u16, variant: &str) -> Result<Option<Piece>, Strange> {
        let bytes = self.variants.get(variant).ok_or(Strange)?.bytes.clone();
        let payload_len = bytes.len() as u32;
        let load = Header { op: LOAD, tag, result_len: OTHER_TILE, payload_len, ..Header::default() };
        if !self.parts.is_empty() {
            return Ok(Some(Piece(What::Prepares, frame::assemble(load, &[&bytes]))));
        }
        let answer = self.alone(load, &bytes).map_err(|_| Strange)?;
        let loaded = frame::response(&answer.response).is_ok_and(|answer| answer.status == Status::Ok);
        if loaded { Ok(None) } else { Err(Strange) }
    }
}
