// SPDX-License-Identifier: Apache-2.0
//! Whose libraries are taken, chosen on the command line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ace_library::file::Guard;
use ace_library::{KeySet, Seen, Trust};
use anyhow::{Context, Result};
use zeroize::Zeroizing;

/// Names the file of the keys that are trusted.
const KEY: &str = "ACE_LIBRARY_KEY";
/// Says the same as `--allow-older`, where it is not empty.
const ALLOW_OLDER: &str = "ACE_LIBRARY_ALLOW_OLDER";

#[derive(clap::Args)]
pub struct TrustArgs {
    /// Public keys of whom to trust, instead of those that are compiled in (default: $ACE_LIBRARY_KEY)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    #[command(flatten)]
    pub older: OlderArgs,
}

#[derive(clap::Args)]
pub struct OlderArgs {
    /// Take a library that is older than one of the same key that was here before
    #[arg(long)]
    pub allow_older: bool,
}

impl TrustArgs {
    /// How a library is opened, whose signature `trust` leaves open.
    pub fn guard(&self, trust: Trust) -> Result<Guard> {
        Ok(self.older.guard(Trust { keys: Some(keys(self.key.as_deref())?), ..trust }))
    }
}

impl OlderArgs {
    pub fn guard(&self, trust: Trust) -> Guard {
        let allow_older = self.allow_older || named(None, ALLOW_OLDER).is_some();
        Guard { trust, seen: Seen::of_user(), allow_older }
    }
}

/// The keys in a file that somebody names, or those that are compiled in.
pub fn keys(file: Option<&Path>) -> Result<KeySet> {
    match named(file, KEY) {
        Some(path) => KeySet::parse(&read_text(&path)?).with_context(|| path.display().to_string()),
        None => Ok(KeySet::built_in()?),
    }
}

/// What the command line names, or else a variable that is not empty.
pub fn named(argument: Option<&Path>, variable: &str) -> Option<PathBuf> {
    let filled = |value: &std::ffi::OsString| value.as_os_str() != OsStr::new("");
    argument.map(Path::to_owned).or_else(|| std::env::var_os(variable).filter(filled).map(PathBuf::from))
}

pub fn read_text(path: &Path) -> Result<Zeroizing<String>> {
    let text = ace_fs::read_text(path);
    Ok(Zeroizing::new(text.with_context(|| format!("cannot read the key {}", path.display()))?))
}
