// SPDX-License-Identifier: Apache-2.0
//! Any bytes as the text of an SA file: a file or errors with their line, never a panic. A file that is taken
//! makes a data plane that works.
#![no_main]

use std::time::Duration;

use ace_config::SaFile;
use ace_engine::Buffer;
use ace_ipsec::{Packet, SeededIvs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match SaFile::parse("SAS.toml", text) {
        Ok(file) => {
            let count = file.sas().len();
            let plane = file.shard(Duration::ZERO, Box::new(SeededIvs::new(0)));
            let mut plane = plane.expect("what was checked can be installed");
            assert_eq!(plane.sas().count(), count);
            plane.ingest_seen(
                Duration::ZERO,
                Packet { token: 0, buffer: Buffer::from_packet(&[0x45; 40], 8, 8) },
            );
        }
        Err(errors) => {
            assert!(!errors.0.is_empty());
            assert!(errors.0.iter().all(|error| error.starts_with("SAS.toml:")));
        }
    }
});
