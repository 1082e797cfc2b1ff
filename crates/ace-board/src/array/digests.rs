// SPDX-License-Identifier: Apache-2.0
//! Which context sets this program itself knows.

use std::collections::BTreeMap;

use super::ArrayError;

/// SHA-256 of every set, by its name, which tests hold against the compiler: these go into libraries, and a board that is
/// told to load what nobody has signed loads no others.
///
/// # Errors
/// When an algorithm's table is not what it was built as.
pub fn digests() -> Result<BTreeMap<String, [u8; 32]>, ArrayError> {
    let mut all = BTreeMap::new();
    for (algorithm, text) in ace_array::algorithms::SETS {
        let file = || format!("algorithms/{algorithm}/array/sets.toml");
        let wrong = |reason: String| ArrayError::Table { file: file(), reason };
        let own: BTreeMap<String, String> = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        for (name, digest) in own {
            let mut bytes = [0; 32];
            hex::decode_to_slice(&digest, &mut bytes).map_err(|e| wrong(format!("{name}: {e}")))?;
            all.insert(name, bytes);
        }
    }
    Ok(all)
}
