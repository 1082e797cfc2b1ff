// SPDX-License-Identifier: Apache-2.0
//! How a pad is set: which type and which attributes, written one behind the other, have exactly its bits.

use std::collections::{BTreeMap, HashSet};

use crate::database::{Pad, Tile};
use crate::fabric::Fabric;

/// The attributes of a pad, in the order in which nextpnr writes them: later ones write over earlier ones.
const ATTRIBUTES: [&str; 10] = [
    "HYSTERESIS",
    "SLEWRATE",
    "PULLMODE",
    "DIFFRESISTOR",
    "CLAMP",
    "DRIVE",
    "TERMINATION_1V8",
    "TERMINATION_1V5",
    "TERMINATION_1V35",
    "OPENDRAIN",
];
const BASE: &str = "BASE_TYPE";

/// A bit of the memory, and how it is to be.
type At = ((usize, usize), bool);

/// What a pad holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// `NONE`, or a direction and a type: `OUTPUT_LVCMOS33`.
    pub base: String,
    pub attributes: BTreeMap<String, String>,
}

impl Fabric<'_> {
    /// The tiles of a pad. At the upper edge one tile more has bits of a differential output.
    pub(super) fn open_pad_tiles(&self, pad: Pad) -> Vec<Tile> {
        let lowest = self.database.tiles.iter().map(|tile| tile.row).max().unwrap_or(0);
        let mut tiles = self.pad_tiles(pad, lowest);
        if pad.row == 0 && pad.pio == 'A' {
            tiles.extend([0, 1].iter().flat_map(|row| self.tiles_at(*row, pad.col + 1).copied()));
        }
        tiles
    }

    /// The bits of a value, in all tiles that know it.
    fn value_bits(&self, tiles: &[Tile], name: &str, value: &str) -> Vec<At> {
        let mut all = Vec::new();
        for tile in tiles {
            let choice = self.database.types[usize::from(tile.kind)].choices.get(name);
            let options = choice.into_iter().flat_map(|choice| &choice.options);
            for (_, bits) in options.filter(|(other, _)| other == value) {
                let place = |b: &crate::tiles::Bit| {
                    (tile.frame + usize::from(b.frame), tile.bit + usize::from(b.bit))
                };
                all.extend(bits.iter().map(|b| (place(b), b.set)));
            }
        }
        all
    }

    /// The values that a setting can have, and all bits of theirs.
    fn values(&self, tiles: &[Tile], name: &str) -> Vec<String> {
        let choices =
            tiles.iter().filter_map(|tile| self.database.types[usize::from(tile.kind)].choices.get(name));
        let mut values: Vec<String> =
            choices.flat_map(|choice| choice.options.iter().map(|(value, _)| value.clone())).collect();
        values.sort();
        values.dedup();
        values
    }

    /// The settings that have exactly the bits of a pad; those with fewest attributes first. `taken`: bits that another
    /// pad's setting has explained.
    pub(super) fn pad_settings(
        &self,
        tiles: &[Tile],
        pad: Pad,
        taken: &HashSet<(usize, usize)>,
    ) -> Vec<Setting> {
        let name = |attribute: &str| format!("PIO{}.{attribute}", pad.pio);
        let mut groups: Vec<(&str, Vec<(String, Vec<At>)>)> = Vec::new();
        let mut own: HashSet<(usize, usize)> = HashSet::new();
        for attribute in std::iter::once(BASE).chain(ATTRIBUTES) {
            let values = self.values(tiles, &name(attribute));
            let of = |value: String| {
                let bits = self.value_bits(tiles, &name(attribute), &value);
                (value, bits)
            };
            let values: Vec<(String, Vec<At>)> = values.into_iter().map(of).collect();
            own.extend(values.iter().flat_map(|(_, bits)| bits.iter().map(|(at, _)| *at)));
            groups.push((attribute, values));
        }
        let held: HashSet<(usize, usize)> =
            own.iter().filter(|at| self.memory.bit(at.0, at.1) == Some(true)).copied().collect();
        let mut found = Vec::new();
        let mut chosen = BTreeMap::new();
        let settled = taken.iter().filter(|at| own.contains(at)).copied().collect();
        backwards(&groups, &held, settled, &mut chosen, &mut found);
        found.sort_by_key(|setting| (setting.attributes.len(), setting.base.clone()));
        found.dedup();
        found
    }

    /// The circuit rests on what a pad is set to.
    pub(super) fn explain_pad(&self, tiles: &[Tile], pad: Pad, setting: &Setting) -> HashSet<(usize, usize)> {
        let all = std::iter::once((BASE, setting.base.as_str())).chain(
            ATTRIBUTES.into_iter().filter_map(|name| Some((name, setting.attributes.get(name)?.as_str()))),
        );
        let mut set = HashSet::new();
        for (name, value) in all {
            for (at, to) in self.value_bits(tiles, &format!("PIO{}.{name}", pad.pio), value) {
                if to {
                    set.insert(at)
                } else {
                    set.remove(&at)
                };
            }
        }
        let mut written = self.written.borrow_mut();
        for (frame, bit) in &set {
            written.set_bit(*frame, *bit, true);
        }
        set
    }
}

/// Chooses from the last group to the first: what is written last has its bits as they are, and what is written before it
/// has those that are left.
fn backwards(
    groups: &[(&str, Vec<(String, Vec<At>)>)],
    held: &HashSet<(usize, usize)>,
    settled: HashSet<(usize, usize)>,
    chosen: &mut BTreeMap<String, String>,
    found: &mut Vec<Setting>,
) {
    let Some(((attribute, values), rest)) = groups.split_last() else { return };
    let base = rest.is_empty();
    if !base {
        backwards(rest, held, settled.clone(), chosen, found);
    }
    for (value, bits) in values {
        // Bits of several entries: the last one counts.
        let mut wanted: BTreeMap<(usize, usize), bool> = BTreeMap::new();
        wanted.extend(bits.iter().map(|(at, set)| (*at, *set)));
        if wanted.iter().any(|(at, set)| !settled.contains(at) && held.contains(at) != *set) {
            continue;
        }
        let mut now = settled.clone();
        now.extend(wanted.keys());
        if base {
            if held.iter().all(|at| now.contains(at)) {
                found.push(Setting { base: value.clone(), attributes: chosen.clone() });
            }
        } else if !wanted.is_empty() {
            chosen.insert((*attribute).to_owned(), value.clone());
            backwards(rest, held, now, chosen, found);
            chosen.remove(*attribute);
        }
    }
}
