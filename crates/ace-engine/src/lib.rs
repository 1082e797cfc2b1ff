// SPDX-License-Identifier: Apache-2.0
//! Operations, the algorithms they name, and what executes them.
//!
//! An [`Operation`] is what one packet needs, in the packet's own [`Buffer`], with [`Key`]s that are prepared once.
//! An [`Engine`] executes operations: the board (crate `ace-board`) or the CPU ([`software::CpuEngine`]). Both are
//! held to the same answers. `docs/engine.md` describes the boundary.
#![deny(unsafe_code)]

pub mod algorithm;
pub mod buffer;
pub mod compute;
pub mod dispatch;
pub mod engine;
pub mod error;
pub mod kat;
pub mod key;
pub mod measure;
pub mod need;
pub mod operation;
pub mod profile;
pub mod software;

pub use algorithm::{Algorithm, Kind};
pub use buffer::{Buffer, Inline, Span};
pub use dispatch::Dispatch;
pub use engine::{Capabilities, Completion, Engine, Job, JobId};
pub use error::{ConfigurationId, EngineError, Illegal, SlotFailure};
pub use key::{Keeper, Key, Purpose, Secret};
pub use need::{Aead, Direction, Mac, Mode, Need};
pub use operation::{Action, Iv, Operation, Source, Suffix, Tag};
