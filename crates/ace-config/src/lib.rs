// SPDX-License-Identifier: Apache-2.0
//! Text that people write, made into what the data plane takes: security associations ([`ace_ipsec::SaSpec`]),
//! rules, and the configuration of a gateway ([`gateway`]); and SAs as others write them ([`kernel`], [`import`],
//! [`swanctl`], [`wireshark`]).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod gateway;
pub mod import;
pub mod kernel;
mod sa_file;
pub mod swanctl;
pub mod wireshark;

pub use sa_file::suites;
pub use sa_file::{
    Claimant, Claims, Pieces, SaFile, SaFileErrors, nearest, read_wiped, read_wiped_from, write,
};
