// SPDX-License-Identifier: Apache-2.0
//! Why a library is refused. Every message says what to do where there is something to do.

use std::path::PathBuf;

use thiserror::Error;

use crate::load::LoadError;

use crate::codec::StreamError;

/// Why bytes are no library that may be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say it.
pub enum Refusal {
    #[error("this is no ACE library")]
    NoLibrary,
    #[error(
        "format {found} of the library is not known to this version of ace, which reads {known}; `ace library build` makes it anew"
    )]
    Format {
        found: u32,
        known: &'static str,
        /// What the file says is its version, which nobody has checked.
        version: u64,
    },
    #[error("the library is truncated: {found} of {wanted} bytes are there; copy it again")]
    Truncated { found: u64, wanted: u64 },
    #[error("{more} bytes follow the library's end; copy it again")]
    Trailing { more: u64 },
    #[error("the library is altered: its digest is not that of its contents; copy it again")]
    Altered,
    #[error("the library is not signed; `ace library sign` signs it")]
    Unsigned,
    #[error(
        "the library is signed by {found}, not by the key that is trusted, {trusted}; whoever trusts that one says so with --key FILE"
    )]
    OtherKey { found: String, trusted: String },
    #[error(
        "the library is signed by {found} alone, and {trusted} are wanted; `ace library sign` adds a signature"
    )]
    TooFew { found: String, trusted: String },
    #[error(
        "a signature of the library is wrong: it was altered after it was signed, or never signed by {key}"
    )]
    Signature { key: String },
    #[error(
        "the library has version {found}, and version {seen} of the same key was here before: an old library in the place of a new one? --allow-older takes it all the same"
    )]
    Older { found: u64, seen: u64 },
    #[error("the library has version {found}, older than the version {required} that is required")]
    Downgraded { found: u64, required: u64 },
    #[error(
        "the library's {what} does not make sense, although its digest is right: it was not written by ace"
    )]
    Malformed { what: String },
}

/// Why one configuration cannot be taken out of a library or put into it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say it.
pub enum ImageError {
    #[error("there is no {0} in the library; `ace library list` says what there is")]
    Unknown(String),
    #[error("there is no context set {0} in the library; `ace library list` says what there is")]
    UnknownSet(String),
    #[error("{0}: a context set has 1 byte to 1 MiB")]
    SetLength(String),
    #[error("{name}: {error}")]
    Stream { name: String, error: StreamError },
    #[error("{0}: what is stored does not have the digest it was stored with")]
    Digest(String),
    #[error("{0}: the frames that are stored to make it of its variants again are not its own")]
    Home(String),
    #[error(
        "`{0}` is no name for a configuration or a context set: 1 to 40 of a-z, 0-9, - and _, the first a letter or digit"
    )]
    Name(String),
    #[error("{0}: more than 1 MiB of manifest or proof")]
    TooLong(String),
    #[error("{name}: {error}")]
    Load { name: String, error: LoadError },
    #[error("the library is full")]
    Full,
    #[error("{by} {} stored as what changes of {name}; remove {} as well", if by.contains(',') { "are" } else { "is" },
        if by.contains(',') { "them" } else { "it" })]
    Needed { name: String, by: String },
    #[error("{0}: its manifest or proof cannot be unpacked")]
    Metadata(String),
}

/// Why a key file cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say it.
pub enum KeyError {
    #[error("this is no {wanted} key of ACE; `ace library keygen` makes one")]
    NoKey { wanted: &'static str },
    #[error("line {line}: {why}")]
    Set { line: usize, why: String },
    #[error("no random numbers: {0}")]
    Random(String),
}

/// Why it is not known which versions were seen.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say it.
pub enum SeenError {
    #[error(
        "cannot read {}, which keeps the highest version of the library that was seen: {error}; --allow-older goes on without", file.display()
    )]
    Read { file: PathBuf, error: std::io::Error },
    #[error(
        "{} holds no version of a library; remove it if you know why, or go on with --allow-older", file.display()
    )]
    NoVersion { file: PathBuf },
    #[error(
        "the version of the library cannot be kept in {}: {error}; an older one will not be noticed. XDG_STATE_HOME names another place", folder.display()
    )]
    Write { folder: PathBuf, error: std::io::Error },
    #[error(
        "the version of the library cannot be kept: neither XDG_STATE_HOME nor HOME names a place; an older one will not be noticed"
    )]
    Nowhere,
}

/// Why a library file could not be read or written. What was there before is still there.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say it.
pub enum FileError {
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("cannot write {}: {error}; what was there is unchanged", path.display())]
    Write { path: PathBuf, error: std::io::Error },
    #[error("{}: {refusal}", path.display())]
    Refused { path: PathBuf, refusal: Refusal },
    #[error("{}: its version is the last one that there is; begin another library with another key", path.display())]
    LastVersion { path: PathBuf },
    #[error(transparent)]
    Seen(#[from] SeenError),
}
