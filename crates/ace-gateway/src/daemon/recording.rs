// SPDX-License-Identifier: Apache-2.0
//! `[record]`: the file behind a recorder. A thread writes it: a disk that is slow or full stops the recording, and never
//! a packet.

use std::fs::{OpenOptions, Permissions};
use std::io::BufWriter;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::time::Duration;

use ace_config::gateway::Record;
use tracing::{error, info};

use crate::core::Core;
use crate::outlet::Outlet;
use crate::record::Recorder;

/// Bytes that wait for the disk: some 100,000 packets.
const MOST_BYTES: usize = 8 << 20;
/// How long the end of a gateway waits for the rest.
const AT_THE_END: Duration = Duration::from_secs(5);

pub struct Recording {
    out: Outlet,
    name: String,
    ended: bool,
}

impl Recording {
    /// Begins a file anew, and has the core record. Who talks to whom is in it: it is its owner's alone.
    pub fn create(record: &Record, core: &mut Core) -> std::io::Result<Self> {
        let file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&record.file)?;
        // One that was there keeps its mode, which may be anybody's.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        core.record(Recorder::new(record.packets));
        let out = Outlet::new(Box::new(BufWriter::with_capacity(1 << 16, file)), MOST_BYTES);
        Ok(Self { out, name: record.file.display().to_string(), ended: false })
    }

    /// Has a thread write from here on.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(&self) -> std::io::Result<()> {
        self.out.start("record")
    }

    /// Pieces that were not written.
    pub fn lost(&self) -> u64 {
        self.out.lost()
    }

    /// Hands over what was recorded since. After the last of it packets go on unrecorded: lines stand on those before
    /// them, so that one that is lost ends the recording.
    pub fn go_on(&mut self, core: &mut Core) {
        if self.ended {
            return;
        }
        let Some(recorder) = core.recorder() else { return };
        let full = recorder.is_full();
        let lines = recorder.take();
        if !lines.is_empty() {
            self.out.put(&lines);
        }
        if full {
            info!(file = self.name, "the recording has all the packets that were wanted");
        }
        if let Some(why) = self.out.why() {
            error!(file = self.name, %why, "no more is recorded");
        }
        self.ended = full || self.out.lost() > 0;
        if self.ended {
            *core.recorder() = None;
        }
    }

    /// The last of it.
    pub fn finish(&mut self, core: &mut Core) {
        self.go_on(core);
        self.out.finish(AT_THE_END);
    }
}
