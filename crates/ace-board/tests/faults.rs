// SPDX-License-Identifier: Apache-2.0
//! The tests tested: RTL with a fault put in on purpose (`algorithms/*/faults.toml`) must fail the known answers. Faults that
//! change no answer are left to `python -m ace_flow noninterference --faults`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common::{algorithms, built, published, repository};
use ace_board::manifest::FileRef;
use ace_board::model::{Model, ModelError, SlotModel};
use ace_board::{Board, BoardConfig, Configuration, ModelSource, Models, Policy};
use ace_engine::Mac;
use ace_engine::kat::{KnownAnswers, Subject, run};
use serde::Deserialize;

/// An entry of build/faults/index.json.
#[derive(Clone, Deserialize)]
struct Fault {
    algorithm: String,
    configuration: String,
    what: String,
    file: String,
    caught_by: String,
    library: PathBuf,
    bytes: u64,
    sha256: String,
}

/// The slot of one configuration is the model with the fault, behind the good bits.
struct Faulty(FileRef);

impl ModelSource for Faulty {
    fn open(&self, of: &Configuration, _: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        Ok(Box::new(Model::open(&self.0, &of.lut_init)?))
    }
}

fn faults() -> Vec<Fault> {
    let folder = std::env::var_os("ACE_BUILD").map_or(repository("build"), PathBuf::from).join("faults");
    let Ok(text) = std::fs::read(folder.join("index.json")) else {
        assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "no {}/index.json", folder.display());
        eprintln!("skipped: no {}/index.json; `make test` makes it", folder.display());
        return Vec::new();
    };
    let mut faults: Vec<Fault> = serde_json::from_slice(&text).unwrap();
    faults.retain(|f| f.caught_by == "known answers");
    faults.iter_mut().for_each(|f| f.library = folder.join(&f.library));
    faults
}

/// Whether the compact known answers find something wrong with a model. A slot that does not answer is wrong.
fn caught(fault: &Fault) -> bool {
    let mut catalogue = built();
    catalogue.configurations.retain(|c| c.name == fault.configuration);
    let configuration = catalogue.configurations.iter().next();
    let configuration = configuration.unwrap_or_else(|| panic!("`{}` is not built", fault.configuration));
    assert!(algorithms(configuration).iter().any(|a| a.name == fault.algorithm), "{}", fault.configuration);
    let sha256: Vec<u8> = hex::decode(&fault.sha256).unwrap();
    let model =
        FileRef { path: fault.library.clone(), bytes: fault.bytes, sha256: sha256.try_into().unwrap() };

    let mut tried = 0;
    for (name, file) in published() {
        let subject = Subject::by_name(&name);
        let Some(subject) = subject.filter(|s| match s {
            Subject::Cipher(a) | Subject::Hash(a) | Subject::Mac(Mac::Hmac(a), _) => {
                a.name == fault.algorithm
            }
            Subject::Mac(..) | Subject::Aead(_) => false,
        }) else {
            continue;
        };
        tried += 1;
        let answers = KnownAnswers::read(subject, &file).unwrap();
        let mut board = Board::with_source(
            BoardConfig::default(),
            catalogue.clone(),
            Policy::ALL[0],
            Models::Rtl,
            Box::new(Faulty(model.clone())),
        )
        .unwrap();
        if !run(&answers, &mut board).failed.is_empty() {
            return true;
        }
    }
    assert!(tried > 0, "no known answers for {}", fault.algorithm);
    false
}

#[test]
fn every_fault_is_caught() {
    let faults = faults();
    let mut caught_of: BTreeMap<&str, usize> = BTreeMap::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = faults.iter().map(|f| (f, scope.spawn(|| caught(f)))).collect();
        for (fault, thread) in threads {
            let what = format!("{}: {} ({})", fault.configuration, fault.what, fault.file);
            assert!(thread.join().unwrap(), "not caught: {what}");
            *caught_of.entry(&fault.algorithm).or_default() += 1;
        }
    });
    if !faults.is_empty() {
        // Every algorithm that is built has its three.
        for algorithm in built().configurations.iter().flat_map(algorithms) {
            let count = caught_of.get(algorithm.name).copied().unwrap_or(0);
            assert!(count >= 3, "{algorithm}: {count} faults in its faults.toml, three are wanted");
        }
    }
}
