// SPDX-License-Identifier: Apache-2.0
//! What a slot of the array holds, as far as a host can know it: which sets are in which banks, whose key was the last, which
//! bank runs (`docs/array-slot.md`, "The slot").

/// A slot has one, two or four tiles: which of these it has, a load says that it refuses.
const TILES: usize = 4;

/// A set in a bank.
#[derive(Clone, Copy, Debug)]
pub struct Bank {
    pub set: usize,
    /// Whose key is its last one.
    pub key: Option<u64>,
    /// When frames came to it last, in decisions.
    pub used: u64,
}

/// Banks of a tile. A load goes to the one that does not run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tile {
    pub banks: [Option<Bank>; 2],
    pub running: usize,
}

/// Where a set is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A tile of which nothing has run.
    Fresh { tile: usize },
    /// The bank beside this one, which has to run first: nothing else may be under way.
    Beside { tile: usize, runs: usize },
}

/// What keeps frames from a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Open,
    /// It is to come to its end, as a set is to be loaded.
    Drains {
        set: usize,
    },
    /// A bank is to run, and then a set is loaded beside it.
    Marks {
        set: usize,
        tile: usize,
    },
}

/// A slot.
#[derive(Debug)]
pub struct Slot {
    pub tiles: Vec<Tile>,
    /// Tiles that it has at most.
    pub most: usize,
    pub phase: Phase,
    /// It takes no sets, and computes what has this number.
    pub fixed: Option<usize>,
}

impl Slot {
    /// Out of reset.
    pub fn new() -> Self {
        Self { tiles: Vec::new(), most: TILES, phase: Phase::Open, fixed: None }
    }

    /// Where a set is.
    pub fn find(&self, set: usize) -> Option<(usize, usize)> {
        self.tiles.iter().enumerate().find_map(|(tile, at)| {
            let own = |bank: &Option<Bank>| bank.is_some_and(|bank| bank.set == set);
            Some((tile, at.banks.iter().position(own)?))
        })
    }

    pub fn bank(&self, (tile, bank): (usize, usize)) -> Option<&Bank> {
        self.tiles.get(tile)?.banks.get(bank)?.as_ref()
    }

    pub fn bank_mut(&mut self, (tile, bank): (usize, usize)) -> Option<&mut Bank> {
        self.tiles.get_mut(tile)?.banks.get_mut(bank)?.as_mut()
    }

    /// Frames of data come to a bank, which runs from then on.
    pub fn runs(&mut self, (tile, bank): (usize, usize), now: u64) {
        if let Some(tile) = self.tiles.get_mut(tile) {
            tile.running = bank;
        }
        if let Some(bank) = self.bank_mut((tile, bank)) {
            bank.used = now;
        }
    }

    /// Where a set that is not there goes: where nothing is, or where what was used least lately is.
    pub fn place(&self) -> Place {
        if self.tiles.len() < self.most {
            return Place::Fresh { tile: self.tiles.len() };
        }
        let banks = self.tiles.iter().enumerate().flat_map(|(tile, at)| {
            at.banks.iter().enumerate().filter_map(move |(bank, own)| {
                let beside = at.banks.get(1 - bank)?.as_ref();
                Some((own.map_or(0, |own| 1 + own.used), beside.is_some(), tile, bank))
            })
        });
        match banks.min_by_key(|(used, ..)| *used) {
            Some((_, true, tile, bank)) => Place::Beside { tile, runs: 1 - bank },
            // There is nothing in the other bank that could run: whichever it goes to was empty.
            Some((.., tile, _)) => Place::Fresh { tile },
            None => Place::Fresh { tile: 0 },
        }
    }

    /// A set goes to the bank of a tile that does not run.
    pub fn load(&mut self, tile: usize, set: usize, now: u64) -> usize {
        while self.tiles.len() <= tile {
            self.tiles.push(Tile::default());
        }
        let Some(at) = self.tiles.get_mut(tile) else { return 0 };
        let bank = 1 - at.running.min(1);
        if let Some(place) = at.banks.get_mut(bank) {
            *place = Some(Bank { set, key: None, used: now });
        }
        bank
    }

    /// A set is not there after all.
    pub fn empty(&mut self, (tile, bank): (usize, usize), set: usize) {
        let place = self.tiles.get_mut(tile).and_then(|at| at.banks.get_mut(bank));
        if let Some(place) = place.filter(|place| place.is_some_and(|own| own.set == set)) {
            *place = None;
        }
    }

    /// There is no such tile.
    pub fn without(&mut self, tile: usize) {
        self.most = self.most.min(tile.max(1));
        self.tiles.truncate(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_go_where_nothing_is_and_then_where_what_was_used_least_lately_is() {
        let mut slot = Slot::new();
        for set in 0..3 {
            assert_eq!(slot.place(), Place::Fresh { tile: set });
            let bank = slot.load(set, set, set as u64);
            slot.runs((set, bank), set as u64);
        }
        // The third load was refused.
        slot.without(2);
        assert_eq!(slot.find(2), None);
        assert_eq!(slot.place(), Place::Beside { tile: 0, runs: 1 });
        slot.load(0, 2, 10);
        assert_eq!(slot.find(2), Some((0, 0)));
        slot.runs((0, 0), 11);
        assert_eq!(slot.place(), Place::Beside { tile: 1, runs: 1 });
        slot.load(1, 3, 12);
        // All are full: the oldest one is that of tile 0, bank 1, and its other bank runs when it is overwritten.
        assert_eq!(slot.place(), Place::Beside { tile: 0, runs: 0 });
        assert_eq!(slot.load(0, 4, 13), 1);
        assert_eq!(slot.find(0), None);
    }

    #[test]
    fn what_is_alone_in_its_tile_stays_when_another_one_comes() {
        let mut slot = Slot::new();
        slot.without(1);
        slot.load(0, 0, 1);
        // It has not run yet, and has to before something is loaded beside it.
        assert_eq!(slot.place(), Place::Beside { tile: 0, runs: 1 });
    }
}
