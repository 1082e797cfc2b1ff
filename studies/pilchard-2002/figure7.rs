// SPDX-License-Identifier: Apache-2.0
//! Throughput against size: software, and an accelerator behind the block interface. Modelled time.

use ace_board::BoardConfig;
use serde::Serialize;

use ace_report::{Page, say, say_part};

/// Bytes of a word.
const WORD: usize = 8;
/// Words that a block brings besides its data: where to start; the first one three keys and a vector as well.
const START_WORDS: usize = 1;
const KEY_WORDS: usize = 4;
/// Sizes of the table: powers of two, and the one that the paper states.
const STATED: usize = 7168;
const LARGEST: usize = 65536;
/// So many bytes that a call costs nothing any more.
const ENDLESS: usize = 1 << 28;
/// The text's "approaches": so near, as a part of the whole.
const NEAR: f64 = 0.03;

/// A core as the state machine sees it.
#[derive(Clone, Serialize)]
pub struct Accelerator {
    pub name: String,
    /// Clocks of a word of 64 bits, and until the first is there.
    pub core_clocks: f64,
    pub first_clocks: f64,
    pub machine_mhz: f64,
    /// That are under way at a time.
    pub packets: usize,
}

impl Accelerator {
    /// One packet at a time, so many clocks a word.
    pub fn one(name: &str, core_clocks: f64, machine_mhz: f64) -> Self {
        Self { name: name.to_owned(), core_clocks, first_clocks: core_clocks, machine_mhz, packets: 1 }
    }
}

/// The host's way to it.
#[derive(Clone, Serialize)]
pub struct Interface {
    /// What a call costs the host, and a block besides its words.
    pub call_ns: f64,
    pub block_ns: f64,
    /// Moving a word.
    pub word_ns: f64,
    pub block_words: usize,
}

impl Interface {
    /// As a board's file has it; the host moves every word itself and pays for every block.
    pub fn of(board: &BoardConfig) -> Self {
        let words = usize::try_from(board.host.block_words).unwrap_or(usize::MAX);
        Self {
            call_ns: 0.0,
            block_ns: board.host.send_ns + board.host.notice_ns,
            word_ns: WORD as f64 * 8e3 / f64::from(board.host_link.width) / board.host_link.clock_mhz,
            block_words: if words == 0 { usize::MAX / WORD } else { words },
        }
    }

    /// Clocks of the machine in which the host reads a word at the fastest.
    fn read_clocks(&self, machine_mhz: f64) -> u64 {
        (self.word_ns * machine_mhz / 1e3).ceil().max(1.0) as u64
    }

    /// From the start's clock until the first read: rtl/block_port.sv.
    fn moment(&self, of: &Accelerator, words: u64) -> u64 {
        let behind = words.saturating_sub(1) as f64;
        let read = self.read_clocks(of.machine_mhz) as f64;
        (of.first_clocks + (behind * (of.core_clocks - read)).max(0.0)).ceil() as u64 + 2
    }

    /// Nanoseconds for as many operations on so many bytes as are under way at a time.
    pub fn time_ns(&self, of: &Accelerator, bytes: usize) -> f64 {
        let mut words = of.packets * bytes.div_ceil(WORD);
        let mut ns = self.call_ns + (of.packets * KEY_WORDS) as f64 * self.word_ns;
        while words > 0 {
            let block = words.min(self.block_words);
            let clocks = self.moment(of, block as u64) + block as u64 * self.read_clocks(of.machine_mhz);
            ns += self.block_ns
                + (block + of.packets * START_WORDS) as f64 * self.word_ns
                + clocks as f64 * 1e3 / of.machine_mhz;
            words -= block;
        }
        ns
    }

    /// Of the time in which a whole block is read, the part in which the core still works.
    pub fn overlap(&self, of: &Accelerator) -> f64 {
        let words = self.block_words as u64;
        let read = words * self.read_clocks(of.machine_mhz);
        let last = of.first_clocks + (words as f64 - 1.0) * of.core_clocks;
        (last - self.moment(of, words) as f64).max(0.0) / read as f64
    }
}

#[derive(Serialize)]
pub struct Software {
    pub name: String,
    pub mbps: f64,
    /// A third of its DES.
    pub inferred: bool,
}

/// The paper's host: one cost is solved from the one point that the text states, of every call or of every block; with all
/// else hidden behind the core, or with words and whole clocks as the model of the interface has them.
#[derive(Clone, Serialize)]
pub struct Fit {
    pub each: &'static str,
    curve: Curve,
    cost_us: f64,
    /// Mb/s at the stated size, of 64 KB, and without end.
    stated_mbps: f64,
    large_mbps: f64,
    limit_mbps: f64,
}

