// SPDX-License-Identifier: Apache-2.0
//! `ace sas`: SA files, before anything runs with them.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ace_config::{SaFile, import, read_wiped, swanctl, wireshark};
use ace_ipsec::{Direction, SaMode, SaSpec};
use ace_pcap::read::{SecretsKind, is_pcapng};
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::json;
use zeroize::Zeroizing;

mod matrix;
mod suites;

use crate::page::Output;
use ace_report::{Outcome, print_json, say};

/// Check, mirror, translate and make SA files (docs/sa-file.md).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what is wrong with an SA file, or what is in it; no key is printed
    Check(Check),
    /// Write the other end's SA file: what goes out here comes in there. The keys are in it
    Mirror(Translate),
    /// Write Wireshark's table `esp_sa`, with which it and tshark decrypt and authenticate ESP. The keys are in it
    ///
    /// It belongs into Wireshark's folder of a profile as `esp_sa`, or line by line behind tshark's option
    /// `-o uat:esp_sa:`. docs/tutorial.md shows it.
    Wireshark(Wireshark),
    /// List every cipher and every authentication of SA files
    Suites(Suites),
    /// Make an SA file of what `ip -s xfrm state` prints on a machine with SAs, of Wireshark's table, or of the keys in a
    /// capture. The keys are in it
    ///
    /// It leaves out what has no place in an SA file, and names it with its line. The exit code is then 1, or 2 if nothing
    /// is left. strongSwan's own list (`swanctl --list-sas --raw`) has no keys. It has names, directions and traffic selectors,
    /// which the kernel's has not: --swanctl takes them from there.
    Import(Import),
}

#[derive(clap::Args)]
struct Check {
    file: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Suites {
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Print names alone, those together that the same engines compute
    #[arg(long, conflicts_with = "json")]
    by_engine: bool,
    /// Print what of each is where: the processor, OpenSSL's provider, the gateway, the library's configurations and context
    /// sets, images of boards; and which of these are proven to be their RTL
    #[arg(long, conflicts_with = "by_engine")]
    matrix: bool,
}

#[derive(clap::Args)]
struct Wireshark {
    #[command(flatten)]
    translate: Translate,
    /// For this release of Wireshark, as in 4.0: what it does not know is left out (default: the newest that is known)
    #[arg(long = "for", value_name = "RELEASE")]
    release: Option<wireshark::Release>,
}

#[derive(clap::Args)]
struct Translate {
    file: PathBuf,
    /// Where it goes (default: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// What an SA encloses.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Mode {
    Tunnel,
    Transport,
}

#[derive(clap::Args)]
struct Import {
    /// What `ip -s xfrm state` printed, with the policies behind it or without, or Wireshark's table `esp_sa`;
    /// `/dev/stdin` for a pipe. Or a pcapng file with that table in its blocks of decryption secrets
    file: PathBuf,
    /// Addresses of this machine: SAs from them go out, SAs to them come in (kernels from 6.10 on and policies say the
    /// direction themselves)
    #[arg(long, value_name = "ADDRESS")]
    local: Vec<IpAddr>,
    /// What `swanctl --list-sas --raw` printed on the same machine: it says what goes out and comes in, which packets
    /// are meant, and what the SAs are called
    #[arg(long, value_name = "FILE")]
    swanctl: Option<PathBuf>,
    /// What `ip -s xfrm policy` printed on the same machine: it says what goes out and comes in, which packets are
    /// meant, and in which order
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Begin with the first number (extended: of the high half) and whole lifetimes, for a capture that is older than the
    /// list. Without it SAs go on where the kernel's stand
    #[arg(long)]
    from_start: bool,
    /// What the SAs of Wireshark's table enclose, which it does not say
    #[arg(long, value_enum, default_value = "tunnel")]
    mode: Mode,
    /// All SAs come in, whosever they are: with such a file `ace run` decrypts a capture of both directions
    #[arg(long, conflicts_with = "local")]
    inbound: bool,
    /// Where the SA file goes (default: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Check(args) => check(page, args),
        Command::Mirror(args) => {
            let file = load(&args.file)?;
            write(&args.output, &file.mirrored()?)
        }
        Command::Wireshark(Wireshark { translate, release }) => {
            let file = load(&translate.file)?;
            let table = wireshark::table(file.sas(), *release);
            for warning in &table.warnings {
                eprintln!("ace: warning: {warning}");
            }
            write(&translate.output, &table.text)
        }
        Command::Suites(args) if args.matrix => matrix::print(page, args.json),
        Command::Suites(args) => suites::print(page, args.json, args.by_engine),
        Command::Import(args) => import(args),
    }
}

/// Reads an SA file and says what it warns of.
pub fn load(path: &Path) -> Result<SaFile> {
    let text = read_wiped(path).with_context(|| format!("cannot read the SA file {}", path.display()))?;
    let file = SaFile::parse(&path.display().to_string(), &text)?;
    for warning in file.warnings() {
        eprintln!("ace: warning: {warning}");
    }
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if !text.lines().any(says) {
        bail!(
            "{}: it is empty: there is no [[sa]] and no `default_policy` in it (docs/sa-file.md)",
            path.display()
        );
    }
    Ok(file)
}

