// SPDX-License-Identifier: Apache-2.0
//! The command line as a user meets it: good runs, bad inputs, exit codes. On the CPU engine, so that nothing has to
//! be built; the board has its own file.

use std::fs;
use std::path::Path;

use crate::common::{TRAFFIC, ace, root, stderr, stdout};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};

const PCAP_HEADER: usize = 24;

#[test]
fn out_and_back_gives_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let (esp, clear) = (folder.path().join("esp.pcap"), folder.path().join("clear.pcap"));
    let out = ace(&["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--engine", "cpu", "-o"], &[&esp]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains("277 protected"), "{}", stdout(&out));
    let back = ace(&["run", "--sas", "tests/demo/unprotect.toml", "--engine", "cpu", "-o"], &[&clear, &esp]);
    assert_eq!(back.status.code(), Some(0), "{}", stderr(&back));
    assert!(stdout(&back).contains("277 decapsulated"), "{}", stdout(&back));
    assert_eq!(fs::read(root().join(TRAFFIC)).unwrap(), fs::read(&clear).unwrap());

    let same = ace(&["compare", TRAFFIC], &[&clear]);
    assert_eq!(same.status.code(), Some(0), "{}", stdout(&same));
    let other = ace(&["compare", TRAFFIC], &[&esp]);
    assert_eq!(other.status.code(), Some(1), "{}", stdout(&other));
    let found = ace(&["compare", "--json", TRAFFIC], &[&esp]);
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).expect("JSON");
    assert_eq!(
        (&found["packets"], &found["different"], &found["longer"]),
        (&277.into(), &277.into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_seed_repeats_a_run_and_no_seed_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, seed: &[&str]| {
        let path = folder.path().join(name);
        let args = [&["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--engine", "cpu"], seed, &["-o"]]
            .concat();
        assert_eq!(ace(&args, &[&path]).status.code(), Some(0));
        fs::read(path).unwrap()
    };
    assert_eq!(run("a", &["--iv-seed", "7"]), run("b", &["--iv-seed", "7"]));
    assert_ne!(run("c", &[]), run("d", &[]));
}

#[test]
fn a_capture_cut_anywhere_gives_the_packets_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.pcap"), folder.path().join("out.pcap"));
    let whole = fs::read(root().join(TRAFFIC)).unwrap();
    for cut in [0, 1, 3, 4, 10, 23, 24, 25, 39, 40, 41, 500, 5000, whole.len() - 1] {
        fs::write(&input, &whole[..cut]).unwrap();
        let _ = fs::remove_file(&output);
        let out =
            ace(&["run", "--sas", "tests/demo/protect.toml", "--engine", "cpu", "-o"], &[&output, &input]);
        match cut {
            0..PCAP_HEADER => {
                assert_eq!(out.status.code(), Some(2), "cut at {cut}");
                assert!(!output.exists(), "cut at {cut}: an output without an input");
            }
            PCAP_HEADER => assert_eq!(out.status.code(), Some(0), "an empty capture: {}", stderr(&out)),
            _ => {
                assert_eq!(out.status.code(), Some(1), "cut at {cut}");
                assert!(output.exists(), "cut at {cut}: what came before is lost");
                assert!(stderr(&out).contains("in.pcap: packet "), "{}", stderr(&out));
            }
        }
        if cut < PCAP_HEADER {
            assert!(stderr(&out).contains("in.pcap"), "the error names the file: {}", stderr(&out));
        }
    }
}

#[test]
fn a_corrupted_capture_never_panics_and_never_leaks() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.pcap"), folder.path().join("out.pcap"));
    let whole = fs::read(root().join(TRAFFIC)).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..40 {
        let mut bytes = whole[..20_000].to_vec();
        for _ in 0..8 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = PCAP_HEADER + (state % (bytes.len() - PCAP_HEADER) as u64) as usize;
            bytes[at] ^= 1 << (state >> 61);
        }
        fs::write(&input, &bytes).unwrap();
        let out = ace(
            &["run", "--sas", "tests/demo/protect.toml", "--engine", "cpu", "--json", "-o"],
            &[&output, &input],
        );
        assert!(matches!(out.status.code(), Some(0..=2)), "{}", stderr(&out));
        assert!(!stderr(&out).contains("panicked"), "{}", stderr(&out));
        if out.status.code() != Some(2) {
            let summary: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!(
                summary["written"], summary["packets"]["protected"]["packets"],
                "something left in clear"
            );
        }
    }
}

