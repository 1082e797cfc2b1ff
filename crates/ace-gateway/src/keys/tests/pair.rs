// SPDX-License-Identifier: Apache-2.0
//! Two gateways of which one is the other's standby, under everything that people, power cuts and the wire between them do:
//! no number leaves twice under a key, whoever sends, and no packet is taken twice, whoever takes it. There is no clock:
//! silence is believed at any time. ACE_STEPS says how many steps are taken in all.

mod acts;

use super::*;
use crate::keys::role::Phase;
use crate::standby::{Link, Mirror, Replica, Reply, Request};
use acts::{Act, Seen, act};

/// What a machine does.
#[derive(Default)]
enum Does {
    #[default]
    Nothing,
    /// With a standby, or without.
    Counts(Keys, Box<Core>, Option<Mirror>),
    Waits(Replica),
}

/// Machines, and the wire between them.
#[derive(Default)]
struct Net {
    machines: [Does; 2],
    cut: bool,
    /// Two bits a message: 1 loses the request, 2 the answer.
    lose: u64,
    calls: u64,
}

struct Wire {
    net: Arc<Mutex<Net>>,
    to: usize,
    number: u64,
}

impl Link for Wire {
    fn call(&mut self, request: &Request) -> io::Result<Reply> {
        let mut net = self.net.lock().unwrap();
        // On its way it is bytes.
        let request = Request::of(&request.to_bytes()).unwrap();
        let lost = net.lose & 3;
        net.lose >>= 2;
        if net.cut || lost == 1 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let reply = match &mut net.machines[self.to] {
            Does::Nothing => return Err(io::ErrorKind::ConnectionRefused.into()),
            Does::Counts(_, _, None) => return Err(io::ErrorKind::ConnectionRefused.into()),
            Does::Counts(_, _, Some(mirror)) => Reply::Counting { term: mirror.view().role.term },
            Does::Waits(replica) => replica.answer(self.number, request),
        };
        match lost {
            2 => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(Reply::of(&reply.to_bytes()).unwrap()),
        }
    }
}

struct Two {
    net: Arc<Mutex<Net>>,
    disks: [Disk; 2],
    theirs: Core,
    pairs: Vec<Pair>,
    strict: bool,
    /// Somebody said `alone`: the other one must not take over by anybody's word until it was attached again.
    barred: [bool; 2],
    sent: HashSet<(Vec<u8>, [u8; 8])>,
    taken: HashSet<(u32, u32)>,
    wire: Vec<Vec<u8>>,
    seen: Seen,
}

