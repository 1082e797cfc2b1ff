// SPDX-License-Identifier: Apache-2.0
//! Known answers for whole ESP packets. Rows are about packets, not about SA files: keys of any length and any
//! SPI go.

use ace_engine::engine::run_one;
use ace_engine::{Action, Buffer, Engine, EngineError, Operation};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::model::{AuthSuite, CIPHERS, CipherSuite};
use crate::packet::esp::{self as packet, PacketError, SealInput};
use crate::packet::transform::Transform;

/// Bytes in front of ESP.
const FRONT: usize = 20;

/// One row of a known-answer file. All bytes are hex; an empty field means there is none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Row {
    /// The document or tool that published the packet.
    pub source: String,
    /// Which of the source's packets it is, for reports.
    pub case: String,
    /// `ESP`; anything else is skipped.
    pub proto: String,
    /// IP version around the packet; not looked at, as ESP is the same in both.
    pub ipver: String,
    /// `tunnel` or `transport`; not looked at, as the payload is stated whole.
    pub mode: String,
    /// The cipher with its mode, as in SA files; the key's length may be missing.
    pub enc_alg: String,
    /// The cipher's key, without salt.
    pub enc_key_hex: String,
    /// The nonce that suites like AES-GCM take from the key material (RFC 4106, 4).
    pub salt_hex: String,
    /// The authentication, as in SA files; empty with combined modes.
    pub auth_alg: String,
    /// The key of the authentication.
    pub auth_key_hex: String,
    /// Bytes, decimal.
    pub icv_len: String,
    /// The Security Parameters Index.
    pub spi_hex: String,
    /// The 32 bits of sequence number in the packet.
    pub seq_hex: String,
    /// The high half of an extended sequence number; empty if there is none.
    pub esn_hi_hex: String,
    /// The IV in the packet.
    pub iv_hex: String,
    /// What ESP carries: a whole packet in tunnel mode.
    pub payload_hex: String,
    /// Decimal.
    pub next_header: String,
    /// Payload, padding, pad length, next header.
    pub esp_plaintext_hex: String,
    /// From SPI to ICV.
    pub esp_hex: String,
    /// The IP header in front of ESP; not looked at.
    pub outer_hex: String,
    /// How the source checked the packet, for people; not looked at.
    pub check: String,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The engine made the published packet, and opened it to the payload.
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
    let mut keymat = Zeroizing::new(bytes("enc_key_hex", &row.enc_key_hex)?);
    keymat.extend(bytes("salt_hex", &row.salt_hex)?);
    let auth_key = Zeroizing::new(bytes("auth_key_hex", &row.auth_key_hex)?);
    let transform = Transform::new(cipher, &keymat, auth, &auth_key)
        .map_err(|error| Outcome::Failed(format!("keys: {error}")))?;
    let (high, esn) = match row.esn_hi_hex.as_str() {
        "" => (0, false),
        high => (number::<u32>("esn_hi_hex", high, 16)?, true),
    };
    let low: u32 = number("seq_hex", &row.seq_hex, 16)?;
    let sequence = u64::from(high) << 32 | u64::from(low);
    let input = SealInput {
        spi: number("spi_hex", &row.spi_hex, 16)?,
        sequence,
        esn,
        iv: &iv,
        next_header,
        // The sender's choice, within the block.
        pad_len: plaintext.len().checked_sub(2).and_then(|at| plaintext.get(at).copied()),
    };

    // In front of ESP there is a header that is not looked at.
    let mut buffer = Buffer::from_packet(&payload, FRONT + transform.esp_header_len(), 64);
    buffer.push_front(FRONT + transform.esp_header_len());
    let mut action = None;
    let take = |_: &mut Buffer, emitted| action = emitted;
    packet::seal(&transform, &mut buffer, FRONT, input, take).map_err(packet_failed("sealing"))?;
    let sealed = run(engine, action, buffer)?;
    equal("sealed packet", sealed.get(FRONT..).unwrap_or_default(), &esp)?;

    let mut buffer = Buffer::from_packet(&esp, FRONT, 64);
    buffer.push_front(FRONT);
    let mut action = None;
    let take = |_: &mut Buffer, emitted| action = emitted;
    packet::open(&transform, &mut buffer, FRONT, sequence, esn, take).map_err(packet_failed("opening"))?;
    let opened = run(engine, action, buffer)?;
    let (end, found) = packet::finish(&transform, &opened, FRONT).map_err(packet_failed("opening"))?;
    let inside = opened.get(FRONT + transform.esp_header_len()..end).unwrap_or_default();
    equal("opened payload", inside, &payload)?;
    if found != next_header {
        let text = format!("opened next header is {found}, published is {next_header}");
        return Err(Outcome::Failed(text));
    }
    Ok(())
}

fn suites(row: &Row) -> Result<(&'static CipherSuite, &'static AuthSuite), Outcome> {
    let skipped = |what: String| Err(Outcome::Skipped(what));
    if !row.proto.eq_ignore_ascii_case("esp") {
        return skipped(format!("protocol {}", row.proto));
    }
    // The length tells the suites of a cipher apart; a length that no suite has is the row's mistake or not built.
    let key_bits = row.enc_key_hex.len() * 4;
    let name = row.enc_alg.to_ascii_lowercase();
    let name = name.strip_prefix("null-auth-").unwrap_or(&name);
    let cipher = match name {
        "null" | "none" | "" => CipherSuite::by_name("null"),
        // One key length, or the key length before the mode and its ICV.
        name => CIPHERS.iter().find(|suite| {
            let (cipher, mode) = name.split_once('-').unwrap_or((name, ""));
            suite.key_len * 8 == key_bits
                && (suite.name == name || suite.name == format!("{cipher}-{key_bits}-{mode}"))
        }),
    };
    let Some(cipher) = cipher else {
        return skipped(format!("cipher {} with a key of {key_bits} bits", row.enc_alg));
    };
    let auth = match row.auth_alg.to_ascii_lowercase().replace("sha-", "sha").replace("sha2-", "sha").as_str()
    {
        "hmac-sha1" => "hmac-sha1-96".to_owned(),
        "hmac-md5" => "hmac-md5-96".to_owned(),
        "null" | "none" | "" => "none".to_owned(),
        name => name.to_owned(),
    };
    match AuthSuite::by_name(&auth) {
        Some(auth) => Ok((cipher, auth)),
        None => skipped(format!("authentication {}", row.auth_alg)),
    }
}

fn run(engine: &mut dyn Engine, action: Option<Action>, buffer: Buffer) -> Result<Buffer, Outcome> {
    let Some(action) = action else { return Ok(buffer) };
    run_one(engine, Operation { action, buffer }).map_err(|error| match error {
        EngineError::NoConfiguration { .. } => Outcome::Skipped(engine.explain(&error)),
        _ => Outcome::Failed(engine.explain(&error)),
    })
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