#[test]
fn pcapng_goes_in() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.pcapng"), folder.path().join("out.pcap"));
    let mut reader = pcap_file::pcap::PcapReader::new(fs::File::open(root().join(TRAFFIC)).unwrap()).unwrap();
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    writer
        .write_pcapng_block(InterfaceDescriptionBlock {
            linktype: pcap_file::DataLink::ETHERNET,
            snaplen: 0,
            options: vec![InterfaceDescriptionOption::IfTsResol(9)],
        })
        .unwrap();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        writer
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: packet.timestamp,
                original_len: packet.data.len() as u32,
                data: packet.data,
                options: vec![],
            })
            .unwrap();
    }
    fs::write(&input, writer.into_inner()).unwrap();
    let out = ace(&["run", "--sas", "tests/demo/protect.toml", "--engine", "cpu", "-o"], &[&output, &input]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains("277 protected"), "{}", stdout(&out));
}

#[test]
fn what_matches_nothing_follows_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    let (sas, output) = (folder.path().join("sas.toml"), folder.path().join("out.pcap"));
    let only_b = "[[sa]]\nname = \"b\"\nspi = 4097\ndirection = \"out\"\nmode = \"transport\"\n\
                  local = \"10.0.0.1\"\nremote = \"10.0.0.2\"\ncipher = \"aes-128-ctr\"\n\
                  key = \"000102030405060708090a0b0c0d0e0f00000030\"\nauth = \"hmac-sha1-96\"\n\
                  auth_key = \"000102030405060708090a0b0c0d0e0f10111213\"\n";
    for (policy, written, code) in [("", 101, 1), ("default_policy = \"bypass\"\n", 277, 0)] {
        fs::write(&sas, format!("{policy}{only_b}")).unwrap();
        let out =
            ace(&["run", TRAFFIC, "--engine", "cpu", "--json", "--sas"], &[&sas, "-o".as_ref(), &output]);
        assert_eq!(out.status.code(), Some(code), "{}", stderr(&out));
        let summary: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(summary["written"], written);
        assert_eq!(summary["packets"]["protected"]["packets"], 101);
    }
}

#[test]
fn a_bad_sa_file_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let (sas, output) = (folder.path().join("sas.toml"), folder.path().join("out.pcap"));
    let good = fs::read_to_string(root().join("tests/demo/protect.toml")).unwrap();
    for (wrong, words) in [
        (good.replace("aes-128-cbc", "aes-512-cbc"), "aes-128-cbc"),
        (good.replacen("key = \"", "key = \"00", 1), "16 bytes"),
        (good.replace("allow_legacy = true", "allow_legacy = false"), "allow_legacy"),
        (good.replacen("spi", "sip", 1), "spi"),
        (good.replacen("mode = \"tunnel\"", "mode = \"tunnel", 1), "sas.toml:"),
    ] {
        fs::write(&sas, wrong).unwrap();
        let out = ace(&["run", TRAFFIC, "--engine", "cpu", "--sas"], &[&sas, "-o".as_ref(), &output]);
        assert_eq!(out.status.code(), Some(2));
        assert!(!output.exists());
        let text = stderr(&out);
        let line = text.split("sas.toml:").nth(1).and_then(|rest| rest.split(':').next());
        assert!(line.is_some_and(|line| line.parse::<u32>().is_ok()), "no line: {text}");
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

#[test]
fn input_and_output_must_differ() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.pcap");
    fs::copy(root().join(TRAFFIC), &copy).unwrap();
    let out = ace(&["run", "--sas", "tests/demo/protect.toml", "--engine", "cpu", "-o"], &[&copy, &copy]);
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(fs::read(root().join(TRAFFIC)).unwrap(), fs::read(&copy).unwrap());
}

#[test]
fn an_output_that_cannot_be_written_is_an_error_that_names_it() {
    let nowhere = root().join("tests/demo/no/such/folder/out.pcap");
    let out =
        ace(&["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--engine", "cpu", "-o"], &[&nowhere]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("no/such/folder"), "{}", stderr(&out));
}

