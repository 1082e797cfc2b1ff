// SPDX-License-Identifier: Apache-2.0
//! Rules and SAs that come and go under traffic: rekeying, removal, clocks, several cores.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use crate::common::{End, NOW, SaText, clear, complete, ends, execute, file, finish, packet, seal, send};
use ace_ipsec::model::{KeyUse, SpecError};
use ace_ipsec::{
    Cause, Event, How, Inside, Lifetime, Outside, Policy, Rule, RuleId, SaSpec, SadError, SeededIvs,
    Selector, Shard, Treatment, Update,
};

fn spec(sa: &SaText) -> SaSpec {
    file(&format!("allow_legacy = true\n{}", sa.toml())).sas()[0].clone()
}

fn out(spi: u32) -> SaSpec {
    spec(&SaText { spi, ..SaText::new("out") })
}

fn into(spi: u32) -> SaSpec {
    spec(&SaText { spi, ..SaText::new("in") })
}

fn shard() -> Shard {
    Shard::new(Policy::Bypass, Box::new(SeededIvs::new(1)))
}

fn everything() -> Rule {
    Rule { selector: Selector::default(), treatment: Treatment::Protect, priority: 0, if_id: 0 }
}

/// What comes out for a packet from inside.
fn inside(shard: &mut Shard) -> End {
    shard.ingest(NOW, Inside, [packet(&clear(b"x"))]);
    finish(shard).remove(0)
}

fn spi_of(end: End) -> u32 {
    u32::from_be_bytes(end.packet()[20..24].try_into().unwrap())
}

/// The rule for which an SA is wanted, and the packet's destination.
fn acquired(gate: &mut Shard) -> Option<(RuleId<Inside>, SocketAddr)> {
    match gate.poll_event() {
        Some(Event::Acquire { rule, flow }) => Some((rule, SocketAddr::new(flow.destination, flow.ports?.1))),
        _ => None,
    }
}

#[test]
fn a_rule_stands_without_its_sa() {
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    for _ in 0..2 {
        assert_eq!(inside(&mut gate), End::Dropped(Cause::NoSa), "though the default is bypass");
    }
    assert_eq!(acquired(&mut gate), Some((rule, SocketAddr::from(([10, 0, 0, 2], 2000)))));
    assert_eq!(gate.poll_event(), None, "once");
    let id = gate.install_outbound(NOW, &out(0x100), rule).unwrap();
    assert_eq!(spi_of(inside(&mut gate)), 0x100);
    let status = gate.remove(id).unwrap();
    assert_eq!((status.sequence, status.counters.forwarded.packets), (1, 1));
    assert_eq!(inside(&mut gate), End::Dropped(Cause::NoSa));
    assert_eq!(acquired(&mut gate), Some((rule, SocketAddr::from(([10, 0, 0, 2], 2000)))));
    assert!(gate.remove(id).is_none() && gate.sa(id).is_none(), "a handle dies with its SA");
    let next = gate.install_outbound(NOW, &out(0x101), rule).unwrap();
    assert_ne!(next, id);
    assert!(gate.sa(id).is_none());
    // Without the rule the default is all there is.
    assert!(gate.remove_inside(rule));
    assert!(!gate.remove_inside(rule));
    assert!(gate.sa(next).is_none());
    assert!(matches!(inside(&mut gate), End::Forwarded(How::Bypassed, _)));
    assert_eq!(gate.install_outbound(NOW, &out(0x102), rule), Err(SadError::Rule));
}

