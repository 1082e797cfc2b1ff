// SPDX-License-Identifier: Apache-2.0
//! `ace run` on the board when bits are damaged, cut, missing or another device's: the packets that needed them are
//! dropped and counted, the others go on, none leaves in clear.

use std::fs;
use std::path::Path;

use crate::common::{TRAFFIC, ace, built, root, stderr};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Packets of A-B (AES, MD5) and of A-C (3DES, SHA-1) in the demo's capture.
const AB: u64 = 134;
const AC: u64 = 143;

/// A folder with the demo's configurations, of which `name` may be changed.
fn copy_of_build(folder: &Path, name: &str) {
    for configuration in ["aes", "3des", "md5", "sha1"] {
        let from = root().join("build/configurations").join(configuration);
        let to = folder.join(configuration);
        if configuration == name {
            fs::create_dir(&to).unwrap();
            for entry in fs::read_dir(&from).unwrap().map(Result::unwrap).filter(|e| e.path().is_file()) {
                fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        } else {
            std::os::unix::fs::symlink(from.canonicalize().unwrap(), to).unwrap();
        }
    }
}

/// Runs the demo's outbound traffic on the configurations in `folder`, without the library, which has its own bits.
fn run(folder: &Path) -> (Value, String) {
    run_with(folder, &["--unsigned"])
}

fn run_with(folder: &Path, how: &[&str]) -> (Value, String) {
    let (output, board) = (folder.join("out.pcap"), folder.join("board.toml"));
    fs::write(&board, "[controller]\nlibrary = \"\"\n").unwrap();
    let args = ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--json", "--keep-going"];
    let args = [&args[..], how, &["--configurations"]].concat();
    let out = ace(&args, &[folder, "-o".as_ref(), &output, "--board".as_ref(), &board]);
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    (serde_json::from_slice(&out.stdout).expect("a summary"), stderr(&out))
}

/// What must hold whenever the AES configuration cannot be used.
fn only_the_others_left(summary: &Value, errors: &str, what: &str) {
    assert_eq!(summary["written"], AC, "{what}");
    assert_eq!(summary["packets"]["protected"]["packets"], AC, "{what}");
    assert_eq!(summary["packets"]["bypassed"]["packets"], 0, "{what}");
    let dropped = summary["packets"]["dropped"].as_object().expect("a map of causes");
    let count: u64 = ["load_failed", "no_configuration"]
        .iter()
        .filter_map(|cause| dropped.get(*cause).and_then(Value::as_u64))
        .sum();
    assert_eq!(count, AB, "{what}: {dropped:?}");
    assert!(errors.contains("aes"), "{what}: the error does not name the configuration: {errors}");
}

fn bitstream(folder: &Path) -> std::path::PathBuf {
    let manifest = fs::read(folder.join("aes/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    folder.join("aes").join(manifest["files"]["bitstream"]["path"].as_str().unwrap())
}

#[test]
fn a_flipped_bit_leaves_the_slot_unconfigured() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy_of_build(folder.path(), "aes");
    let file = bitstream(folder.path());
    let good = fs::read(&file).unwrap();
    // The first bytes (comment), the last, and a spread over all between.
    let spread = (0..12).map(|i| (good.len() * 8 - 1) / 11 * i);
    for bit in [3, 16, 200].into_iter().chain(spread) {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &bad).unwrap();
        let (summary, errors) = run(folder.path());
        only_the_others_left(&summary, &errors, &format!("bit {bit}"));
    }
}

#[test]
fn a_truncated_missing_or_foreign_bitstream_leaves_the_slot_unconfigured() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy_of_build(folder.path(), "aes");
    let file = bitstream(folder.path());
    let good = fs::read(&file).unwrap();
    for length in [0, 1, 100, good.len() / 2, good.len() - 1] {
        fs::write(&file, &good[..length]).unwrap();
        let (summary, errors) = run(folder.path());
        only_the_others_left(&summary, &errors, &format!("{length} bytes"));
    }
    // The bits of another configuration under this one's name.
    fs::copy(root().join("build/configurations/md5/md5.bit"), &file).unwrap();
    let (summary, errors) = run(folder.path());
    only_the_others_left(&summary, &errors, "bits of md5");
    fs::remove_file(&file).unwrap();
    let (summary, errors) = run(folder.path());
    only_the_others_left(&summary, &errors, "no file");
    fs::remove_file(folder.path().join("aes/manifest.json")).unwrap();
    let (summary, errors) = run(folder.path());
    only_the_others_left(&summary, &errors, "no configuration");
}

