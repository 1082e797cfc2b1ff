// SPDX-License-Identifier: Apache-2.0
//! Something is done in a network namespace: devices and sockets that are opened there stay there.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::sched::{CloneFlags, setns};

/// Does something in a namespace; `None`: in the gateway's own. A thread goes there and ends behind it.
///
/// # Errors
/// As the system says; it takes CAP_SYS_ADMIN.
pub fn within<T: Send>(netns: Option<&Path>, what: impl FnOnce() -> T + Send) -> io::Result<T> {
    let Some(path) = netns else { return Ok(what()) };
    let file = File::open(path)?;
    std::thread::scope(|scope| {
        let there = std::thread::Builder::new().name("netns".to_owned()).spawn_scoped(scope, move || {
            setns(&file, CloneFlags::CLONE_NEWNET)?;
            Ok(what())
        })?;
        there.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended in the middle")))
    })
}
