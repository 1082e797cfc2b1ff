// SPDX-License-Identifier: Apache-2.0
//! How fast the configuration port takes bitstreams, in wall-clock time:
//! `cargo run --release -p ace-ecp5 --example load FILE.bit …`

use std::hint::black_box;
use std::time::Instant;

use ace_ecp5::{BitstreamError, ConfigPort};

const LOADS: u32 = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let mut port = ConfigPort::for_any_device();
        let load = time(|| {
            port.reset();
            port.push(&bytes)
        })?;
        let memory = port.finish()?;
        let digest = time(|| {
            black_box(memory.digest());
            Ok(())
        })?;
        let frames = memory.frames().flatten().count();
        println!(
            "{path}: {}, {} bytes: load {:.2} ms ({:.0} MB/s of bitstream, {:.0} MB/s of frames), digest {:.2} ms",
            memory.device(),
            bytes.len(),
            load * 1e3,
            bytes.len() as f64 / load / 1e6,
            frames as f64 / load / 1e6,
            digest * 1e3,
        );
    }
    Ok(())
}

/// Seconds for one call.
fn time(mut run: impl FnMut() -> Result<(), BitstreamError>) -> Result<f64, BitstreamError> {
    let start = Instant::now();
    for _ in 0..LOADS {
        run()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(LOADS))
}
