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
    let holds = |what: &str| {
        let of = goals.iter().find(|g| g["what"].as_str().unwrap().contains(what)).expect(what);
        assert_eq!(of["met"], true, "{of}");
    };
    holds("D >= 4 L");
    holds("proven bound");
    holds("the demo, protecting, array: 2 tiles of 2 banks, window 64");
    holds("the demo, associations of 2006, array: 1 tile of 2 banks, window 16");
    holds("strictly in order");
}

/// A page of a study that hangs on the signed library and on recorded results alone, as it is in the tree.
struct Rendered(String);

impl Rendered {
    fn of(study: &str) -> Self {
        let read = |file: &str| std::fs::read_to_string(crate::common::root().join(file)).unwrap();
        let page = read(&format!("studies/{study}/results.md"));
        // A page of stale results says so above its head; `pages --check` looks at that.
        let page = match page.split_once("\n\n") {
            Some((first, rest)) if first.starts_with("> **Stale**") => rest.to_owned(),
            _ => page,
        };
        let head = read(&format!("studies/{study}/results.head"));
        // Nothing is built here.
        let nothing = tempfile::tempdir().unwrap();
        let mut command = crate::common::command();
        let out = command.env("ACE_BUILD", nothing.path()).args(["study", study, "--format", "md"]).output();
        let out = out.unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        let now = String::from_utf8(out.stdout).unwrap();
        let tables = page.strip_prefix(&head).unwrap_or_else(|| panic!("{study}: the head is another"));
        for (line, (written, printed)) in tables.lines().zip(now.lines()).enumerate() {
            assert_eq!(written, printed, "{study}, line {line} below the head: run `make pages`");
        }
        assert_eq!(tables.len(), now.len(), "{study}: run `make pages`");
        Self(page)
    }

    /// The first table below a title: heads and rows.
    fn table(&self, title: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let (_, rest) = self.0.split_once(&format!("\n## {title}")).unwrap_or_else(|| panic!("no `{title}`"));
        let rest = rest.split("\n## ").next().unwrap();
        let rows = rest.lines().skip_while(|l| !l.starts_with('|')).take_while(|line| line.starts_with('|'));
        let cells =
            |line: &str| line.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = rows.map(cells).collect();
        let head = rows.remove(0);
        rows.remove(0);
        assert!(rows.iter().all(|row| row.len() == head.len()), "{title}: {head:?}");
        (head, rows)
    }

    /// The column whose head begins so.
    fn column(&self, title: &str, head: &str) -> Vec<f64> {
        let (heads, rows) = self.table(title);
        let at =
            heads.iter().position(|h| h.starts_with(head)).unwrap_or_else(|| panic!("{title}: no {head}"));
        let number =
            |row: &Vec<String>| row[at].parse().unwrap_or_else(|_| panic!("{title}, {head}: {row:?}"));
        rows.iter().map(number).collect()
    }
}

/// The page is what the command prints from the signed library, whatever is built; its tables have their units.
#[test]
fn the_page_of_the_2006_paper_is_what_the_command_prints_where_nothing_is_built() {
    let page = Rendered::of("drp-2006");
    for part in ["The paper claims", "Built here", "Holds", "Does not hold", "Fitted"] {
        assert!(page.0.contains(&format!("* **{part}:**")), "{part}");
    }
    let throughput = "Table 1: throughput, Mb/s";
    let (heads, rows) = page.table(throughput);
    let tasks: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(tasks, ["DES", "CAST128", "AES", "CAST256", "RC6", "MD5", "SHA-1"]);
    assert_eq!(rows[1][1], "128", "CAST-128 with the key of the paper's column");
    assert!(heads[2..].iter().all(|head| head.ends_with(')')), "every figure has its mark: {heads:?}");
    let ratios = page.column(throughput, "DRP-1 ÷ VR5500");
    assert!(ratios.iter().all(|r| (1.55..7.85).contains(r)), "{ratios:?}");
    let [one, many] = ["array, 1 packet", "64"].map(|head| page.column(throughput, head));
    assert!(one.iter().zip(&many).all(|(one, many)| many > one), "packets side by side are faster");
    let loads = "Table 2: configurations, bits and load times";
    let [set, slot] = ["like DRP-1's, bits", "slot: port bits"].map(|head| page.column(loads, head));
    assert!(set.iter().zip(&slot).all(|(set, slot)| slot > &(5.0 * set)), "{set:?} {slot:?}");
    assert_eq!(page.table("Figure 8").1.len(), 18);
    let what_if = page.table("The paper's machine on the same traffic").1;
    for words in ["bus of 512 bits", "cache of 4 sets"] {
        assert!(what_if.iter().any(|row| row[0].contains(words)), "{words}");
    }
    let number = |cell: &String| cell.parse::<f64>().unwrap();
    for row in &what_if {
        assert!((number(&row[5]) + number(&row[6]) - number(&row[4])).abs() < 0.11, "{row:?}");
    }
    assert!(page.0.contains("Power is not modelled."));
}

/// The same of the 2000 paper: every finalist has its figures from the library.
#[test]
fn the_page_of_the_2000_paper_is_what_the_command_prints_where_nothing_is_built() {
    let page = Rendered::of("ace-2000");
    let setup = "Table 1: key-setup latency";
    let (first, added) = (page.column(setup, "clocks to the first"), page.column(setup, "clocks a fresh"));
    assert_eq!(first.len(), 5);
    assert!(first.iter().zip(&added).all(|(first, added)| first <= added), "{first:?} {added:?}");
    let throughput = page.column("Table 2: throughput", "one packet: software");
    assert!(throughput.iter().all(|mbps| *mbps > 100.0));
    assert!(page.0.contains("3.12 block times there, 1.56"), "the slip of MARS");
    for title in ["p rounds in hardware", "Tables 3 and 4", "The same with ours"] {
        assert!(!page.table(title).1.is_empty(), "{title}");
    }
    assert!(page.0.contains("One dictionary for all domains"));
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
    for title in ["The rotation law", "When a slot beats", "Recordings on boards", "Speed", "Goals"] {
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
