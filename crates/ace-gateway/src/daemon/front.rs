// SPDX-License-Identifier: Apache-2.0
//! What moves packets: one lane in the thread that does all else, or several, each in its own.

use std::time::Duration;

use ace_config::SaFile;

use super::crew::Crew;
use super::lane::Lane;
use crate::core::{CoreError, PeerStatus, Reloaded, SaView};
use crate::status::{CoreStatus, Figures};

pub enum Front {
    One(Box<Lane>),
    Crew(Crew),
}

impl Front {
    /// Where there is but one core.
    pub fn lane(&mut self) -> Option<&mut Lane> {
        match self {
            Front::One(lane) => Some(lane),
            Front::Crew(_) => None,
        }
    }

    pub fn load(&mut self, now: Duration, file: &SaFile) -> Result<Reloaded, CoreError> {
        match self {
            Front::One(lane) => lane.core.load(now, file),
            Front::Crew(crew) => crew.load(now, file),
        }
    }

    pub fn sas(&self) -> Vec<SaView> {
        match self {
            Front::One(lane) => lane.core.sas(),
            Front::Crew(crew) => crew.sas(),
        }
    }

    pub fn sa_count(&self) -> usize {
        match self {
            Front::One(lane) => lane.core.sa_count(),
            Front::Crew(crew) => crew.sa_count(),
        }
    }

    /// Of all cores together, the peers, and of several cores each.
    pub fn figures(&self) -> (Figures, Vec<PeerStatus>, Option<Vec<CoreStatus>>) {
        match self {
            Front::One(lane) => (figures(lane), lane.core.peers(), None),
            Front::Crew(crew) => crew.figures(),
        }
    }

    pub fn poll_event(&mut self) -> Option<String> {
        match self {
            Front::One(lane) => lane.core.poll_event(),
            Front::Crew(crew) => crew.poll_event(),
        }
    }

    /// What was taken is sent.
    pub fn finish(&mut self, now: Duration) {
        match self {
            Front::One(lane) => {
                lane.core.finish(now);
                lane.send(now);
            }
            Front::Crew(crew) => crew.stop(),
        }
    }
}

/// What a lane counts, for `status`.
pub fn figures(lane: &Lane) -> Figures {
    Figures {
        engine: lane.core.engine_name().to_owned(),
        packets: lane.core.packets().into(),
        gateway: *lane.core.counters(),
        losses: lane.losses,
    }
}
