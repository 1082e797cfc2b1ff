// SPDX-License-Identifier: Apache-2.0
//! `ace study scheduling`: no policy is above a bound, and what was reached stays so.

use crate::common::ace;
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

/// studies/drp-2006/results.md, which `make pages` writes: its tables have their shape and units, and what hangs on nothing
/// that is built is what the command prints now.
#[test]
fn the_page_of_the_2006_paper_has_its_tables_and_units() {
    let page = std::fs::read_to_string(crate::common::root().join("studies/drp-2006/results.md")).unwrap();
    let section = |title: &str| {
        let (_, rest) = page.split_once(&format!("\n## {title}")).unwrap_or_else(|| panic!("no `{title}`"));
        let rows = rest.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with('|'));
        let cells =
            |line: &str| line.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = rows.map(cells).collect();
        let head = rows.remove(0);
        rows.remove(0);
        assert!(rows.iter().all(|row| row.len() == head.len()), "{title}: {head:?}");
        (head, rows)
    };
    let number = |cell: &String| cell.parse::<f64>().unwrap_or_else(|_| panic!("`{cell}` is no number"));
    let (_, table1) = section("Table 1: throughput, Mb/s");
    let tasks: Vec<&str> = table1.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(tasks, ["DES", "CAST128", "AES", "CAST256", "RC6", "MD5", "SHA-1"]);
    let ratios: Vec<f64> = table1.iter().map(|row| number(&row[6])).collect();
    assert!(ratios.iter().all(|r| (1.6..=7.8).contains(r)), "{ratios:?}");
    for row in &table1 {
        // This CPU, the array's two, the iterative slot.
        assert!(row[7..11].iter().all(|cell| number(cell) > 0.0), "{row:?}");
        assert!(number(&row[9]) > number(&row[8]), "packets side by side are faster: {row:?}");
    }
    let (head, table2) = section("Table 2: configurations, bits and load times");
    assert!(head.iter().filter(|cell| cell.contains("µs")).count() == 4 && table2.len() == 7);
    assert!(table2.iter().all(|row| number(&row[5]) < number(&row[8]) / 100.0), "sets load in microseconds");
    let (_, figure8) = section("Figure 8");
    assert_eq!(figure8.len(), 18);
    for (at, reported) in [(8, 1.8), (17, 4.1)] {
        assert_eq!((figure8[at][1].as_str(), number(&figure8[at][3])), ("8192", reported));
    }
    let (_, what_if) = section("The same traffic");
    for words in ["bus of 512 bits", "cache of 4 sets", "our array"] {
        assert!(what_if.iter().any(|row| row[0].contains(words)), "{words}");
    }
    for row in &what_if {
        assert!(
            (number(&row[5]) + number(&row[6]) - number(&row[4])).abs() < 0.11,
            "hidden and kept: {row:?}"
        );
    }
    assert!(page.contains("Power is not modelled."));
    let out = ace(&["study", "drp-2006", "--quick", "--json"], &[]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let study: Value = serde_json::from_slice(&out.stdout).unwrap();
    let (_, figure9) = section("Figure 9");
    let keys = ["without", "double", "removed", "kept"];
    for (cell, key) in figure9[1][1..].iter().zip(keys) {
        let now = study["figure9"][key].as_f64().unwrap();
        assert!((number(cell) - now).abs() <= 0.051, "{key}: {cell} on the page, {now} now");
    }
}

/// studies/scheduling/results.md, which `make pages` writes: nothing on it is above a proven bound.
#[test]
fn the_page_of_policies_has_its_sections_and_no_policy_above_a_bound() {
    let page = std::fs::read_to_string(crate::common::root().join("studies/scheduling/results.md")).unwrap();
    let section = |title: &str| {
        let (_, rest) = page.split_once(&format!("\n## {title}")).unwrap_or_else(|| panic!("no `{title}`"));
        let lines = rest.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with('|'));
        let cells = |line: &str| -> Vec<String> {
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let rows: Vec<Vec<String>> = lines.map(cells).collect();
        let columns = rows[0].len();
        assert!(rows.iter().all(|row| row.len() == columns), "{title}");
        rows[2..].to_vec()
    };
    let large = section("Large traces");
    assert_eq!(large.len(), 26);
    for row in &large {
        let Ok(bound) = row[4].parse::<f64>() else { continue };
        for cell in &row[6..] {
            // `0.890 (49.74; 16 %)`: bytes in time, p99.9 in ms, overhead.
            let (in_time, rest) = cell.split_once(' ').expect("a share and more");
            assert!(in_time.parse::<f64>().unwrap() <= bound + 0.001, "{row:?}");
            assert!(rest.starts_with('(') && rest.ends_with("%)"), "{cell}");
        }
    }
    assert_eq!(section("Small traces").len(), 13);
    assert_eq!(section("Closed loops").len() % 5, 0);
    for title in ["The rotation law", "When a slot beats", "The demo's capture", "Speed", "Goals"] {
        assert!(!section(title).is_empty());
    }
}

/// Every study is printed whole, with the columns that its heads have, and as JSON.
#[test]
fn studies_have_their_columns_and_are_json() {
    for name in ["ace-2000", "drp-2006", "molen-2003", "idea-2004", "pilchard-2002"] {
        let out = ace(&["study", name, "--format", "md"], &[]);
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        let page = String::from_utf8(out.stdout).unwrap();
        assert!(page.contains("\n## ") || page.starts_with("## "), "{name}");
        for part in page.split("\n\n") {
            let rows = part.lines().filter(|line| line.starts_with('|'));
            let columns: Vec<usize> = rows.map(|line| line.matches('|').count()).collect();
            assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {part}");
        }
        let out = ace(&["study", name, "--json"], &[]);
        assert!(serde_json::from_slice::<Value>(&out.stdout).unwrap().is_object(), "{name}");
    }
}