impl Two {
    fn new() -> Self {
        Self {
            net: Arc::default(),
            disks: Default::default(),
            theirs: core(None),
            pairs: vec![Pair::default(); usize::from(PAIRS)],
            strict: true,
            barred: [false; 2],
            sent: HashSet::new(),
            taken: HashSet::new(),
            wire: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn net(&self) -> MutexGuard<'_, Net> {
        self.net.lock().unwrap()
    }

    /// What a machine does, while it is looked at; what the wire brings finds nothing there meanwhile.
    fn out(&self, x: usize) -> Does {
        std::mem::take(&mut self.net().machines[x])
    }

    fn back(&self, x: usize, does: Does) {
        self.net().machines[x] = does;
    }

    fn link(&self, x: usize) -> Box<dyn Link> {
        let mut net = self.net();
        net.calls += 1;
        Box::new(Wire { net: Arc::clone(&self.net), to: 1 - x, number: net.calls })
    }

    fn state(&self, x: usize) -> Option<State> {
        State::read(Path::new("state"), Box::new(self.disks[x].clone())).ok()
    }

    fn load(&mut self, core: &mut Core) {
        let _ = core.load(T0, &file('1', &self.pairs));
    }

    fn start(&mut self, x: usize, with: bool) {
        let Some(state) = self.state(x) else { return };
        // Without a standby it would be one more gateway, and none of a pair.
        let is_new = state.is_new();
        if is_new && !with {
            return;
        }
        let (keys, mirror) = if with {
            if state.may_count().is_err() {
                self.seen.refused += usize::from(state.role.phase == Phase::Given);
                return;
            }
            let (mirror, book) = Mirror::new(state);
            if is_new && mirror.attach(self.link(x), self.strict).is_err() {
                return;
            }
            (mirror.keys(book), Some(mirror))
        } else {
            if state.alone().is_err() {
                return;
            }
            (Keys::with(Path::new("state"), Box::new(self.disks[x].clone())).unwrap(), None)
        };
        let mut core = core(Some(keys.clone()));
        self.load(&mut core);
        self.back(x, Does::Counts(keys, Box::new(core), mirror));
    }

    fn took_over(&mut self, x: usize) {
        self.seen.taken_over += 1;
        self.back(x, Does::Nothing);
        self.start(x, true);
    }

    fn act(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let wrong = |what: &str| TestCaseError::fail(what.to_owned());
        // A clock would have let some time pass.
        for machine in &self.net().machines {
            if let Does::Counts(keys, ..) = machine {
                lock(&keys.0.storage).failed = None;
            }
        }
        match *act {
            Act::Write(n, pair) => {
                self.pairs[usize::from(n) - 1] = pair;
                for x in 0..2 {
                    let mut does = self.out(x);
                    if let Does::Counts(_, core, _) = &mut does {
                        self.load(core);
                    }
                    self.back(x, does);
                }
                let _ = self.theirs.load(T0, &file('2', &self.pairs));
            }
            Act::Send(x, n, count) => self.sends(x, n, count)?,
            Act::Receive(x, n, count) => {
                for _ in 0..count {
                    let Some(packet) = send(&mut self.theirs, n, 2) else { continue };
                    self.arrive(x, &packet)?;
                    self.wire.push(packet);
                }
            }
            Act::Replay(x, which) => {
                if !self.wire.is_empty() {
                    let packet = self.wire[which % self.wire.len()].clone();
                    self.arrive(x, &packet)?;
                }
            }
            Act::Calm(x) => {
                let does = self.out(x);
                if let Does::Counts(keys, ..) = &does {
                    (0..2).for_each(|_| lock(&keys.0.book).calm());
                    let _ = keys.0.commit(None);
                }
                self.back(x, does);
            }
            Act::Disk(x, broken) => self.disks[x].platter().broken = broken,
            Act::Cut(cut) => self.net().cut = cut,
            Act::Lose(chance) => self.net().lose = chance,
            Act::Attach(x) => {
                let does = self.out(x);
                if let Does::Counts(_, _, Some(mirror)) = &does
                    && !mirror.view().attached
                    && mirror.view().role.phase != Phase::Given
                    && mirror.attach(self.link(x), self.strict).is_ok()
                {
                    self.seen.attached += 1;
                    self.barred[1 - x] = false;
                    let Does::Waits(replica) = &self.net().machines[1 - x] else {
                        return Err(wrong("nobody waits, and is attached"));
                    };
                    let whole = Phase::Standby { whole: true, strict: self.strict };
                    prop_assert_eq!(replica.role().phase, whole);
                }
                self.back(x, does);
            }
            Act::Beat(x) => {
                let does = self.out(x);
                if let Does::Counts(_, _, Some(mirror)) = &does {
                    let _ = mirror.beat();
                    self.seen.alone += usize::from(mirror.view().role.phase == Phase::Alone);
                }
                self.back(x, does);
            }
            Act::Crash(x, chance) => {
                self.out(x);
                self.disks[x].crash(chance);
            }
            Act::Start(x, with) => {
                let does = self.out(x);
                match does {
                    Does::Nothing => self.start(x, with),
                    other => self.back(x, other),
                }
            }
            Act::Wait(x) => {
                let does = self.out(x);
                match does {
                    Does::Nothing => {
                        if let Some(state) = self.state(x) {
                            self.back(x, Does::Waits(Replica::new(state)));
                        }
                    }
                    other => self.back(x, other),
                }
            }
            Act::Stop(x) => match self.out(x) {
                Does::Counts(keys, core, mirror) => {
                    let _ = keys.stop();
                    drop((keys, core, mirror));
                    self.disks[x].crash(0);
                }
                // With or without having been heard.
                Does::Waits(mut replica) => {
                    let _ = replica.leave();
                    self.back(x, Does::Waits(replica));
                    self.act(&Act::Beat(1 - x))?;
                    self.out(x);
                    self.disks[x].crash(0);
                }
                Does::Nothing => {}
            },
            Act::Silence(x) | Act::TakeOver(x) => {
                let word = matches!(act, Act::TakeOver(_)) && !self.barred[x];
                let mut does = self.out(x);
                let took = match &mut does {
                    Does::Waits(replica) => replica.take_over(word).is_ok(),
                    _ => false,
                };
                self.back(x, does);
                if took {
                    self.seen.by_word += usize::from(word);
                    self.took_over(x);
                }
            }
            Act::Alone(x) => {
                let off = matches!(self.net().machines[1 - x], Does::Nothing)
                    && self.state(1 - x).is_some_and(|it| matches!(it.role.phase, Phase::Standby { .. }));
                let does = self.out(x);
                if let Does::Counts(_, _, Some(mirror)) = &does
                    && off
                {
                    self.barred[1 - x] = true;
                    let _ = mirror.go_alone();
                }
                self.back(x, does);
            }
            Act::HandOver(x) => {
                match self.out(x) {
                    Does::Counts(keys, core, mirror) => {
                        let _ = keys.stop();
                        drop((keys, core, mirror));
                    }
                    Does::Nothing => {}
                    other => {
                        self.back(x, other);
                        return Ok(());
                    }
                }
                let Some(state) = self.state(x) else { return Ok(()) };
                if matches!(state.role.phase, Phase::Standby { .. }) {
                    return Ok(());
                }
                let (mirror, _) = Mirror::new(state);
                self.seen.handed += usize::from(mirror.hand_over(self.link(x)).is_ok());
            }
            Act::Strict(strict) => self.strict = strict,
        }
        // Who was said goodbye to counts.
        for x in 0..2 {
            let counts = matches!(&self.net().machines[x], Does::Waits(replica) if replica.counts());
            if counts {
                self.took_over(x);
            }
            // Who hears that it does not, ends.
            let given = matches!(&self.net().machines[x], Does::Counts(_, _, Some(mirror))
                if mirror.view().role.phase == Phase::Given);
            if given {
                self.out(x);
            }
        }
        Ok(())
    }

    fn sends(&mut self, x: usize, n: u8, count: u8) -> Result<(), TestCaseError> {
        let mut does = self.out(x);
        if let Does::Counts(_, core, mirror) = &mut does {
            for _ in 0..count {
                let Some(packet) = send(core, n, 1) else {
                    self.seen.standing += 1;
                    continue;
                };
                let spi = u32::from_be_bytes(packet[..4].try_into().unwrap());
                let iv: [u8; 8] = packet[8..16].try_into().unwrap();
                self.seen.carried += 1;
                let behind = mirror.as_ref().is_some_and(|mirror| mirror.view().role.term > 0);
                self.seen.carried_behind += usize::from(behind);
                prop_assert!(self.sent.insert((key_of(spi), iv)), "SPI {spi:#x}: IV {iv:?} again, by {x}");
            }
        }
        self.back(x, does);
        Ok(())
    }

    fn arrive(&mut self, x: usize, packet: &[u8]) -> Result<(), TestCaseError> {
        let mut does = self.out(x);
        if let Does::Counts(_, core, _) = &mut does {
            let mut buffer = core.buffer();
            buffer.extend_from_slice(packet);
            core.from_udp(T0, ([198, 51, 100, 2], 4500).into(), 0, buffer);
            core.work(T0);
            if let Some(Outgoing::Inside { .. }) = core.poll() {
                let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
                let (spi, sequence) = (word(0), word(4));
                self.seen.carried += 1;
                let new = self.taken.insert((spi, sequence));
                prop_assert!(new, "SPI {spi:#x}: number {sequence} taken again, by {x}");
            }
        }
        self.back(x, does);
        Ok(())
    }
}

#[test]
fn no_number_leaves_twice_from_either_and_no_packet_is_taken_twice() {
    const LENGTH: usize = 300;
    let steps = std::env::var("ACE_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(30_000_usize);
    let cases = u32::try_from(steps.div_ceil(LENGTH)).unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let seen = Mutex::new(Seen::default());
    let done = runner.run(&prop::collection::vec(act(), LENGTH), |acts| {
        let mut two = Two::new();
        let pair = Pair { there: true, fresh: true, ..Pair::default() };
        let first = (1..=PAIRS).map(|n| Act::Write(n, pair)).chain([Act::Wait(1), Act::Start(0, true)]);
        for act in first.collect::<Vec<_>>().iter().chain(&acts) {
            two.act(act)?;
        }
        lock(&seen).add(two.seen);
        Ok(())
    });
    if let Err(error) = done {
        panic!("{error}");
    }
    // It is a test of something: everything has happened, and often.
    let seen = lock(&seen);
    println!("{steps} steps: {seen:?}");
    assert!(seen.carried > steps / 2 && seen.carried_behind > steps / 10, "{seen:?}");
    let least = steps / 1000;
    assert!(
        seen.attached > 2 * least && seen.taken_over > 2 * least && seen.standing > 10 * least,
        "{seen:?}"
    );
    assert!(seen.by_word > 0 && seen.handed > 0 && seen.alone > least && seen.refused > 0, "{seen:?}");
}
