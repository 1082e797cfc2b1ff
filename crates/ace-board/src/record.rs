// SPDX-License-Identifier: Apache-2.0
//! Records of proofs (docs/proof.md): which say that bits are proven, and which do not.

use serde::Deserialize;

/// The format of records that counts (`RECORD` in `flow/ace_flow/prove.py`): what an older one was asked, is not enough.
pub const FORMAT: u64 = 3;

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    format: u64,
    result: String,
    points: u64,
    memory_sha256: String,
    netlist_sha256: String,
    control: Control,
}

/// The same proof of bits of which one was changed: it has to fail.
#[derive(Deserialize)]
struct Control {
    result: String,
    points_refuted: u64,
    memory_sha256: String,
}

/// Whether a record says that a configuration memory of this digest is proven to be the netlist of this digest, by a
/// proof whose control was refuted.
///
/// # Errors
/// What it says instead, or what is wrong with it; for people, behind the name of the configuration and a colon.
pub fn check(record: &[u8], memory: &[u8; 32], netlist: Option<&[u8; 32]>) -> Result<(), String> {
    if record.is_empty() {
        return Err("there is no record that its bits are proven".into());
    }
    let again = "`python -m ace_flow.build` proves it";
    let record: Record =
        serde_json::from_slice(record).map_err(|error| format!("its record of a proof is none: {error}"))?;
    let Record { format, result, points, memory_sha256, netlist_sha256, control } = record;
    if format != FORMAT {
        return Err(format!("its record has format {format}, not {FORMAT}; {again}"));
    }
    if result != "proven" {
        return Err(format!("its record says `{result}`, not `proven`"));
    }
    let Some(netlist) = netlist else {
        return Err("its manifest does not say of which netlist it is (`netlist_sha256`)".into());
    };
    let own = hex::encode(memory);
    if memory_sha256 != own {
        return Err(format!("its record is of other bits ({memory_sha256}, not {own}); {again}"));
    }
    if netlist_sha256 != hex::encode(netlist) {
        return Err(format!("its record is of another netlist ({netlist_sha256}) than its manifest"));
    }
    if points == 0 {
        return Err("its record compares nothing".into());
    }
    let digest = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if control.result != "refuted" || control.points_refuted == 0 {
        return Err("the control of its record, one bit changed, was not refuted".into());
    }
    if !digest(&control.memory_sha256) || control.memory_sha256.eq_ignore_ascii_case(&own) {
        return Err("the control of its record is not of other bits".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn record() -> Value {
        json!({
            "format": FORMAT, "result": "proven", "points": 12, "memory_sha256": "11".repeat(32),
            "netlist_sha256": "22".repeat(32), "more": [1],
            "control": { "result": "refuted", "points_refuted": 1, "memory_sha256": "33".repeat(32), "lut": "x" },
        })
    }

    fn says(record: &Value) -> String {
        let text = if record.is_null() { String::new() } else { record.to_string() };
        check(text.as_bytes(), &[0x11; 32], Some(&[0x22; 32])).err().unwrap_or_default()
    }

    #[test]
    fn only_a_proof_of_these_bits_with_a_refuted_control_counts() {
        assert_eq!(says(&record()), "");
        assert!(says(&Value::Null).contains("no record"));
        assert!(check(b"[]", &[0x11; 32], Some(&[0x22; 32])).is_err_and(|why| why.contains("is none")));
        assert!(check(record().to_string().as_bytes(), &[0x11; 32], None).is_err());
        for (path, value, why) in [
            ("/format", json!(2), "format 2, not 3"),
            ("/format", json!("3"), "is none"),
            ("/result", json!("refuted"), "says `refuted`"),
            ("/result", json!("Proven"), "says `Proven`"),
            ("/points", json!(0), "compares nothing"),
            ("/points", json!(-1), "is none"),
            ("/memory_sha256", json!("33".repeat(32)), "other bits"),
            ("/memory_sha256", json!(""), "other bits"),
            ("/netlist_sha256", json!("33".repeat(32)), "another netlist"),
            ("/control/result", json!("proven"), "not refuted"),
            ("/control/points_refuted", json!(0), "not refuted"),
            ("/control/memory_sha256", json!("11".repeat(32)), "not of other bits"),
            ("/control/memory_sha256", json!(""), "not of other bits"),
        ] {
            let mut edited = record();
            *edited.pointer_mut(path).expect("it is there") = value;
            assert!(says(&edited).contains(why), "{path}: {}", says(&edited));
        }
        for key in ["format", "result", "points", "memory_sha256", "netlist_sha256", "control"] {
            let mut edited = record();
            edited.as_object_mut().expect("an object").remove(key);
            assert_ne!(says(&edited), "", "{key}");
        }
    }

    #[test]
    fn the_flow_writes_this_format() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../flow/ace_flow/prove.py");
        let text = std::fs::read_to_string(file).expect("the flow is there");
        assert!(text.lines().any(|line| line == format!("RECORD = {FORMAT}")), "RECORD = {FORMAT}");
    }
}
