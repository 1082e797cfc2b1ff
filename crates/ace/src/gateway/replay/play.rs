// SPDX-License-Identifier: Apache-2.0
//! A recording on the virtual clock: one gateway, whose one core takes packets from the kernel's queue, computes, and
//! serves the board. Packets are made anew, of zeros and under other keys; sizes and SAs are the recorded ones.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use ace_board::Board;
use ace_board::trace::Picos;
use ace_engine::{Buffer, Engine};
use ace_ipsec::packet::ip::Outer;
use ace_ipsec::{Fate, HEADROOM, Inside, Outside, Packet, Shard};
use anyhow::{Result, bail};

use super::ends::{Ends, clear_ends};
use super::recording::{Kind, Recording};

/// Packets that the kernel keeps for a gateway that does not take them: a TUN device's queue.
const KERNEL: usize = 500;
/// When packets are given up that never come.
const NEVER: Picos = Picos::MAX;

/// What the gateway and its surroundings take.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Of the core, for a packet, besides cipher and hash.
    pub packet: Picos,
    /// From a packet's leaving outwards to its answer's coming.
    pub round_trip: Picos,
    /// UDP does not come when it came, but from a sender that waits for room: as soon as the kernel's queue has some.
    pub greedy: bool,
}

/// When a packet came and left; [`NEVER`] if it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub came: Picos,
    pub left: Picos,
}

/// Nothing left between these, though there was something in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub from: Picos,
    pub to: Picos,
}

pub struct Played {
    pub ways: Vec<Way>,
    /// The kernel's queue was full.
    pub dropped: usize,
    pub pauses: Vec<Pause>,
}

struct Play<'a> {
    recording: &'a Recording,
    terms: Terms,
    board: &'a mut Board,
    plane: Shard,
    peer: Ends,
    /// Packets that come because this one has left, by place.
    followers: Vec<Vec<usize>>,
    coming: BinaryHeap<Reverse<(Picos, usize)>>,
    /// Of a greedy sender, which begins with its first packet.
    eager: VecDeque<usize>,
    begun: bool,
    kernel: VecDeque<usize>,
    /// Taken: when the core has done its part.
    taken: Option<(Picos, usize)>,
    in_hand: usize,
    /// Since when something is in hand and nothing has left.
    since: Picos,
    played: Played,
}

/// Plays all of it. `plane` has the recorded SAs, `peer` makes what comes in with them.
///
/// # Errors
/// A packet came to something else than it did when it was recorded.
pub fn play(
    recording: &Recording,
    terms: Terms,
    board: &mut Board,
    plane: Shard,
    peer: Ends,
) -> Result<Played> {
    let steps = &recording.steps;
    let mut followers = vec![Vec::new(); steps.len()];
    let (mut coming, mut eager) = (BinaryHeap::new(), VecDeque::new());
    let mut first = true;
    for (at, step) in steps.iter().enumerate() {
        let waits = terms.greedy && step.kind == Kind::Udp;
        match step.cause {
            Some(cause) => followers[cause].push(at),
            None if waits && !std::mem::take(&mut first) => eager.push_back(at),
            None => coming.push(Reverse((step.at, at))),
        }
    }
    let ways = vec![Way { came: NEVER, left: NEVER }; steps.len()];
    let played = Played { ways, dropped: 0, pauses: Vec::new() };
    let (kernel, taken) = (VecDeque::new(), None);
    let (in_hand, since) = (0, 0);
    let play = Play {
        recording,
        terms,
        board,
        plane,
        peer,
        followers,
        coming,
        eager,
        begun: false,
        kernel,
        taken,
        in_hand,
        since,
        played,
    };
    play.run()
}

