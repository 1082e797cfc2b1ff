// SPDX-License-Identifier: Apache-2.0
//! `[record]`: the file behind a recorder.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use ace_config::gateway::Record;
use tracing::{error, info};

use crate::core::Core;
use crate::record::Recorder;

pub struct Recording {
    out: BufWriter<File>,
    name: String,
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
        Ok(Self { out: BufWriter::with_capacity(1 << 16, file), name: record.file.display().to_string() })
    }

    /// Writes what was recorded since. False when that was the last of it: then packets go on unrecorded.
    pub fn go_on(&mut self, core: &mut Core) -> bool {
        let Some(recorder) = core.recorder() else { return false };
        let full = recorder.is_full();
        let mut written = recorder.write(&mut self.out);
        if full {
            written = written.and_then(|()| self.out.flush());
            info!(file = self.name, "the recording has all the packets that were wanted");
        }
        if let Err(why) = &written {
            error!(file = self.name, %why, "no more is recorded");
        }
        let goes_on = written.is_ok() && !full;
        if !goes_on {
            *core.recorder() = None;
        }
        goes_on
    }
}
