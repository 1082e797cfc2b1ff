// SPDX-License-Identifier: Apache-2.0
//! Several devices inside with the same nets, and what an SA has besides: DSCP, a mark.

use ace_config::gateway::Check;

use super::*;

/// Both directions between the same two nets for each tenant, a key each, and lines that all have.
fn file(ours: char, tenants: &[u32], lines: &str) -> Wanted {
    let mut text = String::new();
    for tenant in tenants {
        for (from, to) in [('1', '2'), ('2', '1')] {
            let (direction, other) = if from == ours { ("out", to) } else { ("in", from) };
            let lines = if direction == "out" { lines } else { "" };
            text += &format!(
                "[[sa]]\nname = \"{from}-{tenant}\"\nspi = 0x{from}0{tenant}0\ndirection = \"{direction}\"\n\
                 mode = \"tunnel\"\nlocal = \"192.0.2.{ours}\"\nremote = \"192.0.2.{other}\"\nif_id = {tenant}\n\
                 selector = {{ src = \"10.0.{from}.0/24\", dst = \"10.0.{to}.0/24\" }}\n{lines}\
                 cipher = \"aes-128-gcm-16\"\nkey = \"{}\"\n",
                format!("{from}{tenant}").repeat(20)
            );
        }
    }
    Wanted::of(&text)
}

fn tenants(ours: char, tenants: &[u32], settings: Settings) -> Core {
    let mut core = Core::new(settings, Box::new(CpuEngine::new()), Box::new(OsIvs::default()));
    core.record_rules();
    core.load(T0, &file(ours, tenants, "")).unwrap();
    core
}

fn with(numbers: &[u32]) -> Settings {
    Settings { interfaces: Interfaces::numbered(numbers), ..settings(Encapsulation::Udp) }
}

fn sent(core: &mut Core, if_id: u32) -> Option<Buffer> {
    let packet = clear(core, 0, 1);
    core.from_inside(T0, if_id, packet);
    core.work(T0);
    match core.poll() {
        Some(Outgoing::Udp { payload, .. }) => Some(payload),
        other => {
            assert_eq!(other, None);
            None
        }
    }
}

#[test]
fn tenants_with_the_same_nets_do_not_meet() {
    let numbers = [0, 7, 8];
    let (mut a, mut b) = (tenants('1', &numbers, with(&[7, 8])), tenants('2', &numbers, with(&[7, 8])));
    for if_id in numbers.into_iter().chain([8, 7, 0]) {
        let payload = sent(&mut a, if_id).unwrap();
        assert_eq!(payload[..4], [0, 0, 0x10, if_id as u8 * 0x10], "the tenant's own SA");
        let packet = clear(&mut a, 0, 1);
        assert_eq!(arrive(&mut b, A, &payload), Some(Outgoing::Inside { if_id, packet }));
    }
    // The SAs of one go; its packets find nobody else's.
    a.load(T0, &file('1', &[0, 8], "")).unwrap();
    assert_eq!(sent(&mut a, 7), None);
    assert_eq!(a.packets().dropped.get(Cause::PolicyDiscard), 1);
    assert!(sent(&mut a, 8).is_some() && sent(&mut a, 0).is_some());
    // Another device is another SA, which goes on behind the numbers that the key has had.
    let moved = Wanted::of(
        "[[sa]]\nname = \"one\"\nspi = 0x1000\ndirection = \"out\"\nmode = \"tunnel\"\nlocal = \"192.0.2.1\"\n\
         remote = \"192.0.2.2\"\ncipher = \"aes-128-gcm-16\"\nkey = \"1234567812345678123456781234567812345678\"\nif_id = 7\n",
    );
    assert_eq!(a.load(T0, &moved).unwrap().added, 1);
    assert!(sent(&mut a, 7).is_some() && sent(&mut a, 0).is_none());
}

#[test]
fn what_an_sa_cannot_have_here_is_refused_with_the_remedy() {
    let (engine, ivs) = (|| Box::new(CpuEngine::new()), || Box::new(OsIvs::default()));
    let refused = |settings, file: &Wanted| {
        Core::new(settings, engine(), ivs()).load(T0, file).expect_err("it was taken").to_string()
    };
    let words = refused(with(&[8]), &file('1', &[8, 7], ""));
    assert!(words.contains("SA 1-7: no device inside") && words.contains("if_id = 7"), "{words}");
    let words = refused(with(&[7]), &file('1', &[7], "output_mark = 5\n"));
    assert!(words.contains("SA 1-7: `output_mark`") && words.contains("leave out `user`"), "{words}");
}

