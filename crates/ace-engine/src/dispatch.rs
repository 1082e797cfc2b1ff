// SPDX-License-Identifier: Apache-2.0
//! Which of several engines executes an operation: the first that can do all of it. Between slots and a stated processor
//! costs decide, on the board's clock (`ace_schedule::Policy::decide_with_coprocessor`); what is left for [`choose`] is what neither
//! of these can do.

use std::collections::VecDeque;

use crate::engine::{Capabilities, Completion, Engine, Job};
use crate::error::EngineError;
use crate::need::Need;

/// The first engine that can do both halves of an operation.
pub fn choose<'a>(
    engines: impl IntoIterator<Item = &'a Capabilities>,
    (first, second): (Need, Option<Need>),
) -> Option<usize> {
    let can = |all: &Capabilities| all.can(&first) && second.is_none_or(|second| all.can(&second));
    engines.into_iter().position(can)
}

/// Several engines as one, those that are preferred first. Jobs of one flow may go to several of them and come back in
/// any order among these; within one engine its promise about flows holds.
pub struct Dispatch<E> {
    members: Vec<Member<E>>,
    capabilities: Capabilities,
    /// Jobs that nobody can do.
    refused: Vec<Completion>,
}

struct Member<E> {
    engine: E,
    /// At most one: it did not fit, and what is behind it waits with the caller.
    waiting: VecDeque<Job>,
}

impl<E: Engine> Dispatch<E> {
    /// Takes engines in order of preference, the most preferred one first.
    pub fn new(engines: Vec<E>) -> Self {
        let capabilities =
            Capabilities::of(|need| engines.iter().any(|engine| engine.capabilities().can(need)));
        let member = |engine| Member { engine, waiting: VecDeque::with_capacity(1) };
        let members = engines.into_iter().map(member).collect();
        Self { members, capabilities, refused: Vec::new() }
    }

    /// In order of preference.
    pub fn engines(&self) -> impl Iterator<Item = &E> {
        self.members.iter().map(|member| &member.engine)
    }

    /// Drains every member; of those with something in flight `work` is done.
    fn all(
        &mut self,
        done: &mut Vec<Completion>,
        mut work: impl FnMut(&mut E, &mut Vec<Completion>) -> usize,
    ) -> usize {
        done.append(&mut self.refused);
        let each = self.members.iter_mut().map(|Member { engine, waiting }| {
            let in_flight = work(engine, done);
            engine.try_submit(waiting);
            in_flight + waiting.len()
        });
        each.sum()
    }
}

