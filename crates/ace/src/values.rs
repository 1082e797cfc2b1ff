// SPDX-License-Identifier: Apache-2.0
//! What arguments of several commands are parsed into, and what is wrong with them.

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
    #[error("a slot is `fabric` or `array`")]
    SlotKind,
    #[error("a key has 32 hexadecimal digits")]
    Key,
}

/// For how long something is measured, up to so many seconds.
pub fn seconds<const MOST: u32>(text: &str) -> Result<f64, ValueError> {
    let value = text.parse().ok().filter(|value| (0.001..=f64::from(MOST)).contains(value));
    value.ok_or(ValueError::Seconds { most: MOST })
}

pub fn device(name: &str) -> Result<&'static Device, ValueError> {
    Device::by_name(name).ok_or(ValueError::Device)
}

pub fn slot_kind(name: &str) -> Result<SlotKind, ValueError> {
    [SlotKind::Fabric, SlotKind::Array]
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or(ValueError::SlotKind)
}

pub fn key(text: &str) -> Result<IdeaKey, ValueError> {
    let mut key = [0; 16];
    hex::decode_to_slice(text, &mut key).map_err(|_| ValueError::Key)?;
    Ok(key)
}
