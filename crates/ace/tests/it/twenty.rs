// SPDX-License-Identifier: Apache-2.0
//! `ace run --engine auto` on a capture of 20 associations over 8 algorithms (studies/scheduling/twenty.py): each operation
//! goes where it is done earlier, and every packet is the CPU engine's.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::common::{ace, root, stderr};
use serde_json::Value;

const CONFIGURATIONS: [&str; 8] = ["aes", "des", "3des", "cast128", "cast256", "rc6", "md5", "sha1"];
const CAPTURE: &str = "studies/scheduling/twenty.pcap";

fn built() -> bool {
    let manifest = |name: &str| root().join("build/configurations").join(name).join("manifest.json");
    let missing: Vec<_> = CONFIGURATIONS.into_iter().filter(|name| !manifest(name).exists()).collect();
    if missing.is_empty() {
        return true;
    }
    assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "not built: {missing:?}; run `make test`");
    eprintln!("not built: {missing:?}; nothing was checked");
    false
}

/// The packets that a run writes, and its summary.
fn run(input: &Path, way: &str, name: &str, more: &[&str], folder: &Path) -> (Vec<u8>, Value) {
    let output = folder.join(name);
    let sas = format!("studies/scheduling/twenty-{way}.toml");
    let args = ["run", "--sas", &sas, "--iv-seed", "7", "--json"];
    let out = ace(&[&args[..], more].concat(), &["-o".as_ref(), &output, input]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    (fs::read(output).unwrap(), serde_json::from_slice(&out.stdout).expect("a summary"))
}

#[test]
fn every_packet_is_the_cpu_engines_whoever_did_it() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (outwards, inwards) = (root().join(CAPTURE), folder.path().join("cpu-out.pcap"));
    let ways = [(outwards.as_path(), "out"), (inwards.as_path(), "in")];
    for (input, way) in ways {
        let cpu = run(input, way, &format!("cpu-{way}.pcap"), &["--engine", "cpu"], folder.path()).0;
        for (processor, policy) in
            [("vr5500", "adaptive"), ("cortex-a53", "double-buffer"), ("this-machine", "adaptive")]
        {
            let file = format!("studies/processors/{processor}.toml");
            let more = ["--engine", "auto", "--unsigned", "--processor", &file, "--policy", policy];
            let (auto, summary) = run(input, way, "auto.pcap", &more, folder.path());
            assert!(auto == cpu, "{way}, {processor}: the packets differ");
            let t = &summary["board"]["totals"];
            let number = |key: &str| t[key].as_u64().unwrap();
            assert_eq!(number("completed"), 2 * summary["written"].as_u64().unwrap(), "{processor}");
            assert!(number("computed") > 0, "{processor} does something");
            // What neither has a figure nor is worth a slot: of the A53 all but AES is unknown.
            if processor == "cortex-a53" {
                assert!(number("loads") >= 7, "{t}");
            }
            assert_eq!(
                number("total"),
                ["executing", "computing", "link_only", "host_only", "exposed_load", "idle"]
                    .map(number)
                    .iter()
                    .sum::<u64>()
            );
        }
    }
}

/// On the board's clock, of the trace that Perfetto would show.
#[test]
fn no_packet_of_the_capture_waits_for_a_load_in_vain() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let more = [
        "--engine",
        "auto",
        "--unsigned",
        "--processor",
        "studies/processors/vr5500.toml",
        "--policy",
        "adaptive",
        "--report",
        report.to_str().unwrap(),
    ];
    run(&root().join(CAPTURE), "out", "auto.pcap", &more, folder.path());
    let trace: Value = serde_json::from_slice(&fs::read(report.join("trace.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |category: &'static str| events.iter().filter(move |e| e["cat"] == category);
    let span =
        |e: &Value| (e["ts"].as_f64().unwrap(), e["ts"].as_f64().unwrap() + e["dur"].as_f64().unwrap());
    let mut busy: Vec<(f64, f64)> = of("compute").map(span).collect();
    busy.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(busy.windows(2).all(|w| w[0].1 <= w[1].0 + 1e-6), "the processor does one thing at a time");
    // One thing after another: what is between two of them is the rounding of a decimal.
    let idle_from = |from: f64| {
        busy.iter().fold(from, |at, (start, end)| if *start <= at + 1e-6 && at < *end { *end } else { at })
    };
    // Mb/s of studies/processors/vr5500.toml, by the words of the operation.
    let mbps: HashMap<&str, f64> =
        [("des", 40.3), ("cast128", 46.7), ("aes", 46.4), ("cast256", 23.2), ("rc6", 76.9)]
            .into_iter()
            .chain([("md5", 95.5), ("sha1", 38.7)])
            .collect();
    let mut loads: HashMap<u64, Vec<(f64, f64)>> = HashMap::new();
    for load in of("load") {
        loads.entry(load["tid"].as_u64().unwrap()).or_default().push(span(load));
    }
    // In one association the same pass of an earlier packet comes first, wherever it was done.
    let turn = |e: &Value, queued: f64| {
        let number = |e: &Value, key: &str| e["args"][key].as_u64().unwrap();
        let before = of("execute").chain(of("compute")).filter(|o| {
            o["name"] == e["name"]
                && number(o, "flow") == number(e, "flow")
                && number(o, "packet") < number(e, "packet")
        });
        before.map(|o| span(o).1).fold(queued, f64::max)
    };
    let (mut waited, mut vain, mut done) = (0, 0, HashSet::new());
    for e in of("execute") {
        done.insert(e["args"]["packet"].as_u64().unwrap());
        let (start, end) = span(e);
        let queued = start - e["args"]["waited_us"].as_f64().unwrap();
        let own = loads[&e["tid"].as_u64().unwrap()].iter().rfind(|load| load.0 <= start).unwrap();
        let queued = turn(e, queued);
        if own.1 <= queued {
            continue;
        }
        waited += 1;
        let words = e["name"].as_str().unwrap();
        let rate = mbps.iter().find(|(name, _)| words.split(['-', ' ']).any(|word| word == **name));
        // The profile has no figure for 3DES: nobody else could have done that.
        let Some((_, rate)) = rate else { continue };
        let time = e["args"]["data_bytes"].as_f64().unwrap() * 8.0 / rate;
        let from = idle_from(queued);
        // It could have begun before the load was over, and have been done before the slot was.
        if from < own.1 && from + time < end {
            vain += 1;
        }
    }
    assert!(waited > 0 && done.len() > 100, "{waited} of {}", done.len());
    assert_eq!(vain, 0, "of {waited} that waited for a load");
}