impl Fit {
    /// So that a core of `core_mhz`, a word of 64 bits a clock, under a machine of `machine_mhz` reaches `mbps` at `bytes`.
    pub fn of(host: &Interface, core_mhz: f64, machine_mhz: f64, bytes: usize, mbps: f64) -> [Self; 3] {
        let whole = Accelerator::one("the paper's", (machine_mhz / core_mhz).ceil(), machine_mhz);
        let exact = Accelerator::one("the paper's", machine_mhz / core_mhz, machine_mhz);
        let free = Interface { call_ns: 0.0, block_ns: 0.0, ..host.clone() };
        let hidden = Interface { word_ns: 0.0, block_words: usize::MAX / WORD, ..free.clone() };
        let missing = |at: &Interface, of: &Accelerator| bytes as f64 * 8e3 / mbps - at.time_ns(of, bytes);
        let (alone, call) = (missing(&hidden, &exact), missing(&free, &whole));
        let block = call / bytes.div_ceil(WORD * free.block_words) as f64;
        let fits = [
            ("call, all else hidden", alone, Interface { call_ns: alone, ..hidden }, exact),
            ("call", call, Interface { call_ns: call, ..free.clone() }, whole.clone()),
            ("block", block, Interface { block_ns: block, ..free }, whole),
        ];
        fits.map(|(each, cost, interface, accelerator)| {
            let name = format!("the paper's, a cost of every {each}");
            let curve = Curve::of(&Accelerator { name, ..accelerator }, &interface);
            Self {
                each,
                cost_us: cost / 1e3,
                stated_mbps: curve.mbps(bytes),
                large_mbps: curve.mbps(LARGEST),
                limit_mbps: curve.mbps(ENDLESS),
                curve,
            }
        })
    }

    /// Nanoseconds for so many bytes.
    pub fn time_ns(&self, bytes: usize) -> f64 {
        self.curve.interface.time_ns(&self.curve.accelerator, bytes)
    }

    /// Throughput against size.
    pub fn curve(&self) -> Curve {
        self.curve.clone()
    }

    /// Whether it is as the text says of larger and larger data.
    fn approaches(&self, core_mbps: f64) -> bool {
        self.limit_mbps >= core_mbps * (1.0 - NEAR)
    }
}

#[derive(Clone, Serialize)]
pub struct Curve {
    accelerator: Accelerator,
    interface: Interface,
}

impl Curve {
    pub fn of(accelerator: &Accelerator, interface: &Interface) -> Self {
        Self { accelerator: accelerator.clone(), interface: interface.clone() }
    }

    fn mbps(&self, bytes: usize) -> f64 {
        (self.accelerator.packets * bytes) as f64 * 8e3 / self.interface.time_ns(&self.accelerator, bytes)
    }
}

#[derive(Serialize)]
pub struct Figure7 {
    software: Vec<Software>,
    curves: Vec<Curve>,
    /// Bytes, and Mb/s of each curve.
    points: Vec<(usize, Vec<f64>)>,
    pub fits: [Fit; 3],
    /// The core's own throughput, which the text says is approached; its clock and the state machine's.
    pub core_mbps: f64,
    pub core_mhz: f64,
    pub machine_mhz: f64,
    /// Of each curve, for each software: from how many bytes on it is the faster one.
    crossovers: Vec<Vec<Option<usize>>>,
}

impl Figure7 {
    /// Fits that meet both statements of the text.
    pub fn both(&self) -> usize {
        self.fits.iter().filter(|fit| fit.approaches(self.core_mbps)).count()
    }

    pub fn of(
        software: Vec<Software>,
        curves: Vec<Curve>,
        fits: [Fit; 3],
        [core_mbps, core_mhz, machine_mhz]: [f64; 3],
    ) -> Self {
        let mut sizes: Vec<usize> = (3..=16).map(|n| 1 << n).chain([STATED]).collect();
        sizes.sort_unstable();
        let points =
            sizes.into_iter().map(|bytes| (bytes, curves.iter().map(|c| c.mbps(bytes)).collect())).collect();
        let from = |curve: &Curve, software: &Software| {
            // The last size at which it is not.
            let slower = (1..=LARGEST / WORD).rev().find(|words| curve.mbps(words * WORD) < software.mbps);
            match slower {
                Some(words) if words == LARGEST / WORD => None,
                Some(words) => Some((words + 1) * WORD),
                None => Some(WORD),
            }
        };
        let crossovers = curves.iter().map(|c| software.iter().map(|s| from(c, s)).collect()).collect();
        Self { software, curves, points, fits, core_mbps, core_mhz, machine_mhz, crossovers }
    }

    /// Where curve `curve` overtakes software `software`.
    pub fn crossover(&self, software: usize, curve: usize) -> Option<usize> {
        *self.crossovers.get(curve)?.get(software)?
    }

    /// Mb/s of a curve at one of the sizes.
    #[cfg(test)]
    pub fn at(&self, curve: usize, bytes: usize) -> Option<f64> {
        self.points.iter().find(|p| p.0 == bytes)?.1.get(curve).copied()
    }
}

