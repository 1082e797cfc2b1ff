// SPDX-License-Identifier: Apache-2.0
//! What a stated processor takes for operations: measured here (`ace bench profile`), or taken from somewhere
//! (`studies/processors`).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::algorithm::ALGORITHMS;
use crate::need::Need;

/// A processor. What has no rate here, it is not asked to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// As reports name it: `Cortex-A53, 1200 MHz`.
    pub name: String,
    /// Where the figures come from.
    pub source: String,
    /// What it can do, a row for each algorithm.
    pub rate: Vec<Rate>,
}

/// An algorithm on one core: CBC encryption of a cipher, HMAC of a hash ([`Need::stated`]).
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// As in SA files: `aes`, `sha1`.
    pub algorithm: String,
    /// Bits of the key; none of a hash, and where the source does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<usize>,
    /// 10^6 bits a second.
    pub mbps: f64,
    /// What an operation costs besides its bytes; 0 where the source has no figure.
    #[serde(default)]
    pub fixed_ns: f64,
}

/// What is wrong with a processor's figures.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProfileError {
    /// A rate or a cost beyond what a processor can have.
    #[error("`{0}`: mbps must be 0.1 to 1e7 and fixed_ns 0 to 1e9")]
    Impossible(String),
    /// Nothing would ever ask for it.
    #[error("`algorithm` of [[rate]]: there is no `{name}`; there are {}", names().join(", "))]
    Unknown {
        /// What the file names.
        name: String,
    },
    /// Only one of them could count.
    #[error("[[rate]]: `{0}` has two rows; leave one")]
    Twice(String),
}

fn names() -> Vec<&'static str> {
    ALGORITHMS.iter().map(|algorithm| algorithm.name).collect()
}

impl Processor {
    /// What is wrong with the figures, if anything is.
    ///
    /// # Errors
    /// A rate or a cost beyond what a processor can have, an algorithm that there is not, or one with two rows.
    pub fn check(&self) -> Result<(), ProfileError> {
        let names = names();
        for (at, Rate { algorithm, mbps, fixed_ns, .. }) in self.rate.iter().enumerate() {
            if !names.contains(&algorithm.as_str()) {
                return Err(ProfileError::Unknown { name: algorithm.clone() });
            }
            if self.rate[..at].iter().any(|before| before.algorithm == *algorithm) {
                return Err(ProfileError::Twice(algorithm.clone()));
            }
            if !(0.1..=1e7).contains(mbps) || !(0.0..=1e9).contains(fixed_ns) {
                return Err(ProfileError::Impossible(algorithm.clone()));
            }
        }
        Ok(())
    }

    /// Nanoseconds for `bytes` of data, if the processor has a figure for what is needed.
    pub fn time_ns(&self, need: &Need, bytes: usize) -> Option<f64> {
        let name = need.algorithm()?.name;
        let rate = self.rate.iter().find(|r| r.algorithm == name)?;
        Some(bytes as f64 * 8000.0 / rate.mbps + rate.fixed_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{DES, SHA1};

    #[test]
    fn unknown_cells_stay_empty() {
        let rate = Rate { algorithm: "des".into(), key_bits: Some(64), mbps: 40.0, fixed_ns: 500.0 };
        let mut it = Processor { name: "x".into(), source: "y".into(), rate: vec![rate] };
        let des = Need::Hmac { algorithm: &DES };
        assert_eq!(it.time_ns(&des, 1000), Some(200_500.0));
        assert_eq!(it.time_ns(&Need::Hmac { algorithm: &SHA1 }, 1000), None);
        assert_eq!(it.check(), Ok(()));
        it.rate[0].mbps = 0.0;
        assert!(it.check().unwrap_err().to_string().contains("`des`"));
        it.rate[0].mbps = f64::NAN;
        assert!(it.check().is_err());
        it.rate[0] = Rate { algorithm: "des".into(), key_bits: None, mbps: 1.0, fixed_ns: f64::INFINITY };
        assert!(it.check().is_err());
    }

    #[test]
    fn what_nobody_would_ask_for_is_refused() {
        let rate = |name: &str| Rate { algorithm: name.into(), key_bits: None, mbps: 40.0, fixed_ns: 0.0 };
        let check = |names: &[&str]| {
            let rate = names.iter().map(|name| rate(name)).collect();
            Processor { name: "x".into(), source: "y".into(), rate }.check().map_err(|why| why.to_string())
        };
        assert_eq!(check(&["des", "sha1"]), Ok(()));
        // Another name of `3des` is none that a row could have been found by.
        for unknown in ["dess", "tdes"] {
            let why = check(&["des", unknown]).unwrap_err();
            assert!(why.contains(&format!("no `{unknown}`")) && why.contains("3des, "), "{why}");
        }
        assert!(check(&["des", "des"]).unwrap_err().contains("`des` has two rows"));
    }
}
