// SPDX-License-Identifier: Apache-2.0
//! What the paper leaves to its future: other algorithms in turns, sets that are hidden, a key of another size.

use crate::error::{Context, Result};
use serde::{Deserialize, Serialize};

use super::NoSets;

use ace_board::library::{Load, Member, domain};
use ace_library::Library;
use ace_report::{Page, say};

/// Packets of four algorithms, where a set takes so many clocks, or is carried out by the loader.
#[derive(Deserialize, Serialize)]
pub struct Mix {
    #[serde(default)]
    pub set_clocks: u64,
    pub hits: u64,
    pub misses: u64,
    /// Clocks in which an execution waited for a set.
    pub waited: u64,
    pub sets: u64,
    pub words: u64,
    pub clocks: u64,
    /// Clocks in which a set was under way.
    pub taken: u64,
    /// Partial sets alone.
    pub partial: u64,
    pub partial_waited: u64,
    pub partial_taken: u64,
    /// That the port was given, where there is one.
    pub port_bytes: u64,
}

impl Mix {
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / (self.hits + self.misses) as f64
    }

    /// Of the clocks that sets took, those in which the core went on.
    fn hidden(&self) -> Option<f64> {
        hidden(self.waited, self.taken)
    }
}

impl Loaded {
    /// Percent of the clocks that whole sets take in which the core goes on.
    pub fn hidden_percent(&self) -> Option<f64> {
        let mix = &self.mix;
        hidden(mix.waited - mix.partial_waited, mix.taken - mix.partial_taken).map(|part| 100.0 * part)
    }
}

fn hidden(waited: u64, taken: u64) -> Option<f64> {
    (taken > 0).then(|| 1.0 - waited as f64 / taken as f64)
}

/// Programs whose sets the loader's RTL carries out, beside the machine's, from the library's memory.
#[derive(Deserialize, Serialize)]
pub struct Loaded {
    /// The machine's clock in the simulation.
    machine_mhz: f64,
    /// Bytes between loader and port.
    buffer: u64,
    mix: Mix,
    pub size: Size,
    pub sets: Vec<Set>,
}

/// From a set to the end of the first block under a key of 256 bits.
#[derive(Deserialize, Serialize)]
pub struct Size {
    pub partial: u64,
    pub whole: u64,
}

/// A set by itself, with what is modelled of it everywhere else.
#[derive(Deserialize, Serialize)]
pub struct Set {
    pub name: String,
    pub over: Option<String>,
    port_bytes: u64,
    loader_clocks: u64,
    microseconds: f64,
    /// Of the machine, simulated.
    pub clocks: u64,
}

impl Set {
    /// Clocks of the machine, modelled: those of the loader or of the port, whichever takes longer.
    fn modelled(&self, machine_mhz: f64) -> u64 {
        (self.microseconds * machine_mhz).ceil() as u64
    }
}

