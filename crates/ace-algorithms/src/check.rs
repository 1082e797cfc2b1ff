// SPDX-License-Identifier: Apache-2.0
//! What algorithms may not have in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::raw::Place;
use crate::{Algorithm, Error, Kind};

/// Whether all can be beside each other.
pub fn together(read: &[(Algorithm, Place)]) -> Result<(), Error> {
    names(read)?;
    codes(read)?;
    programs(read)
}

fn names(read: &[(Algorithm, Place)]) -> Result<(), Error> {
    let mut known: BTreeMap<&str, &str> =
        read.iter().map(|(a, _)| (a.name.as_str(), a.name.as_str())).collect();
    let mut identifiers = BTreeMap::new();
    for (algorithm, place) in read {
        for alias in &algorithm.aliases {
            if let Some(other) = known.insert(alias, &algorithm.name) {
                return Err(place.key("aliases", format!("`{alias}` is a name of {other}; leave it out")));
            }
        }
        if let Some(other) = identifiers.insert(&algorithm.identifier, &algorithm.name) {
            let message = format!(
                "`{}` is what {other} is called in Rust; say another `identifier`",
                algorithm.identifier
            );
            return Err(place.key("identifier", message));
        }
    }
    Ok(())
}

/// A code is of one algorithm; ciphers that a slot tells apart by the length of the key may share one, as DES and triple
/// DES do.
fn codes(read: &[(Algorithm, Place)]) -> Result<(), Error> {
    for (at, (algorithm, place)) in read.iter().enumerate() {
        for (other, _) in &read[..at] {
            let apart = match (&algorithm.kind, &other.kind) {
                (Kind::Cipher { keys, .. }, Kind::Cipher { keys: others, .. }) => {
                    !keys.iter().any(|n| others.contains(n))
                }
                _ => false,
            };
            if algorithm.code().is_some() && algorithm.code() == other.code() && !apart {
                let message =
                    format!("`code` is that of {}, too; take one that is free (docs/slot.md)", other.name);
                return Err(place.key("code", message));
            }
        }
    }
    Ok(())
}

fn programs(read: &[(Algorithm, Place)]) -> Result<(), Error> {
    let mut files = BTreeSet::new();
    for (algorithm, place) in read {
        for path in algorithm.programs()? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if files.contains(&name) {
                return Err(place.at(
                    0,
                    format!("array/{name}: another algorithm has a program of this name; rename it"),
                ));
            }
            files.insert(name);
        }
    }
    let stems: Vec<&str> = read.iter().flat_map(|(a, _)| a.served()).map(|v| v.stem.as_str()).collect();
    for (algorithm, place) in read {
        let named = algorithm.served().map(|v| &v.file).chain(algorithm.setups.iter().map(|s| &s.file));
        if let Some(none) = named.into_iter().find(|file| !files.contains(*file)) {
            return Err(place.key(
                "file",
                format!("no algorithm has array/{none}; the name is wanted, without a folder"),
            ));
        }
        let twice = algorithm.served().find(|v| stems.iter().filter(|stem| **stem == v.stem).count() > 1);
        if let Some(variant) = twice {
            return Err(
                place.key("stem", format!("two array variants are called `{}`; rename one", variant.stem))
            );
        }
        let own = |stem: &str| algorithm.variants.iter().any(|v| v.stem == stem);
        if let Some(setup) = algorithm.setups.iter().find(|setup| !own(&setup.stem)) {
            return Err(place.key(
                "stem",
                format!(
                    "`{}` has key set-up and is no array variant here; add [[array.variant]]",
                    setup.stem
                ),
            ));
        }
    }
    Ok(())
}
