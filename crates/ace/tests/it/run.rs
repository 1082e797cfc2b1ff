// SPDX-License-Identifier: Apache-2.0
//! `ace run` where captures, outputs and keys are not as they should be. On the CPU engine.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{TRAFFIC, ace, command, root, stderr, stdout};
use serde_json::Value;

const RUN: [&str; 6] = ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--engine", "cpu"];

fn run_to(output: &Path) -> Output {
    ace(&[&RUN[..], &["-o"]].concat(), &[output])
}

/// A shell in the repository's root that knows `ace` as `$0` and the paths as `$1`, …
fn shell(script: &str, paths: &[&Path]) -> Output {
    let ace = command();
    Command::new("bash")
        .args(["-c", script])
        .current_dir(root())
        .envs(ace.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .arg(ace.get_program())
        .args(paths)
        .output()
        .expect("bash starts")
}

/// Transport mode from 10.0.0.1 to 10.0.0.2, everything else passes.
pub fn sas(folder: &Path, policy: &str) -> std::path::PathBuf {
    let path = folder.join("sas.toml");
    let text = format!(
        "default_policy = \"{policy}\"\n[[sa]]\nname = \"b\"\nspi = 4097\ndirection = \"out\"\n\
         mode = \"transport\"\nlocal = \"10.0.0.1\"\nremote = \"10.0.0.2\"\ncipher = \"aes-128-ctr\"\n\
         key = \"000102030405060708090a0b0c0d0e0f00000030\"\nauth = \"hmac-sha1-96\"\n\
         auth_key = \"000102030405060708090a0b0c0d0e0f10111213\"\n"
    );
    fs::write(&path, text).expect("written");
    path
}

/// An IPv4 packet of `len` bytes from 10.0.0.1 to 10.0.0.`to`, UDP by its number.
pub fn packet(to: u8, len: u16) -> Vec<u8> {
    let [a, b] = len.to_be_bytes();
    let mut packet = vec![0x45, 0, a, b, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, to];
    packet.resize(len.into(), 0x5a);
    packet
}

pub fn ethernet(header: &[u8], packet: &[u8]) -> Vec<u8> {
    [&[2; 12], header, packet].concat()
}

pub fn pcap_header(snapshot_len: u32, link: u32) -> Vec<u8> {
    [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, snapshot_len, link].iter().flat_map(|w| w.to_le_bytes()).collect()
}

pub fn record(bytes: &[u8], wire: usize) -> Vec<u8> {
    let words = [1u32, 0, bytes.len() as u32, wire as u32];
    [&words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>(), bytes].concat()
}

pub fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let records = frames.iter().flat_map(|frame| record(frame, frame.len()));
    pcap_header(65_535, 1).into_iter().chain(records).collect()
}

/// Runs a capture that came from memory; the output, and the summary.
pub fn run_bytes(folder: &Path, policy: &str, capture: &[u8], more: &[&str]) -> (Output, Value) {
    let (input, output) = (folder.join("in"), folder.join("out.pcap"));
    fs::write(&input, capture).expect("written");
    let _ = fs::remove_file(&output);
    let args = [&["run", "--engine", "cpu", "--json"], more].concat();
    let out = ace(&args, &[&input, "--sas".as_ref(), &sas(folder, policy), "-o".as_ref(), &output]);
    let summary = serde_json::from_slice(&out.stdout).unwrap_or_default();
    (out, summary)
}