#[test]
fn known_answers_pass_fail_and_skip() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("aes.csv");
    let head = "source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex\n";
    // FIPS 197, appendix B.
    let good = "FIPS 197,ECB,2b7e151628aed2a6abf7158809cf4f3c,,3243f6a8885a308d313198a2e0370734,3925841d02dc09fbdc118597196a0b32\n";
    let wrong = good.replace("3925", "3926");
    let other = good.replace("ECB", "PCBC");
    for (rows, code, last) in [
        (good.to_owned(), 0, "1 passed, 0 failed"),
        (format!("{good}{wrong}"), 1, "1 passed, 1 failed"),
        (format!("{good}{other}"), 0, "1 passed, 0 failed, 1 skipped"),
        (other, 1, "0 passed, 0 failed, 1 skipped"),
    ] {
        fs::write(&file, format!("{head}{rows}")).unwrap();
        let out = ace(&["kat", "aes", "--engine", "cpu"], &[&file]);
        assert_eq!(out.status.code(), Some(code), "{}{}", stdout(&out), stderr(&out));
        assert_eq!(stdout(&out).lines().last(), Some(last));
        let json = ace(&["kat", "aes", "--engine", "cpu", "--json"], &[&file]);
        assert_eq!(json.status.code(), Some(code));
        serde_json::from_slice::<serde_json::Value>(&json.stdout).expect("JSON");
    }
    for text in ["", head] {
        fs::write(&file, text).unwrap();
        let out = ace(&["kat", "aes", "--engine", "cpu"], &[&file]);
        assert!(matches!(out.status.code(), Some(1 | 2)), "nothing ran: {}", stdout(&out));
    }
    // A column that nobody would look at is named, of packets as well.
    for (algorithm, columns) in [
        ("aes", "source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex,verdict\na,ECB,00,,00,00,valid\n"),
        ("esp", "source,proto,enc_alg,esp_hex,verdict\na,ESP,NULL,00,valid\n"),
    ] {
        fs::write(&file, columns).unwrap();
        let out = ace(&["kat", algorithm, "--engine", "cpu"], &[&file]);
        assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
        assert!(stderr(&out).contains("`verdict`"), "{}", stderr(&out));
    }
    let out = ace(&["kat", "rot13", "--engine", "cpu"], &[&file]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("aes, des, 3des"), "{}", stderr(&out));
}

