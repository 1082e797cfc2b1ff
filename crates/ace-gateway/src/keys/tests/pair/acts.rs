// SPDX-License-Identifier: Apache-2.0
//! What happens to two machines, and how often it did.

use proptest::prelude::*;

use super::super::{PAIRS, Pair};

#[derive(Clone, Debug)]
pub enum Act {
    Write(u8, Pair),
    Send(usize, u8, u8),
    Receive(usize, u8, u8),
    Replay(usize, usize),
    Calm(usize),
    Disk(usize, bool),
    /// The wire between them.
    Cut(bool),
    Lose(u64),
    /// As the link's thread does.
    Attach(usize),
    Beat(usize),
    /// Power goes.
    Crash(usize, u64),
    /// `ace gateway`, with or without [standby].
    Start(usize, bool),
    /// `ace gateway standby`.
    Wait(usize),
    Stop(usize),
    /// It has heard nothing for long, or thinks so.
    Silence(usize),
    /// Somebody says so, and says that nobody said `alone`.
    TakeOver(usize),
    /// Somebody says that the standby is off and never took over, which is so.
    Alone(usize),
    HandOver(usize),
    /// `alone` of the configuration.
    Strict(bool),
}

pub fn act() -> impl Strategy<Value = Act> {
    let pair = (any::<[bool; 4]>(), 0..2_u8, 0..2_u8, 0..3_u8).prop_map(|(flags, spi, key, name)| {
        let [gone, lifetime, wide, fresh] = flags;
        Pair { there: !gone || fresh, spi, key, name, lifetime, wide, fresh }
    });
    let who = 0..2_usize;
    prop_oneof![
        2 => (1..=PAIRS, pair).prop_map(|(n, pair)| Act::Write(n, pair)),
        12 => (who.clone(), 1..=PAIRS, 1..40_u8).prop_map(|(x, n, count)| Act::Send(x, n, count)),
        8 => (who.clone(), 1..=PAIRS, 1..40_u8).prop_map(|(x, n, count)| Act::Receive(x, n, count)),
        8 => (who.clone(), any::<usize>()).prop_map(|(x, which)| Act::Replay(x, which)),
        2 => who.clone().prop_map(Act::Calm),
        1 => (who.clone(), prop::bool::weighted(0.2)).prop_map(|(x, broken)| Act::Disk(x, broken)),
        2 => prop::bool::weighted(0.2).prop_map(Act::Cut),
        2 => any::<u64>().prop_map(|chance| Act::Lose(chance & chance >> 7 & 0xffff)),
        16 => who.clone().prop_map(Act::Attach),
        3 => who.clone().prop_map(Act::Beat),
        2 => (who.clone(), any::<u64>()).prop_map(|(x, chance)| Act::Crash(x, chance)),
        8 => (who.clone(), prop::bool::weighted(0.95)).prop_map(|(x, with)| Act::Start(x, with)),
        8 => who.clone().prop_map(Act::Wait),
        1 => who.clone().prop_map(Act::Stop),
        3 => who.clone().prop_map(Act::Silence),
        1 => who.clone().prop_map(Act::TakeOver),
        1 => who.clone().prop_map(Act::Alone),
        1 => who.prop_map(Act::HandOver),
        1 => any::<bool>().prop_map(Act::Strict),
    ]
}

/// How often what happened.
#[derive(Debug, Default)]
pub struct Seen {
    pub carried: usize,
    pub attached: usize,
    pub taken_over: usize,
    pub carried_behind: usize,
    pub by_word: usize,
    pub handed: usize,
    pub alone: usize,
    pub refused: usize,
    pub standing: usize,
}

impl Seen {
    pub fn add(&mut self, more: Seen) {
        let Seen { carried, attached, taken_over, carried_behind, by_word, handed, alone, refused, standing } =
            more;
        self.carried += carried;
        self.attached += attached;
        self.taken_over += taken_over;
        self.carried_behind += carried_behind;
        self.by_word += by_word;
        self.handed += handed;
        self.alone += alone;
        self.refused += refused;
        self.standing += standing;
    }
}
