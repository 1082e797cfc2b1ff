// SPDX-License-Identifier: Apache-2.0
//! Sessions over wires that lose, break and double frames, on a clock that the test turns: every frame is answered once, and
//! under its own set and key.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use ace_link::Batch;
use ace_link::session::{Event, Loss, Session};
use ace_link::soft::{Board, Description};
use ace_link::wire::{self, Kind, Span};

use crate::common::{KEY, LOAD, Quick, Random, computed, request};

const HOST: [u8; 6] = [2, 0, 0, 0, 0, 7];

/// Chances in a thousand, each way.
#[derive(Clone, Copy, Default)]
struct Rate {
    lost: u64,
    broken: u64,
    doubled: u64,
}

/// A session, a board and a wire between them, in which time is what the test says.
struct World {
    session: Session,
    board: Board,
    now: Duration,
    random: Random,
    rate: Rate,
    back: VecDeque<Vec<u8>>,
    events: Vec<Event>,
    /// Frames that went, both ways.
    went: u64,
    shelf: Shelf,
}

/// Sets in the board's store, and the one that is written to it.
#[derive(Default)]
struct Shelf {
    /// None is written.
    closed: bool,
    there: Vec<(Span, Vec<u8>)>,
    comes: Option<(Vec<u8>, usize)>,
    recalls: u64,
}

impl Shelf {
    fn end(&self) -> u16 {
        self.there.last().map_or(0, |(span, _)| span.end() as u16)
    }

    fn find(&self, set: &[u8]) -> Option<Span> {
        self.there.iter().find(|(_, own)| own == set).map(|(span, _)| *span)
    }
}

impl World {
    fn new(rate: Rate, queue: u16, seed: u64) -> Self {
        let quick = || Box::new(Quick::shuffling(6));
        let is = Description { queue, ..Description::default() };
        Self {
            session: Session::new(HOST, wire::BOARD, 77, Duration::ZERO),
            board: Board::new(is, vec![quick(), quick()]),
            now: Duration::ZERO,
            random: Random(seed),
            rate,
            back: VecDeque::new(),
            events: Vec::new(),
            went: 0,
            shelf: Shelf::default(),
        }
    }

    /// How often a frame arrives.
    fn arrives(&mut self) -> usize {
        self.went += 1;
        if self.random.below(1000) < self.rate.lost + self.rate.broken {
            return 0;
        }
        1 + usize::from(self.random.below(1000) < self.rate.doubled)
    }

    /// A tenth of a millisecond.
    fn step(&mut self) {
        self.now += Duration::from_micros(100);
        let mut batch = Batch::default();
        self.session.output(&mut batch, self.now);
        for frame in batch.frames() {
            for _ in 0..self.arrives() {
                self.board.input(frame, self.now);
            }
        }
        self.board.work(self.now);
        while let Some(frame) = self.board.output() {
            let times = self.arrives();
            self.back.extend(std::iter::repeat_n(frame, times));
        }
        while let Some(frame) = self.back.pop_front() {
            self.session.input(&frame, self.now);
        }
        while let Some(event) = self.session.event() {
            self.events.push(event);
        }
    }

    /// Writes to the store as long as there is time for it.
    fn write(&mut self) {
        if self.shelf.closed || !self.session.can_store() {
            return;
        }
        let place = self.shelf.end();
        if self.shelf.comes.is_none() {
            let len = 8 + 8 * self.random.below(300) as usize;
            self.shelf.closed = usize::from(place) + len / 8 > 4096;
            self.shelf.comes = Some((self.random.bytes(len), 0)).filter(|_| !self.shelf.closed);
        }
        if let Some((set, done)) = &self.shelf.comes {
            let words = &set[8 * done..set.len().min(8 * (done + wire::STORED))];
            self.session.store(place + *done as u16, words, self.now);
        }
    }

    /// The board has said something to that.
    fn written(&mut self, taken: bool) {
        if !taken {
            return (self.shelf.closed, self.shelf.comes) = (true, None);
        }
        let place = self.shelf.end();
        let (set, done) = self.shelf.comes.take().expect("it was asked for");
        let (words, done) = (set.len() / 8, done + wire::STORED);
        match done < words {
            true => self.shelf.comes = Some((set, done)),
            false => self.shelf.there.push((Span { place, words: words as u16 }, set)),
        }
    }

