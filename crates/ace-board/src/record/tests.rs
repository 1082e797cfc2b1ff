// SPDX-License-Identifier: Apache-2.0

use super::*;
use serde_json::json;

fn record() -> Value {
    json!({
        "format": FORMAT, "result": "proven", "points": 12, "by_structure": 12, "memory_sha256": "11".repeat(32),
        "netlist_sha256": "22".repeat(32), "more": [1],
        "control": { "result": "refuted", "points_refuted": 1, "memory_sha256": "33".repeat(32), "lut": "x" },
    })
}

fn of(recipe: Option<&str>) -> Origin<'_> {
    Origin { netlist: Some(&[0x22; 32]), recipe, elaborated: Some("the design") }
}

fn says(record: &Value) -> String {
    let text = if record.is_null() { String::new() } else { record.to_string() };
    check(text.as_bytes(), &[0x11; 32], &of(Some("r")))
        .map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn only_a_proof_of_these_bits_with_a_refuted_control_counts() {
    assert_eq!(says(&record()), "");
    assert!(says(&Value::Null).contains("no record"));
    assert!(check(b"[]", &[0x11; 32], &of(None)).is_err_and(|why| why.to_string().contains("is none")));
    assert!(check(record().to_string().as_bytes(), &[0x11; 32], &Origin::default()).is_err());
    for (path, value, why) in [
        ("/format", json!(2), "format 2, not 3"),
        ("/format", json!("3"), "is none"),
        ("/result", json!("refuted"), "says `refuted`"),
        ("/result", json!("Proven"), "says `Proven`"),
        ("/points", json!(0), "compares nothing"),
        ("/points", json!(-1), "is none"),
        ("/points", json!(11), "11 points, of which 12"),
        ("/points", json!(13), "12 by structure and 0 by certificate: that is not all"),
        ("/by_certificate", json!(1), "not all, or more"),
        ("/by_certificate", json!(u64::MAX), "not all, or more"),
        ("/control/memory_sha256", json!("00".repeat(32)), "not of other bits"),
        ("/memory_sha256", json!("33".repeat(32)), "other bits"),
        ("/memory_sha256", json!(""), "other bits"),
        ("/netlist_sha256", json!("33".repeat(32)), "another netlist"),
        ("/control/result", json!("proven"), "not refuted"),
        ("/control/points_refuted", json!(0), "not refuted"),
        ("/control/memory_sha256", json!("11".repeat(32)), "not of other bits"),
        ("/control/memory_sha256", json!(""), "not of other bits"),
    ] {
        let mut edited = record();
        edited["by_certificate"] = json!(0);
        assert_eq!(says(&edited), "");
        *edited.pointer_mut(path).expect("it is there") = value;
        assert!(says(&edited).contains(why), "{path}: {}", says(&edited));
    }
    for key in ["format", "result", "points", "memory_sha256", "netlist_sha256", "control"] {
        let mut edited = record();
        edited.as_object_mut().expect("an object").remove(key);
        assert_ne!(says(&edited), "", "{key}");
    }
}

#[test]
fn what_ties_the_netlist_to_the_rtl_has_to_be_of_both() {
    let with_tie = |stated: Value, recipe: Option<&str>| {
        let mut record = record();
        record["tied_to_rtl_by"] = stated;
        check(record.to_string().as_bytes(), &[0x11; 32], &of(recipe)).map_err(|error| error.to_string())
    };
    let r = "5a".repeat(32);
    let r = Some(r.as_str());
    let stated = |key: &str, value: Value| {
        let mut stated = json!({
            "format": TIE_FORMAT, "method": "equivalence", "netlist_sha256": "22".repeat(32), "recipe": "5a".repeat(32),
            "elaborated_sha256": "the design", "points": 9, "by_structure": 4, "by_certificate": 5, "open": 0,
            "faults_refuted": 3,
        });
        stated[key] = value;
        stated
    };
    assert_eq!(with_tie(stated("points", json!(9)), r), Ok(Tie::Equivalence));
    assert_eq!(with_tie(stated("method", json!("simulation")), r), Ok(Tie::Simulation));
    // Records of former versions have words there, or nothing.
    assert_eq!(
        with_tie(json!("known answers and random simulation of this netlist"), None),
        Ok(Tie::Simulation)
    );
    assert_eq!(with_tie(Value::Null, r), Ok(Tie::Simulation));
    for (key, value, why) in [
        ("netlist_sha256", json!("33".repeat(32)), "another netlist"),
        ("recipe", json!("a5".repeat(32)), "another RTL"),
        ("recipe", json!("00".repeat(32)), "no SHA-256"),
        ("recipe", json!("r"), "no SHA-256"),
        ("method", json!("faith"), "by `faith`"),
        ("elaborated_sha256", json!("another"), "another design than its model (another, not the design)"),
        ("format", json!(1), "format 1, not 2"),
        ("points", json!(0), "with 0 points"),
        ("points", json!(3), "with 3 points, 4 of them"),
        ("points", json!("9"), "is none"),
        ("open", json!(500), "500 open"),
        ("open", json!(null), "is none"),
        ("by_certificate", json!(null), "is none"),
        ("by_certificate", json!(4), "9 points to the RTL, 4 by structure and 4 by certificate"),
        ("by_certificate", json!(6), "not all, or more"),
        ("by_certificate", json!(u64::MAX), "not all, or more"),
        ("by_certificate", json!("5"), "is none"),
        ("faults_refuted", json!(-1), "is none"),
        ("faults_refuted", json!(0), "no fault"),
    ] {
        let found = with_tie(stated(key, value.clone()), r);
        assert!(found.as_ref().is_err_and(|error| error.contains(why)), "{key} {value}: {found:?}");
    }
    assert!(with_tie(stated("points", json!(9)), None).is_err_and(|error| error.contains("another RTL")));
    for (stated, why) in
        [(json!({}), "format 0"), (json!({"format": TIE_FORMAT}), "is none"), (json!([1]), "is none")]
    {
        assert!(with_tie(stated.clone(), r).is_err_and(|error| error.contains(why)), "{stated}");
    }
}

#[test]
fn the_flow_writes_this_format() {
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../flow/ace_flow/prove/bitstream.py");
    let text = std::fs::read_to_string(file).expect("the flow is there");
    assert!(text.lines().any(|line| line == format!("RECORD = {FORMAT}")), "RECORD = {FORMAT}");
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../flow/ace_flow/build/library_cache.py");
    let text = std::fs::read_to_string(file).expect("the flow is there");
    assert!(text.lines().any(|line| line == format!("TIE = {TIE_FORMAT}")), "TIE = {TIE_FORMAT}");
}