impl Play<'_> {
    fn run(mut self) -> Result<Played> {
        let window = self.board.packet_buffer();
        let mut done = Vec::new();
        loop {
            let now = self.board.now();
            self.arrive(now);
            if let Some((_, step)) = self.taken.take_if(|(ready, _)| *ready <= now) {
                self.ingest(now, step)?;
            }
            let exits = self.leave(now)?;
            self.board.packets_wait(self.kernel.len(), self.terms.packet);
            self.board.try_submit(self.plane.jobs());
            // What the core does with this one comes before it takes the next.
            self.board.pass(now, &mut done);
            if !done.is_empty() {
                self.plane.complete(Duration::from_nanos(now / 1000), &mut done);
                continue;
            }
            let takes = self.taken.is_none() && self.in_hand < window && !self.kernel.is_empty();
            let core = self.board.core_free();
            if takes
                && core <= self.board.now()
                && let Some(step) = self.kernel.pop_front()
            {
                if self.in_hand == 0 {
                    self.since = now;
                }
                self.in_hand += 1;
                self.taken = Some((self.board.spend(self.terms.packet), step));
            }
            let comes = self.coming.peek().map(|Reverse((at, _))| *at);
            let takes = takes && self.taken.is_none();
            let free = Some(core).filter(|free| takes && *free > self.board.now());
            let next = comes.into_iter().chain(self.taken.map(|(at, _)| at)).chain(free).min();
            if next.is_none() && self.in_hand == 0 && self.kernel.is_empty() {
                return Ok(self.played);
            }
            let away = self.board.pass(next.unwrap_or(NEVER), &mut done);
            if next.is_none() && done.is_empty() && exits == 0 {
                bail!("the board has given up {away} packets");
            }
            self.plane.complete(Duration::from_nanos(self.board.now() / 1000), &mut done);
            self.leave(self.board.now())?;
        }
    }

    /// What comes until now stands in the kernel's queue, if there is room: TCP's window is bounded, all else is dropped.
    fn arrive(&mut self, now: Picos) {
        while let Some(Reverse((at, step))) = self.coming.pop_if_due(now) {
            if self.recording.steps[step].kind != Kind::Tcp && self.kernel.len() >= KERNEL {
                self.played.dropped += 1;
                continue;
            }
            self.begun |= self.recording.steps[step].kind == Kind::Udp;
            self.played.ways[step].came = at;
            self.kernel.push_back(step);
        }
        while self.begun
            && self.kernel.len() < KERNEL
            && let Some(step) = self.eager.pop_front()
        {
            self.played.ways[step].came = now;
            self.kernel.push_back(step);
        }
    }

    fn ingest(&mut self, now: Picos, step: usize) -> Result<()> {
        let (of, now) = (&self.recording.steps[step], Duration::from_nanos(now / 1000));
        let token = step as u64;
        let clear = clear(of.sa, &self.recording.sas[of.sa], of.bytes)?;
        if self.recording.sas[of.sa].out {
            self.plane.ingest(now, Inside, [Packet { token, buffer: clear }]);
        } else {
            let buffer = self.peer.protect(clear)?;
            self.plane.ingest(now, Outside, [Packet { token, buffer }]);
        }
        Ok(())
    }

    /// Takes what has left; what answers it comes.
    fn leave(&mut self, now: Picos) -> Result<usize> {
        let mut exits = 0;
        while let Some(exit) = self.plane.poll_exit() {
            let step = usize::try_from(exit.token)?;
            if let Fate::Dropped(cause) = exit.fate {
                let sa = &self.recording.sas[self.recording.steps[step].sa];
                bail!("packet {} of SA {} is dropped when it is played: {cause:?}", step + 1, sa.name);
            }
            exits += 1;
            self.in_hand -= 1;
            self.played.ways[step].left = now;
            if now > self.since {
                self.played.pauses.push(Pause { from: self.since, to: now });
            }
            self.since = now;
            for follower in std::mem::take(&mut self.followers[step]) {
                let out = self.recording.sas[self.recording.steps[follower].sa].out;
                let after = if out { 0 } else { self.terms.round_trip };
                self.coming.push(Reverse((now.saturating_add(after), follower)));
            }
        }
        Ok(exits)
    }
}

/// What is due by an instant.
trait Due {
    fn pop_if_due(&mut self, now: Picos) -> Option<Reverse<(Picos, usize)>>;
}

impl Due for BinaryHeap<Reverse<(Picos, usize)>> {
    fn pop_if_due(&mut self, now: Picos) -> Option<Reverse<(Picos, usize)>> {
        let due = self.peek().is_some_and(|Reverse((at, _))| *at <= now);
        if due { self.pop() } else { None }
    }
}

