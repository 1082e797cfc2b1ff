// SPDX-License-Identifier: Apache-2.0
//! The board: slots, configuration port and host link on one virtual clock.
//!
//! A [`Board`] is an [`ace_engine::Engine`]. It writes real bitstreams through the model of a configuration
//! port, looks up what the bits in a slot's memory are, runs the Verilated model of that configuration, and
//! charges everything to a virtual clock ([`trace`]). Modelled time and wall time never mix. `docs/board.md`
//! describes what is modelled and what is not.
//!
//! [`open()`] makes a board of an [`Assembly`]:
//!
//! ```
//! use std::path::Path;
//!
//! use ace_board::{Assembly, BoardConfig, Models, Policy, Unsigned, open};
//! use ace_library::file::Guard;
//! use ace_library::{Seen, Trust};
//!
//! let text = "slots = 3\n[controller]\nlibrary = \"\"\n";
//! let assembly = Assembly {
//!     config: BoardConfig::from_text(text, Path::new("board.toml"))?,
//!     folder: None,
//!     configurations: None,
//!     guard: Guard { trust: Trust::ANYBODY, seen: Seen::of_user(), allow_older: false },
//!     unsigned: Unsigned::Refused,
//!     loadable: true,
//! };
//! let board = open(assembly, Policy::Adaptive, Models::Rtl)?;
//! // Without a library nothing is signed, and nothing can be loaded.
//! assert!(board.catalogue().configurations.is_empty());
//! assert_eq!(board.report().slots.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod array;
pub mod bare;
mod batch;
pub mod bench;
pub mod board;
pub mod capability;
pub mod catalogue;
mod cbc_mac;
mod ccm;
mod clock;
pub mod config;
mod coprocessor;
mod decision;
mod execution;
pub mod expected;
pub mod folders;
pub mod frame;
mod joint;
mod ledger;
pub mod library;
mod link;
pub mod manifest;
pub mod model;
pub mod open;
mod overlapping;
mod parts;
pub mod pass;
mod pending;
pub mod port;
mod processor;
pub mod record;
mod remedy;
mod slot;
mod source;
mod steps;
pub mod store;
mod stream;
pub mod trace;
mod worker;

pub use ace_schedule::Policy;
pub use board::{Board, BoardError};
pub use catalogue::{Catalogue, Unsigned};
pub use config::{BoardConfig, ConfigError};
pub use decision::{DecisionRecord, Step};
pub use manifest::Configuration;
pub use open::{Assembly, OpenError, open};
pub use pass::{Pass, Task};
pub use source::{ModelSource, Models};
pub use store::{Store, StoreError};
pub use trace::BoardReport;
