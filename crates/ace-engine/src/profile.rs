// SPDX-License-Identifier: Apache-2.0
//! What a stated processor takes for operations: measured here (`ace bench profile`), or taken from somewhere
//! (`studies/processors`).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::need::Need;

/// A processor. What has no rate here, it is not asked to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// As reports name it: `Cortex-A53, 1200 MHz`.
    pub name: String,
    /// Where the figures come from.
    pub source: String,
    /// What it can do. Of several rows for one algorithm the first counts.
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

/// A rate or a cost beyond what a processor can have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{algorithm}`: mbps must be 0.1 to 1e7 and fixed_ns 0 to 1e9")]
pub struct ImpossibleRate {
    /// Whose rate it is.
    pub algorithm: String,
}

impl Processor {
    /// What is wrong with the figures, if anything is.
    ///
    /// # Errors
    /// A rate or a cost beyond what a processor can have.
    pub fn check(&self) -> Result<(), ImpossibleRate> {
        let right = |r: &Rate| (0.1..=1e7).contains(&r.mbps) && (0.0..=1e9).contains(&r.fixed_ns);
        match self.rate.iter().find(|r| !right(r)) {
            Some(r) => Err(ImpossibleRate { algorithm: r.algorithm.clone() }),
            None => Ok(()),
        }
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
}
