// SPDX-License-Identifier: Apache-2.0
//! A gateway under everything that people, charon and power cuts do to it: no number leaves twice under a key, and no
//! packet is taken twice. ACE_STEPS says how many steps are taken in all.

use std::collections::HashSet;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ace_config::gateway::{Encapsulation, Peer};
use ace_engine::software::CpuEngine;
use ace_ipsec::OsIvs;
use ace_ipsec::packet::ip::Outer;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::core::Wanted;
use crate::{Core, Outgoing, Settings};

const T0: Duration = Duration::ZERO;
/// Pairs of SAs of the file; nets 10.1 and up. XFRM's has net 10.0.
const PAIRS: u8 = 3;
/// Requests of XFRM, of the fuzz target's seed: both SAs, a policy, and the end of the outbound SA.
const SEED: &[u8] = include_bytes!("../../../../tests/fuzz/seeds/xfrm/udp");
const ADD_OUT: usize = 0;
const POLICY: usize = 2;
const DELETE: usize = 8;

/// A disk that loses power.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Platter>>);

#[derive(Default)]
struct Platter {
    durable: Vec<u8>,
    cached: Vec<(u64, Vec<u8>)>,
    broken: bool,
    writes: usize,
}

fn put(bytes: &mut Vec<u8>, at: u64, more: &[u8]) {
    let (at, end) = (at as usize, at as usize + more.len());
    bytes.resize(bytes.len().max(end), 0);
    bytes[at..end].copy_from_slice(more);
}

impl Disk {
    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of what was not synced any part is there, and of one write a beginning.
    fn crash(&self, chance: u64) {
        let mut platter = self.platter();
        let cached = std::mem::take(&mut platter.cached);
        for (n, (at, bytes)) in cached.into_iter().enumerate() {
            match chance >> (2 * (n % 32)) & 3 {
                0 => {}
                1 => put(&mut platter.durable, at, &bytes[..bytes.len() / 3]),
                _ => put(&mut platter.durable, at, &bytes),
            }
        }
        platter.broken = false;
    }
}

impl Storage for Disk {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.platter().durable.clone())
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        platter.writes += 1;
        if platter.broken && platter.writes.is_multiple_of(2) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        platter.cached.push((at, bytes.to_vec()));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut platter = self.platter();
        if platter.broken {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let cached = std::mem::take(&mut platter.cached);
        cached.iter().for_each(|(at, bytes)| put(&mut platter.durable, *at, bytes));
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        if platter.broken {
            return Err(io::ErrorKind::StorageFull.into());
        }
        platter.cached.clear();
        platter.durable = bytes.to_vec();
        Ok(())
    }
}

mod pair;
mod versions;

/// How a pair of SAs stands in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    there: bool,
    spi: u8,
    key: u8,
    name: u8,
    lifetime: bool,
    wide: bool,
    fresh: bool,
}

