// SPDX-License-Identifier: Apache-2.0
//! What the paper leaves to its future: other algorithms in turns, sets that are hidden, a key of another size.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::library::load_times;
use crate::page::say;

/// Packets of four algorithms, where a set takes so many clocks.
#[derive(Deserialize, Serialize)]
pub struct Mix {
    pub set_clocks: u64,
    pub hits: u64,
    pub misses: u64,
    /// Clocks in which an execution waited for a set.
    pub waited: u64,
    pub sets: u64,
    pub words: u64,
    pub clocks: u64,
}

impl Mix {
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / (self.hits + self.misses) as f64
    }

    /// Of the clocks that sets took, those in which the core went on.
    fn hidden(&self) -> Option<f64> {
        let all = self.set_clocks * self.sets;
        (all > 0).then(|| 1.0 - self.waited as f64 / all as f64)
    }
}

/// The same packets, where a set takes what the load of its configuration does.
#[derive(Deserialize, Serialize)]
pub struct Loaded {
    /// Clocks of the machine, by configuration: as they were given to the simulation.
    pub sets: BTreeMap<String, u64>,
    mix: LoadedMix,
}

#[derive(Deserialize, Serialize)]
struct LoadedMix {
    waited: u64,
    sets: u64,
    words: u64,
    clocks: u64,
    /// Of all sets.
    taken: u64,
}

/// A complete set of one of the library's configurations, modelled.
#[derive(Serialize)]
pub struct Set {
    pub configuration: &'static str,
    port_bytes: usize,
    loader_clocks: u64,
    microseconds: f64,
    pub machine_clocks: u64,
}

/// What the unit is configured for in the packets of four algorithms, DES by the configuration of triple DES.
const CONFIGURATIONS: [&str; 3] = ["aes", "3des", "idea"];

/// From the library, each as it is loaded whole.
pub fn sets(machine_mhz: f64) -> Result<Vec<Set>> {
    let set = |configuration: &'static str| {
        let members = load_times(configuration)?;
        let found = members.iter().find(|member| member.name == configuration);
        let load = &found.with_context(|| format!("the library has no {configuration}"))?.whole;
        Ok(Set {
            configuration,
            port_bytes: load.port_bytes,
            loader_clocks: load.loader_clocks,
            microseconds: 1e3 * load.parallel_ms,
            machine_clocks: (1e3 * load.parallel_ms * machine_mhz).ceil() as u64,
        })
    };
    CONFIGURATIONS.into_iter().map(set).collect()
}

/// AES in the unit under a key of another size: clocks of the key and the first block behind it, when their microcode
/// has to be loaded and when it is there, and of a block behind these.
#[derive(Deserialize, Serialize)]
pub struct Keys {
    bits: u64,
    first: u64,
    again: u64,
    block: u64,
}

/// A way to another size of the key, modelled.
#[derive(Serialize)]
pub struct Change {
    way: String,
    port_bytes: usize,
    /// By the 8-bit port and by SPI.
    microseconds: [f64; 2],
    /// What one set of this kind takes at the machine's clock, by the 8-bit port.
    machine_clocks: Option<u64>,
}

/// From the library: a configuration as it is loaded over its next of kin, and whole.
pub fn changes(machine_mhz: Option<f64>) -> Result<Vec<Change>> {
    let members = load_times("aes")?;
    let member = members
        .iter()
        .find(|member| member.name.contains("256") && member.partial.is_some())
        .context("the library has no configuration of AES for keys of 256 bits that is a part of another")?;
    let change = |way: String, load: &crate::library::Load| Change {
        way,
        port_bytes: load.port_bytes,
        microseconds: [1e3 * load.parallel_ms, 1e3 * load.spi_ms],
        machine_clocks: machine_mhz.map(|mhz| (1e3 * load.parallel_ms * mhz).ceil() as u64),
    };
    let part =
        member.partial.iter().map(|load| change(format!("p-set: `{}`, its frames", member.name), load));
    let whole = change(format!("c-set: `{}` whole", member.name), &member.whole);
    Ok(part.chain([whole]).collect())
}

pub fn print(mix: &[Mix], machine_mhz: Option<f64>) {
    let of = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    say!("## Four algorithms in turns\n");
    say!(
        "| a set's clocks | sets | clocks waited for them | hidden % | residence table, hits | misses | hits % | clocks of all | kb/s at the machine's clock |"
    );
    say!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for m in mix {
        say!(
            "| {} | {} | {} | {} | {} | {} | {:.1} | {} | {} |",
            m.set_clocks,
            m.sets,
            m.waited,
            m.hidden().map_or("–".into(), |h| format!("{:.1}", 100.0 * h)),
            m.hits,
            m.misses,
            100.0 * m.hit_rate(),
            m.clocks,
            of(machine_mhz.map(|mhz| m.words as f64 * 32e3 * mhz / m.clocks as f64), 0)
        );
    }
    say!(
        "\nPackets of 40, 576 and 1500 bytes, 7 to 4 to 1, of AES-128, triple DES, DES and IDEA in any order (c/mix.c): a c-set where \
         the algorithm changes, the packet made ready in software meanwhile, a key, and an execution for each block. Clocks of the RTL; \
         what a set takes is given to the test bench.\n"
    );
}

