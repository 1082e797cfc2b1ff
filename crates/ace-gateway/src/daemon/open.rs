// SPDX-License-Identifier: Apache-2.0
//! Opens everything that a gateway has, and gives up what it no longer needs.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use ace_config::gateway::{Encapsulation, GatewayConfig};
use ace_engine::Engine;
use ace_ipsec::OsIvs;
use nix::sys::signalfd::{SfdFlags, SignalFd};
use tracing::warn;

use super::error::GatewayError;
use super::faces::Faces;
use super::front::Front;
use super::load::{Loader, Loading};
use super::recording::Recording;
use super::waiting::Waiting;
use super::worker::{Devices, Outside, Ports, Worker};
use super::worker_pool::WorkerPool;
use super::{Daemon, answers, guarding, signals};
use crate::core::{Core, Interfaces, Settings, marks};
use crate::engines::Remote;
use crate::io::broken::{Broken, Row};
use crate::io::control::Control;
use crate::io::icmp::Icmp;
use crate::io::raw::Raw;
use crate::io::setup::{self, SetupError};
use crate::io::udp::Udp;
use crate::io::xfrm::XfrmSocket;
use crate::keys::Keys;
use crate::outlet::Outlet;
use crate::page::Page;
use crate::standby::Active;

impl Daemon {
    pub(super) fn open(
        config: GatewayConfig,
        engines: Vec<Box<dyn Engine + Send>>,
        remote: Option<Remote>,
        log: Outlet,
    ) -> Result<Self, GatewayError> {
        let (inside, outside) = (&config.inside, &config.outside);
        let keepalive = Some(Duration::from_secs(outside.keepalive.into())).filter(|it| !it.is_zero());
        let state = config.state.as_deref().unwrap_or(Path::new("gateway.state"));
        let (keys, mut standby) = match &config.standby {
            Some(of) => Active::begin(of, state).map(|(keys, standby)| (keys, Some(standby)))?,
            None => (Keys::open(state)?, None),
        };
        let settings = Settings {
            encapsulation: outside.encapsulation,
            peers: config.peers.clone(),
            mtu: inside.mtu,
            interfaces: Interfaces::of(&config),
            marks: marks(&config),
            port: 4500,
            keepalive: keepalive.filter(|_| outside.encapsulation == Encapsulation::Udp),
            xfrm: config.xfrm.as_ref().map(|xfrm| xfrm.allow_legacy),
            keys: Some(keys.clone()),
        };
        let core = |engine| Core::new(settings.clone(), engine, Box::new(OsIvs::default()));
        let mut cores: Vec<Core> = engines.into_iter().map(core).collect();
        if outside.firewall {
            cores.iter_mut().for_each(Core::record_rules);
        }
        let start = Instant::now();
        let mut loader = Loader::new(&config)?;
        if let [core] = &mut cores[..] {
            loader.load(|plan| core.load(Duration::ZERO, &plan.wanted))?;
        }
        let mask = signals();
        let signals = mask
            .thread_block()
            .and_then(|()| SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC))
            .map_err(SetupError::Wait)?;
        let open = |what: String, remedy| move |why| GatewayError::Open { what, why, remedy };
        let count = cores.len();
        let mut listening = None;
        let mut opened: Vec<Outside> = match outside.encapsulation {
            Encapsulation::Udp => {
                let remedy = "; another program may listen there, or `listen` is no address of this machine";
                // Who negotiates for it listens there, too.
                let beside = config.xfrm.is_some() && outside.listen.is_ipv4();
                let bound = match count {
                    1 if beside => Udp::bind_beside_ike(outside.listen).map(|one| vec![one]),
                    1 => Udp::bind(outside.listen).map(|one| vec![one]),
                    _ => Udp::bind_group(outside.listen, count),
                };
                let bound = bound.map_err(open(format!("UDP port {}", outside.listen), remedy))?;
                listening = bound.first().and_then(|first| first.local_addr().ok());
                bound.into_iter().map(|one| Outside::Udp(Box::new(one))).collect()
            }
            Encapsulation::None => {
                let remedy = "; this needs CAP_NET_RAW: start as root, or use encapsulation = \"udp\"";
                let raw = |part| match count {
                    1 => Raw::open(),
                    _ => Raw::open_part(part, count),
                };
                let all = (0..count).map(|part| raw(part).map(|raw| Outside::Raw(Box::new(raw))));
                all.collect::<Result<_, _>>().map_err(open("raw sockets".to_owned(), remedy))?
            }
        };
        for (one, mark) in opened.iter_mut().zip(std::iter::repeat(outside.mark)) {
            let marked = match (one, mark) {
                (_, None) => Ok(()),
                (Outside::Udp(udp), Some(mark)) => udp.carry(mark),
                (Outside::Raw(raw), Some(mark)) => raw.carry(mark),
            };
            let remedy = "; `mark` needs CAP_NET_ADMIN: start as root";
            marked.map_err(open("a socket with a mark".to_owned(), remedy))?;
        }
        let Faces { mut of_cores, guards, indices } = Faces::open(&config, count)?;
        let firewall = guarding::wall(&config, indices, listening.map(|at| at.port()))?;
        let icmp = match Icmp::open() {
            Ok(icmp) => Some(icmp),
            Err(why) => {
                warn!(%why, "no ICMP is heard, which takes CAP_NET_RAW: packets that are too long on their way are lost");
                None
            }
        };
        let control = Control::bind(&config.control)
            .map_err(open(format!("the socket {}", config.control.display()), ""))?;
        let xfrm = match &config.xfrm {
            Some(xfrm) => {
                let what = format!("the socket {}", xfrm.socket.display());
                Some(XfrmSocket::bind(&xfrm.socket).map_err(open(what, ""))?)
            }
            None => None,
        };
        let page = match config.page {
            Some(page) => {
                let remedy = "; another program may listen there: `listen` of [page] names another port";
                Some(Page::open(page.listen).map_err(open(format!("the page at {}", page.listen), remedy))?)
            }
            None => None,
        };
        let recording = match &config.record {
            Some(record) => {
                let what = format!("the recording {}", record.file.display());
                let Some(core) = cores.first_mut() else {
                    return Err(SetupError::Cores(what).into());
                };
                Some(Recording::create(record, core).map_err(open(what, ""))?)
            }
            None => None,
        };
        if let Some(user) = &config.user {
            setup::become_user(user)?;
        }
        setup::confine()?;
        let mut microseconds = 0;
        let watchdog = sd_notify::watchdog_enabled(false, &mut microseconds)
            .then(|| Duration::from_micros(microseconds) / 3);
        // Threads begin when privileges are gone: these are a thread's own.
        let writing = keys.start().map_err(SetupError::Threads)?;
        standby.as_mut().map_or(Ok(()), Active::start).map_err(SetupError::Threads)?;
        log.start("log").map_err(SetupError::Threads)?;
        recording.as_ref().map_or(Ok(()), Recording::start).map_err(SetupError::Threads)?;
        let devices = of_cores.drain(..).zip(opened);
        let mut workers: Vec<(Core, Box<dyn Ports>)> = (cores.into_iter().zip(devices))
            .map(|(core, (faces, outside))| (core, Box::new(Devices::new(faces, outside)) as Box<dyn Ports>))
            .collect();
        let front = match (workers.len(), workers.pop()) {
            (1, Some((core, ports))) => Front::One(Box::new(Worker::new(core, ports, None))),
            (_, last) => {
                workers.extend(last);
                let pool = WorkerPool::start(workers, start).map_err(SetupError::Threads)?;
                loader.load(|plan| pool.load(start.elapsed(), plan))?;
                Front::Pool(pool)
            }
        };
        let loading = Loading::start(loader).map_err(SetupError::Threads)?;
        Ok(Self {
            config,
            front,
            loading,
            control: Some(control),
            xfrm,
            signals,
            start,
            began: Cell::default(),
            watchdog,
            watchdog_fed: Duration::ZERO,
            listening,
            remote,
            handed: answers::Handed::default(),
            page,
            recording,
            log,
            keys,
            guards,
            due: Vec::new(),
            standby,
            firewall,
            icmp,
            waiting: Waiting::new().map_err(|why| Broken::waiting(why.into()))?,
            waits: Row::default(),
            writing: Some(writing),
            stopping: false,
        })
    }
}