#[derive(Clone, Debug)]
enum Step {
    /// A pair stands in the file like this, and the file is taken.
    Write(u8, Pair),
    /// The file is taken as it is.
    Reload,
    /// The file is cut to nothing, and comes back.
    Empty,
    Send(u8, u8),
    Receive(u8, u8),
    /// A packet of before comes again.
    Replay(usize),
    Xfrm(usize),
    /// Power goes; what was not synced is there in part.
    Crash(u64),
    Stop,
    /// Nothing happens for a while.
    Calm,
    Disk(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let pair = (any::<[bool; 4]>(), 0..2_u8, 0..2_u8, 0..3_u8).prop_map(|(flags, spi, key, name)| {
        let [there, lifetime, wide, fresh] = flags;
        Pair { there, spi, key, name, lifetime, wide, fresh }
    });
    prop_oneof![
        3 => (1..=PAIRS, pair).prop_map(|(n, pair)| Step::Write(n, pair)),
        1 => Just(Step::Reload),
        1 => Just(Step::Empty),
        8 => (0..=PAIRS, 1..40_u8).prop_map(|(n, count)| Step::Send(n, count)),
        6 => (1..=PAIRS, 1..40_u8).prop_map(|(n, count)| Step::Receive(n, count)),
        6 => any::<usize>().prop_map(Step::Replay),
        2 => prop::sample::select(vec![ADD_OUT, POLICY, DELETE]).prop_map(Step::Xfrm),
        2 => any::<u64>().prop_map(Step::Crash),
        1 => Just(Step::Stop),
        2 => Just(Step::Calm),
        1 => any::<bool>().prop_map(Step::Disk),
    ]
}

/// The file of one end. SPIs tell the keys: the pair, which of two SPIs, which of two keys.
fn file(ours: char, pairs: &[Pair]) -> Wanted {
    let mut text = String::new();
    for (n, pair) in (1..).zip(pairs).filter(|(_, pair)| pair.there) {
        for (from, to) in [('1', '2'), ('2', '1')] {
            let (direction, other) = if from == ours { ("out", to) } else { ("in", from) };
            let Pair { spi, key, name, .. } = pair;
            let wide = if pair.wide { "16" } else { "24" };
            let net = |end: char| {
                if pair.wide { format!("10.{n}.0.0/16") } else { format!("10.{n}.{end}.0/{wide}") }
            };
            let lifetime = if pair.lifetime { "lifetime = { hard_packets = 1000000 }\n" } else { "" };
            let fresh = if pair.fresh { "fresh_key = true\n" } else { "" };
            text += &format!(
                "[[sa]]\nname = \"{from}-{n}-{name}\"\nspi = 0x{from}{n}{spi}{key}\ndirection = \"{direction}\"\nmode = \"tunnel\"\n\
                 local = \"192.0.2.{ours}\"\nremote = \"192.0.2.{other}\"\n{lifetime}{fresh}\
                 selector = {{ src = \"{}\", dst = \"{}\" }}\ncipher = \"aes-128-gcm-16\"\nkey = \"{}\"\n",
                net(from),
                net(to),
                format!("{from}{n}{key}0").repeat(10)
            );
        }
    }
    Wanted::of(&text)
}

fn requests() -> Vec<&'static [u8]> {
    let (mut rest, mut all) = (&SEED[1..], Vec::new());
    while let Some((len, tail)) = rest.split_first_chunk() {
        let (request, tail) = tail.split_at(usize::from(u16::from_le_bytes(*len)));
        all.push(request);
        rest = tail;
    }
    all
}

fn core(keys: Option<Keys>) -> Core {
    let peer = |n: u8| Peer {
        address: IpAddr::from([192, 0, 2, n]),
        endpoint: ([198, 51, 100, n], 4500).into(),
        roaming: false,
        check: None,
    };
    let settings = Settings {
        encapsulation: Encapsulation::Udp,
        peers: vec![peer(1), peer(2)],
        mtu: 1400,
        interfaces: crate::core::Interfaces::default(),
        marks: false,
        port: 4500,
        keepalive: None,
        xfrm: Some(true),
        keys,
    };
    Core::new(settings, Box::new(CpuEngine::new()), Box::new(OsIvs::default()))
}

/// What leaves in place of a clear packet of a pair of nets.
fn send(core: &mut Core, n: u8, from: u8) -> Option<Vec<u8>> {
    let mut buffer = core.buffer();
    let outer = Outer {
        source: &IpAddr::from([10, n, from, 9]),
        destination: &IpAddr::from([10, n, 3 - from, 9]),
        traffic_class: 0,
        flow_label: 0,
        dont_fragment: true,
        identification: 0,
        protocol: 1,
    };
    outer.write(buffer.push_back(20), 30).unwrap();
    buffer.extend_from_slice(&[b'x'; 30]);
    core.from_inside(T0, 0, buffer);
    core.work(T0);
    match core.poll() {
        Some(Outgoing::Udp { payload, .. }) => Some(payload.to_vec()),
        None => None,
        other => panic!("{other:?}"),
    }
}