    /// A set for a slot: one that the store has, or another one.
    fn set(&mut self) -> Vec<u8> {
        let there = self.shelf.there.len() as u64;
        if there > 0 && self.random.below(3) > 0 {
            return self.shelf.there[self.random.below(there) as usize].1.clone();
        }
        let len = 8 + 8 * self.random.below(300) as usize;
        self.random.bytes(len)
    }

    fn open(&mut self) {
        for _ in 0..100_000 {
            self.step();
            if self.session.is_open() {
                return assert!(matches!(self.events.remove(0), Event::Opened(_)));
            }
        }
        panic!("not opened: {:?}", self.events);
    }
}

/// What the test knows of a frame: whose data under which set and key.
struct Wanted {
    slot: u8,
    set: Vec<u8>,
    key: Vec<u8>,
    data: Vec<u8>,
}

/// Sends so many frames of data, with a new key or set now and then, and checks every answer.
fn traffic(world: &mut World, frames: usize, changes: u64) {
    let mut wanted: HashMap<usize, Wanted> = HashMap::new();
    let mut present: [(Vec<u8>, Vec<u8>); 2] = Default::default();
    // Loads and keys by ticket, and what comes of them.
    let mut under_way: HashMap<usize, (u8, Kind, Vec<u8>)> = HashMap::new();
    let (mut next, mut made, mut answered) = (0, 0, 0);
    let mut again: VecDeque<Wanted> = VecDeque::new();
    let (mut steps, mut pause) = (0, 0_u32);
    while answered < frames {
        steps += 1;
        // Now and then there is time for the store.
        pause = if world.random.below(20) == 0 { 10 } else { pause.saturating_sub(1) };
        assert!(steps < 4_000_000, "{answered} of {frames}; {:?}", world.session.counts());
        for slot in 0..2_u8 {
            while world.session.has_room(slot) && pause == 0 && (made < frames || !again.is_empty()) {
                let mut change = |world: &mut World, kind: Kind, bytes: Vec<u8>| {
                    let op = if kind == Kind::Load { LOAD } else { KEY };
                    let frame = request(op, &bytes).into();
                    match world.shelf.find(&bytes).filter(|_| kind == Kind::Load) {
                        Some(span) => {
                            world.shelf.recalls += 1;
                            world.session.recall(slot, next, span, frame, world.now);
                        }
                        None => world.session.change(slot, next, kind, frame, world.now),
                    }
                    under_way.insert(next, (slot, kind, bytes));
                    next += 1;
                };
                let own = &mut present[usize::from(slot)];
                if own.0.is_empty() || world.random.below(20 * changes) == 0 {
                    own.0 = world.set();
                    change(world, Kind::Load, own.0.clone());
                    own.1.clear();
                }
                let one = again.iter().position(|one| one.slot == slot).and_then(|at| again.remove(at));
                let one = match one {
                    Some(one) => {
                        // Its own key again.
                        if own.0 != one.set {
                            own.0 = one.set.clone();
                            change(world, Kind::Load, own.0.clone());
                            own.1.clear();
                        }
                        if own.1 != one.key {
                            own.1 = one.key.clone();
                            change(world, Kind::Key, own.1.clone());
                        }
                        one
                    }
                    None if made < frames => {
                        if own.1.is_empty() || world.random.below(changes) == 0 {
                            own.1 = world.random.bytes(16);
                            change(world, Kind::Key, own.1.clone());
                        }
                        made += 1;
                        let len = 8 * world.random.below(320) as usize;
                        let data = world.random.bytes(len);
                        Wanted { slot, set: own.0.clone(), key: own.1.clone(), data }
                    }
                    None => break,
                };
                let frame = request(ace_board::frame::op::CBC, &one.data);
                world.session.data(slot, next, frame, one.data.len() + 8, world.now);
                wanted.insert(next, one);
                next += 1;
            }
        }
        world.write();
        world.step();
        for event in std::mem::take(&mut world.events) {
            match event {
                Event::Answer { ticket, slot, response } => {
                    let status = response[response.len() - 2];
                    if let Some((of, kind, _)) = under_way.remove(&ticket) {
                        assert_eq!(of, slot);
                        if status != 0 {
                            // Cut short on its way: whatever stands behind it came back.
                            assert_eq!((kind, status), (Kind::Load, 7));
                            present[usize::from(slot)] = Default::default();
                        }
                        continue;
                    }
                    let one = wanted.remove(&ticket).expect("answered once");
                    assert_eq!((one.slot, status), (slot, 0), "{ticket}");
                    let right = computed(&one.set, &one.key, &one.data);
                    assert_eq!(response[..response.len() - 8], right, "{ticket}");
                    answered += 1;
                }
                Event::Again { ticket, slot } => match wanted.remove(&ticket) {
                    Some(one) => again.push_back(one),
                    None => {
                        under_way.remove(&ticket).expect("a load or key, once");
                        present[usize::from(slot)] = Default::default();
                    }
                },
                Event::Identity(..) => {}
                Event::Stored { taken, .. } => world.written(taken),
                Event::Unstored { ticket, slot } => {
                    assert!(matches!(under_way.get(&ticket), Some((of, Kind::Load, _)) if *of == slot));
                    world.shelf.there.clear();
                    world.shelf.closed = true;
                }
                other => panic!("{other:?} after {answered} of {frames}"),
            }
        }
    }
    assert!(wanted.is_empty() && again.is_empty());
}

