// SPDX-License-Identifier: Apache-2.0
//! What somebody may have meant.

/// ` did you mean `x`?`, or nothing if nothing is near.
pub fn meant(word: &str, known: &[&str]) -> String {
    ace_config::nearest(word, known).map_or(String::new(), |near| format!(" did you mean `{near}`?"))
}
