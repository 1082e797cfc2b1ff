// SPDX-License-Identifier: Apache-2.0
//! Which context sets there are: of every variant one for throughput, under the variant's name, and one for latency beside it
//! where a packet alone gains enough.

use crate::algorithms::{self, AEADS, KeySetup, SERVED, SETUPS, Served};
use crate::compile::{Compiled, compile};
use crate::error::Error;
use crate::frontend::Built;
use crate::ir::shape::Shape;
use crate::schedule::{Effort, Goal};

/// What the name of a second set ends with.
const SECOND: &str = "_latency";

/// What a set's name says.
#[derive(Clone)]
pub struct Named {
    /// The set's name.
    pub name: String,
    /// The variant that it computes.
    pub variant: String,
    /// Which frames it serves, or whose keys it sets up.
    pub served: &'static Served,
    /// Whether it serves frames that decrypt.
    pub decrypt: bool,
    /// What its schedule was made for.
    pub goal: Goal,
    /// It does not serve those frames, but sets the keys up for the set that does.
    pub setup: Option<&'static KeySetup>,
}

/// Whether a set for latency is kept beside the one for throughput: it takes at least a fifth fewer clocks for a block of a
/// packet alone.
pub fn pays(throughput: usize, latency: usize) -> bool {
    5 * latency <= 4 * throughput
}

/// Every variant that frames of a cipher's modes or of a hash can ask for, with the direction that it serves.
pub fn variants() -> impl Iterator<Item = (&'static Served, bool, String)> {
    both_ways(SERVED)
}

fn both_ways(served: &'static [Served]) -> impl Iterator<Item = (&'static Served, bool, String)> {
    served.iter().flat_map(|served| {
        let ways: &[bool] = if served.keys.is_empty() { &[false] } else { &[false, true] };
        ways.iter().map(move |decrypt| (served, *decrypt, served.variant(*decrypt)))
    })
}

impl Named {
    /// The set of every variant for throughput, AEADs' behind all others.
    pub fn first() -> impl Iterator<Item = Self> {
        let first = |(served, decrypt, variant): (_, _, String)| Self {
            name: variant.clone(),
            variant,
            served,
            decrypt,
            goal: Goal::Throughput,
            setup: None,
        };
        variants().chain(both_ways(AEADS)).map(first)
    }

    /// The sets that set keys up. Each is made for the least interval: what its load takes is more than its latency.
    pub fn setups() -> impl Iterator<Item = Self> {
        let ways = |setup: &'static KeySetup| {
            setup.served().map(|served| [(setup, served, false), (setup, served, true)])
        };
        SETUPS.iter().filter_map(ways).flatten().map(|(setup, served, decrypt)| {
            let name = setup.variant(decrypt);
            Self { variant: name.clone(), name, served, decrypt, goal: Goal::Throughput, setup: Some(setup) }
        })
    }

    /// The set that would have this name, whether it is kept or not.
    pub fn find(name: &str) -> Option<Self> {
        let of = |variant: &str| Self::first().find(|known| known.variant == variant);
        of(name)
            .or_else(|| Self::setups().find(|known| known.name == name))
            .or_else(|| Some(of(name.strip_suffix(SECOND)?)?.second()))
    }

    /// What the sources that this was built with say that the set computes.
    ///
    /// # Errors
    /// What is wrong with the source.
    pub fn built(&self) -> Result<Built, Error> {
        algorithms::program(self.setup.map_or(self.served.file, |setup| setup.file))?.build(&self.variant)
    }

    /// The set of the same variant for latency.
    pub fn second(&self) -> Self {
        Self { name: format!("{}{SECOND}", self.variant), goal: Goal::Latency, ..self.clone() }
    }

    /// The sets of this one's variant.
    ///
    /// # Errors
    /// Why the variant does not compile.
    pub fn sets(&self, shape: &Shape) -> Result<Vec<(Named, Compiled)>, Error> {
        let program = algorithms::program(self.setup.map_or(self.served.file, |setup| setup.file))?;
        let first = Named { name: self.variant.clone(), goal: Goal::Throughput, ..self.clone() };
        let many = compile(&program, &self.variant, shape, Effort::of(Goal::Throughput))?;
        if self.setup.is_some() {
            return Ok(vec![(first, many)]);
        }
        let few = match compile(&program, &self.variant, shape, Effort::of(Goal::Latency)) {
            Err(Error::Fit { .. }) => None,
            few => Some(few?).filter(|few| pays(many.set.dependent_interval(), few.set.dependent_interval())),
        };
        let second = few.map(|few| (self.second(), few));
        Ok([(first, many)].into_iter().chain(second).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_set_is_kept_where_a_packet_alone_gains_a_fifth() {
        assert!(pays(100, 80) && !pays(100, 81) && !pays(104, 84));
        let shape = Shape::standard();
        for (variant, wanted) in [("aes128_encrypt", 2), ("mars_encrypt", 2), ("sha1", 2), ("rc6_encrypt", 1)]
        {
            let sets = Named::find(variant).unwrap().sets(&shape).unwrap();
            assert_eq!(sets.len(), wanted, "{variant}");
            for (named, compiled) in &sets {
                let found = Named::find(&named.name).unwrap();
                assert_eq!((found.variant.as_str(), found.goal), (variant, compiled.goal));
                assert_eq!(
                    compiled.set.dependent_interval(),
                    compiled.schedule.dependent_interval(&compiled.graph)
                );
            }
            if let [(_, many), (_, few)] = &sets[..] {
                assert!(
                    many.set.ii() < few.set.ii()
                        && pays(many.set.dependent_interval(), few.set.dependent_interval())
                );
            }
        }
        assert!(Named::find("latency").is_none() && Named::find("aes128_latency").is_none());
    }
}
