// SPDX-License-Identifier: Apache-2.0

use std::path::Path;

use super::*;
use std::collections::VecDeque;

use crate::algorithm::{AES, DES, MD5, SHA1, TDES};
use crate::compute;
use crate::configuration::ConfigurationId;
use crate::engine::{Capabilities, Completion, Engine, Job};
use crate::error::EngineError;
use crate::need::Need;
use crate::operation::Action;
use crate::software::CpuEngine;

const CIPHER: &str = "source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex\n";
const AEAD: &str = "source,key_hex,iv_hex,aad_hex,plaintext_hex,ciphertext_hex,tag_hex,result\n";
const DIGEST: &str = "source,key_hex,message_hex,digest_hex\n";

fn parse(subject: &str, name: &str, text: &str) -> Result<KnownAnswers, KatError> {
    KnownAnswers::parse(Subject::by_name(subject).expect("a subject"), Path::new(name), text.as_bytes())
}

fn report(subject: &str, name: &str, text: &str) -> Report {
    run(&parse(subject, name, text).unwrap_or_else(|error| panic!("{error}")), &mut CpuEngine::new())
}

/// Passed, failed, skipped.
fn counts(report: &Report) -> (usize, usize, usize) {
    (report.passed, report.failed.len(), report.skipped.len())
}

#[test]
fn subjects_have_names() {
    assert_eq!(Subject::by_name("aes"), Some(Subject::Cipher(&AES)));
    assert_eq!(Subject::by_name("TDES"), Some(Subject::Cipher(&TDES)));
    assert_eq!(Subject::by_name("md5"), Some(Subject::Hash(&MD5)));
    assert_eq!(Subject::by_name("hmac_md5"), Some(Subject::Mac(Mac::Hmac(&MD5), None)));
    assert_eq!(Subject::by_name("hmac_sha1_96"), Some(Subject::Mac(Mac::Hmac(&SHA1), Some(12))));
    assert_eq!(Subject::by_name("HMAC-SHA-1-160"), Some(Subject::Mac(Mac::Hmac(&SHA1), Some(20))));
    assert_eq!(Subject::by_name("AES_XCBC_96"), Some(Subject::Mac(Mac::Xcbc, Some(12))));
    assert_eq!(Subject::by_name("gmac"), Some(Subject::Aead(Aead::Gcm)));
    let no_hmac =
        ["", "hmac", "hmac-", "hmac-aes", "hmac-aes-96", "hmac-md5-136", "hmac-md5-95", "hmac-md5-0"];
    for wrong in no_hmac.into_iter().chain(["aes-cmac-136", "aes-gcm-96", "chacha20"]) {
        assert_eq!(Subject::by_name(wrong), None, "{wrong}");
    }
    for name in Subject::names() {
        assert_eq!(Subject::by_name(&name).map(|s| s.to_string()), Some(name));
    }
}

#[test]
fn errors_name_file_and_line() {
    let error =
        |subject: &str, text: &str| parse(subject, "some.csv", text).expect_err("refused").to_string();
    assert_eq!(error("aes", " \n\n"), "some.csv: the file is empty");
    assert_eq!(error("aes", CIPHER), "some.csv: no rows below the header");
    assert!(error("aes", DIGEST).starts_with("some.csv line 1: no column `mode`"));
    assert!(error("md5", CIPHER).starts_with("some.csv line 1: no column `message_hex`"));
    // A column that nobody would look at is named.
    let more = DIGEST.replace("source", "source,result");
    let unknown = error("sha1", &more);
    assert!(unknown.starts_with("some.csv line 1: column `result` says nothing"), "{unknown}");
    assert!(error("aes-gcm", DIGEST).starts_with("some.csv line 1: no column `iv_hex`"));
    let verdict = format!("{AEAD}a,00,,,,,00,maybe\n");
    assert!(error("aes-gcm", &verdict).starts_with("some.csv line 2: column `result`: `maybe`"));
    let row = |row: &str| format!("{CIPHER}a,ECB,00,,00,00\n{row}\n");
    assert!(error("aes", &row("b,ECB,0g,,00,00")).starts_with("some.csv line 3: column `key_hex`"));
    assert!(error("aes", &row("b,ECB,000,,00,00")).starts_with("some.csv line 3: column `key_hex`"));
    assert!(error("aes", &row("b,ECB,00,,00")).starts_with("some.csv line 3: "));
    assert!(error("sha1", &format!("{DIGEST}a,,61,\n")).starts_with("some.csv line 2: column `digest_hex`"));
    let repeat = |count: &str| format!("source,key_hex,unit_hex,count,digest_hex\na,,61,{count},00\n");
    for count in ["", "-1", "x", "18446744073709551615", "18446744073709551616"] {
        assert!(error("md5", &repeat(count)).starts_with("some.csv line 2: "), "{count}");
    }
    let read = |name: &str| KnownAnswers::read(Subject::Hash(&MD5), Path::new(name)).expect_err("refused");
    assert!(matches!(read("-"), KatError::NotAFile(_)));
    assert!(matches!(read("/nowhere/md5.csv"), KatError::Io { .. }));
    assert!(parse("aes", "aes_invalid.csv", &row("b,ECB,00,,00,00")).is_err());
}

