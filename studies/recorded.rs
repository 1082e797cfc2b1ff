// SPDX-License-Identifier: Apache-2.0
//! Files of results that a command wrote: what was measured by wall clock, or needs models that are built.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Context, Result};

/// A file of results: when, where and by which command it was written, and of which files.
#[derive(Clone, Deserialize, Serialize)]
pub struct Recorded<T> {
    pub date: String,
    pub machine: String,
    pub command: String,
    /// SHA-256 of what it was made of, by path.
    pub inputs: BTreeMap<String, String>,
    #[serde(flatten)]
    pub values: T,
}

impl<T: for<'a> Deserialize<'a>> Recorded<T> {
    pub fn read(text: &str, file: &str) -> Result<Self> {
        serde_json::from_str(text).with_context(|| file.to_owned())
    }

    /// Inputs that are others now than when it was written. Of an `ace` that stands outside of its sources nothing is known.
    pub fn stale(&self) -> Vec<String> {
        self.stale_in(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("")))
    }

    fn stale_in(&self, root: &Path) -> Vec<String> {
        let other = |(path, digest): &(&String, &String)| {
            let bytes = ace_fs::read(&root.join(path)).ok();
            bytes.is_some_and(|bytes| hex::encode(Sha256::digest(&bytes)) != **digest)
        };
        self.inputs.iter().filter(other).map(|(path, _)| path.clone()).collect()
    }

    /// What a page says first of it when it is stale.
    pub fn warning(&self, file: &str) -> Option<String> {
        let stale = self.stale();
        (!stale.is_empty()).then(|| {
            format!(
                "**Stale:** {file} was written on {} of other {}; `{}` writes it anew.",
                self.date,
                stale.join(", "),
                self.command
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_changed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "a").unwrap();
        std::fs::write(folder.path().join("b"), "b").unwrap();
        let digest = |text: &str| hex::encode(Sha256::digest(text));
        let text = format!(
            r#"{{"date": "2026-01-01", "machine": "x", "command": "make it", "figure": 7,
                "inputs": {{"a": "{}", "b": "{}", "gone": "00"}}}}"#,
            digest("a"),
            digest("not b")
        );
        #[derive(Deserialize)]
        struct Figure {
            figure: u32,
        }
        let read = Recorded::<Figure>::read(&text, "x.json").unwrap();
        assert_eq!((read.values.figure, read.stale_in(folder.path())), (7, vec!["b".to_owned()]));
        assert!(Recorded::<Figure>::read("{}", "x.json").is_err_and(|e| e.to_string().contains("x.json")));
    }
}
