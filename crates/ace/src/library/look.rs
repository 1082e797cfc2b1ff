// SPDX-License-Identifier: Apache-2.0
//! Commands that read a library.

use ace_board::library::{board_images, configurations, frame_bytes, manifest, tie_of, tied_by_proof};
use ace_library::file::Opened;
use ace_library::{ContextSet, Image, Library};
use anyhow::Result;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::args::{ReadArgs, and_images, and_sets, counted, one, signers, version_and_signers};
use crate::page::Output;
use ace_board::array::signed::SetManifest;
use ace_report::{Outcome, print_json, say};

#[derive(clap::Args)]
pub struct List {
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(clap::Args)]
pub struct Show {
    /// The configuration, or with --sets the context set
    name: String,
    /// The name is a context set's
    #[arg(long)]
    sets: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn list(page: &mut Output, args: &List) -> Result<Outcome> {
    let opened = args.read.open()?;
    let Opened { library, bytes, .. } = &opened;
    if args.read.file.json {
        let all: Vec<Value> = configurations(library).map(|image| short(library, image)).collect();
        print_json(&json!({
            "version": library.version, "bytes": bytes, "signed_by": signers(&opened), "configurations": all,
            "images": board_images(library)?,
            "sets": library.sets().iter().map(stated).collect::<Result<Vec<_>>>()?,
        }))?;
        return Ok(Outcome::Well);
    }
    let (about, images) = (version_and_signers(&opened), board_images(library)?);
    let more = and_images(images.len()) + &and_sets(library.sets().len());
    let count = configurations(library).count();
    say!(page, "{about}, {bytes} bytes, {}{more}", counted(count));
    let width = configurations(library).map(|image| image.name().len()).chain([13]).max().unwrap_or(0);
    say!(
        page,
        "{:width$} {:10} {:>8}  {:11}  what it computes",
        "configuration",
        "device",
        "bytes",
        "tied by"
    );
    for image in configurations(library) {
        let manifest = manifest(image);
        let summary = manifest["summary"].as_str().unwrap_or("");
        let over = image.base().map_or(String::new(), |base| format!(" (over {base})"));
        say!(
            page,
            "{:width$} {:10} {:>8}  {:11}  {summary}{over}",
            image.name(),
            image.device().name,
            image.stored_frame_bytes(),
            tie_of(image, &manifest)
        );
    }
    say!(page, "{} of {count} are proven to be their RTL", tied_by_proof(library));
    for image in images {
        say!(page, "image {} for {}: {}", image.name, image.board, image.summary);
    }
    sets(page, library)?;
    Ok(Outcome::Well)
}

/// What a library says of its context sets.
fn sets(page: &mut Output, library: &Library) -> Result<()> {
    if library.sets().is_empty() {
        return Ok(());
    }
    let width = library.sets().iter().map(|set| set.name().len()).max().unwrap_or(0);
    say!(
        page,
        "\n{:width$} {:10} {:>8} {:10} {:>9} {:>7} {:>6} {:>6}  SHA-256",
        "context set",
        "array",
        "bytes",
        "for",
        "contexts",
        "latency",
        "alone",
        "load"
    );
    for set in library.sets() {
        let m = SetManifest::stated(set)?;
        let digest = hex::encode(set.digest());
        let (contexts, load) = (m.cycles_per_block, m.load_clocks);
        let alone = m.clocks_alone.map_or("–".to_owned(), |clocks| clocks.to_string());
        say!(
            page,
            "{:width$} {:10} {:>8} {:10} {contexts:>9} {:>7} {alone:>6} {load:>6}  {digest:.16}…",
            m.name,
            m.array,
            m.bytes,
            m.made_for.as_deref().unwrap_or("–"),
            m.latency
        );
    }
    Ok(())
}

/// The signed manifest of a context set.
fn stated(set: &ContextSet) -> Result<Value> {
    Ok(serde_json::to_value(SetManifest::stated(set)?)?)
}

fn short(library: &Library, image: &Image) -> Value {
    let (blocks, used) = image.blocks();
    let text = image.manifest().unwrap_or_default();
    json!({
        "name": image.name(),
        "device": image.device().name,
        "memory_sha256": hex::encode(image.digest()),
        "frame_bytes": frame_bytes(image.device()),
        "stored_frame_bytes": image.stored_frame_bytes(),
        "base": image.base(),
        "variants": library.images().iter().filter(|i| i.base() == Some(image.name())).map(Image::name).collect::<Vec<_>>(),
        // What makes it of others of its domain.
        "partial_frames": image.run_frames(),
        "stored_partial_bytes": image.stored_run_bytes(),
        "frames_stored": image.frame_count(),
        "block_rams": blocks,
        "block_rams_with_contents": used,
        "text_bytes": image.text_bytes(),
        "manifest_sha256": hex::encode(Sha256::digest(&text)),
        "library_version": library.version,
        "has_proof": image.proof().is_ok_and(|proof| !proof.is_empty()),
        "tied_to_rtl_by": tie_of(image, &manifest(image)).to_string(),
    })
}

pub fn show(page: &mut Output, args: &Show) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    if args.sets {
        let value = stated(library.set(&args.name)?)?;
        if args.read.file.json {
            print_json(&value)?;
            return Ok(Outcome::Well);
        }
        for (key, value) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "can") {
            say!(page, "{key:26} {}", words(value));
        }
        return Ok(Outcome::Well);
    }
    let image = one(&library, &args.name)?;
    let (mut value, manifest) = (short(&library, image), manifest(image));
    if args.read.file.json {
        value["manifest"] = manifest;
        value["proof"] = serde_json::from_slice(&image.proof()?).unwrap_or(Value::Null);
        print_json(&value)?;
        return Ok(Outcome::Well);
    }
    let more = ["summary", "top", "fmax_mhz"].map(|key| (key, manifest.get(key)));
    let more = more.iter().filter_map(|(key, value)| Some((*key, (*value)?)));
    let known = value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value));
    for (key, value) in known.chain(more) {
        say!(page, "{key:26} {}", words(value));
    }
    Ok(Outcome::Well)
}

/// A value as text: lists with commas, and nothing as a dash.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "–".into(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
