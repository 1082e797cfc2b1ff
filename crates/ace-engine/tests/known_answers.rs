// SPDX-License-Identifier: Apache-2.0
//! Published known answers on the CPU engine: the rows in `kat/`, and every row of a larger collection where
//! there is one (`ACE_VECTORS`, or `../shared/vectors` beside the workspace).

use std::path::{Path, PathBuf};

use ace_engine::cpu::CpuEngine;
use ace_engine::kat::{KnownAnswers, Report, Subject, run};

/// A file's subject, by its name: `hmac_sha1_96_invalid.csv` is of `hmac_sha1_96`.
fn subject(file: &Path) -> Option<Subject> {
    let mut name = file.file_stem()?.to_str()?;
    for end in ["_invalid", "_repeat", "_mct"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    Subject::by_name(name)
}

fn csv_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|file| file.extension().is_some_and(|e| e == "csv")).collect();
    files.sort();
    files
}

fn run_file(file: &Path, subject: Subject) -> Report {
    let answers = KnownAnswers::read(subject, file).unwrap_or_else(|error| panic!("{error}"));
    let report = run(&answers, &mut CpuEngine::new());
    let counted = report.passed + report.failed.len() + report.skipped.len();
    assert_eq!(counted, answers.rows.len(), "{}", file.display());
    report
}

#[test]
fn our_rows_pass() {
    let files = csv_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/kat")));
    assert_eq!(files.len(), 8);
    for file in files {
        let subject = subject(&file).unwrap_or_else(|| panic!("{}: of what?", file.display()));
        let report = run_file(&file, subject);
        assert!(report.is_success() && report.skipped.is_empty(), "{}: {report:#?}", file.display());
    }
}

#[test]
fn the_collection_passes() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("ACE_VECTORS").map_or(beside, PathBuf::from);
    let mut files = 0;
    for file in csv_files(&folder) {
        // Algorithms that are not in the table yet have files too.
        let Some(subject) = subject(&file) else { continue };
        let report = run_file(&file, subject);
        assert!(report.is_success() && report.skipped.is_empty(), "{}: {report:#?}", file.display());
        files += 1;
    }
    if folder.is_dir() {
        assert!(files > 0, "{} has nothing for us", folder.display());
    } else {
        eprintln!("no {}: only our own rows were run", folder.display());
    }
}
