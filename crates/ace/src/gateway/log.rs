// SPDX-License-Identifier: Apache-2.0
//! What a gateway says while it runs: events of `tracing`, on standard error.

use clap::ValueEnum;
use tracing::Level;
use tracing_subscriber::fmt;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A line each, for people and the journal
    Text,
    /// An object of JSON each, with its time
    Json,
}

#[derive(clap::Args)]
pub struct Log {
    /// How what there is to say is written to standard error
    #[arg(long = "log", value_enum, default_value = "text", value_name = "FORMAT")]
    log_format: Format,
    /// What is said: error, warn, info, debug or trace, each with those before it
    #[arg(long = "log-level", default_value = "info", value_name = "LEVEL")]
    log_level: Level,
}

impl Log {
    /// Everything that is said from here on goes to standard error.
    pub fn begin(&self) {
        let all = fmt().with_writer(std::io::stderr).with_max_level(self.log_level).with_target(false);
        match self.log_format {
            // The journal has times of its own.
            Format::Text => all.with_ansi(false).without_time().init(),
            Format::Json => all.json().flatten_event(true).init(),
        }
    }
}
