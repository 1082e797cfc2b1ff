// SPDX-License-Identifier: Apache-2.0
//! What is set and nothing rests on, and settings of the whole device, which are carried and not understood.

use crate::closed::differences;
use crate::database::Tile;
use crate::fabric::Fabric;

/// Settings of the whole device, by the beginnings of their names: supplies of banks, how the device wakes up and which
/// of its configuration pins stay what they are.
const WHOLE: [&str; 3] = ["BANK.", "SYSCONFIG.", "BOOTADDR"];

impl Fabric<'_> {
    /// The settings of the whole device that are not blank; the reading rests on all of them.
    pub(super) fn device_settings(&self) -> Vec<(String, String, String)> {
        let mut all = Vec::new();
        for tile in &self.database.tiles {
            let kind = &self.database.types[usize::from(tile.kind)];
            let whole = |name: &&String| WHOLE.iter().any(|begin| name.starts_with(begin));
            let mut names: Vec<&String> = kind.choices.keys().filter(whole).collect();
            names.sort();
            for name in names {
                let clear = self.all_clear(tile, name);
                if let (false, Some(value)) = (clear, self.find_setting(tile, name)) {
                    all.push((self.place(tile), name.clone(), value.to_owned()));
                }
            }
            for name in kind.words.keys().filter(whole) {
                let digits = self.find_word(tile, name).unwrap_or_default();
                let value =
                    digits.iter().rev().fold(0u64, |sum, digit| sum << 1 | u64::from(*digit == Some(true)));
                if value != 0 {
                    all.push((self.place(tile), name.clone(), value.to_string()));
                }
            }
        }
        all
    }

    /// Whether no bit of a setting is set.
    fn all_clear(&self, tile: &Tile, name: &str) -> bool {
        let choice = self.database.types[usize::from(tile.kind)].choices.get(name);
        let bits = choice.into_iter().flat_map(|choice| &choice.options).flat_map(|(_, bits)| bits.iter());
        bits.into_iter().all(|b| self.held(tile, b.frame, b.bit) != Some(true))
    }

    /// The bits that are not as they were written, with what the database says they belong to.
    pub(super) fn residue(&self) -> Vec<String> {
        let one = |(frame, bit): &(usize, usize)| {
            let set = if self.memory.bit(*frame, *bit) == Some(true) { "set" } else { "clear" };
            let Some(tile) = self.database.tile_of(*frame, *bit) else {
                return format!("frame {frame}: bit {bit} is {set}, and no tile has it");
            };
            let (row, col) = (frame - tile.frame, bit - tile.bit);
            let owners = self.database.owners(tile.frame + row, tile.bit + col);
            let whose = if owners.is_empty() { "no name".to_owned() } else { owners.join(", ") };
            format!("{}: bit F{row}B{col} is {set} ({whose})", self.place(tile))
        };
        differences(self.memory, &self.written.borrow()).iter().map(one).collect()
    }
}
