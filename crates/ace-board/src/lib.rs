// SPDX-License-Identifier: Apache-2.0
//! The board: slots, configuration port and host link on one virtual clock.
//!
//! A [`Board`] is an [`ace_engine::Engine`]. It writes real bitstreams through the model of a configuration
//! port, looks up what the bits in a slot's memory are, runs the Verilated model of that configuration, and
//! charges everything to a virtual clock ([`trace`]). Modelled time and wall time never mix. `docs/board.md`
//! describes what is modelled and what is not.
#![deny(unsafe_code)]

pub mod bare;
pub mod bench;
mod beside;
pub mod board;
pub mod catalogue;
mod clock;
pub mod config;
pub mod frame;
mod joined;
mod ledger;
pub mod library;
pub mod manifest;
pub mod model;
pub mod pass;
pub mod port;
pub mod record;
mod slot;
mod steps;
pub mod store;
mod stream;
pub mod trace;
mod worker;

pub use ace_schedule::Policy;
pub use board::{Board, BoardError, ModelSource, Models, Step, Taken};
pub use catalogue::{Catalogue, Unsigned};
pub use config::{BoardConfig, ConfigError};
pub use manifest::Configuration;
pub use pass::{Pass, Task};
pub use store::{Store, StoreError};
pub use trace::BoardReport;