#[test]
fn no_bytes_panic() {
    let mut seed = 7u64;
    for round in 0..2000usize {
        let mut text = format!("{CIPHER}a,CBC-MCT-ENC-1,00,00,00,00\n\"q\"\"\",CTR,,,,\n").into_bytes();
        for _ in 0..=round % 9 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (seed >> 33) as usize % text.len();
            text[at] = (seed >> 25) as u8;
        }
        if let Ok(answers) = KnownAnswers::parse(Subject::Cipher(&AES), Path::new("x"), &text) {
            run(&answers, &mut CpuEngine::new());
        }
    }
}

#[test]
fn a_wrong_row_fails_with_both_answers() {
    let key = "000102030405060708090a0b0c0d0e0f";
    let (plain, wrong) = ("00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55b");
    let report = report("aes", "aes.csv", &format!("{CIPHER}fips,ECB,{key},,{plain},{wrong}\n"));
    assert!(!report.is_success());
    let failure = &report.failed[0];
    assert_eq!((failure.line, failure.source.as_str(), failure.step.as_str()), (2, "fips", "encrypt"));
    assert_eq!(
        (failure.expected.as_str(), failure.got.as_str()),
        (wrong, "69c4e0d86a7b0430d8cdb78070b4c55a")
    );
}

#[test]
fn what_cannot_be_run_is_skipped_or_failed_never_passed() {
    let text = format!(
        "{CIPHER}a,CFB1,{k},{k},{k},{k}\nb,ECB,{short},,{k},{k}\nc,ECB-MCT-ENC-0,{k},,{k},{k}\n\
         d,CBC-MCT-DEC-x,{k},{k},{k},{k}\ne,CBC,{k},,{k},{k}\nf,ECB,{k},,{short},{short}\n\
         g,ECB-MCT-ENC-5,{k},,{k}00,{k}00\nh,ECB-MCT-ENC-5,{k},,,{k}\n",
        k = "00".repeat(16),
        short = "00".repeat(15),
    );
    let report_of_text = report("aes", "aes.csv", &text);
    assert_eq!(counts(&report_of_text), (0, 4, 4), "{report_of_text:#?}");
    assert!(!report_of_text.is_success());
    let names: Vec<_> = report_of_text.skipped.iter().map(|skip| skip.source.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);

    let hashes =
        format!("{DIGEST}a,,,d41d8cd98f00b204e9800998ecf8427e00\nb,00,,d41d8cd98f00b204e9800998ecf8427e\n");
    assert_eq!(counts(&report("md5", "md5.csv", &hashes)), (0, 1, 1));
    let macs = format!("{DIGEST}a,4a656665,,00\nb,4a656665,,{}\n", "00".repeat(21));
    assert_eq!(counts(&report("hmac-sha1", "h.csv", &macs)), (0, 2, 0));
    assert_eq!(counts(&report("hmac-sha1-96", "h.csv", &macs)), (0, 0, 2));
}

#[test]
fn forgeries_pass_when_they_do_not_verify() {
    let message = "7768617420646f2079612077616e7420666f72206e6f7468696e673f";
    let good = format!("{DIGEST}x,4a656665,{message},750c783e6ab0b503eaa86e310a5db738\n");
    let bad = good.replace("750c", "760c");
    assert_eq!(counts(&report("hmac-md5", "hmac_md5.csv", &good)), (1, 0, 0));
    assert_eq!(counts(&report("hmac-md5", "hmac_md5.csv", &bad)), (0, 1, 0));
    assert_eq!(counts(&report("hmac-md5", "hmac_md5_invalid.csv", &bad)), (1, 0, 0));
    assert_eq!(counts(&report("hmac-md5", "hmac_md5_invalid.csv", &good)), (0, 1, 0));
}

/// ECB step by step, as the mode's name says.
fn ecb(direction: Direction, key: &[u8], n: usize, block: &[u8]) -> Vec<u8> {
    (0..n).fold(block.to_vec(), |data, _| {
        compute::cipher(&DES, Mode::Ecb, direction, key, &[], &data).expect("a block")
    })
}

