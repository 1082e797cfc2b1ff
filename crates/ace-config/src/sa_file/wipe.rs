// SPDX-License-Identifier: Apache-2.0
//! Text that holds keys, wiped from memory when it has been used.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use toml::de::{DeTable, DeValue};
use zeroize::{Zeroize, Zeroizing};

/// What no SA file has: half a million SAs take less. A device may have no end.
const LIMIT: usize = 256 << 20;

/// Reads a file so that no copy of it stays in memory: the text is wiped when it is dropped, and so is every buffer
/// that became too small.
///
/// # Errors
/// As the system says, or because it is not UTF-8, or endless.
pub fn read_wiped(path: &Path) -> io::Result<Zeroizing<String>> {
    read_wiped_from(&mut ace_fs::open(path)?)
}

/// As [`read_wiped`], of a file that was looked at before.
///
/// # Errors
/// As there.
pub fn read_wiped_from(file: &mut File) -> io::Result<Zeroizing<String>> {
    // One more than it has, so that the end is seen without growing.
    let len = usize::try_from(file.metadata()?.len()).unwrap_or(0).saturating_add(1).clamp(4096, LIMIT);
    let (mut bytes, mut filled) = (Zeroizing::new(vec![0; len]), 0);
    loop {
        if filled == bytes.len() {
            if filled >= LIMIT {
                let why = format!("{} MiB or more, which no file of SAs has", LIMIT >> 20);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
            let mut larger = Zeroizing::new(vec![0; (bytes.len() * 2).min(LIMIT)]);
            larger[..filled].copy_from_slice(&bytes);
            bytes = larger;
        }
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    let bytes = std::mem::take(&mut *bytes);
    String::from_utf8(bytes).map(Zeroizing::new).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        error.into_bytes().zeroize();
        io::Error::new(io::ErrorKind::InvalidData, format!("byte {at} is not UTF-8"))
    })
}

/// Strings with escapes are the only ones that the parser copies.
pub fn table(table: DeTable<'_>) {
    for (_, item) in table {
        value(item.into_inner());
    }
}

fn value(item: DeValue<'_>) {
    match item {
        DeValue::String(Cow::Owned(mut text)) => text.zeroize(),
        DeValue::Array(items) => items.into_iter().for_each(|item| value(item.into_inner())),
        DeValue::Table(inner) => table(inner),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_size_are_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        for len in [0, 1, 4095, 4096, 4097, 100_000] {
            let text: String = ('a'..='z').cycle().take(len).collect();
            std::fs::write(&path, &text).unwrap();
            assert_eq!(*read_wiped(&path).unwrap(), text);
        }
        std::fs::write(&path, b"ok\xff").unwrap();
        assert!(read_wiped(&path).unwrap_err().to_string().contains("byte 2"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_has_no_end_is_refused() {
        let error = read_wiped(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    /// A file whose length the system does not know.
    #[test]
    fn pipes_are_read_whole() {
        let (reader, mut writer) = io::pipe().unwrap();
        let text = "x".repeat(50_000);
        let sent = text.clone();
        let thread = std::thread::spawn(move || io::Write::write_all(&mut writer, sent.as_bytes()));
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(*read_wiped(Path::new(&path)).unwrap(), text);
        thread.join().unwrap().unwrap();
    }
}
