// SPDX-License-Identifier: Apache-2.0
//! The table of suites against the algorithms and the RFCs.

use super::*;

#[test]
fn rows_agree_with_the_algorithms() {
    for suite in CIPHERS.iter() {
        let CipherKind::Block(algorithm, mode) = suite.kind else { continue };
        let Kind::Cipher { block, keys } = &algorithm.kind else { panic!("{} is no cipher", suite.name) };
        assert!(keys.contains(&suite.key_len), "{}", suite.name);
        match mode {
            Mode::Cbc => assert_eq!((suite.iv_len, suite.block), (*block, *block), "{}", suite.name),
            Mode::Ctr => assert_eq!(suite.nonce_len + suite.iv_len + 4, *block, "{}", suite.name),
            other => panic!("{}: ESP has CBC and CTR, not {other:?}", suite.name),
        }
    }
    for suite in AUTHS.iter() {
        let Some(Mac::Hmac(hash)) = suite.mac else { continue };
        let Kind::Hash { digest, .. } = hash.kind else { panic!("{} is no hash", suite.name) };
        assert_eq!(suite.key_len, digest, "RFC 2403, 2404 and 4868: {}", suite.name);
        assert!(suite.icv_len <= digest && suite.icv_len >= digest / 2);
    }
}

#[test]
fn every_suite_has_its_name_and_place() {
    let names: Vec<_> = CIPHERS.iter().map(|suite| suite.name).collect();
    let expected = "aes-128-cbc aes-192-cbc aes-256-cbc aes-128-ctr aes-192-ctr aes-256-ctr des-cbc 3des-cbc \
        mars-128-cbc mars-192-cbc mars-256-cbc rc6-128-cbc rc6-192-cbc rc6-256-cbc serpent-128-cbc \
        serpent-192-cbc serpent-256-cbc twofish-128-cbc twofish-192-cbc twofish-256-cbc cast128-cbc \
        cast256-128-cbc cast256-192-cbc cast256-256-cbc idea-cbc camellia-128-cbc camellia-192-cbc \
        camellia-256-cbc camellia-128-ctr camellia-192-ctr camellia-256-ctr sm4-cbc magma-cbc gost-a-cbc \
        aes-128-gcm-16 aes-192-gcm-16 aes-256-gcm-16 aes-128-gcm-16-iiv aes-192-gcm-16-iiv \
        aes-256-gcm-16-iiv aes-128-gcm-12 aes-192-gcm-12 aes-256-gcm-12 aes-128-gcm-8 aes-192-gcm-8 \
        aes-256-gcm-8 aes-128-ccm-16 aes-192-ccm-16 aes-256-ccm-16 aes-128-ccm-12 aes-192-ccm-12 \
        aes-256-ccm-12 aes-128-ccm-8 aes-192-ccm-8 aes-256-ccm-8 aes-128-ccm-8-iiv aes-192-ccm-8-iiv \
        aes-256-ccm-8-iiv aes-128-gmac aes-192-gmac aes-256-gmac chacha20-poly1305 chacha20-poly1305-iiv \
        null";
    assert_eq!(names.join(" "), expected);
}

/// RFC 4106, 3.1 and 8.1; RFC 4309, 3.1 and 7.1; RFC 7634, 2; RFC 8750, 4.
#[test]
fn combined_modes_have_their_lengths() {
    for (name, keymat, iv_len, icv_len) in [
        ("aes-128-gcm-16", 20, 8, 16),
        ("aes-256-gcm-8", 36, 8, 8),
        ("aes-192-gcm-12", 28, 8, 12),
        ("aes-128-ccm-8", 19, 8, 8),
        ("aes-256-ccm-16", 35, 8, 16),
        ("aes-128-gmac", 20, 8, 16),
        ("chacha20-poly1305", 36, 8, 16),
        ("aes-256-gcm-16-iiv", 36, 0, 16),
        ("aes-128-ccm-8-iiv", 19, 0, 8),
        ("chacha20-poly1305-iiv", 36, 0, 16),
    ] {
        let suite = CipherSuite::by_name(name).unwrap();
        assert_eq!((suite.keymat_len(), suite.iv_len, suite.icv_len), (keymat, iv_len, icv_len), "{name}");
        assert!(suite.combined() && suite.counts());
    }
}

#[test]
fn legacy_pairs() {
    let is_legacy = |cipher, auth| {
        let (cipher, auth) = (CipherSuite::by_name(cipher).unwrap(), AuthSuite::by_name(auth).unwrap());
        !legacy_reasons(cipher, auth).is_empty()
    };
    for suite in CIPHERS.iter() {
        let current = ["aes-", "chacha20-"].iter().any(|start| suite.name.starts_with(start))
            || ["3des-cbc", "null"].contains(&suite.name);
        assert_eq!(is_legacy(suite.name, "hmac-sha1-96"), !current, "{}", suite.name);
        assert!(is_legacy(suite.name, "hmac-md5-96"));
        assert_eq!(is_legacy(suite.name, "none"), !suite.combined(), "{}", suite.name);
    }
    for suite in AUTHS.iter().filter(|suite| suite.mac.is_some()) {
        assert_eq!(is_legacy("aes-128-cbc", suite.name), suite.name == "hmac-md5-96", "{}", suite.name);
    }
}
