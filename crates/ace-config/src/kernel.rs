// SPDX-License-Identifier: Apache-2.0
//! Algorithms as Linux calls them, in `ip xfrm` and in XFRM messages.

use ace_ipsec::model::{AUTHS, AuthSuite, CIPHERS, CipherSuite, IvKind};

/// A combined mode: its name, bits of its key with the nonce, and bits of its ICV.
pub fn aead(name: &str, key_bits: usize, icv_bits: usize) -> Option<&'static CipherSuite> {
    by_key(name, key_bits, |suite| suite.combined() && 8 * suite.icv_len == icv_bits)
}

/// A cipher without authentication: its name, long or short, and bits of its key with the nonce.
pub fn cipher(name: &str, key_bits: usize) -> Option<&'static CipherSuite> {
    by_key(name, key_bits, |suite| !suite.combined())
}

/// Where one suite alone has the name, a key of a wrong length is an error of the SA and not of the name.
fn by_key(name: &str, key_bits: usize, fits: impl Fn(&CipherSuite) -> bool) -> Option<&'static CipherSuite> {
    let named = |suite: &&CipherSuite| suite.names.kernel.contains(&name) && suite.iv != IvKind::Implicit;
    let found: Vec<_> = CIPHERS.iter().filter(named).filter(|suite| fits(suite)).collect();
    match found[..] {
        [only] => Some(only),
        _ => found.into_iter().find(|suite| 8 * suite.keymat_len() == key_bits),
    }
}

/// A MAC: its name, long or short, and bits of its ICV.
pub fn auth(name: &str, icv_bits: usize) -> Option<&'static AuthSuite> {
    let fits = |suite: &&AuthSuite| suite.mac.is_none() || 8 * suite.icv_len == icv_bits;
    AUTHS.iter().filter(|suite| suite.names.kernel.contains(&name)).find(fits)
}

/// Bits of the ICV where nothing is said of them: what Linux takes.
pub fn default_icv_bits(auth: &str) -> usize {
    let of = AUTHS.iter().find(|suite| suite.names.kernel.contains(&auth));
    8 * of.map_or(12, |suite| suite.kernel_icv_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_kernel_lead_to_their_suites() {
        for suite in CIPHERS.iter() {
            for name in suite.names.kernel {
                let of = if suite.combined() {
                    aead(name, 8 * suite.keymat_len(), 8 * suite.icv_len)
                } else {
                    cipher(name, 8 * suite.keymat_len())
                };
                assert_eq!(of.map(|found| found.name), Some(suite.name), "{name}");
            }
        }
        for suite in AUTHS.iter() {
            for name in suite.names.kernel {
                assert_eq!(auth(name, 8 * suite.icv_len).map(|found| found.name), Some(suite.name), "{name}");
            }
        }
        for (name, bits) in [("cbc(aes)", 100), ("rot13", 128), ("rfc4106(gcm(aes))", 128), ("", 0)] {
            assert_eq!(cipher(name, bits).map(|found| found.name), None, "{name}");
        }
        assert!(aead("rfc4106(gcm(aes))", 160, 100).is_none() && auth("hmac(sha256)", 96).is_none());
        // A key of 128 bits is refused as a key, not as a name.
        assert_eq!(cipher("des3_ede", 128).map(|found| found.name), Some("3des-cbc"));
        assert_eq!([default_icv_bits("sha256"), default_icv_bits("hmac(sha512)")], [96, 256]);
    }
}
