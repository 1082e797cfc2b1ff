// SPDX-License-Identifier: Apache-2.0
//! What arguments of several commands are parsed into, and what is wrong with them.

use std::path::PathBuf;

use ace_board::config::SlotKind;
use ace_ecp5::Device;
use ace_studies::idea_2004::rekey::IdeaKey;
use thiserror::Error;

/// An argument that is nothing of its kind.
#[derive(Debug, Error)]
pub enum ValueError {
    #[error("a number from 0.001 to {most} is wanted")]
    Seconds { most: u32 },
    #[error("LFE5U-25F, LFE5U-45F or LFE5U-85F is wanted")]
    Device,
    #[error("`{0}` is no kind of slot: `fabric`, `array`, or so many of each, as in fabric=2,array=1")]
    SlotKind(String),
    #[error("`{0}`: of a kind there are 1 to 64 slots; one that there is none of is left out")]
    SlotCount(String),
    #[error("`{0}` is named twice")]
    SlotTwice(&'static str),
    #[error("a key has 32 hexadecimal digits")]
    Key,
    #[error("there is no such folder")]
    NoFolder,
    #[error("it is a file, and a folder is wanted")]
    NotAFolder,
}

/// For how long something is measured, up to so many seconds.
pub fn seconds<const MOST: u32>(text: &str) -> Result<f64, ValueError> {
    let value = text.parse().ok().filter(|value| (0.001..=f64::from(MOST)).contains(value));
    value.ok_or(ValueError::Seconds { most: MOST })
}

/// A folder that has to be there: one that is not is no reason to look elsewhere.
pub fn folder(path: &str) -> Result<PathBuf, ValueError> {
    let path = PathBuf::from(path);
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err(ValueError::NotAFolder),
        Err(_) => Err(ValueError::NoFolder),
    }
}

pub fn device(name: &str) -> Result<&'static Device, ValueError> {
    Device::by_name(name).ok_or(ValueError::Device)
}

/// Which slots a board has, instead of those of its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// As many as there are, all of this kind.
    All(SlotKind),
    /// So many of fabric, and so many that hold the array.
    Of(usize, usize),
}

/// `array`, or `fabric=2,array=1`; in a list, a kind without a number is one slot.
pub fn slots(text: &str) -> Result<Slots, ValueError> {
    let kind = |name: &str| {
        let kind = SlotKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| ValueError::SlotKind(name.to_owned()))
    };
    if !text.contains([',', '=']) {
        return kind(text).map(Slots::All);
    }
    let mut counts = [0, 0];
    for part in text.split(',') {
        let (name, count) = part.split_once('=').unwrap_or((part, "1"));
        let kind = kind(name.trim())?;
        let count = count.trim().parse().ok().filter(|count| (1..=64).contains(count));
        let own = &mut counts[usize::from(kind == SlotKind::Array)];
        if *own > 0 {
            return Err(ValueError::SlotTwice(kind.name()));
        }
        *own = count.ok_or_else(|| ValueError::SlotCount(part.to_owned()))?;
    }
    Ok(Slots::Of(counts[0], counts[1]))
}

pub fn key(text: &str) -> Result<IdeaKey, ValueError> {
    let mut key = [0; 16];
    hex::decode_to_slice(text, &mut key).map_err(|_| ValueError::Key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_all_of_a_kind_or_so_many_of_each() {
        assert_eq!(slots("array").unwrap(), Slots::All(SlotKind::Array));
        assert_eq!(slots("fabric=2,array=1").unwrap(), Slots::Of(2, 1));
        assert_eq!(slots("array=3").unwrap(), Slots::Of(0, 3));
        assert_eq!(slots("array,fabric").unwrap(), Slots::Of(1, 1));
        let why = |text: &str| slots(text).unwrap_err().to_string();
        assert!(why("gpu").contains("`gpu` is no kind of slot") && why("gpu").contains("fabric=2,array=1"));
        assert!(why("fabric=2,gpu=1").contains("`gpu` is no kind of slot"));
        assert!(why("2,array").contains("`2` is no kind of slot"));
        assert!(why("fabric=0,array=1").contains("1 to 64"));
        assert!(why("fabric=65").contains("1 to 64"));
        assert!(why("array=1,array=2").contains("`array` is named twice"));
    }
}
