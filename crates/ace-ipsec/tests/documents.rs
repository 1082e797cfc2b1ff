// SPDX-License-Identifier: Apache-2.0
//! The documents say what the code does.

use ace_config::SaFile;
use ace_ipsec::Cause;
use ace_ipsec::model::{AUTHS, CIPHERS};

fn document(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_cause_is_explained() {
    let text = document("data-plane.md");
    for cause in Cause::ALL {
        let row = format!("| `{}` | {cause} |", cause.name());
        assert!(text.contains(&row), "{row}");
    }
}

#[test]
fn the_example_is_legal_and_every_suite_is_listed() {
    let text = document("sa-file.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let file = SaFile::parse("example", example).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.sas().len(), 1);
    assert!(file.warnings().is_empty(), "{:?}", file.warnings());
    for name in CIPHERS.iter().map(|suite| suite.name).chain(AUTHS.iter().map(|suite| suite.name)) {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}
