// SPDX-License-Identifier: Apache-2.0
//! Signatures beside a file: the keys that sign libraries sign what is released with one.
//!
//! `FILE.sig` has a line for each who has signed: `ace-file-signature-1`, the public key and the signature, both in
//! hexadecimal. What is signed is the same word, a zero byte and the SHA-256 of the file, so that no signature of a
//! library is one of a file, and no other way round.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ace_library::file::fingerprints;
use ace_library::{KeySet, PublicKey, SecretKey};
use ace_report::{Outcome, print_json};
use anyhow::{Context, Result, anyhow, bail};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde_json::json;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use super::args::secret;
use crate::trust::keys;

const FORM: &str = "ace-file-signature-1";
/// As many as a library carries.
const MOST: usize = 16;

/// Sign a file, for example the checksums of a release: FILE.sig beside it; who has signed it before stays
#[derive(clap::Args)]
pub struct SignFile {
    file: PathBuf,
    /// The secret key that signs (default: $ACE_LIBRARY_SECRET)
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Check the signatures beside a file: FILE.sig, by as many of the trusted keys as have to have signed
#[derive(clap::Args)]
pub struct VerifyFile {
    file: PathBuf,
    /// Public keys of whom to trust, instead of those that are compiled in (default: $ACE_LIBRARY_KEY)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn sign(args: &SignFile) -> Result<Outcome> {
    let (secret, message, beside) =
        (secret(args.secret.as_deref())?, message(&args.file)?, beside(&args.file));
    let mut signed = match ace_fs::read_text(&beside) {
        Ok(text) => parse(&text, &message).with_context(|| beside.display().to_string())?,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", beside.display())),
    };
    let public = secret.public();
    signed.retain(|(key, _)| *key != public);
    if signed.len() == MOST {
        bail!("{}: {MOST} have signed it already", beside.display());
    }
    signed.push((public, signature(&secret, &message)?));
    let text: String = signed
        .iter()
        .map(|(key, signature)| {
            format!("{FORM} {} {}\n", hex::encode(key.to_bytes()), hex::encode(signature))
        })
        .collect();
    ace_fs::write(&beside, text.as_bytes()).with_context(|| format!("cannot write {}", beside.display()))?;
    let by: Vec<PublicKey> = signed.into_iter().map(|(key, _)| key).collect();
    say(args.json, &beside, &by)
}

pub fn verify(args: &VerifyFile) -> Result<Outcome> {
    let (trusted, message, beside) = (keys(args.key.as_deref())?, message(&args.file)?, beside(&args.file));
    let text = ace_fs::read_text(&beside).with_context(|| {
        format!("nobody has signed {}: cannot read {}", args.file.display(), beside.display())
    })?;
    let found = parse(&text, &message)
        .and_then(|signed| enough(&trusted, signed))
        .with_context(|| beside.display().to_string());
    match found {
        Ok(by) => say(args.json, &beside, &by),
        Err(why) => {
            if args.json {
                print_json(&json!({ "signature": beside, "wrong": format!("{why:#}") }))?;
            }
            eprintln!("ace: {why:#}");
            Ok(Outcome::Wrong)
        }
    }
}

/// Those trusted who have signed, if they are as many as have to have.
fn enough(trusted: &KeySet, signed: Vec<(PublicKey, [u8; 64])>) -> Result<Vec<PublicKey>> {
    let all: Vec<PublicKey> = signed.into_iter().map(|(key, _)| key).collect();
    let by: Vec<PublicKey> = all.iter().copied().filter(|key| trusted.keys().contains(key)).collect();
    if by.len() < trusted.threshold() {
        bail!(
            "signed by {}, and not by whom is trusted ({trusted}); --key or ACE_LIBRARY_KEY names others",
            fingerprints(&all)
        );
    }
    Ok(by)
}

fn say(json: bool, beside: &Path, by: &[PublicKey]) -> Result<Outcome> {
    if json {
        let by: Vec<String> = by.iter().map(PublicKey::fingerprint).collect();
        print_json(&json!({ "signature": beside, "signed_by": by }))?;
    } else {
        println!("{}: signed by {}", beside.display(), fingerprints(by));
    }
    Ok(Outcome::Well)
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// What is signed of a file.
fn message(file: &Path) -> Result<Vec<u8>> {
    let bytes = ace_fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok([FORM.as_bytes(), &[0], &Sha256::digest(bytes)].concat())
}

fn signature(secret: &SecretKey, message: &[u8]) -> Result<[u8; 64]> {
    let text = secret.to_text();
    let mut seed = Zeroizing::new([0; 32]);
    let digits = text.split_ascii_whitespace().last().unwrap_or_default();
    hex::decode_to_slice(digits, &mut *seed).context("the key's own text")?;
    let key = SigningKey::from_bytes(&seed);
    seed.zeroize();
    Ok(key.sign(message).to_bytes())
}

/// Who has signed this, each once; one that is wrong makes all worthless.
fn parse(text: &str, message: &[u8]) -> Result<Vec<(PublicKey, [u8; 64])>> {
    let mut signed: Vec<(PublicKey, [u8; 64])> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| anyhow!("line {}: {what}", number + 1);
        let (mut key, mut signature) = ([0; 32], [0; 64]);
        let words: Vec<&str> = line.split(' ').collect();
        let [FORM, public, of] = words[..] else {
            return Err(wrong("`ace-file-signature-1 KEY SIGNATURE` is wanted"));
        };
        hex::decode_to_slice(public, &mut key).map_err(|_| wrong("the key is no 64 digits"))?;
        hex::decode_to_slice(of, &mut signature).map_err(|_| wrong("the signature is no 128 digits"))?;
        let verifying = VerifyingKey::from_bytes(&key).map_err(|_| wrong("the key is none"))?;
        if verifying.verify_strict(message, &Signature::from_bytes(&signature)).is_err() {
            return Err(wrong("the signature is not of this file"));
        }
        let public = PublicKey::parse(&format!("ace-library-public-key-1 {}", hex::encode(key)))?;
        if signed.iter().any(|(known, _)| *known == public) {
            return Err(wrong("this key has signed already"));
        }
        if signed.len() == MOST {
            return Err(wrong("more than 16 signatures"));
        }
        signed.push((public, signature));
    }
    if signed.is_empty() {
        bail!("no signature is in it");
    }
    Ok(signed)
}