#[test]
fn a_study_needs_configurations_and_prints_json() {
    let folder = tempfile::tempdir().unwrap();
    let out = ace(&["study", "ace-2000", "--configurations"], &[folder.path()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("make models"), "{}", stderr(&out));

    // A manifest with the fields that a study reads, of a cipher twice as large as its brother.
    for (name, rounds, mbps) in [("one", 1, 100.0), ("two", 2, 150.0)] {
        let of = |what: &str| {
            format!(r#"{{"algorithm":"aes","key_bytes":16,"mode":"ecb","direction":"encrypt",{what}}}"#)
        };
        let cbc = of(&format!(r#""mbps":{mbps}"#)).replace("ecb", "cbc");
        let manifest = format!(
            r#"{{"schema":1,"name":"{name}","top":"t","parameters":{{"Unrolled":{rounds}}},"device":"LFE5U-45F",
            "fmax_mhz":100.0,"area":{{"lut4":10}},"throughput_mbps":[{},{cbc}],
            "cycles":{{"per_block":[{},{}],"key_setup":[{}]}},
            "can":[{{"algorithm":"aes","code":1,"kind":"cipher","block_bytes":16,"key_bytes":[16],
            "directions":["encrypt"],"modes":["ecb","cbc"]}}],"memory_sha256":"{}",
            "files":{{"bitstream":{{"path":"b","bytes":1,"sha256":"{}"}},"model":{{"path":"m","bytes":1,"sha256":"{}"}}}}}}"#,
            of(&format!(r#""mbps":{mbps}"#)),
            of(r#""cycles":10"#),
            of(r#""cycles":10"#).replace("ecb", "cbc"),
            of(r#""cycles":3,"first_round":2"#).replace(r#""mode":"ecb","#, ""),
            "0".repeat(64),
            "0".repeat(64),
            "0".repeat(64),
        );
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("manifest.json"), manifest).unwrap();
    }
    let args = ["study", "ace-2000", "--table", "1", "--json", "--configurations"];
    let out = ace(&args, &[folder.path()]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rijndael = &json["finalists"][2];
    assert_eq!(rijndael["paper_hardware"]["mbps"], 353.0);
    assert_eq!(rijndael["iterative"]["configuration"], "two");
    assert_eq!(rijndael["iterative"]["setup_us"], 0.02);
    assert!(rijndael["software"]["feedback_mbps"].as_f64().unwrap() > 0.0);
    let gains: Vec<f64> =
        json["rounds"].as_array().unwrap().iter().map(|l| l["gain"].as_f64().unwrap()).collect();
    assert_eq!(gains, [1.0, 1.5]);
}

#[test]
fn a_flag_that_a_study_does_not_know_is_an_error_that_names_both() {
    for (study, flag) in [("ace-2000", "--vpn"), ("drp-2006", "--table"), ("molen-2003", "--configurations")]
    {
        let out = ace(&["study", study, flag, "2"], &[]);
        assert_eq!(out.status.code(), Some(2), "{study} {flag}");
        let message = stderr(&out);
        assert!(message.contains(flag) && message.contains(&format!("ace study {study}")), "{message}");
    }
    let out = ace(&["study", "ace-2000", "--table", "1", "--also", "x.bit"], &[]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("--table 4"), "{}", stderr(&out));
}

#[test]
fn the_cpu_engine_allocates_nothing_for_a_packet() {
    let output =
        ace(&["bench", "dataplane", "aes-128", "3des", "chacha20", "--seconds", "0.02", "--json"], &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    for part in ["engine", "data_plane"] {
        let rows = rows[part].as_array().expect("a list");
        // Six suites, 64 and 1424 bytes, both directions.
        assert_eq!(rows.len(), 24, "{part}");
        for row in rows {
            assert_eq!(row["allocations"], 0, "{row}");
            assert!(row["gbit_per_second"].as_f64().is_some_and(|speed| speed > 0.0), "{row}");
        }
    }
}

#[test]
fn two_cores_are_measured_by_processor_and_wall_time() {
    let measured = |cores: &str| {
        ace(&["bench", "dataplane", "aes-128-gcm", "--seconds", "0.2", "--json", "--cores", cores], &[])
    };
    for wrong in ["0", "1", "100000"] {
        let output = measured(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(stderr(&output).contains("--cores is between 2 and"), "{}", stderr(&output));
    }
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        let output = measured("2");
        assert!(output.status.success(), "{}", stderr(&output));
        let rows: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        for row in rows.as_array().expect("a list") {
            assert!(row["cpu_times"].as_f64().is_some_and(|times| times > 0.0), "{row}");
        }
        assert_eq!(rows.as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn dispatch_explains_who_does_what() {
    let none = tempfile::tempdir().unwrap();
    let args = ["dispatch", "explain", "--sas", "tests/demo/protect.toml", "--json", "--processor"];
    let explain = |processor: &Path| ace(&args, &[processor, Path::new("--configurations"), none.path()]);
    let out = explain(Path::new("studies/processors/vr5500.toml"));
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let rows: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let of = |operation: &str| {
        let mut all = rows.as_array().unwrap().iter();
        all.rfind(|r| r["operation"] == operation && r["bytes"] == 1424).unwrap().clone()
    };
    // 1424 bytes at 95.5 Mb/s; of 3DES the paper has no figure, and there is no configuration either.
    assert!((of("hmac-md5")["processor_us"].as_f64().unwrap() - 119.3).abs() < 0.1);
    assert_eq!(of("hmac-md5")["verdict"], "processor: no configuration");
    assert_eq!(of("3des-192-cbc encrypt")["verdict"], "nobody");
    let wrong = none.path().join("wrong.toml");
    std::fs::write(&wrong, "name = \"x\"\nsource = \"y\"\n[[rate]]\nalgorithm = \"aes\"\nmbps = 0.0\n")
        .unwrap();
    let out = explain(&wrong);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("wrong.toml: `aes`"), "{}", stderr(&out));
}
