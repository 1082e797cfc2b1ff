// SPDX-License-Identifier: Apache-2.0
//! Where packets go that the data plane is done with.

use ace_config::gateway::Encapsulation;
use ace_ipsec::packet::ip;
use ace_ipsec::{Cause, Exit, Fate, How};

use super::sources::Origin;
use super::{Core, Outgoing};
use crate::record::Seen;

impl Core {
    /// Takes what the data plane is done with.
    pub(super) fn settle(&mut self) {
        while let Some(exit) = self.plane.poll_exit() {
            self.leave(exit);
        }
    }

    fn leave(&mut self, Exit { token, mut buffer, sa, if_id, mark, fate }: Exit) {
        let origin = self.sources.take(token);
        if self.traces.is_on() {
            self.tell_traces(token, &buffer, sa, fate);
        }
        if let (Some(recorder), Some(origin), Some(id)) = (&mut self.recorder, origin, sa) {
            let seen = match fate {
                Fate::ToOutside(How::Protected) => origin.seen,
                Fate::ToInside(How::Decapsulated) => Seen::of(origin.at, &buffer),
                _ => None,
            };
            if let Some(seen) = seen {
                recorder.left(seen, id, || self.plane.sa(id));
            }
        }
        self.checks.left(token, if fate == Fate::ToOutside(How::Protected) { buffer.len() } else { 0 });
        match (fate, sa) {
            (Fate::ToOutside(How::Protected), _) => {
                let Some(parsed) = ip::parse(&buffer) else { return self.give_back(buffer) };
                match self.encapsulation {
                    Encapsulation::None => {
                        let to = parsed.destination;
                        self.outgoing.push_back(Outgoing::Raw { to, mark, packet: buffer });
                    }
                    Encapsulation::Udp => {
                        let Some(to) = self.peers.send(parsed.destination, self.now) else {
                            self.counters.no_peer += 1;
                            return self.give_back(buffer);
                        };
                        buffer.pop_front(parsed.upper.at);
                        let (class, whole) = (parsed.traffic_class, parsed.must_stay_whole());
                        self.outgoing.push_back(Outgoing::Udp { to, class, whole, mark, payload: buffer });
                    }
                }
            }
            (Fate::ToInside(How::Decapsulated), Some(sa)) => {
                if let Some(Origin { source: Some((source, sequence)), .. }) = origin
                    && let Some(remote) = self.authentic(sa)
                    && self.peers.wonders(remote, source)
                    // A packet that was overtaken says where the peer was.
                    && self.plane.sa(sa).is_some_and(|sa| sa.sequence as u32 == sequence)
                    && let Some(old) = self.peers.hear(remote, source)
                {
                    if let Some(xfrm) = &mut self.xfrm {
                        xfrm.moved(sa, old, source);
                    }
                    self.moves.iter_mut().for_each(|moves| moves.push((remote, source)));
                    self.counters.endpoint_moves += 1;
                }
                if self.checks.hear(self.now, if_id, &buffer) {
                    return self.give_back(buffer);
                }
                self.outgoing.push_back(Outgoing::Inside { if_id, packet: buffer });
            }
            (Fate::Dropped(Cause::PathMtu), Some(sa)) => {
                self.answer_too_big(sa, if_id, &buffer);
                self.give_back(buffer);
            }
            (Fate::Dropped(_), _) => self.give_back(buffer),
            _ => {
                self.counters.clear_dropped += 1;
                self.give_back(buffer);
            }
        }
    }
}
