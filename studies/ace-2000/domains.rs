// SPDX-License-Identifier: Apache-2.0
//! Tables 3 and 4 in the paper's own rows, one bitstream a finalist, and one dictionary for all of them, which the paper
//! left to future work.

use ace_report::{Page, say};
use serde::{Deserialize, Serialize};

use super::compression::{Published, Sizes, Ways, data, print_ways, redundancy};
use super::scheme;
use crate::built::Image;
use crate::marks::{By, Mark, heads, range};

/// Each finalist's bitstream in the paper's three ways, and all of them under one dictionary.
#[derive(Clone, Deserialize, Serialize)]
pub struct Domains {
    /// Each bitstream with its own dictionary.
    pub alone: Vec<Way>,
    /// All, one behind the other, with one.
    pub together: Way,
}

/// A bitstream, or several of them one behind the other.
#[derive(Clone, Deserialize, Serialize)]
pub struct Way {
    name: String,
    bits: u64,
    lzw: Sizes,
    phase1: Sizes,
    phase2: Sizes,
    /// Codewords of phase II.
    codewords: u64,
}

impl Way {
    fn of(name: String, data: &[u8]) -> Self {
        let scheme = scheme::compress(data);
        let [lzw, phase1, phase2] =
            [&scheme.lzw, &scheme.phase1, &scheme.phase2].map(|way| Sizes::of(way, data.len()));
        let codewords = scheme.phase2.codewords() as u64;
        Self { name, bits: 8 * data.len() as u64, lzw, phase1, phase2, codewords }
    }

    /// Memory reads that a byte takes: a node for each, and the codewords.
    pub fn reads_a_byte(&self) -> f64 {
        1.0 + 8.0 * self.codewords as f64 / self.bits.max(1) as f64
    }

    fn row(&self) -> Ways<'_> {
        (&self.name, self.bits, redundancy(&self.lzw, self.bits), [self.lzw, self.phase1, self.phase2])
    }
}

/// Compresses each for itself and all together.
pub fn domains(images: &[Image]) -> Domains {
    let all: Vec<Vec<u8>> = images.iter().map(|image| data(&image.memory)).collect();
    let alone = images.iter().zip(&all).map(|(image, data)| Way::of(image.name.clone(), data)).collect();
    Domains { alone, together: Way::of(format!("all {} under one dictionary", all.len()), &all.concat()) }
}

impl Domains {
    /// Bits of index and dictionary of each alone, summed, by way.
    fn apart(&self) -> [Sizes; 3] {
        [|w: &Way| w.lzw, |w: &Way| w.phase1, |w: &Way| w.phase2].map(|way| {
            let sum = |of: fn(&Sizes) -> u64| self.alone.iter().map(|w| of(&way(w))).sum::<u64>();
            let (index, dictionary) = (sum(|s| s.index), sum(|s| s.dictionary));
            Sizes {
                index,
                dictionary,
                percent: 100.0 * (index + dictionary) as f64 / self.bits().max(1) as f64,
            }
        })
    }

    fn bits(&self) -> u64 {
        self.alone.iter().map(|w| w.bits).sum()
    }

    /// Percent that one dictionary saves of phase II; negative if it costs.
    pub fn saved(&self) -> f64 {
        let apart = self.apart()[2];
        let together = self.together.phase2;
        100.0
            * (1.0 - (together.index + together.dictionary) as f64 / (apart.index + apart.dictionary) as f64)
    }

    /// Redundancy factors of ours.
    pub fn redundancies(&self) -> Vec<f64> {
        self.alone.iter().map(|w| redundancy(&w.lzw, w.bits)).collect()
    }

    /// Percents of phase II.
    pub fn phase2(&self) -> Vec<f64> {
        self.alone.iter().map(|w| w.phase2.percent).collect()
    }
}

