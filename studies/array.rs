// SPDX-License-Identifier: Apache-2.0
//! Our array as studies state it: the sets that are built, what the RTL of its slot takes, and its overhead strictly in
//! order. What two pages say of it comes from here.

use ace_array::schedule::Effort;
use ace_array::set::LANES;
use ace_array::shape::{Kind, Shape};
use ace_array::{Compiled, Named, algorithms, compile};
use ace_board::BoardConfig;
use ace_board::array::{Rates, clock, rates, routed};
use ace_board::config::hz;
use ace_schedule::in_order::{InOrder, in_order};
use serde::Serialize;

use crate::error::{Context, Result};

/// Packets side by side at which rates are stated: one, as many as lanes, and enough to keep them at work.
pub(crate) const IN_FLIGHT: [usize; 3] = [1, 16, 64];

/// A variant's sets.
#[derive(Clone, Serialize)]
pub struct OnArray {
    pub variant: String,
    pub contexts: usize,
    pub used: Used,
    /// By [`IN_FLIGHT`].
    pub rates: Vec<Rate>,
    pub set: Load,
    /// Of the expanded key, which the host sends with a frame of its own.
    pub key_words: u16,
    pub key_us: f64,
    /// The set that expands keys on the array, where there is one.
    pub keys: Option<Load>,
}

/// Elements at work in the context that has most of them, in all contexts together, and memories that hold something.
#[derive(Clone, Copy, Serialize)]
pub struct Used {
    pub most: usize,
    pub all: usize,
    pub memories: usize,
}

/// Of whole frames in the RTL of the slot.
#[derive(Clone, Serialize)]
pub struct Rate {
    pub in_flight: usize,
    /// The faster of the variant's two sets.
    pub set: String,
    pub mbps: f64,
}

#[derive(Clone, Copy, Serialize)]
pub struct Load {
    pub bits: usize,
    /// On the default board, with nobody else on host and link.
    pub us: f64,
    /// Of it the slot's own clocks, however the set comes to it.
    pub slot_us: f64,
}

/// The slot, and what was measured of it.
pub struct Tile {
    pub mhz: f64,
    pub tiles: usize,
    /// Of each tile, as lanes are.
    pub ways: usize,
    pub lanes: usize,
    rates: Rates,
    shape: Shape,
    board: BoardConfig,
}

impl Tile {
    /// As array/ has it.
    pub fn read() -> Result<Self> {
        let rates = rates().context("array/")?;
        let routed = routed().context("array/")?;
        let mhz = clock(&routed, &rates).context("array/")?;
        let (shape, board) = (Shape::standard(), BoardConfig::default());
        Ok(Self { mhz, tiles: rates.tiles, ways: rates.ways, lanes: rates.lanes, rates, shape, board })
    }

    /// Bytes of the frames that were measured.
    pub fn frame_bytes(&self) -> usize {
        self.rates.bytes
    }

    /// Of a bank.
    pub fn contexts(&self) -> usize {
        self.shape.contexts
    }

    /// What computes in a way, a tile and the slot, in two sentences.
    pub fn elements(&self) -> String {
        let some = |count: usize, of: &str| format!("{count} {of}{}", if count == 1 { "" } else { "s" });
        let Shape { alus, rotators, quads, multipliers, .. } = self.shape;
        format!(
            "A way of a tile has {}, {}, {} of {LANES} look-ups and {}. A slot has {} of {} each.",
            some(alus, "ALU"),
            some(rotators, "rotator"),
            some(quads, "quad"),
            some(multipliers, "multiplier"),
            some(self.tiles, "tile"),
            some(self.ways, "way"),
        )
    }

