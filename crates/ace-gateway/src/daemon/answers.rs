// SPDX-License-Identifier: Apache-2.0
//! What a running gateway says when it is asked, and the libraries that it is handed.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ace_config::gateway::Device;
use serde_json::{Value, json};
use tracing::{error, info};

use super::Daemon;
use super::recording::Recording;
use crate::engines::{Remote, View};
use crate::firewall::Firewall;
use crate::io::guard::Guard;
use crate::standby::Active;
use crate::status::{Interface, Sa, State, Status, Unwritten};
use crate::trace::{TraceError, Tracer};

/// A library under way or taken, by number.
#[derive(Default)]
pub(super) struct Handed {
    last: u64,
    pending: bool,
    /// The last one, which is there; SAs that need it come with the file that is being read.
    taken: Option<String>,
    /// What came of the last one.
    outcome: Option<Value>,
}

impl Daemon {
    /// Answers a question of the socket.
    pub(super) fn answer(&mut self, now: Duration, question: &str, stream: &UnixStream) -> Option<Value> {
        Some(match question.split_once(' ') {
            None => match question {
                "status" => json!(self.status(now)),
                "sas" => json!(self.sas(now)),
                "slots" => json!(self.slots()),
                "alone" => self.go_alone(),
                _ => unknown(),
            },
            Some(("library", path)) => self.hand(Path::new(path)),
            Some(("library-outcome", number)) => self.handed(number),
            Some(("trace", words)) => {
                return self.trace(now, words, stream).err().map(|why| json!({"error": why.to_string()}));
            }
            Some(_) => unknown(),
        })
    }

    /// Streams what becomes of packets from here on. It is answered by the stream itself.
    fn trace(&mut self, now: Duration, words: &str, stream: &UnixStream) -> Result<(), TraceError> {
        let clock = self.clock(now);
        self.front.trace(|| {
            let stream = stream.try_clone()?;
            stream.set_nonblocking(false)?;
            Tracer::start(stream, words, clock)
        })
    }

    pub(super) fn status(&self, now: Duration) -> Status {
        let (figures, endpoints, cores) = self.front.figures();
        let (peers, rules_without_sa) = self.peers(now, &endpoints);
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: now.as_secs_f64(),
            tun: self.config.inside.tun.clone(),
            interfaces: self.interfaces(),
            listening: self.listening,
            page: self.page.as_ref().map(|page| page.listening),
            sas: self.front.sa_count(),
            figures,
            started: self.clock(now).0,
            peers,
            rules_without_sa,
            open_keys: self.open_keys(),
            cores,
            clear_dropped: self.firewall.as_ref().map(Firewall::dropped),
            unwritten: Unwritten {
                log: self.log.lost(),
                record: self.recording.as_ref().map_or(0, Recording::lost),
            },
            standby: self.standby.as_ref().map(Active::status),
            board_fails: self.remote.as_ref().and_then(Remote::board_fails),
        }
    }

    /// Those with numbers.
    fn interfaces(&self) -> Vec<Interface> {
        let guarded = self.config.devices().zip(&self.guards).filter(|(device, _)| device.if_id != 0);
        let one = |(device, guard): (Device<'_>, &Guard)| Interface {
            name: device.inside.tun.clone(),
            if_id: device.if_id,
            moved: guard.has_moved(),
        };
        guarded.map(one).collect()
    }

    fn sas(&self, now: Duration) -> Vec<Sa> {
        let clock = self.clock(now);
        let name = |if_id| {
            let device = self.config.devices().find(|device| device.if_id == if_id);
            device.map_or_else(String::new, |device| device.inside.tun.clone())
        };
        self.front.sas().into_iter().map(|sa| Sa::of(sa, clock, name)).collect()
    }

    fn slots(&self) -> View {
        self.remote.as_ref().map_or_else(View::default, Remote::view)
    }

    /// All of it, for the page.
    pub(super) fn state(&self, now: Duration) -> State {
        State { status: self.status(now), sas: self.sas(now), slots: self.slots() }
    }

    fn go_alone(&self) -> Value {
        match self.standby.as_ref().map(Active::go_alone) {
            None => {
                json!({"error": "this gateway has no standby: there is no [standby] in its configuration"})
            }
            Some(Err(why)) => json!({"error": why.to_string()}),
            Some(Ok(())) => json!({"alone": true}),
        }
    }

    fn hand(&mut self, path: &Path) -> Value {
        let Some(remote) = &self.remote else {
            return json!({"error": "this gateway has no board and no library: `kind` of [engine] is \"cpu\""});
        };
        if self.handed.pending {
            return json!({"error": "another library is being taken; ask again when it is"});
        }
        if !path.is_absolute() {
            return json!({"error": "the path of the library is not absolute"});
        }
        remote.take_library(PathBuf::from(path));
        self.handed = Handed { last: self.handed.last + 1, pending: true, ..Handed::default() };
        json!({"number": self.handed.last})
    }

    fn handed(&self, number: &str) -> Value {
        match &self.handed.outcome {
            _ if number.parse() != Ok(self.handed.last) => json!({"error": "there was no such library"}),
            Some(outcome) => outcome.clone(),
            None => json!({"pending": true}),
        }
    }

    /// The board has spoken: a library may have come of it.
    pub(super) fn libraries(&mut self) {
        let Some(outcome) = self.remote.as_ref().and_then(|remote| remote.outcome()) else { return };
        match outcome {
            Err(why) => {
                error!(%why, "library not taken, everything stays as it is");
                self.handed.pending = false;
                self.handed.outcome = Some(json!({"error": why.to_string()}));
            }
            Ok(words) => {
                info!(library = %words, "library taken");
                // SAs that needed it are in the file by now, or come with the next SIGHUP.
                self.handed.taken = Some(words);
                self.loading.ask();
            }
        }
    }

    /// The file that was read for a library is taken, or not.
    pub(super) fn library_reloaded(&mut self, sas_error: Option<String>) {
        if let Some(words) = self.handed.taken.take() {
            self.handed.pending = false;
            let sas = self.front.sa_count();
            self.handed.outcome = Some(json!({"taken": words, "sas": sas, "sas_error": sas_error}));
        }
    }
}

fn unknown() -> Value {
    json!({"error": "this gateway answers `status`, `sas`, `slots`, `trace …` and `library FILE`"})
}
