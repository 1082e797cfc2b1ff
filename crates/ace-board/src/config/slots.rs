// SPDX-License-Identifier: Apache-2.0
//! Which slots a board has, and where they are: first those of fabric, then those that hold the array.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{BoardConfig, whole};

/// Tiles of a slot, and banks of a tile. The RTL has two of both; more are a question to the model.
const MOST_PLACES: usize = 4;

/// Slots of a kind.
const MOST_SLOTS: usize = 64;

/// What a slot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotKind {
    /// The device itself: configurations are bitstreams.
    #[default]
    Fabric,
    /// The array, which was loaded before time 0: configurations are context sets.
    Array,
}

impl SlotKind {
    /// Every kind, in the order in which a board has its slots.
    pub const ALL: [SlotKind; 2] = [SlotKind::Fabric, SlotKind::Array];

    /// As `board.toml` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fabric => "fabric",
            Self::Array => "array",
        }
    }

    /// Tiles of a slot of this kind, as far as there are any: those that were routed.
    pub fn tiles(self) -> usize {
        match self {
            Self::Fabric => 1,
            Self::Array => crate::array::rates().map_or(1, |rates| rates.tiles),
        }
    }
}

impl BoardConfig {
    /// How many slots of a kind there are.
    pub fn slots_of(&self, kind: SlotKind) -> usize {
        let beside = if kind == SlotKind::Array { self.array_slots } else { 0 };
        if self.slot.kind == kind { self.slots + beside } else { beside }
    }

    /// The kinds of slots that there are.
    pub fn kinds(&self) -> Vec<SlotKind> {
        SlotKind::ALL.into_iter().filter(|kind| self.slots_of(*kind) > 0).collect()
    }

    /// Whether there are slots of both kinds.
    pub fn mixed(&self) -> bool {
        self.kinds().len() > 1
    }

    /// Makes so many slots of each kind. Tiles and banks are those that the array has by itself, if it had none before.
    pub fn set_slots(&mut self, fabric: usize, array: usize) {
        let had = self.slots_of(SlotKind::Array) > 0;
        (self.slot.kind, self.slots, self.array_slots) = match (fabric, array) {
            (0, array) => (SlotKind::Array, array, 0),
            (fabric, array) => (SlotKind::Fabric, fabric, array),
        };
        if array == 0 || !had {
            let kind = if array > 0 { SlotKind::Array } else { SlotKind::Fabric };
            (self.slot.tiles, self.slot.banks) = (kind.tiles(), 1);
        }
    }

    /// Slots as policies see them: a slot that holds the array is one for each bank of its tiles.
    pub fn places(&self) -> usize {
        self.of_fabric() + self.slots_of(SlotKind::Array) * self.banks()
    }

    /// What the slot of a place is.
    pub fn kind(&self, place: usize) -> SlotKind {
        if place < self.of_fabric() { SlotKind::Fabric } else { SlotKind::Array }
    }

    /// The places of one tile, of which one works at a time: those around `place`.
    pub fn tile(&self, place: usize) -> Range<usize> {
        self.around(place, self.slot.banks)
    }

    /// The places of all tiles of one slot.
    pub fn slot(&self, place: usize) -> Range<usize> {
        self.around(place, self.banks())
    }

    /// Places of fabric, which come first.
    pub(crate) fn of_fabric(&self) -> usize {
        self.slots_of(SlotKind::Fabric)
    }

    /// Places of a slot that holds the array.
    fn banks(&self) -> usize {
        self.slot.tiles * self.slot.banks
    }

    fn around(&self, place: usize, many: usize) -> Range<usize> {
        let Some(behind) = place.checked_sub(self.of_fabric()) else { return place..place + 1 };
        let first = self.of_fabric() + behind / many * many;
        first..first + many
    }

    pub(super) fn check_slots(&self) -> Result<(), (&'static str, String)> {
        let array = self.slots_of(SlotKind::Array) > 0;
        if self.slots == 0 && self.array_slots > 0 {
            let why = "`slots` must be 1 to 64, not 0: where all slots hold the array, `slots` says how many, with \
                       `kind = \"array\"` under [slot] and without `array_slots`";
            return Err(("slots", why.into()));
        }
        whole("slots", self.slots, 1, MOST_SLOTS)?;
        whole("array_slots", self.array_slots, 0, MOST_SLOTS)?;
        if self.slot.kind == SlotKind::Array && self.array_slots > 0 {
            let why = "`slot.kind` is \"array\" and there are `array_slots`, which stand beside slots of fabric: leave `slot.kind` \
                       out, or `array_slots`";
            return Err(("slot.kind", why.into()));
        }
        let most = if array { MOST_PLACES } else { 1 };
        whole("slot.tiles", self.slot.tiles, 1, most)?;
        whole("slot.banks", self.slot.banks, 1, most)
    }
}
