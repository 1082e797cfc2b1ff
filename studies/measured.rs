// SPDX-License-Identifier: Apache-2.0
//! What the studies need of this machine's software, wall time: measured once by `ace bench study` and put into
//! studies/software.json, from which pages are rendered; or measured now, for `ace study --measure`.

use std::time::Duration;

use ace_bench::share::{Pair, pairs};
use ace_engine::Algorithm;
use ace_engine::measure::{CipherSpeed, cipher_speed};
use serde::{Deserialize, Serialize};

use crate::error::{Context, Result};
use crate::idea_2004::software::{self, Speed};

/// Where the measurement stands that pages are rendered from.
const FILE: &str = "studies/software.json";
/// Ciphers that the studies ask about, and the bytes of their keys.
const CIPHERS: [(&str, usize); 7] =
    [("aes", 16), ("mars", 16), ("rc6", 16), ("serpent", 16), ("twofish", 16), ("idea", 16), ("3des", 24)];
/// Bytes of the packet that Amdahl's formula is asked about, as `ace bench dataplane` measures it.
pub const PACKET: usize = 1424;
/// The suite of that packet.
const SUITE: (&str, &str) = ("3des-cbc", "hmac-sha1-96");

/// When, where and how something was measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Recorded {
    /// The day, as ISO 8601 has it.
    pub date: String,
    /// Its processor and how many.
    pub machine: String,
    /// What measured it.
    pub command: String,
}

impl Recorded {
    /// How a page says it.
    pub fn about(&self) -> String {
        format!("{}, {}, `{}`", self.date, self.machine, self.command)
    }
}

/// A results file, as `python -m ace_flow measure` writes it.
#[derive(Deserialize)]
pub(crate) struct File<T> {
    pub recorded: Recorded,
    pub values: T,
}

/// A cipher in software, wall time.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Cipher {
    /// As ACE calls it.
    pub algorithm: String,
    /// Of its key.
    pub key_bytes: usize,
    /// CBC encryption, Mb/s: a block after the other.
    pub feedback_mbps: f64,
    /// ECB encryption, Mb/s: as many blocks at a time as the implementation likes.
    pub parallel_mbps: f64,
    /// From the key to the expanded key, µs.
    pub setup_us: f64,
    /// One block in CBC, µs.
    pub block_us: f64,
}

/// All that was measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Values {
    /// The CPU engine's ciphers.
    pub ciphers: Vec<Cipher>,
    /// IDEA as the paper of 2004 has it.
    pub(crate) idea: Vec<Speed>,
    /// Sealing with 3DES, and the cipher of it.
    pub sealing: Vec<Pair>,
}

/// What was measured, and if not now, when and where.
#[derive(Clone, Debug, Serialize)]
pub struct Software {
    /// Nothing, if it was measured in this run.
    pub recorded: Option<Recorded>,
    /// The figures.
    #[serde(flatten)]
    pub values: Values,
}

impl Software {
    /// As it stands in the repository.
    ///
    /// # Errors
    /// The file is not what it should be: a fault of this repository.
    pub fn recorded() -> Result<Self> {
        let file: File<Values> = serde_json::from_str(include_str!("software.json"))
            .with_context(|| format!("{FILE}: write it anew with python -m ace_flow measure {FILE}"))?;
        Ok(Self { recorded: Some(file.recorded), values: file.values })
    }

    /// Measured now, so many seconds for each.
    ///
    /// # Errors
    /// The CPU engine does not have a cipher that it should have.
    pub fn measure(seconds: f64) -> Result<Self> {
        Ok(Self { recorded: None, values: Values::measure(seconds)? })
    }

    /// A cipher.
    ///
    /// # Errors
    /// It was not measured.
    pub fn cipher(&self, name: &str) -> Result<&Cipher> {
        self.values
            .ciphers
            .iter()
            .find(|cipher| cipher.algorithm == name)
            .with_context(|| format!("{FILE}: there is no `{name}`"))
    }

    /// How a page says where software's figures are from.
    pub fn about(&self) -> String {
        match &self.recorded {
            Some(recorded) => format!("wall time, measured {}", recorded.about()),
            None => "wall time, measured in this run".into(),
        }
    }
}

impl Values {
    /// Measures all, so many seconds for each.
    ///
    /// # Errors
    /// The CPU engine does not have a cipher that it should have.
    pub fn measure(seconds: f64) -> Result<Self> {
        let budget = Duration::from_secs_f64(seconds);
        let ciphers = CIPHERS.iter().map(|&(name, key)| {
            let speed = Algorithm::by_name(name).and_then(|a| cipher_speed(a, key, budget));
            let CipherSpeed { feedback_mbps, parallel_mbps, key_setup, block } =
                speed.with_context(|| format!("the CPU engine has no {name}"))?;
            Ok(Cipher {
                algorithm: name.into(),
                key_bytes: key,
                feedback_mbps,
                parallel_mbps,
                setup_us: key_setup.as_secs_f64() * 1e6,
                block_us: block.as_secs_f64() * 1e6,
            })
        });
        let tdes = Algorithm::by_name("3des").context("there is no 3DES")?;
        Ok(Self {
            ciphers: ciphers.collect::<Result<_>>()?,
            idea: software::measure(budget),
            sealing: pairs(SUITE, tdes, 24, PACKET, seconds)?,
        })
    }
}

/// The least, the middle and the greatest of some figures; nothing of none.
pub fn spread(values: impl IntoIterator<Item = f64>) -> Option<[f64; 3]> {
    let mut all: Vec<f64> = values.into_iter().collect();
    all.sort_by(f64::total_cmp);
    Some([*all.first()?, *all.get(all.len() / 2)?, *all.last()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_has_everything_that_is_measured() {
        let (recorded, now) = (Software::recorded().unwrap(), Software::measure(0.001).unwrap());
        for cipher in &now.values.ciphers {
            assert!(recorded.cipher(&cipher.algorithm).is_ok());
        }
        assert_eq!(recorded.values.idea.len(), now.values.idea.len());
        assert!(recorded.about().contains("measured 20") && now.about().contains("this run"));
        assert!(recorded.cipher("rot13").is_err());
    }

    #[test]
    fn a_spread_is_least_middle_and_greatest() {
        assert_eq!(spread([3.0, 1.0, 2.0]), Some([1.0, 2.0, 3.0]));
        assert_eq!(spread([]), None);
    }
}