struct World {
    disk: Disk,
    keys: Keys,
    ours: Core,
    /// Another implementation, which remembers nothing.
    theirs: Core,
    pairs: Vec<Pair>,
    /// Keys by SPI, and the IVs that left under them.
    sent: HashSet<(Vec<u8>, [u8; 8])>,
    /// SPIs and numbers that were taken.
    taken: HashSet<(u32, u32)>,
    wire: Vec<Vec<u8>>,
    carried: usize,
}

/// The last digit of an SPI says which key; which SPI of two does not matter. XFRM's has one.
fn key_of(spi: u32) -> Vec<u8> {
    vec![(spi >> 12) as u8, (spi >> 8 & 15) as u8, (spi & 15) as u8]
}

impl World {
    fn new() -> Self {
        let disk = Disk::default();
        let keys = Keys::with(Path::new("state"), Box::new(disk.clone())).unwrap();
        let (ours, theirs) = (core(Some(keys.clone())), core(None));
        let pairs = vec![Pair::default(); usize::from(PAIRS)];
        let (sent, taken, wire) = (HashSet::new(), HashSet::new(), Vec::new());
        Self { disk, keys, ours, theirs, pairs, sent, taken, wire, carried: 0 }
    }

    fn load(&mut self) {
        // What is refused changes nothing; packets of either state are looked at.
        let _ = self.ours.load(T0, &file('1', &self.pairs));
        let _ = self.theirs.load(T0, &file('2', &self.pairs));
    }

    fn start(&mut self) {
        self.keys = Keys::with(Path::new("state"), Box::new(self.disk.clone())).unwrap();
        self.ours = core(Some(self.keys.clone()));
        self.load();
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Write(n, pair) => {
                self.pairs[usize::from(n) - 1] = pair;
                self.load();
            }
            Step::Reload => self.load(),
            Step::Empty => {
                let _ = self.ours.load(T0, &file('1', &[]));
                self.load();
            }
            Step::Send(n, count) => {
                for _ in 0..count {
                    let Some(packet) = send(&mut self.ours, n, 1) else { continue };
                    let spi = u32::from_be_bytes(packet[..4].try_into().unwrap());
                    let iv: [u8; 8] = packet[8..16].try_into().unwrap();
                    self.carried += 1;
                    prop_assert!(self.sent.insert((key_of(spi), iv)), "SPI {spi:#x}: IV {iv:?} again");
                }
            }
            Step::Receive(n, count) => {
                for _ in 0..count {
                    let Some(packet) = send(&mut self.theirs, n, 2) else { continue };
                    self.arrive(&packet)?;
                    self.wire.push(packet);
                }
            }
            Step::Replay(which) => {
                if !self.wire.is_empty() {
                    let packet = self.wire[which % self.wire.len()].clone();
                    self.arrive(&packet)?;
                }
            }
            Step::Xfrm(which) => {
                let local = |address: IpAddr| address == IpAddr::from([192, 0, 2, 1]);
                self.ours.xfrm(T0, requests()[which], &local);
            }
            Step::Crash(chance) => {
                self.disk.crash(chance);
                self.start();
            }
            Step::Stop => {
                // On a broken disk it says so, and the numbers that were written down are passed over.
                let _ = self.keys.stop();
                self.disk.crash(0);
                self.start();
            }
            Step::Calm => {
                for _ in 0..2 {
                    lock(&self.keys.0.book).calm();
                }
                // On a broken disk what was taken back is taken back all the same.
                let _ = self.keys.0.commit(None);
            }
            Step::Disk(broken) => self.disk.platter().broken = broken,
        }
        Ok(())
    }

    fn arrive(&mut self, packet: &[u8]) -> Result<(), TestCaseError> {
        let mut buffer = self.ours.buffer();
        buffer.extend_from_slice(packet);
        self.ours.from_udp(T0, ([198, 51, 100, 2], 4500).into(), 0, buffer);
        self.ours.work(T0);
        if let Some(Outgoing::Inside { .. }) = self.ours.poll() {
            let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
            let (spi, sequence) = (word(0), word(4));
            self.carried += 1;
            prop_assert!(self.taken.insert((spi, sequence)), "SPI {spi:#x}: number {sequence} taken again");
        }
        Ok(())
    }
}