/// A clear packet of so many bytes for an SA.
fn clear(place: usize, sa: &ace_gateway::record::Sa, bytes: usize) -> Result<Buffer> {
    const HEADER: usize = 20;
    let mut buffer = Buffer::default();
    buffer.reset(HEADROOM);
    let (source, destination) = clear_ends(place, sa.out);
    let outer = Outer {
        source: &source.into(),
        destination: &destination.into(),
        traffic_class: 0,
        flow_label: 0,
        dont_fragment: false,
        identification: 0,
        // For experiments (RFC 3692).
        protocol: 253,
    };
    let body = bytes.saturating_sub(HEADER);
    if outer.write(buffer.push_back(HEADER), body).is_none() {
        bail!("there is no packet of {bytes} bytes");
    }
    buffer.push_back(body);
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use ace_board::{BoardConfig, Catalogue, Models, Policy};
    use ace_engine::profile::{Processor, Rate};
    use ace_gateway::record::Sa;

    use super::super::ends;
    use super::super::recording::Step;
    use super::*;

    const MICRO: Picos = 1_000_000;

    /// Every byte of cipher takes 100 ns, of hash nothing that counts.
    fn played(steps: Vec<Step>, greedy: bool) -> Played {
        let sa = |number, out| Sa {
            number,
            name: number.to_string(),
            out,
            ah: false,
            tunnel: true,
            esn: false,
            cipher: "3des-cbc".into(),
            auth: "hmac-md5-96".into(),
        };
        let rate =
            |algorithm: &str, mbps| Rate { algorithm: algorithm.into(), key_bits: None, mbps, fixed_ns: 0.0 };
        let processor = Processor {
            name: "made up".into(),
            source: "a test".into(),
            rate: vec![rate("3des", 80.0), rate("md5", 1e7)],
        };
        let recording = Recording { sas: vec![sa(0, true), sa(1, false)], steps, sent_again: 0 };
        let mut board =
            Board::new(BoardConfig::default(), Catalogue::default(), Policy::DoubleBuffer, Models::Rtl)
                .unwrap();
        board.set_processor(processor);
        board.one_core();
        let terms = Terms { packet: 10 * MICRO, round_trip: 500 * MICRO, greedy };
        let plane = ends::plane(&ends::file(&recording.sas, false).unwrap()).unwrap();
        play(&recording, terms, &mut board, plane, Ends::of(&recording.sas).unwrap()).unwrap()
    }

    fn step(at: Picos, sa: usize, kind: Kind, cause: Option<usize>) -> Step {
        // 102 and the trailer are 13 blocks of 8: 10.4 µs.
        Step { at: at * MICRO, sa, kind, bytes: 102, data: 50, cause }
    }

    /// Microseconds from one end to the other, whole ones.
    fn took(from: Picos, to: Picos) -> Picos {
        (to - from) / MICRO
    }

    #[test]
    fn one_core_does_one_thing_at_a_time() {
        let steps = vec![step(0, 0, Kind::Udp, None), step(1, 0, Kind::Udp, None)];
        let ways = played(steps, false).ways;
        // The first one is taken, enciphered, has its hash and leaves; then the second one is taken.
        assert_eq!(took(ways[0].came, ways[0].left), 20);
        assert_eq!(ways[1].left / MICRO, 40);
        assert_eq!(ways[1].came, MICRO);
    }

    #[test]
    fn an_answer_comes_a_round_trip_later_and_the_next_packet_at_once() {
        let steps = vec![
            step(0, 0, Kind::Tcp, None),
            step(7_000, 1, Kind::Tcp, Some(0)),
            step(9_000, 0, Kind::Tcp, Some(1)),
        ];
        let Played { ways, dropped, .. } = played(steps, false);
        assert_eq!(ways[1].came, ways[0].left + 500 * MICRO);
        assert_eq!(ways[2].came, ways[1].left);
        assert!(ways.iter().all(|way| way.left > way.came) && dropped == 0);
    }

    #[test]
    fn who_does_not_wait_loses_what_the_kernel_has_no_room_for() {
        let steps = vec![step(0, 0, Kind::Udp, None); 3 * KERNEL];
        let open = played(steps.clone(), false);
        let left = open.ways.iter().filter(|way| way.left != NEVER).count();
        assert_eq!((open.dropped, left), (steps.len() - KERNEL, KERNEL));
        let greedy = played(steps.clone(), true);
        assert!(greedy.dropped == 0 && greedy.ways.iter().all(|way| way.left != NEVER));
        let end = greedy.ways.iter().map(|way| way.left).max().unwrap();
        // All of the core's time, and nothing else, for every packet: 20.4 µs.
        let all = steps.len() as Picos * 20_400_000;
        assert!(end >= all && end < all + all / 100, "{end} of {all}");
    }
}