#[test]
fn what_is_no_regular_file_is_written_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let wanted = folder.path().join("wanted.pcap");
    assert_eq!(run_to(&wanted).status.code(), Some(0));
    let len = fs::metadata(&wanted).expect("it is there").len();

    assert_eq!(run_to(Path::new("/dev/null")).status.code(), Some(0));
    assert!(fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());

    let (target, link) = (folder.path().join("target"), folder.path().join("link.pcap"));
    fs::write(&target, "old").expect("written");
    symlink(&target, &link).expect("linked");
    assert_eq!(run_to(&link).status.code(), Some(0));
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&target).expect("it is there").len(), len);

    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            File::open(pipe).and_then(|mut pipe| pipe.read_to_end(&mut bytes)).expect("read")
        })
    };
    assert_eq!(run_to(&pipe).status.code(), Some(0));
    assert_eq!(reader.join().expect("it ends") as u64, len);
    assert!(fs::metadata(&pipe).expect("it is there").file_type().is_fifo());

    let out = run_to(Path::new("-"));
    assert_eq!(
        (out.status.code(), out.stdout.len() as u64),
        (Some(0), len),
        "standard output is the capture"
    );
    assert!(stderr(&out).contains("277 protected"), "{}", stderr(&out));
    let full = run_to(Path::new("/dev/full"));
    assert_eq!(full.status.code(), Some(2), "{}", stderr(&full));
}

#[test]
fn the_umask_decides_who_may_read_what_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for (umask, mode) in [("077", 0o600), ("027", 0o640)] {
        let script = format!(
            "umask {umask}; \"$0\" run {TRAFFIC} --sas tests/demo/protect.toml --engine cpu -o \"$1/{umask}.pcap\" \
             --report \"$1/report-{umask}\""
        );
        let out = shell(&script, &[folder.path()]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        for file in [format!("{umask}.pcap"), format!("report-{umask}/report.html")] {
            let found = fs::metadata(folder.path().join(&file)).expect("it is there").permissions().mode();
            assert_eq!(found & 0o777, mode, "{file}");
        }
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    // A disk of its own, in a name space of its own, where that is allowed.
    let script = format!(
        "mount -t tmpfs -o size=64k none \"$1\" && echo old > \"$1/out.pcap\" || exit 77
         code=0; \"$0\" run {TRAFFIC} --sas tests/demo/protect.toml --engine cpu -o \"$1/out.pcap\" || code=$?
         test \"$(cat \"$1/out.pcap\")\" = old && test \"$(ls -A \"$1\")\" = out.pcap && exit $((code + 40))"
    );
    let program = command().get_program().to_owned();
    let out = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", &script])
        .arg(program)
        .arg(folder.path())
        .current_dir(root())
        .output();
    match out {
        Ok(out) if out.status.code() == Some(42) => {
            assert!(stderr(&out).contains("No space left"), "{}", stderr(&out));
        }
        Ok(out) if out.status.code() == Some(77) || stderr(&out).contains("unshare") => {
            eprintln!("not tested: no name spaces here");
        }
        Ok(out) => panic!("{:?}: {}", out.status, stderr(&out)),
        Err(_) => eprintln!("not tested: no unshare here"),
    }
}

#[test]
fn nothing_that_is_covered_leaves_in_clear_whatever_is_around_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let covered = packet(2, 40);
    let headers: [&[u8]; 9] = [
        &[8, 0],
        &[0x91, 0, 0, 5, 8, 0],
        &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0],
        &[0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0, 0x21],
        &[0x88, 0x47, 0, 1, 1, 64],
        &[0, 48, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0],
        // What cannot be looked through.
        &[0x88, 0xe5, 0, 0, 0, 0, 0, 1],
        &[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0],
        &[0x12, 0x34],
    ];
    let frames: Vec<Vec<u8>> = headers.iter().map(|header| ethernet(header, &covered)).collect();
    let (out, summary) = run_bytes(folder.path(), "bypass", &pcap(&frames), &[]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert_eq!(summary["packets"]["protected"]["packets"], 6, "{summary}");
    assert_eq!((&summary["written"], &summary["not_ip"]), (&6.into(), &0.into()), "{summary}");
    let left = fs::read(folder.path().join("out.pcap")).expect("an output");
    assert!(!left.windows(20).any(|window| window == [0x5a; 20]), "something left in clear");
    // An explicit word lets what cannot be looked through pass, and ARP needs none.
    let frames = [&frames[6..], &[ethernet(&[8, 6], &[0; 28])]].concat();
    let (_, summary) = run_bytes(folder.path(), "bypass", &pcap(&frames), &["--bypass-opaque"]);
    assert_eq!((&summary["written"], &summary["not_ip"]), (&4.into(), &1.into()), "{summary}");
    let (_, summary) = run_bytes(folder.path(), "discard", &pcap(&frames), &["--bypass-opaque"]);
    assert_eq!(summary["written"], 0, "{summary}");
}