#[test]
fn what_is_not_signed_or_not_proven_computes_nothing() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy_of_build(folder.path(), "aes");
    // Nobody has signed any of it, and nobody asked for that.
    let (summary, errors) = run_with(folder.path(), &[]);
    assert_eq!((&summary["written"], &summary["packets"]["bypassed"]["packets"]), (&0.into(), &0.into()));
    assert!(errors.contains("signed by nobody (--unsigned"), "{errors}");

    let file = folder.path().join("aes/proof.json");
    let good: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for (pointer, value) in [
        ("/result", "refuted".into()),
        ("/format", 1.into()),
        ("/memory_sha256", good["control"]["memory_sha256"].clone()),
        ("/control/result", "proven".into()),
        ("/control/points_refuted", 0.into()),
    ] {
        let mut edited = good.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        fs::write(&file, edited.to_string()).unwrap();
        let (summary, errors) = run(folder.path());
        only_the_others_left(&summary, &errors, pointer);
    }
    fs::remove_file(&file).unwrap();
    let (summary, errors) = run(folder.path());
    only_the_others_left(&summary, &errors, "no record");

    // The image of the control, which was refuted: one bit of the right image, under a manifest and a record that were
    // edited to fit. The record cannot say that its control is something else.
    let mut port = ace_ecp5::ConfigPort::for_any_device();
    port.push(&fs::read(bitstream(folder.path())).unwrap()).unwrap();
    let mut memory = port.finish().unwrap().clone();
    let number = good["control"]["frame"].as_u64().unwrap() as usize;
    let bit = good["control"]["bit"].as_u64().unwrap() as usize;
    let (frame, was) = (memory.frame(number).unwrap().to_vec(), memory.bit(number, bit));
    let flipped = (0..frame.len() * 8).find(|place| {
        let mut other = frame.clone();
        other[place / 8] ^= 1 << (place % 8);
        assert!(memory.set_frame(number, &other));
        memory.bit(number, bit) != was
    });
    assert!(flipped.is_some(), "{}", good["control"]);
    let digest = hex::encode(memory.digest());
    assert_eq!(good["control"]["memory_sha256"], digest.as_str());
    let bits = ace_ecp5::Emit::default().whole(&memory);
    fs::write(bitstream(folder.path()), &bits).unwrap();
    let manifest = folder.path().join("aes/manifest.json");
    let mut edited: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    edited["memory_sha256"] = digest.clone().into();
    edited["files"]["bitstream"]["bytes"] = bits.len().into();
    edited["files"]["bitstream"]["sha256"] = hex::encode(Sha256::digest(&bits)).into();
    fs::write(&manifest, edited.to_string()).unwrap();
    for own in [good["memory_sha256"].clone(), digest.into()] {
        let mut record = good.clone();
        record["memory_sha256"] = own;
        fs::write(&file, record.to_string()).unwrap();
        let (summary, errors) = run(folder.path());
        only_the_others_left(&summary, &errors, "the refuted control");
        assert!(errors.contains("other bits"), "{errors}");
    }
}

#[test]
fn the_board_and_the_cpu_write_the_same_packets_under_both_policies() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, engine: &[&str]| {
        let path = folder.path().join(name);
        let args = [&["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--iv-seed", "5"], engine, &["-o"]]
            .concat();
        let out = ace(&args, &[&path]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        fs::read(path).unwrap()
    };
    let cpu = run("cpu.pcap", &["--engine", "cpu"]);
    for policy in ["on-demand", "double-buffer", "landlord", "rotation", "adaptive"] {
        assert!(
            run("board.pcap", &["--unsigned", "--policy", policy]) == cpu,
            "{policy}: the packets differ"
        );
    }
}

