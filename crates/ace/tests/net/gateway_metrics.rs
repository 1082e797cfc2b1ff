// SPDX-License-Identifier: Apache-2.0
//! The page of a gateway that runs, as Prometheus takes it, and what `status` says of keys and other ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::gateway::{B, GCM, UDP, ask, gateway, gateway_of, sas};
use crate::netns::{World, until};
use crate::xfrm::Ends;

const PAGE: &str = "127.0.0.1:9450";

fn metrics(world: &World, of: &str) -> String {
    let mut stream = world.within(of, || TcpStream::connect(PAGE).expect("it listens"));
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {PAGE}\r\n\r\n").expect("it goes");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}

/// The value of the first line that begins so.
fn value(text: &str, begins: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(begins));
    let line = line.unwrap_or_else(|| panic!("{begins} is not in\n{text}"));
    line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number")
}

fn check(text: &str) {
    if !crate::common::installed("promtool") {
        return;
    }
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_live_page_says_since_when_to_whom_and_what_is_missing() {
    let Some(world) = World::new() else { return };
    let limited = sas(1, "tunnel", '0', GCM).replace(
        "fresh_key = true\n",
        "fresh_key = true\nlifetime = { soft_seconds = 500, hard_seconds = 600 }\n",
    );
    // One that nobody has an SA with.
    let outside = format!("{UDP}[page]\nlisten = \"{PAGE}\"\n[[peer]]\naddress = \"192.0.2.99\"\n");
    gateway_of(&world, 1, "", &[], &outside, &limited);
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    assert_eq!(world.ping("a", B, 5), 5);
    let text = metrics(&world, "a");
    check(&text);
    let began = value(&text, "process_start_time_seconds");
    let heard = value(&text, "ace_peer_last_authenticated_time_seconds{peer=\"192.0.2.2\"}");
    let installed = value(&text, "ace_sa_start_time_seconds{");
    assert!(installed >= began && heard >= installed, "{began} {installed} {heard}");
    assert!((value(&text, "ace_sa_hard_end_time_seconds{") - installed - 600.0).abs() < 0.01);
    assert!((value(&text, "ace_sa_soft_end_time_seconds{") - installed - 500.0).abs() < 0.01);
    assert!(value(&text, "ace_peer_packets_total{peer=\"192.0.2.2\",direction=\"in\"}") >= 5.0);
    assert_eq!(value(&text, "ace_peer_without_sa{peer=\"192.0.2.2\"}"), 0.0);
    assert_eq!(value(&text, "ace_peer_without_sa{peer=\"192.0.2.99\"}"), 1.0);
    assert_eq!(value(&text, "ace_gateway_open_key_files"), 0.0);
    // Somebody opens the keys.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(world.path("a-sas.toml"), mode).expect("it is ours");
    assert_eq!(value(&metrics(&world, "a"), "ace_gateway_open_key_files"), 1.0);
    let status = ask(&world, "a", "status");
    assert!(status["open_keys"].as_str().is_some_and(|file| file.ends_with("(mode 644)")), "{status}");
    let shown = crate::common::ace(&["gateway", "status", "--control"], &[&world.path("a.sock")]);
    let shown = crate::common::stdout(&shown);
    for words in ["others may read or write these keys", "nowhere, without SA (0 out, 0 in)", "s ago"] {
        assert!(shown.contains(words), "{shown}");
    }
}

/// Keys that are open are taken with a word in the log.
#[test]
fn open_keys_are_told_in_log_status_and_metrics() {
    let Some(world) = World::new() else { return };
    let a = gateway(&world, 1, &format!("{UDP}[page]\nlisten = \"{PAGE}\"\n"), &sas(1, "tunnel", '0', GCM));
    assert_eq!(world.end(a, "-TERM"), Some(0));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(world.path("a-sas.toml"), mode).expect("it is ours");
    let mut ace = crate::common::command();
    world.start("a", ace.args(["gateway", "--allow-open-keys"]).arg(world.path("a.toml")), "again.log");
    until("it is ready", || world.read("again.log").contains("ready sas="));
    assert!(world.read("again.log").contains("others may read or write these keys"));
    assert!(ask(&world, "a", "status")["open_keys"].is_string());
    assert_eq!(value(&metrics(&world, "a"), "ace_gateway_open_key_files"), 1.0);
}

/// Over XFRM: a trap waits for its first packet and a policy without a template wants no SA. Neither is missing one.
#[test]
fn a_policy_is_without_an_sa_when_a_packet_of_its_finds_none() {
    let Some(world) = World::new() else { return };
    let page = format!("[page]\nlisten = \"{PAGE}\"\n");
    let Some(ends) = Ends::with(world, &[page, String::new()]) else { return };
    let without = || {
        let text = metrics(&ends.world, "a");
        let peer = "ace_peer_without_sa{peer=\"192.0.2.2\"}";
        (value(&text, "ace_gateway_rules_without_sa"), text.contains(peer).then(|| value(&text, peer)))
    };
    let template = "tmpl src 192.0.2.1 dst 192.0.2.2 proto esp reqid 1 mode tunnel";
    ends.does("a", &format!("xfrm policy add src 10.0.1.0/24 dst 10.0.2.0/24 dir out {template}"));
    ends.does("a", "xfrm policy add src 10.0.1.0/24 dst 10.0.9.0/24 dir out priority 1");
    assert_eq!(without(), (0.0, None), "a trap, and one that lets pass");
    assert_eq!(ends.world.ping_in_vain("a", B, 1), 0);
    assert_eq!(without(), (1.0, Some(1.0)), "it has asked");
    let sa = "src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x1001 reqid 1 mode tunnel";
    let key = "0x0102030405060708090a0b0c0d0e0f1011121314";
    ends.does("a", &format!("xfrm state add {sa} aead rfc4106(gcm(aes)) {key} 128"));
    assert_eq!(without().0, 0.0);
}