/// Percents of the paper that do not follow from the sizes beside them: name, way, printed, and what would follow.
pub fn slips(published: &[Published]) -> Vec<(&str, &'static str, f64, f64)> {
    let of = |p: &Published| {
        [("LZW", p.lzw), ("phase I", p.phase1), ("phase II", p.phase2)]
            .map(|(way, s)| (way, s.percent, 100.0 * (s.index + s.dictionary) as f64 / p.bits as f64))
    };
    let all =
        published.iter().flat_map(|p| of(p).map(|(way, stated, is)| (p.name.as_str(), way, stated, is)));
    all.filter(|(.., stated, is)| (stated - is).abs() > 0.1).collect()
}

pub fn print(page: &mut Page, published: &[Published], ours: &Domains) {
    let bits = Mark::Measured(By::Bits);
    let theirs: Vec<Ways<'_>> =
        published.iter().map(|p| (&*p.name, p.bits, p.redundancy, [p.lzw, p.phase1, p.phase2])).collect();
    print_ways(page, &Mark::Published.head("Tables 3 and 4: Virtex bitstreams, sizes in bits"), &theirs);
    let slips: Vec<String> = slips(published)
        .into_iter()
        .map(|(name, way, stated, is)| {
            format!("{way} of {name} {stated:.2} there, {is:.2} from the sizes beside it")
        })
        .collect();
    say!(page, "\nPercents that do not follow in the paper: {}.\n", slips.join("; "));
    let (apart, mut rows) = (ours.apart(), ours.alone.iter().map(Way::row).collect::<Vec<_>>());
    rows.push(("all, each with its own dictionary", ours.bits(), redundancy(&apart[0], ours.bits()), apart));
    rows.push(ours.together.row());
    print_ways(page, &bits.head("The same with ours: frames and block RAM contents of ECP5 images"), &rows);
    say!(
        page,
        "\nThe redundancy factor is LZW's index over the bitstream: {} in the paper, {} here. Our images fill a small part of \
         their device, so that most of a bitstream is empty: percents here and there do not compare. Denser images and every \
         configuration are in [docs/library-tables.md](../../docs/library-tables.md).\n",
        range(published.iter().map(|p| p.redundancy), 2),
        range(ours.redundancies(), 2)
    );
    say!(page, "### One dictionary for all domains (section 6, future work)\n");
    let columns = [("own dictionaries, bits", bits), ("one dictionary, bits", bits), ("saved %", bits)];
    say!(page, "{}", heads(&["way"], &columns));
    let together = [ours.together.lzw, ours.together.phase1, ours.together.phase2];
    for ((way, apart), one) in ["LZW", "phase I", "phase II"].iter().zip(apart).zip(together) {
        let [apart, one] = [apart, one].map(|s| s.index + s.dictionary);
        let saved = 100.0 * (1.0 - one as f64 / apart.max(1) as f64);
        say!(page, "| {way} | {apart} | {one} | {saved:.1} |");
    }
    say!(
        page,
        "\nThe paper's own scheme on the five bitstreams, one behind the other. A phrase that two ciphers share stands once, and \
         every pointer gets longer because the dictionary does.\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_stands_once() {
        let same = |name: &str| Way::of(name.into(), &[7, 1, 7, 2].repeat(64));
        let both = Way::of("both".into(), &[7, 1, 7, 2].repeat(128));
        let shared = Domains { alone: vec![same("a"), same("b")], together: both };
        assert!(shared.saved() > 10.0, "{}", shared.saved());
        let apart = shared.apart()[2];
        let one = shared.alone[0].phase2;
        assert_eq!((apart.index, apart.dictionary), (2 * one.index, 2 * one.dictionary));
        assert!((apart.percent - one.percent).abs() < 1e-9);
    }

    #[test]
    fn the_papers_slips_are_the_two_of_lzw() {
        let published = super::super::figures().unwrap().compressed;
        let found: Vec<_> = slips(&published).into_iter().map(|(name, way, ..)| (name, way)).collect();
        assert_eq!(found, [("RC6", "LZW"), ("Serpent", "LZW")]);
    }
}
