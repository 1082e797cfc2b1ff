// SPDX-License-Identifier: Apache-2.0
//! Outputs: a regular file appears under its name when it is complete, anything else is written through.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Standard output, in place of a name.
pub const STDOUT: &str = "-";

const BUFFER: usize = 256 << 10;

/// Something to write into. Dropped without [`Output::finish`], a file that was there is as it was before.
#[derive(Debug)]
pub struct Output(BufWriter<Sink>);

#[derive(Debug)]
enum Sink {
    Stdout(Stdout),
    /// A device, a pipe, a terminal: what it takes it has.
    Through(File),
    /// Takes the place of `target` at the end.
    Beside {
        file: NamedTempFile,
        target: PathBuf,
    },
}

impl Output {
    /// Opens what `path` names: `-` is standard output; devices and pipes are written through; a link is followed, and
    /// what it leads to is written. A regular file is written beside its place, under a temporary name, with the mode
    /// of a new file (the umask decides) or, where one is there that is more private, with that one's.
    ///
    /// # Errors
    /// When it cannot be written; nothing has been changed then.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::with_mode(path, 0o666)
    }

    /// The same for what holds keys: a new file is for its owner alone.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn create_private(path: &Path) -> io::Result<Self> {
        Self::with_mode(path, 0o600)
    }

    fn with_mode(path: &Path, mode: u32) -> io::Result<Self> {
        let sink =
            if path == Path::new(STDOUT) { Sink::Stdout(io::stdout()) } else { Sink::open(path, mode)? };
        Ok(Self(BufWriter::with_capacity(BUFFER, sink)))
    }

    /// Writes what is left and, of a regular file, puts it in its place.
    ///
    /// # Errors
    /// When it does not work; a regular file is then as it was before.
    pub fn finish(self) -> io::Result<()> {
        match self.0.into_inner().map_err(io::IntoInnerError::into_error)? {
            Sink::Stdout(mut out) => out.flush(),
            Sink::Through(mut file) => file.flush(),
            Sink::Beside { file, target } => {
                file.as_file().sync_all()?;
                file.persist(&target).map_err(|error| error.error)?;
                // The new name is on disk when the folder is; not every file system can say so.
                let _ = File::open(folder(&target)).and_then(|folder| folder.sync_all());
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::Through(file) => file.write(bytes),
            Sink::Beside { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::Through(file) => file.flush(),
            Sink::Beside { file, .. } => file.flush(),
        }
    }
}

impl Sink {
    fn open(path: &Path, mode: u32) -> io::Result<Self> {
        // The kernel says whether this may be written, and through which links: a file that is read-only, or a link
        // of somebody else's in a folder of everybody's, is refused here as it is for anybody who just opens it.
        let dangling = path.is_symlink() && !path.exists();
        let found = match OpenOptions::new().write(true).create(dangling).truncate(false).open(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let Some(file) = found else { return Self::beside(path.to_owned(), None, mode) };
        let old = file.metadata()?;
        if !old.is_file() {
            return Ok(Sink::Through(file));
        }
        let target = if path.is_symlink() { path.canonicalize()? } else { path.to_owned() };
        Self::beside(target, Some(&old), mode)
    }

    fn beside(target: PathBuf, old: Option<&Metadata>, mode: u32) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ace-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = old.map_or(mode, |old| old.permissions().mode() & mode);
            // As with any new file the umask takes away from it.
            builder.permissions(std::fs::Permissions::from_mode(mode | 0o200));
        }
        #[cfg(not(unix))]
        let _ = (old, mode);
        Ok(Sink::Beside { file: builder.tempfile_in(folder(&target))?, target })
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a whole file as [`Output`] does.
///
/// # Errors
/// When it does not work; a regular file is then as it was before.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes)?;
    output.finish()
}

/// The same for what holds keys: a new file is for its owner alone.
///
/// # Errors
/// As [`write()`].
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = Output::create_private(path)?;
    output.write_all(bytes)?;
    output.finish()
}
