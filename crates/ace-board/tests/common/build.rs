// SPDX-License-Identifier: Apache-2.0
//! A folder of configurations as the flow makes it: real bitstreams of made-up contents.

use ace_board::{Board, BoardConfig, Catalogue, Models, Policy, Unsigned, record};
use ace_ecp5::{ConfigMemory, Device, Emit};
use ace_engine::Kind;
use ace_engine::algorithm::ALGORITHMS;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::slots::{Mischief, SoftSlots};

/// Configurations in a folder of their own.
pub struct Build {
    pub folder: TempDir,
    pub software: SoftSlots,
}

/// Digest of the netlist that all made-up configurations are.
pub const NETLIST: &str = "2222222222222222222222222222222222222222222222222222222222222222";

/// What a record of a proof of bits says, of those of this digest.
pub fn record(memory: [u8; 32]) -> serde_json::Value {
    serde_json::json!({
        "format": record::FORMAT, "result": "proven", "points": 7, "by_structure": 7, "memory_sha256": hex(&memory),
        "netlist_sha256": NETLIST,
        "control": { "result": "refuted", "points_refuted": 1, "memory_sha256": "33".repeat(32) },
    })
}

/// Contents of a configuration memory that no other `number` has.
pub fn memory(device: &str, number: u8) -> ConfigMemory {
    let device = Device::by_name(device).unwrap();
    let mut memory = ConfigMemory::new(device);
    let mut frame = vec![0; device.frame_bytes()];
    frame[7] = number + 1;
    assert!(memory.set_frame(100, &frame));
    memory
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl Build {
    /// aes, des (with 3des), md5 and sha1.
    pub fn new() -> Self {
        let build = Self { folder: TempDir::new().unwrap(), software: SoftSlots::default() };
        for (number, name) in ["aes", "des", "md5", "sha1"].into_iter().enumerate() {
            let bits =
                Emit { compress: true, comment: vec![name.into()] }.whole(&memory("LFE5U-45F", number as u8));
            build.write(name, &bits, memory("LFE5U-45F", number as u8).digest(), 80.0 + number as f64);
        }
        build
    }

    /// A configuration's files; the manifest's digest of the bitstream is the one of `bits`.
    pub fn write(&self, name: &str, bits: &[u8], memory: [u8; 32], mhz: f64) {
        let folder = self.folder.path().join("configurations").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.bit")), bits).unwrap();
        let can: Vec<String> = ALGORITHMS
            .iter()
            .filter(|a| a.name == name || (name == "des" && a.name == "3des"))
            .map(|a| match a.kind {
                Kind::Cipher { keys, .. } => format!(
                    r#"{{"algorithm":"{}","code":{},"kind":"cipher","key_bytes":{keys:?},
                    "directions":["encrypt","decrypt"],"modes":["ecb","cbc","ctr","cfb","cfb8","ofb"]}}"#,
                    a.name, a.code
                ),
                Kind::Hash { .. } => format!(
                    r#"{{"algorithm":"{}","code":{},"kind":"hash","operations":["hash","hmac-states","hmac-key"]}}"#,
                    a.name, a.code
                ),
            })
            .collect();
        let file = |name: &str, bytes: &[u8]| {
            let sha = hex(&Sha256::digest(bytes));
            format!(r#"{{"path":"{name}","bytes":{},"sha256":"{sha}"}}"#, bytes.len())
        };
        let manifest = format!(
            r#"{{"schema":1,"name":"{name}","device":"LFE5U-45F","fmax_mhz":{mhz:?},"can":[{}],
            "memory_sha256":"{}","netlist_sha256":"{NETLIST}","files":{{"bitstream":{},"model":{}}},"unknown":1}}"#,
            can.join(","),
            hex(&memory),
            file(&format!("{name}.bit"), bits),
            file("lib.so", b"none")
        );
        std::fs::write(folder.join("manifest.json"), manifest).unwrap();
    }

    /// Makes a configuration's slots work on `frames` at a time.
    pub fn interleave(&self, name: &str, frames: usize) {
        let path = self.folder.path().join("configurations").join(name).join("manifest.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(r#""unknown":1"#, &format!(r#""in_flight":{frames}"#))).unwrap();
    }

    pub fn bits(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.bit_file(name)).unwrap()
    }

    pub fn bit_file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("configurations").join(name).join(format!("{name}.bit"))
    }

    pub fn catalogue(&self) -> Catalogue {
        let mut catalogue = Catalogue::find(Some(self.folder.path()));
        assert!(catalogue.problems.is_empty(), "{:?}", catalogue.problems);
        // Nobody has signed or proven what is made up here.
        catalogue.unsigned = Unsigned::Unproven;
        catalogue
    }

    pub fn manifest(&self, name: &str) -> String {
        std::fs::read_to_string(self.at("configurations").join(name).join("manifest.json")).unwrap()
    }

    /// Puts a record of a proof beside a configuration.
    pub fn prove(&self, name: &str, record: &serde_json::Value) {
        let file = self.at("configurations").join(name).join("proof.json");
        std::fs::write(file, record.to_string()).unwrap();
    }

    /// A file in the build folder.
    pub fn at(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub fn board(&self, policy: Policy) -> Board {
        self.board_of(BoardConfig::default(), policy)
    }

    pub fn board_of(&self, config: BoardConfig, policy: Policy) -> Board {
        let source = Box::new(self.software.clone());
        Board::with_source(config, self.catalogue(), policy, Models::Rtl, source).unwrap()
    }

    /// Makes a configuration's slots misbehave.
    pub fn mischief(&self, name: &str, change: impl FnOnce(&mut Mischief)) {
        change(self.software.0.lock().unwrap().entry(name.into()).or_default());
    }
}
