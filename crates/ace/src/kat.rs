// SPDX-License-Identifier: Apache-2.0
//! `ace kat`: known answers on an engine.

mod rtl;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use ace_engine::kat::{self, Failure, KnownAnswers, Report, Skip, Subject};
use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;

use crate::engines::{self, AnyEngine, EngineArgs, PolicyArgs};
use crate::meant::meant;
use ace_report::{Outcome, print_json};

/// How many failing rows are printed in full.
const SHOWN: usize = 20;

/// Run known answers, in both directions, and say how many passed.
///
/// Files are CSV: block ciphers `source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex` (modes ECB, CBC, CTR, CFB,
/// CFB8, OFB and Monte-Carlo ECB-MCT-ENC-n and the like), hashes and MACs `source,key_hex,message_hex,digest_hex`, AEAD
/// `source,key_hex,iv_hex,aad_hex,plaintext_hex,ciphertext_hex,tag_hex,result`, whole packets for `esp`. A column that
/// would not be looked at is an error. Rows of a mode or key size that does not exist here are skipped, never passed.
#[derive(clap::Args)]
pub struct Args {
    /// A cipher (aes, mars, …), a hash (sha1), hmac-sha1, hmac-sha1-96, aes-gcm, … or esp; a wrong name lists them all
    algorithm: String,
    /// File of known answers
    file: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    rtl: rtl::RtlArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Json<'a> {
    algorithm: &'a str,
    file: String,
    engine: &'a str,
    passed: usize,
    failed: &'a [Failure],
    skipped: &'a [Skip],
    /// What computed although nobody has signed or proven it.
    unproven: &'a [String],
}

pub fn run(args: &Args) -> Result<Outcome> {
    let mut unproven = Vec::new();
    let report = if args.algorithm.eq_ignore_ascii_case("esp") {
        if args.rtl.asked() {
            bail!("a slot on its own knows no packets: `esp` runs on an engine");
        }
        let mut engine = engines::open(&args.engine, args.policy.policy, 0)?;
        let report = packets(&args.file, &mut engine)?;
        unproven = loaded_unproven(&engine);
        report
    } else {
        let subject = Subject::by_name(&args.algorithm).ok_or_else(|| {
            let names = Subject::names();
            let known: Vec<&str> = names.iter().map(String::as_str).chain(["esp"]).collect();
            let meant = meant(&args.algorithm, &known);
            anyhow!("unknown algorithm `{}`;{meant} there are {}", args.algorithm, known.join(", "))
        })?;
        let answers = KnownAnswers::read(subject, &args.file)?;
        let rtl = args.rtl.open(&args.algorithm)?;
        let (mut engine, waveforms) = match rtl {
            Some((engine, waveforms)) => (engine, waveforms),
            None => (engines::open(&args.engine, args.policy.policy, 0)?, None),
        };
        let bar = if args.json || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        let report = kat::run_with_progress(&answers, &mut engine, &mut |done, total| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        unproven.extend(loaded_unproven(&engine));
        // The slot ends its waveforms when it is gone.
        drop(engine);
        waveforms.map_or(Ok(()), rtl::Waveforms::keep)?;
        report
    };
    let engine = match args.rtl.asked() {
        true => "rtl".to_owned(),
        false => args.engine.engine.to_string(),
    };
    if args.json {
        print_json(&Json {
            algorithm: &args.algorithm,
            file: args.file.display().to_string(),
            engine: &engine,
            passed: report.passed,
            failed: &report.failed,
            skipped: &report.skipped,
            unproven: &unproven,
        })?;
    } else {
        if !unproven.is_empty() {
            println!("nobody has signed or proven, and --unproven has loaded: {}", unproven.join(", "));
        }
        print(&report, &args.file);
    }
    if report.passed + report.failed.len() == 0 {
        eprintln!("ace: no row of {} could be run", args.file.display());
    }
    Ok(if report.is_success() { Outcome::Well } else { Outcome::Wrong })
}

/// What a board has loaded of that which nobody has signed or proven.
fn loaded_unproven(engine: &AnyEngine) -> Vec<String> {
    let report = engine.report();
    report.iter().flat_map(|board| board.unproven()).map(|one| one.name.clone()).collect()
}

fn print(report: &Report, file: &Path) {
    for failure in report.failed.iter().take(SHOWN) {
        println!("{}:{}: {} ({})", file.display(), failure.line, failure.step, failure.source);
        println!("  expected {}", failure.expected);
        println!("  got      {}", failure.got);
    }
    if report.failed.len() > SHOWN {
        println!("… and {} more failing rows (--json lists them all)", report.failed.len() - SHOWN);
    }
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for skip in &report.skipped {
        match reasons.iter_mut().find(|(reason, _)| *reason == skip.reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((&skip.reason, 1)),
        }
    }
    for (reason, count) in reasons {
        println!("skipped {count}: {reason}");
    }
    let skipped = match report.skipped.len() {
        0 => String::new(),
        count => format!(", {count} skipped"),
    };
    println!("{} passed, {} failed{skipped}", report.passed, report.failed.len());
}

/// Whole ESP packets, sealed and opened.
fn packets(file: &Path, engine: &mut AnyEngine) -> Result<Report> {
    use ace_ipsec::kat::{Outcome as Row, check};

    let bytes = ace_fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let headers = reader.headers().with_context(|| format!("{}", file.display()))?;
    if !headers.iter().any(|name| name == "esp_hex") {
        bail!("{}: no column `esp_hex`: not a file of ESP packets", file.display());
    }
    let mut report = Report::default();
    for (number, row) in reader.deserialize::<ace_ipsec::kat::Row>().enumerate() {
        let row = row.with_context(|| format!("{}", file.display()))?;
        let (line, source) = (number as u64 + 2, format!("{} {}", row.source, row.case));
        match check(&row, engine) {
            Row::Passed => report.passed += 1,
            Row::Skipped(reason) => report.skipped.push(Skip { line, source, reason }),
            Row::Failed(got) => report.failed.push(Failure {
                line,
                source,
                step: "packet".into(),
                expected: "the published packet and payload".into(),
                got,
            }),
        }
    }
    if report.passed + report.failed.len() + report.skipped.len() == 0 {
        bail!("{}: no rows below the header", file.display());
    }
    Ok(report)
}
