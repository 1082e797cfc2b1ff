// SPDX-License-Identifier: Apache-2.0
//! Which entry of a library bits or a context set are.

use std::fmt;
use std::path::PathBuf;

use ace_board::array::signed;
use ace_board::library::{is_board_image, manifest, tie_of, verify_board_image};
use ace_board::record::Tie;
use ace_board::store::offer;
use ace_library::file::Opened;
use ace_library::{Image, Library, Trust};
use anyhow::Result;
use serde::Serialize;

use super::args::{FileArgs, warned};
use crate::trust::{OlderArgs, TrustArgs};

/// Where to look an entry up. Nothing is loaded from there: that a newer library was here before changes nothing.
#[derive(clap::Args)]
pub struct WhereArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// Public keys of whom to trust, instead of those that are compiled in (default: $ACE_LIBRARY_KEY)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

/// What a library says of bits.
#[derive(Serialize)]
pub struct Entry {
    file: PathBuf,
    version: u64,
    signed_by: Vec<String>,
    /// The entry that they are; none if the library holds no such bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    is: Option<Is>,
}

#[derive(Serialize)]
struct Is {
    kind: &'static str,
    name: String,
    summary: String,
    /// What the signed record says of it.
    proven: String,
}

/// What was looked for.
pub enum Sought<'a> {
    /// A configuration memory, by its digest.
    Memory(&'a str),
    /// A context set.
    Set(&'a [u8]),
}

impl WhereArgs {
    /// The entry, or why there is no library to look into. That is an error where somebody has named one.
    pub fn find(&self, sought: &Sought) -> Result<Result<Entry>> {
        let named = self.file.library.is_some() || self.key.is_some();
        match self.opened() {
            Ok(opened) => Ok(Ok(entry(&opened, self.file.path(), sought))),
            Err(why) if named => Err(why),
            Err(why) => Ok(Err(why)),
        }
    }

    fn opened(&self) -> Result<Opened> {
        let path = self.file.existing()?;
        let trust = TrustArgs { key: self.key.clone(), older: OlderArgs { allow_older: true } };
        Ok(warned(trust.guard(Trust::ANYBODY)?.open(&path)?))
    }
}

fn entry(opened: &Opened, file: PathBuf, sought: &Sought) -> Entry {
    let library = &opened.library;
    let is = match sought {
        Sought::Memory(digest) => {
            let found = library.images().iter().find(|image| hex::encode(image.digest()) == **digest);
            found.map(|image| of_image(library, image))
        }
        Sought::Set(bytes) => {
            let found = library.sets().iter().find(|set| set.bytes() == *bytes);
            found.map(|set| Is {
                kind: "context set",
                name: set.name().to_owned(),
                summary: signed::SetManifest::stated(set).map_or_else(
                    |why| why.to_string(),
                    |stated| format!("{} contexts for array {}", stated.cycles_per_block, stated.array),
                ),
                proven: match signed::verify(set) {
                    Ok(()) => "what it may reach is its own block and bank; `ace library verify` proves it to be its source".to_owned(),
                    Err(why) => format!("not: {why}"),
                },
            })
        }
    };
    let signed_by = opened.signers.iter().map(ace_library::PublicKey::fingerprint).collect();
    Entry { file, version: library.version, signed_by, is }
}

fn of_image(library: &Library, image: &Image) -> Is {
    let about = manifest(image);
    let summary = about["summary"].as_str().unwrap_or_default().to_owned();
    let bits = "the bits are their netlist";
    let (kind, proven) = if is_board_image(image) {
        let proven = match verify_board_image(library, image) {
            Ok(_) => format!("{bits}, and that is its RTL"),
            Err(why) => format!("not: {why}"),
        };
        ("image of a board", proven)
    } else {
        let proven = match (offer(image), tie_of(image, &about)) {
            (Err(why), _) => format!("not: {why}"),
            (Ok(_), Tie::Equivalence) => format!("{bits}, and that is its RTL"),
            (Ok(_), Tie::Simulation) => format!("{bits}; that it is its RTL was simulated, not proven"),
        };
        ("configuration", proven)
    };
    Is { kind, name: image.name().to_owned(), summary, proven }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, version) = (self.file.display(), self.version);
        let by = if self.signed_by.is_empty() { "nobody".to_owned() } else { self.signed_by.join(", ") };
        match &self.is {
            Some(Is { kind, name, summary, proven }) => write!(
                f,
                "this is the {kind} {name} ({summary}) of {file}, version {version}, signed by {by}; proven: {proven}"
            ),
            None => write!(f, "{file}, version {version}, signed by {by}, holds nothing of these bits"),
        }
    }
}