    /// A variant with its sets.
    pub fn variant(&self, variant: &str) -> Result<OnArray> {
        let compiled = self.compiled(variant)?;
        let names = [variant.to_owned(), format!("{variant}_latency")];
        let mut of = Vec::new();
        for in_flight in IN_FLIGHT {
            let known = names.iter().filter_map(|name| {
                let mbps = self.rates.mbps(name, in_flight, self.mhz)?;
                Some(Rate { in_flight, set: name.clone(), mbps })
            });
            of.push(known.max_by(|a, b| a.mbps.total_cmp(&b.mbps)).with_context(|| {
                format!("array/rates.json: no {variant}; `python -m ace_flow array-rates --keep` measures it")
            })?);
        }
        let key_bytes = 4 * u64::from(compiled.set.key_words);
        let sets_up = Named::setups().find(|it| {
            it.setup.and_then(|setup| setup.served()).is_some_and(|s| s.variant(it.decrypt) == variant)
        });
        let keys = match sets_up {
            Some(named) => Some(self.load(&self.compiled(&named.variant)?)),
            None => None,
        };
        Ok(OnArray {
            variant: variant.into(),
            contexts: compiled.set.ii(),
            used: self.used(&compiled),
            rates: of,
            set: self.load(&compiled),
            key_words: compiled.set.key_words,
            key_us: if key_bytes > 0 { self.board.set_time(key_bytes, 0, 1) as f64 / 1e6 } else { 0.0 },
            keys,
        })
    }

    fn compiled(&self, variant: &str) -> Result<Compiled> {
        let named = Named::find(variant).with_context(|| format!("no set of the array is `{variant}`"))?;
        let file = named.setup.map_or(named.served.file, |setup| setup.file);
        let program = algorithms::program(file).context(variant)?;
        compile(&program, variant, &self.shape, Effort::default()).context(variant)
    }

    fn load(&self, compiled: &Compiled) -> Load {
        let (bytes, clocks) = (compiled.set.to_bytes().len(), compiled.set.load_clocks());
        let time = self.board.set_time(bytes as u64, clocks as u64, hz(self.mhz));
        Load { bits: 8 * bytes, us: time as f64 / 1e6, slot_us: clocks as f64 / self.mhz }
    }

    fn used(&self, compiled: &Compiled) -> Used {
        let (set, schedule) = (&compiled.set, &compiled.schedule);
        let computes = |kind| matches!(kind, Kind::Alu | Kind::Rotator | Kind::Quad | Kind::Multiplier);
        let mut at_work = vec![0; set.ii()];
        let mut quads = vec![false; self.shape.quads];
        for place in schedule.places.iter().flatten().filter(|place| computes(place.unit.kind)) {
            at_work[place.slot.rem_euclid(set.ii() as i64) as usize] += 1;
            if place.unit.kind == Kind::Quad {
                quads[place.unit.index] = true;
            }
        }
        let lanes = set.tables.iter().filter(|lane| lane.iter().any(|page| !page.is_empty())).count();
        let tables = quads.iter().filter(|quad| **quad).count() * lanes;
        let keep = (0..self.shape.memories).filter(|m| !schedule.stored(*m).is_empty()).count();
        let most = at_work.iter().copied().max().unwrap_or(0);
        Used { most, all: at_work.iter().sum(), memories: tables + keep }
    }
}

impl OnArray {
    /// Mb/s with so many packets side by side, one of [`IN_FLIGHT`].
    pub fn mbps(&self, in_flight: usize) -> f64 {
        self.rates.iter().find(|r| r.in_flight == in_flight).map_or(0.0, |r| r.mbps)
    }

    /// The set, and the one that expands keys where `keys`.
    pub fn loaded(&self, keys: bool) -> Load {
        match self.keys.filter(|_| keys) {
            Some(more) => Load {
                bits: self.set.bits + more.bits,
                us: self.set.us + more.us,
                slot_us: self.set.slot_us + more.slot_us,
            },
            None => self.set,
        }
    }
}

/// Tasks strictly in order on one unit: without and with double buffering, in percent.
#[derive(Clone, Copy, serde::Deserialize, Serialize)]
pub struct Overhead {
    /// Of the time, waited for loads, with one group and a load at every change of task.
    pub without: f64,
    /// The same with several groups.
    pub double: f64,
    /// Of the time of waiting without, what there is no waiting for with them.
    pub removed: f64,
    /// Tasks that found their configuration held.
    pub kept: f64,
}

