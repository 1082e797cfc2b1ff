// SPDX-License-Identifier: Apache-2.0
//! The standby's copy of a state file, and what it answers. It has no clock and no socket.

use std::io;

use crate::keys::Storage;
use crate::keys::record::{self, PART, RECORDS};
use crate::keys::role::{Phase, Role};
use crate::keys::state::State;

use super::message::{Part, Reply, Request};

/// Longer than any state file.
const LONGEST: usize = RECORDS + ((2 * PART) << 20);

/// The copy.
pub struct Replica {
    storage: Box<dyn Storage>,
    salt: [u8; 32],
    role: Role,
    /// Nothing of its own is lost with it.
    is_new: bool,
    session: Option<Session>,
    /// While this program runs the other one was attached: silence says something.
    was_attached: bool,
    /// It is to end, and first says so.
    leaves: bool,
    /// A write failed, and what the file says of the role is unknown.
    broken: bool,
    /// It was a copy when it began, and counts.
    taken: bool,
}

/// Who speaks: the last one that has said hello.
struct Session {
    number: u64,
    salt: [u8; 32],
    term: u64,
    /// The whole file, until it is complete.
    incoming: Option<Vec<u8>>,
    /// It has everything.
    attached: bool,
}

/// Why it does not take over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTakeOver {
    /// There is nothing to go on from, or not all of it.
    #[error(
        "this copy is not complete: the other gateway may have used numbers that it does not have; give every SA a new key \
         and start a gateway with another `state`"
    )]
    Behind,
    /// The other one may be counting alone.
    #[error(
        "the other gateway may go on alone (`alone = \"go-on\"`), and may have used numbers that are not here; stop it there \
         and say `ace gateway hand-over CONFIG` there"
    )]
    Lenient,
    /// Nobody has told it anything since it began.
    #[error(
        "the other gateway was not attached since this standby began: if somebody said `ace gateway alone` there meanwhile, \
         it used numbers that are not here; if nobody did, --nobody-said-alone takes over"
    )]
    Unseen,
    /// It is no copy.
    #[error("the state file here is a gateway's own and no copy: `ace gateway CONFIG` goes on with it")]
    NoCopy,
    /// Its own file cannot be written.
    #[error("the state file cannot be written; start the standby anew")]
    Broken,
}

impl Replica {
    /// Of a state file, whatever it was before. It becomes a copy when a gateway attaches that is ahead of it.
    pub fn new(state: State) -> Self {
        let is_new = state.is_new();
        let State { storage, salt, role, .. } = state;
        Self {
            storage,
            salt,
            role,
            is_new,
            session: None,
            was_attached: false,
            leaves: false,
            broken: false,
            taken: false,
        }
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether somebody is attached now, as far as it knows.
    pub fn is_attached(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.attached)
    }

