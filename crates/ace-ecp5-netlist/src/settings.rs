// SPDX-License-Identifier: Apache-2.0
//! Settings of tiles: what a memory holds of them, and what it ought to hold.

use super::database::Tile;
use super::error::NetlistError;
use super::fabric::Fabric;
use super::query_cache::Question;
use super::tiles::{Bit, Bits};

impl<'a> Fabric<'a> {
    /// The value of a setting of a tile: the matching one of most bits. `None` if the tile has no such setting
    /// or no value matches.
    pub fn choice(&self, tile: &Tile, name: &str) -> Option<&'a str> {
        match self.cache {
            None => self.find_choice(tile, name),
            Some(_) => self.ask(Question::Choice(*tile, name.to_owned())).text(),
        }
    }

    pub fn find_choice(&self, tile: &Tile, name: &str) -> Option<&'a str> {
        self.option(tile, name).map(|(value, _)| value.as_str())
    }

    fn option(&self, tile: &Tile, name: &str) -> Option<&'a (String, Bits)> {
        let choice = self.database.types[usize::from(tile.kind)].choices.get(name)?;
        let matching = choice.options.iter().filter(|(_, bits)| self.matches(tile, bits));
        matching.max_by_key(|(_, bits)| bits.len())
    }

    /// As [`Fabric::spread`], for a value that the circuit rests on.
    pub fn spread_setting(&self, tiles: &[Tile], name: &str) -> Option<&'a str> {
        match self.cache {
            None => self.find_spread_setting(tiles, name),
            Some(_) => self.ask(Question::SpreadSetting(tiles.to_vec(), name.to_owned())).text(),
        }
    }

    pub fn find_spread_setting(&self, tiles: &[Tile], name: &str) -> Option<&'a str> {
        let value = self.spread(tiles, name)?;
        for tile in tiles {
            let choice = self.database.types[usize::from(tile.kind)].choices.get(name);
            let options = choice.into_iter().flat_map(|choice| &choice.options);
            options.filter(|(other, _)| other == value).for_each(|(_, bits)| self.explain(tile, bits));
        }
        Some(value)
    }

    /// The value of a setting whose bits lie in several tiles: the matching one of most bits in all of them.
    pub fn spread(&self, tiles: &[Tile], name: &str) -> Option<&'a str> {
        match self.cache {
            None => self.find_spread(tiles, name),
            Some(_) => self.ask(Question::Spread(tiles.to_vec(), name.to_owned())).text(),
        }
    }

    pub fn find_spread(&self, tiles: &[Tile], name: &str) -> Option<&'a str> {
        let database = self.database;
        let parts: Vec<_> = tiles
            .iter()
            .filter_map(|tile| Some((tile, database.types[usize::from(tile.kind)].choices.get(name)?)))
            .collect();
        let mut best: Option<(usize, &'a str)> = None;
        for (value, _) in parts.iter().flat_map(|(_, choice)| &choice.options) {
            let count = parts.iter().try_fold(0, |sum, (tile, choice)| {
                // A tile that does not know a value has no bit of it.
                match choice.options.iter().find(|(other, _)| other == value) {
                    None => Some(sum),
                    Some((_, bits)) => self.matches(tile, bits).then_some(sum + bits.len()),
                }
            });
            if count.is_some_and(|count| best.is_none_or(|(most, _)| count > most)) {
                best = count.map(|count| (count, value.as_str()));
            }
        }
        best.map(|(_, value)| value)
    }

    /// Whether a value of a setting matches the bits of a tile that has it, but for bits that inverted inputs of the
    /// same block (settings `prefix…MUX`) also own.
    pub fn option_matches(&self, tile: &Tile, name: &str, value: &str, prefix: &str) -> bool {
        let all = [name, value, prefix];
        match self.cache {
            None => self.find_match(tile, all),
            Some(_) => self.ask(Question::Matches(*tile, all.map(str::to_owned))).flag(),
        }
    }

    pub fn find_match(&self, tile: &Tile, [name, value, prefix]: [&str; 3]) -> bool {
        let choices = &self.database.types[usize::from(tile.kind)].choices;
        let Some(choice) = choices.get(name) else { return true };
        let inputs = choices.iter().filter(|(other, _)| other.starts_with(prefix) && other.ends_with("MUX"));
        let inverted: Vec<_> = inputs
            .flat_map(|(_, other)| &other.options)
            .filter(|(value, _)| value == "INV")
            .flat_map(|(_, bits)| bits.iter().map(|b| (b.frame, b.bit)))
            .collect();
        choice.options.iter().any(|(other, bits)| {
            let own = bits.iter().filter(|b| b.set || !inverted.contains(&(b.frame, b.bit)));
            let matches = other == value && self.matches(tile, own);
            if matches {
                self.explain(tile, bits);
            }
            matches
        })
    }

    /// As [`Fabric::choice`], for a value that the circuit rests on: the tile must have one.
    pub fn setting(&self, tile: &Tile, name: &str) -> Result<&'a str, NetlistError> {
        let found = match self.cache {
            None => self.find_setting(tile, name),
            Some(_) => self.ask(Question::Setting(*tile, name.to_owned())).text(),
        };
        found.ok_or_else(|| NetlistError::Setting(self.place(tile), name.to_owned()))
    }

    pub fn find_setting(&self, tile: &Tile, name: &str) -> Option<&'a str> {
        let (value, bits) = self.option(tile, name)?;
        self.explain(tile, bits);
        Some(value)
    }

    /// The digits of a number that this tile has, the lowest first. The circuit rests on them. None stands for a digit
    /// that another tile has, and for one whose bits contradict each other.
    pub fn word(&self, tile: &Tile, name: &str) -> Option<Vec<Option<bool>>> {
        match self.cache {
            None => self.find_word(tile, name),
            Some(_) => self.ask(Question::Word(*tile, name.to_owned())).word(),
        }
    }

    pub fn find_word(&self, tile: &Tile, name: &str) -> Option<Vec<Option<bool>>> {
        let digits = self.database.types[usize::from(tile.kind)].words.get(name)?;
        let digit = |bits: &Bits| {
            let other: Bits = bits.iter().map(|b| Bit { set: !b.set, ..*b }).collect();
            let value = match (self.matches(tile, bits), self.matches(tile, &other)) {
                (true, _) => true,
                (_, true) => false,
                _ => return None,
            };
            self.explain(tile, if value { bits } else { &other });
            Some(value)
        };
        Some(digits.iter().map(|bits| bits.as_ref().and_then(digit)).collect())
    }

    /// Writes a value of a setting whose bits lie in several tiles. A tile that does not know a value has no bit of it.
    pub fn write_spread(&self, tiles: &[Tile], name: &str, value: &str) {
        for tile in tiles {
            let choice = self.database.types[usize::from(tile.kind)].choices.get(name);
            let options = choice.into_iter().flat_map(|choice| &choice.options);
            options.filter(|(other, _)| other == value).for_each(|(_, bits)| self.explain(tile, bits));
        }
    }

    /// Writes a value of a setting, whatever the memory holds. A tile without the setting has no bit of it.
    pub fn write(&self, tile: &Tile, name: &str, value: &str) -> Result<(), NetlistError> {
        let kind = &self.database.types[usize::from(tile.kind)];
        let Some(choice) = kind.choices.get(name) else { return Ok(()) };
        let option = choice.options.iter().find(|(other, _)| other == value);
        let missing = || NetlistError::Setting(self.place(tile), format!("{name} (there is no {value})"));
        let (_, bits) = option.ok_or_else(missing)?;
        let mut written = self.written.borrow_mut();
        for b in bits {
            written.set_bit(tile.frame + usize::from(b.frame), tile.bit + usize::from(b.bit), b.set);
        }
        Ok(())
    }
}
