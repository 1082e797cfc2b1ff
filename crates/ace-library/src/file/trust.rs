// SPDX-License-Identifier: Apache-2.0
//! Who is trusted: a key, or so many of several, and what a library must be to be loaded.

use std::fmt;

use super::key::PublicKey;
use crate::error::KeyError;

/// The most keys that a set has, and signatures that a file carries.
pub const KEYS_MAX: usize = 16;

/// Keys of which so many have to have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySet {
    /// In order, each once.
    keys: Vec<PublicKey>,
    threshold: usize,
    oldest: u64,
}

impl KeySet {
    /// The keys that are compiled in.
    ///
    /// # Errors
    /// When what is compiled in is no set of keys.
    pub fn built_in() -> Result<Self, KeyError> {
        Self::parse(include_str!("../../trusted.keys"))
    }

    /// One key, which has to have signed.
    pub fn of(key: PublicKey) -> Self {
        Self { keys: vec![key], threshold: 1, oldest: 0 }
    }

    /// From the text of a file: the lines of public keys; `threshold N`, without which all have to sign; `oldest N`;
    /// comments after `#`.
    ///
    /// # Errors
    /// When a line is something else, a key is there twice, or the threshold is no number of them.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let wrong = |number: usize, why: &str| KeyError::Set { line: number + 1, why: why.to_owned() };
        let (mut keys, mut threshold, mut oldest) = (Vec::new(), None, None);
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let value = |name: &str| line.strip_prefix(name).map(|rest| rest.trim().parse::<u64>());
            if line.is_empty() {
                continue;
            }
            if let Some(value) = value("threshold ") {
                let value = value.ok().filter(|_| threshold.is_none());
                threshold =
                    Some((number, value.ok_or_else(|| wrong(number, "one number of keys is wanted"))?));
            } else if let Some(value) = value("oldest ") {
                let value = value.ok().filter(|_| oldest.is_none());
                oldest = Some(value.ok_or_else(|| wrong(number, "one version is wanted"))?);
            } else {
                let key = PublicKey::parse(line)?;
                if keys.contains(&key) {
                    return Err(wrong(number, "this key is there already"));
                }
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Err(KeyError::NoKey { wanted: "public" });
        }
        let (line, wanted) = threshold.unwrap_or((0, keys.len() as u64));
        let count = usize::try_from(wanted).ok().filter(|n| (1..=keys.len()).contains(n));
        let threshold = count.ok_or_else(|| wrong(line, "the threshold is no number of these keys"))?;
        if keys.len() > KEYS_MAX {
            return Err(wrong(line, "more than 16 keys"));
        }
        keys.sort_unstable_by_key(PublicKey::to_bytes);
        Ok(Self { keys, threshold, oldest: oldest.unwrap_or(0) })
    }

    /// One key alone; if it is one of these, of no older versions than they.
    pub fn alone(&self, key: PublicKey) -> Self {
        let oldest = if self.keys.contains(&key) { self.oldest } else { 0 };
        Self { keys: vec![key], threshold: 1, oldest }
    }

    /// The same keys, of which any one will do: for what is still to be signed.
    pub fn any(self) -> Self {
        Self { threshold: 1, ..self }
    }

    /// The keys, in order.
    pub fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    /// How many of them have to have signed.
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// The oldest version that is taken.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }
}

impl fmt::Display for KeySet {
    /// The fingerprints, `2 of` in front of them if two have to have signed.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.keys.len() > 1 {
            write!(f, "{} of ", self.threshold)?;
        }
        f.write_str(&fingerprints(&self.keys))
    }
}

/// Fingerprints with commas between them.
pub fn fingerprints(keys: &[PublicKey]) -> String {
    keys.iter().map(PublicKey::fingerprint).collect::<Vec<_>>().join(", ")
}

/// What a library must be to be loaded.
#[derive(Clone, Debug)]
pub struct Trust {
    /// Who must have signed it. `None` takes whoever signed or nobody: only for what is signed anew.
    pub keys: Option<KeySet>,
    /// The oldest version that is taken, if the keys do not say a newer one.
    pub required_version: u64,
}

impl Trust {
    /// Whatever there is, signed or not.
    pub const ANYBODY: Self = Self { keys: None, required_version: 0 };

    /// Whatever these keys have signed.
    pub fn signed_by(keys: impl Into<KeySet>) -> Self {
        Self { keys: Some(keys.into()), ..Self::ANYBODY }
    }
}

impl From<PublicKey> for KeySet {
    fn from(key: PublicKey) -> Self {
        Self::of(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SecretKey;

    fn key() -> PublicKey {
        SecretKey::generate().expect("random numbers").public()
    }

    #[test]
    fn the_keys_that_are_compiled_in_are_keys() {
        let built_in = KeySet::built_in().expect("they are keys");
        assert!(built_in.threshold() >= 1 && built_in.oldest() >= 7);
    }

    #[test]
    fn sets_say_what_is_wrong_with_them() {
        let (a, b) = (key(), key());
        let (one, two) = (a.to_text(), b.to_text());
        let set = |text: &str| KeySet::parse(text);
        assert_eq!(set(&one), Ok(KeySet::of(a)));
        let both = set(&format!("# who\n{two}\nthreshold 1 # either\n{one}oldest 9\n")).expect("a set");
        assert_eq!((both.threshold(), both.oldest(), both.keys().len()), (1, 9, 2));
        // Without a threshold all of them have to sign.
        assert_eq!(set(&format!("{one}{two}")).map(|set| set.threshold()), Ok(2));
        for (text, why) in [
            (format!("{one}{one}"), "line 2: this key is there already"),
            (format!("{one}threshold 0\n"), "line 2: the threshold is no number"),
            (format!("threshold 2\n{one}"), "line 1: the threshold is no number"),
            (format!("threshold 1\nthreshold 1\n{one}"), "line 2: one number of keys"),
            (format!("{one}oldest -1\n"), "line 2: one version"),
            (String::new(), "no public key"),
            ("threshold 1\n".to_owned(), "no public key"),
            (format!("{one}anything\n"), "no public key"),
            ((0..17).map(|_| key().to_text()).collect(), "more than 16 keys"),
        ] {
            let error = set(&text).expect_err(why).to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
