// SPDX-License-Identifier: Apache-2.0
//! Every parameter that OpenSSL's `core_names.h` names for ciphers, digests and MACs, and every control of `evp.h`, with
//! what the engine does of it. What is not done is refused: [`Refused`](Fate::Refused) is how the functions of this
//! crate answer whatever they have no case for. docs/provider.md has the tables as [`page`] renders them, and the tests
//! walk them, and the headers where they are installed.

use std::fmt::Write as _;

/// What becomes of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Done, or answered.
    Done,
    /// An error.
    Refused,
    /// Done for the values that change nothing; an error for others.
    Only(&'static str),
}

use Fate::{Done, Only, Refused};

/// One parameter of ciphers.
pub struct CipherName {
    /// As OpenSSL spells it.
    pub name: &'static str,
    /// Given to a context: AES-GCM, ChaCha20-Poly1305, CBC and CTR.
    pub set: [Fate; 3],
    /// Asked of a context.
    pub get: [Fate; 3],
    /// Why, or what.
    pub why: &'static str,
}

/// One parameter of digests or MACs.
pub struct Name {
    /// As OpenSSL spells it.
    pub name: &'static str,
    /// Given to a context.
    pub set: Fate,
    /// Asked of a context; of digests it is the digest that is asked.
    pub get: Fate,
    /// Why, or what.
    pub why: &'static str,
}

const fn cipher(name: &'static str, set: [Fate; 3], get: [Fate; 3], why: &'static str) -> CipherName {
    CipherName { name, set, get, why }
}

const fn name(name: &'static str, set: Fate, get: Fate, why: &'static str) -> Name {
    Name { name, set, get, why }
}

const NO: [Fate; 3] = [Refused; 3];
const YES: [Fate; 3] = [Done; 3];
const AEAD: [Fate; 3] = [Done, Done, Refused];
const OWN: Fate = Only("the length that it has");
const MULTI: &str = "several records of TLS at once are not here";
const FIPS: &str = "nothing here is a FIPS module";

/// Parameters of ciphers (`OSSL_CIPHER_PARAM_*`, to OpenSSL 3.5).
pub const CIPHERS: &[CipherName] = &[
    cipher(
        "padding",
        [Only("0 and 1: there is none"), Only("0 and 1: there is none"), Done],
        [Refused, Refused, Done],
        "of the last block",
    ),
    cipher("use-bits", [Only("0"); 3], NO, "lengths are in bytes"),
    cipher(
        "tls-version",
        [Only("records come by `tlsaad`"), Only("records come by `tlsaad`"), Refused],
        NO,
        "CBC suites of TLS have to be taken apart in constant time",
    ),
    cipher("tls-mac", NO, NO, "of CBC suites of TLS"),
    cipher("tls-mac-size", [Only("0"), Only("0"), Refused], NO, "of CBC suites of TLS"),
    cipher("mode", NO, NO, "asked of the cipher, not of a context"),
    cipher("blocksize", NO, NO, "asked of the cipher, not of a context"),
    cipher("aead", NO, NO, "asked of the cipher, not of a context"),
    cipher("custom-iv", NO, NO, "asked of the cipher, not of a context"),
    cipher("cts", NO, NO, "asked of the cipher: no ciphertext stealing"),
    cipher("tls-multi", NO, NO, MULTI),
    cipher("has-randkey", NO, NO, "asked of the cipher: keys have no form, and OpenSSL draws them"),
    cipher("decrypt-only", NO, NO, "asked of the cipher: all encrypt"),
    cipher("encrypt-then-mac", NO, NO, "asked of the cipher: none is stitched to a MAC"),
    cipher("keylen", [OWN, OWN, Only("those of the cipher")], YES, "bytes of key"),
    cipher("ivlen", [Only("1 to 128"), Only("12"), Refused], YES, "bytes of IV"),
    cipher("iv", NO, YES, "as it was given"),
    cipher("updated-iv", NO, YES, "as the next block has it"),
    cipher(
        "num",
        [Refused, Refused, Only("the number that it is")],
        [Refused, Refused, Done],
        "bytes of a block that wait or are used",
    ),
    cipher("rounds", NO, NO, "of RC5"),
    cipher("tag", AEAD, AEAD, "1 to 16 bytes"),
    cipher("pipeline-aead-tag", NO, NO, "of several messages at once"),
    cipher("tlsaad", AEAD, NO, "the header of a record of TLS 1.2"),
    cipher("tlsaadpad", NO, AEAD, "by how much the record of that header is longer than its text"),
    cipher("tlsivfixed", AEAD, NO, "the part of the IV that both ends know; of length −1 all of it (GCM)"),
    cipher("tlsivgen", NO, [Done, Refused, Refused], "the next IV, which is used, and its last bytes"),
    cipher("tlsivinv", [Done, Refused, Refused], NO, "the last bytes of the next IV, to decrypt with"),
    cipher("iv-generated", NO, NO, "of a FIPS module"),
    cipher("taglen", NO, AEAD, "bytes of tag"),
    cipher("mackey", NO, NO, "of suites of TLS that are stitched to a MAC"),
    cipher("randkey", NO, NO, "keys have no form, and OpenSSL draws them"),
    cipher("keybits", NO, NO, "of RC2"),
    cipher("speed", NO, NO, "of wrapping"),
    cipher("cts_mode", NO, NO, "no ciphertext stealing"),
    cipher("alg_id_param", NO, NO, "OpenSSL makes the parameters of ASN.1 of IV and tag"),
    cipher("alg_id_param_old", NO, NO, "the same, of older releases"),
    cipher("algorithm-id", NO, NO, "OpenSSL makes it"),
    cipher("algorithm-id-params", NO, NO, "OpenSSL makes the parameters of ASN.1 of IV and tag"),
    cipher("xts_standard", NO, NO, "XTS is not here"),
    cipher("encrypt-check", NO, NO, FIPS),
    cipher("fips-indicator", NO, NO, FIPS),
    cipher("tls1multi_maxsndfrag", NO, NO, MULTI),
    cipher("tls1multi_maxbufsz", NO, NO, MULTI),
    cipher("tls1multi_interleave", NO, NO, MULTI),
    cipher("tls1multi_aad", NO, NO, MULTI),
    cipher("tls1multi_aadpacklen", NO, NO, MULTI),
    cipher("tls1multi_enc", NO, NO, MULTI),
    cipher("tls1multi_encin", NO, NO, MULTI),
    cipher("tls1multi_enclen", NO, NO, MULTI),
];