/// The same with the library's loads.
pub fn print_loaded(sets: &Result<Vec<Set>, String>, loaded: Option<&Loaded>) {
    let (Ok(sets), Some(Loaded { sets: given, mix })) = (sets, loaded) else {
        say!("No library, or no machine that is placed and routed: no sets that take what loads do.\n");
        return;
    };
    say!(
        "| c-set | port bytes | clocks of the loader | µs | clocks of the machine | given to the simulation |"
    );
    say!("|---|--:|--:|--:|--:|--:|");
    for s in sets {
        say!(
            "| `{}` | {} | {} | {:.1} | {} | {} |",
            s.configuration,
            s.port_bytes,
            s.loader_clocks,
            s.microseconds,
            s.machine_clocks,
            given.get(s.configuration).map_or("–".into(), u64::to_string)
        );
    }
    let hidden = 100.0 * (1.0 - mix.waited as f64 / mix.taken as f64);
    say!(
        "\nThe same packets where each set takes what the load of its configuration does, by the library's exact clocks through loader and \
         port at the machine's clock: {} sets take {} clocks, executions wait for {} of them, {:.1} % are hidden; {} clocks for all, of \
         which sets are {:.1} %.\n",
        mix.sets,
        mix.taken,
        mix.waited,
        hidden,
        mix.clocks,
        100.0 * mix.waited as f64 / mix.clocks as f64
    );
}

pub fn print_changes(keys: &[Keys], changes: &Result<Vec<Change>, String>, machine_mhz: Option<f64>) {
    let of = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    say!("## Another size of the key\n");
    say!("| way | port bytes | µs by the 8-bit port | by SPI | clocks of the machine |");
    say!("|---|--:|--:|--:|--:|");
    for k in keys {
        let us = of(machine_mhz.map(|mhz| k.again as f64 / mhz), 2);
        say!(
            "| microcode alone, to {} bits: key and first block ({} clocks with a miss; {} for a block behind) | 0 | {us} | {us} | {} |",
            k.bits,
            k.first,
            k.block,
            k.again
        );
    }
    match changes {
        Ok(changes) => {
            for c in changes {
                say!(
                    "| {} | {} | {:.1} | {:.1} | {} |",
                    c.way,
                    c.port_bytes,
                    c.microseconds[0],
                    c.microseconds[1],
                    of(c.machine_clocks.map(|clocks| clocks as f64), 0)
                );
            }
            say!(
                "\nSets: modelled, with the library's loads through the loader and the configuration port of `board.toml`, or SPI at 60 MHz. \
                 The core of AES takes keys of all sizes: its microcode alone changes them."
            );
        }
        Err(why) => say!("\nNo library, so no sets: {why}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_is_what_was_not_hidden() {
        let mix = Mix { set_clocks: 100, hits: 19, misses: 1, waited: 250, sets: 10, words: 1, clocks: 2000 };
        assert_eq!(mix.hidden(), Some(0.75));
        assert_eq!(mix.hit_rate(), 0.95);
        assert_eq!(Mix { set_clocks: 0, ..mix }.hidden(), None);
    }

    #[test]
    fn sets_are_simulated_with_the_clocks_that_loads_take() {
        let study = super::super::study().unwrap();
        let loaded = study.programs.loaded.as_ref().unwrap();
        for Set { configuration, machine_clocks, .. } in study.sets.as_ref().unwrap() {
            // A library that was built anew may differ in a few frames' codes.
            let given = loaded.sets.get(*configuration).copied().unwrap_or(0);
            let near = given.abs_diff(*machine_clocks) * 100 < *machine_clocks;
            assert!(near, "{configuration}: {given}, {machine_clocks} now: run python -m ace_flow.molen");
        }
        let LoadedMix { waited, sets, taken, clocks, .. } = loaded.mix;
        assert!(sets > 40 && 0 < waited && waited < taken && taken < clocks + waited);
        let given: Vec<u64> = loaded.sets.values().copied().collect();
        assert!(taken >= sets * given.iter().min().unwrap() && taken <= sets * given.iter().max().unwrap());
    }

    #[test]
    fn a_part_is_less_than_the_whole() {
        let changes = changes(Some(50.0)).unwrap();
        assert_eq!(changes.len(), 2);
        assert!(changes[0].port_bytes * 10 < changes[1].port_bytes);
        for c in &changes {
            assert!(c.microseconds[0] < c.microseconds[1]);
            assert_eq!(c.machine_clocks, Some((c.microseconds[0] * 50.0).ceil() as u64));
        }
    }
}