#[test]
fn no_number_leaves_twice_and_no_packet_is_taken_twice() {
    const LENGTH: usize = 200;
    let steps = std::env::var("ACE_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(20_000_usize);
    let cases = u32::try_from(steps.div_ceil(LENGTH)).unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let carried = Mutex::new(0);
    let done = runner.run(&prop::collection::vec(step(), LENGTH), |steps| {
        let mut world = World::new();
        steps.iter().try_for_each(|step| world.step(step))?;
        *lock(&carried) += world.carried;
        Ok(())
    });
    if let Err(error) = done {
        panic!("{error}");
    }
    // It is a test of something: half of the packets at least were carried.
    assert!(*lock(&carried) > steps, "{} packets in {steps} steps", lock(&carried));
}

#[test]
fn what_is_there_goes_on_behind_a_crash_and_a_stop() {
    let mut world = World::new();
    world.pairs[0] = Pair { there: true, fresh: true, ..Pair::default() };
    world.load();
    let number = |packet: &[u8]| u32::from_be_bytes(packet[4..8].try_into().unwrap());
    for expected in 1..=20 {
        assert_eq!(number(&send(&mut world.ours, 1, 1).unwrap()), expected);
    }
    // Stopped in order: what the core had taken of a block is passed over.
    world.step(&Step::Stop).unwrap();
    assert_eq!(number(&send(&mut world.ours, 1, 1).unwrap()), 33);
    world.step(&Step::Crash(0)).unwrap();
    let behind = number(&send(&mut world.ours, 1, 1).unwrap());
    assert!((34..=33 + 16 + 64).contains(&behind), "{behind}");
    // Another SPI under the same key.
    world.pairs[0].spi = 1;
    let refused = world.ours.load(T0, &file('1', &world.pairs)).unwrap_err().to_string();
    assert!(
        refused.contains("`fresh_key` is not so: this key was used for SPI 0x1100 to 192.0.2.2"),
        "{refused}"
    );
    assert_eq!(number(&send(&mut world.ours, 1, 1).unwrap()), behind + 1);
    // Without the claim it is taken.
    world.pairs[0].fresh = false;
    assert!(world.ours.load(T0, &file('1', &world.pairs)).is_ok());
}

#[test]
fn on_a_full_disk_nothing_leaves_without_having_been_written_down() {
    let mut world = World::new();
    world.pairs[0] = Pair { there: true, fresh: true, ..Pair::default() };
    world.disk.platter().broken = true;
    world.load();
    assert_eq!(send(&mut world.ours, 1, 1), None);
    assert_eq!(world.ours.packets().dropped.get(ace_ipsec::Cause::SequenceWithheld), 1);
    world.disk.platter().broken = false;
    std::thread::sleep(2 * PATIENCE);
    assert!(send(&mut world.ours, 1, 1).is_some());
}

#[test]
fn a_file_is_locked_created_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.state");
    let keys = Keys::open(&path).unwrap();
    assert!(matches!(Keys::open(&path), Err(StorageError::Taken(_))));
    let mut ours = core(Some(keys.clone()));
    let pair = Pair { there: true, fresh: true, ..Pair::default() };
    ours.load(T0, &file('1', &[pair])).unwrap();
    assert!(send(&mut ours, 1, 1).is_some());
    keys.stop().unwrap();
    drop((ours, keys));
    let mut again = core(Some(Keys::open(&path).unwrap()));
    again.load(T0, &file('1', &[pair])).unwrap();
    let packet = send(&mut again, 1, 1).unwrap();
    assert_eq!(packet[4..8], 17_u32.to_be_bytes());
    drop(again);
    std::fs::write(&path, [1; 300]).unwrap();
    assert!(matches!(Keys::open(&path), Err(StorageError::Damaged(_))));
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(matches!(Keys::open(&path), Err(StorageError::Writable { .. })));
}
