// SPDX-License-Identifier: Apache-2.0
//! Any bytes as the text of an SA file: a file or errors with their line, never a panic. A file that is taken
//! makes a data plane that works.
#![no_main]

use ace_esp::{DataPlane, SaFile, SeededIvs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match SaFile::parse("SAS.toml", text) {
        Ok(file) => {
            let count = file.sas().len();
            let mut plane = DataPlane::new(file, Box::new(SeededIvs::new(0)));
            assert_eq!(plane.sas().count(), count);
            let _ = plane.accept(vec![0x45; 40]);
        }
        Err(errors) => {
            assert!(!errors.0.is_empty());
            assert!(errors.0.iter().all(|error| error.starts_with("SAS.toml:")));
        }
    }
});
