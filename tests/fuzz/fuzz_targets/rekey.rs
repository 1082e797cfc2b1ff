// SPDX-License-Identifier: Apache-2.0
//! SAs and rules come and go while packets are under way, in whatever order the input says. Every packet comes out
//! once, those that a rule protects never in clear, and what an SA sealed is opened by its other end, as long as there
//! is one.
#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use ace_config::SaFile;
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Completion, Engine};
use ace_ipsec::{
    Cause, Fate, How, Inside, Outside, Packet, Policy, Rule, RuleId, SaId, SaSpec, SeededIvs, Shard, Time,
    Treatment,
};
use libfuzzer_sys::fuzz_target;

/// Of every way in which a packet is worked on one: MAC, cipher and MAC, AEAD, implicit IV, AH.
const SUITES: [&str; 5] = [
    "cipher = \"null\"\nauth = \"hmac-sha1-96\"\nauth_key = \"000102030405060708090a0b0c0d0e0f10111213\"\n",
    "cipher = \"aes-128-cbc\"\nkey = \"000102030405060708090a0b0c0d0e0f\"\n\
     auth = \"aes-cmac-96\"\nauth_key = \"000102030405060708090a0b0c0d0e0f\"\n",
    "cipher = \"aes-128-gcm-8\"\nkey = \"000102030405060708090a0b0c0d0e0f10111213\"\nesn = true\n",
    "cipher = \"aes-128-ccm-8-iiv\"\nkey = \"000102030405060708090a0b0c0d0e0f101112\"\nfresh_key = true\n",
    "protocol = \"ah\"\nauth = \"aes-xcbc-96\"\nauth_key = \"000102030405060708090a0b0c0d0e0f\"\n",
];

static SPECS: LazyLock<[[SaSpec; 2]; 5]> = LazyLock::new(|| {
    let ends = [
        "direction = \"out\"\nlocal = \"1.1.1.1\"\nremote = \"2.2.2.2\"\n",
        "direction = \"in\"\nlocal = \"2.2.2.2\"\nremote = \"1.1.1.1\"\n",
    ];
    SUITES.map(|suite| {
        ends.map(|ends| {
            let text = format!(
                "[[sa]]\nname = \"a\"\nspi = 0x100\nmode = \"tunnel\"\n{suite}{ends}\
                 selector = {{ src = \"10.0.0.0/8\" }}\n"
            );
            let file = SaFile::parse("fuzz", &text).unwrap_or_else(|errors| panic!("{errors}"));
            file.sas()[0].clone()
        })
    })
});

/// 10.0.0.1 to 10.0.0.2, protocol 200, with a byte of payload.
fn packet(token: u64, byte: u8) -> Packet {
    let mut bytes = [0x45, 0, 0, 21, 0, 0, 0, 0, 9, 200, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, byte];
    let sum = ace_ipsec::packet::ip::checksum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    Packet { token, buffer: Buffer::from_packet(&bytes, 64, 64) }
}

struct World {
    here: Shard,
    there: Shard,
    rule: Option<RuleId<Inside>>,
    /// In use, outbound and inbound; without a sender; and the senders of those that are gone at both ends.
    pairs: Vec<(SaId, SaId)>,
    retired: Vec<(SaId, SaId)>,
    gone: HashSet<SaId>,
    buffered: Vec<Completion>,
    spi: u32,
    now: Time,
    out: u64,
}

impl World {
    fn rekey(&mut self, suite: usize) {
        let Some(rule) = self.rule else { return };
        self.spi += 1;
        let [out, into] =
            SPECS[suite % SPECS.len()].each_ref().map(|spec| SaSpec { spi: self.spi, ..spec.clone() });
        let into = self.there.install_inbound(self.now, &into).expect("a new SPI");
        let out = self.here.install_outbound(self.now, &out, rule).expect("a rule that stands");
        self.pairs.push((out, into));
    }

    /// Packets that left here arrive there.
    fn drain(&mut self) {
        while let Some(exit) = self.here.poll_exit() {
            self.out += 1;
            match exit.fate {
                Fate::Dropped(cause) => assert_eq!(cause, Cause::NoSa),
                Fate::ToOutside(How::Bypassed) => assert!(self.rule.is_none(), "a covered packet in clear"),
                fate => {
                    assert_eq!(fate, Fate::ToOutside(How::Protected));
                    let (mut engine, mut done) = (CpuEngine::new(), Vec::new());
                    self.there.ingest(self.now, Outside, [Packet { token: exit.token, buffer: exit.buffer }]);
                    engine.try_submit(self.there.jobs());
                    engine.wait(&mut done);
                    self.there.complete(self.now, &mut done);
                    let arrived = self.there.poll_exit().expect("one in, one out");
                    let gone = exit.sa.is_some_and(|sa| self.gone.contains(&sa));
                    let expected = match gone {
                        false => Fate::ToInside(How::Decapsulated),
                        true => Fate::Dropped(Cause::UnknownSpi),
                    };
                    assert_eq!((arrived.token, arrived.fate), (exit.token, expected));
                }
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let shard = || Shard::new(Policy::Bypass, Box::new(SeededIvs::new(0)));
    let mut world = World {
        here: shard(),
        there: shard(),
        rule: None,
        pairs: Vec::new(),
        retired: Vec::new(),
        gone: HashSet::new(),
        buffered: Vec::new(),
        spi: 0x100,
        now: Time::ZERO,
        out: 0,
    };
    let (mut engine, mut sent) = (CpuEngine::new(), 0);
    for &byte in input {
        world.now += Duration::from_millis(u64::from(byte));
        let n = usize::from(byte >> 3);
        match byte % 8 {
            0..3 => {
                world.here.ingest(world.now, Inside, [packet(sent, byte)]);
                sent += 1;
            }
            3 => world.rekey(n),
            4 if !world.pairs.is_empty() => {
                // What is under way still arrives.
                let pair = world.pairs.swap_remove(n % world.pairs.len());
                assert!(world.here.remove(pair.0).is_some());
                world.retired.push(pair);
            }
            5 => {
                engine.try_submit(world.here.jobs());
                engine.wait(&mut world.buffered);
                let count = world.buffered.len();
                world.buffered.rotate_left(n.min(count));
                let mut done = world.buffered.split_off(count / 2);
                world.here.complete(world.now, &mut done);
            }
            6 if world.rule.is_none() => {
                let selector = SPECS[0][0].selector.clone();
                world.rule = Some(world.here.add_inside(Rule {
                    if_id: 0,
                    selector,
                    treatment: Treatment::Protect,
                    priority: 0,
                }));
            }
            // And from now on it does not.
            7 if !world.retired.is_empty() => {
                let (out, into) = world.retired.swap_remove(n % world.retired.len());
                assert!(world.there.remove(into).is_some());
                world.gone.insert(out);
            }
            _ => {}
        }
        world.drain();
    }
    while world.here.in_flight() > 0 {
        engine.try_submit(world.here.jobs());
        engine.wait(&mut world.buffered);
        world.here.complete(world.now, &mut world.buffered);
    }
    world.drain();
    assert_eq!(world.out, sent);
});