#[test]
fn what_the_board_has_no_configuration_for_the_cpu_does() {
    let folder = tempfile::tempdir().unwrap();
    let board = folder.path().join("board.toml");
    fs::write(&board, "[controller]\nlibrary = \"\"\n").unwrap();
    let text = |engine: &[&str]| {
        let args = ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--unsigned", "--configurations"];
        let args = [&args[..1], engine, &args[1..]].concat();
        let out = folder.path().join("text.pcap");
        let out = ace(&args, &[folder.path(), "--board".as_ref(), &board, "-o".as_ref(), &out]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        String::from_utf8(out.stdout).expect("a summary")
    };
    let run = |name: &str, engine: &[&str], configurations: &Path| {
        let path = folder.path().join(name);
        let args =
            ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--iv-seed", "5", "--json", "--unsigned"];
        let args = [&args[..], engine, &["--configurations"]].concat();
        let out = ace(&args, &[configurations, "--board".as_ref(), &board, "-o".as_ref(), &path]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
        (fs::read(path).unwrap(), summary)
    };
    let (cpu, _) = run("cpu.pcap", &["--engine", "cpu"], folder.path());
    // Both halves of one of the two associations.
    for names in [&[][..], &["aes", "md5"]] {
        if !names.is_empty() && !built() {
            return;
        }
        let some = tempfile::tempdir().unwrap();
        for name in names {
            let built = root().join("build/configurations").join(name).canonicalize().unwrap();
            std::os::unix::fs::symlink(built, some.path().join(name)).unwrap();
        }
        // Beside a slow processor what it has configurations for is worth a load.
        let slow = ["--engine", "auto", "--processor", "studies/processors/vr5500.toml"];
        let (auto, summary) = run("auto.pcap", &slow, some.path());
        assert!(auto == cpu, "{names:?}: the packets differ");
        assert_eq!(summary["engine"], "auto");
        let loads = summary["board"]["totals"]["loads"].as_u64().expect("a number");
        assert_eq!(loads > 0, !names.is_empty(), "{names:?}: {}", summary["board"]);
    }
    // Who had a choice says that the board was none; who had none does not.
    let all = text(&["--engine", "auto"]);
    assert!(all.contains("everything was computed by the CPU: the board has no configuration"), "{all}");
    assert!(!text(&["--engine", "cpu"]).contains("computed by the CPU"));
}

#[test]
fn the_report_is_one_page_and_a_trace() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.pcap");
    let report = folder.path().join("report");
    let args = ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--unsigned", "--report"];
    let out = ace(&args, &[&report, "-o".as_ref(), &output]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let page = fs::read_to_string(report.join("report.html")).unwrap();
    assert!(page.contains("uPlot (v") && page.contains("The MIT License") && page.contains("</html>"));
    for outside in ["src=", "@import", "url("] {
        assert!(!page.contains(outside), "the page is not self-contained: {outside}");
    }
    assert_eq!(page.matches("href=").count(), page.matches("href=\"https://ui.perfetto.dev\"").count());
    assert!(page.contains("name=\"viewport\"") && page.contains("prefers-color-scheme: dark"));
    // What the page draws are the events of the trace.
    let data = page.split("id=\"run\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let rows = data["boards"][0]["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["slot 0", "slot 1", "host link"]);
    assert!(data["sas"].as_array().unwrap().iter().any(|name| name == "c-to-a"));
    let bars = |row: &Value| row["packet"].as_array().unwrap().iter().filter(|packet| **packet != -1).count();
    assert_eq!(rows[..2].iter().map(bars).sum::<usize>(), 2 * (AB + AC) as usize);
    assert_eq!(data["boards"][0]["packets"]["end"].as_array().unwrap().len(), (AB + AC) as usize);
    let trace: Value = serde_json::from_slice(&fs::read(report.join("trace.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |category: &str| events.iter().filter(|e| e["cat"] == category).count();
    assert_eq!(count("execute"), 2 * (AB + AC) as usize);
    assert!(count("load") >= 4);
    assert_eq!(count("packet"), 2 * (AB + AC) as usize, "a beginning and an end of every packet");
    assert!(events.iter().all(|e| e["pid"].as_u64() >= Some(1)), "Perfetto hides process 0");
    let queue: Vec<_> = events.iter().filter(|e| e["ph"] == "C").map(|e| &e["args"]["packets"]).collect();
    assert!(queue.len() > 10 && queue.last().is_some_and(|last| **last == 0), "the queue ends empty");
    // Nothing happens twice at once in one slot.
    for slot in 0..2 {
        let mut spans: Vec<(f64, f64)> = events
            .iter()
            .filter(|e| e["pid"] == 1 && e["tid"] == slot + 1 && e["ph"] == "X")
            .map(|e| (e["ts"].as_f64().unwrap(), e["dur"].as_f64().unwrap()))
            .collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(spans.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0 + 1e-6), "slot {slot}: events overlap");
    }
}

#[test]
fn what_a_load_is_said_to_take_is_what_it_takes() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // One configuration for each algorithm: the first one that can serve is the one that is loaded.
    copy_of_build(folder.path(), "");
    let output = folder.path().join("out.pcap");
    let sas = ["--sas", "tests/demo/protect.toml", "--json", "--configurations"];
    let out = ace(&[&["run", TRAFFIC], &sas[..]].concat(), &[folder.path(), "-o".as_ref(), &output]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
    let processor = Path::new("studies/processors/vr5500.toml");
    let processor = ["--processor".as_ref(), processor];
    let out =
        ace(&[&["dispatch", "explain"], &sas[..]].concat(), &[&[folder.path()], &processor[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let explained: Value = serde_json::from_slice(&out.stdout).expect("rows");
    let mut compared = 0;
    for loaded in summary["board"]["configurations"].as_array().expect("a list") {
        let (loads, load) = (loaded["loads"].as_u64().unwrap(), loaded["load"].as_u64().unwrap());
        let stated =
            explained.as_array().expect("a list").iter().find(|r| r["configuration"] == loaded["name"]);
        if let Some(stated) = stated.filter(|_| loads > 0) {
            assert_eq!(loaded["from_library"], true, "{loaded}");
            let stated = stated["load_us"].as_f64().expect("a figure");
            assert!((stated - load as f64 / loads as f64 / 1e6).abs() < 1e-6, "{stated}: {loaded}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}
