// SPDX-License-Identifier: Apache-2.0
//! Known answers for whole ESP packets. Rows are about packets, not about SA files: keys of any length and any
//! SPI go.

use std::sync::Arc;

use ace_engine::engine::run_one;
use ace_engine::{Algorithm, Engine, Mode, Operation, Secret};
use serde::Deserialize;

use crate::packet::{Open, OpenStep, Opened, PacketError, Seal, SealInput, SealStep, Transform};
use crate::suite::{AuthSuite, CIPHERS, CipherSuite};

/// One row of a known-answer file. All bytes are hex; an empty field means there is none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Row {
    pub source: String,
    pub case: String,
    /// `ESP`; anything else is skipped.
    pub proto: String,
    pub ipver: String,
    pub mode: String,
    pub enc_alg: String,
    pub enc_key_hex: String,
    pub salt_hex: String,
    pub auth_alg: String,
    pub auth_key_hex: String,
    /// Bytes, decimal.
    pub icv_len: String,
    pub spi_hex: String,
    pub seq_hex: String,
    pub esn_hi_hex: String,
    pub iv_hex: String,
    pub payload_hex: String,
    /// Decimal.
    pub next_header: String,
    /// Payload, padding, pad length, next header.
    pub esp_plaintext_hex: String,
    /// From SPI to ICV.
    pub esp_hex: String,
    pub outer_hex: String,
    pub check: String,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// What differs.
    Failed(String),
    /// Why the row could not be tried.
    Skipped(String),
}

/// Seals the row's payload and opens the published packet, both by `engine`.
pub fn check(row: &Row, engine: &mut dyn Engine) -> Outcome {
    match try_check(row, engine) {
        Ok(()) => Outcome::Passed,
        Err(outcome) => outcome,
    }
}

fn try_check(row: &Row, engine: &mut dyn Engine) -> Result<(), Outcome> {
    let (cipher, auth) = suites(row)?;
    let esp = bytes("esp_hex", &row.esp_hex)?;
    let payload = bytes("payload_hex", &row.payload_hex)?;
    let plaintext = bytes("esp_plaintext_hex", &row.esp_plaintext_hex)?;
    let iv = bytes("iv_hex", &row.iv_hex)?;
    let next_header: u8 = number("next_header", &row.next_header, 10)?;
    let mut keymat = bytes("enc_key_hex", &row.enc_key_hex)?;
    keymat.extend(bytes("salt_hex", &row.salt_hex)?);
    let auth_key = Secret::new(bytes("auth_key_hex", &row.auth_key_hex)?);
    let icv_len = if row.icv_len.is_empty() { auth.icv_len } else { number("icv_len", &row.icv_len, 10)? };
    let transform = Transform::new(cipher, keymat, auth, auth_key, icv_len).map_err(packet_failed("keys"))?;
    let transform = Arc::new(transform);
    let sequence_high = match row.esn_hi_hex.as_str() {
        "" => None,
        high => Some(number("esn_hi_hex", high, 16)?),
    };
    let input = SealInput {
        spi: number("spi_hex", &row.spi_hex, 16)?,
        sequence: number("seq_hex", &row.seq_hex, 16)?,
        sequence_high,
        iv: &iv,
        payload: &payload,
        next_header,
        // The sender's choice, within the block.
        pad_len: plaintext.len().checked_sub(2).and_then(|at| plaintext.get(at).copied()),
    };

    let sealed = seal(&transform, input, engine)?;
    equal("sealed packet", &sealed, &esp)?;
    let opened = open(&transform, esp, sequence_high, engine)?;
    equal("opened payload", &opened.payload, &payload)?;
    if opened.next_header != next_header {
        let text = format!("opened next header is {}, published is {next_header}", opened.next_header);
        return Err(Outcome::Failed(text));
    }
    Ok(())
}

