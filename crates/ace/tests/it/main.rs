// SPDX-License-Identifier: Apache-2.0
//! The command line as a user meets it; `cargo test -p ace --test it library::` runs the tests of one module. What needs
//! network namespaces, and its time for itself, is the other program, `net`.

mod absent;
mod aead;
mod array;
mod board;
mod both_kinds;
mod browser;
mod cli;
mod closed;
#[path = "../common/mod.rs"]
mod common;
mod library;
#[cfg(target_os = "linux")]
mod memory;
mod package;
mod prove;
mod remedies;
#[cfg(target_os = "linux")]
mod replay;
mod rtl;
#[cfg(unix)]
mod run;
mod run_esp;
mod run_joined;
mod sas;
#[cfg(unix)]
mod strangers;
mod study;
mod tshark;
mod twenty;
#[cfg(unix)]
mod walk;
