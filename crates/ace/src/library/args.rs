// SPDX-License-Identifier: Apache-2.0
//! Which library, whose, and which of its configurations: what the commands of `ace library` share.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ace_board::config::DEFAULT_LIBRARY;
use ace_board::library::{configurations, is_board_image};
use ace_board::store::default_library;
use ace_ecp5::Device;
use ace_library::file::{Guard, Opened, fingerprints};
use ace_library::{Image, Library, PublicKey, SecretKey, Trust};
use anyhow::{Context, Result, anyhow, bail};

use crate::meant::meant;
use crate::trust::{OlderArgs, TrustArgs, named, read_text};
use crate::values::device;

#[derive(clap::Args)]
pub struct FileArgs {
    /// The library (default: $ACE_LIBRARY, else library/ace.lib)
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// For commands that only read.
#[derive(clap::Args)]
pub struct ReadArgs {
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Refuse versions of the library older than this
    #[arg(long, value_name = "VERSION", default_value_t = 0)]
    pub require: u64,
    /// Refuse libraries that hold configurations for another device
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    pub device: Option<&'static Device>,
}

/// The library that commands take without options, to print figures of it.
pub fn for_figures() -> Result<Library> {
    let file = FileArgs { library: None, json: false };
    // Nothing is loaded from it: that a newer one was here before, in another checkout perhaps, changes no figure.
    let trust = TrustArgs { key: None, older: OlderArgs { allow_older: true } };
    Ok(ReadArgs { file, trust, require: 0, device: None }.open()?.library)
}

/// For commands that write.
#[derive(clap::Args)]
pub struct WriteArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// The secret key that signs (default: $ACE_LIBRARY_SECRET)
    #[arg(long, value_name = "FILE")]
    pub secret: Option<PathBuf>,
    #[command(flatten)]
    pub older: OlderArgs,
}

impl FileArgs {
    pub fn path(&self) -> PathBuf {
        named(self.library.as_deref(), "ACE_LIBRARY").unwrap_or_else(|| match Path::new(DEFAULT_LIBRARY) {
            here if here.exists() => here.to_owned(),
            // From any other folder the same one.
            here => default_library().unwrap_or_else(|| here.to_owned()),
        })
    }

    /// The path of a library that has to be there.
    pub fn existing(&self) -> Result<PathBuf> {
        let path = self.path();
        if path.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            bail!(
                "there is no library {}; --library or ACE_LIBRARY names another one, `ace library build` makes one",
                path.display()
            );
        }
        Ok(path)
    }
}

impl ReadArgs {
    pub fn open(&self) -> Result<Opened> {
        let path = self.file.existing()?;
        let opened = warned(self.guard()?.open(&path)?);
        if let Some(first) = self.of_other_devices(&opened.library).next() {
            bail!("{}: {first}", path.display());
        }
        Ok(opened)
    }

    /// Configurations for another device than was asked for. Images of boards are for their boards' parts.
    pub fn of_other_devices(&self, library: &Library) -> impl Iterator<Item = String> {
        let wanted = self.device;
        configurations(library).filter_map(move |image| {
            let (wanted, found) = (wanted?, image.device());
            let other = || format!("{} is made for {}, not for {}", image.name(), found.name, wanted.name);
            (found != wanted).then(other)
        })
    }

    pub fn guard(&self) -> Result<Guard> {
        self.trust.guard(Trust { required_version: self.require, ..Trust::ANYBODY })
    }
}

/// Says what is to be said about a library that was opened or written.
pub fn warned(opened: Opened) -> Opened {
    if let Some(unkept) = &opened.unkept {
        eprintln!("ace: warning: {unkept}");
    }
    opened
}

/// `version 3, signed by 0123456789abcdef0123456789abcdef`.
pub fn version_and_signers(opened: &Opened) -> String {
    let by = match &opened.signers[..] {
        [] => "signed by nobody".to_owned(),
        signers => format!("signed by {}", fingerprints(signers)),
    };
    format!("version {}, {by}", opened.library.version)
}

/// The fingerprints of who has signed.
pub fn signers(opened: &Opened) -> Vec<String> {
    opened.signers.iter().map(PublicKey::fingerprint).collect()
}

impl WriteArgs {
    pub fn secret(&self) -> Result<SecretKey> {
        secret(self.secret.as_deref())
    }
}

/// The key that a command names, or else the environment.
pub fn secret(file: Option<&Path>) -> Result<SecretKey> {
    let Some(path) = named(file, "ACE_LIBRARY_SECRET") else {
        bail!(
            "who signs? Give --secret FILE or set ACE_LIBRARY_SECRET; `ace library keygen FILE` makes a key"
        );
    };
    let text = read_text(&path)?;
    SecretKey::parse(&text).with_context(|| path.display().to_string())
}

/// The configurations of these names, each once, or all.
pub fn chosen<'a>(library: &'a Library, names: &[String]) -> Result<Vec<&'a Image>> {
    for name in names {
        if is_board_image(one(library, name)?) {
            bail!(
                "{name} is an image of a board: `ace image show` describes it, `library extract --image` writes it out"
            );
        }
    }
    let wanted = |image: &&Image| names.is_empty() || names.iter().any(|name| name == image.name());
    Ok(configurations(library).filter(wanted).collect())
}

/// One configuration by name, or which name may have been meant.
pub fn one<'a>(library: &'a Library, name: &str) -> Result<&'a Image> {
    let known: Vec<&str> = library.images().iter().map(Image::name).collect();
    library.get(name).map_err(|error| match meant(name, &known) {
        near if near.is_empty() => error.into(),
        near => anyhow!("{error};{near}"),
    })
}

/// `3 configurations`.
pub fn counted(configurations: usize) -> String {
    format!("{configurations} configuration{}", if configurations == 1 { "" } else { "s" })
}

/// `, 1 image of a board` where there are any.
pub fn and_images(images: usize) -> String {
    match images {
        0 => String::new(),
        1 => ", 1 image of a board".to_owned(),
        images => format!(", {images} images of boards"),
    }
}

/// `, 3 context sets` where there are any.
pub fn and_sets(sets: usize) -> String {
    match sets {
        0 => String::new(),
        1 => ", 1 context set".to_owned(),
        sets => format!(", {sets} context sets"),
    }
}
