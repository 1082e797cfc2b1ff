// SPDX-License-Identifier: Apache-2.0
//! Operations, the algorithms they name, and what executes them.
//!
//! An [`Operation`] is what one packet needs, in the packet's own [`Buffer`], with [`Key`]s that are prepared once.
//! An [`Engine`] executes operations: the board (crate `ace-board`) or the CPU ([`software::CpuEngine`]). Both are
//! held to the same answers. `docs/engine.md` describes the boundary.
//!
//! ```
//! use ace_engine::engine::run_one;
//! use ace_engine::software::CpuEngine;
//! use ace_engine::{Algorithm, Direction, Key, Mode, Operation};
//!
//! // FIPS 197, C.1.
//! let aes = Algorithm::by_name("aes").expect("a cipher of the table");
//! let key: Vec<u8> = (0x00..=0x0f).collect();
//! let text: Vec<u8> = (0..16).map(|i| i * 0x11).collect();
//! let key = Key::cipher(aes, Mode::Ecb, &key)?;
//! let operation = Operation::cipher(key, Direction::Encrypt, &[], &text)?;
//! let result = run_one(&mut CpuEngine::new(), operation)?;
//! assert_eq!(result[..4], [0x69, 0xc4, 0xe0, 0xd8]);
//! # Ok::<(), ace_engine::EngineError>(())
//! ```
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod algorithm;
pub mod buffer;
pub mod ccm;
pub mod compute;
pub mod configuration;
pub mod dispatch;
pub mod engine;
pub mod error;
pub mod evp;
pub mod kat;
pub mod key;
pub mod measure;
pub mod need;
pub mod operation;
pub mod profile;
pub mod software;

pub use algorithm::{Algorithm, Kind};
pub use buffer::{Buffer, Inline, Span};
pub use configuration::{ConfigurationId, Table};
pub use dispatch::Dispatch;
pub use engine::{Capabilities, Completion, Engine, Job, JobId};
pub use error::{EngineError, Illegal, SlotFailure};
pub use key::{Keeper, Key, Purpose, Secret};
pub use need::{Aead, Direction, Mac, Mode, Need};
pub use operation::{Action, Iv, Operation, Source, Suffix, Tag};
