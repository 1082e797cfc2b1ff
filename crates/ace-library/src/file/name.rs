// SPDX-License-Identifier: Apache-2.0
//! Names of configurations: they become names of files.

/// The longest name of a configuration.
pub const NAME_BYTES: usize = 40;

/// Whether this is a name for a configuration: 1 to 40 of a-z, 0-9, `-` and `_`, the first a letter or digit. No name is
/// a path to somewhere else, a hidden file or an option.
pub fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let good = |b: u8| plain(b) || b == b'-' || b == b'_';
    name.len() <= NAME_BYTES && name.bytes().next().is_some_and(plain) && name.bytes().all(good)
}
