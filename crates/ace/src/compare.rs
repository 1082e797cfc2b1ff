// SPDX-License-Identifier: Apache-2.0
//! `ace compare`: two captures, packet by packet.

use std::path::PathBuf;

use ace_io::{Capture, Item};
use anyhow::{Result, bail};

use crate::Outcome;

/// Compare two captures packet by packet and byte by byte (time stamps are not compared).
#[derive(clap::Args)]
pub struct Args {
    left: PathBuf,
    right: PathBuf,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let (left, right) = (Capture::open(&args.left)?, Capture::open(&args.right)?);
    if left.link() != right.link() {
        bail!("the link types differ: {:?} and {:?}", left.link(), right.link());
    }
    let (mut left, mut right) = (left, right);
    let mut count = 0u64;
    let mut different = 0u64;
    let mut bytes = 0u64;
    loop {
        match (left.next_item().transpose()?, right.next_item().transpose()?) {
            (None, None) => break,
            (Some(Item::Unreadable { number, why }), _) | (_, Some(Item::Unreadable { number, why })) => {
                bail!("packet {number} cannot be read: it is {why}");
            }
            (Some(Item::Frame(a)), Some(Item::Frame(b))) => {
                count += 1;
                bytes += a.bytes.len() as u64;
                if a.bytes != b.bytes {
                    different += 1;
                    if different <= 10 {
                        println!("packet {count}: {}", difference(a.bytes, b.bytes));
                    }
                }
            }
            (more, _) => {
                let longer = if more.is_some() { &args.left } else { &args.right };
                println!("{} has more than {count} packets, the other has not", longer.display());
                return Ok(Outcome::Wrong);
            }
        }
    }
    println!("{count} packets, {bytes} bytes compared, {different} packets differ");
    Ok(if different == 0 { Outcome::Well } else { Outcome::Wrong })
}

fn difference(a: &[u8], b: &[u8]) -> String {
    match a.iter().zip(b).position(|(x, y)| x != y) {
        Some(at) => format!("byte {at} is {:02x} and {:02x}", a[at], b[at]),
        None => format!("{} and {} bytes", a.len(), b.len()),
    }
}