/// SHA-1 of the text: clocks in C, with a block and with the text in an execution.
#[derive(Deserialize, Serialize)]
pub struct Sha1 {
    software: u64,
    block: u64,
    text: u64,
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

impl Keys {
    /// Of the key and the first block, when the microcode is there.
    pub fn clocks(&self) -> f64 {
        self.again as f64
    }
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
pub fn changes(library: &Library, machine_mhz: Option<f64>) -> Result<Vec<Change>> {
    let members: Vec<Member> = domain(library, "aes")?;
    let member = members
        .iter()
        .find(|member| member.name.contains("256") && member.partial.is_some())
        .context("the library has no configuration of AES for keys of 256 bits that is a part of another")?;
    let change = |way: String, load: &Load| Change {
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

pub fn print(page: &mut Page, mix: &[Mix], machine_mhz: Option<f64>) {
    let of = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    say!(page, "## Four algorithms in turns\n");
    say!(
        page,
        "| a set's clocks, given | sets | clocks waited for them (measured: RTL) | hidden % (measured: RTL) | residence table, hits (measured: RTL) | misses (measured: RTL) | hits % | clocks of all (measured: RTL) | kb/s at the machine's clock (measured: RTL) |"
    );
    say!(page, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for m in mix {
        say!(
            page,
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
        page,
        "\nPackets of 40, 576 and 1500 bytes, 7 to 4 to 1, of AES-128, triple DES, DES and IDEA in any order (c/mix.c): a set where \
         the algorithm changes (between DES and triple DES a p-set, otherwise a c-set), the packet made ready in software meanwhile, a \
         key, and an execution for each block. Clocks of the RTL; here what a set takes is given to the test bench.\n"
    );
}

/// The same with the library's loads, through the loader's RTL.
pub fn print_loaded(page: &mut Page, loaded: Option<&Loaded>) {
    let Some(Loaded { machine_mhz, buffer, mix, sets, .. }) = loaded else {
        say!(page, "No library: no sets that the loader carries out.\n");
        return;
    };
    say!(
        page,
        "| set | over | port bytes (measured: bits) | loader's clocks (predicted) | µs (predicted) | machine's clocks (predicted) | simulated (measured: RTL) |"
    );
    say!(page, "|---|---|--:|--:|--:|--:|--:|");
    for s in sets {
        say!(
            page,
            "| {} `{}` | {} | {} | {} | {:.1} | {} | {} |",
            if s.over.is_some() { "p-set" } else { "c-set" },
            s.name,
            s.over.as_ref().map_or("–".into(), |over| format!("`{over}`")),
            s.port_bytes,
            s.loader_clocks,
            s.microseconds,
            s.modelled(*machine_mhz),
            s.clocks
        );
    }
    say!(
        page,
        "\nSimulated: the loader's RTL (rtl/loader) beside the machine's, each at its clock (the machine at {machine_mhz:.1} MHz, loader \
         and port as `board.toml` says, {buffer} bytes between them), reads lists and streams in the library's memory while the core \
         goes on; the unit can do what the configuration can whose very bytes the port was given. Modelled: the loader or the port, \
         whichever takes longer, as for all loads.\n"
    );
    say!(
        page,
        "| the same packets, sets by the loader | sets | clocks they take (measured: RTL) | clocks waited for them (measured: RTL) | hidden % |"
    );
    say!(page, "|---|--:|--:|--:|--:|");
    let mut row = |what, sets: u64, taken: u64, waited: u64| {
        let hidden = hidden(waited, taken).map_or("–".into(), |h| format!("{:.1}", 100.0 * h));
        say!(page, "| {what} | {sets} | {taken} | {waited} | {hidden} |");
    };
    let Mix { sets, taken, waited, partial, partial_taken, partial_waited, .. } = *mix;
    row(
        "c-set, whole",
        sets.saturating_sub(partial),
        taken.saturating_sub(partial_taken),
        waited.saturating_sub(partial_waited),
    );
    row("p-set, between DES and triple DES", partial, partial_taken, partial_waited);
    row("all", sets, taken, waited);
    say!(
        page,
        "\n{} clocks for all packets, in {:.1} % of which an execution waits for a set; {} bytes to the port; {:.1} % hits of the residence \
         table.\n",
        mix.clocks,
        100.0 * waited as f64 / mix.clocks as f64,
        mix.port_bytes,
        100.0 * mix.hit_rate()
    );
}

pub fn print_sha1(page: &mut Page, sha1: &Sha1, text_bits: f64, machine_mhz: Option<f64>) {
    say!(page, "## A hash: SHA-1 of the same 4 KB\n");
    say!(page, "| form | clocks (measured: RTL) | × | kb/s at the machine's clock (measured: RTL) |");
    say!(page, "|---|--:|--:|--:|");
    for (form, clocks) in [
        ("software", sha1.software),
        ("a block of 64 bytes an execution", sha1.block),
        ("the text in one execution", sha1.text),
    ] {
        let kbps =
            machine_mhz.map_or("–".into(), |mhz| format!("{:.0}", text_bits * mhz * 1e3 / clocks as f64));
        say!(page, "| {form} | {clocks} | {:.1} | {kbps} |", sha1.software as f64 / clocks as f64);
    }
    say!(page);
}

pub fn print_changes(
    page: &mut Page,
    keys: &[Keys],
    changes: &Result<Vec<Change>, NoSets>,
    loaded: Option<&Loaded>,
    machine_mhz: Option<f64>,
) {
    let of = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    say!(page, "## Another size of the key\n");
    say!(
        page,
        "| way | port bytes (measured: bits) | µs by the 8-bit port | by SPI (predicted) | clocks of the machine |"
    );
    say!(page, "|---|--:|--:|--:|--:|");
    for k in keys {
        let us = of(machine_mhz.map(|mhz| k.again as f64 / mhz), 2);
        say!(
            page,
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
                    page,
                    "| {} | {} | {:.1} | {:.1} | {} |",
                    c.way,
                    c.port_bytes,
                    c.microseconds[0],
                    c.microseconds[1],
                    of(c.machine_clocks.map(|clocks| clocks as f64), 0)
                );
            }
            if let Some(Loaded { machine_mhz, size: Size { partial, whole }, .. }) = loaded {
                for (set, clocks) in [("p-set", partial), ("c-set", whole)] {
                    let us = *clocks as f64 / machine_mhz;
                    say!(
                        page,
                        "| {set} simulated: set, key and first block (c/size.c) | | {us:.1} | – | {clocks} |"
                    );
                }
            }
            say!(
                page,
                "\nSets: modelled, with the library's loads through the loader and the configuration port of `board.toml`, or SPI at 60 MHz. \
                 Simulated: by the \
                 loader's RTL. The core of AES takes keys of all sizes: its microcode alone changes them."
            );
        }
        Err(why) => say!(page, "\nNo library, so no sets: {why}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of the repository.
    fn library() -> Library {
        let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../library/ace.lib"));
        ace_library::file::read(path, &ace_library::Trust::ANYBODY).expect("the library").library
    }

    #[test]
    fn what_waited_is_what_was_not_hidden() {
        assert_eq!(hidden(250, 1000), Some(0.75));
        assert_eq!(hidden(0, 0), None);
    }

    #[test]
    fn sets_are_carried_out_in_what_is_modelled_of_loads() {
        let library = library();
        let study = super::super::study(Ok(&library)).unwrap();
        let loaded = study.programs.loaded.as_ref().unwrap();
        let whole = |name: &str| loaded.sets.iter().find(|s| s.name == name && s.over.is_none()).unwrap();
        for set in &loaded.sets {
            // Never earlier, but for clocks of whole picoseconds; later by what loader and port wait for one another.
            let modelled = set.modelled(loaded.machine_mhz);
            let likely = modelled - modelled / 1000 - 1..modelled + modelled / 4;
            assert!(likely.contains(&set.clocks), "{}: {modelled}", set.name);
            assert!(set.over.is_none() || set.clocks * 10 < whole(&set.name).clocks);
        }
        let Mix { waited, sets, taken, clocks, partial, partial_taken, partial_waited, .. } = loaded.mix;
        assert!(sets > 40 && partial > 2 && 0 < waited && waited < taken && taken < clocks + waited);
        assert!(partial_taken < taken && hidden(partial_waited, partial_taken) > hidden(waited, taken));
        let given = loaded.sets.iter().map(|s| s.clocks);
        assert!(taken >= sets * given.clone().min().unwrap() && taken <= sets * given.max().unwrap());
        assert!(loaded.size.partial * 10 < loaded.size.whole);
        // A library that was built anew may differ in a few frames' codes.
        for set in &loaded.sets {
            let member =
                |base: &str| domain(&library, base).ok()?.into_iter().find(|member| member.name == set.name);
            let known = set.over.as_deref().into_iter().chain(["3des", "aes", "idea"]).find_map(member);
            let bytes = match (known, &set.over) {
                (Some(member), Some(_)) => member.partial.unwrap().port_bytes as u64,
                (Some(member), None) => member.whole.port_bytes as u64,
                (None, _) => panic!("the library has no {}", set.name),
            };
            let near = bytes.abs_diff(set.port_bytes) * 20 < bytes;
            assert!(near, "{}: {bytes} bytes now: run python -m ace_flow molen", set.name);
        }
    }

    #[test]
    fn a_part_is_less_than_the_whole() {
        let changes = changes(&library(), Some(50.0)).unwrap();
        assert_eq!(changes.len(), 2);
        assert!(changes[0].port_bytes * 10 < changes[1].port_bytes);
        for c in &changes {
            assert!(c.microseconds[0] < c.microseconds[1]);
            assert_eq!(c.machine_clocks, Some((c.microseconds[0] * 50.0).ceil() as u64));
        }
    }
}