    fn record(&mut self, role: Role) -> io::Result<()> {
        if self.broken {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let (at, bytes) = role.bytes();
        let done = self.storage.write_at(at, &bytes).and_then(|()| self.storage.sync());
        self.broken = done.is_err();
        done.map(|()| self.role = role)
    }

    /// It does not have everything any more, whatever happens.
    fn fall_behind(&mut self) -> io::Result<()> {
        match self.role.phase {
            Phase::Standby { whole: true, strict } => {
                self.record(self.role.turned(Phase::Standby { whole: false, strict }))
            }
            _ => Ok(()),
        }
    }

    /// Answers. `number` is the connection's, and a later one has a higher one.
    pub fn answer(&mut self, number: u64, request: Request) -> Reply {
        if self.taken {
            return Reply::Counting { term: self.role.term };
        }
        let refused = |why: io::Error| Reply::Refused(format!("the standby's state file: {why}"));
        if let Request::Hello { salt, term, attached } = request {
            return self.hello(number, salt, term, attached);
        }
        let Some(session) = self.session.as_mut().filter(|session| session.number == number) else {
            return Reply::Refused("another gateway has spoken since".to_owned());
        };
        if self.leaves {
            session.attached = false;
            return match self.fall_behind() {
                Ok(()) => Reply::Leaving,
                Err(why) => refused(why),
            };
        }
        match request {
            Request::Write(parts) => match &mut session.incoming {
                Some(whole) => match put(whole, &parts) {
                    true => Reply::Done,
                    false => Reply::Refused("no state file is that long".to_owned()),
                },
                None if session.attached => match self.write(&parts) {
                    Ok(()) => Reply::Done,
                    Err(_) => {
                        self.session = None;
                        match self.fall_behind() {
                            Ok(()) => Reply::Leaving,
                            Err(why) => refused(why),
                        }
                    }
                },
                None => Reply::Refused("nobody is attached".to_owned()),
            },
            Request::Attach { strict } => self.attach(strict),
            Request::Beat if session.attached => Reply::Done,
            Request::Goodbye if session.attached => match self.count() {
                Ok(()) => Reply::Done,
                Err(why) => refused(why),
            },
            _ => Reply::Refused("nobody is attached".to_owned()),
        }
    }

    fn hello(&mut self, number: u64, salt: [u8; 32], term: u64, attached: bool) -> Reply {
        if !self.is_new && salt != self.salt {
            return Reply::Refused(
                "its state file is another gateway's, whose keys would be forgotten; move it away there"
                    .to_owned(),
            );
        }
        let fits = match self.role.phase {
            _ if self.is_new => true,
            Phase::Standby { .. } => term >= self.role.term,
            // Whoever counts now has taken over from this one.
            _ => term > self.role.term,
        };
        if !fits {
            return Reply::Refused(format!(
                "its state file is of a later take-over (number {}; here {term}), or a gateway's own: only one of the two may \
                 go on, the one that counted last",
                self.role.term
            ));
        }
        if !attached && let Err(why) = self.fall_behind() {
            return Reply::Refused(format!("the standby's state file: {why}"));
        }
        let incoming = Some(Vec::new());
        self.session = Some(Session { number, salt, term, incoming, attached: false });
        Reply::Done
    }

    fn write(&mut self, parts: &[Part]) -> io::Result<()> {
        let fits =
            |at: u64, len: usize| at >= RECORDS as u64 && at.saturating_add(len as u64) <= LONGEST as u64;
        if parts.iter().any(|(at, part)| !fits(*at, part.len())) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        parts.iter().try_for_each(|(at, part)| self.storage.write_at(*at, part))?;
        self.storage.sync()
    }

    fn attach(&mut self, strict: bool) -> Reply {
        let Some(session) = self.session.as_mut() else { return Reply::Refused(String::new()) };
        let phase = Phase::Standby { whole: true, strict };
        let done = match session.incoming.take() {
            Some(mut whole) => {
                if whole.get(..PART).and_then(record::salt) != Some(session.salt) {
                    return Reply::Refused("the state file did not come whole".to_owned());
                }
                // A copy has its own role.
                let role = self.role.in_term(session.term, phase);
                let (at, bytes) = role.bytes();
                whole.resize(whole.len().max(RECORDS), 0);
                whole[PART..RECORDS].fill(0);
                whole[at as usize..at as usize + PART].copy_from_slice(&bytes);
                self.storage.replace(&whole).map(|()| {
                    (self.role, self.salt, self.is_new, self.broken) = (role, session.salt, false, false);
                })
            }
            None if session.attached => self.record(self.role.turned(phase)),
            None => return Reply::Refused("nobody is attached".to_owned()),
        };
        match (done, &mut self.session) {
            (Ok(()), Some(session)) => {
                (session.attached, self.was_attached) = (true, true);
                Reply::Done
            }
            (Err(why), _) => {
                // Either of two files is there.
                self.broken = true;
                Reply::Refused(format!("the standby's state file: {why}"))
            }
            (Ok(()), None) => Reply::Refused(String::new()),
        }
    }

    /// From here on this one counts.
    fn count(&mut self) -> io::Result<()> {
        self.record(self.role.in_term(self.role.term + 1, Phase::Alone))?;
        self.taken = true;
        Ok(())
    }

    /// Whether it may take over because nothing is heard.
    pub fn may_take_over(&self) -> Result<(), NoTakeOver> {
        match self.role.phase {
            _ if self.broken => Err(NoTakeOver::Broken),
            Phase::Standby { whole: false, .. } => Err(NoTakeOver::Behind),
            Phase::Standby { strict: false, .. } => Err(NoTakeOver::Lenient),
            Phase::Standby { .. } if !self.was_attached => Err(NoTakeOver::Unseen),
            Phase::Standby { .. } => Ok(()),
            _ if self.is_new => Err(NoTakeOver::Behind),
            _ => Err(NoTakeOver::NoCopy),
        }
    }

    /// Takes over: behind it the other one gets no number any more.
    ///
    /// # Errors
    /// [`NoTakeOver`].
    pub fn take_over(&mut self, anyway: bool) -> Result<(), NoTakeOver> {
        match self.may_take_over() {
            Err(NoTakeOver::Unseen) if anyway => {}
            other => other?,
        }
        self.count().map_err(|_| NoTakeOver::Broken)
    }

    /// It has taken over.
    pub fn counts(&self) -> bool {
        self.taken
    }

    /// It is to end. The other one hears of it with its next request.
    ///
    /// # Errors
    /// Its file cannot be written: whoever counts hears nothing, and may stand still.
    pub fn leave(&mut self) -> io::Result<()> {
        self.leaves = true;
        self.fall_behind()
    }
}

fn put(whole: &mut Vec<u8>, parts: &[Part]) -> bool {
    for (at, part) in parts {
        let Some(end) = usize::try_from(*at).ok().and_then(|at| at.checked_add(part.len())) else {
            return false;
        };
        if end > LONGEST {
            return false;
        }
        whole.resize(whole.len().max(end), 0);
        whole[end - part.len()..end].copy_from_slice(part);
    }
    true
}