impl<E: Engine> Engine for Dispatch<E> {
    fn name(&self) -> &'static str {
        "auto"
    }

    /// What any of them can do. A cipher and a MAC that no single one has together are refused all the same.
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        while let Some(job) = jobs.front() {
            let action = &job.operation.action;
            let needs = action.needs();
            let can = |engine: &E| choose([engine.capabilities()], needs).is_some() && engine.takes(action);
            let Some(at) = self.engines().position(can) else {
                let Some(Job { id, operation, .. }) = jobs.pop_front() else { return };
                let result = Err(EngineError::NoConfiguration { need: needs.0 });
                self.refused.push(Completion { id, buffer: operation.buffer, result });
                continue;
            };
            let Some(Member { engine, waiting }) = self.members.get_mut(at) else { return };
            if !waiting.is_empty() {
                return;
            }
            waiting.extend(jobs.pop_front());
            engine.try_submit(waiting);
        }
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.all(done, E::drain)
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        let before = done.len();
        let in_flight = self.drain(done);
        if done.len() > before || in_flight == 0 {
            return in_flight;
        }
        // Nobody has anything yet: the first one with something in flight is waited for.
        self.all(
            done,
            |engine, done| if done.len() == before { engine.wait(done) } else { engine.drain(done) },
        )
    }

    /// The first engine speaks for all: its errors are those that have more to them than words.
    fn explain(&self, error: &EngineError) -> String {
        self.engines().next().map_or_else(|| error.to_string(), |engine| engine.explain(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{AES, DES, SHA1};
    use crate::engine::run_all;
    use crate::key::Key;
    use crate::need::{Direction, Mac, Mode};
    use crate::operation::{Action, Operation};
    use crate::software::{self, CpuEngine};

    /// The CPU with fewer abilities, a short queue and an eye on what it was given.
    struct Part {
        cpu: CpuEngine,
        can: Capabilities,
        queue: VecDeque<Job>,
        given: Vec<u64>,
        /// The longest packet that it takes.
        most: usize,
    }

    impl Part {
        fn of(can: impl FnMut(&Need) -> bool) -> Self {
            let can = Capabilities::of(can);
            Self { cpu: CpuEngine::new(), can, queue: VecDeque::new(), given: Vec::new(), most: usize::MAX }
        }
    }

    impl Engine for Part {
        fn name(&self) -> &'static str {
            "some"
        }

        fn capabilities(&self) -> &Capabilities {
            &self.can
        }

        fn takes(&self, action: &Action) -> bool {
            !matches!(action, Action::Cipher { text, .. } if text.len() > self.most)
        }

        fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
            while self.queue.len() < 3
                && let Some(job) = jobs.pop_front()
            {
                let action = &job.operation.action;
                assert!(self.can.can(&action.needs().0) && self.takes(action), "not its job");
                self.given.push(job.id);
                self.queue.push_back(job);
            }
        }

        /// One at a time.
        fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
            let mut one: VecDeque<Job> = self.queue.pop_front().into_iter().collect();
            self.cpu.try_submit(&mut one);
            self.cpu.drain(done);
            self.queue.len()
        }

        fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
            self.drain(done)
        }
    }

    #[test]
    fn each_job_goes_to_the_first_that_can() {
        let of = |name: &'static str| move |need: &Need| matches!(need, Need::Cipher { algorithm, .. } if algorithm.name == name);
        let mut engine = Dispatch::new(vec![
            Part::of(of("aes")),
            Part::of(|need| software::can(need) && !of("des")(need)),
        ]);
        assert!(engine.capabilities().can(&Need::Hmac { algorithm: &SHA1 }));
        let aes = Key::cipher(&AES, Mode::Cbc, &[1; 16]).unwrap();
        let des = Key::cipher(&DES, Mode::Cbc, &[1; 8]).unwrap();
        let mac = Key::mac(Mac::Hmac(&SHA1), &[1; 20]).unwrap();
        let operation = |id: u64| match id % 3 {
            0 => Operation::cipher(aes.clone(), Direction::Encrypt, &[2; 16], &[3; 64]).unwrap(),
            1 => Operation::mac(mac.clone(), &[3; 64], 12),
            _ => Operation::cipher(des.clone(), Direction::Encrypt, &[2; 8], &[3; 64]).unwrap(),
        };
        let job = |id| Job { id, flow: 0, packet: id, operation: operation(id) };
        let mut done = run_all(&mut engine, (0..60).map(job).collect());
        done.sort_by_key(|done| done.id);
        assert!(done.iter().map(|done| done.id).eq(0..60), "each has one answer");
        for Completion { id, buffer, result } in done {
            if id % 3 == 2 {
                let need = des.need(Direction::Encrypt);
                assert_eq!(
                    (result, buffer),
                    (Err(EngineError::NoConfiguration { need }), operation(id).buffer)
                );
            } else {
                assert_eq!(result, Ok(()));
                assert_eq!(Ok(buffer), crate::compute::run(operation(id)), "{id}");
            }
        }
        for (at, engine) in engine.engines().enumerate() {
            assert!(engine.given.iter().copied().eq((0..60).filter(|id| id % 3 == at as u64)), "in order");
        }
    }

    #[test]
    fn what_is_too_long_for_one_goes_to_the_next() {
        let all = || Part::of(software::can);
        let mut engine = Dispatch::new(vec![Part { most: 32, ..all() }, Part { most: 64, ..all() }]);
        let aes = Key::cipher(&AES, Mode::Cbc, &[1; 16]).unwrap();
        let operation = |bytes| Operation::cipher(aes.clone(), Direction::Encrypt, &[2; 16], &vec![3; bytes]);
        let job = |id: u64| Job { id, flow: 0, packet: id, operation: operation(16 * id as usize).unwrap() };
        let mut done = run_all(&mut engine, (1..7).map(job).collect());
        done.sort_by_key(|done| done.id);
        for Completion { id, result, .. } in done {
            let need = aes.need(Direction::Encrypt);
            let wanted = if id <= 4 { Ok(()) } else { Err(EngineError::NoConfiguration { need }) };
            assert_eq!(result, wanted, "{id}");
        }
        assert!(engine.engines().map(|engine| &engine.given[..]).eq([[1, 2], [3, 4]]));
    }

    #[test]
    fn both_halves_are_done_by_one() {
        let cipher =
            Need::Cipher { algorithm: &AES, mode: Mode::Cbc, direction: Direction::Encrypt, key_len: 16 };
        let mac = Need::Hmac { algorithm: &SHA1 };
        let halves = [cipher, mac].map(|one| Capabilities::of(|need| *need == one));
        let both = Capabilities::of(software::can);
        assert_eq!(choose(&halves, (cipher, Some(mac))), None);
        assert_eq!(choose(&halves, (mac, None)), Some(1));
        assert_eq!(choose(halves.iter().chain([&both]), (cipher, Some(mac))), Some(2));
    }
}