#[test]
fn of_ten_thousand_frames_none_is_wrong_and_none_unanswered() {
    let mut world = World::new(Rate { lost: 10, broken: 10, doubled: 0 }, 1024, 0x2545_f491_4f6c_dd1d);
    world.open();
    traffic(&mut world, 10_000, 25);
    let counts = world.session.counts();
    println!("{} frames both ways, {counts:?}, {:?} on the clock", world.went, world.now);
    assert!(counts.resent > 200, "{counts:?}");
    assert!(world.shelf.there.len() > 10 && world.shelf.recalls > 10, "{}", world.shelf.recalls);
}

#[test]
fn a_wire_that_loses_every_tenth_frame_and_doubles_others_changes_no_answer() {
    for seed in 1..4_u64 {
        let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
        let mut world = World::new(Rate { lost: 50, broken: 50, doubled: 30 }, 1024, seed);
        world.open();
        traffic(&mut world, 500, 5);
    }
}

#[test]
fn a_store_that_forgets_or_takes_nothing_changes_no_answer() {
    let mut world = World::new(Rate { lost: 20, broken: 20, doubled: 10 }, 1024, 17);
    world.open();
    for _ in 0..6 {
        world.shelf = Shelf::default();
        traffic(&mut world, 300, 4);
        assert!(!world.shelf.there.is_empty() && world.shelf.recalls > 0);
        world.board.spoil_store(true);
        traffic(&mut world, 200, 4);
        assert!(world.shelf.there.is_empty(), "a recall was refused");
    }
    // Nothing more goes to a store that answers nothing, and slots compute.
    let mut world = World::new(Rate::default(), 1024, 19);
    world.board = Board::new(
        Description { store_words: 0, ..Description::default() },
        vec![Box::new(Quick::default()), Box::new(Quick::default())],
    );
    world.open();
    traffic(&mut world, 300, 4);
    (0..100_000).for_each(|_| world.step());
    let untaken = |event: &Event| matches!(event, Event::Stored { place: 0, taken: false });
    assert!(world.events.iter().any(untaken) || world.shelf.closed);
    traffic(&mut world, 300, 4);
}

#[test]
fn a_small_queue_is_not_overrun() {
    let mut world = World::new(Rate::default(), 400, 3);
    world.open();
    traffic(&mut world, 2000, 10);
    assert_eq!(world.board.counters().no_room, 0);
    assert_eq!(world.session.counts().resent, 0);
}