/// Parameters of digests (`OSSL_DIGEST_PARAM_*`). Those of other operations pass by: OpenSSL hands a digest what a
/// signature was given.
pub const DIGESTS: &[Name] = &[
    name("xoflen", Refused, Refused, "no digest here has an output of any length"),
    name("ssl3-ms", Refused, Refused, "SSL 3 is not here"),
    name("pad-type", Refused, Refused, "of MDC2"),
    name("micalg", Refused, Refused, "OpenSSL knows it of its own digests"),
    name("blocksize", Refused, Done, "bytes of block"),
    name("size", Refused, Done, "bytes of digest"),
    name("xof", Refused, Done, "0"),
    name("algid-absent", Refused, Done, "as RFC 5754 has it"),
    name("proto-flag", Refused, Refused, "of one-shot functions that are not here"),
];

/// Parameters of MACs (`OSSL_MAC_PARAM_*`), of HMAC.
pub const MACS: &[Name] = &[
    name("key", Done, Refused, "of any length"),
    name("iv", Refused, Refused, "HMAC has none"),
    name("custom", Refused, Refused, "of KMAC"),
    name("salt", Refused, Refused, "of BLAKE2"),
    name("xof", Refused, Refused, "of KMAC"),
    name("digest-noinit", Only("0"), Refused, "a digest here begins anew for each message"),
    name("digest-oneshot", Only("0"), Refused, "a digest here takes a message in pieces"),
    name("c-rounds", Refused, Refused, "of SipHash"),
    name("d-rounds", Refused, Refused, "of SipHash"),
    name("cipher", Refused, Refused, "HMAC has none"),
    name("digest", Done, Refused, "MD5, SHA-1, SHA-2"),
    name(
        "properties",
        Only("what digests of the engine are: provider=ace, ace.engine=yes"),
        Refused,
        "which digest",
    ),
    name("size", Refused, Done, "bytes of MAC"),
    name("block-size", Refused, Done, "bytes of block"),
    name("tls-data-size", Refused, Refused, "TLS's MAC in constant time is OpenSSL's own"),
    name("key-check", Refused, Refused, FIPS),
    name("no-short-mac", Refused, Refused, FIPS),
    name("fips-indicator", Refused, Refused, FIPS),
    name("encrypt-check", Refused, Refused, FIPS),
];

