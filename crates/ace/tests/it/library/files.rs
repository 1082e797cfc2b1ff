// SPDX-License-Identifier: Apache-2.0
//! Signatures beside files that are no libraries.

use std::fs;
use std::process::Output;

use super::Place;
use crate::common::{stderr, stdout};

fn says(out: &Output, code: i32, text: &str) {
    assert_eq!(out.status.code(), Some(code), "{} {}", stdout(out), stderr(out));
    let printed = stdout(out) + &stderr(out);
    assert!(printed.contains(text), "{text}: {printed}");
}

#[test]
fn a_file_is_signed_by_as_many_as_are_wanted_and_by_nobody_else() {
    let place = Place::new();
    let file = place.at("SHA256SUMS");
    let beside = place.at("SHA256SUMS.sig");
    fs::write(&file, "00  nothing\n").unwrap();
    let name = file.to_str().unwrap();
    let sign = |key: &str| place.run(&["library", "sign-file", name], &["--secret"], &[place.at(key)]);
    let verify = |keys: &str| place.run(&["library", "verify-file", name], &["--key"], &[place.at(keys)]);

    says(&verify("key.pub"), 2, "nobody has signed");
    says(&sign("none"), 2, "cannot read the key");
    says(&sign("key"), 0, &place.fingerprint("key"));
    says(&verify("key.pub"), 0, &place.fingerprint("key"));
    says(&verify("other.pub"), 1, "not by whom is trusted");
    // The same again is once, and another one stands beside it.
    assert_eq!(sign("key").status.code(), Some(0));
    let keys = ["key", "other"].map(|key| fs::read_to_string(place.at(&format!("{key}.pub"))).unwrap());
    fs::write(place.at("both"), format!("threshold 2\n{}{}", keys[0], keys[1])).unwrap();
    says(&verify("both"), 1, "2 of");
    says(&sign("other"), 0, &place.fingerprint("other"));
    says(&verify("both"), 0, &place.fingerprint("other"));
    assert_eq!(fs::read_to_string(&beside).unwrap().lines().count(), 2);

    // One that is wrong makes all worthless, whosever it is; nothing is signed beside it.
    let good = fs::read_to_string(&beside).unwrap();
    let digit = if good.trim_end().ends_with('0') { "1" } else { "0" };
    fs::write(&beside, format!("{}{digit}\n", &good.trim_end()[..good.trim_end().len() - 1])).unwrap();
    says(&verify("key.pub"), 1, "line 2: the signature is not of this file");
    says(&sign("key"), 2, "line 2");
    for (text, why) in [("", "no signature"), ("hello\n", "is wanted"), (&format!("{good}{good}"), "already")]
    {
        fs::write(&beside, text).unwrap();
        says(&verify("key.pub"), 1, why);
    }

    // And so does a file that is another one.
    fs::write(&beside, &good).unwrap();
    fs::write(&file, "01  nothing\n").unwrap();
    says(&verify("both"), 1, "not of this file");
}
