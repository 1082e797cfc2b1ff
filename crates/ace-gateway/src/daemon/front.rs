// SPDX-License-Identifier: Apache-2.0
//! What moves packets: one worker in the thread that does all else, or several, each in its own.

use std::net::IpAddr;
use std::time::Duration;

use super::load::Plan;
use super::worker::Worker;
use super::worker_pool::WorkerPool;
use crate::core::{CheckStatus, Core, CoreError, PeerStatus, Reloaded, Remotes, SaView, TooBig};
use crate::firewall::{Edit, Id, Way, edit_of};
use crate::io::broken::Broken;
use crate::status::{CoreStatus, Figures};
use crate::trace::{TraceError, Tracer};

pub enum Front {
    One(Box<Worker>),
    Pool(WorkerPool),
}

impl Front {
    /// Where there is but one core.
    pub fn worker(&mut self) -> Option<&mut Worker> {
        match self {
            Front::One(worker) => Some(worker),
            Front::Pool(_) => None,
        }
    }

    pub fn load(&mut self, now: Duration, plan: &mut Plan) -> Result<Reloaded, CoreError> {
        match self {
            Front::One(worker) => worker.core.load(now, &plan.wanted),
            Front::Pool(pool) => pool.load(now, plan),
        }
    }

    pub fn sas(&self) -> Vec<SaView> {
        match self {
            Front::One(worker) => worker.core.sas(),
            Front::Pool(pool) => pool.sas(),
        }
    }

    pub fn sa_count(&self) -> usize {
        match self {
            Front::One(worker) => worker.core.sa_count(),
            Front::Pool(pool) => pool.sa_count(),
        }
    }

    /// Of all cores together, the peers, and of several cores each.
    pub fn figures(&self) -> (Figures, Vec<PeerStatus>, Option<Vec<CoreStatus>>) {
        match self {
            Front::One(worker) => (figures(worker), worker.core.peers(), None),
            Front::Pool(pool) => pool.figures(),
        }
    }

    /// What went to and came from each other end, which ends policies name, and how many rules ask for an SA and have none.
    pub fn remotes(&self) -> Remotes {
        match self {
            Front::One(worker) => worker.core.remotes(),
            Front::Pool(pool) => pool.remotes(),
        }
    }

    /// Ends that are looked at; with several cores nobody looks.
    pub fn checks(&self) -> Vec<(IpAddr, CheckStatus<Duration>)> {
        match self {
            Front::One(worker) => worker.core.checks(),
            Front::Pool(_) => Vec::new(),
        }
    }

    /// Tells a reader what becomes of packets from now on; first whether there may be one more.
    pub fn trace(&mut self, start: impl FnOnce() -> Result<Tracer, TraceError>) -> Result<(), TraceError> {
        match self {
            Front::One(worker) => {
                worker.core.may_trace()?;
                worker.core.trace(start()?);
                Ok(())
            }
            Front::Pool(pool) => pool.trace(start),
        }
    }

    /// Rules that came, changed or went.
    pub fn rule_changes(&mut self) -> Vec<(Id, Option<Edit>)> {
        match self {
            Front::One(worker) => edits(0, &mut worker.core),
            Front::Pool(pool) => pool.rule_changes(),
        }
    }

    /// Whether there are policies by XFRM, which has but one core.
    pub fn has_policies(&self) -> bool {
        matches!(self, Front::One(worker) if worker.core.has_policies())
    }

    pub fn poll_event(&mut self) -> Option<String> {
        match self {
            Front::One(worker) => worker.core.poll_event(),
            Front::Pool(pool) => pool.poll_event(),
        }
    }

    /// A packet was too long for its way.
    pub fn too_big(&mut self, now: Duration, about: TooBig) {
        match self {
            Front::One(worker) => worker.core.too_big(now, about),
            Front::Pool(pool) => pool.too_big(about),
        }
    }

    /// What was taken is sent.
    pub fn finish(&mut self, now: Duration) -> Result<(), Broken> {
        match self {
            Front::One(worker) => {
                worker.core.finish(now);
                worker.send(now)
            }
            Front::Pool(pool) => {
                pool.stop();
                pool.broken()
            }
        }
    }
}

/// Of one core.
pub fn edits(number: u32, core: &mut Core) -> Vec<(Id, Option<Edit>)> {
    let (outside, inside) = core.rule_changes();
    let coming = outside.into_iter().map(|change| edit_of(Way::In, number, change));
    coming.chain(inside.into_iter().map(|change| edit_of(Way::Out, number, change))).collect()
}

/// What a worker counts, for `status`.
pub fn figures(worker: &Worker) -> Figures {
    Figures {
        engine: worker.core.engine_name().to_owned(),
        packets: worker.core.packets().into(),
        gateway: *worker.core.counters(),
        losses: worker.losses,
    }
}
