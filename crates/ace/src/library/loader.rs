// SPDX-License-Identifier: Apache-2.0
//! `ace library loader`: what the loader in hardware reads, for whoever simulates it.

use std::fs;
use std::path::PathBuf;

use ace_board::BoardConfig;
use ace_library::file::Opened;
use ace_library::load::Memory;
use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::args::{ReadArgs, one};
use ace_report::{Outcome, print_json};

/// Write the memory of the loader in hardware (rtl/loader): the dictionary, and for each load a list of steps with
/// all that it reads
///
/// The loader reads DIR/memory. The configuration port gets DIR/NAME.port or DIR/NAME-over-OTHER.port. A configuration that
/// is stored over another one has no file of its own: the loader writes the other one and then its frames. `ace inspect`
/// prints the digest that the port has in the end.
#[derive(clap::Args)]
pub struct Loader {
    /// A configuration for a cleared device, or NAME:OTHER, its frames over another one of its domain
    #[arg(required = true)]
    loads: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// Where the files go
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    over: Option<String>,
    /// Address of the list.
    list: u32,
    /// What the port is given, where each frame is written once.
    port: Option<PathBuf>,
    port_bytes: usize,
    /// Of what the device holds then.
    memory_sha256: String,
    /// If neither memory nor port makes it wait.
    loader_clocks: u64,
    /// Modelled: of the port and the loader in front of it, whichever takes longer.
    microseconds: f64,
}

pub fn loader(args: &Loader) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let mut memory = Memory::default();
    let dictionary = library.dictionary_list(&mut memory)?;
    let board = BoardConfig::default();
    let mut loads = Vec::new();
    for wanted in &args.loads {
        let (name, over) = match wanted.split_once(':') {
            Some((name, over)) => (name, Some(over)),
            None => (wanted.as_str(), None),
        };
        let image = one(&library, name)?;
        let (list, load, file) = match over {
            None => (library.whole_list(name, &mut memory)?, library.whole(name)?, format!("{name}.port")),
            Some(over) => {
                one(&library, over)?;
                let list = library.partial_list(over, name, &mut memory)?;
                let Some((list, load)) = list.zip(library.partial(over, name)?) else {
                    bail!(
                        "{name} is not made of {over} by a few frames; `ace library domains` shows which are"
                    );
                };
                (list, load, format!("{name}-over-{over}.port"))
            }
        };
        let port = args.out.join(file);
        let once = over.is_some() || image.base().is_none();
        if once {
            ace_fs::write(&port, &load.bitstream)
                .with_context(|| format!("cannot write {}", port.display()))?;
        }
        loads.push(Listed {
            name: name.to_owned(),
            over: over.map(str::to_owned),
            list,
            port: once.then_some(port),
            memory_sha256: hex::encode(image.digest()),
            port_bytes: load.bitstream.len(),
            loader_clocks: load.loader_clocks,
            microseconds: board.loading(load.bitstream.len() as u64, load.loader_clocks) as f64 / 1e6,
        });
    }
    let path = args.out.join("memory");
    ace_fs::write(&path, memory.bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    if args.read.file.json {
        print_json(&serde_json::json!({
            "memory": path, "dictionary": dictionary, "loads": loads, "loader_mhz": board.controller.clock_mhz,
            "port_mhz": board.configuration_port.clock_mhz,
        }))?;
    } else {
        for Listed { name, list, .. } in &loads {
            println!("{name}: list at {list}");
        }
        println!(
            "the dictionary's list at {dictionary}, {} bytes in {}",
            memory.bytes().len(),
            path.display()
        );
    }
    Ok(Outcome::Well)
}