/// A pcapng section with one interface and one packet.
fn section(link: u8, bytes: &[u8]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let len = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &len, &body, &len].concat()
    };
    let header = [&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..], &[0xff; 8]].concat();
    let length = (bytes.len() as u32).to_le_bytes();
    let packet = [&[0; 12][..], &length, &length, bytes].concat();
    [block(0x0a0d_0d0a, &header), block(1, &[link, 0, 0, 0, 0, 0, 0, 0]), block(6, &packet)].concat()
}

#[test]
fn a_second_section_of_another_link_type_hides_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let covered = packet(2, 40);
    let capture = [section(1, &ethernet(&[8, 0], &covered)), section(101, &covered)].concat();
    let (out, summary) = run_bytes(folder.path(), "bypass", &capture, &[]);
    // pcap has one link type.
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    assert_eq!((&summary["written"], &summary["packets"]["protected"]["packets"]), (&1.into(), &1.into()));
    assert!(stderr(&out).contains(".pcapng"), "{}", stderr(&out));
    // pcapng has any.
    let (input, output) = (folder.path().join("in"), folder.path().join("out.pcapng"));
    let sas = sas(folder.path(), "bypass");
    let out =
        ace(&["run", "--engine", "cpu", "--json"], &[&input, "--sas".as_ref(), &sas, "-o".as_ref(), &output]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
    assert_eq!((&summary["written"], &summary["packets"]["protected"]["packets"]), (&2.into(), &2.into()));
    let same = ace(&["compare"], &[&output, &output]);
    assert!(stdout(&same).contains("2 packets"), "{}", stdout(&same));
    // What no one knows is dropped.
    let capture = [section(1, &ethernet(&[8, 0], &covered)), section(251, &covered)].concat();
    fs::write(&input, capture).expect("written");
    let out =
        ace(&["run", "--engine", "cpu", "--json"], &[&input, "--sas".as_ref(), &sas, "-o".as_ref(), &output]);
    let summary: Value = serde_json::from_slice(&out.stdout).expect("a summary");
    assert_eq!((&summary["written"], &summary["packets"]["bypassed"]["packets"]), (&1.into(), &0.into()));
}

#[test]
fn a_cut_or_a_giant_frame_costs_itself_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = ethernet(&[8, 0], &packet(9, 60));
    let mut capture = pcap_header(65_535, 1);
    capture.extend(record(&whole[..40], whole.len()));
    capture.extend(record(&vec![8; 70_000], 70_000));
    capture.extend(record(&ethernet(&[8, 6], &vec![0; 70_000]), 70_014));
    capture.extend(record(&whole, whole.len()));
    let (out, summary) = run_bytes(folder.path(), "bypass", &capture, &[]);
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    let counts = [&summary["frames"], &summary["written"], &summary["cut_short"]];
    assert_eq!(counts, [4, 1, 1], "{summary}");
    assert_eq!(summary["unwritable"].as_object().expect("a map").len(), 1, "{summary}");
    assert!(summary["damage"].is_null(), "{summary}");
    let (out, _) = run_bytes(folder.path(), "bypass", &capture[..24 + 16 + 40], &[]);
    assert_eq!(out.status.code(), Some(0), "a capture with a snapshot length is no error: {}", stderr(&out));
    let (out, _) = run_bytes(folder.path(), "bypass", &capture[..24 + 16 + 40], &["--fail-on-drop"]);
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
}

#[test]
fn what_passes_keeps_what_is_behind_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let padded = [ethernet(&[8, 0], &packet(9, 24)), vec![7; 22]].concat();
    let (out, _) = run_bytes(folder.path(), "bypass", &pcap(std::slice::from_ref(&padded)), &[]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert_eq!(fs::read(folder.path().join("out.pcap")).expect("an output")[40..], padded);
}

