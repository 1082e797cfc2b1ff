// SPDX-License-Identifier: Apache-2.0
//! Runs a program so that its XFRM netlink sockets are connections to `ace gateway`, for programs that no preload library
//! reaches: static ones, and those of Go, which ask the kernel without a C library (docs/gateway-xfrm.md).
//!
//! A filter of seccomp tells us of the few calls that matter, before the kernel does them, for the program and all that
//! descends from it (seccomp_unotify(2)). We open the connection, put it among the program's descriptors, and answer what
//! would show that it is no netlink: the address that it has, binds to and finds on messages, and options of netlink.
//! All else the program does with the connection itself. With no gateway behind it, or without us, the call fails: the
//! program never reaches the kernel's XFRM.
#![cfg(target_os = "linux")]
#![warn(missing_docs)]

mod answers;
mod filter;
mod kernel;
pub mod options;
pub mod ports;
mod receive;
mod start;
mod supervisor;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Where a gateway is that says nothing else.
pub const DEFAULT: &str = "/run/ace/xfrm.sock";

/// What is to run.
pub struct Run {
    /// The program, found as a shell finds it.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The gateway's socket for XFRM.
    pub gateway: PathBuf,
}

/// Why nothing ran.
#[derive(Debug, Error)]
pub enum RunError {
    /// An old kernel, or one whose container or sandbox keeps this from programs.
    #[error(
        "this kernel tells no program of another one's calls (SECCOMP_RET_USER_NOTIF, Linux 5.14): {0}; programs with a C \
         library can have libace_xfrm.so preloaded instead"
    )]
    Unsupported(io::Error),
    /// The filter knows numbers of calls for some processors.
    #[error("calls of programs are not known for this processor: x86-64, AArch64 and RISC-V have them")]
    Processor,
    /// Connections have numbers of their own among a program's descriptors.
    #[error("a program may have {0} descriptors here (`ulimit -n`), and 128 are needed")]
    Descriptors(u64),
    /// The program did not start.
    #[error("cannot run {0}: {1}")]
    Start(String, io::Error),
    /// It started, and cannot be watched.
    #[error("cannot watch the program: {0}")]
    Watch(io::Error),
}

/// Runs it to its end, and until nothing that descends from it is left. Returns how it ended, as a shell says it: its
/// code, or 128 and the number of the signal.
///
/// # Errors
/// When it cannot be run, or not be watched.
pub fn run(run: &Run) -> Result<u8, RunError> {
    kernel::supported().map_err(RunError::Unsupported)?;
    let most = kernel::most_descriptors();
    let numbers = filter::numbers(most).ok_or(RunError::Descriptors(most))?;
    let program = filter::program(numbers.clone()).ok_or(RunError::Processor)?;
    let signals = start::Signals::block().map_err(RunError::Watch)?;
    let started = start::start(run, &program);
    let (child, listener) =
        started.map_err(|error| RunError::Start(run.program.to_string_lossy().into_owned(), error))?;
    let mut supervisor = supervisor::Supervisor::new(listener, run.gateway.clone(), numbers);
    supervisor.serve(child, &signals).map_err(RunError::Watch)
}