impl Overhead {
    pub fn of(tasks: usize, without: &InOrder, double: &InOrder) -> Self {
        Self {
            without: 100.0 * without.overhead(),
            double: 100.0 * double.overhead(),
            removed: (100.0 - 100.0 * double.exposed() / without.exposed()).max(0.0),
            kept: 100.0 * (1.0 - double.loads as f64 / tasks.max(1) as f64),
        }
    }
}

/// Our array strictly in order: tasks, a variant and bytes each, one after the other with `in_flight` packets' rate, two banks.
/// The only figure of that name. In order one packet is in flight: the next task begins when this one has ended.
pub fn strictly_in_order(variants: &[OnArray], tasks: &[(usize, f64)], in_flight: usize) -> Overhead {
    let load: Vec<f64> = variants.iter().map(|it| it.set.us).collect();
    let time = |&(task, bytes): &(usize, f64)| (task, 8.0 * bytes / variants[task].mbps(in_flight).max(1e-9));
    let tasks: Vec<(usize, f64)> = tasks.iter().map(time).collect();
    let [without, double] =
        [(1, false), (2, true)].map(|(banks, ahead)| in_order(&tasks, &load, banks, ahead));
    Overhead::of(tasks.len(), &without, &double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_is_what_was_measured_and_what_the_board_takes() {
        let tile = Tile::read().unwrap();
        let aes = tile.variant("aes128_encrypt").unwrap();
        // Of two sets of a variant the faster one counts.
        let clocks = &rates().unwrap().clocks;
        let measured = clocks["aes128_encrypt"][&64].min(clocks["aes128_encrypt_latency"][&64]);
        let by_hand = 8.0 * 64.0 * tile.frame_bytes() as f64 * tile.mhz / measured as f64;
        assert!((aes.mbps(64) - by_hand).abs() < 1e-9 && aes.mbps(1) < aes.mbps(16));
        // Every place is in one context, and no element has two there; AES looks four tables up, and its memory stores a value.
        let Shape { alus, rotators, quads, multipliers, .. } = tile.shape;
        let elements = alus + rotators + quads + multipliers;
        assert!(aes.used.most <= elements && aes.used.all <= elements * aes.contexts);
        assert!((LANES * quads..=LANES * quads + tile.shape.memories).contains(&aes.used.memories));
        let keys = aes.keys.unwrap();
        assert_eq!(aes.loaded(true).bits, aes.set.bits + keys.bits);
        assert!(aes.loaded(false).us < aes.loaded(true).us);
        // A hash has no key that anybody expands; of its two sets the faster one counts.
        let sha1 = tile.variant("sha1").unwrap();
        assert!(sha1.keys.is_none() && sha1.key_words == 0);
        for (packets, rate) in IN_FLIGHT.iter().zip(&sha1.rates) {
            let faster = ["sha1", "sha1_latency"].into_iter().min_by_key(|set| clocks[*set][packets]);
            assert_eq!(Some(&*rate.set), faster, "{packets} packets");
        }
        assert!(tile.variant("rot13").is_err());
    }

    #[test]
    fn in_order_by_hand() {
        let tile = Tile::read().unwrap();
        let variants = ["aes128_encrypt", "md5"].map(|name| tile.variant(name).unwrap());
        // One packet each: both loads are waited for, the second one behind the first task where there are two banks.
        let found = strictly_in_order(&variants, &[(0, 1500.0), (1, 1500.0)], 1);
        let busy: f64 = variants.iter().map(|v| 12_000.0 / v.mbps(1)).sum();
        let loads: f64 = variants.iter().map(|v| v.set.us).sum();
        assert!((found.without - 100.0 * loads / (busy + loads)).abs() < 1e-9);
        let first = variants[0].set.us;
        assert!((found.double - 100.0 * first / (busy + first)).abs() < 1e-9);
        assert_eq!(found.kept, 0.0);
    }
}
