// SPDX-License-Identifier: Apache-2.0
//! `ace study scheduling`: no policy is above a bound, and what was reached stays so.

mod common;

use common::ace;
use serde_json::Value;

#[test]
fn no_policy_is_above_a_bound_and_adaptive_is_near_them() {
    if cfg!(debug_assertions) {
        return; // Minutes without optimisation; `make test` runs it with.
    }
    let out = ace(&["study", "scheduling", "--quick", "--json"], &[]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let study: Value = serde_json::from_slice(&out.stdout).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let number = |value: &Value| value.as_f64().unwrap();
    let small = list(&study["small"]);
    assert_eq!(small.len(), 12);
    for row in &small {
        assert!(list(&row["policies"]).iter().all(|of| (0.0..=1.0).contains(&number(of))), "{row}");
        assert!(number(&row["waiting"]) <= 1.0);
    }
    let bounded: Vec<Value> = list(&study["large"]).into_iter().filter(|r| !r["bound"].is_null()).collect();
    assert_eq!(bounded.len(), 2);
    for row in &bounded {
        for result in list(&row["results"]) {
            assert!(number(&result["in_time"]) <= number(&row["bound"]), "{row}");
        }
    }
    // Those that do not hang on the speed of the machine, nor on so few traces.
    let goals = list(&study["goals"]);
    let kept = |what: &str| {
        let of = goals.iter().find(|g| g["what"].as_str().unwrap().contains(what)).expect(what);
        assert_eq!(of["met"], true, "{of}");
    };
    kept("D >= 4 L");
    kept("proven bound");
    kept("2 tiles of 2 banks, window 64");
    kept("two associations as in 2006, modelled array, 1 tile of 2 banks, window 16");
    kept("strictly in order");
}
