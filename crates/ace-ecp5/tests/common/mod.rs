// SPDX-License-Identifier: Apache-2.0

use std::io::Read;

use ace_ecp5::{BitstreamError, ConfigMemory, ConfigPort};

/// A bitstream that `tests/fixtures/make.sh` made.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../ace-ecp5/tests/fixtures/{name}.bit.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    bytes
}

pub fn load(bytes: &[u8]) -> Result<ConfigMemory, BitstreamError> {
    let mut port = ConfigPort::for_any_device();
    port.push(bytes)?;
    port.finish().cloned()
}
