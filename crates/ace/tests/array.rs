// SPDX-License-Identifier: Apache-2.0
//! The digests of array/sets.toml are those of what the compiler makes.

use std::process::Command;

/// Those that compile at once; with `ACE_TESTS=all` every one.
const QUICK: [&str; 10] = [
    "aes128_encrypt",
    "aes256_decrypt",
    "des_encrypt",
    "tdes_decrypt",
    "idea_encrypt",
    "mars_decrypt",
    "rc6_encrypt",
    "twofish128_encrypt",
    "sm4_decrypt",
    "md5",
];

#[test]
fn sets_are_those_whose_digests_are_known() {
    let known = include_str!("../../../array/sets.toml");
    let known: Vec<&str> = known.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let all = std::env::var_os("ACE_TESTS").is_some_and(|what| what == "all");
    let names: &[&str] = if all { &[] } else { &QUICK };
    let made = Command::new(env!("CARGO_BIN_EXE_ace"))
        .args(["array", "build", "--digests"])
        .args(names)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made = String::from_utf8(made.stdout).unwrap();
    for line in made.lines() {
        assert!(known.contains(&line), "array/sets.toml has another digest than {line}");
    }
    let wanted = if all { known.len() } else { QUICK.len() };
    assert_eq!(made.lines().count(), wanted, "array/sets.toml has other variants than the compiler");
}