#[test]
fn a_key_that_the_slot_refuses_lets_no_answer_out() {
    let mut world = World::new(Rate::default(), 1024, 5);
    world.open();
    let now = world.now;
    world.session.change(0, 0, Kind::Load, request(LOAD, &[1; 8]).into(), now);
    world.session.change(0, 1, Kind::Key, request(KEY, &[2; 8]).into(), now);
    world.session.data(0, 2, request(ace_board::frame::op::CBC, &[3; 8]), 16, now);
    world.session.change(0, 3, Kind::Key, request(KEY, &[]).into(), now);
    world.session.data(0, 4, request(ace_board::frame::op::CBC, &[3; 8]), 16, now);
    (0..100).for_each(|_| world.step());
    let tickets = |events: &[Event]| -> Vec<(usize, bool)> {
        events
            .iter()
            .filter_map(|event| match event {
                Event::Answer { ticket, response, .. } => Some((*ticket, response[response.len() - 2] == 0)),
                Event::Again { ticket, .. } => Some((*ticket, false)),
                _ => None,
            })
            .collect()
    };
    let mut seen = tickets(&world.events);
    seen.sort_unstable();
    assert_eq!(seen, [(0, true), (1, true), (2, true), (3, false), (4, false)]);
    assert!(matches!(
        world.events.iter().find(|e| matches!(e, Event::Again { .. })),
        Some(Event::Again { ticket: 4, .. })
    ));
}

#[test]
fn a_board_that_is_reset_a_session_that_is_taken_and_a_cable_that_is_pulled_are_noticed() {
    type Act = fn(&mut World);
    let acts: [(Act, &[Loss]); 4] = [
        (|world| world.board.reset(), &[Loss::Ended, Loss::Reset]),
        (
            |world| {
                // Another program of this host.
                let mut other = Session::new(HOST, wire::BOARD, 78, world.now);
                let mut batch = Batch::default();
                other.output(&mut batch, world.now);
                batch.frames().for_each(|frame| world.board.input(frame, world.now));
            },
            &[Loss::Ended],
        ),
        (|world| world.rate.lost = 1000, &[Loss::Silent]),
        (
            |world| {
                // Silent for so long that the board has ended the session and another host has opened one.
                world.now += Duration::from_secs(3);
                world.board.work(world.now);
                let mut other = Session::new([2; 6], wire::BOARD, 5, world.now);
                let mut batch = Batch::default();
                other.output(&mut batch, world.now);
                batch.frames().for_each(|frame| world.board.input(frame, world.now));
                while world.board.output().is_some() {}
            },
            &[Loss::OtherHost, Loss::Silent],
        ),
    ];
    for (act, losses) in acts {
        let mut world = World::new(Rate::default(), 1024, 9);
        world.open();
        traffic(&mut world, 50, 10);
        act(&mut world);
        let now = world.now;
        world.session.data(0, 1 << 20, request(ace_board::frame::op::CBC, &[3; 64]), 72, now);
        for _ in 0..50_000 {
            world.step();
            if world.session.is_over() {
                break;
            }
        }
        let lost: Vec<_> =
            world.events.iter().filter(|event| !matches!(event, Event::Identity(..))).collect();
        assert!(matches!(lost[..], [Event::Lost(loss)] if losses.contains(loss)), "{losses:?}: {lost:?}");
    }
}

#[test]
fn a_host_that_has_nothing_to_do_keeps_its_session() {
    let mut world = World::new(Rate::default(), 1024, 11);
    world.open();
    (0..100_000).for_each(|_| world.step());
    assert!(world.session.is_open());
    assert_eq!(world.board.session(), Some((HOST, 77)));
    assert!(world.events.len() >= 18, "two hellos a second");
    world.session.close();
    world.step();
    assert_eq!(world.board.session(), None);
}

#[test]
fn registers_are_read_and_written() {
    let mut world = World::new(Rate { lost: 100, ..Rate::default() }, 1024, 13);
    world.open();
    for (register, value) in
        [(wire::register::TAP, Some(63)), (wire::register::TAP, None), (wire::register::LED, Some(1))]
    {
        world.session.register(register, value);
        let before = world.events.len();
        while !world.events[before..].iter().any(|event| matches!(event, Event::Register { .. })) {
            world.step();
        }
    }
    let values: Vec<u32> = world
        .events
        .iter()
        .filter_map(|event| if let Event::Register { value, .. } = event { Some(*value) } else { None })
        .collect();
    assert_eq!(values, [63, 63, 1]);
}
