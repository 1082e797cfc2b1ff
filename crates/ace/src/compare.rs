// SPDX-License-Identifier: Apache-2.0
//! `ace compare`: two captures, packet by packet.

use std::path::PathBuf;

use ace_pcap::{Capture, Item};
use anyhow::{Result, bail};
use serde::Serialize;

use ace_report::{Outcome, print_json};

/// Compare two captures packet by packet and byte by byte (time stamps are not compared).
#[derive(clap::Args)]
pub struct Args {
    left: PathBuf,
    right: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Found {
    packets: u64,
    bytes: u64,
    different: u64,
    /// The first ones.
    differences: Vec<Difference>,
    /// The capture that goes on where the other one has ended.
    longer: Option<String>,
}

#[derive(Serialize)]
struct Difference {
    packet: u64,
    what: String,
}

/// How many differences are shown.
const SHOWN: usize = 10;

pub fn run(args: &Args) -> Result<Outcome> {
    let (left, right) = (Capture::open(&args.left)?, Capture::open(&args.right)?);
    if left.link() != right.link() {
        bail!("the link types differ: {:?} and {:?}", left.link(), right.link());
    }
    let (mut left, mut right) = (left, right);
    let mut found = Found::default();
    loop {
        match (left.next_item().transpose()?, right.next_item().transpose()?) {
            (None, None) => break,
            (Some(Item::Unreadable { number, why }), _) | (_, Some(Item::Unreadable { number, why })) => {
                bail!("packet {number} cannot be read: it is {why}");
            }
            (Some(Item::Frame(a)), Some(Item::Frame(b))) => {
                found.packets += 1;
                found.bytes += a.bytes.len() as u64;
                if a.bytes != b.bytes {
                    found.different += 1;
                    if found.differences.len() < SHOWN {
                        let what = difference(a.bytes, b.bytes);
                        found.differences.push(Difference { packet: found.packets, what });
                    }
                }
            }
            (more, _) => {
                let longer = if more.is_some() { &args.left } else { &args.right };
                found.longer = Some(longer.display().to_string());
                break;
            }
        }
    }
    let Found { packets, bytes, different, differences, longer } = &found;
    if args.json {
        print_json(&found)?;
    } else {
        differences.iter().for_each(|Difference { packet, what }| println!("packet {packet}: {what}"));
        println!("{packets} packets, {bytes} bytes compared, {different} packets differ");
        longer.iter().for_each(|longer| println!("{longer} has more packets, the other has not"));
    }
    Ok(if *different == 0 && longer.is_none() { Outcome::Well } else { Outcome::Wrong })
}

fn difference(a: &[u8], b: &[u8]) -> String {
    match a.iter().zip(b).position(|(x, y)| x != y) {
        Some(at) => format!("byte {at} is {:02x} and {:02x}", a[at], b[at]),
        None => format!("{} and {} bytes", a.len(), b.len()),
    }
}