#[test]
fn memory_is_bounded_behind_a_packet_that_is_being_protected() {
    let folder = tempfile::tempdir().expect("a folder");
    // Less than a third of what follows one protected packet.
    let script = "ulimit -v 160000; exec \"$0\" run - --sas \"$1\" --engine cpu -o /dev/null";
    let ace = command();
    let mut child = Command::new("bash")
        .args(["-c", script])
        .arg(ace.get_program())
        .arg(sas(folder.path(), "bypass"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut input = child.stdin.take().expect("a pipe");
    let feeder = std::thread::spawn(move || {
        let passes = record(&ethernet(&[8, 0], &packet(9, 60_000)), 60_014);
        input.write_all(&pcap(&[ethernet(&[8, 0], &packet(2, 100))]))?;
        (0..9000).try_for_each(|_| input.write_all(&passes))
    });
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(feeder.join().expect("it ends").is_ok());
    assert!(stdout(&out).contains("9001 packets in, 9001 out"), "{}", stdout(&out));
}

/// 64 MB through the CPU engine in less than 64 MB of memory: fed through a pipe, which holds 64 KB, so that when all is
/// written nearly all is done and the process can still be asked.
#[test]
#[cfg(target_os = "linux")]
fn a_run_stays_in_64_mb() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = command()
        .args(["run", "-", "--engine", "cpu", "-o", "/dev/null", "--sas"])
        .arg(sas(folder.path(), "bypass"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ace starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&pcap_header(65_535, 1)).expect("taken");
    let frames: Vec<u8> = [60, 600, 1400, 1400]
        .into_iter()
        .map(|len| ethernet(&[8, 0], &packet(2, len)))
        .flat_map(|frame| record(&frame, frame.len()))
        .collect();
    let rounds = (64 << 20) / frames.len();
    (0..rounds).for_each(|_| input.write_all(&frames).expect("taken"));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    drop(input);
    let out = child.wait_with_output().expect("it ends");
    let packets = rounds * 4;
    assert!(stdout(&out).contains(&format!("{packets} packets in, {packets} out")), "{}", stdout(&out));
    let resident = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let resident: usize = resident.and_then(|kb| kb.parse().ok()).expect("the most that was resident");
    assert!((1 << 10..64 << 10).contains(&resident), "{resident} kB");
}

#[test]
fn the_exit_code_says_that_packets_failed_authentication_or_found_no_sa() {
    let folder = tempfile::tempdir().expect("a folder");
    let (esp, output) = (folder.path().join("esp.pcap"), folder.path().join("out.pcap"));
    assert_eq!(run_to(&esp).status.code(), Some(0));
    let back = fs::read_to_string(root().join("tests/demo/unprotect.toml")).expect("an SA file");
    let file = folder.path().join("wrong.toml");
    let wrong_key = back.replacen("auth_key = \"", "auth_key = \"00", 1);
    let digits = wrong_key.split("auth_key = \"00").nth(1).and_then(|rest| rest.split('"').next());
    let digits = digits.expect("a key").to_owned();
    let wrong_key = wrong_key.replacen(&format!("00{digits}"), &format!("00{}", &digits[2..]), 1);
    let spi = back.lines().find(|line| line.starts_with("spi")).expect("an SPI");
    for (text, cause) in [
        (wrong_key, "icv_mismatch"),
        (back.replacen(spi, "spi = 0xdead", 1), "unknown_spi"),
        ("default_policy = \"discard\"\n".to_owned(), "policy_discard"),
    ] {
        fs::write(&file, text).expect("written");
        let out = ace(&["run", "--engine", "cpu", "--sas"], &[&file, &esp, "-o".as_ref(), &output]);
        assert!(stdout(&out).contains(cause), "{cause}: {}{}", stdout(&out), stderr(&out));
        assert_eq!(out.status.code(), Some(1), "{cause}");
    }
}

#[test]
fn a_folder_of_configurations_that_is_not_there_is_said_before_the_first_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.pcap");
    let out = ace(
        &["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--configurations", "/nope", "-o"],
        &[&output],
    );
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(stderr(&out).contains("/nope"), "{}", stderr(&out));
    assert!(!output.exists());
}
