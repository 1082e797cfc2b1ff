// SPDX-License-Identifier: Apache-2.0
//! Which context sets this program itself knows.

use std::collections::BTreeMap;

use super::ArrayError;

/// SHA-256 of the sets by name, which tests hold against the compiler: these go into libraries, and a board that is told to
/// load what nobody has signed loads no others.
const DIGESTS: &str = include_str!("../../../../array/sets.toml");

/// SHA-256 of every set, by its name.
///
/// # Errors
/// When `array/` is not what it was built as.
pub fn digests() -> Result<BTreeMap<String, [u8; 32]>, ArrayError> {
    let wrong = |reason: String| ArrayError::Table { file: "array/sets.toml", reason };
    let text: BTreeMap<String, String> = toml::from_str(DIGESTS).map_err(|e| wrong(e.to_string()))?;
    let one = |(name, digest): (String, String)| {
        let mut bytes = [0; 32];
        hex::decode_to_slice(&digest, &mut bytes).map_err(|e| wrong(format!("{name}: {e}")))?;
        Ok((name, bytes))
    };
    text.into_iter().map(one).collect()
}
