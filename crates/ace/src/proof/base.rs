// SPDX-License-Identifier: Apache-2.0
//! `ace proof base`: files and tools that proofs rest on, with the lines of each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ace_report::{Outcome, Table, print_json, say};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::flow::Flow;
use crate::page::Output;

/// Where the base is written down.
const LIST: &str = "flow/trusted.toml";
/// Where versions of tools are pinned.
const PINS: &str = "flow/requirements.txt";

/// Print what proofs rest on: the files of this checkout that have to be right, with their lines, and the tools
#[derive(clap::Args)]
pub struct Args {
    /// Every file, not the parts alone
    #[arg(long)]
    files: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct List {
    part: Vec<Part>,
    tool: Vec<Tool>,
    untrusted: Vec<Untrusted>,
}

#[derive(Deserialize)]
struct Part {
    what: String,
    files: Vec<PathBuf>,
    #[serde(default)]
    proposes: Vec<PathBuf>,
}

#[derive(Deserialize, Serialize)]
struct Tool {
    what: String,
    does: String,
    package: String,
    #[serde(default)]
    version: String,
}

#[derive(Deserialize, Serialize)]
struct Untrusted {
    what: String,
    why: String,
}

#[derive(Serialize)]
struct Counted {
    what: String,
    files: Vec<File>,
    lines: usize,
}

#[derive(Serialize)]
struct File {
    path: PathBuf,
    lines: usize,
}

/// A file, or all sources of a folder but its tests.
fn sources(root: &Path, path: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let whole = root.join(path);
    if !whole.is_dir() {
        found.insert(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(&whole).with_context(|| whole.display().to_string())? {
        let name = entry.with_context(|| whole.display().to_string())?.file_name();
        let below = path.join(&name);
        let source = ["rs", "cc", "h", "sv"].iter().any(|end| below.extension().is_some_and(|e| e == *end));
        if root.join(&below).is_dir() || (source && name != "tests.rs") {
            sources(root, &below, found)?;
        }
    }
    Ok(())
}

/// A file's lines. In Rust, tests stand at the end and do not count.
fn lines(root: &Path, path: &Path) -> Result<usize> {
    let whole = root.join(path);
    let bytes = ace_fs::read(&whole).with_context(|| whole.display().to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let tests = |line: &&str| line.trim() != "#[cfg(test)]";
    Ok(match path.extension().is_some_and(|end| end == "rs") {
        true => text.lines().take_while(tests).count(),
        false => text.lines().count(),
    })
}

fn counted(root: &Path, part: &Part) -> Result<Counted> {
    let mut found = BTreeSet::new();
    for path in &part.files {
        sources(root, path, &mut found)?;
    }
    for path in &part.proposes {
        if !root.join(path).is_file() {
            bail!("{LIST}: {} is not there; take it out of `{}`", path.display(), part.what);
        }
        found.remove(path);
    }
    let files = found
        .into_iter()
        .map(|path| Ok(File { lines: lines(root, &path)?, path }))
        .collect::<Result<Vec<_>>>()?;
    Ok(Counted { what: part.what.clone(), lines: files.iter().map(|file| file.lines).sum(), files })
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    let root = Flow::root()?;
    let text = |name: &str| {
        std::fs::read_to_string(root.join(name)).with_context(|| root.join(name).display().to_string())
    };
    let mut list: List = toml::from_str(&text(LIST)?).with_context(|| LIST.to_owned())?;
    let pins = text(PINS)?;
    for tool in &mut list.tool {
        let pin = |line: &str| Some(line.strip_prefix(&*tool.package)?.strip_prefix("==")?.to_owned());
        let Some(version) = pins.lines().find_map(pin) else {
            bail!("{PINS} pins no {}, which {LIST} names", tool.package);
        };
        tool.version = version.split_whitespace().next().unwrap_or_default().to_owned();
    }
    let parts = list.part.iter().map(|part| counted(&root, part)).collect::<Result<Vec<_>>>()?;
    let total: usize = parts.iter().map(|part| part.lines).sum();
    if args.json {
        print_json(&serde_json::json!({
            "lines": total, "parts": parts, "tools": list.tool, "untrusted": list.untrusted,
        }))?;
        return Ok(Outcome::Well);
    }
    if args.files {
        let files: Vec<&File> = parts.iter().flat_map(|part| &part.files).collect();
        page.table(
            &Table::of(&files).left("file", |f| f.path.display().to_string()).right("lines", |f| f.lines),
        );
    } else {
        let table = Table::of(&parts).left("what has to be right", |p| &p.what);
        page.table(&table.right("files", |p| p.files.len()).right("lines", |p| p.lines));
    }
    say!(page, "\n{total} lines together, tests not counted. Of tools:\n");
    let table = Table::of(&list.tool).left("trusted", |t| &t.what).left("what it does", |t| &t.does);
    page.table(&table.left("version", |t| format!("{} {}", t.package, t.version)));
    say!(page, "");
    page.table(&Table::of(&list.untrusted).left("not trusted", |t| &t.what).left("because", |t| &t.why));
    Ok(Outcome::Well)
}