fn suites(row: &Row) -> Result<(&'static CipherSuite, &'static AuthSuite), Outcome> {
    let skipped = |what: String| Err(Outcome::Skipped(what));
    if !row.proto.eq_ignore_ascii_case("esp") {
        return skipped(format!("protocol {}", row.proto));
    }
    let name = row.enc_alg.to_ascii_lowercase();
    let algorithm = |name| Algorithm::by_name(name);
    let wanted = match name.rsplit_once('-') {
        _ if ["null", "none", ""].contains(&name.as_str()) => None,
        Some((name, "cbc")) => Some((algorithm(name), Mode::Cbc)),
        Some((name, "ctr")) => Some((algorithm(name), Mode::Ctr)),
        _ => Some((None, Mode::Cbc)),
    };
    if let Some((None, _)) = wanted {
        return skipped(format!("cipher {}", row.enc_alg));
    }
    // The length tells the suites of a cipher apart; a length that no suite has is the row's mistake or not built.
    let key_len = row.enc_key_hex.len() / 2;
    let cipher = CIPHERS.iter().find(|suite| match (&suite.pass, wanted) {
        (None, None) => true,
        (Some((algorithm, mode)), Some((Some(wanted), wanted_mode))) => {
            *algorithm == wanted && *mode == wanted_mode && suite.key_len == key_len
        }
        _ => false,
    });
    let Some(cipher) = cipher else {
        return skipped(format!("cipher {} with a key of {key_len} bytes", row.enc_alg));
    };
    let auth = match row.auth_alg.to_ascii_uppercase().as_str() {
        "HMAC-SHA1-96" | "HMAC-SHA-1-96" | "HMAC-SHA1" | "HMAC-SHA-1" => "hmac-sha1-96",
        "HMAC-MD5-96" | "HMAC-MD5" => "hmac-md5-96",
        "NULL" | "NONE" | "" => "none",
        _ => return skipped(format!("authentication {}", row.auth_alg)),
    };
    match AuthSuite::by_name(auth) {
        Some(auth) => Ok((cipher, auth)),
        None => skipped(format!("authentication {}", row.auth_alg)),
    }
}

fn seal(
    transform: &Arc<Transform>,
    input: SealInput<'_>,
    engine: &mut dyn Engine,
) -> Result<Vec<u8>, Outcome> {
    let mut step = Seal::begin(transform, input).map_err(packet_failed("sealing"))?;
    loop {
        match step {
            SealStep::Done(esp) => return Ok(esp),
            SealStep::Run(seal, operation) => {
                let result = execute(engine, operation)?;
                step = seal.advance(result).map_err(packet_failed("sealing"))?;
            }
        }
    }
}

fn open(
    transform: &Arc<Transform>,
    esp: Vec<u8>,
    sequence_high: Option<u32>,
    engine: &mut dyn Engine,
) -> Result<Opened, Outcome> {
    let mut step = Open::begin(transform, esp, sequence_high).map_err(packet_failed("opening"))?;
    loop {
        match step {
            OpenStep::Done(opened) => return Ok(opened),
            OpenStep::Run(open, operation) => {
                let result = execute(engine, operation)?;
                step = open.advance(result).map_err(packet_failed("opening"))?;
            }
        }
    }
}

fn execute(engine: &mut dyn Engine, operation: Operation) -> Result<Vec<u8>, Outcome> {
    run_one(engine, operation).map_err(|error| Outcome::Failed(error.to_string()))
}

fn packet_failed(doing: &'static str) -> impl Fn(PacketError) -> Outcome {
    move |error| Outcome::Failed(format!("{doing}: {error}"))
}

fn equal(what: &str, found: &[u8], published: &[u8]) -> Result<(), Outcome> {
    if found == published {
        return Ok(());
    }
    Err(Outcome::Failed(format!("{what} is {}, published is {}", hex::encode(found), hex::encode(published))))
}

fn bytes(field: &str, digits: &str) -> Result<Vec<u8>, Outcome> {
    hex::decode(digits).map_err(|error| Outcome::Failed(format!("{field}: {error}")))
}

fn number<T: TryFrom<u64>>(field: &str, digits: &str, radix: u32) -> Result<T, Outcome> {
    let parsed = u64::from_str_radix(digits, radix).ok().and_then(|number| T::try_from(number).ok());
    parsed.ok_or_else(|| Outcome::Failed(format!("{field}: `{digits}` is not a number of that size")))
}