/// Keys are for whoever runs this alone, where a file is made for them.
fn write(path: &Path, text: &Zeroizing<String>) -> Result<Outcome> {
    ace_fs::write_private(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Outcome::Well)
}

fn import(args: &Import) -> Result<Outcome> {
    let unread = || format!("cannot read {}", args.file.display());
    // A pipe has no beginning to look at first.
    let is_capture = args.file.is_file() && is_pcapng(&args.file).with_context(unread)?;
    let text = if is_capture { secrets(&args.file)? } else { read_wiped(&args.file).with_context(unread)? };
    let read =
        |path: &PathBuf| ace_fs::read_text(path).with_context(|| format!("cannot read {}", path.display()));
    let mut children = Vec::new();
    if let Some(path) = &args.swanctl {
        children = swanctl::children(&read(path)?);
        if children.is_empty() {
            bail!("{}: no CHILD_SAs: `swanctl --list-sas --raw` prints them", path.display());
        }
    }
    let policies =
        args.policy.as_ref().map(|path| Ok::<_, anyhow::Error>((path.display().to_string(), read(path)?)));
    let policies = policies.transpose()?;
    let name = args.file.display().to_string();
    let beside = import::Beside {
        local: &args.local,
        children: &children,
        policies: policies.as_ref().map(|(name, text)| import::Source { name, text }),
        from_start: args.from_start,
        mode: match args.mode {
            Mode::Tunnel => SaMode::Tunnel,
            Mode::Transport => SaMode::Transport,
        },
        inbound: args.inbound,
    };
    let imported =
        import::import(import::Source { name: &name, text: &text }, &beside).with_context(|| name.clone())?;
    for warning in &imported.warnings {
        eprintln!("ace: warning: {warning}");
    }
    for why in &imported.left_out {
        eprintln!("ace: left out: {why}");
    }
    let Some(file) = &imported.file else {
        bail!("{name}: every SA is left out; no file is written");
    };
    write(&args.output, file)?;
    Ok(if imported.left_out.is_empty() { Outcome::Well } else { Outcome::Wrong })
}

/// What a capture has in it to decrypt ESP by; other secrets are named and passed over.
fn secrets(path: &Path) -> Result<Zeroizing<String>> {
    let (found, others): (Vec<_>, Vec<_>) =
        ace_pcap::read::secrets(path)?.into_iter().partition(|secrets| secrets.kind == SecretsKind::ESP);
    let name = path.display();
    for SecretsKind(number) in others.iter().map(|other| other.kind) {
        let what = SecretsKind(number).name().unwrap_or("secrets that are not known here");
        eprintln!("ace: {name}: passed over: {what} ({number:#010x})");
    }
    if found.is_empty() {
        bail!("{name}: no SAs of ESP among its decryption secrets (pcapng, blocks of kind 0x45535053)");
    }
    // Room for the whole, so that no key stays behind in a buffer that became too small.
    let room = found.iter().map(|secrets| secrets.bytes.len() + 1).sum();
    let mut text = Zeroizing::new(String::with_capacity(room));
    for secrets in &found {
        text.push_str(
            std::str::from_utf8(&secrets.bytes).with_context(|| format!("{name}: its SAs of ESP"))?,
        );
        text.push('\n');
    }
    Ok(text)
}

fn check(page: &mut Output, args: &Check) -> Result<Outcome> {
    let file = load(&args.file)?;
    let direction = |sa: &SaSpec| if sa.direction == Direction::Out { "out" } else { "in" };
    if args.json {
        let sas = file.sas().iter().map(|sa| {
            json!({
                "name": sa.name, "spi": sa.spi, "direction": direction(sa), "protocol": sa.protocol,
                "mode": sa.mode, "local": sa.local, "remote": sa.remote,
                "selector": sa.selector.to_string(), "cipher": sa.cipher.name, "auth": sa.auth.name,
                "esn": sa.esn, "replay_window": sa.replay_window,
            })
        });
        let sas: Vec<_> = sas.collect();
        print_json(&json!({"default_policy": format!("{:?}", file.default_policy()).to_lowercase(),
            "warnings": file.warnings(), "sas": sas}))?;
        return Ok(Outcome::Well);
    }
    say!(
        page,
        "| name | SPI | direction | mode | from | to | packets | suite |\n|---|--:|---|---|---|---|---|---|"
    );
    for sa in file.sas() {
        let (from, to) = match sa.direction {
            Direction::Out => (sa.local, sa.remote),
            Direction::In => (sa.remote, sa.local),
        };
        let mode = format!("{:?} {:?}", sa.protocol, sa.mode).to_lowercase();
        let suite = match sa.auth.name {
            "none" => sa.cipher.name.to_owned(),
            auth => format!("{} + {auth}", sa.cipher.name),
        };
        let (name, spi, packets) = (&sa.name, sa.spi, &sa.selector);
        let direction = direction(sa);
        say!(page, "| {name} | {spi:#x} | {direction} | {mode} | {from} | {to} | {packets} | {suite} |");
    }
    Ok(Outcome::Well)
}