#[test]
fn rekeying_makes_before_it_breaks() {
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    let old = gate.install_outbound(NOW, &out(0x100), rule).unwrap();
    let mut far = shard();
    let far_old = far.install_inbound(NOW, &into(0x100)).unwrap();
    gate.ingest(NOW, Inside, (0..5).map(|_| packet(&clear(b"x"))));
    // Under way while the SA changes.
    far.install_inbound(NOW, &into(0x200)).unwrap();
    let new = gate.install_outbound(NOW, &out(0x200), rule).unwrap();
    gate.ingest(NOW, Inside, (0..5).map(|_| packet(&clear(b"x"))));
    assert!(gate.remove(old).is_some());
    assert!(gate.sa(old).is_none());
    let sealed: Vec<_> = finish(&mut gate).into_iter().map(End::packet).collect();
    let spis: Vec<_> = sealed.iter().map(|packet| packet[22]).collect();
    assert_eq!(spis, [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    far.ingest(NOW, Outside, sealed.iter().map(|sealed| packet(sealed)));
    assert!(far.remove(far_old).is_some());
    let arrived = finish(&mut far);
    assert!(arrived.iter().all(|end| *end == End::Forwarded(How::Decapsulated, clear(b"x"))));
    assert_eq!(arrived.len(), 10);
    far.ingest(NOW, Outside, [packet(&sealed[0])]);
    assert_eq!(finish(&mut far), [End::Dropped(Cause::UnknownSpi)], "ends stay ends");
    // If the new one goes first, the old one is used again.
    let newest = gate.install_outbound(NOW, &out(0x300), rule).unwrap();
    assert_eq!(spi_of(inside(&mut gate)), 0x300);
    gate.remove(newest);
    assert_eq!(spi_of(inside(&mut gate)), 0x200);
    assert_eq!(gate.sa(new).unwrap().sequence, 6);
}

#[test]
fn a_place_is_used_again_when_the_last_packet_has_left() {
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    let first = gate.install_outbound(NOW, &out(0x100), rule).unwrap();
    gate.ingest(NOW, Inside, [packet(&clear(b"x"))]);
    gate.remove(first);
    let second = gate.install_outbound(NOW, &out(0x101), rule).unwrap();
    assert_ne!(first.slot(), second.slot(), "a packet is under way");
    assert_eq!(spi_of(finish(&mut gate).remove(0)), 0x100);
    let third = gate.install_outbound(NOW, &out(0x102), rule).unwrap();
    assert_eq!(first.slot(), third.slot());
    assert_ne!(first, third);
}

#[test]
fn what_cannot_be_installed() {
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    gate.install_inbound(NOW, &into(0x100)).unwrap();
    assert_eq!(gate.install_inbound(NOW, &into(0x100)), Err(SadError::Taken));
    assert_eq!(gate.install_inbound(NOW, &out(0x101)), Err(SadError::Rule));
    assert_eq!(gate.install_outbound(NOW, &into(0x101), rule), Err(SadError::Rule));
    let wrong = |change: fn(&mut SaSpec)| {
        let mut spec = out(0x200);
        change(&mut spec);
        spec.check().unwrap_err()
    };
    assert_eq!(
        wrong(|spec| spec.auth_key = Default::default()),
        SpecError::KeyLength { wanted: 20, found: 0 }
    );
    assert_eq!(wrong(|spec| spec.local = "::1".parse().unwrap()), SpecError::Families);
    assert_eq!(wrong(|spec| spec.first_sequence = 0), SpecError::FirstSequence);
    assert_eq!(wrong(|spec| spec.first_sequence = 1 << 32), SpecError::FirstSequence);
    assert_eq!(wrong(|spec| spec.replay_window = 4097), SpecError::Window);
    assert_eq!(wrong(|spec| spec.protocol = ace_ipsec::Protocol::Ah), SpecError::AhSuite);
    assert_eq!(gate.sas().count(), 1);
}

#[test]
fn the_clock_ends_lifetimes() {
    let at = Duration::from_secs;
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    let mut timed = out(0x100);
    timed.lifetime = Lifetime { soft_seconds: Some(10), hard_seconds: Some(20), ..Lifetime::default() };
    let sa = gate.install_outbound(at(100), &timed, rule).unwrap();
    assert_eq!(gate.poll_timeout(), Some(at(110)));
    gate.tick(at(109));
    assert_eq!(gate.poll_event(), None);
    gate.tick(at(110));
    assert_eq!(gate.poll_event(), Some(Event::SoftLifetime { sa }));
    assert!(matches!(inside(&mut gate), End::Forwarded(How::Protected, _)));
    assert_eq!(gate.poll_timeout(), Some(at(120)));
    // Nobody called in between.
    gate.ingest(at(130), Inside, [packet(&clear(b"x"))]);
    assert_eq!(finish(&mut gate), [End::Dropped(Cause::LifetimeExceeded)]);
    assert_eq!(gate.poll_event(), Some(Event::HardLifetime { sa }));
    assert_eq!(gate.poll_timeout(), None);

    // Since the first packet; and a clock that goes back stands.
    let mut used = out(0x200);
    used.lifetime = Lifetime { hard_use_seconds: Some(5), ..Lifetime::default() };
    let sa = gate.install_outbound(at(10), &used, rule).unwrap();
    assert_eq!(gate.poll_timeout(), None);
    assert!(matches!(inside(&mut gate), End::Forwarded(How::Protected, _)));
    assert_eq!(gate.poll_timeout(), Some(at(135)));
    gate.update(at(131), sa, Update { lifetime: Some(Lifetime::default()), ..Update::default() }).unwrap();
    gate.tick(at(1000));
    assert!(matches!(inside(&mut gate), End::Forwarded(How::Protected, _)));
}

#[test]
fn cores_share_an_outbound_sa() {
    let mut cores = [shard(), shard(), shard()];
    let rules = cores.each_mut().map(|core| core.add_inside(everything()));
    let first = cores[0].install_outbound(NOW, &out(0x100), rules[0]).unwrap();
    let share = cores[0].share(first).unwrap();
    for core in 1..3 {
        cores[core].install_share(NOW, share.clone(), rules[core]).unwrap();
    }
    let lifetime = Update { lifetime: Some(Lifetime::default()), ..Update::default() };
    assert_eq!(cores[0].update(NOW, first, lifetime), Err(SadError::Shared));
    let mut far = shard();
    let far_sa = far.install_inbound(NOW, &into(0x100)).unwrap();
    assert!(far.share(far_sa).is_none(), "a window has one owner");
    let (mut numbers, mut ivs) = (HashSet::new(), HashSet::new());
    for round in 0..100 {
        // Round robin, so that blocks of 16 stay within a window of 64.
        let sealed = inside(&mut cores[round % 3]).packet();
        numbers.insert(sealed[24..28].to_vec());
        ivs.insert(sealed[28..44].to_vec());
        far.ingest(NOW, Outside, [packet(&sealed)]);
        assert_eq!(finish(&mut far), [End::Forwarded(How::Decapsulated, clear(b"x"))], "{round}");
    }
    assert_eq!(numbers.len(), 100);
    assert!(ivs.len() > 33, "cores with one seed repeat IVs of CBC among themselves, and no more");
}

#[test]
fn two_threads_work_on_one_sa() {
    let mut cores = [shard(), shard()];
    let rules = cores.each_mut().map(|core| core.add_inside(everything()));
    let first = cores[0].install_outbound(NOW, &out(0x100), rules[0]).unwrap();
    let share = cores[0].share(first).unwrap();
    cores[1].install_share(NOW, share, rules[1]).unwrap();
    let mut sealed: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads = cores.each_mut().map(|core| {
            scope.spawn(move || {
                let mut sealed = Vec::new();
                (0..800).for_each(|_| sealed.push(inside(&mut *core).packet()));
                sealed
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let number = |packet: &Vec<u8>| u32::from_be_bytes(packet[24..28].try_into().unwrap());
    sealed.sort_by_key(number);
    assert!(sealed.iter().map(number).eq(1..=1600), "whole blocks: each number once and none left out");
    let mut far = shard();
    far.install_inbound(NOW, &into(0x100)).unwrap();
    for packet_ in &sealed {
        far.ingest(NOW, Outside, [packet(packet_)]);
        assert_eq!(finish(&mut far), [End::Forwarded(How::Decapsulated, clear(b"x"))]);
    }
}

/// Counters of counter modes: sequence numbers under a fresh key, a start of their own for each run under another.
#[test]
fn counters_never_come_twice() {
    for cipher in ["aes-128-ctr", "aes-128-gcm-16", "aes-128-ccm-8", "chacha20-poly1305", "aes-128-gmac"] {
        let auth = if cipher.ends_with("ctr") { "hmac-sha1-96" } else { "none" };
        let text = SaText::new("out").suites(cipher, auth);
        let ivs = |spec: &SaSpec, seed| {
            let mut gate = Shard::new(Policy::Discard, Box::new(SeededIvs::new(seed)));
            let rule = gate.add_inside(everything());
            gate.install_outbound(NOW, spec, rule).unwrap();
            gate.ingest(NOW, Inside, (0..40).map(|_| packet(&clear(b"x"))));
            let jobs = gate.jobs().drain(..);
            jobs.map(|job| u64::from_be_bytes(job.operation.buffer[28..36].try_into().unwrap()))
                .collect::<Vec<_>>()
        };
        let reused = spec(&text);
        assert_eq!(reused.key_use, KeyUse::Reused);
        let runs: Vec<_> = (1..4).flat_map(|seed| ivs(&reused, seed)).collect();
        assert_eq!(runs.iter().collect::<HashSet<_>>().len(), 120, "{cipher}: three runs with one key");
        let fresh = SaSpec { key_use: KeyUse::Fresh, ..reused };
        assert!(ivs(&fresh, 1).into_iter().eq(1..=40), "{cipher}");
    }
    let implicit = spec(&SaText::new("out").suites("aes-256-gcm-16-iiv", "none").more("fresh_key = true"));
    let reused = SaSpec { key_use: KeyUse::Reused, ..implicit.clone() };
    assert_eq!((implicit.check(), reused.check()), (Ok(()), Err(SpecError::ImplicitIv)));
    // A key that may have been used before ends at 2^32 packets, with extended numbers too.
    let esn = "esn = true\nfirst_sequence = 5";
    let mut long = spec(&SaText::new("out").suites("aes-128-ctr", "hmac-sha1-96").more(esn));
    long.first_sequence = u64::MAX - 1;
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    gate.install_outbound(NOW, &long, rule).unwrap();
    assert_eq!(seal(&mut gate, 2).len(), 2);
    assert_eq!(send(&mut gate, &clear(b"x")), End::Dropped(Cause::SequenceExhausted));
}

#[test]
fn completions_of_nobody_are_ignored() {
    let mut gate = shard();
    let rule = gate.add_inside(everything());
    gate.install_outbound(NOW, &out(0x100), rule).unwrap();
    gate.ingest(NOW, Inside, [packet(&clear(b"x"))]);
    let mut done = execute(&mut gate);
    for id in [u64::MAX, 7, 1 << 32] {
        let buffer = done[0].buffer.clone();
        assert_eq!(complete(&mut gate, vec![ace_engine::Completion { id, buffer, result: Ok(()) }]), []);
    }
    assert_eq!(complete(&mut gate, vec![done.remove(0)]).len(), 1);
    assert_eq!(ends(&mut gate), []);
}
