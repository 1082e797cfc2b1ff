// SPDX-License-Identifier: Apache-2.0
//! What a gateway says while it runs: events of `tracing`, on standard error or to the journal. Nobody waits until they
//! are written (`ace_gateway::outlet`).

use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use ace_gateway::Outlet;
use anyhow::{Result, anyhow};
use clap::ValueEnum;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Where systemd's journal listens (systemd-journald.service(8)).
const JOURNAL: &str = "/run/systemd/journal/socket";
/// Bytes of what was said that wait to be written.
const MOST_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line each, for people
    Text,
    /// An object of JSON each, with its time
    Json,
    /// The journal's own entries, with their fields: the default where standard error is the journal's
    Journal,
}

#[derive(clap::Args)]
pub struct Log {
    /// How what there is to say is written: to standard error, or to the journal
    #[arg(long, alias = "log", value_enum, value_name = "FORMAT")]
    log_format: Option<Format>,
    /// What is said: error, warn, info, debug or trace, each with those before it; `info`, or what $ACE_LOG says
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<Level>,
}

impl Log {
    /// Everything that is said from here on goes out by what is given back.
    pub fn begin(&self) -> Result<Outlet> {
        let level = match (self.log_level, std::env::var("ACE_LOG")) {
            (Some(level), _) => level,
            (None, Ok(word)) if !word.is_empty() => word
                .parse()
                .map_err(|_| anyhow!("ACE_LOG is `{word}`, and none of error, warn, info, debug, trace"))?,
            _ => Level::INFO,
        };
        let is_journals = || {
            let stream = std::env::var("JOURNAL_STREAM").unwrap_or_default();
            std::fs::metadata("/proc/self/fd/2")
                .is_ok_and(|about| is_stream(&stream, about.dev(), about.ino()))
        };
        let format = self.log_format.unwrap_or_else(|| match is_journals() {
            true if Path::new(JOURNAL).exists() => Format::Journal,
            _ => Format::Text,
        });
        let out: Box<dyn Write + Send> = match format {
            Format::Journal => Box::new(Journal::open(JOURNAL)?),
            Format::Text | Format::Json => Box::new(io::stderr()),
        };
        let outlet = Outlet::new(out, MOST_BYTES);
        let pieces = outlet.clone();
        let all = fmt().with_writer(move || Piece(pieces.clone())).with_max_level(level).with_target(false);
        let all = all.with_ansi(false);
        match format {
            // Whoever keeps lines has times of his own.
            Format::Text => all.without_time().init(),
            Format::Json => all.json().flatten_event(true).init(),
            Format::Journal => all.event_format(Entry).init(),
        }
        Ok(outlet)
    }
}

/// Whether `JOURNAL_STREAM` names a file by these numbers (systemd.exec(5)).
fn is_stream(named: &str, device: u64, inode: u64) -> bool {
    named == format!("{device}:{inode}")
}

/// An event is written at once, and is lost or not; nobody is told but who counts.
struct Piece(Outlet);

impl Write for Piece {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The journal's socket: an entry is a datagram. It is named each time, because the journal may have begun anew.
struct Journal {
    socket: UnixDatagram,
    path: &'static str,
}

impl Journal {
    fn open(path: &'static str) -> io::Result<Self> {
        Ok(Self { socket: UnixDatagram::unbound()?, path })
    }
}

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send_to(bytes, self.path)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The journal's native format (systemd.io, JOURNAL_NATIVE_PROTOCOL): a line is a field.
struct Entry;

impl<S, N> FormatEvent<S, N> for Entry
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let priority = match *event.metadata().level() {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            _ => 7,
        };
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields { message, shown, named } = fields;
        write!(writer, "PRIORITY={priority}\nSYSLOG_IDENTIFIER=ace\nMESSAGE={message}{shown}\n{named}")
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    /// As people read them.
    shown: String,
    /// As the journal finds them.
    named: String,
}

impl Fields {
    fn take(&mut self, field: &Field, value: &str) {
        // A field of several lines would need another form.
        let value = value.replace('\n', " ");
        if field.name() == "message" {
            self.message = value;
            return;
        }
        let name: String = field.name().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        self.shown += &format!(" {name}={value}");
        self.named += &format!("ACE_{}={value}\n", name.to_ascii_uppercase());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.take(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_journal_has_its_level_its_words_and_its_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path: &'static str = folder.path().join("journal").to_str().unwrap().to_owned().leak();
        let journal = UnixDatagram::bind(path).unwrap();
        let outlet = Outlet::new(Box::new(Journal::open(path).unwrap()), MOST_BYTES);
        let pieces = outlet.clone();
        let all = fmt().with_writer(move || Piece(pieces.clone())).event_format(Entry).finish();
        tracing::subscriber::with_default(all, || {
            tracing::warn!(sas = 3, file = "a\nMESSAGE=b", "not reloaded")
        });
        let mut entry = [0; 512];
        let len = journal.recv(&mut entry).unwrap();
        let wanted = "PRIORITY=4\nSYSLOG_IDENTIFIER=ace\nMESSAGE=not reloaded sas=3 file=a MESSAGE=b\n\
                      ACE_SAS=3\nACE_FILE=a MESSAGE=b\n";
        assert_eq!((std::str::from_utf8(&entry[..len]).unwrap(), outlet.lost()), (wanted, 0));
        // The journal goes: that is counted, and no more.
        drop(journal);
        assert!(!outlet.put(b"MESSAGE=x\n") && outlet.lost() == 1);
    }

    #[test]
    fn the_journals_stream_is_told_by_its_numbers() {
        assert!(is_stream("8:4711", 8, 4711));
        assert!(!is_stream("8:4711", 8, 471) && !is_stream("", 8, 4711));
    }
}
