// SPDX-License-Identifier: Apache-2.0
//! A wire, by its place and its name.

use super::tiles::Name;

/// The row and column of wires that the whole device has once.
pub(crate) const NOWHERE: i16 = -1;

/// A wire of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Wire {
    pub row: i16,
    pub col: i16,
    pub name: Name,
}
