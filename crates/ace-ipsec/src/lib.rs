// SPDX-License-Identifier: Apache-2.0
//! The ESP and AH data plane (RFC 4301, 4302, 4303), sans-I/O.
//!
//! A [`Shard`] takes IP packets from one of two sides ([`Inside`], [`Outside`]) and gives jobs for an engine
//! ([`Shard::jobs`]); the engine's completions go to [`Shard::complete`], and packets leave by
//! [`Shard::poll_exit`]. Nothing here computes a cipher or a hash, opens a socket or looks at a clock.
//!
//! One packet through a tunnel, and back:
//!
//! ```
//! use ace_engine::software::CpuEngine;
//! use ace_engine::{Buffer, Engine, Secret};
//! use ace_ipsec::model::{AuthSuite, CipherSuite, KeyUse};
//! use ace_ipsec::{
//!     Direction, Exit, Fate, HEADROOM, Headers, How, Inside, Lifetime, OsIvs, Outside, Packet, Policy, Protocol,
//!     Rule, SaMode, SaSpec, Selector, Shard, Side, TAILROOM, Time, Treatment,
//! };
//!
//! // The same SA as each of its ends has it. A key of AES-GCM has its salt behind it (RFC 4106, 8.1).
//! let spec = |direction, local: [u8; 4], remote: [u8; 4]| SaSpec {
//!     name: "a to b".into(),
//!     spi: 0x1001,
//!     direction,
//!     protocol: Protocol::Esp,
//!     mode: SaMode::Tunnel,
//!     local: local.into(),
//!     remote: remote.into(),
//!     selector: Selector::default(),
//!     cipher: CipherSuite::by_name("aes-128-gcm-16").expect("a suite of the table"),
//!     auth: AuthSuite::by_name("none").expect("a suite of the table"),
//!     key: Secret::new(vec![7; 20]),
//!     auth_key: Secret::new(Vec::new()),
//!     key_use: KeyUse::Fresh,
//!     esn: false,
//!     replay_window: 64,
//!     first_sequence: 1,
//!     core: None,
//!     if_id: 0,
//!     output_mark: 0,
//!     headers: Headers::of(direction),
//!     lifetime: Lifetime::default(),
//! };
//! let rule = Rule { selector: Selector::default(), treatment: Treatment::Protect, priority: 0, if_id: 0 };
//! let now = Time::ZERO;
//!
//! let mut a = Shard::new(Policy::Discard, Box::new(OsIvs::default()));
//! let all = a.add_inside(rule.clone());
//! a.install_outbound(now, &spec(Direction::Out, [192, 0, 2, 1], [192, 0, 2, 2]), all)?;
//! let mut b = Shard::new(Policy::Discard, Box::new(OsIvs::default()));
//! b.add_outside(rule);
//! b.install_inbound(now, &spec(Direction::In, [192, 0, 2, 2], [192, 0, 2, 1]))?;
//!
//! fn pass<S: Side>(shard: &mut Shard, side: S, buffer: Buffer) -> Option<Exit> {
//!     let (mut engine, mut done) = (CpuEngine::new(), Vec::new());
//!     shard.ingest(Time::ZERO, side, [Packet { token: 0, buffer }]);
//!     engine.try_submit(shard.jobs());
//!     engine.wait(&mut done);
//!     shard.complete(Time::ZERO, &mut done);
//!     shard.poll_exit()
//! }
//!
//! // An IPv4 header without payload, from 10.0.0.1 to 10.0.0.2.
//! let clear = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0x66, 0xda, 10, 0, 0, 1, 10, 0, 0, 2];
//! let sealed = pass(&mut a, Inside, Buffer::from_packet(&clear, HEADROOM, TAILROOM)).expect("one packet");
//! assert_eq!(sealed.fate, Fate::ToOutside(How::Protected));
//! let opened = pass(&mut b, Outside, sealed.buffer).expect("one packet");
//! assert_eq!(opened.fate, Fate::ToInside(How::Decapsulated));
//! assert_eq!(*opened.buffer, clear);
//! # Ok::<(), ace_ipsec::SadError>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod counters;
mod exit;
mod id;
pub mod iv;
pub mod kat;
pub mod model;
pub mod packet;
mod restore;
mod sad;
mod shard;
mod side;
pub mod spd;

pub use counters::{Cause, Counters, Drops, SaCounters, Traffic};
pub use exit::{Exit, Fate, How};
pub use id::{RuleId, SaId};
pub use iv::{IvError, IvSource, OsIvs, SeededIvs};
pub use model::{Direction, Flow, Headers, Lifetime, Match, Protocol, SaMode, SaSpec, Selector, Time};
pub use restore::Restorer;
pub use sad::association::{Edit, Update};
pub use sad::grant::{Account, Grant, Granter};
pub use sad::{Remote, SaStatus, SaTimes, SadError, Share};
pub use shard::{Event, HEADROOM, Packet, Seen, Shard, TAILROOM};
pub use side::{Inside, Outside, Side};
pub use spd::{Policy, Rule, RuleChange, Treatment};