#[test]
fn ecb_chains_are_what_single_steps_give() {
    let (key, block) = ([0x13, 0x34, 0x57, 0x79, 0x9b, 0xbc, 0xdf, 0xf1], [0x5a; 8]);
    for n in [1, 2, 3, 4, 17, 100] {
        let (k, b) = (hex::encode(key), hex::encode(block));
        let up = hex::encode(ecb(Direction::Encrypt, &key, n, &block));
        let down = hex::encode(ecb(Direction::Decrypt, &key, n, &block));
        let text = format!(
            "{CIPHER}a,ECB-MCT-ENC-{n},{k},,{b},{up}\nb,ECB-MCT-DEC-{n},{k},,{down},{b}\n\
             c,ECB-MCT-ENC-{},{k},,{b},{up}\nd,ECB-MCT-DEC-{},{k},,{down},{b}\n",
            n + 1,
            n + 1
        );
        assert_eq!(counts(&report("des", "des.csv", &text)), (2, 2, 0));
    }
}

#[test]
fn cbc_decryption_chains_come_in_two_kinds() {
    // Both answers from a step-by-step computation with OpenSSL's AES-128-ECB.
    let row = |source: &str, plain: &str| {
        format!(
            "{CIPHER}{source},CBC-MCT-DEC-25,000102030405060708090a0b0c0d0e0f,\
             101112131415161718191a1b1c1d1e1f,{plain},202122232425262728292a2b2c2d2e2f\n"
        )
    };
    let (cavp, other) = ("c319c216746d0456c7c11f8df634f7a3", "6dbe63e05abf210ff15622df3c8c466b");
    for (source, plain, passes) in [
        ("cavp:CBCMCT128", cavp, true),
        ("nist_cavp:CBCMCT128", cavp, true),
        ("submission", other, true),
        ("cavp:CBCMCT128", other, false),
        ("submission", cavp, false),
    ] {
        assert_eq!(report("aes", "aes.csv", &row(source, plain)).is_success(), passes, "{source} {plain}");
    }
}

/// Encrypts as the CPU does; decrypts wrongly, refuses to, or forgets to answer.
struct Lame(CpuEngine, fn(Completion) -> Option<Completion>, bool);

impl Engine for Lame {
    fn name(&self) -> &'static str {
        "lame"
    }

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        let decrypts =
            |job: &Job| matches!(job.operation.action, Action::Cipher { direction: Direction::Decrypt, .. });
        self.2 |= jobs.iter().any(decrypts);
        self.0.try_submit(jobs);
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        let lame = std::mem::take(&mut self.2);
        let mut all = Vec::new();
        self.0.drain(&mut all);
        // The decryptions of two rows follow their encryptions.
        let answers = all.into_iter().enumerate();
        done.extend(answers.filter_map(|(i, done)| if lame && i >= 2 { (self.1)(done) } else { Some(done) }));
        0
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.drain(done)
    }
}

impl Lame {
    fn counts(answer: fn(Completion) -> Option<Completion>, text: &str) -> (usize, usize, usize) {
        let answers = parse("des", "des.csv", text).expect("rows");
        counts(&run(&answers, &mut Lame(CpuEngine::new(), answer, false)))
    }
}

#[test]
fn both_directions_must_succeed() {
    let row = "a,ECB,0123456789abcdef,,4e6f772069732074,3fa40e8a984d4815\n";
    let text = format!("{CIPHER}{row}{row}");
    assert_eq!(Lame::counts(Some, &text), (2, 0, 0));
    let wrong = |mut done: Completion| {
        done.buffer[0] ^= 1;
        Some(done)
    };
    assert_eq!(Lame::counts(wrong, &text), (0, 2, 0));
    let none = |done: Completion| {
        let need = Need::Hash { algorithm: &MD5 };
        Some(Completion { result: Err(EngineError::NoConfiguration { need }), ..done })
    };
    assert_eq!(Lame::counts(none, &text), (0, 0, 2));
    let refused = |done: Completion| {
        let configuration = ConfigurationId::from_index(0);
        Some(Completion { result: Err(EngineError::LoadFailed { configuration }), ..done })
    };
    assert_eq!(Lame::counts(refused, &text), (0, 2, 0));
    assert_eq!(Lame::counts(|_| None, &text), (0, 2, 0));
}

#[test]
fn progress_ends_at_all_tasks() {
    let row = "a,ECB,0123456789abcdef,,4e6f772069732074,3fa40e8a984d4815\n";
    let answers = parse("des", "des.csv", &format!("{CIPHER}{}", row.repeat(700))).expect("rows");
    let mut last = (0, 0);
    let report = run_with_progress(&answers, &mut CpuEngine::new(), &mut |done, total| {
        assert!(done > last.0);
        last = (done, total);
    });
    assert_eq!((last, counts(&report)), ((1400, 1400), (700, 0, 0)));
}