pub fn print(page: &mut Page, figure: &Figure7, measured: &str) {
    say!(page, "## Figure 7: triple DES in CBC, Mb/s against size\n");
    say!(
        page,
        "Software (measured: wall clock), LibDES (paper), a third of DES for the VR5500; accelerators (predicted), the paper's with one cost (fitted).\n"
    );
    say_part!(page, "| bytes |");
    figure.software.iter().for_each(|s| say_part!(page, " {} |", s.name));
    figure.curves.iter().for_each(|c| say_part!(page, " {} |", c.accelerator.name));
    say!(page, "\n|--:|{}", "--:|".repeat(figure.software.len() + figure.curves.len()));
    for (bytes, mbps) in &figure.points {
        say_part!(page, "| {bytes} |");
        figure.software.iter().for_each(|s| say_part!(page, " {:.1} |", s.mbps));
        mbps.iter().for_each(|m| say_part!(page, " {m:.1} |"));
        say!(page);
    }
    say!(page, "\n| accelerator | block costs the host µs | crossover, bytes (predicted): {} |", {
        let names: Vec<&str> = figure.software.iter().map(|s| s.name.as_str()).collect();
        names.join(" | ")
    });
    say!(page, "|---|--:|{}", "--:|".repeat(figure.software.len()));
    for (curve, from) in figure.curves.iter().zip(&figure.crossovers) {
        say_part!(page, "| {} | {:.2} |", curve.accelerator.name, curve.interface.block_ns / 1e3);
        from.iter().for_each(|f| say_part!(page, " {} |", f.map_or("never".into(), |b| b.to_string())));
        say!(page);
    }
    print_fits(page, figure);
    say!(
        page,
        "\nSoftware: LibDES as the paper states it; this CPU: portable software, no call's cost, {}; the \
         small one is a third of its DES in the paper of 2006, which has no triple DES. Accelerators are a model: the interface of \
         studies/pilchard-2002/rtl/block_port.sv, the processor moving every word over 64 bits at 100 MHz and paying for every block. \
         Ours is board.toml's. With several packets at a \
         time a size is that of each, and they come in blocks together; the RTL of the interface carries one at a time.",
        measured
    );
}

/// Both fits, and what each of them misses of the text.
fn print_fits(page: &mut Page, figure: &Figure7) {
    let core = figure.core_mbps;
    say!(
        page,
        "\nThe paper states two things: over 120 Mb/s at {STATED} bytes, and that larger data approaches the core's {core:.2}.\n"
    );
    say!(
        page,
        "| the paper's host pays for every | µs (fitted) | Mb/s at {STATED} bytes (fitted) | at {LARGEST} (predicted) | without end (predicted) | approaches {core:.0} | overtakes LibDES from bytes (predicted) |"
    );
    say!(page, "|---|--:|--:|--:|--:|---|--:|");
    for (fit, from) in figure.fits.iter().zip(&figure.crossovers) {
        say!(
            page,
            "| {} | {:.2} | {:.1} | {:.1} | {:.1} | {} | {} |",
            fit.each,
            fit.cost_us,
            fit.stated_mbps,
            fit.large_mbps,
            fit.limit_mbps,
            if fit.approaches(core) { "yes" } else { "**no**" },
            from.first().copied().flatten().map_or("never".into(), |bytes| bytes.to_string())
        );
    }
    say!(
        page,
        "\nOne cost is solved from one point, so only the last four columns can be wrong. With words and whole clocks (a word of the core \
         takes {} of the state machine's) neither cost meets the second statement. With all else hidden behind the core, as the \
         paper's overlap means to have it, a cost of every call meets both.\n",
        (figure.machine_mhz / figure.core_mhz).ceil()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_block_is_the_interfaces() {
        let interface = Interface { call_ns: 0.0, block_ns: 1000.0, word_ns: 10.0, block_words: 248 };
        let core = Accelerator::one("x", 24.0, 50.0);
        // A word takes half a clock of the machine, and no read is faster than a clock.
        assert_eq!(interface.moment(&core, 248), 248 * 24 - 247 + 2);
        let block = 1000.0 + 249.0 * 10.0 + ((248 * 24 - 247 + 2 + 248) * 20) as f64;
        assert_eq!(interface.time_ns(&core, 1984), 40.0 + block);
        assert_eq!(interface.time_ns(&core, 2 * 1984), 40.0 + 2.0 * block);
        // A host that is slower than the core begins when the first word is done.
        let slow = Interface { word_ns: 1000.0, ..interface.clone() };
        assert_eq!(slow.moment(&core, 248), 24 + 2);
        assert!(interface.overlap(&core) > 0.98);
        // Two packets of 124 words are a block, with two keys and starts.
        let two = Accelerator { packets: 2, first_clocks: 40.0, ..core };
        assert_eq!(interface.moment(&two, 248), 40 + 247 * 23 + 2);
        let block = 1000.0 + 250.0 * 10.0 + ((40 + 247 * 23 + 2 + 248) * 20) as f64;
        assert_eq!(interface.time_ns(&two, 992), 80.0 + block);
    }
}
