// SPDX-License-Identifier: Apache-2.0
//! `ace library extract`: configurations out of a library, as the flow's files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ace_ecp5::Emit;
use ace_library::file::Opened;
use ace_library::{ContextSet, Image, Library};
use anyhow::{Context, Result};
use serde_json::json;

use super::args::{ReadArgs, chosen, counted, warned};
use crate::image::board_image;
use ace_report::{Outcome, print_json};

/// What an image is for, and what it is not for.
const WARNING: &str = "the images are for a bare device with the pins of flow/boundary.lpf (LFE5U-45F in CABGA381). \
    On a board these pins belong to others: on a Colorlight i9 (LFE5U-45F-6BG381C) 42 of them would drive its memory \
    and its PHY. Never load one there. Nothing has been tried on silicon";

/// Write configurations out again: bitstream, manifest and proof of each
///
/// The images are for a bare device with the pins of flow/boundary.lpf (LFE5U-45F in CABGA381). On a board these pins
/// belong to others: on a Colorlight i9 (LFE5U-45F-6BG381C) 42 of them would drive its memory and its PHY.
#[derive(clap::Args)]
pub struct Extract {
    /// Only these configurations, or with --sets only these context sets
    names: Vec<String>,
    /// Write out context sets and no configurations: NAME/NAME.set and NAME/manifest.json
    #[arg(long)]
    sets: bool,
    /// Write out the image of this name, or of this board, and no configurations; the loader's command is printed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["names", "sets"])]
    image: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// Where the folders of the configurations go: NAME/NAME.bit, NAME/manifest.json, NAME/proof.json
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub fn extract(args: &Extract) -> Result<Outcome> {
    let path = args.read.file.existing()?;
    let guard = args.read.guard()?;
    let Opened { library, .. } = warned(guard.open(&path)?);
    if args.sets {
        return sets(args, &library);
    }
    if let Some(name) = &args.image {
        return image(args, &library, name);
    }
    let chosen = chosen(&library, &args.names)?;
    for image in &chosen {
        // The reader of the file has seen to it that this is one folder below.
        write(&library, image, &args.out.join(image.name()))?;
    }
    if args.read.file.json {
        let names: Vec<&str> = chosen.iter().map(|image| image.name()).collect();
        print_json(&json!({
            "version": library.version, "out": args.out, "configurations": names, "warning": WARNING,
        }))?;
    } else {
        eprintln!("ace: warning: {WARNING}");
        println!("{} of version {} in {}", counted(chosen.len()), library.version, args.out.display());
    }
    Ok(Outcome::Well)
}

/// The context sets of these names, or all.
fn sets(args: &Extract, library: &Library) -> Result<Outcome> {
    args.names.iter().try_for_each(|name| library.set(name).map(drop))?;
    let wanted =
        |set: &&ContextSet| args.names.is_empty() || args.names.iter().any(|name| name == set.name());
    let chosen: Vec<&ContextSet> = library.sets().iter().filter(wanted).collect();
    for set in &chosen {
        let folder = args.out.join(set.name());
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        publish(&folder.join(format!("{}.set", set.name())), set.bytes())?;
        publish(&folder.join("manifest.json"), &set.manifest()?)?;
    }
    let (names, out): (Vec<&str>, _) = (chosen.iter().map(|set| set.name()).collect(), args.out.display());
    if args.read.file.json {
        print_json(&json!({ "version": library.version, "out": args.out, "sets": names }))?;
    } else {
        println!("{} context sets of version {} in {out}", names.len(), library.version);
    }
    Ok(Outcome::Well)
}

/// One image, with the call that loads it.
fn image(args: &Extract, library: &Library, name: &str) -> Result<Outcome> {
    let about = board_image(library, name)?;
    let folder = args.out.join(&about.name);
    write(library, library.get(&about.name)?, &folder)?;
    let command = about.loader_command(&folder.join(format!("{}.bit", about.name)));
    if args.read.file.json {
        print_json(&json!({
            "version": library.version, "out": args.out, "image": about.name, "board": about.board,
            "command": command, "warnings": about.warnings,
        }))?;
    } else {
        about.warnings.iter().for_each(|warning| eprintln!("ace: warning: {warning}"));
        println!(
            "{} of version {} in {}; its owner loads it with",
            about.name,
            library.version,
            folder.display()
        );
        println!("  {}", command.join(" "));
    }
    Ok(Outcome::Well)
}

fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    ace_fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// The files of one configuration, each at once by a rename.
fn write(library: &Library, image: &Image, folder: &Path) -> Result<()> {
    // Its digest has been checked: what is written is what was signed.
    let memory = library.memory(image.name())?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let bits = Emit { compress: true, ..Emit::default() }.whole(&memory);
    publish(&folder.join(format!("{}.bit", image.name())), &bits)?;
    publish(&folder.join("manifest.json"), &image.manifest()?)?;
    let proof = folder.join("proof.json");
    match image.proof()? {
        text if !text.is_empty() => publish(&proof, &text)?,
        _ => match fs::remove_file(&proof) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", proof.display()));
            }
            _ => {}
        },
    }
    Ok(())
}
