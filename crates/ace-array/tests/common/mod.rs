// SPDX-License-Identifier: Apache-2.0
//! Published answers as single blocks: what goes into an algorithm's block function and what comes out, whatever mode
//! the row is of, as all of a row's ciphertext is known.

use std::path::PathBuf;

pub struct Row {
    pub key: Vec<u8>,
    /// Block in, block out, of the encryption.
    pub blocks: Vec<(Vec<u8>, Vec<u8>)>,
}

pub fn vectors(name: &str) -> Option<csv::Reader<std::fs::File>> {
    let place = std::env::var_os("ACE_VECTORS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
        PathBuf::from,
    );
    csv::Reader::from_path(place.join(format!("{name}.csv"))).ok()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The rows of a cipher's file in ECB, CBC, CTR and OFB.
pub fn cipher_rows(name: &str, size: usize) -> Vec<Row> {
    let Some(mut reader) = vectors(name) else { return Vec::new() };
    let mut out = Vec::new();
    for record in reader.records().map(Result::unwrap) {
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
