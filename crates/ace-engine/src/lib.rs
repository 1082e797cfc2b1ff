// SPDX-License-Identifier: Apache-2.0
//! Operations, the algorithms they name, and what executes them.
//!
//! An [`Operation`] is one cipher or hash pass over one packet. An [`Engine`] executes operations: the board
//! (crate `ace-board`) or the CPU ([`cpu::CpuEngine`]). Both are held to the same answers.

pub mod algorithm;
pub mod cpu;
pub mod engine;
pub mod kat;

pub mod mars;
pub mod measure;
pub mod operation;
pub mod twofish;
pub mod wiping;
mod words;

pub use algorithm::{Algorithm, Kind};
pub use engine::{Completion, Engine, EngineError, Job, JobId};
pub use operation::{Direction, Mode, Need, Operation, Pass, Secret};
