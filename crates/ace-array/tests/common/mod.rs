// SPDX-License-Identifier: Apache-2.0
//! Published answers as single blocks: what goes into an algorithm's block function and what comes out, whatever mode
//! the row is of, as all of a row's ciphertext is known.

use std::path::PathBuf;

pub struct Row {
    pub key: Vec<u8>,
    /// Block in, block out, of the encryption.
    pub blocks: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The fields of every row that an algorithm has: those of the repository, and those of the larger collection where
/// there is one (`ACE_VECTORS`, or `../shared/vectors` beside the workspace).
pub fn records(name: &str) -> Vec<csv::StringRecord> {
    rows_of(&format!("{}/kat.csv", if name == "tdes" { "3des" } else { name }), name)
}

/// Those of a file in `algorithms/`, and of one of the larger collection.
pub fn rows_of(ours: &str, name: &str) -> Vec<csv::StringRecord> {
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../algorithms").join(ours);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let theirs = std::env::var_os("ACE_VECTORS").map_or(beside, PathBuf::from).join(format!("{name}.csv"));
    let mut out: Vec<csv::StringRecord> =
        csv::Reader::from_path(&ours).unwrap().into_records().collect::<Result<_, _>>().unwrap();
    assert!(!out.is_empty(), "{} is empty", ours.display());
    if let Ok(reader) = csv::Reader::from_path(theirs) {
        out.extend(reader.into_records().map(Result::unwrap));
    }
    out
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The rows of a cipher's file in ECB, CBC, CTR and OFB.
pub fn cipher_rows(name: &str, size: usize) -> Vec<Row> {
    let mut out = Vec::new();
    for record in records(name) {
        let field = |at: usize| hex::decode(&record[at]).unwrap();
        let (key, iv, plain, cipher) = (field(2), field(3), field(4), field(5));
        let pairs = plain.chunks_exact(size).zip(cipher.chunks_exact(size));
        let mut chain = iv;
        let mut blocks = Vec::new();
        for (plain, cipher) in pairs {
            match &record[1] {
                "ECB" => blocks.push((plain.to_vec(), cipher.to_vec())),
                "CBC" => {
                    blocks.push((xor(plain, &chain), cipher.to_vec()));
                    chain = cipher.to_vec();
                }
                "OFB" => {
                    let next = xor(plain, cipher);
                    blocks.push((std::mem::replace(&mut chain, next.clone()), next));
                }
                _ => {}
            }
        }
        if !blocks.is_empty() {
            out.push(Row { key, blocks });
        }
    }
    out
}
