// SPDX-License-Identifier: Apache-2.0
//! Files that are read whole: a device has no end, and a wrong name may be one.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What no file has that is read whole; the netlists of the largest configurations have a tenth of it.
pub const MOST: u64 = 1 << 30;

/// Opens what is read as a file. A folder can be opened, and is no file: that is said here, not where it is read.
///
/// # Errors
/// As the system says, or because it is a folder.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, and a file is wanted"));
    }
    Ok(file)
}

/// A file's bytes.
///
/// # Errors
/// As [`open`], or because it has more than [`MOST`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let known = file.metadata()?.len().min(MOST);
    let mut bytes = Vec::with_capacity(usize::try_from(known).unwrap_or(0));
    if file.take(MOST + 1).read_to_end(&mut bytes)? as u64 > MOST {
        let why = format!("more than {} MiB, which no file has that is read here", MOST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// A file's text.
///
/// # Errors
/// As [`read()`], or because it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("byte {at} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_whole_and_what_is_no_text_is_said() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for content in [&b""[..], b"text", &[b'x'; 100_000]] {
            std::fs::write(file.path(), content).unwrap();
            assert_eq!(read(file.path()).unwrap(), content);
            assert_eq!(read_text(file.path()).unwrap().as_bytes(), content);
        }
        std::fs::write(file.path(), b"ok\xff").unwrap();
        assert!(read_text(file.path()).unwrap_err().to_string().contains("byte 2"));
    }

    #[test]
    fn a_folder_is_called_one() {
        let folder = tempfile::tempdir().unwrap();
        let why = read(folder.path()).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::IsADirectory);
        assert_eq!(why.to_string(), "it is a folder, and a file is wanted");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_has_no_end_is_refused() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
