// SPDX-License-Identifier: Apache-2.0
//! The algorithms of `array/`, as they were when this was built.

use crate::Error;
use crate::source::Program;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Every file of `array/`, by its name.
        pub const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../array/", $name)))),*];
    };
}

files![
    "aes.ace",
    "cast128.ace",
    "cast256.ace",
    "cast128_key_boxes.ace",
    "cast_boxes.ace",
    "des.ace",
    "md5.ace",
    "rc6.ace",
    "sha1.ace",
    "sha256.ace",
    "sm4.ace",
];

/// A file of `array/`.
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Files that are algorithms, and not part of others.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(|(_, text)| text.contains("\nalgorithm ")).map(|(name, _)| *name)
}

/// An algorithm of `array/`, by its file's name.
pub fn program(name: &str) -> Result<Program, Error> {
    let text = file(name).ok_or_else(|| Error::Use(format!("there is no file {name} in array/")))?;
    Program::parse(name, text, &|other| file(other).map(str::to_owned))
}
