// SPDX-License-Identifier: Apache-2.0
use std::collections::{BTreeSet, HashSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ace_ipsec::Remote;

use super::*;
use crate::engines::CostView;
use crate::status::{Clock, Peer, Sa, SaCounters, Standby, Status};

/// A gateway with a board, one SA and one end.
fn sample() -> State {
    let counts = |of: &[(&str, u64)]| of.iter().map(|(key, n)| ((*key).to_owned(), *n)).collect();
    let mut status =
        Status { version: "1".to_owned(), seconds: 2.5, tun: "ace0".to_owned(), sas: 1, ..Status::default() };
    status.started = 1.5e9;
    status.clear_dropped = Some(3);
    status.standby = Some(Standby { attached: true, take_overs: 2, ..Standby::default() });
    let remote = Remote { outbound: 1, ..Remote::default() };
    let mut peer = Peer::of([192, 0, 2, 2].into(), &remote, Clock(1.6e9));
    peer.sent = Traffic { packets: 5, bytes: 50 };
    peer.authenticated = Some(1.6e9 + 0.25);
    peer.dropped = counts(&[("replayed", 2)]);
    status.peers = vec![peer];
    status.figures.engine = "auto".to_owned();
    status.figures.packets.accepted = Traffic { packets: 3, bytes: 4 };
    status.figures.packets.dropped = counts(&[("no_sa", 7)]);
    status.figures.losses.outside_full = 5;
    status.unwritten.log = 4;
    let sa = Sa {
        name: "a\"b\\c\nd".to_owned(),
        spi: 256,
        direction: "out".to_owned(),
        remote: "192.0.2.2".parse().ok(),
        sequence: 9,
        started: 1.6e9,
        hard_end: Some(1.6e9 + 3600.0),
        counters: SaCounters {
            forwarded: Traffic { packets: 9, bytes: 90 },
            dropped: counts(&[("x", 1), ("y", 2)]),
            ..SaCounters::default()
        },
        ..Sa::default()
    };
    let slot = SlotView { resident: Some("aes".to_owned()), loads: 1, ..SlotView::default() };
    let cost = CostView {
        operation: "aes".to_owned(),
        bytes: 64,
        cpu_ns: Some(500.0),
        by_cpu: 3,
        ..CostView::default()
    };
    let board = BoardView { slots: vec![slot, SlotView::default()], ..BoardView::default() };
    let slots = View { board: Some(board), costs: vec![cost], ..View::default() };
    State { status, sas: vec![sa], slots }
}

#[test]
fn every_line_belongs_to_the_family_above_it_and_labels_are_quoted() {
    let mut state = sample();
    let text = exposition(&state);
    let (mut family, mut seen) = (String::new(), HashSet::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split(' ').next().unwrap_or_default().to_owned();
            assert!(seen.insert(family.clone()), "{family} twice");
        } else if !line.starts_with("# TYPE ") {
            let (name, rest) = line.split_at(line.find(['{', ' ']).expect(line));
            assert_eq!(name, family, "{line}");
            let value = rest.rsplit(' ').next().expect(line);
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
    for wanted in [
        "ace_gateway_dropped_total{cause=\"no_sa\"} 7",
        "ace_sa_packets_total{name=\"a\\\"b\\\\c\\nd\",spi=\"0x100\",direction=\"out\",peer=\"192.0.2.2\",interface=\"\"} 9",
        "ace_sa_dropped_total{name=\"a\\\"b\\\\c\\nd\",spi=\"0x100\",direction=\"out\",peer=\"192.0.2.2\",interface=\"\"} 3",
        "ace_slot_holds{slot=\"0\",configuration=\"aes\"} 1",
        "ace_engine_packets_total{operation=\"aes\",bytes_from=\"64\",engine=\"cpu\"} 3",
        "ace_engine_packet_seconds{operation=\"aes\",bytes_from=\"64\",engine=\"cpu\"} 0.0000005",
        "process_start_time_seconds 1500000000",
        "ace_standby_attached 1",
        "ace_standby_take_overs 2",
        "ace_gateway_dropped_total{cause=\"replayed\"} 0",
        "ace_sa_start_time_seconds{name=\"a\\\"b\\\\c\\nd\",spi=\"0x100\",direction=\"out\",peer=\"192.0.2.2\",interface=\"\"} 1600000000",
        "ace_sa_hard_end_time_seconds{name=\"a\\\"b\\\\c\\nd\",spi=\"0x100\",direction=\"out\",peer=\"192.0.2.2\",interface=\"\"} 1600003600",
        "ace_peer_packets_total{peer=\"192.0.2.2\",direction=\"out\"} 5",
        "ace_peer_without_sa{peer=\"192.0.2.2\"} 1",
        "ace_peer_last_authenticated_time_seconds{peer=\"192.0.2.2\"} 1600000000.25",
        "ace_peer_dropped_total{peer=\"192.0.2.2\",cause=\"replayed\"} 2",
        "ace_gateway_peers_without_sa 1",
        "ace_gateway_unwritten_total{what=\"log\"} 4",
        "ace_gateway_losses_total{cause=\"outside_full\"} 5",
    ] {
        assert!(text.lines().any(|line| line == wanted), "{wanted} is not in\n{text}");
    }
    assert!(!text.contains("ace_link_"), "it is simulated");
    // A board behind a cable has no modelled time.
    let link = LinkView {
        sessions_lost: 3,
        sessions_renewed: 4,
        resent: 5,
        loads_by_cable: 6,
        loads_by_name: 7,
        store_words: 8,
        round_trip_seconds: Some(0.0025),
        ..LinkView::default()
    };
    if let Some(board) = &mut state.slots.board {
        board.link = Some(link);
    }
    let text = exposition(&state);
    for wanted in [
        "ace_link_up 1",
        "ace_link_sessions_lost_total 3",
        "ace_link_sessions_renewed_total 4",
        "ace_link_resent_total 5",
        "ace_link_cable_loads_total 6",
        "ace_link_named_loads_total 7",
        "ace_link_store_words 8",
        "ace_link_round_trip_seconds 0.0025",
        "ace_slot_loads_total{slot=\"0\"} 1",
    ] {
        assert!(text.lines().any(|line| line == wanted), "{wanted} is not in\n{text}");
    }
    assert!(!text.contains("modelled"), "{text}");
    state.slots = View::default();
    assert!(!exposition(&state).contains("ace_board"));
}

/// What a page costs Prometheus is bounded, however many SAs and ends there are.
#[test]
fn ten_thousand_sas_are_counted_and_a_thousand_are_listed() {
    let sas: Vec<Sa> = (0..10_000u32)
        .map(|n| Sa { spi: 256 + n, hard_lifetime_over: n % 10 == 0, ..Sa::default() })
        .collect();
    let end = |n: u32| Peer::of(std::net::Ipv4Addr::from(n).into(), &Remote::default(), Clock::default());
    let mut status = Status { sas: sas.len(), ..Status::default() };
    status.peers = (0..10_000).map(end).collect();
    for peer in &mut status.peers {
        peer.dropped = Cause::ALL.iter().map(|cause| (cause.name().to_owned(), 1)).collect();
    }
    let text = exposition(&State { status, sas, slots: View::default() });
    let count = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((count("ace_sa_packets_total{"), count("ace_peer_sas{")), (1000, 2000));
    for (name, of_all) in [
        ("ace_gateway_sas 10000", 1),
        ("ace_gateway_sas_expired{limit=\"hard\"} 1000", 1),
        ("ace_gateway_sas_unlisted 9000", 1),
        ("ace_gateway_peers_unlisted 9000", 1),
        ("ace_gateway_peers_without_sa 10000", 1),
    ] {
        assert_eq!(count(name), of_all, "{name}");
    }
    let most = 8 * tunnels::MOST_SAS + (12 + Cause::ALL.len()) * tunnels::MOST_PEERS + 1000;
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    assert!(series <= most, "{series}");
}

/// Runs Debian's promtool (package `prometheus`) beside the rules. `None`, and it says so, where it is not there.
fn promtool(arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(folder().join("prometheus"));
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(why) => {
            assert!(std::env::var_os("CI").is_none(), "promtool (apt-get install prometheus): {why}");
            eprintln!("no promtool on this machine (apt-get install prometheus): nothing was checked");
            return None;
        }
    };
    // Whoever reads no input may be gone.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let words = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&words).into_owned()))
}

fn folder() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

#[test]
fn prometheus_takes_the_page_and_the_rules() {
    let page = exposition(&sample());
    let Some((good, words)) = promtool(&["check", "metrics"], &page) else { return };
    assert!(good && words.is_empty(), "{words}");
    for arguments in [["check", "rules", "ace.rules.yml"], ["test", "rules", "ace.rules.test.yml"]] {
        let (good, words) = promtool(&arguments, "").expect("it was there");
        assert!(good, "{words}");
    }
    // It would say so.
    let bad = page.replace("ace_gateway_bytes_total", "ace_gateway_bytes");
    assert!(promtool(&["check", "metrics"], &bad).is_some_and(|(good, _)| !good));
}

/// Names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("ace_") || *word == "process_start_time_seconds").collect()
}

#[test]
fn dashboard_and_rules_name_what_the_page_prints() {
    let page = exposition(&sample());
    let printed: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for file in ["grafana/ace.json", "prometheus/ace.rules.yml", "prometheus/ace.rules.test.yml"] {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        let named = metrics(&text);
        assert!(named.len() > 5, "{file}: {named:?}");
        let unknown: Vec<_> = named.difference(&printed).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}");
    }
    let dashboard = std::fs::read_to_string(folder().join("grafana/ace.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10));
}
