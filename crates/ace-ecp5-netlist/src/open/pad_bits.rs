// SPDX-License-Identifier: Apache-2.0
//! How pads are set: which types and which attributes, written one behind the other, have exactly their bits. Two pads
//! beside each other share bits, which make them a differential one.

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
pub(super) const BASE: &str = "BASE_TYPE";
/// As many attributes may two pads have together.
const MOST: usize = 8;

/// A bit of the memory: frame and bit.
pub(super) type At = (usize, usize);
/// The bits of a value, and how they are to be.
type Bits = Vec<(At, bool)>;
/// What a pad can be set to: settings, their values, and the bits of these.
pub(super) type Groups = Vec<(&'static str, Vec<(String, Bits)>)>;

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
    fn value_bits(&self, tiles: &[Tile], name: &str, value: &str) -> Bits {
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
        // Of types with the same bits, the usual one first.
        values.sort_by_key(|value| (value != "NONE", !value.ends_with("_LVCMOS33"), value.clone()));
        values.dedup();
        values
    }

    /// All that a pad can be set to: the type first, then attributes, each with the bits of its values.
    pub(super) fn pad_groups(&self, tiles: &[Tile], pad: Pad) -> Groups {
        let group = |attribute: &'static str| {
            let name = format!("PIO{}.{attribute}", pad.pio);
            let of = |value: String| {
                let bits = self.value_bits(tiles, &name, &value);
                (value, bits)
            };
            (attribute, self.values(tiles, &name).into_iter().map(of).collect())
        };
        std::iter::once(BASE).chain(ATTRIBUTES).map(group).collect()
    }

    /// What two pads that share bits are set to, so that all bits are as they are and no fewer attributes would do.
    /// `allowed` says of each of the two which type and attributes it may have.
    pub(super) fn pair_settings(
        &self,
        pair: &[&Groups],
        allowed: &dyn Fn(usize, &str, &str) -> bool,
        fits: &dyn Fn(usize, &Setting) -> bool,
    ) -> Option<Vec<Setting>> {
        let held: HashSet<At> = pair
            .iter()
            .flat_map(|groups| bits_of(groups))
            .filter(|at| self.memory.bit(at.0, at.1) == Some(true))
            .collect();
        // What the empty design holds needs no explanation.
        let base: HashSet<At> = {
            let written = self.written.borrow();
            held.iter().filter(|at| written.bit(at.0, at.1) == Some(true)).copied().collect()
        };
        let mut steps = Vec::new();
        for (number, groups) in pair.iter().enumerate() {
            for (attribute, values) in *groups {
                let values = values.iter().filter(|(value, _)| allowed(number, attribute, value));
                let values = values.filter(|(_, bits)| *attribute == BASE || !bits.is_empty()).collect();
                steps.push(Step { pad: number, attribute, values });
            }
        }
        let blank = || Setting { base: String::new(), attributes: BTreeMap::new() };
        (0..=MOST).find_map(|count| {
            let mut search = Search { held: &held, base: &base, chosen: vec![blank(); pair.len()], fits };
            search.backwards(&steps, HashSet::new(), count).then_some(search.chosen)
        })
    }

    /// The circuit rests on what pads are set to.
    pub(super) fn explain_pads(&self, pair: &[&Groups], settings: &[Setting]) {
        let mut set = HashSet::new();
        for (groups, setting) in pair.iter().zip(settings) {
            for (attribute, values) in *groups {
                let chosen =
                    if *attribute == BASE { Some(&setting.base) } else { setting.attributes.get(*attribute) };
                for (at, to) in
                    values.iter().filter(|(value, _)| Some(value) == chosen).flat_map(|(_, bits)| bits)
                {
                    if *to {
                        set.insert(*at)
                    } else {
                        set.remove(at)
                    };
                }
            }
        }
        let mut written = self.written.borrow_mut();
        for (frame, bit) in &set {
            written.set_bit(*frame, *bit, true);
        }
    }
}

/// Every bit that any value has.
pub(super) fn bits_of(groups: &Groups) -> impl Iterator<Item = At> {
    groups.iter().flat_map(|(_, values)| values).flat_map(|(_, bits)| bits.iter().map(|(at, _)| *at))
}

/// One thing to choose.
struct Step<'a> {
    pad: usize,
    attribute: &'static str,
    values: Vec<&'a (String, Bits)>,
}

struct Search<'a> {
    /// The bits that are set.
    held: &'a HashSet<At>,
    base: &'a HashSet<At>,
    chosen: Vec<Setting>,
    fits: &'a dyn Fn(usize, &Setting) -> bool,
}

impl Search<'_> {
    /// Chooses from the last step to the first: what is written last has its bits as they are, and what is written before
    /// it has those that are left. So many attributes are chosen.
    fn backwards(&mut self, steps: &[Step<'_>], settled: HashSet<At>, count: usize) -> bool {
        let Some((step, rest)) = steps.split_last() else {
            return count == 0 && self.held.iter().all(|at| settled.contains(at) || self.base.contains(at));
        };
        let base = step.attribute == BASE;
        if !base && self.backwards(rest, settled.clone(), count) {
            return true;
        }
        if !base && count == 0 {
            return false;
        }
        for (value, bits) in &step.values {
            // Bits of several entries: the last one counts.
            let wanted: BTreeMap<At, bool> = bits.iter().copied().collect();
            if wanted.iter().any(|(at, set)| !settled.contains(at) && self.held.contains(at) != *set) {
                continue;
            }
            let mut now = settled.clone();
            now.extend(wanted.keys());
            if base {
                self.chosen[step.pad].base.clone_from(value);
                let one = self.chosen[step.pad].clone();
                if (self.fits)(step.pad, &one) && self.backwards(rest, now, count) {
                    return true;
                }
            } else {
                self.chosen[step.pad].attributes.insert(step.attribute.to_owned(), value.clone());
                if self.backwards(rest, now, count - 1) {
                    return true;
                }
                self.chosen[step.pad].attributes.remove(step.attribute);
            }
        }
        false
    }
}
