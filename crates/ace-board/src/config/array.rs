// SPDX-License-Identifier: Apache-2.0
//! What `board.toml` says of slots that hold the array alone.

use serde::{Deserialize, Serialize};

/// Who makes the words of an expanded key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeySetup {
    /// The host, which sends them.
    #[default]
    Host,
    /// The slot, which gets the raw key: with a set in the bank of the tile that is not used.
    Slot,
}