#[test]
fn marks_and_dscp_are_each_sas_own() {
    let settings = Settings { marks: true, ..with(&[7, 8]) };
    let mut a = Core::new(settings, Box::new(CpuEngine::new()), Box::new(OsIvs::default()));
    a.load(T0, &file('1', &[7], "output_mark = 5\n")).unwrap();
    let packet = clear(&mut a, 0, 1);
    a.from_inside(T0, 7, packet);
    a.work(T0);
    let Some(Outgoing::Udp { mark: 5, class: 2, payload, .. }) = a.poll() else { panic!("no mark") };
    // Inbound, as RFC 4301, 5.1.2, has it: DSCP of the outer header where that is asked for, and congestion marks.
    for (line, wanted) in [("copy_dscp = true\n", 0xbb), ("", 0x03)] {
        let text = "[[sa]]\nname = \"in\"\nspi = 0x1070\ndirection = \"in\"\nmode = \"tunnel\"\nlocal = \"192.0.2.2\"\n\
                    remote = \"192.0.2.1\"\ncipher = \"aes-128-gcm-16\"\nkey = \"1717171717171717171717171717171717171717\"\n";
        let mut b = core('2', "", Encapsulation::Udp);
        assert!(!b.copies_class());
        b.load(T0, &Wanted::of(&format!("{text}{line}"))).unwrap();
        assert_eq!(b.copies_class(), !line.is_empty());
        let mut buffer = b.buffer();
        buffer.extend_from_slice(&payload);
        b.from_udp(T0, A.parse().unwrap(), 0xbb, buffer);
        b.work(T0);
        let Some(Outgoing::Inside { if_id: 0, packet }) = b.poll() else { panic!("it does not open") };
        assert_eq!(packet[1], wanted, "{line}");
    }
}

/// Device 7 shares the gateway's table, 8 has one of its own.
#[test]
fn the_wire_sees_rules_whose_nets_nobody_else_may_have() {
    let mut a = tenants('1', &[0, 7, 8], with(&[7, 8]));
    let (outside, inside) = a.rule_changes();
    let seen = |now: Option<(ace_ipsec::Rule, u64)>| now.map(|(rule, _)| rule.if_id);
    let mut numbers: Vec<_> = outside.into_iter().filter_map(|change| seen(change.now)).collect();
    numbers.extend(inside.into_iter().filter_map(|change| seen(change.now)));
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 0, 7, 7]);
}

/// Pings of a tenant's end, and answers to senders, go by its device.
#[test]
fn what_the_gateway_says_itself_goes_by_the_tenants_device() {
    let mut settings = with(&[7, 8]);
    let (to, from) = (IpAddr::from([10, 0, 2, 1]), IpAddr::from([10, 0, 1, 1]));
    settings.peers[1].check = Some(Check { to, from, if_id: 8, interval: 10 });
    let (mut a, mut b) = (tenants('1', &[7, 8], settings), tenants('2', &[7, 8], with(&[7, 8])));
    a.tick(T0);
    a.work(T0);
    let Some(Outgoing::Udp { payload, .. }) = a.poll() else { panic!("no ping") };
    assert_eq!(payload[..4], [0, 0, 0x10, 0x80]);
    assert!(matches!(arrive(&mut b, A, &payload), Some(Outgoing::Inside { if_id: 8, .. })));
    while a.poll().is_some() {}
    // Too long for its way: the sender hears of it where he is.
    let about = TooBig {
        spi: 0x1080,
        protocol: ace_ipsec::Protocol::Esp,
        sequence: None,
        to: B.parse().unwrap(),
        mtu: 600,
    };
    a.too_big(T0, about);
    let mut long = Vec::new();
    etherparse::PacketBuilder::ipv4([10, 0, 1, 9], [10, 0, 2, 9], 64)
        .udp(1, 2)
        .write(&mut long, &[0; 1000])
        .unwrap();
    long[6] = 0x40;
    let mut buffer = a.buffer();
    buffer.extend_from_slice(&long);
    a.from_inside(T0, 8, buffer);
    a.work(T0);
    assert!(matches!(a.poll(), Some(Outgoing::Inside { if_id: 8, .. })));
}
