// SPDX-License-Identifier: Apache-2.0
//! The tables of suites, from suites.toml: each row with `{bits}` once for every length of its key.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    no_suites: Vec<String>,
    cipher: Vec<Cipher>,
    auth: Vec<Auth>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cipher {
    name: String,
    block: Option<String>,
    mode: Option<String>,
    aead: Option<String>,
    #[serde(default)]
    key_bits: Vec<usize>,
    #[serde(default)]
    nonce: usize,
    #[serde(default)]
    icv: usize,
    #[serde(default)]
    implicit_iv: bool,
    rfc: Option<String>,
    legacy: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    iana: Option<String>,
    #[serde(default)]
    kernel: Vec<String>,
    wireshark: Option<String>,
    wireshark_after: Option<String>,
    /// Read by the tests against scapy.
    #[serde(rename = "scapy")]
    _scapy: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Auth {
    name: String,
    hmac: Option<String>,
    mac: Option<String>,
    key: usize,
    icv: usize,
    rfc: String,
    legacy: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    iana: Option<String>,
    #[serde(default)]
    kernel: Vec<String>,
    kernel_icv: Option<usize>,
    wireshark: Option<String>,
    #[serde(rename = "scapy")]
    _scapy: Option<String>,
}

const FILE: &str = "suites.toml";
/// Bytes of ICV that Linux takes where nothing is said.
const KERNEL_ICV: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed={FILE}");
    if let Err(why) = run() {
        println!("cargo::error={why}");
        std::process::exit(1);
    }
}

/// An error is said to whoever builds, and nobody looks into it.
type Outcome = Result<(), Box<dyn Error>>;

fn run() -> Outcome {
    let text = fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
    let table: Table = toml::from_str(&text).map_err(|error| format!("crates/ace-ipsec/{FILE}: {error}"))?;
    let mut out = String::from("static ROWS: &[Row] = &[\n");
    for row in &table.cipher {
        cipher(&mut out, row).map_err(|why| format!("crates/ace-ipsec/{FILE}: {:?}: {why}", row.name))?;
    }
    let _ = write!(out, "];\nstatic NO_SUITES: &[&str] = &{:?};\n", table.no_suites);
    out.push_str("static AUTH_ROWS: &[AuthRow] = &[\n");
    for row in &table.auth {
        auth(&mut out, row).map_err(|why| format!("crates/ace-ipsec/{FILE}: {:?}: {why}", row.name))?;
    }
    out.push_str("];\n");
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("suites.rs"), out)?)
}

fn cipher(out: &mut String, row: &Cipher) -> Outcome {
    let kind = match (&row.block, row.mode.as_deref(), row.aead.as_deref()) {
        (None, None, None) => "RowKind::Null".to_owned(),
        (Some(block), Some("cbc"), None) => format!("RowKind::Cbc({block:?})"),
        (Some(block), Some("ctr"), None) => format!("RowKind::Ctr({block:?})"),
        (None, None, Some("gcm")) => "RowKind::Aead(Aead::Gcm)".into(),
        (None, None, Some("ccm")) => "RowKind::Aead(Aead::Ccm)".into(),
        (None, None, Some("chacha20-poly1305")) => "RowKind::Aead(Aead::ChaCha20Poly1305)".into(),
        (None, None, Some("gmac")) => "RowKind::Gmac".into(),
        _ => {
            return Err(
                "`block` with `mode` cbc or ctr, or `aead`: gcm, ccm, chacha20-poly1305 or gmac; or none \
                        of the three"
                    .into(),
            );
        }
    };
    let lengths = if row.key_bits.is_empty() { &[0][..] } else { &row.key_bits };
    if lengths.len() > 1 && !row.name.contains("{bits}") {
        return Err("several `key_bits` want {bits} in `name`".into());
    }
    for bits in lengths {
        if bits % 8 != 0 {
            return Err(format!("`key_bits`: {bits} is no multiple of 8").into());
        }
        let named = |text: &String| text.replace("{bits}", &bits.to_string());
        let aliases: Vec<String> = row.aliases.iter().map(named).collect();
        let after = row.wireshark_after.as_deref().map(release).transpose()?;
        let names = names(&aliases, row.iana.as_deref(), &row.kernel, row.wireshark.as_deref(), after);
        let (key, nonce, icv, implicit) = (bits / 8, row.nonce, row.icv, row.implicit_iv);
        writeln!(
            out,
            "Row {{ name: {:?}, kind: {kind}, key_len: {key}, nonce_len: {nonce}, icv_len: {icv}, implicit: \
             {implicit}, rfc: {:?}, legacy: {:?}, names: {names} }},",
            named(&row.name),
            row.rfc,
            row.legacy
        )?;
    }
    Ok(())
}

fn auth(out: &mut String, row: &Auth) -> Outcome {
    let mac = match (&row.hmac, row.mac.as_deref()) {
        (None, None) => "RowMac::None".to_owned(),
        (Some(hash), None) => format!("RowMac::Hmac({hash:?})"),
        (None, Some("xcbc")) => "RowMac::Xcbc".into(),
        (None, Some("cmac")) => "RowMac::Cmac".into(),
        _ => return Err("`hmac` with a hash, or `mac`: xcbc or cmac; or neither".into()),
    };
    let names = names(&row.aliases, row.iana.as_deref(), &row.kernel, row.wireshark.as_deref(), None);
    let kernel_icv = row.kernel_icv.unwrap_or(KERNEL_ICV);
    Ok(writeln!(
        out,
        "AuthRow {{ name: {:?}, mac: {mac}, key_len: {}, icv_len: {}, rfc: {:?}, legacy: {:?}, kernel_icv: \
         {kernel_icv}, names: {names} }},",
        row.name, row.key, row.icv, row.rfc, row.legacy
    )?)
}

fn names(
    aliases: &[String],
    iana: Option<&str>,
    kernel: &[String],
    wireshark: Option<&str>,
    after: Option<(u32, u32)>,
) -> String {
    format!(
        "ForeignNames {{ aliases: &{aliases:?}, iana: {iana:?}, kernel: &{kernel:?}, wireshark: {wireshark:?}, \
         wireshark_after: {after:?} }}"
    )
}

fn release(text: &str) -> Result<(u32, u32), Box<dyn Error>> {
    let numbers = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let wrong = || format!("`wireshark_after`: {text:?}; a release is two numbers, as in 4.0");
    Ok(numbers.ok_or_else(wrong)?)
}
