// SPDX-License-Identifier: Apache-2.0
//! Recorded traffic on the virtual clock: what the board gains, and that its reconfiguration stalls nothing.

use serde_json::{Value, json};

const BYTES: u32 = 1400;
const DATA: u32 = 1348;
const PACKETS: u32 = 150;

/// Two connections, one after the other, of a window of 40 packets each: SAs 0 and 1 for the first one, 2 and 3 for the
/// second, whose algorithms are others.
fn recording() -> String {
    let sa = |number: u32, cipher: &str, auth: &str| {
        let out = number.is_multiple_of(2);
        json!({"sa": {"number": number, "name": number.to_string(), "out": out, "ah": false, "tunnel": true,
            "esn": false, "cipher": cipher, "auth": auth}})
    };
    let flow = |number: u32| {
        let ends = if number.is_multiple_of(2) {
            ["10.0.1.1:4000", "10.0.2.1:80"]
        } else {
            ["10.0.2.1:80", "10.0.1.1:4000"]
        };
        let ends = ends.map(|end| format!("{end}{}", number / 2));
        json!({"flow": {"number": number, "protocol": 6, "source": ends[0], "destination": ends[1]}})
    };
    let mut lines = vec![json!({"recording": 1})];
    for (first, cipher, auth) in [(0, "3des-cbc", "hmac-md5-96"), (2, "aes-128-cbc", "hmac-sha1-96")] {
        lines.extend([sa(first, cipher, auth), sa(first + 1, cipher, auth), flow(first), flow(first + 1)]);
        let start = 1_000_000_000 + u64::from(first) * 5_000_000;
        let data = |n: u32| json!({"packet": [start + u64::from(n), first, first, BYTES, DATA, n * DATA, 1]});
        let answer = |n: u32| json!({"packet": [start + u64::from(n), first + 1, first + 1, 52, 0, 1, (n + 1) * DATA]});
        lines.extend((0..40).map(data));
        for n in 40..PACKETS {
            lines.extend([answer(n - 40), data(n)]);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn beside_the_processor_a_reconfiguration_stalls_nothing() {
    if !crate::common::built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("live.rec");
    std::fs::write(&file, recording()).unwrap();
    let out = crate::common::ace(&["gateway", "replay", "--json"], &[&file]);
    assert_eq!(out.status.code(), Some(0), "{}", crate::common::stderr(&out));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let sides = report["sides"].as_array().unwrap();
    assert_eq!(sides.len(), 3);
    let number = |side: usize, key: &str| sides[side][key].as_f64().unwrap();
    // All of it leaves, each time.
    for side in sides {
        let stream = &side["streams"][0];
        assert_eq!((stream["protocol"].as_str(), stream["lost"].as_u64()), (Some("TCP"), Some(0)));
        assert_eq!(stream["packets"].as_u64(), Some(u64::from(4 * PACKETS - 80)));
    }
    assert_eq!((number(0, "loads"), number(0, "by_slots")), (0.0, 0.0));
    assert!(number(1, "loads") >= 1.0 && number(1, "left_in_loads") > 0.0, "{report}");
    assert_eq!(number(2, "by_processor"), 0.0);
    // The board alone waits for its loads; beside a processor nobody does.
    let load_us = 1e3 * number(2, "load_ms") / number(2, "loads");
    assert!(number(2, "pause_in_loads_us") > load_us, "{report}");
    assert!(number(1, "pause_in_loads_us") < load_us / 2.0, "{report}");
    assert!(report["gains"][0]["percent"].as_f64().unwrap() > 20.0, "{report}");
}

#[test]
fn a_processor_that_is_faster_loses_nothing_by_the_board() {
    if !crate::common::built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, processor) = (folder.path().join("live.rec"), folder.path().join("fast.toml"));
    std::fs::write(&file, recording()).unwrap();
    let rate = |name: &str| format!("[[rate]]\nalgorithm = \"{name}\"\nmbps = 800.0\n");
    let rates: String = ["3des", "aes", "md5", "sha1"].map(rate).concat();
    std::fs::write(&processor, format!("name = \"fast\"\nsource = \"a test\"\n{rates}")).unwrap();
    let args = ["gateway", "replay", "--json", "--processor", processor.to_str().unwrap()];
    let out = crate::common::ace(&args, &[&file]);
    assert_eq!(out.status.code(), Some(0), "{}", crate::common::stderr(&out));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(report["gains"][0]["percent"].as_f64().unwrap() > -2.0, "{report}");
}

/// One end of what Table 4 of the paper of 2002 is about: 3DES and HMAC-MD5, packets of 1328 bytes of UDP, out or in, or of
/// a TCP connection whose data goes out or comes in.
fn vpn(tcp: bool, out: bool) -> String {
    const COUNT: u32 = 600;
    const WINDOW: u32 = 48;
    let sa = |number: u32, out: bool| {
        json!({"sa": {"number": number, "name": number.to_string(), "out": out, "ah": false, "tunnel": true,
            "esn": false, "cipher": "3des-cbc", "auth": "hmac-md5-96"}})
    };
    let flow = |number: u32, of: bool| {
        let ends = if of { ["10.0.1.1:4000", "10.0.2.1:80"] } else { ["10.0.2.1:80", "10.0.1.1:4000"] };
        json!({"flow": {"number": number, "protocol": if tcp { 6 } else { 17 }, "source": ends[0], "destination": ends[1]}})
    };
    let mut lines = vec![json!({"recording": 1}), sa(0, out), sa(1, !out), flow(0, out), flow(1, !out)];
    let start = 1_000_000_000;
    let (bytes, data) = (1328, 1276);
    let packet = |n: u32| json!({"packet": [start + u64::from(n), 0, 0, bytes, data, n * data, 1]});
    let answer = |n: u32| json!({"packet": [start + u64::from(n), 1, 1, 52, 0, 1, (n + 1) * data]});
    lines.extend((0..COUNT).flat_map(|n| {
        let answered = (tcp && n >= WINDOW).then(|| answer(n - WINDOW));
        answered.into_iter().chain([packet(n)])
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// On the machine of 2002 the processor is the bottleneck: what it computed beside the board, packets would wait for.
#[test]
fn the_bottleneck_gets_no_more_than_only_it_can_do() {
    if !crate::common::built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, processor) = (folder.path().join("live.rec"), folder.path().join("p3.toml"));
    let rate = |name: &str, mbps: f64| format!("[[rate]]\nalgorithm = \"{name}\"\nmbps = {mbps:.1}\n");
    let rates = rate("3des", 42.9) + &rate("md5", 1e7);
    std::fs::write(&processor, format!("name = \"P-III 866\"\nsource = \"a test\"\n{rates}")).unwrap();
    let args = ["gateway", "replay", "--json", "--greedy", "--packet-us", "249.137", "--board"];
    let args = [&args[..], &["studies/pilchard-2002/board.toml", "--processor", processor.to_str().unwrap()]]
        .concat();
    for (tcp, out) in [(false, true), (false, false), (true, true), (true, false)] {
        std::fs::write(&file, vpn(tcp, out)).unwrap();
        let done = crate::common::ace(&args, &[&file]);
        assert_eq!(done.status.code(), Some(0), "{}", crate::common::stderr(&done));
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        let mbps: Vec<f64> =
            (0..3).map(|side| report["sides"][side]["streams"][0]["mbps"].as_f64().unwrap()).collect();
        println!(
            "TCP {tcp}, out {out}: processor {:.1}, both {:.1}, board {:.1} Mb/s",
            mbps[0], mbps[1], mbps[2]
        );
        assert!(mbps[1] > 0.97 * mbps[0].max(mbps[2]), "TCP {tcp}, out {out}: {mbps:?}");
    }
}

#[test]
fn what_cannot_be_played_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("live.rec");
    std::fs::write(&file, "{\"recording\":1}\nnonsense\n").unwrap();
    let out = crate::common::ace(&["gateway", "replay"], &[&file]);
    assert_eq!(out.status.code(), Some(2));
    assert!(crate::common::stderr(&out).contains("live.rec:2: "), "{}", crate::common::stderr(&out));
    // Nobody has AES-GCM in modelled time.
    let text = recording().replace("3des-cbc", "aes-128-gcm-16").replace("hmac-md5-96", "none");
    std::fs::write(&file, text).unwrap();
    let out = crate::common::ace(&["gateway", "replay"], &[&file]);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        crate::common::stderr(&out).contains("not played by processor: SA 0"),
        "{}",
        crate::common::stderr(&out)
    );
}