/// Controls of `evp.h` (`EVP_CTRL_*`) and the parameters that OpenSSL makes of them; "" : OpenSSL itself refuses them for
/// ciphers of providers. Several have a name for each mode.
pub const CONTROLS: &[(&str, &str)] = &[
    ("INIT", ""),
    ("SET_KEY_LENGTH", "keylen"),
    ("GET_RC2_KEY_BITS", "keybits"),
    ("SET_RC2_KEY_BITS", "keybits"),
    ("GET_RC5_ROUNDS", "rounds"),
    ("SET_RC5_ROUNDS", "rounds"),
    ("RAND_KEY", "randkey"),
    ("PBE_PRF_NID", ""),
    ("COPY", ""),
    ("AEAD_SET_IVLEN", "ivlen"),
    ("AEAD_GET_TAG", "tag"),
    ("AEAD_SET_TAG", "tag"),
    ("AEAD_SET_IV_FIXED", "tlsivfixed"),
    ("GCM_SET_IVLEN", "ivlen"),
    ("GCM_GET_TAG", "tag"),
    ("GCM_SET_TAG", "tag"),
    ("GCM_SET_IV_FIXED", "tlsivfixed"),
    ("GCM_IV_GEN", "tlsivgen"),
    ("GCM_SET_IV_INV", "tlsivinv"),
    ("CCM_SET_IVLEN", "ivlen"),
    ("CCM_GET_TAG", "tag"),
    ("CCM_SET_TAG", "tag"),
    ("CCM_SET_IV_FIXED", "tlsivfixed"),
    ("CCM_SET_L", "ivlen"),
    ("CCM_SET_MSGLEN", ""),
    ("AEAD_TLS1_AAD", "tlsaad"),
    ("AEAD_SET_MAC_KEY", "mackey"),
    ("BLOCK_PADDING_MODE", ""),
    ("SBOX_USED", ""),
    ("KEY_MESH", ""),
    ("TLS1_1_MULTIBLOCK_AAD", "tls1multi_aad"),
    ("TLS1_1_MULTIBLOCK_ENCRYPT", "tls1multi_enc"),
    ("TLS1_1_MULTIBLOCK_DECRYPT", ""),
    ("TLS1_1_MULTIBLOCK_MAX_BUFSIZE", "tls1multi_maxbufsz"),
    ("SSL3_MASTER_SECRET", "ssl3-ms"),
    ("SET_SBOX", ""),
    ("SET_PIPELINE_OUTPUT_BUFS", ""),
    ("SET_PIPELINE_INPUT_BUFS", ""),
    ("SET_PIPELINE_INPUT_LENS", ""),
    ("GET_IVLEN", "ivlen"),
    ("SET_SPEED", "speed"),
    ("PROCESS_UNPROTECTED", ""),
    ("GET_WRAP_CIPHER", ""),
    ("TLSTREE", ""),
    ("RET_UNSUPPORTED", ""),
];

fn in_words(fate: Fate) -> String {
    match fate {
        Done => "done".to_owned(),
        Refused => "refused".to_owned(),
        Only(values) => format!("only {values}"),
    }
}

/// The same of all three, or of each.
fn of_three(fates: [Fate; 3]) -> String {
    let [gcm, chacha, blocks] = fates.map(in_words);
    if gcm == chacha && chacha == blocks {
        return gcm;
    }
    if gcm == chacha {
        return format!("AEADs: {gcm}; CBC, CTR: {blocks}");
    }
    format!("GCM: {gcm}; ChaCha20: {chacha}; CBC, CTR: {blocks}")
}

/// The tables, for docs/provider.md.
pub fn page() -> String {
    let mut out = String::from("| ciphers | given | asked for | |\n|---|---|---|---|\n");
    // A String takes all that is written.
    for row in CIPHERS {
        let _ =
            writeln!(out, "| `{}` | {} | {} | {} |", row.name, of_three(row.set), of_three(row.get), row.why);
    }
    for (what, rows) in [("digests", DIGESTS), ("HMAC", MACS)] {
        let _ = write!(out, "\n| {what} | given | asked for | |\n|---|---|---|---|\n");
        for row in rows {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} |",
                row.name,
                in_words(row.set),
                in_words(row.get),
                row.why
            );
        }
    }
    out
}
